"""What is preferred to what, and how many of a thing somebody has."""

from collections.abc import Iterator, Sequence
from functools import cache

from memories.english.statements.opposites import RIVALS
from memories.english.statements.sentence import Parse, key
from memories.english.statements.slot_values import Slot, value_of
from memories.english.statements.wording import Word, root

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
    yield from _rival(subject, rest)


def _rival(subject: str, rest: Sequence[Word]) -> Iterator[Slot]:
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
