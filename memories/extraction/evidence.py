"""Whether what a model states is what the words say that it quotes.

A quote that stands in the text proves nothing of the statement beside it. So its content words
must be supported: by stem, class of synonyms or what they imply; and with no tolerance its
numbers, days, addresses, names, script, negation, and who did it to whom.
"""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from memories.bounds import STATEMENT
from memories.english import lexical, statements
from memories.english.calendar import DateOrder
from memories.english.patterns.pattern import KIN, PEOPLE
from memories.english.statements.wording import Word, words
from memories.extraction import paraphrase
from memories.extraction.paraphrase import ENDING, FREE, IMPLIED, NEGATIVE, NEGATIVE_SIGNS

SENTENCE = 2_000  # characters before and after a quote in which its sentence ends
TOLERATED, TOLERATED_ABROAD = 0.2, 0.4  # share of content words; in languages without our stems
ENGLISH = 0.2  # at least so many of an English text's words are stop words
SHORT = 4  # words; fewer tell nothing of the language
_clause = re.compile(
    r"[,;:.!?\n()]+|\b(?:and|but|because|while|although|so|und|aber|et|mais|y|pero)\b"
)
_pronoun = re.compile(
    r"\b(?:he|she|it|they|him|her|his|its|their|them|that|this|there|one)\b", re.IGNORECASE
)
# Whose husband he is makes nobody else the husband
_relative = re.compile(rf"(?:\b(?:my|our)|\b[\w-]+['’]s) (?P<who>{KIN}|{PEOPLE})\b", re.IGNORECASE)
_leaving = re.compile(
    r"\b(?:left|leaves|leaving) (?:my|our|her|his|their|the) (?:job|work|school|company|team|band|club|church|husband|wife|partner|army)\b",
    re.IGNORECASE,
)
FIRST_PERSON = re.compile(r"\b(?:i|i'm|we|we're|my|our|me|us|let's)\b", re.IGNORECASE)
SPEAKER, ANYBODY = "qqspk", "qqanb"  # no words, so no stem changes them
TEAM = frozenset(("team", "user", SPEAKER))
_unspaced = re.compile(r"(?<=[A-Za-z])(?=[\u3040-\u9fff])|(?<=[\u3040-\u9fff])(?=[A-Za-z])")
_ENDS = (". ", "! ", "? ", "\n")
# What may stand behind the common part of two words of one family: dentist, dental; subscribe, subscription
_DERIVED = frozenset(
    """
    s es e ed d ing er ers or ors ion ions tion tions ption ptions be bed bing bes ation ations al als ist ists ic
    ics ary eer eers eered eering y ies ied ity ment ments ness ship ships ful ly able ance ence ant ent ive
    ism ise ize ised ized ises izes ising izing isation ization age hood dom cy tive ative sion sions
    """.split()
) | {""}
_preferred = re.compile(
    r"\b(?:prefer\w*|rather (?:have |drink |eat |take |use |read |watch )?) ?(?P<first>[\w' -]{2,40}?) (?:to|over|than|instead of) (?P<second>[\w'-]{2,30})",
    re.IGNORECASE,
)
_letters = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


@dataclass(frozen=True)
class Evidence:
    """`quotes`: the sentences that were quoted. `around`: all the messages, and those before;
    `asked`: the question that they answer. `speakers`: the names of who spoke."""

    quotes: tuple[str, ...]
    around: str
    asked: str
    speakers: tuple[str, ...]
    said_at: datetime
    date_order: DateOrder = "auto"

    @cached_property
    def cited_text(self) -> str:
        return "\n".join((*self.quotes, self.asked))

    @cached_property
    def roots(self) -> frozenset[str]:
        return _roots(self.cited_text)

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset([word.lower() for word in _letters.findall(self.cited_text)])

    @cached_property
    def roots_around(self) -> frozenset[str]:
        return _roots(self.around) | self.roots

    @cached_property
    def is_english(self) -> bool:
        said = re.findall(r"[^\W\d_]+", self.cited_text.lower())
        stops = sum(word in lexical.STOP_WORDS for word in said)
        is_short = len(said) < SHORT and self.cited_text.isascii()
        return is_short or stops >= ENGLISH * len(said)

    @cached_property
    def own_names(self) -> frozenset[str]:
        return frozenset(w.lower() for name in self.speakers for w in _letters.findall(name))


def unsupported(statement: str, evidence: Evidence) -> str:
    """Why `statement` is not what its evidence says, in words; empty where it is."""
    if len(statement) > STATEMENT:
        return f"a statement of {len(statement)} characters"
    if strange := _scripts(statement, evidence):
        return f"in another script than the text: {strange}"
    cited = evidence.cited_text
    literally = (
        ("addresses", paraphrase.addresses(statement, f"{cited} {evidence.around}")),
        ("numbers", paraphrase.numbers(statement, cited, evidence.said_at, evidence.date_order)),
        ("days", paraphrase.days(statement, cited, evidence.said_at, evidence.date_order)),
    )
    for what, found in literally:
        if lacking := list(dict.fromkeys(found)):
            return f"{what} that the quotes do not have: {', '.join(lacking[:8])}"
    if lacking := _words_lacking(statement, evidence):
        return f"words that the quotes do not support: {', '.join(lacking[:12])}"
    if any(
        _is_negative(part) != _told_negative(part, evidence)
        for part in _clause.split(statement)
        if _roots_of(_content(part)) & evidence.roots
    ):
        return "the quotes say the opposite"
    said, told = _preferred.search(statement), _preferred.search(cited)
    if said and told:  # of two things the other one is preferred
        crossed = (("first", "second"), ("second", "first"))
        if all(set(_roots(said[one])) & set(_roots(told[other])) for one, other in crossed):
            return "the quotes say the opposite"
    return "the quotes say it of others" if _is_turned_round(statement, evidence) else ""


def _scripts(statement: str, evidence: Evidence) -> str:
    said = paraphrase.scripts(
        f"{evidence.cited_text} {evidence.around} {' '.join(evidence.speakers)} User"
    )
    if strange := paraphrase.scripts(statement) - said:
        return ", ".join(sorted(strange))
    # Latin alone where the quotes have none, but for the speaker's name.
    rest = " ".join(w for w in _letters.findall(statement) if w.lower() not in evidence.own_names)
    is_strange = not paraphrase.scripts(rest) & paraphrase.scripts(evidence.cited_text)
    return "LATIN" if rest and paraphrase.scripts(rest) == {"LATIN"} and is_strange else ""


# ---- words


def _words_lacking(statement: str, evidence: Evidence) -> list[str]:
    """The content words without support, where they are more than tolerated or weigh alone."""
    content = [word for word in _content(statement) if word.text not in evidence.own_names]
    lacking = [word for word in content if not _is_supported(word, evidence)]
    share = TOLERATED if evidence.is_english else TOLERATED_ABROAD
    if any(word.is_name for word in lacking) or len(lacking) > share * len(content):
        return [word.text for word in lacking]
    return []


def _content(statement: str) -> list[Word]:
    return [
        word
        for word in words(_unspaced.sub(" ", statement))
        if word.root not in FREE and word.text not in FREE and _letters.search(word.text)
    ]


def _is_supported(word: Word, evidence: Evidence) -> bool:
    if word.root in evidence.roots or word.text in evidence.words:
        return True
    if evidence.roots & IMPLIED.get(word.root, frozenset()):
        return True
    if evidence.words & IMPLIED.get(word.root, frozenset()):
        return True
    # Whom or what "she" and "it" mean stands elsewhere.
    if (
        word.is_name or _pronoun.search(evidence.cited_text)
    ) and word.root in evidence.roots_around:
        return True
    if not evidence.is_english and len(word.text) <= 4 and not word.is_name:
        return True
    return any(_alike(word.text, other, evidence.is_english) for other in evidence.words)


def _alike(one: str, other: str, is_english: bool) -> bool:
    """Two forms of a word, by their beginnings: "dental" and "dentist", "wohnt" and "wohne"."""
    longest = max(len(one), len(other))
    common = len(os.path.commonprefix((one, other)))
    if (
        not one.isascii()
        and set(one) & set(other)
        and paraphrase.scripts(one) & {"CJK", "HIRAGANA"}
    ):
        return one in other or other in one or len(set(one) & set(other)) >= 0.6 * len(set(one))
    if is_english:
        is_derived = common >= 4 and one[common:] in _DERIVED and other[common:] in _DERIVED
        return is_derived or (common >= 4 and common >= 0.7 * longest)
    return common >= 3 and common >= 0.55 * longest


def _roots(text: str) -> frozenset[str]:
    return frozenset(form for word in words(text) for form in (word.root, word.text))


def _roots_of(said: Iterable[Word]) -> frozenset[str]:
    return frozenset(word.root for word in said)


# ---- polarity


def _is_negative(text: str) -> bool:
    if any(sign in text for sign in NEGATIVE_SIGNS):
        return True
    said = words(text)
    if _leaving.search(text):
        return True
    return any({word.text, word.root} & (NEGATIVE | ENDING) for word in said)


def _told_negative(part: str, evidence: Evidence) -> bool:
    """Of the clause that has most of the words of `part`; of an answer, what was answered. Where
    several clauses have as many, `part` may follow any of them."""
    content = _roots_of(_content(part))
    told = [clause for quote in evidence.quotes for clause in _clause.split(quote)]
    shared = {clause: len(content & _roots(clause)) for clause in told}
    most = max(shared.values(), default=0)
    if most == 0 or evidence.asked and most < len(content & _roots(evidence.asked)):
        return any(_is_negative(quote) for quote in evidence.quotes)
    found = {_is_negative(clause) for clause, count in shared.items() if count == most}
    return _is_negative(part) if len(found) == 2 else found.pop()


# ---- who did what to whom


@dataclass(frozen=True)
class _Sides:
    """What stands before a verb and after it; the speaker is SPEAKER, whoever it is."""

    before: frozenset[str]
    after: frozenset[str]
    is_passive: bool

    @property
    def doers(self) -> frozenset[str]:
        return self.after if self.is_passive else self.before


def _is_turned_round(statement: str, evidence: Evidence) -> bool:
    """Whether all clauses with its verb tell of others: "Tom lent Mara" of "I lent Tom"."""
    head = statements.read(statement).head
    first = next((part for part in _clause.split(statement) if head in _roots(part)), "")
    if not first or head in ("", "be") or not evidence.is_english:
        return False
    said = _sides(first, head, evidence)
    clauses = [part for quote in evidence.quotes for part in _clause.split(quote)]
    told = [_sides(part, head, evidence) for part in clauses if head in _roots(part)]
    return bool(told) and all(_differ(said, each, evidence.own_names) for each in told)


def _differ(said: _Sides, told: _Sides, own_names: frozenset[str]) -> bool:
    if ANYBODY in told.before | told.after:
        return False
    if said.doers and told.doers and not said.doers & told.doers:
        return True
    is_new = SPEAKER in said.after and SPEAKER not in told.before | told.after
    return is_new and bool(own_names)


def _sides(clause: str, head: str, evidence: Evidence) -> _Sides:
    clause = _relative.sub(r" \g<who>", clause)
    said = words(_pronoun.sub(f" {ANYBODY} ", FIRST_PERSON.sub(f" {SPEAKER} ", clause)))
    at = next((i for i, word in enumerate(said) if word.root == head), len(said))
    by = any(word.text == "by" for word in said[at:])
    speaker = evidence.own_names | TEAM
    sides = [
        frozenset({SPEAKER if w.text in speaker else w.root for w in part}) - FREE
        for part in (said[:at], said[at + 1 :])
    ]
    return _Sides(sides[0], sides[1], by and any(w.root == "be" for w in said[:at]))


def sentences_of(text: str, spans: Sequence[tuple[int, int]]) -> tuple[str, ...]:
    """The sentences of `text` that the spans lie in."""
    found = []
    for start, end in spans:
        low, high = max(0, start - SENTENCE), end + SENTENCE
        first = max(low, max(text.rfind(mark, low, start) for mark in _ENDS) + 1)
        ends = [place for mark in _ENDS if (place := text.find(mark, end - 1, high)) >= 0]
        found.append(text[first : min(ends, default=high) + 1].strip())
    return tuple(dict.fromkeys(found))
