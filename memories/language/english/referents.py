"""Words that point at something said elsewhere: "this genre", "he", "there", "the same one"; and
what a conversation has said before, at which they point.

Clauses come here in the first person, as `read_clause` leaves them: in them "they" is never the
speaker, unlike in what is kept.
"""

import re
import uuid
from dataclasses import dataclass, field
from functools import lru_cache

from memories.language.english import pasted_text, read_clause
from memories.language.english.calendar import MONTH_NAMES, MONTHS, WEEKDAY_NAMES, WEEKDAYS
from memories.language.english.patterns.pattern import KIN, PEOPLE, PETS

_word = re.compile(r"[\w'’-]+|[^\w\s]")
_time = {*MONTHS, *WEEKDAYS} | frozenset(
    """
    morning afternoon evening night day week weekend month year quarter season spring summer fall autumn
    winter time decade century days weeks months years past coming christmas easter
    """.split()
)
_relative = frozenset("who whose with in of that affected interested without willing".split())
_prepositions = frozenset(
    """
    about of like in on at for with to from than by into onto over under through during after before
    without because and but or so as
    """.split()
)
# what "that" opens rather than points at stands behind one of these
_thought = frozenset(
    """
    know knew think thought believe believed hope hoped said say says told learned learnt realize
    realized realise realised found feel felt decided agreed so now sure glad sad afraid given
    heard noticed remember remembered forgot mean means meant proud certain happy worried
    important ensure proves proved shows showed
    """.split()
)
_person = re.compile(
    rf"\b(?:{KIN}|{PEOPLE}|{PETS}|man|woman|boy|girl|guy|person|people|someone|somebody|everyone|everybody|nobody|child|children|men"
    r"|women|girls|boys|teens?|teenagers?|animals?|others|those|players?|members?|neighbou?rs?|users?|guests?|patients?|(?:my|our|the|his|her|their) (?:youngest|oldest|eldest|middle one|little one|[a-z]+-year-old))\b",
    re.IGNORECASE,
)
_own_thing = re.compile(
    rf"\b(?:an?|the|my|our|your|his|her|their|some|every|each|no|two|three|four|\d+|[\w-]+'s) (?!(?:{KIN}|{PEOPLE})\b)(?:[\w'-]+ ){{0,3}}?[\w'-]{{3,}}",
    re.IGNORECASE,
)
_several = re.compile(
    r"\b(?!(?:this|is|was|has|does|us|its|as|always|perhaps|yes|his|hers)\b)[a-z]{2,}(?<!s)s\b|\bchildren|\bpeople|\bfamily|\bteam|\b(?:an?|the|my|our|another|that) (?:[\w'-]+ ){0,2}?(?:company|firm|agency|school|university|studio|club"
    r"|shelter|organi[sz]ation|charity|shop|store|restaurant|clinic|band|choir|group|couple|startup|bank|brand|crew|staff|department|committee|union)\b",
    re.IGNORECASE,
)
_dummy = re.compile(
    r"^it (?:is|was|has been|had been|will be) (?:always )?(?:a|an|my|our) (?:\w+ )?(?:dream|goal|plan|privilege|honou?r|tradition|ambition|wish) (?:of (?:mine|ours) )?(?:for (?:me|us) )?to \w+"
    r"|^it (?:is|was|has been|will be) (?:(?:almost|nearly|about|already|over|more than) )?(?:\w+ (?:days?|weeks?|months?|years?)\b"
    r"|(?:my|our) (?!(?:fave|favou?rite|first|last|own|way|turn|thing|pleasure|passion|dream|goal|style|kind|baby|pride|escape)\b)\w+|(?:very |really |so )?important to (?:me|us)\b)",
    re.IGNORECASE,
)
_idle = re.compile(
    r"\b(?:made? it to|ma[dk]e it (?:to|through|into)|took it easy|take it easy|it (?:is|was) important)\b", re.I
)
_pointing = re.compile(
    r"\b(?:(?:the|that|this|which|a new|another|a different|same|only|first|last|right|other|best|favou?rite) ones?(?! (?:of (?!them|these|those|it\b)|in|at|who|that|where|day)\b)|the same(?: thing| way| place)?(?=$| (?:when|as (?:you|that|this|it)|too|here|there)\b)"
    r"|(?:something|anything|things|stuff|places?|somewhere|someone|ones?) (?:like|such as|similar to|as) (?:that|this|it)"
    r"|one of (?:them|these|those)|the (?:other|latter|former|rest|above|following|previous)(?=$| (?:one|two|is|are|was|were)\b)"
    r"|(?:in|from|of|see|on|took|take|taken|love|like|attached|shared|posted) (?:the|a|my|your|that|another|some) (?:\w+ ){0,2}?(?:pics?|photos?|pictures?|images?|screenshots?|snaps?|selfies?)\b"
    r"|\b(?:made|make|makes|making) it (?:happen|work)$|\b(?:I|we) (?:felt|feel|love|loved|mean|meant|got|knew|did) it$|\bsome(?= to\b)|\b(?:fan|member|piece) of (?:it|that|this)$|\b(?:something|anything) similar\b|\b(?:reason|idea|story|inspiration|point) (?:behind|of|for) (?:it|that|this)$|\bthat the hard way\b"
    r"|here is|here's|here are|as follows|so too|likewise)",
    re.IGNORECASE,
)


_name = re.compile(
    r"(?!(?:I|My|Our|We|The|An?|In|On|At|When|After|Before|Since|This|That|These|Those|It|They|He|She|If|So|And|But|Last|Next|One|Some|There|Here|As|For|With|To|Just)\b)"
    r"(?:^[A-Z][\w-]+ |(?<!^)\b[A-Z][a-z]+)"
)
_place = re.compile(r"\b(?:in|to|at|from|near|of) (?:the |my |our |an? )?[\w-]{3,}")
# What may have been named before a word that stands for it
_antecedents = {
    "thing": (_own_thing, _name),
    "person": (_person, _name),
    "several": (_several, _person),
    "place": (_place,),
}
_standing_for = {
    **dict.fromkeys("it its itself".split(), "thing"),
    **dict.fromkeys("he she him her his hers he's she's himself herself".split(), "person"),
    **dict.fromkeys("they them their theirs they're themselves".split(), "several"),
    "there": "place",
    "here": "place",
}


UNKNOWN = "User"
MOST_WORDS = 4_000  # of a conversation; what is said after so many is news again


def open_referent(clause: str) -> str:
    """Return the first words of `clause` whose meaning stands elsewhere; empty if there are
    none."""
    if pointing := _pointing.search(clause):
        return pointing[0]
    tokens = [(token[0].lower().replace("’", "'"), token.start()) for token in _word.finditer(clause)]
    words = [word for word, _ in tokens] + ["", ""]
    is_idle = bool(_dummy.match(clause) or _idle.search(clause))
    named: dict[str, int] = {}
    for place, (word, start) in enumerate(tokens):
        kind = _standing_for.get(word, "")
        if not kind:
            if _is_open(words, place):
                return word
            continue
        if kind not in named:
            ends = [match.end() for form in _antecedents[kind] if (match := form.search(clause))]
            named[kind] = min(ends, default=len(clause) + 1)
        is_said = named[kind] <= start or (kind == "thing" and is_idle)
        if not is_said and not _is_filler(words, place):
            return word
    return ""


def _is_open(words: list[str], place: int) -> bool:
    following, after = words[place + 1], words[place + 2]
    match words[place]:
        case "this":
            return following not in _time and after not in _time
        case "these" | "those":
            return following not in _time and following not in _relative
        case "that":
            return following not in _time and _is_pointing_that(words, place)
        case "such":
            return following in ("", ".", ",", "things")
    return False


def _is_filler(words: list[str], place: int) -> bool:
    """Tell whether "there" or "here" points at nothing: "there is", "over there", "here in
    Rome"."""
    following, previous = words[place + 1], words[place - 1] if place else ""
    if words[place] == "there":
        is_subject = following in ("is", "are", "was", "were", "has", "have", "will", "'s")
        # "I have been there" may be said of any trouble, "I haven't been there yet" of a place.
        is_of_place = following in _visited or (place > 1 and words[place - 2].endswith("n't"))
        return is_subject or previous in ("out", "over", "be") or (previous == "been" and not is_of_place)
    return words[place] == "here" and following in ("in", "at")


def _is_pointing_that(words: list[str], place: int) -> bool:
    """Tell whether a "that" stands for something; not in "the flat that I rent", "I know that it
    leaks"."""
    following, previous = words[place + 1], words[place - 1] if place else ""
    if not place:
        return True
    if previous == "," and following in ("is", "was", "has", "will", "must"):
        return True
    if previous in _thought:
        return following in ("", ".", ",", "is", "was")
    if following in _ending:
        return True
    return previous in _prepositions or previous in ("have", "had", "do", "did", "got", "read", "love")


_visited = frozenset("yet before since once twice many several a last only on in".split())
_ending = frozenset(("", ".", ",", "and", "but", "or", "too", "anymore", "well", "yet", "again", "much"))


# What a conversation has said before a message, as far as the message's meaning depends on it.
#
# The people "she" and "you" mean, what was asked, and which words are no longer news. Built message
# by message; it grows no faster than what was said.

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
    rf" ({_NAME})\b(?!['’]| (?:and|or|&) (?:[A-Z]|my|the|an?)\b|,? [A-Z])"
)
_a_name = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+")
_in_place = re.compile(r"\b(?:in|at|from|near|on|of|during|since|until|last|next|this) $")
_opening = re.compile(r"^(she|he|her|his|they|their)(?:'s)?\b(?=[ '])(?! and I\b)", re.IGNORECASE)
_female = re.compile(
    r"(?:sister|mom|mum|mama|mother|wife|girlfriend|daughter|aunt|auntie|niece|grandma|grandmother|granny)$", re.I
)
_male = re.compile(r"(?:brother|dad|father|husband|boyfriend|son|uncle|nephew|grandpa|grandfather|grandad)$", re.I)
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
_said_of_several = re.compile(r"(?:s|children|family|team|crew|band|puppies)$", re.I)


# Somebody else of whom a clause tells: "Tom next door lost his job", "the new teacher is strict"
_somebody = re.compile(
    rf"(?!(?:I|We|My|Our|The|It|This|That|There|He|She|They|Her|His|Their|In|On|At|When|And|But|So)\b)[A-Z][a-z]+(?= (?!(?:I|we|my)\b)[a-z])|(?i:the|a|an|some|this|that|his|her|their|your) (?:[\w-]+ ){{0,2}}?(?:{PEOPLE}|{KIN}|man|woman|boy|girl|guy)\b"
)


@dataclass
class People:
    """The people that later pronouns of the same message may stand for: the person last named, and
    who named them. A message may also answer a question about somebody.

    `is_yours`: named as the listener's: "How old is your son?" `met`: a bare name of whom its speaker
    met. Where a clause between names somebody else, a pronoun may mean either, and stays.
    """

    last: str = ""
    owner: str = ""
    is_yours: bool = False
    met: str = ""
    is_open: bool = False

    def resolved(self, clause: str, speaker: str, before: str = "") -> str:
        """Return `clause` with the person its first word stands for, if there is only one
        candidate; `before` is the clause right before it."""
        opening = None if self.is_open else _opening.match(clause)
        if opening and opening[1].lower() in ("they", "their"):
            about = _about_things.match(before)
            is_other = about is not None and about["head"].lower() not in self.last.lower()
            if is_other or _of_things.match(clause):
                opening = None
        if opening and self.met:
            # Where nobody else can be meant.
            pronoun = opening[1].lower()
            is_other = bool(self.last) and self._fits(pronoun)
            if pronoun in ("he", "she") and not is_other:
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
            self.met, self.is_open = "", False
        elif met := _met_in(words):
            self.met, self.is_open = met, False
        elif other := _somebody.match(words):
            self.is_open |= other[0] not in f"{self.last} {self.met}"

    def _fits(self, pronoun: str) -> bool:
        if pronoun in ("they", "their"):
            return bool(_said_of_several.search(self._kind)) and not _female.search(self._kind)
        if _said_of_several.search(self._kind) and not self.last.lower().endswith("boss"):
            return False
        wrong = _male if pronoun in ("she", "her") else _female
        return not wrong.search(self._kind)

    @property
    def _kind(self) -> str:
        """The kind of the person last named, without their name: "son" for "son Leo"."""
        *kind, name = self.last.split()
        return " ".join(kind) if kind and name[:1].isupper() else self.last


def _met_in(words: str) -> str:
    """Return the one person whom somebody met, if nobody else is named."""
    found = {match[1] for match in _met.finditer(words)}
    if len(found) != 1:
        return ""
    met = found.pop()
    others = {
        match[0]
        for match in _a_name.finditer(words)
        if match[0] not in met.split() and not _in_place.search(words[max(0, match.start() - 12) : match.start()])
    }
    return "" if others else met


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
    words: set[str] = field(default_factory=set)
    speakers: set[str] = field(default_factory=set)

    def hear(self, text: str, speaker: str, key: uuid.UUID, *, is_assistant: bool = False) -> None:
        """Take in a message after it was read."""
        # Nothing is learned from an assistant, so it does not matter whose words it repeats.
        spoken = pasted_text.unmarked(text) if is_assistant else pasted_text.spoken(text)
        self.asked = _asked(text, spoken, speaker, key)
        if len(self.words) < MOST_WORDS:
            self.words |= _telling(spoken)
        if is_assistant:
            self.with_assistant = True
        else:
            self.speakers.add(speaker)

    def question_to(self, speaker: str) -> str:
        """Return what somebody else has just asked `speaker`; empty if nothing."""
        return self.asked.words if self.asked and self.asked.speaker != speaker else ""

    def people(self, speaker: str) -> People:
        """Return whom a pronoun at the beginning of `speaker`'s next message may stand for: whom the
        question names that it answers."""
        found = People()
        if self.asked and self.asked.speaker != speaker:
            found.hear(self.asked.words, self.asked.speaker)
        return found

    def is_with_machine(self, speaker: str) -> bool:
        """Tell whether `speaker` talks to an assistant, or is not known."""
        return speaker == UNKNOWN or self.with_assistant

    def listener(self, speaker: str) -> str:
        """Return the name of the person `speaker` calls "you"; empty if there may be several, or a
        machine."""
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
