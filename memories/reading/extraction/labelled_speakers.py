"""Labels of speakers in a message: what stands behind that of somebody else is never said by its sender."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from memories.language import bounds
from memories.language.english import pasted_text
from memories.language.english import speaker_labels as labels
from memories.language.english.frames import FORWARDED
from memories.models import Episode
from memories.reading.extraction.extraction_types import Message, Voice, speaker_of

MOST_LABELS, MOST_SPEAKERS = 2_000, 12  # of a message; the words of more speakers are nobody's
PEOPLES = (Episode.Kind.USER, Episode.Kind.TEXT)  # kinds of messages that people say
ENOUGH = 2  # labels, from which on nobody needs to know their names
_blank_line = re.compile(r"\n[ \t]*\n")
_numbered = re.compile(
    r"(?:speaker|person|participant|voice|user|guest|caller|student|player|agent|customer|interviewer)[ _-]?(?:\d+|[a-z])"
)
Known = Callable[[Collection[str]], Collection[str]]


class Label(NamedTuple):
    """A label from `start` on, of what `begins` behind it; `is_exact`: it can be nothing else."""

    start: int
    begins: int
    name: str
    is_exact: bool


def with_voices(messages: Sequence[Message], before: Sequence[Message], known: Known) -> list[Message]:
    """Return the messages, each with the places of others' words in it. `known` is asked which of some names are those
    of people, agents or members, only where a label stands alone."""
    found = [_labels_in(message) if message.kind in PEOPLES else [] for message in messages]
    if not any(found):
        return list(messages)
    earlier = sum(len(_labels_in(message)) for message in before if message.kind in PEOPLES)
    count = earlier + sum(map(len, found))
    lone = {label.name for each in found for label in each} if count < ENOUGH else set[str]()
    names = {name.casefold() for name in known(lone)} if lone else set[str]()
    voiced = []
    for message, own in zip(messages, found, strict=True):
        sure = [one for one in own if count >= ENOUGH or one.is_exact or one.name.casefold() in names]
        voices = tuple(_voices(message, sure)) if sure else ()
        voiced.append(replace(message, voices=voices) if voices else message)
    return voiced


def parts_by_speaker(message: Message) -> Iterator[Message]:
    """Yield the message as its own speaker says it, and as each other one does whose name is told."""
    unmeant = tuple(pasted_text.not_in_earnest(message.readable))
    yield replace(message, served=message.not_own, voices=())
    for name in list(dict.fromkeys(voice.name for voice in message.voices if voice.name))[:MOST_SPEAKERS]:
        outside, position = [], 0
        for voice in message.voices:
            if voice.name == name:
                outside.append((position, voice.words))
                position = voice.end
        outside.append((position, len(message.text)))
        gaps = tuple((start, end) for start, end in outside if start < end)
        yield replace(message, speaker=name, served=(*message.served, *gaps, *unmeant), voices=())


def _labels_in(message: Message) -> list[Label]:
    """Return the labels in a message, in their order; none where nobody speaks behind them."""
    text = bounds.start_of(message.text)
    if mail := FORWARDED.search(text):
        text = text[: mail.start()]
    found: dict[int, Label] = {}
    for form in (labels.EXACT, labels.MARKED, labels.BARE):
        for match in form.finditer(text):
            name = next(filter(None, match.groups()))
            parts = (part.rstrip(".") for part in name.casefold().lstrip("@").split())
            if match.end() not in found and labels.NO_NAMES.isdisjoint(parts):
                found[match.end()] = Label(match.start(), match.end(), name.lstrip("@"), form is labels.EXACT)
            if len(found) >= MOST_LABELS:
                break
    ordered = sorted(found.values())
    ordered = [one for at, one in enumerate(ordered) if not at or one.start >= ordered[at - 1].begins]
    ends = [one.start for one in [*ordered[1:], Label(len(text), 0, "", False)]]
    speaks = any(
        labels.FIRST_PERSON.search(text, one.begins, end)
        for one, end in zip(ordered, ends, strict=False)
        if one.name.casefold() not in labels.OWN
    )
    return ordered if speaks else []


def _voices(message: Message, sure: Sequence[Label]) -> Iterator[Voice]:
    """Yield the places of what others say. The last one ends with its paragraph, unless the message is theirs alone."""
    text = message.text
    is_all = not text[: sure[0].start].strip() and len(Counter(one.name for one in sure)) == 1
    ends = [*(one.start for one in sure[1:]), len(text)]
    for label, end in zip(sure, ends, strict=True):
        is_last = end == len(text) and not is_all
        if is_last and (blank := _blank_line.search(text, label.begins)):
            end = blank.start()
        low = label.name.casefold()
        if low in labels.OWN or low == message.speaker.casefold():
            yield Voice(label.start, label.begins, label.begins, "")  # the label alone
            continue
        is_role = low in labels.MACHINES or low in labels.ROLES or _numbered.fullmatch(low)
        is_named = len(low) > 1 and not is_role
        name = speaker_of(message.kind, "", label.name) if is_named else ""
        yield Voice(label.start, end, label.begins, name)
