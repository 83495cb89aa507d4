"""Evidence that words are an order to the memory, not about a file, a plan, a song or a mood. Pure.

An order that names the memory, or what was told to it, is clear. Otherwise it counts whether
somebody is asked, whether the order is to last, whether it says that something is private, and
whether anything else is said along with it. One sign alone is not enough: "delete them, git
remembers" is about files.
"""

import re
from dataclasses import dataclass

from memories.language.english import clauses, topics
from memories.language.english import intent_forms as forms
from memories.language.english.spoken_intents import FORGET, NEVER, SpokenIntent, deletes, is_regret, is_talk, named_in

_KEPT = r"(?:memory|memories|records?|notes?|profile|database|files?|logs?|history|mind|brain|system|storage|archive|data|head)"
_memory = re.compile(
    rf"\byour (?:\w+ ){{0,2}}{_KEPT}\b"
    r"|\b(?:our|shared|common|the (?:team|group)(?:['’]s)?) (?:\w+ )?(?:memory|memories|notes?|records?)\b"
    r"|\b(?:from|in|into|out of|off|to) (?:\w+ ){0,3}?(?:memory|memories)\b"
    r"|\b(?:off|from|out of|on) the records?\b|\bnot for the records?\b"
    r"|\byou(?:['’]ve| have)?(?: \w+)? (?:know|have|had|hold|keep|kept|store|stored|save|saved|remember|remembered|note|noted|record|recorded|learn|learn(?:ed|t))\b"
    r"|\bmy (?:personal |account )?(?:data|memories)\b"
    r"|\b(?:un-?(?:learn|remember|note|save|store|record|know|see|hear)|remember(?:ing)?|memori[sz]\w+|retain(?:ing|ed)?|recall(?:ed|ing)?)\b"
    r"|\b(?:keep|make|hold|leave) (?:no|any) (?:records?|notes?|trace)\b",
    re.IGNORECASE,
)
_telling = re.compile(
    rf"\b(?:I|we)(?:['’]ve| have| had)?(?: [\w'’]+){{0,3}} {forms.TOLD}\b"
    r"|\b(?:last|previous|that|this) (?:last )?(?:message|statement|remark|comment|sentence|bit|information|info)\b"
    r"|\b(?:thing|part|bit|stuff|story|business|anything|everything|something|information|info|details?)\b (?:about|on|with|regarding|concerning|of)\b"
    r"|\b(?:thing|story|stuff|business|information|info|details?)\b\W*(?:$|please|from|thanks)"
    r"|\byou(?: never|['’]ve never| didn['’]t) (?:heard?|read|saw|see)\b",
    re.IGNORECASE,
)
_asked = re.compile(
    rf"\b(?:please|pls|plz|kindly|do me a favou?r)\b|\b(?:can|could|would|will|won['’]t) (?:you|u|ya|we|I)\b|^{forms.LEAD}I(?:['’]d| would) "
    r"|\b(?:would it be|is it) possible\b|\bI (?:don['’]t|do not|want|need|never|wouldn['’]t)\b|\b(?:can|could|may|should|must) .{1,80} be (?:deleted|forgotten|removed|erased|wiped|saved|kept|stored)\b",
    re.IGNORECASE,
)
_lasting = re.compile(
    r"\b(?:never|ever|again|any ?more|any longer|no longer|from (?:now|here) on|(?:in|for) (?:the )?future|going forward|off[- ]limits|taboo|closed|no-?go|for discussion"
    r"|remind(?:ing|ers?|ed)?|bring(?:ing)? .{0,60}\bup|bringing up|brought up|not a word|no more|enough of|quiet|silent|mum|out of (?:this|our|the|future|any)|steer clear|stay (?:away|off))\b",
    re.IGNORECASE,
)
_passing = re.compile(
    r"\b(?:until|till|for now|for the moment|for a (?:moment|minute|second|while)|yet|today|tonight|right now|just (?:this|for) once|this time)\b",
    re.IGNORECASE,
)
_private = re.compile(
    r"\b(?:private(?:ly)?|personal|confidential|secret|sensitive|embarrass\w*|intimate|privacy|between us|nobody|no one|no-one|anyone|anybody|shouldn['’]t|should not|supposed to"
    r"|regret|wish I|business|whisper|upset|ashamed|know about)\b|n['’]t (?:need|want|have) you\b|n['’]t (?:need|have) to know\b",
    re.IGNORECASE,
)
_kept = re.compile(rf"{forms.LEAD}(?:{forms.NOT}\s+{forms.KEEP}|{forms.ASK}?un-?\w+)\b", re.IGNORECASE)
# "(I) don't remember when I last slept": they often leave out the "I".
_lapse = re.compile(
    rf"{forms.LEAD}(?:don['’]?t|do not)(?: (?:really|quite|even|exactly))? remember (?:when|where|what|who|why|how|if|whether|which)\b",
    re.IGNORECASE,
)
# What people name of themselves: "my salary", "how much I earn", "me quitting".
_own = re.compile(r"(?:my|our|me|us|I|we|how (?:much|old)|where|what|that)\b", re.IGNORECASE)
_named_before = re.compile(
    rf"(?:{forms.FORGET}|{forms.DELETE}|{forms.KEEP})\s+(?:it|that|this|these|those|them)\b",
    re.IGNORECASE,
)
_clause = re.compile(r"\b(?:I|we|me|us)(?:['’]\w+)? \w", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class OrderEvidence:
    """Signs of an order. `names_memory`: it names the memory; `names_told`: it names that, or says
    that something was told; `is_lasting`: it holds from now on; `is_private`: it says that
    something is private; `is_deleting`: its verb is also used of files and words; `is_alone`:
    nothing else is said behind it; `is_passing`: it holds for a while, and is about a plan;
    `is_of_himself`: it names something that people tell of themselves."""

    names_memory: bool = False
    names_told: bool = False
    is_asked: bool = False
    is_lasting: bool = False
    is_private: bool = False
    is_deleting: bool = False
    is_alone: bool = False
    is_passing: bool = False
    is_of_himself: bool = False

    @property
    def is_addressed(self) -> bool:
        """Tell whether it can only be said to the memory, or to whoever answers."""
        return self.names_told or self.is_asked or self.is_lasting


def evidence_of(text: str, one: SpokenIntent) -> OrderEvidence:
    """Return the evidence for an order in a message; its whole sentence counts."""
    begin = max((start for start, _ in clauses.sentences(text) if start <= one.start), default=0)
    order, behind = text[begin : one.end], text[one.end :]
    if _lapse.match(order) and not _asked.search(order):
        return OrderEvidence()
    before = _sentences(text[:begin])
    beside = " ".join([*before[-1:], order, behind])
    topic = text[slice(*one.topic)] if one.topic else ""
    if one.topic is None:
        tail = text[one.start : one.end].partition(",")[2]
    else:
        tail = text[max(one.topic[1], one.start) : one.end]
    names_memory = _memory.search(order) is not None
    names_told = bool(names_memory or _telling.search(order) or is_named(text, before, one))
    is_kept = _kept.match(text[one.start : one.end]) is not None
    return OrderEvidence(
        names_memory=names_memory,
        names_told=names_told,
        is_asked=_asked.search(order) is not None or is_kept,
        is_lasting=one.kind == NEVER and bool(_lasting.search(order)),
        is_private=bool(_private.search(beside)) or any(map(is_regret, before[-1:])),
        is_deleting=one.kind == FORGET and deletes(text[one.start : one.end]),
        is_alone=all(_adds_nothing(each) for each in (tail, *_sentences(behind))),
        is_passing=bool(_passing.search(order)) and not _passing.search(" ".join(before)),
        is_of_himself=bool(_own.match(topic)) and is_told_of_oneself(topic),
    )


def is_named(text: str, before: list[str], one: SpokenIntent) -> bool:
    """Tell whether the words before an order about "that" name what it means, "About Ben: delete
    that", or say that something was told."""
    if one.topic is not None:
        return _named_before.search(text[one.topic[1] : one.end]) is not None
    return any(_telling.search(each) or _memory.search(each) or named_in(each) for each in before[-1:])


def is_told_of_oneself(topic: str) -> bool:
    """Tell whether the topic names something personal, "my salary", or states it, "that I earn"."""
    return bool(_clause.search(topic)) or topics.is_attribute(topic)


def _sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in clauses.sentences(text)]


def _adds_nothing(words: str) -> bool:
    """Tell whether the words are a courtesy, or only say that something is private."""
    said = words.strip(" ,;:.!?–—-")
    is_short = not said or forms.TAIL.fullmatch(f" {said}") is not None
    return is_short or is_talk(said) or _private.search(said) is not None
