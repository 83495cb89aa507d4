"""Checks of a workspace's attributes and words of change: why one cannot be used as it stands."""

import re
from collections.abc import Iterator, Sequence

from memories.language.english.statements.attributes import KEY, SUBJECT, VALUE, OwnChange, OwnSlot, OwnWords
from memories.language.english.statements.compare import relation
from memories.language.english.statements.read_statement import read
from memories.language.expressions import Fault, compiled, regex_faults

ARROW = "=>"
EVERYTHING = "*"
_plain_word = re.compile(r"[^\W\d_][\w'’-]*")


def slot_faults(slot: OwnSlot, examples: Sequence[str], counter: Sequence[str]) -> list[Fault]:
    """Return the faults of an attribute; [] if it takes a value from each example and from no
    counter-example."""
    if wrong := regex_faults(slot.regex):
        return wrong
    groups = set(compiled(slot.regex).groupindex)
    if VALUE not in groups:
        return [Fault("regex", f"Name the part that is the value: (?P<{VALUE}>...).")]
    if unknown := groups - {VALUE, SUBJECT, KEY}:
        return [Fault("regex", f"There is no part {min(unknown)}: {VALUE}, {SUBJECT}, {KEY}.")]
    wrong = [Fault("examples", f"No value is found in: {text}") for text in examples if not _tells(slot, text)]
    if not examples:
        wrong = [Fault("examples", "Give at least one statement that tells the attribute.")]
    return wrong + [Fault("counter_examples", f"A value is found in: {text}") for text in counter if _tells(slot, text)]


def _tells(slot: OwnSlot, text: str) -> bool:
    found = read(text, OwnWords(slots=(slot,))).slots
    return any(each.name == f"own:{slot.name}" for each in found)


def change_faults(change: OwnChange, examples: Sequence[str], counter: Sequence[str]) -> list[Fault]:
    """Return the faults of words of change; [] if they end the first half of each example, and of
    no counter-example."""
    if not change.verbs.split():
        return [Fault("verbs", "Give at least one word.")]
    wrong = []
    for name, text in (("verbs", change.verbs), ("ended", change.ended)):
        odd = [word for word in text.split() if not _plain_word.fullmatch(word)]
        if odd and not (name == "ended" and text.strip() == EVERYTHING):
            wrong.append(Fault(name, f"Plain words with blanks between, not: {odd[0]}"))
    if wrong:
        return wrong
    return list(_change_examples(change, examples, counter))


def _change_examples(change: OwnChange, examples: Sequence[str], counter: Sequence[str]) -> Iterator[Fault]:
    if not examples:
        yield Fault("examples", f"Give at least one pair: before {ARROW} after.")
    own = OwnWords(changes=(change,))
    for name, lines, wanted in (
        ("examples", examples, True),
        ("counter_examples", counter, False),
    ):
        for line in lines:
            before, arrow, after = (part.strip() for part in line.partition(ARROW))
            if not (before and arrow and after):
                yield Fault(name, f"A line is a pair, before {ARROW} after: {line}")
                continue
            readings = read(before, own), read(after, own)
            found = relation(*readings, cosine=None, threshold=1.0, words=own)
            if (found.kind == "update") != wanted:
                said = "does not end" if wanted else "ends"
                yield Fault(name, f"The second {said} the first: {line}")
