"""Finds the single-valued attributes that a statement gives to a subject: states (married, vegan,
closed, red, a nurse), tools, what is preferred to what, and how many of a thing somebody has.
"""

from collections.abc import Iterator
from functools import cache

from memories.english.statements.attribute_forms import Slot, value_of
from memories.english.statements.auxiliaries import RENAMED, Parse, is_date, key
from memories.english.statements.contradictions import GROUPS, PROFESSIONS, RIVALS
from memories.english.statements.forms import forms, noun_phrase_slots
from memories.english.statements.tools import tools
from memories.english.statements.wording import root


def slots_of(parse: Parse) -> tuple[Slot, ...]:
    """Every single-valued attribute that is told as true now; none of plans, denials or the past
    that is over."""
    if "past" in parse.change or parse.is_plan:
        wishes = () if parse.denials else tuple(preferences(parse))
        return wishes
    if parse.denials:
        return ()
    found = [*states(parse), *tools(parse), *preferences(parse)]
    if not parse.flips:
        found += forms(parse)
    if not parse.is_past or RENAMED in (w.root for w in parse.predicate[:1]) or parse.is_passive:
        found += noun_phrase_slots(parse)
        found += counts(parse)
    return tuple(dict.fromkeys(slot for slot in found if slot.value))


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
            # "is open", "was closed", "is now live"; not "opens the door", "is open to".
            after = [word.text for word in parse.predicate[position : position + 2]]
            if after == ["open", "to"] or (len(after) > 1 and after[0] in ("on", "off")):
                return False
            if position == 0:
                return first.text in parse.passives or first.text.endswith("ing")
            is_next = position == 1 or position == 2 and parse.predicate[1].text in ("in", "for")
            return is_next and first.root in ("be", "become", root("get"), root("go"))
        case "color":
            return position <= 2 and (first.root in _color_verbs or parse.is_passive)
    return position == 0 or first.root in _become


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
    if roots[0] not in ("be", root("become")) or len(roots) < 2 or parse.is_past:
        return
    said = value_of(parse.predicate[1:])
    if said and len(said) < 4 and said[-1].text in PROFESSIONS:
        yield Slot(key(parse.noun_phrase), "job", "", " ".join(word.root for word in said))
        employer = [i for i, w in enumerate(parse.predicate) if w.text in ("at", "for")]
        if employer and (at := value_of(parse.predicate[employer[0] :])) and not is_date(at[0]):
            yield Slot(key(parse.noun_phrase), "employer", "", " ".join(word.root for word in at))


PREFER = frozenset(map(root, "prefer want like favor rather".split()))


@cache
def _rivals() -> dict[str, tuple[str, frozenset[str]]]:
    found: dict[str, tuple[str, frozenset[str]]] = {}
    for group in RIVALS:
        members = frozenset(map(root, group.split()))
        found |= {member: (group.split()[0], members) for member in members}
    return found


def preferences(parse: Parse) -> Iterator[Slot]:
    predicate = parse.predicate
    if not predicate or predicate[0].root not in PREFER:
        return
    subject = key(parse.noun_phrase)
    rest = predicate[1:]
    over = next((i for i, w in enumerate(rest) if w.text in ("over", "to", "than")), 0)
    if over and root("prefer") == predicate[0].root or over and rest[over].text == "over":
        chosen, other = key(rest[:over]), key(value_of(rest[over + 1 :]))
        if chosen and other:
            yield Slot(subject, "preferred", "|".join(sorted((chosen, other))), chosen)
            return
    if predicate[0].root == root("like") and "now" not in parse.change:
        return
    said = [word for word in rest if not word.is_function]
    for word in said:
        if word.root in _rivals():
            name, members = _rivals()[word.root]
            about = "-".join(sorted(w.root for w in said if w.root not in members))
            yield Slot(subject, "preferred", f"{name}:{about}", word.root)
            return


_owning = frozenset(map(root, "have own keep employ".split()))


def counts(parse: Parse) -> Iterator[Slot]:
    """ "has three cats"."""
    predicate = parse.predicate
    if len(predicate) > 2 and predicate[0].root in _owning and predicate[1].is_number:
        thing = predicate[2].root
        yield Slot(key(parse.noun_phrase), "count", thing, predicate[1].root)
