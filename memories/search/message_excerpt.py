"""The part of a message that is served: all of a short one, of a long one the sentences that
answer."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from memories.language.english import clauses, lexical
from memories.providers.count_tokens import start_of, tokens_of

LONG = 160  # tokens
READ = 20_000  # characters of a message that are looked at
QUOTED = 2  # a quoted sentence is worth so many words of the question


def passage_of(text: str, quotes: Sequence[tuple[int, int]], stems: AbstractSet[str]) -> tuple[int, int]:
    """Return where that part begins and ends in `text`. `quotes` are places, too; `stems` are the
    question's."""
    if len(text) < 3 * LONG or tokens_of(text) <= LONG:
        return 0, len(text)
    begun = max(0, min((first for first, _ in quotes), default=0) - READ // 2)
    read = text[begun : begun + READ]
    spans = [(begun + start, begun + end) for start, end in clauses.sentences(read)]
    if not spans:
        return begun, begun + len(start_of(read, LONG))
    sizes = [tokens_of(text[start:end]) for start, end in spans]
    worth = [
        len(stems & set(lexical.stems(text[start:end])))
        + QUOTED * sum(first < end and start < last for first, last in quotes)
        for start, end in spans
    ]
    first = last = max(range(len(spans)), key=lambda place: (worth[place], -place))
    room = LONG - sizes[first]
    while True:
        beside = [
            (worth[place], place) for place in (first - 1, last + 1) if 0 <= place < len(spans) and sizes[place] <= room
        ]
        if not beside:
            break
        place = max(beside)[1]
        room -= sizes[place]
        first, last = min(first, place), max(last, place)
    start, end = spans[first][0], spans[last][1]
    # A sentence may be as long as it likes.
    return start, end if room >= 0 else start + len(start_of(text[start:end], LONG))
