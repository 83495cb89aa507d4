"""From what a caller sent to a filter; each fault is told with its place in the request."""

from collections.abc import Mapping

from memories.errors import Invalid
from memories.search.filters.fields import FIELDS, METADATA, OPERATORS, words_of
from memories.search.filters.filter_values import value_of
from memories.search.filters.tree import Condition, Filter, Group

DEEPEST, MOST_CONDITIONS = 8, 50


def parse(raw: object, layers: tuple[str, ...]) -> Filter:
    """The validated tree; raises Invalid with the path of the part that is wrong."""
    known = {field for layer in layers for field in FIELDS.get(layer, {})}
    return _Parser(known, words_of(layers)).part(raw, "filter", 1)


class _Parser:
    def __init__(self, known: set[str], words: Mapping[str, set[str]]) -> None:
        self.known, self.words, self.conditions = known, words, 0

    def part(self, raw: object, path: str, depth: int) -> Filter:
        if not isinstance(raw, dict) or not raw:
            raise Invalid(path, "Must be an object with and, or, not, or a field.")
        if depth > DEEPEST:
            raise Invalid(path, f"Nested deeper than {DEEPEST}.")
        joints = [joint for joint in ("and", "or", "not") if joint in raw]
        if not joints:
            self.conditions += 1
            if self.conditions > MOST_CONDITIONS:
                raise Invalid(path, f"More than {MOST_CONDITIONS} conditions.")
            if unknown := set(raw) - {"field", "op", "value"}:
                raise Invalid(
                    f"{path}.{min(unknown)}", "Unknown; a condition has field, op, value."
                )
            field, op = raw.get("field"), raw.get("op", "eq")
            if not isinstance(field, str) or not self._is_known(field):
                raise Invalid(
                    f"{path}.field",
                    f"Unknown field. Known: {', '.join(sorted(self.known))} and metadata.<key>.",
                )
            if not isinstance(op, str) or op not in OPERATORS:
                raise Invalid(f"{path}.op", f"Unknown operator. Known: {', '.join(OPERATORS)}.")
            path, value = f"{path}.value", raw.get("value", True if op == "exists" else None)
            if value is None and "value" in raw and op in ("eq", "neq") and field in self.known:
                op, value = "exists", op == "neq"
            found = Condition(field, op, value_of(field, op, value, path), path)
            self._check_words(found)
            return found
        if len(raw) != 1:
            raise Invalid(path, "Give one of and, or, not alone.")
        return self._group(joints[0], raw[joints[0]], f"{path}.{joints[0]}", depth)

    def _group(self, joint: str, raw: object, path: str, depth: int) -> Group:
        if joint == "not" and isinstance(raw, dict):
            return Group(joint, (self.part(raw, path, depth + 1),))
        if not isinstance(raw, list) or not raw:
            raise Invalid(path, "Must be a list with at least one part.")
        parts = [self.part(p, f"{path}[{i}]", depth + 1) for i, p in enumerate(raw)]
        return Group(joint, tuple(parts))

    def _check_words(self, c: Condition) -> None:
        if c.op in ("exists", "contains") or c.field not in self.words:
            return
        words = self.words[c.field]
        for i, one in enumerate(c.value if c.op == "in" else [c.value]):
            if one not in words:
                path = f"{c.path}[{i}]" if c.op == "in" else c.path
                raise Invalid(path, f"Unknown {c.field}. Known: {', '.join(sorted(words))}.")

    def _is_known(self, field: str) -> bool:
        return field in self.known or (field.startswith(METADATA) and len(field) > len(METADATA))
