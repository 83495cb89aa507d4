"""Role-play: the messages behind its opening, until its players return to what is so."""

from collections.abc import Sequence
from dataclasses import replace

from memories.language import bounds
from memories.language.english import frames
from memories.reading.extraction.extraction_types import Message
from memories.reading.extraction.labelled_speakers import PEOPLES


def without_play(messages: Sequence[Message], *, in_play: bool) -> tuple[list[Message], bool]:
    """Return the messages, with the places of what is said in play as not to be read, and whether the play goes on
    behind them; `in_play`: it went on before them."""
    read = []
    for message in messages:
        if message.kind in PEOPLES:
            text, start = bounds.start_of(message.text), 0
            if in_play:
                back = frames.RETURNS.search(text)
                start, in_play = (back.start(), False) if back else (len(message.text), True)
                message = replace(message, served=(*message.served, (0, start)), is_played=start > 0)
            in_play = in_play or opens(text[start:])
        read.append(message)
    return read, in_play


def opens(text: str) -> bool:
    """Tell whether a text opens a role-play that the next messages go on with."""
    places = [found.end() for found in frames.OPENS.finditer(text) if frames.PLAYED.search(found.group())]
    return bool(places) and not frames.RETURNS.search(text, places[-1])
