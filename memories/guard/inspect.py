"""All that is found in one text, without what a workspace allows."""

import json
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from memories.guard import answered, credentials, identity_numbers, orders
from memories.guard.form import OTHER, OWN, Finding, Whose

MASK = "[masked]"
PIECE = 2_000  # characters that are looked at together
_digit = re.compile(r"\d")
_line_end = re.compile(r"[.!?]?\s")


def findings(
    text: str, whose: Whose = OWN, allowed: Collection[str] = (), *, before: str = ""
) -> list[Finding]:
    """Places in `text`, in their order, none inside another. In the words of an assistant, a tool
    or a document an order needs less to be one than in a person's own. `allowed` labels are passed
    over. `before` is the message that `text` may answer or end.
    """
    found = [*credentials.find_blocks(text), *answered.find(before, text)]
    for start, piece in _pieces(text):
        of_piece = [
            *credentials.find_keys(piece),
            *credentials.find_named(piece),
            *(identity_numbers.find(piece) if _digit.search(piece) else ()),
            *credentials.find(piece),
            *orders.find(piece, whose),
        ]
        found += [Finding(f.start + start, f.end + start, f.label) for f in of_piece]
    # Those that overlap as one, named for the first of them.
    merged: list[Finding] = []
    not_allowed = (finding for finding in found if finding.label not in allowed)
    for finding in sorted(not_allowed, key=lambda each: (each.start, -each.end)):
        if merged and finding.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = Finding(last.start, max(last.end, finding.end), last.label)
        else:
            merged.append(finding)
    return merged


def words_in(value: Any, whose: Whose = OTHER, allowed: Collection[str] = ()) -> list[str]:
    """The words to be masked of a JSON value: what any text in it holds, and secrets that are known
    by the name they stand under."""
    if not value:
        return []
    found = []
    if not isinstance(value, str):
        written = json.dumps(value, ensure_ascii=False, default=str)
        named = findings(written, whose, [*allowed, "order"])
        found += [written[each.start : each.end] for each in named]
    for text in _texts_in(value):
        found += [text[each.start : each.end] for each in findings(text, whose, allowed)]
    return found


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts_in(each)


def masked(text: str, places: Iterable[Finding]) -> str:
    """`text` with a mark in the place of each finding; `places` as `findings` gives them."""
    parts, position = [], 0
    for place in places:
        parts += [text[position : place.start], MASK]
        position = place.end
    return "".join([*parts, text[position:]])


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """`text` in stretches of about PIECE characters, cut between lines where there are some."""
    start = 0
    while len(text) - start > PIECE:
        end = text.rfind("\n", start + PIECE // 2, start + PIECE) + 1
        if not end:
            cut = _line_end.search(text, start + PIECE - 200, start + 5 * PIECE)
            end = cut.end() if cut else min(len(text), start + 5 * PIECE)
        yield start, text[start:end]
        start = end
    yield start, text[start:]
