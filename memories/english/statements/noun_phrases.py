"""Attributes told by a noun phrase: "the budget of the kitchen is 5,000 euros"."""

from collections.abc import Iterator, Sequence

from memories.english.statements.function_words import PREPOSITIONS
from memories.english.statements.sentence import RENAMED, Parse, is_date, is_time, key
from memories.english.statements.slot_values import Slot, condition_of, value_of
from memories.english.statements.slot_words import CLOCK_VERBS, MANY, SINGLE, WHEN_VERBS
from memories.english.statements.tools import tool_role
from memories.english.statements.wording import RELATIVE_DATES, Word, root

_clock = frozenset(map(root, CLOCK_VERBS))
_when = frozenset(map(root, WHEN_VERBS)) | {RENAMED}
single = frozenset(map(root, SINGLE))
_many = frozenset(map(root, MANY))


def noun_phrase_slots(parse: Parse) -> Iterator[Slot]:
    phrase, predicate = parse.noun_phrase, parse.predicate
    if len(predicate) < 2:
        return
    verb = predicate[0].root
    subject, head = split(phrase)
    if not head:
        return
    if verb in _clock and (times := [w for w in predicate if is_time(w)]):
        yield Slot(key(phrase), verb, "time", times[0].root)
    if verb not in _when and (parse.is_definite or "'s" in {w.text for w in phrase}):
        yield from _verb_dates(parse, verb)
    if verb in _when:
        yield from _occasions(predicate, subject, head)
    if verb not in ("be", RENAMED) or (parse.is_past and verb == "be"):
        return
    yield from _measures(parse, subject, head)


def split(phrase: Sequence[Word]) -> tuple[str, str]:
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


def _verb_dates(parse: Parse, verb: str) -> Iterator[Slot]:
    """ "The play opens in May" as "the opening of the play is in May"."""
    days = [w.root for w in parse.predicate if is_date(w) and not is_time(w)]
    if days and not parse.is_past and not parse.predicate[0].is_function and len(days) < 3:
        yield Slot(key(parse.noun_phrase), verb, "day", " ".join(days))


def _measures(parse: Parse, subject: str, head: str) -> Iterator[Slot]:
    said = value_of(parse.predicate[1:])
    if not said or is_date(said[0]):
        return
    value = " ".join(word.root for word in said)
    tools = [word for word in said if tool_role(word)]
    if tools and any(word.text in ("'s", "of", "for") for word in parse.noun_phrase):
        yield Slot(owner(parse) or subject, "tool", tool_role(tools[0]), tools[0].root)
    if said[0].is_number and len(said) < 4:
        condition = key(condition_of(parse.predicate[1:]))
        yield Slot(subject, head, f"number {condition}".rstrip(), value)
    elif head in single and subject:
        yield Slot(subject, head, "", value)
    elif (
        (head not in _many or "best" in subject)
        and (subject or parse.is_definite)
        and any(word.is_name or word.text[:1].isdigit() for word in said)
        or parse.predicate[0].root == RENAMED
        and len(parse.noun_phrase) > 1
    ):
        yield Slot(subject, head, "is", value)


def owner(parse: Parse) -> str:
    phrase = parse.noun_phrase
    cut = next((i for i, word in enumerate(phrase) if word.root == "'s"), 0)
    return key(phrase[:cut])
