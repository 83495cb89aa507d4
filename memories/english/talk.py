"""What a conversation has said before a message, as far as the message's meaning hangs on it.

Whom "she" and "you" mean, what was asked, and which words are no news any more. Told message by
message; it grows no faster than what was said.
"""

import re
import uuid
from dataclasses import dataclass, field
from functools import lru_cache

from memories.english import pasted_text, read_clause
from memories.english.calendar import MONTH_NAMES, WEEKDAY_NAMES
from memories.english.patterns.pattern import KIN, PEOPLE, PETS

_own_name = rf"(?:,? (?!{WEEKDAY_NAMES.title()}|(?:{MONTH_NAMES.title()})\b|And|But|So|Then|He|She|They)(?-i:[A-Z][a-z]+)(?=[ ,.!?]|$))?"
_named = re.compile(
    rf"\b(my|our|your|an?|one|two|three|four|five|\d) ((?:[\w'-]+ ){{0,2}}?(?:{KIN}|{PEOPLE}|{PETS})\b{_own_name})",
    re.IGNORECASE,
)
# what is adopted is somebody, whatever its kind is called
_adopted = re.compile(
    r"\b(?:adopted|rescued|fostered|fostering|adopting) (an?|two|three) ((?:[\w'-]+ ){0,2}?[\w'-]+)"
    r"(?=$|[.,!?]| (?:last|this|in|on|from|named|called|who|yesterday|today|recently|and|with)\b)",
    re.IGNORECASE,
)
_NAME = r"(?-i:[A-Z])[a-z]+(?: (?-i:[A-Z])[a-z]+)?"
# whom somebody meets under a bare name; "met Berlin" nobody says
_met = re.compile(
    rf"\bI (?:[a-z]+ )?(?:met(?: up)?(?: with)?|ran into|bumped into|caught up with|hung out with"
    rf"|talked (?:to|with)|spoke (?:to|with)|had (?:lunch|dinner|coffee|drinks|a (?:call|chat)) with)"
    rf" ({_NAME})\b(?!['’]| (?:and|or|&) (?:[A-Z]|my|the|an?)\b|,? [A-Z])",
)
_a_name = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+")
_in_place = re.compile(r"\b(?:in|at|from|near|on|of|during|since|until|last|next|this) $")
_opening = re.compile(r"^(she|he|her|his|they|their)(?:'s)?\b(?=[ '])(?! and I\b)", re.IGNORECASE)
_female = re.compile(
    r"(?:sister|mom|mum|mama|mother|wife|girlfriend|daughter|aunt|auntie|niece|grandma|grandmother|granny)$",
    re.I,
)
_male = re.compile(
    r"(?:brother|dad|father|husband|boyfriend|son|uncle|nephew|grandpa|grandfather|grandad)$", re.I
)
# What "they" do or are where no people or pets are meant
_of_things = re.compile(
    r"(?:they|their)(?:'re)? (?:(?:are|were|have been) )?(?:(?:really|also|always|just|all|still|both) )*(?:(?:some|one|all|part|most) of )?(?:(?:my|our|the) (?:[\w-]+ ){0,2}?(?:memories|moments|times|things|books?|movies?|films?|shows?|songs?|games?|dishes|shoes|photos?|pictures?|plants?|flowers?|reminders?)\b"
    r"|(?:represents?|symboli[sz]es?|means?|meant|taste|tasted|smell|cost|costs|fit|bloom|made of|made from|look (?:comfortable|comfy|delicious|yummy|tasty)|a (?:great |good )?(?:way|reminder|symbol|source)|come in|let me|let us)\b)",
    re.IGNORECASE,
)
# A sentence about several things: "Roses need care", "My hobbies keep me busy"
_about_things = re.compile(
    r"^(?:(?:the|these|those|my|our|your|some|many|most|all|his|her) )?(?:[\w-]+ )?(?P<head>(?!(?:this|is|was|has|does|his|its|us|yes|always|sometimes|things|thanks)\b)[\w-]{3,}(?<!s)s) "
    r"(?:(?:can|could|will|always|really|also|just|all|often|still|do|never) )*(?:are|were|have|had|bring|make|made|help|helped|give|gave|keep|kept|need|remind|look|looked|mean|come|came|take|took|grow|represent|get|got|work|worked|let)\b",
    re.IGNORECASE,
)
_several = re.compile(r"(?:s|children|family|team|crew|band|puppies)$", re.I)


_still_them = re.compile(r"\b(?:they|them|their)\b", re.IGNORECASE)
RECENT = 1  # messages behind which "they" may be somebody else


@dataclass
class People:
    """What later pronouns may stand for: the person last named, and who named them.

    `is_yours`: named as the listener's: "How old is your son?" `met`: a bare name that
    `met_by` told in the message before, for that one's words alone. `age`: messages since it
    was named.
    """

    last: str = ""
    owner: str = ""
    is_yours: bool = False
    met: str = ""
    met_by: str = ""
    age: int = 0

    def resolved(self, clause: str, speaker: str, before: str = "") -> str:
        """`clause` with the person its first word stands for, when only one is in question;
        `before` is the clause right before it."""
        opening = _opening.match(clause)
        if opening and opening[1].lower() in ("they", "their"):
            about = _about_things.match(before)
            is_other = about is not None and about["head"].lower() not in self.last.lower()
            if is_other or self.age > RECENT or _of_things.match(clause):
                opening = None
        if opening and self.met:
            # Where nobody else can be meant.
            pronoun = opening[1].lower()
            is_other = bool(self.last) and self._fits(pronoun)
            if speaker == self.met_by and pronoun in ("he", "she") and not is_other:
                clause = f"{self.met}{clause[opening.end() :]}"
        elif opening and self.last and self._fits(opening[1].lower()):
            ending = "'s" if opening[1].lower() in ("her", "his", "their") else ""
            # "How is your mother, Ben?" calls Ben
            last = self.last.removesuffix(f" {speaker.split()[0]}") if self.is_yours else self.last
            is_mine = (self.owner == speaker) != self.is_yours
            whose = "my" if is_mine else "your" if self.is_yours else f"{self.owner}'s"
            clause = f"{whose} {last}{ending}{clause[opening.end() :]}"
        elif self.last and self.owner == speaker and not self.is_yours:
            # "Leo" is the brother Leo of whom the same one spoke.
            name = self.last.rpartition(" ")[2]
            if name != self.last and clause.startswith((f"{name} ", f"{name}'s ")):
                clause = f"my {self.last}{clause[len(name) :]}"
        self.hear(clause, speaker)
        return clause

    def hear(self, words: str, speaker: str) -> None:
        """Take note of whom `speaker` names."""
        named = _named.findall(words) or _adopted.findall(words)
        if named:
            whose, last = named[-1]
            self.last, self.owner = last.replace(",", ""), speaker
            self.is_yours = whose.lower() == "your"
            self.met, self.age = "", 0
        elif met := _met_in(words):
            self.met, self.met_by = met, speaker

    def turn(self, words: str, speaker: str) -> None:
        """Take note of a whole message: a bare name holds for the next one of who said it."""
        was = self.met
        self.age += not _still_them.search(words)
        self.hear(words, speaker)
        if was and self.met == was and (speaker == self.met_by or _a_name.search(words)):
            self.met = ""

    def _fits(self, pronoun: str) -> bool:
        if pronoun in ("they", "their"):
            return bool(_several.search(self._kind)) and not _female.search(self._kind)
        if _several.search(self._kind) and not self.last.lower().endswith("boss"):
            return False
        wrong = _male if pronoun in ("she", "her") else _female
        return not wrong.search(self._kind)

    @property
    def _kind(self) -> str:
        """The person last named, without a name of their own: "son" of "son Leo"."""
        *kind, name = self.last.split()
        return " ".join(kind) if kind and name[:1].isupper() else self.last


def _met_in(words: str) -> str:
    """The one person whom somebody met, where nobody else is named."""
    found = {match[1] for match in _met.finditer(words)}
    if len(found) != 1:
        return ""
    met = found.pop()
    others = {
        match[0]
        for match in _a_name.finditer(words)
        if match[0] not in met.split()
        and not _in_place.search(words[max(0, match.start() - 12) : match.start()])
    }
    return "" if others else met


UNKNOWN = "User"
MOST_WORDS = 4_000  # of a conversation; what is said after so many is news again
LONGEST, LAST_WORDS = 200, 45  # characters of a question, and of what may follow it
_ends = ".!?\n"


@dataclass(frozen=True, slots=True)
class Asked:
    """The question that a message ended with: `quote` is `text[place[0]:place[1]]` of the message
    that the teller calls `key`."""

    words: str
    speaker: str
    place: tuple[int, int]
    quote: str
    key: uuid.UUID


@dataclass(slots=True)
class Talk:
    """`asked`: what the last message ended with asking. `speakers`: the people who spoke."""

    with_assistant: bool = False
    asked: Asked | None = None
    people: People = field(default_factory=People)
    words: set[str] = field(default_factory=set)
    speakers: set[str] = field(default_factory=set)

    def hear(self, text: str, speaker: str, key: uuid.UUID, *, is_assistant: bool = False) -> None:
        """Take in a message after it was read."""
        # Of an assistant nothing is believed, so whose words it tells does not matter.
        spoken = pasted_text.unmarked(text) if is_assistant else pasted_text.spoken(text)
        self.asked = _asked(text, spoken, speaker, key)
        if len(self.words) < MOST_WORDS:
            self.words |= _telling(spoken)
        if is_assistant:
            self.with_assistant = True
        else:
            self.people.turn(spoken, speaker)
            self.speakers.add(speaker)

    def question_to(self, speaker: str) -> str:
        """What somebody else has just asked `speaker`; empty where nothing."""
        return self.asked.words if self.asked and self.asked.speaker != speaker else ""

    def is_with_machine(self, speaker: str) -> bool:
        """Whether `speaker` talks to an assistant, or is nobody known."""
        return speaker == UNKNOWN or self.with_assistant

    def listener(self, speaker: str) -> str:
        """Whom `speaker` calls "you"; empty where that may be several, or a machine."""
        others = self.speakers - {speaker, UNKNOWN}
        return others.pop() if len(others) == 1 and not self.with_assistant else ""


@lru_cache(maxsize=64)  # of a message told in its turn, the ones before are known
def _telling(spoken: str) -> frozenset[str]:
    return frozenset(read_clause.telling(spoken))


def _asked(text: str, spoken: str, speaker: str, key: uuid.UUID) -> Asked | None:
    end = spoken.rfind("?")
    if end < 0 or len(spoken[end + 1 :].strip()) > LAST_WORDS:
        return None
    start = max(spoken.rfind(mark, 0, end) for mark in _ends) + 1
    quote = spoken[start : end + 1].lstrip()
    start, end = end + 1 - len(quote), end + 1
    if not quote[:-1] or len(quote) > LONGEST:
        return None
    return Asked(read_clause.plain(quote), speaker, (start, end), text[start:end], key)
