"""Finds the single-valued attributes that a statement gives to a subject."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from memories.conflicts.grammar import PREPOSITIONS
from memories.conflicts.opposites import (
    AMBIGUOUS_TOOLS,
    GROUPS,
    PROFESSIONS,
    RIVALS,
    TOOLS,
)
from memories.conflicts.parsing import RENAMED, Parse, is_date, is_time, key
from memories.conflicts.slots import (
    CLOCK_VERBS,
    FORMS,
    MANY,
    NOUN_FORMS,
    OTHERS_NOUN_FORMS,
    ROLES,
    SINGLE,
    WHEN_VERBS,
    SlotForm,
)
from memories.conflicts.wording import RELATIVE_DATES, Word, root

CUT = PREPOSITIONS | {"'s", "'insteadof", "insteadof", "infavorof", "very", "be"}
SOCIETIES = frozenset("club group society association choir team band church gym union".split())
MONEY = frozenset("dollar euro pound percent".split())
MEAT = frozenset(map(root, "meat fish chicken beef pork steak everything".split()))
TOOL_VERBS = frozenset(
    map(
        root,
        "use run deploy host switch migrate move replace adopt choose pick drop dropped change "
        "keep track store manage be install go prefer settle standardize handle rely be".split(),
    )
) | {RENAMED}
PREFER = frozenset(map(root, "prefer want like favor rather".split()))


@dataclass(frozen=True, slots=True)
class Slot:
    """An attribute with one value at a time. All four are normal forms, lower case."""

    subject: str
    name: str
    key: str
    value: str


def find(parse: Parse) -> tuple[Slot, ...]:
    """Every single-valued attribute that is told as true now; none of plans, denials or the past
    that is over."""
    if "past" in parse.change or parse.is_plan:
        wishes = () if parse.denials else tuple(_preferences(parse))
        return wishes
    if parse.denials:
        return ()
    found = [*_groups(parse), *_tools(parse), *_preferences(parse)]
    if not parse.flips:
        found += _forms(parse)
    if not parse.is_past or RENAMED in (w.root for w in parse.predicate[:1]) or parse.is_passive:
        found += _noun_phrase(parse)
        found += _counts(parse)
    return tuple(dict.fromkeys(slot for slot in found if slot.value))


# ---- forms of words


def _forms(parse: Parse) -> Iterator[Slot]:
    yield from _noun_forms(parse)
    form = parse.form
    roots = {word.root for word in parse.words}
    for row, triggers, regex in _compiled():
        if triggers.isdisjoint(roots) or (parse.is_past and not row.is_change and not parse.is_passive):
            continue
        match = regex.search(form)
        if match:
            yield from _matched(parse, row, match)


def _noun_forms(parse: Parse) -> Iterator[Slot]:
    for form, triggers, regex in _compiled_noun_forms():
        if triggers.isdisjoint([word.root for word in parse.predicate]):
            continue
        if match := regex.search(parse.form):
            subject, head = _split(_words_at(parse, match, "k"))
            value = _value(_words_at(parse, match, "v"))
            owner = "" if form in OTHERS_NOUN_FORMS else _key_of(parse, match)
            if head in _single and value and (subject or owner):
                parts = {*subject.split("-"), *owner.split("-")} - {""}
                yield Slot("-".join(sorted(parts)), head, "", _text(value))


def _text(value: Sequence[Word]) -> str:
    return " ".join([word.root for word in value])


def _key_of(parse: Parse, match: re.Match[str]) -> str:
    return key(_words_at(parse, match, "s"))


@cache
def _compiled_noun_forms() -> tuple[tuple[str, frozenset[str], re.Pattern[str]], ...]:
    return tuple((form, *compile_form(form)) for form in NOUN_FORMS)


def _matched(parse: Parse, row: SlotForm, match: re.Match[str]) -> Iterator[Slot]:
    groups = {name: _words_at(parse, match, name) for name in match.re.groupindex}
    value = _value(groups["v"])
    said = groups.get("k", [])
    if not value or not _fits(row, value):
        return
    if row.slot == "role" and not any(word.text in ROLES for word in said):
        return
    is_joined = row.is_joined or row.slot == "name" and bool(said)
    subject = key([*groups["s"], *said]) if is_joined else key(groups["s"])
    said = [] if is_joined else said
    if subject:
        yield Slot(subject, row.slot, key(said), " ".join(word.root for word in value))


def _words_at(parse: Parse, match: re.Match[str], name: str) -> list[Word]:
    start = match.string.count(" ", 0, match.start(name))
    return parse.words[start : start + match[name].count(" ")]


def _value(phrase: Sequence[Word]) -> list[Word]:
    """The value without what follows it: "Paris" of "Paris with her sister"."""
    kept: list[Word] = []
    for word in phrase:
        if word.text in CUT:
            if kept:
                break
            continue
        if not word.is_function:
            kept.append(word)
    return kept[:6]


def _fits(row: SlotForm, value: Sequence[Word]) -> bool:
    match row.values:
        case "":
            return not is_date(value[0])
        case "#":
            return value[0].is_number
        case "$":
            return value[0].is_number and any(w.root in MONEY for w in value)
        case "#1":
            return value[0].is_number and len(value) == 1
        case "@":
            return any(map(is_date, value))
        case "*":
            return any(w.is_name or tool_role(w) for w in value)
        case "**":
            return all(w.is_name for w in value) and value[-1].text not in SOCIETIES
    return any(word.root in _roots_of(row.values) for word in value)


@cache
def _roots_of(text: str) -> frozenset[str]:
    return frozenset(map(root, text.split()))


@cache
def _compiled() -> tuple[tuple[SlotForm, frozenset[str], re.Pattern[str]], ...]:
    return tuple((row, *compile_form(form)) for row in FORMS for form in row.forms)


def compile_form(form: str) -> tuple[frozenset[str], re.Pattern[str]]:
    """(words of which one must be there, pattern over `Parse.form`)."""
    triggers: frozenset[str] = frozenset()
    pattern = "^"
    for part in form.split():
        if part in ("{v}", "{k}") and form.endswith(part):
            pattern += rf"(?P<{part[1]}>(?:[^ ]+ )+)"
        elif part in ("{s}", "{v}", "{k}"):
            pattern += rf"(?P<{part[1]}>(?:[^ ]+ ){{1,{3 if part == '{k}' else 8}}}?)"
        elif part == "{x}":
            pattern += r"(?:[^ ]+ ){0,3}?"
        else:
            words = [root(word) for word in part.rstrip("?").split("|")]
            pattern += f"(?:{'|'.join(re.escape(word) for word in words)}) "
            if part.endswith("?"):
                pattern = _optional(pattern, words)
            elif not triggers or triggers <= _common:
                triggers = frozenset(words)
    return triggers, re.compile(pattern)


_common = frozenset({"be", "'s", "have", "in", "of", "to", "at"})


def _optional(pattern: str, words: Sequence[str]) -> str:
    last = f"(?:{'|'.join(re.escape(word) for word in words)}) "
    return f"{pattern.removesuffix(last)}(?:{last})?"


# ---- words of which a subject has one


def _groups(parse: Parse) -> Iterator[Slot]:
    near = parse.predicate[:5]
    for name in ("relationship", "diet", "status", "color"):
        values = GROUPS[name]
        for position, word in enumerate(near):
            value = values.get(word.text)
            if value and _is_said(parse, name, position):
                yield from _each(parse, name, value)
                break
    yield from _by_verb(parse)


def _is_said(parse: Parse, name: str, position: int) -> bool:
    first = parse.predicate[0]
    if parse.denials:
        return False
    match name:
        case "relationship":
            return (position == 0 or first.root in _couple) and _is_plain(parse)
        case "status":
            return _is_status(parse, position)
        case "color":
            return position <= 2 and (first.root in _color_verbs or parse.is_passive)
    return position == 0 or first.root in _become


_couple = frozenset(map(root, "be get have become remain".split()))
_become = frozenset(map(root, "be become turn go follow stay remain eat get".split()))
_color_verbs = frozenset(map(root, "be turn".split()))


def _is_plain(parse: Parse) -> bool:
    return all(word.root != "'s" for word in parse.noun_phrase)


def _is_status(parse: Parse, position: int) -> bool:
    """ "is open", "was closed", "is now live"; not "opens the door"."""
    first = parse.predicate[0]
    if position == 0:
        return parse.is_passive or parse.predicate[0].text.endswith("ing")
    return position == 1 and first.root in ("be", "become", root("get"), root("go"))


def _each(parse: Parse, name: str, value: str) -> Iterator[Slot]:
    """ "Ann and Bo got married" is said of each."""
    phrase = parse.noun_phrase
    cuts = [i for i, word in enumerate(phrase) if word.text == "and"]
    if name == "relationship" and len(cuts) == 1:
        yield Slot(key(phrase[: cuts[0]]), name, "", value)
        yield Slot(key(phrase[cuts[0] + 1 :]), name, "", value)
    else:
        yield Slot(key(phrase), name, "", value)


def _by_verb(parse: Parse) -> Iterator[Slot]:
    roots = [word.root for word in parse.predicate]
    subject = key(parse.noun_phrase)
    if parse.denials or not roots:
        return
    if root("eat") in roots[:2] and MEAT & set(roots) and (parse.change or "everyth" in roots):
        yield Slot(subject, "diet", "", "omnivore")
    if roots[0] in ("be", root("become")) and len(roots) > 1 and not parse.is_past:
        yield from _profession(parse)


def _profession(parse: Parse) -> Iterator[Slot]:
    said = _value(parse.predicate[1:])
    if said and len(said) < 4 and said[-1].text in PROFESSIONS:
        yield Slot(key(parse.noun_phrase), "job", "", " ".join(word.root for word in said))
        employer = [i for i, w in enumerate(parse.predicate) if w.text in ("at", "for")]
        if employer and (at := _value(parse.predicate[employer[0] :])) and not is_date(at[0]):
            yield Slot(
                key(parse.noun_phrase), "employer", "", " ".join(word.root for word in at)
            )


# ---- noun phrases: "the budget of the kitchen is 5000"


def _noun_phrase(parse: Parse) -> Iterator[Slot]:
    phrase, predicate = parse.noun_phrase, parse.predicate
    if len(predicate) < 2:
        return
    verb = predicate[0].root
    subject, head = _split(phrase)
    if not head:
        return
    if verb in _clock and (times := [w for w in predicate if is_time(w)]):
        yield Slot(key(phrase), verb, "time", times[0].root)
    if verb in _when:
        yield from _occasions(predicate, subject, head)
    if verb not in ("be", RENAMED) or (parse.is_past and verb == "be"):
        return
    yield from _measures(parse, subject, head)


_clock = frozenset(map(root, CLOCK_VERBS))
_when = frozenset(map(root, WHEN_VERBS)) | {RENAMED}
_single = frozenset(map(root, SINGLE))
_many = frozenset(map(root, MANY))


def _split(phrase: Sequence[Word]) -> tuple[str, str]:
    """(all but the head, head): ("kitchen", "budget") of "budget for the kitchen"."""
    if len(phrase) > 2 and phrase[0].text == "team" and phrase[1].root == "'s":
        phrase = phrase[2:]
    after = [i for i, word in enumerate(phrase) if word.root == "'s"]
    segment = list(phrase[after[-1] + 1 :] if after else phrase)
    cut = next((i for i, w in enumerate(segment) if i and w.text in PREPOSITIONS), len(segment))
    heads = [word for word in segment[:cut] if not word.is_function]
    if not heads:
        return "", ""
    head = heads[-1]
    if head.root in ("date", "day", "time") and len(heads) > 1:
        phrase, head = [word for word in phrase if word is not head], heads[-2]
    return key([word for word in phrase if word is not head]), head.root


def _occasions(predicate: Sequence[Word], subject: str, head: str) -> Iterator[Slot]:
    days = [w.root for w in predicate if is_date(w) and not is_time(w)]
    times = [w.root for w in predicate if is_time(w)]
    if days and not set(days) <= RELATIVE_DATES:
        yield Slot(subject, head, "day", " ".join(days))
    if times:
        yield Slot(subject, head, "time", " ".join(times))


def _measures(parse: Parse, subject: str, head: str) -> Iterator[Slot]:
    said = _value(parse.predicate[1:])
    if not said or is_date(said[0]):
        return
    value = " ".join(word.root for word in said)
    tools = [word for word in said if tool_role(word)]
    if tools and _has_owner(parse):
        yield Slot(_owner(parse) or subject, "tool", tool_role(tools[0]), tools[0].root)
    if said[0].is_number and len(said) < 4:
        yield Slot(subject, head, "number", value)
    elif head in _single and subject:
        yield Slot(subject, head, "", value)
    elif (head not in _many or "best" in subject) and subject and _is_thing(said):
        yield Slot(subject, head, "is", value)
    elif parse.predicate[0].root == RENAMED and len(parse.noun_phrase) > 1:
        yield Slot(subject, head, "is", value)


def _owner(parse: Parse) -> str:
    phrase = parse.noun_phrase
    cut = next((i for i, word in enumerate(phrase) if word.root == "'s"), 0)
    return key(phrase[:cut])


def _has_owner(parse: Parse) -> bool:
    return any(word.text in ("'s", "of", "for") for word in parse.noun_phrase)


def _is_thing(value: Sequence[Word]) -> bool:
    return any(word.is_name or word.text[:1].isdigit() for word in value)


# ---- tools, preferences, counts


@cache
def _roles_of_tools() -> dict[str, str]:
    return {tool: role for role, tools in TOOLS.items() for tool in tools.split()}


def tool_role(word: Word) -> str:
    """What the tool of that name is for; empty for any other word."""
    if word.text in AMBIGUOUS_TOOLS and not word.is_name:
        return ""
    return _roles_of_tools().get(word.text, "")


def _tools(parse: Parse) -> Iterator[Slot]:
    predicate = parse.predicate
    named = [(i, w) for i, w in enumerate(parse.words) if tool_role(w)]
    if predicate and named and predicate[0].root in TOOL_VERBS:
        yield from _tool_in_role(parse, named)
    handled = _handled_by(parse, named)
    if handled:
        yield handled
    for i, word in enumerate(parse.words[:-1]):
        number = parse.words[i + 1]
        if number.text == "version" and i + 2 < len(parse.words):
            number = parse.words[i + 2]
        is_versioned = word.is_name or bool(tool_role(word))
        if is_versioned and i >= parse.verb and number.is_number and not parse.is_past:
            yield Slot(key(parse.noun_phrase), "version", word.root, number.root)


def _handled_by(parse: Parse, named: Sequence[tuple[int, Word]]) -> Slot | None:
    """ "Login is handled by Auth0 for the team"."""
    for i, tool in named:
        if parse.is_passive and parse.words[i - 1].text == "by":
            after = parse.words[i + 1 :]
            owner = key(_value(after)) if after and after[0].text in ("for", "in") else ""
            if owner:
                return Slot(owner, "tool", tool_role(tool), tool.root)
    return None


def _tool_in_role(parse: Parse, named: Sequence[tuple[int, Word]]) -> Iterator[Slot]:
    in_predicate = [(i, w) for i, w in named if i >= parse.verb]
    if not in_predicate:
        return
    i, tool = _chosen(parse.words, in_predicate)
    role = tool_role(tool)
    explicit = _explicit_role(parse.words, i)
    subject = key(parse.noun_phrase)
    if explicit and explicit != role:
        yield Slot(subject, "tool", explicit, tool.root)
    elif explicit or _stands_alone(parse.words, i):
        yield Slot(subject, "tool", role, tool.root)


def _chosen(words: Sequence[Word], named: Sequence[tuple[int, Word]]) -> tuple[int, Word]:
    """Of "from A to B", "A with B", "A in favour of B": B."""
    for i, word in named:
        if i and words[i - 1].text in ("with", "by", "infavorof"):
            return i, word
    for i, word in named:
        if words[i - 1].text not in ("from", "insteadof", "over"):
            return i, word
    return named[-1]


def _stands_alone(words: Sequence[Word], i: int) -> bool:
    return i + 1 >= len(words) or words[i + 1].is_function or words[i + 1].is_number


def _explicit_role(words: Sequence[Word], i: int) -> str:
    for j in range(i + 1, len(words) - 1):
        if words[j].text in ("for", "as"):
            purpose = key(_value(words[j + 1 :]))
            return ROLE_NAMES.get(purpose, purpose)
    return ""


ROLE_NAMES = {
    "database": "database", "storag": "database", "data": "database", "authentication": "authentication",
    "cach": "cache", "queue": "queue", "ci": "ci", "bundl": "bundler", "chat-team": "chat",
    "host": "hosting", "deploy": "hosting", "monitor": "monitoring", "browser": "browser",
    "email": "mail", "mail": "mail", "call": "calls", "music": "music", "note": "notes",
    "editor": "editor", "search": "search", "styl": "styling",
}  # fmt: skip


@cache
def _rivals() -> dict[str, tuple[str, frozenset[str]]]:
    found: dict[str, tuple[str, frozenset[str]]] = {}
    for group in RIVALS:
        members = frozenset(map(root, group.split()))
        found |= {member: (group.split()[0], members) for member in members}
    return found


def _preferences(parse: Parse) -> Iterator[Slot]:
    predicate = parse.predicate
    if not predicate or predicate[0].root not in PREFER:
        return
    subject = key(parse.noun_phrase)
    rest = predicate[1:]
    over = next((i for i, w in enumerate(rest) if w.text in ("over", "to", "than")), 0)
    if over and root("prefer") == predicate[0].root or over and rest[over].text == "over":
        chosen, other = key(rest[:over]), key(_value(rest[over + 1 :]))
        if chosen and other:
            yield Slot(subject, "preferred", "|".join(sorted((chosen, other))), chosen)
            return
    if predicate[0].root == root("like") and "now" not in parse.change:
        return
    yield from _rival(subject, rest)


def _rival(subject: str, rest: Sequence[Word]) -> Iterator[Slot]:
    said = [word for word in rest if not word.is_function]
    for word in said:
        if word.root in _rivals():
            name, members = _rivals()[word.root]
            about = "-".join(sorted(w.root for w in said if w.root not in members))
            yield Slot(subject, "preferred", f"{name}:{about}", word.root)
            return


def _counts(parse: Parse) -> Iterator[Slot]:
    """ "has three cats"."""
    predicate = parse.predicate
    if len(predicate) > 2 and predicate[0].root in _owning and predicate[1].is_number:
        thing = predicate[2].root
        yield Slot(key(parse.noun_phrase), "count", thing, predicate[1].root)


_owning = frozenset(map(root, "have own keep employ".split()))
