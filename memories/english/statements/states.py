"""Words of which a subject has one: married, vegan, closed, red, a nurse."""

from collections.abc import Iterator

from memories.english.statements.opposites import GROUPS, PROFESSIONS
from memories.english.statements.sentence import Parse, is_date, key
from memories.english.statements.slot_values import Slot, value_of
from memories.english.statements.wording import root

DAIRY = frozenset(map(root, "cheese egg eggs milk dairy yogurt butter".split()))
MEAT = frozenset(map(root, "meat fish chicken beef pork steak everything".split()))
_couple = frozenset(map(root, "be get have become remain".split()))
_become = frozenset(map(root, "be become turn go follow stay remain eat get start begin".split()))
_color_verbs = frozenset(map(root, "be turn".split()))


def states(parse: Parse) -> Iterator[Slot]:
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
            return (position == 0 or first.root in _couple) and all(
                word.root != "'s" for word in parse.noun_phrase
            )
        case "status":
            return _is_status(parse, position)
        case "color":
            return position <= 2 and (first.root in _color_verbs or parse.is_passive)
    return position == 0 or first.root in _become


def _is_status(parse: Parse, position: int) -> bool:
    """ "is open", "was closed", "is now live"; not "opens the door"."""
    first = parse.predicate[0]
    if parse.predicate[position].text in ("on", "off") and position + 1 < len(parse.predicate):
        return False
    if [word.text for word in parse.predicate[position : position + 2]] == ["open", "to"]:
        return False
    if position == 0:
        return first.text in parse.passives or first.text.endswith("ing")
    is_next = position == 1 or position == 2 and parse.predicate[1].text in ("in", "for")
    return is_next and first.root in ("be", "become", root("get"), root("go"))


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
    if root("eat") in roots[:3] and DAIRY & set(roots) and parse.change:
        yield Slot(subject, "diet", "", "vegetarian")
    if root("eat") in roots[:2] and MEAT & set(roots) and (parse.change or "everyth" in roots):
        yield Slot(subject, "diet", "", "omnivore")
    if roots[0] in ("be", root("become")) and len(roots) > 1 and not parse.is_past:
        yield from _profession(parse)


def _profession(parse: Parse) -> Iterator[Slot]:
    said = value_of(parse.predicate[1:])
    if said and len(said) < 4 and said[-1].text in PROFESSIONS:
        yield Slot(key(parse.noun_phrase), "job", "", " ".join(word.root for word in said))
        employer = [i for i, w in enumerate(parse.predicate) if w.text in ("at", "for")]
        if employer and (at := value_of(parse.predicate[employer[0] :])) and not is_date(at[0]):
            yield Slot(key(parse.noun_phrase), "employer", "", " ".join(word.root for word in at))
