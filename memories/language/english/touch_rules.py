"""Verdicts on what a later message says of a belief, by rules alone: an exception, something that adds to it, or
something that may end it, which the judge or a person decides. Pure.

A rule never ends a belief. Whatever is asked, supposed, quoted or said of somebody else says nothing of it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from memories.language.english import clauses, dates, lexical
from memories.language.english.anchors import Anchors, anchors
from memories.language.english.statements import Reading, negates, read
from memories.language.english.statements.word_lists import KIN

RESTATES, ADDS, EXCEPTION, UNSURE = "restates", "adds", "exception", "unsure"
HALF = 0.5
NEAR = 50  # characters between a word of change and what it is about
MOST_SENTENCES = 40  # of a message
MOST_OF_IT = 0.75  # of a belief's anchors: a sentence that shares so many says the same
FEW = 2  # anchors that both share, from which on what only adds to a belief is worth keeping


def _any_of(phrases: str) -> re.Pattern[str]:
    """Return a pattern of phrases, one after "/" each; in them "_" is any ending of a verb."""
    told = "|".join(" ".join(each.split()) for each in phrases.split("/"))
    return re.compile(rf"\b(?:{told.replace('_', '(?:ed|ing|s)?')})\b", re.IGNORECASE)


_supposed = _any_of(
    """if/imagine/suppose/pretend/wish/would/could/might/may/maybe/perhaps/thinking of/thinking about/considering
    /planning/hoping/hope/want(?:ed)? to/wanna/dream(?:ed|t)?/supposedly/apparently/almost/nearly
    /failed to/fail to/unable to/(?:not|n['’]t) (?:able|manage) to/never managed to/tried (?:and failed )?to/couldn['’]t/could not"""
)
_quoted = re.compile(r"[\"“«][^\"”»\n]{2,300}[\"”»]")
_told_by_others = _any_of("said/says/told me/tells me/asked/wrote/texted/claims?/reckons?/according to/heard")
_passing = _any_of(
    """this (?:week|weekend|month|morning|evening|afternoon)/(?:only |just )?(?:today|tonight|tomorrow)/until/till
    /for now/for the (?:moment|time being)/at the moment/temporarily/just this once/this time/as an exception/on holiday
    /for (?:a|the|two|three|four|a few|a couple of) (?:day|night|week|fortnight|month|weekend|bit|while)s?
    /while (?:the|my|our|he|she|they|I|we)"""
)
# Whatever says of something that it has changed, ended or been given away.
_change = _any_of(
    """no longer/no more/any ?more/any longer/used to/instead/nowadays/these days/now/from now on
    /gave (?:it |them |that )?up/given? up/giving up/quit/stopp_/dropp_/ditch_/swapp?_/switch_/moved/moving/changed/changing/replaced/replacing
    /sold/selling/got rid of/traded/handed (?:in|over|back)/done with/finished with/cancell?_/broke up/split(?: up)?
    /divorc_/died/passed away/packed (?:it )?in/retired/resign_/fired/laid off/clos_ down/shut down/expired/lapsed/migrated
    /migrating/deprecated/decommissioned/bumped/graduat_/finished/completed/handed in/healed/recovered/outgrew/shaved off
    /got over/overcame/paid (?:off|back)/came off/went back/last (?:day|one)/farewell/goodbye/became/turned into
    /is (?:dead|gone|history|over)/left/ex"""
)
_lasts = _any_of("still/remains?/stays?/unchanged/as (?:before|ever|always)/the same/keeps?/continues?")
_word = re.compile(r"[\w'’-]+")
_pronoun = re.compile(
    r"^(?:(?:and|but|so|well|oh|because|then|also)\W+)*(?:she|he|they|his|her|their|it)\b", re.IGNORECASE
)
_first_person = re.compile(r"\b(?:I|I['’]\w+|me|my|mine|we|us|our|ours|we['’]\w+)\b", re.IGNORECASE)
# Whoever speaks is named before anybody of theirs ("my sister"). "US" and "i.e." name nobody.
_oneself_first = re.compile(
    r"(?:(?!\b(?:[Mm]y|[Oo]ur)\b).){0,200}?\b(?:I|i|[Mm]e|[Mm]ine|[Ww]e|us|ours)\b(?!\.\w)", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class TouchPair:
    """A belief and a message that was said after it. `words`: those that the belief was read from;
    `before`: the message before. `speaker`: who says the message."""

    belief: str
    message: str
    said_at: datetime
    speaker: str = ""
    words: str = ""
    before: str = ""


@dataclass(frozen=True, slots=True)
class LaterVerdict:
    """A verdict on what a message says of a belief, from `start` to `end`. `is_slight`: they share so little that
    only a judge can tell whether it says anything."""

    relation: str
    probability: float
    start: int
    end: int
    until: datetime | None = None
    is_sure: bool = False
    is_slight: bool = False


def verdict_of(pair: TouchPair) -> LaterVerdict | None:
    """Return what the message says of the belief; None where it says nothing of it."""
    belief = read(pair.belief)
    anchored = anchors(pair.belief, pair.speaker)
    verdicts: list[LaterVerdict] = []
    for start, end in places_of(pair.message):
        if verdict := _of_sentence(pair, belief, anchored, (start, end)):
            verdicts.append(verdict)
    order = (None, ADDS, RESTATES, EXCEPTION, UNSURE)
    return max(verdicts, key=lambda one: (order.index(one.relation) - 3 * one.is_slight, one.probability), default=None)


@lru_cache(maxsize=64)
def places_of(message: str) -> tuple[tuple[int, int], ...]:
    """Return the places of the sentences of a message that may say something: those that ask nothing."""
    places = [place for place, _ in zip(clauses.sentences(message), range(MOST_SENTENCES), strict=False)]
    return tuple((a, b) for a, b in places if not message[a:b].rstrip("\"'”’)*_ ").endswith("?"))


def of_whom_it_is(pair: TouchPair) -> Iterator[tuple[int, int]]:
    """Yield the places of the sentences of a message that may be about whom the belief is about. Left out are
    questions, sentences that name somebody else, unless the speaker comes first in them ("I gave my sister ..."), and
    those that go on about that person ("she ...")."""
    is_of_others = False
    for place in places_of(pair.message):
        sentence = pair.message[slice(*place)]
        reading = read(sentence.strip(" ,;:-"))
        names = _names_others(read(pair.belief), reading, sentence, _roots(pair.speaker))
        is_of_others = (names and not _oneself_first.match(sentence)) or (
            is_of_others and bool(_pronoun.match(sentence))
        )
        if not is_of_others:
            yield place


def is_plain(text: str) -> bool:
    """Tell whether a text says what it says of now and for good: nothing in it is supposed, quoted, told by others,
    for a time, or as it was."""
    return not any(each.search(text) for each in (_supposed, _quoted, _told_by_others, _passing, _lasts))


def _of_sentence(pair: TouchPair, belief: Reading, anchored: Anchors, place: tuple[int, int]) -> LaterVerdict | None:
    sentence = _quoted.sub(lambda quote: " " * len(quote.group()), pair.message[slice(*place)])
    shared = anchored.shared(anchors(sentence, pair.speaker))
    if not (shared.all or belief.slots):
        return None
    reading = read(sentence.strip(" ,;:-"))
    slot = _same_attribute(belief, reading, pair.speaker)
    if not (shared.all or slot) or _is_of_others(belief, reading, sentence, pair.speaker):
        return None
    if _supposed.search(sentence) or _told_by_others.search(sentence):
        return None
    if slot == RESTATES:
        return LaterVerdict(RESTATES, 0.9, *place, is_sure=True)
    if _passing.search(sentence):
        ends = [span.end for _, _, span in dates.relative_phrases(sentence, pair.said_at)]
        until = max((end for end in ends if end > pair.said_at), default=None)
        return LaterVerdict(EXCEPTION, 0.7, *place, until=until)
    share = len(shared.all) / max(len(anchored.all), 1)
    if len(shared.all) >= FEW and (share >= MOST_OF_IT or share > HALF and _lasts.search(sentence)):
        is_same = anchored.strong <= shared.strong and not reading.is_negated
        return LaterVerdict(RESTATES if is_same else ADDS, 0.8, *place)
    if slot or _is_change(sentence, belief, reading, shared):
        return LaterVerdict(UNSURE, HALF, *place)
    return LaterVerdict(ADDS, 0.8, *place, is_slight=not slot and len(shared.all) < FEW)


def _same_attribute(belief: Reading, sentence: Reading, speaker: str) -> str:
    """Return UNSURE where both give one attribute of the same person another value, RESTATES where they
    give it the same one; "" where they do not."""
    mine = {(_who(slot.subject, speaker), slot.name, slot.key): slot.value for slot in belief.slots}
    for slot in sentence.slots:
        value = mine.get((_who(slot.subject, speaker), slot.name, slot.key))
        if value is not None:
            return RESTATES if set(value.split()) & set(slot.value.split()) else UNSURE
    return ""


def _who(subject: str, speaker: str) -> str:
    """Return a slot's subject with one name for whoever speaks."""
    speakers = _roots(speaker)
    return "-".join(sorted({"user" if part in speakers else part for part in subject.split("-")}))


@lru_cache(maxsize=256)
def _roots(speaker: str) -> frozenset[str]:
    return frozenset({"user", "team", *(word.root for word in read(speaker).words)} if speaker else {"user", "team"})


def _is_of_others(belief: Reading, reading: Reading, sentence: str, speaker: str) -> bool:
    """Tell whether a sentence is about somebody or something else than the belief is."""
    if _pronoun.match(sentence.strip()):
        return True
    speakers = _roots(speaker)
    others = belief.about - speakers - {"other", ""}
    if others and not others & (reading.stems | reading.about):
        return True
    return _names_others(belief, reading, sentence, speakers)


def _names_others(belief: Reading, reading: Reading, sentence: str, speakers: frozenset[str]) -> bool:
    """Tell whether a sentence is about a relative, or somebody named, of whom the belief says nothing."""
    if reading.about & _kin() - belief.stems - belief.about:
        return True
    is_name = not _first_person.search(sentence) and sentence.lstrip()[:1].isupper() and reading.person not in speakers
    return bool(is_name and reading.names & reading.about and not reading.about & belief.stems)


@lru_cache(maxsize=1)
def _kin() -> frozenset[str]:
    return frozenset(word.root for name in KIN for word in read(name).words)


def _is_change(sentence: str, belief: Reading, reading: Reading, shared: Anchors) -> bool:
    """Tell whether a sentence says, near to what both share, that something has changed or is over."""
    if reading.is_negated and reading.negated & belief.stems or "end" in reading.change:
        return True
    if any(not shared.all.isdisjoint(lexical.stem_set(word)) for word in negates(reading)):
        return True
    turns = [turn.span() for turn in _change.finditer(sentence)]
    if not turns:
        return False
    places = [
        word.span() for word in _word.finditer(sentence) if not shared.all.isdisjoint(lexical.stems(word.group()))
    ]
    return any(start - NEAR <= b and a <= end + NEAR for a, b in places for start, end in turns)
