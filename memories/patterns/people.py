"""Who "she", "he" and "they" are: the person or animal that was named last, by whomever."""

import re
from dataclasses import dataclass

from memories.patterns.grammar import KIN, PEOPLE, PETS

_named = re.compile(
    rf"\b(?:my|our|an?) ((?:[\w'-]+ ){{0,2}}?(?:{KIN}|{PEOPLE}|{PETS}))\b", re.IGNORECASE
)
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
    """What later pronouns may stand for: the person last named, and who named them."""

    last: str = ""
    owner: str = ""

    def resolved(self, clause: str, speaker: str) -> str:
        """`clause` with the person its first word stands for, when only one is in question."""
        opening = _opening.match(clause)
        if opening and self.last and self._fits(opening[1].lower()):
            ending = "'s" if opening[1].lower() in ("her", "his", "their") else ""
            whose = "my" if self.owner == speaker else f"{self.owner}'s"
            clause = f"{whose} {self.last}{ending}{clause[opening.end() :]}"
        self.hear(clause, speaker)
        return clause

    def hear(self, words: str, speaker: str) -> None:
        """Take note of whom `speaker` names."""
        named = _named.findall(words)
        if named:
            self.last, self.owner = named[-1], speaker

    def _fits(self, pronoun: str) -> bool:
        if pronoun in ("they", "their"):
            return bool(_several.search(self.last)) and not _female.search(self.last)
        if _several.search(self.last) and not self.last.lower().endswith("boss"):
            return False
        wrong = _male if pronoun in ("she", "her") else _female
        return not wrong.search(self.last)
