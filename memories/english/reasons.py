"""What a statement rests on: the words by which it says why, or where, when and with whom that holds;
and which words only name that beside what it says.

"swims there because it is near the flat" rests on where its speaker lives. Pure: what is found are
words and names of attributes, by which the memory that is meant can be looked up.
"""

import re
from dataclasses import dataclass
from functools import cache

from memories.english.statements.duplicates import KIN_ROOTS, light
from memories.english.statements.read_statement import read
from memories.english.statements.wording import root

# What a statement only names beside what it says: why, when or where that holds, as in "wears a
# helmet when they ride their Vespa".

_of_whom = r"(?:their|his|her|my|our|[A-Z][\w-]*['’]s)"
_leads_to_why = (
    r"because|since|due to|thanks to|now that|as long as|seeing that|given that|on account of"
    r"|if|unless|as soon as"
)
_where = (
    r"at(?! (?:\d|noon|midnight|night|least|all|once|the end|the (?:beginning|start)|one|two"
    r"|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|quarter)\b)"
    r"|near|close to|next to|opposite|behind|as (?:an?|the)\b(?! whole| rule| child| result| hobby)"
    r"|as(?= (?:captain|head|chair\w*|president|treasurer|secretary|coach|member|leader|manager|tenant) of )"
    rf"|for the|with(?= the [A-Z])|(?:in|on|from|with|for|outside)(?= {_of_whom} )"
)
_aside = re.compile(
    rf",? \b(?:(?P<why>{_leads_to_why})|(?P<when>when|whenever|while)|(?P<where>{_where})) "
)
# Of these the place or the company is what they tell: "works at Bosch", "is a student at Lund".
_tells_place = frozenset(
    map(
        root,
        "be work live stay reside study teach learn attend employ intern serve volunteer lead "
        "manage coach run rent train belong enroll call name".split(),
    )
)
_post = re.compile(r"\b(?:job|position|post|shift|internship|membership|account|contract|lease)\b")


def aside(statement: str) -> re.Match[str] | None:
    """How the rest of it begins; its group `why`, `when` or `where` is what leads to it."""
    for match in _aside.finditer(statement):
        before = statement[: match.start()]
        said = before.split()
        if len(said) < 2:
            continue
        is_short = len(said) < 3  # "sits at the window": the place is what is told
        verbs = said[1:2] if said[1] in ("has", "have") else said[1:3]  # "has training with ..."
        if match["where"] and (
            is_short or not _tells_place.isdisjoint(map(root, verbs)) or _post.search(before)
        ):
            continue
        return match
    return None


LONGEST = 400  # characters of a statement that are looked at
NAMED_PLACE = "where"  # the cue of a place or a group that a statement names and no more
MOST_WORDS = 6  # of one reason, by which memories are looked up
# A noun that stands for an attribute of its owner, and the attributes that tell it.
REFERENTS: dict[str, tuple[str, ...]] = {
    "flat apartment house home place studio condo neighbourhood neighborhood street building "
    "doorstep door town city": ("residence", "household"),
    "job work office workplace employer company colleague colleagues coworker coworkers team "
    "shift commute": ("employer", "job", "hours"),
    "university college school campus faculty course studies degree": ("school", "job"),
    "car": ("car",),
    "wife husband spouse partner girlfriend boyfriend fiance fiancee in-laws marriage":
        ("spouse", "fiance", "boyfriend", "relationship"),
    "boss manager": ("manager",),
    "diet": ("diet",),
}  # fmt: skip
_whose = r"(?:my|our|their|his|her|[A-Z][\w-]*['’]s)"
_near = (
    r"(?:near(?:by| to)?|close to|next (?:door )?to|at|from|around the corner from|behind|opposite|across "
    r"(?:the street )?from|by|to|with|for|in|outside|inside|beside|below|above|down the street from)"
)
# "minutes from my flat", "at her job", "comes with his job", "with my wife's family"
_referent = re.compile(rf"\b{_near} {_whose} (?:(?:new|old|current|own) )?(?P<noun>[a-z][\w-]*)")
_at_work = re.compile(
    r"\b(?:at|from|after|before) (?P<noun>work|school|university|college|home)\b", re.I
)
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
    """`cue` is how the statement says it: "because", "near: flat". `slots` are names of attributes that
    would tell it, `stems` the words of the reason that weigh, `names` those of them that are names.
    """

    cue: str
    slots: tuple[str, ...] = ()
    stems: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    words: tuple[str, ...] = ()


def ground_words(statement: str) -> tuple[GroundWords, ...]:
    """Each reason and each thing of its owner's that `statement` hangs on, in the order found."""
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
    """Whether it tells what somebody has or does now, of himself, and where that is stands beside
    it: not where he lives or works, nor what he likes."""
    reading = read(text)
    owned = set(reading.subject.partition("/")[2].split("-"))
    is_now = not (reading.is_past or reading.is_plan or reading.is_negated or reading.change)
    is_told = reading.head not in _placed and len(reading.stems) > 1
    happened = any(word.is_past for word in reading.words) and not reading.parse.is_passive
    return is_now and is_told and not owned & KIN_ROOTS and not happened


def rests_on(ground: GroundWords, content: str) -> bool:
    """Whether a memory says what the reason names: the same name, or all of the one's words."""
    reading = read(content)
    told = reading.stems - light() - _of_everybody
    shared = ground.stems & told
    if not shared:
        return False
    return bool(shared & (ground.names | reading.names)) or len(shared) * 2 > min(
        len(told), len(ground.stems)
    )


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
