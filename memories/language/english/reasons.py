"""Grounds of a statement: the words by which it says why, or where, when and with whom it holds.

"swims there because it is near the flat" rests on where its speaker lives. Pure: it finds words and
names of attributes, by which the memory that is meant can be looked up.
"""

import re
from dataclasses import dataclass
from functools import cache

from memories.language.english.statements.asides import aside
from memories.language.english.statements.duplicates import KIN_ROOTS, light
from memories.language.english.statements.read_statement import read
from memories.language.english.statements.wording import root

LONGEST = 400  # characters of a statement that are looked at
NAMED_PLACE = "where"  # the cue of a place or a group that a statement names and no more
MOST_WORDS = 6  # of one reason, by which memories are looked up
# A noun that stands for an attribute of its owner, and the attributes that tell it.
REFERENTS: dict[str, tuple[str, ...]] = {
    "flat apartment house home place studio condo neighbourhood neighborhood street building doorstep door town city": (
        "residence",
        "household",
    ),
    "job work office workplace employer company colleague colleagues coworker coworkers team shift commute": (
        "employer",
        "job",
        "hours",
    ),
    "university college school campus faculty course studies degree": ("school", "job"),
    "car": ("car",),
    "wife husband spouse partner girlfriend boyfriend fiance fiancee in-laws marriage": (
        "spouse",
        "fiance",
        "boyfriend",
        "relationship",
    ),
    "boss manager": ("manager",),
    "diet": ("diet",),
}
_whose = r"(?:my|our|their|his|her|[A-Z][\w-]*['’]s)"
_near = (
    r"(?:near(?:by| to)?|close to|next (?:door )?to|at|from|around the corner from|behind|opposite|across "
    r"(?:the street )?from|by|to|with|for|in|outside|inside|beside|below|above|down the street from)"
)
# "minutes from my flat", "at her job", "comes with his job", "with my wife's family"
_referent = re.compile(rf"\b{_near} {_whose} (?:(?:new|old|current|own) )?(?P<noun>[a-z][\w-]*)")
_at_work = re.compile(r"\b(?:at|from|after|before) (?P<noun>work|school|university|college|home)\b", re.I)
_pays = re.compile(rf"\b{_whose} (?P<noun>employer|company|university|school|landlord|job|work)\b")
_why = re.compile(
    r"\b(?P<cue>because of|because|due to|thanks to|now that|as long as|seeing that|given that|on account of"
    r"|so long as|considering that|in order to be near)\b(?P<reason>[^;:]{2,200})",
    re.IGNORECASE,
)
# "since 2015" and "since May" tell when.
_since = re.compile(
    rf"\b(?P<cue>since|as)\b(?P<reason> (?:{_whose}|I|we|they|he|she|it|User|the|[A-Z][\w-]+) [^;:]{{0,80}}?"
    r"\b(?:is|are|am|was|has|have|had|do|does|need|live|work|[a-z]{2,}s|[a-z]{2,}ed|[a-z]{2,}ing)\b[^;:]{0,120})"
)
_if = re.compile(
    r"^(?P<cue>if|when|as soon as|once)\b(?P<reason> [^,;:]{2,120}),"
    r"|\b(?P<cue2>if|unless|until|as soon as)\b(?P<reason2> [^,;:]{2,120})$",
    re.IGNORECASE,
)
# "has a garden in Pankow", "has practice with the Lions": a place or a group with a name
_named = re.compile(
    r" (?:in|with|for|at) (?:the )?(?P<reason>(?!User\b)[A-Z][\w-]+(?: [A-Z][\w-]+)?)(?= (?:on|at|every|in)\b|$)"
)
_thing = re.compile(r"\bfor (?:the|my|our|their|his|her) (?P<reason>[A-Z][\w-]+(?: [A-Z][\w-]+)?)")


@dataclass(frozen=True, slots=True)
class GroundWords:
    """A ground of a statement. `cue` is how the statement says it: "because", "near: flat". `slots`
    are the attributes that would tell it, `stems` the weighty words of the reason, `names` the
    names among them."""

    cue: str
    slots: tuple[str, ...] = ()
    stems: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    words: tuple[str, ...] = ()


def ground_words(statement: str) -> tuple[GroundWords, ...]:
    """Return each reason, and each thing of its owner's, that `statement` depends on, in their
    order."""
    text = statement[:LONGEST]
    result: list[GroundWords] = []
    reasons = [(m["cue"], m["reason"]) for form in (_why, _since) for m in form.finditer(text)]
    if match := _if.search(text):
        reasons.append((match["cue"] or match["cue2"], match["reason"] or match["reason2"]))
    reasons += [("for", match["reason"]) for match in _thing.finditer(text)]
    if not reasons and (match := aside(text)) and not match["why"]:
        reasons.append((match["when"] or match["where"], text[match.end() :]))
    if not reasons and (match := _named.search(text)) and is_held_now(text[: match.start()]):
        reasons.append((NAMED_PLACE, match["reason"]))
    for cue, reason in reasons:
        nouns = re.findall(r"[a-z][\w-]*", reason)
        slots = tuple(dict.fromkeys(s for noun in nouns for s in _slots_of().get(noun, ())))
        reading = read(f"User likes {reason.strip()}")
        stems = reading.stems - light() - _of_everybody - reading.dates
        words = tuple(w.text for w in reading.words if w.root in stems)[:MOST_WORDS]
        if stems or slots:
            found = re.findall(r"\b[A-Z][\w-]+", reason)
            capitals = frozenset(root(word.lower()) for word in found if word not in ("User", "I"))
            names = (reading.names | capitals) & stems
            result.append(GroundWords(cue.lower(), slots, stems, names, words))
    for form in (_referent, _at_work, _pays):
        for match in form.finditer(text):
            if slots := _slots_of().get(match["noun"].lower(), ()):
                result.append(GroundWords(f"near: {match['noun'].lower()}"[:40], slots))
    return tuple(dict.fromkeys(result))


def is_held_now(text: str) -> bool:
    """Tell whether `text` says what its subject, not a relative, has or does now, so that a place
    after it is an addition: not where they live or work, nor what they like."""
    reading = read(text)
    owned = set(reading.subject.partition("/")[2].split("-"))
    is_now = not (reading.is_past or reading.is_plan or reading.is_negated or reading.change)
    is_told = reading.head not in _placed and len(reading.stems) > 1
    happened = any(word.is_past for word in reading.words) and not reading.parse.is_passive
    return is_now and is_told and not owned & KIN_ROOTS and not happened


def rests_on(ground: GroundWords, content: str) -> bool:
    """Tell whether a memory says what the reason names: the same name, or more than half of the
    words of the shorter of the two."""
    reading = read(content)
    told = reading.stems - light() - _of_everybody
    shared = ground.stems & told
    if not shared:
        return False
    return bool(shared & (ground.names | reading.names)) or len(shared) * 2 > min(len(told), len(ground.stems))


@cache
def _slots_of() -> dict[str, tuple[str, ...]]:
    return {noun: slots for nouns, slots in REFERENTS.items() for noun in nouns.split()}


_placed = frozenset(
    map(
        root,
        "live work stay reside study play love like prefer know want need trust support follow hate "
        "speak call name be move go grow come train belong".split(),
    )
) - {"be"}
_of_everybody = frozenset({"user", "team", root("like"), root("other"), root("love")})
