"""Reading a question about a person: the attribute that it asks for, and whose.

A question is turned into the statements that would answer it ("Where does Ada live?": "Ada lives in
..."). So it names an attribute by the same forms as a statement does, and no separate list has to
keep pace with them.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from memories.language.english import statements
from memories.language.english.statements import NO_WORDS, OwnWords

LONGEST = 200  # characters of a question
ASKER = frozenset("i me my mine myself".split())
OTHERS = frozenset("he she they him her them his hers their theirs".split())
_who = r"(?P<who>[^\W\d_][\w-]*(?: [A-Z][\w-]*)?)"
_whose = r"(?:(?P<my>my|his|her|their)|" + _who + r"['’]s)"
_now = r"(?: now| currently| today| these days| at the moment)?"
_end = rf"{_now}\W*$"
# Values that some form of every attribute takes: a name, a number, a day.
_ANY = ("Zork", "42", "on 3 May")
_FORMS = tuple(
    (re.compile(form, re.IGNORECASE), told)
    for form, told in (
        (rf"where (?:do|does) {_who} live{_end}", ("{who} lives in Zork",)),
        (rf"where (?:is|am|are) {_who} (?:living|based){_end}", ("{who} lives in Zork",)),
        (
            rf"(?:what|which) (?:city|town|country|place|street) (?:do|does) {_who} live in{_end}",
            ("{who} lives in Zork",),
        ),
        (rf"(?:where|what|which place) is {_whose} home{_end}", ("{who} lives in Zork",)),
        (rf"(?:where|for whom) (?:do|does) {_who} work{_end}", ("{who} works at Zork", "{who} works as a Zork")),
        (rf"(?:who|what company|which company) (?:do|does) {_who} work (?:for|at){_end}", ("{who} works at Zork",)),
        (
            rf"what (?:do|does) {_who} do(?: for (?:a living|work)| as a job)?{_end}",
            ("{who} works as a Zork", "{who} works at Zork"),
        ),
        (
            rf"what(?:['’]s| is) {_whose} (?:job|work|profession|occupation){_end}",
            ("{who} works as a Zork", "{who} works at Zork"),
        ),
        (rf"how old (?:is|am|are) {_who}{_end}", ("{who} is 42 years old",)),
        (rf"what(?:['’]s| is) {_whose} age{_end}", ("{who} is 42 years old",)),
        (rf"(?:what|which) (?:kind of )?car (?:do|does) {_who} (?:drive|have|own){_end}", ("{who} drives a Zork",)),
        (rf"who (?:is|am|are) {_who} married to{_end}", ("{who} is married to Zork",)),
        (
            rf"(?:who|what|which|when|where)(?:['’]s| is| are) {_whose} (?P<what>[\w -]{{2,40}}?)"
            rf"{_end}",
            tuple(f"{{who}}'s {{what}} is {value}" for value in _ANY),
        ),
        (
            rf"(?:what|which) (?P<what>[\w -]{{2,40}}?) is (?P<my>mine|his|hers|theirs){_end}",
            tuple(f"{{who}}'s {{what}} is {value}" for value in _ANY),
        ),
    )
)


@dataclass(frozen=True, slots=True)
class AskedAttribute:
    """An attribute that a question asks for. `who` is the name in the question, "" if it says "I"
    or "she". `told` are statements that would answer it, with `{who}` for the name."""

    who: str
    told: tuple[str, ...]

    def keys(self, names: Iterable[str], words: OwnWords = NO_WORDS) -> set[str]:
        """Return the attribute's names, as in `slot_keys`, for a person with any of these names."""
        readings = (statements.read(text.replace("{who}", name), words) for name in names for text in self.told)
        keys = {key for reading in readings for key in statements.slot_keys(reading)}
        return {key for key in keys if not key.startswith("|")}


def asked_attribute(query: str) -> AskedAttribute | None:
    """Return the attribute that a plain question asks for, as it is now; None for any other
    question."""
    text = " ".join(query.split())
    if len(text) > LONGEST:
        return None
    for form, told in _FORMS:
        if match := form.match(text):
            said = match.groupdict()
            who = said.get("who") or said.get("my") or ""
            what = said.get("what") or ""
            who = "" if who.casefold() in ASKER | OTHERS else who
            return AskedAttribute(who, tuple(each.replace("{what}", what) for each in told))
    return None


_whom = r"(?:me|myself|us|him|her|them|{names})"
_PROFILE = (
    r"(?:so |and |please |(?:can|could) you |now )*(?:"
    r"(?:what|anything|everything|all)(?: else| all)?(?: that)?(?: do| can)? (?:you|we)"
    r"(?: already| still)? (?:know|remember|recall|tell me|say|have|have on file)(?: about| of| on)"
    r" {whom}"
    r"|what(?:['’]s| is)(?: already)? (?:known|remembered|on file) (?:about|of) {whom}"
    r"|(?:tell me|summari[sz]e|list|describe|show me)(?: everything| all| what)?(?: that)?"
    r"(?: you (?:know|remember)| is known)?(?: about| of)? {whom}"
    r"|who (?:am I|is he|is she|are they|is {names}))\W*"
)
_own = re.compile(
    r"\b(?:my|mine|our|ours|me|myself)\b"
    r"|\b(?:do|does|did|am|was|were|have|had|will|would|are) (?:I|we)\b"
    r"|\bI (?:should|need|must|have|want|like|own|avoid)\b",
    re.IGNORECASE,
)
_help = re.compile(
    r"(?:please |hi,? |hey,? )*(?:(?:can|could|would|will) you|how (?:do|can|should|could|would|to)\b"
    r"|(?:should|can|could|may) I|why\b|help|explain|write|translate|fix|give|make|draft|tell|recommend"
    r"|suggest|find|show|convert|compare|generate|create|solve|calculate)",
    re.IGNORECASE,
)
_third = re.compile(r"^(?:[\w'’-]+ ){1,4}?(?:he|she|they|him|them|his|hers?|theirs?)\b", re.IGNORECASE)
_capital = re.compile(r"(?<= )(?!I\b)[A-Z][\w-]+")


# Names that are also words, and ids that programs give: they are names only with a capital, and
# not at the beginning.
_words = frozenset(
    """
    art bill chase drew faith frank grace hope jack joy mark may miles page pat ray rob rose sky
    sue summer will user users me you test demo default admin guest client customer anonymous
    """.split()
)


def _names_in(names: Iterable[str]) -> str:
    """Return a regular expression of the names as alternatives; without any it matches nothing."""
    parts = {part for name in names for part in (name, *name.split()) if len(part) > 1}
    return "|".join(map(_form_of, sorted(parts, key=len, reverse=True))) or "(?!)"


def _form_of(name: str) -> str:
    if name.casefold() in _words:
        return rf"(?<=\w )(?-i:{re.escape(name.capitalize())})"
    return re.escape(name)


def asks_whom(query: str, names: Iterable[str]) -> bool:
    """Tell whether the query asks for everything known about the person with these names."""
    known = f"(?:{_names_in(names)})"
    form = _PROFILE.replace("{whom}", _whom).replace("{names}", known)
    return bool(re.fullmatch(form, " ".join(query.split()), re.IGNORECASE))


def is_of_person(query: str, names: Iterable[str]) -> bool:
    """Tell whether the query is about the person in question: "my car", "does she live", or one of
    their names. It is not if the asker only wants help with something that is theirs."""
    text = " ".join(query.split())[:LONGEST]
    if re.search(rf"\b(?:{_names_in(names)})\b", text, re.IGNORECASE):
        return True
    if _third.match(text) and not _capital.search(text):
        return True
    return bool(_own.search(text)) and not _help.match(text)
