"""MemMachine's filters: `metadata.user_id='ada' AND (role='user' OR tag IN ('home', 'work'))`."""

import re
from dataclasses import dataclass
from typing import Any

from memories.errors import Invalid

LONGEST, DEEPEST = 5_000, 6
TOKEN = re.compile(r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<word>[\w.:@+-]+)|(?P<op><=|>=|<>|!=|[=<>])|(?P<mark>[(),]))")
OPERATORS = {
    "=": "eq",
    "!=": "neq",
    "<>": "neq",
    "<": "lt",
    "<=": "lte",
    ">": "gt",
    ">=": "gte",
}
OF_EPISODES = {
    "uid": "id",
    "content": "content",
    "producer_role": "role",
    "role": "role",
    "producer_id": "name",
    "created_at": "occurredAt",
}
OF_FEATURES = {
    "category": "category",
    "category_name": "category",
    "tag": "tag",
    "feature": "feature",
    "feature_name": "feature",
    "value": "value",
}
USER = "metadata.user_id"

Tree = dict[str, Any]


@dataclass(frozen=True, slots=True)
class AskedFilter:
    """`user_id` is the user whom all must be about; `episodes` and `features` are the conditions on
    each, as our own filters, if any."""

    user_id: str = ""
    episodes: Tree | None = None
    features: Tree | None = None


def read_filter(text: str) -> AskedFilter:
    """Read a filter; conditions on metadata are those of messages, which features do not have.
    Raises Invalid."""
    if len(text) > LONGEST:
        raise Invalid("filter", f"At most {LONGEST} characters.")
    if not text.strip():
        return AskedFilter()
    tree = _FilterReader(text).whole()
    parts = tree.get("and", [tree])
    users = [part["value"] for part in parts if _is_user(part)]
    rest = [part for part in parts if not _is_user(part)]
    if len(set(users)) > 1 or any(USER in fields_of(part) for part in rest):
        raise Invalid("filter", f"{USER} is compared once, by =, and joined by AND.")
    of_features = []
    for part in rest:
        fields = fields_of(part)
        if fields <= set(OF_FEATURES.values()):
            of_features.append(part)
        elif not all(field.startswith("metadata.") for field in fields):
            # What a message alone has, no feature has.
            of_features.append({"field": "id", "op": "exists", "value": False})
    return AskedFilter(
        users[0] if users else "",
        {"and": parts},
        {"and": of_features} if of_features else None,
    )


def fields_of(tree: Tree) -> set[str]:
    if "field" in tree:
        return {tree["field"]}
    [parts] = tree.values()
    listed = parts if isinstance(parts, list) else [parts]
    return {field for part in listed for field in fields_of(part)}


def _is_user(part: Tree) -> bool:
    return part.get("field") == USER and part["op"] == "eq"


class _FilterReader:
    def __init__(self, text: str) -> None:
        self.tokens: list[str] = []
        self.at = 0
        at, end = 0, len(text.rstrip())
        while at < end:
            match = TOKEN.match(text, at)
            if match is None:
                raise Invalid("filter", f"Not understood from {text[at : at + 20]!r} on.")
            self.tokens.append(match[0].lstrip())
            at = match.end()

    def whole(self) -> Tree:
        tree = self.either(0)
        if self.at < len(self.tokens):
            raise Invalid("filter", f"{self.tokens[self.at]!r} is not understood here.")
        return tree

    def next(self) -> str:
        if self.at >= len(self.tokens):
            raise Invalid("filter", "It ends too early.")
        self.at += 1
        return self.tokens[self.at - 1]

    def took(self, word: str) -> bool:
        """Tell whether this word is next; if so, skip it."""
        here = self.at < len(self.tokens) and self.tokens[self.at].upper() == word
        self.at += here
        return here

    def either(self, depth: int) -> Tree:
        if depth > DEEPEST:
            raise Invalid("filter", f"Nested deeper than {DEEPEST}.")
        parts = [self.both(depth)]
        while self.took("OR"):
            parts.append(self.both(depth))
        return parts[0] if len(parts) == 1 else {"or": parts}

    def both(self, depth: int) -> Tree:
        parts: list[Tree] = []
        while True:
            part = self.one(depth)
            parts += part.get("and", [part])
            if not self.took("AND"):
                return parts[0] if len(parts) == 1 else {"and": parts}

    def one(self, depth: int) -> Tree:
        if self.took("NOT"):
            return {"not": self.one(depth + 1)}
        if self.took("("):
            tree = self.either(depth + 1)
            self.expect(")")
            return tree
        return self.comparison()

    def expect(self, word: str) -> None:
        if not self.took(word):
            raise Invalid("filter", f"{word} is missing.")

    def comparison(self) -> Tree:
        name = self.next()
        fields, (head, _, key) = OF_EPISODES | OF_FEATURES, name.partition(".")
        is_own = head in ("metadata", "m") and key
        field = fields.get(name) or (f"metadata.{key}" if is_own else "")
        if not field:
            names = ", ".join(fields)
            raise Invalid("filter", f"{name!r} is no field. Known: {names}, metadata.<key>.")
        if self.took("IS"):
            exists = self.took("NOT")
            self.expect("NULL")
            return {"field": field, "op": "exists", "value": exists}
        if self.took("NOT"):
            self.expect("IN")
            return {"not": {"field": field, "op": "in", "value": self.values()}}
        if self.took("IN"):
            return {"field": field, "op": "in", "value": self.values()}
        op = self.next()
        if op not in OPERATORS:
            known = ", ".join([*OPERATORS, "IN", "IS NULL"])
            raise Invalid("filter", f"After {name} one of {known}.")
        return {"field": field, "op": OPERATORS[op], "value": _value_of(self.next())}

    def values(self) -> list[str]:
        self.expect("(")
        values = [_value_of(self.next())]
        while self.took(","):
            values.append(_value_of(self.next()))
        self.expect(")")
        return values


def _value_of(token: str) -> str:
    """Return a token's value, always a text, as metadata of messages are. Raises Invalid."""
    if token.startswith("'"):
        return token[1:-1].replace("''", "'")
    if token in "(),=<>!":
        raise Invalid("filter", f"{token!r} is no value.")
    return token
