"""Who "she", "he" and "they" are: the person or animal that was named last, by whomever."""

import re
from dataclasses import dataclass

from memories.english.patterns.pattern_parts import KIN, PEOPLE, PETS

_own_name = (
    r"(?:,? (?!(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|(?:January|February|March|April|May|June|July|August|September|October"
    r"|November|December)\b|And|But|So|Then|He|She|They)(?-i:[A-Z][a-z]+)(?=[ ,.!?]|$))?"
)
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
_several = re.compile(r"(?:s|children|family|team|crew|band|puppies)$", re.I)


@dataclass
class People:
    """What later pronouns may stand for: the person last named, and who named them.

    `is_yours`: named as the listener's: "How old is your son?" `met`: a bare name that
    `met_by` told in the message before, for that one's words alone.
    """

    last: str = ""
    owner: str = ""
    is_yours: bool = False
    met: str = ""
    met_by: str = ""

    def resolved(self, clause: str, speaker: str) -> str:
        """`clause` with the person its first word stands for, when only one is in question."""
        opening = _opening.match(clause)
        if opening and self.met:
            if self._is_met(opening[1].lower(), speaker):
                clause = f"{self.met}{clause[opening.end() :]}"
        elif opening and self.last and self._fits(opening[1].lower()):
            ending = "'s" if opening[1].lower() in ("her", "his", "their") else ""
            # "How is your mother, Ben?" calls Ben
            last = self.last.removesuffix(f" {speaker.split()[0]}") if self.is_yours else self.last
            clause = f"{self._whose(speaker)} {last}{ending}{clause[opening.end() :]}"
        self.hear(clause, speaker)
        return clause

    def hear(self, words: str, speaker: str) -> None:
        """Take note of whom `speaker` names."""
        named = _named.findall(words) or _adopted.findall(words)
        if named:
            whose, last = named[-1]
            self.last, self.owner = last.replace(",", ""), speaker
            self.is_yours = whose.lower() == "your"
            self.met = ""
        elif met := _met_in(words):
            self.met, self.met_by = met, speaker

    def turn(self, words: str, speaker: str) -> None:
        """Take note of a whole message: a bare name holds for the next one of who said it."""
        was = self.met
        self.hear(words, speaker)
        if was and self.met == was and (speaker == self.met_by or _a_name.search(words)):
            self.met = ""

    def _is_met(self, pronoun: str, speaker: str) -> bool:
        """Whether nobody else can be meant."""
        is_other = bool(self.last) and self._fits(pronoun)
        return speaker == self.met_by and pronoun in ("he", "she") and not is_other

    def _whose(self, speaker: str) -> str:
        if self.is_yours:
            return "your" if self.owner == speaker else "my"
        return "my" if self.owner == speaker else f"{self.owner}'s"

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
