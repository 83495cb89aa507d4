"""From facts to features without a model: by the pattern that found them and the slot they fill,
where the statement tells something by itself."""

import re
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

from memories.language.english.dates import event_date
from memories.language.english.lexical import stems
from memories.language.english.patterns.pattern import KIN, PEOPLE, PETS
from memories.language.english.statements import Slot, past_period, read, true_from
from memories.language.english.statements.wording import root
from memories.profiles.features.commands import ADD, DELETE, KEEP, UPDATE, Cited, Command, KnownFeature

# Whether a statement tells something by itself: a profile is read without the talk around it.

# What a statement without its own subject begins with: pronouns, and verbs that lost theirs.
_without_subject = re.compile(
    r"(?:it|they|this|that|these|those|there|he|she|one|might|may|could|would|will|check|take|make"
    r"|makes|gives?|helps?|look|keep|seeing|having|being|maybe|guess|thanks?|which|whatever)\b",
    re.IGNORECASE,
)
# "it", and "this" where no noun follows.
_pointing = re.compile(
    r"\b(?:it|them|themselves)\b"
    r"|\b(?:this|that|these|those)\b(?=\s*(?:[,.;:!?]|$)|\s+(?:so|and|but|or|because|to|for|with|in"
    r"|on|at|as|is|was|are|were|work|works|happen|happens|sometime|one|ones|too|now|again)\b)",
    re.IGNORECASE,
)
_empty_words = """
    able alway anyth anyon around awesom back big bit bring chanc come cool day decid determin do
    done dream els end enjoy especi even ever everi everyth excit fan feel find first focus forward
    fun get give glad go goal good great grind happen happi hard hope hous huge idea ill im import
    interest journey keep kind know last later let like littl ll long look lot love make mani matter
    mean might moment move much need never new next nice noth often one ongo part peopl plan pleas
    posit push put quit readi real realli reason rememb savor say see seem share show soon start
    stay still stop strong stuff success sure take tell thing think time togeth tomorrow tri true
    truli upbeat use ve vibe want way will without wonder word work worth would
"""
_empty_stems = frozenset(_empty_words.split()) - {"hous"}
ENOUGH_POINTING, ENOUGH = 3, 1  # words of weight where something is pointed at; else
_aside = re.compile(
    r"[,;] (?:so|thanks|thank you|which (?:is|was)|but|though|and it|it|that|this|these|those|they"
    r"|the|because|since|you know)\b.*",
    re.IGNORECASE,
)
_places = re.compile(
    r"\b(?:in|to|at|near|from|on|outside|around|of)\s+(?:(?:the|a|an|my|their|his|her)\s+)?"
    r"(?:\w+\s+){0,2}[A-Z]\w|\b(?:apartment|flat|house|city|town|village|countryside|suburbs?"
    r"|abroad|farm|cottage|cabin|dorms?|downtown|parents|roommates?|alone|island|coast|mountains)\b"
)
_dwelling = re.compile(
    r"\b(?:liv(?:e[sd]?|ing)|mov(?:e[sd]?|ing)|resid(?:e[sd]?|ing)|relocat(?:e[sd]?|ing)|based|from"
    r"|stay(?:s|ed|ing)?) (?:\w+ )?(?:in|to|at|near|from|outside|with)"
    r" (?!the moment|a mood|hope|fear)",
    re.IGNORECASE,
)
_lost = re.compile(r"\b(?:lost|sold|gave away|given away|threw|returned)\b", re.IGNORECASE)
_somebody = re.compile(rf"\b(?:{KIN}|{PEOPLE}|{PETS})\b", re.IGNORECASE)
# between a person and what they are: "is", "has now been a strict"
_is = (
    r"(?:(?:\w+ly|now|also|still|just|never|not|no longer|always) )*"
    r"(?:is|are|was|were|became|went|turned|remains|stays|eats|follows|keeps to|identifies as"
    r"|ha(?:s|ve) (?:(?:\w+ly|just|now|since) )*(?:been|gone|become)"
    r"|(?:ha(?:s|ve) (?:(?:\w+ly|just|now|since) )*)?(?:got|gets|gotten)(?= (?:\w+ly )?\w+ed\b))"
    r"(?: (?:an?|the|on an?|\w+ly|now|also|still|not|no longer|always|back to|strict|lifelong"
    r"|committed|proud|happy))*"
)
_no_more = (
    r"(?=[^\w -]|$| (?:diets?|foods?|meals|lifestyle|since|for|now|and|but|because|again|at|in|on"
    r"|by|as|with|to|though|too|person|man|woman|mother|father|from|these|when|whenever|while|if"
    r"|unless|except|who|until|after|before|last|this|an?|the|his|her|their|my|somebody|someone"
    r"|(?-i:[A-Z])\w*)\b)"
)
_negative = re.compile(r"\b(?:not|no|never|nobody|nothing|without)\b|n['’]t\b", re.IGNORECASE)
_no_things = re.compile(
    r"(?:also |just |really |has |have |got |had |been )*"
    r"(?:(?:a|an|the|some|any|no|few|more|lot|lots"
    r"|of|great|good|little|much|many|new|really|tough|rough|hard|possible|temp) )*(?:jobs?|ideas?"
    r"|feelings?|times?|chances?|leads?|advice|plans?|questions?|problems?|offers?|interviews?"
    r"|setbacks?|blast|hang|sense|faith|luck|opportunit(?:y|ies)|experiences?|days?|weeks?"
    r"|tips?|support|feedback|news|hopes?|trouble|issues?|meetings?|appointments?)\b",
    re.IGNORECASE,
)


# How sure a pattern must be for what it finds to stand in a profile.
SURE = 0.8
NAMELESS = "User"
STATES = frozenset({"relationship", "diet"})
# Tags of which the past still says something.
LASTING_THOUGH_PAST = frozenset({"home", "education", "health", "family", "people", "rules", "decisions"})


def is_clear(statement: str) -> bool:
    """Tell whether a statement stands alone that names whom it is about, or nobody."""
    return not _without_subject.match(statement) and _has_weight(statement, "", ENOUGH + 1)


def stands_alone(statement: str, value: str, speaker: str) -> bool:
    """Tell whether it says of whom it speaks, and more than "it" and "will make it happen"."""
    opening = statement.strip().lower()
    if not opening.startswith(speaker.lower()) and _without_subject.match(opening):
        return False
    return _has_weight(value, speaker, ENOUGH)


def telling_stems(text: str, speaker: str) -> set[str]:
    """Return the stems of weight, without the speaker's name."""
    return set(stems(text)) - _empty_stems - set(stems(speaker))


def _has_weight(text: str, speaker: str, enough: int) -> bool:
    weight = telling_stems(text, speaker)
    return len(weight) >= (ENOUGH_POINTING if _pointing.search(text) else enough)


def to_the_point(value: str) -> str:
    """Return it without what follows as an aside: ", so that was great"."""
    short = _aside.sub("", value).strip()
    return short if len(stems(short)) > 1 else value


def is_home(statement: str, value: str) -> bool:
    """Tell whether it says where somebody lives: "living the dream" and "staying calm" are no
    place."""
    return bool(_dwelling.search(statement) or _places.search(f"in {value}"))


def is_thing(value: str) -> bool:
    """Tell whether it can be had: it is no chance, no job, and nothing that was lost."""
    return not _lost.search(value) and not _no_things.match(value)


def is_somebody(value: str) -> bool:
    """Tell whether it speaks of a person or a pet: "Chess is their escape" does not."""
    return bool(_somebody.search(value))


def is_state_of(speaker: str, statement: str, value: str) -> bool:
    """Tell whether it says that `speaker` is so: somebody who sells vegan soap need not be
    vegan."""
    word = re.escape(value)
    if not re.search(rf"\b{word}\b", statement, re.IGNORECASE):
        return True  # told in other words: "is seeing somebody"
    who = rf"\b{re.escape(speaker)}(?:['’]s diet| and (?:[\w'’-]+ ){{0,2}}[\w'’-]+)?"
    said = rf"{who} (?:{_is} )?{word}\b{_no_more}"  # "married Kim"
    return re.search(said, statement, re.IGNORECASE) is not None


@dataclass(frozen=True, slots=True)
class MemoryStatement:
    """A memory as rules see it: its newest words, and by whom they were said.

    `replaces` are features that stand on versions which this memory superseded, `ends` those of
    them whose words it does not say any more. `is_over`: it was true for a time, and is not now.
    """

    statement: str
    category: str
    rule: str
    speaker: str
    confidence: float
    occurred_at: datetime
    cited: tuple[Cited, ...]
    replaces: frozenset[uuid.UUID] = frozenset()
    ends: frozenset[uuid.UUID] = frozenset()
    is_over: bool = False

    @property
    def about(self) -> str:
        """The person whose feature it is; "" for a speaker without a name: then it is the set's own
        subject's."""
        return "" if self.speaker == NAMELESS else self.speaker


@dataclass(frozen=True, slots=True)
class FeatureKey:
    """The place of a feature: category, tag, name."""

    category: str
    tag: str
    feature: str


def _keys(category: str, tag: str, **features: str) -> dict[str, FeatureKey]:
    """Return keys by pattern from `pattern_name="feature name"`; an empty name is the pattern's
    own."""
    return {
        pattern.replace("_", "-"): FeatureKey(category, tag, feature or pattern.replace("_", " "))
        for pattern, feature in features.items()
    }


# What a pattern finds, by its name.
BY_PATTERN: dict[str, FeatureKey] = {
    **_keys("identity", "home", lives="home", moved="home"),
    **_keys("identity", "work", works="work", my_work="work", does_for_living="work"),
    **_keys("identity", "name", name="name"),
    **_keys("identity", "age", age="age", birthday="birthday"),
    **_keys("identity", "contact", contact="contact"),
    **_keys("identity", "education", studies="studies"),
    **_keys("identity", "abilities", speaks="languages", able="abilities"),
    **_keys("identity", "health", health="health"),
    **_keys("identity", "character", is_a="is", identifies="identifies"),
    **_keys("identity", "habits", habit="habit", routine="routine"),
    **_keys("preferences", "choices", prefers="prefers", uses="uses"),
    **_keys("preferences", "favourites", favourite="favourite"),
    **_keys("preferences", "likes", likes="likes", fan="likes", taste="taste"),
    **_keys("preferences", "dislikes", dislikes="dislikes"),
    **_keys("preferences", "interests", passion="passion"),
    **_keys("preferences", "values", values="values", finds="finds"),
    **_keys("relationships", "family", kin="family"),
    **_keys("relationships", "pets", pet="pet"),
    **_keys("relationships", "partner", couple="partner"),
    **_keys("relationships", "people", people="people", met="met", has_people="people", named="people"),
    **_keys("possessions", "things", got="got", has="has", my_thing="has"),
    **_keys("plans", "goals", goal="goal", wants="wants"),
    **_keys("plans", "plans", going_to="plan", plans="plan", considering="considers", dated_plan="plan"),
}
# What models and other patterns find, by the fact's category.
BY_CATEGORY: dict[str, FeatureKey] = {
    "preference": FeatureKey("preferences", "likes", "preference"),
    "identity": FeatureKey("identity", "character", "identity"),
    "relationship": FeatureKey("relationships", "people", "people"),
    "possession": FeatureKey("possessions", "things", "has"),
    "plan": FeatureKey("plans", "plans", "plan"),
    "technology": FeatureKey("technology", "tools", "technology"),
    "policy": FeatureKey("work", "rules", "rule"),
    "decision": FeatureKey("work", "decisions", "decision"),
    "instruction": FeatureKey("assistant", "instructions", "instruction"),
}
# Attributes of which somebody has one at a time, by the slot's name.
BY_SLOT: dict[str, FeatureKey] = {
    "residence": FeatureKey("identity", "home", "home"),
    "employer": FeatureKey("identity", "work", "employer"),
    "job": FeatureKey("identity", "work", "job"),
    "manager": FeatureKey("identity", "work", "manager"),
    "age": FeatureKey("identity", "age", "age"),
    "birthday": FeatureKey("identity", "age", "birthday"),
    "phone": FeatureKey("identity", "contact", "phone"),
    "email": FeatureKey("identity", "contact", "email"),
    "timezone": FeatureKey("identity", "contact", "time zone"),
    "relationship": FeatureKey("identity", "family status", "relationship"),
    "spouse": FeatureKey("relationships", "partner", "spouse"),
    "fiance": FeatureKey("relationships", "partner", "engaged to"),
    "boyfriend": FeatureKey("relationships", "partner", "partner"),
    "diet": FeatureKey("identity", "health", "diet"),
    "weight": FeatureKey("identity", "health", "weight"),
    "height": FeatureKey("identity", "health", "height"),
    "hair": FeatureKey("identity", "character", "hair"),
    "commute": FeatureKey("identity", "habits", "commute"),
    "favorite": FeatureKey("preferences", "favourites", "favourite"),
    "car": FeatureKey("possessions", "things", "car"),
    "reading": FeatureKey("preferences", "interests", "reading"),
    "preferred": FeatureKey("preferences", "choices", "prefers"),
}
# Keys under which there is one value at a time.
SLOT_OF = {key: f"{name}|" for name, key in BY_SLOT.items() if name not in ("favorite", "preferred")}
# Attributes whose word is the value: "is vegan".
_WHOLE = frozenset({"relationship", "diet", "preferred"})
_over = re.compile(
    r"(?:and others|(?:also |really |just )?"
    r"(?:had|has had|has been an?|was|were|wanted|ran|went))\b",
    re.IGNORECASE,
)
_words = re.compile(r"[\w@.+'&/-]*[\w@+'&/]")


@dataclass(frozen=True, slots=True)
class _Draft:
    """A feature as a memory states it; where `is_so` is false, it was so, or will be."""

    key: FeatureKey
    value: str
    slot: str
    is_so: bool = True


def commands(statements: Sequence[MemoryStatement], known: Sequence[KnownFeature]) -> list[Command]:
    """Return the commands that memories give for features, oldest word first; equal slots update.

    Of two commands for one place the later one counts.
    """
    by_place: dict[tuple[str, ...], Command] = {}
    for one in sorted(statements, key=lambda each: each.occurred_at):
        drafts = list(_drafts(one))
        # "Quit the job": what was so is over, and nothing takes its place.
        ends = one.ends if not one.is_over and not any(each.slot for each in drafts) else ()
        for ended in known:
            if ended.slot and ended.id in ends:
                by_place[(str(ended.id),)] = Command(
                    DELETE,
                    target=ended.id,
                    cited=one.cited,
                    occurred_at=one.occurred_at,
                    reason=one.statement,
                )
        for draft in drafts:
            # The feature that this is a newer value of.
            same = (
                each for each in known if draft.slot and each.slot == draft.slot and is_theirs(one.about, each, known)
            )
            replaced = (each for each in known if each.id in one.replaces and not each.slot)
            old = (next(same, None) or next(replaced, None)) if draft.is_so else None
            # The words that say what the value says: a memory may stand on others that say less.
            wanted = set(stems(draft.value.split(maxsplit=1)[-1]))
            cited = tuple(each for each in one.cited if wanted <= set(stems(each.quote)))
            command = Command(
                (UPDATE if old else ADD) if draft.is_so else KEEP,
                **asdict(draft.key),
                value=draft.value,
                about=one.about,
                slot=draft.slot,
                target=old.id if old else None,
                cited=cited or one.cited,
                occurred_at=one.occurred_at,
            )
            own = command.slot or f"={command.tag}|{command.feature}|{command.value.casefold()}"
            place: tuple[str, ...] = (command.about, command.category, own)
            if not draft.is_so:
                place = (*place, draft.value, one.occurred_at.isoformat())
            by_place[(str(command.target),) if command.target else place] = command
    return list(by_place.values())


def corrected(one: MemoryStatement, old: KnownFeature) -> Command:
    """Return how a feature changes when a person put right the memory that it stands on; it ends
    where no feature can say anything of the new words. A model's own key is kept."""
    drafts = [draft for draft in _drafts(one) if draft.is_so]
    same = [d for d in drafts if (d.slot and d.slot == old.slot) or d.key.tag == old.tag]
    command = Command(UPDATE, old.category, old.tag, old.feature, about=old.about, target=old.id)
    if old.method == "llm":
        value = same[0].value if same else to_the_point(predicate(one.statement, one.speaker))
        return replace(command, value=value, slot=old.slot)
    if not drafts:
        return replace(command, action=DELETE, reason=f"corrected: {one.statement}")
    draft = (same or drafts)[0]
    return replace(command, **asdict(draft.key), value=draft.value, slot=draft.slot)


def slot_of(category: str, tag: str, feature: str) -> str:
    """Return the attribute, if any, of which a feature that a person writes is the one value."""
    return SLOT_OF.get(FeatureKey(category, tag, feature), "")


def is_theirs(about: str, known: KnownFeature, others: Sequence[KnownFeature]) -> bool:
    """Tell whether a feature is about the same person: a person need not write whose it is where
    all are of one."""
    if known.about == about:
        return True
    names = {about, known.about, *(each.about for each in others)} - {""}
    return "" in (about, known.about) and len(names) == 1


def _drafts(one: MemoryStatement) -> Iterator[_Draft]:
    # Slots of the speaker's own, not of somebody they speak about; one per name.
    name = [root(word) for word in one.speaker.lower().split()]
    own, own_diet = "-".join(sorted(name)), "-".join(sorted([*name, "diet"]))
    by_name: dict[str, Slot] = {}
    reading = read(one.statement)
    past = past_period(reading, one.occurred_at)
    planned = true_from(reading, event_date(one.statement, one.occurred_at), one.occurred_at)
    is_so = past is None and (planned is None or planned <= datetime.now(UTC))
    # A memory that it replaced, or a day that it names, vouches for it.
    is_sure = one.confidence >= SURE or bool(one.replaces) or planned is not None
    for slot in reading.slots if is_sure and past is None else ():
        # Somebody who moves to a place lives there; in the words alone it may be an employer.
        if one.rule == "moved" and slot.name == "employer":
            slot = replace(slot, name="residence")
        if slot.subject == own or (slot.name == "diet" and slot.subject == own_diet):
            by_name[slot.name] = slot
    slots = [(slot, _value(one, slot)) for slot in by_name.values() if slot.name in BY_SLOT]
    # Somebody who "stays positive" lives nowhere by that.
    slots = [(slot, value) for slot, value in slots if slot.name != "residence" or is_home(one.statement, value)]
    # Nor is a topic a trait: somebody who teaches vegan cooking need not be vegan.
    slots = [
        (slot, value)
        for slot, value in slots
        if slot.name not in STATES or is_state_of(one.speaker, one.statement, value)
    ]
    for slot, value in slots:
        if value:
            key = BY_SLOT[slot.name]
            if slot.name == "favorite":
                key = replace(key, feature=f"{key.feature} {slot.key}")
            yield _Draft(key, value, f"{slot.name}|{slot.key}"[:255], is_so and not one.is_over)
    by_rule = BY_PATTERN.get(one.rule) or BY_CATEGORY.get(one.category)
    if one.confidence >= SURE and not (slots and is_so) and by_rule is not None:
        value, tag = to_the_point(predicate(one.statement, one.speaker)), by_rule.tag
        # What was, happened once, or was done with others says little of what somebody is or has.
        lasts = tag in LASTING_THOUGH_PAST or not (past or _over.match(value))
        fits = tag != "things" or is_thing(value)
        fits = fits and (tag != "home" or is_home(one.statement, value))
        fits = fits and (one.rule in BY_PATTERN or tag != "people" or is_somebody(value))
        if fits and (lasts or past) and stands_alone(one.statement, value, one.speaker):
            yield _Draft(by_rule, value, "", lasts and not one.is_over)


def _value(one: MemoryStatement, slot: Slot) -> str:
    """Return the value in the words of the statement: slots hold roots of words."""
    if slot.name in _WHOLE:
        return slot.value if slot.name != "preferred" else predicate(one.statement, one.speaker)
    tokens = [(match.start(), match.end()) for match in _words.finditer(one.statement)]
    roots = [root(one.statement[slice(*token)].lower().removesuffix("'s")) for token in tokens]
    wanted = slot.value.split()
    for at in range(len(roots) - len(wanted) + 1):
        if roots[at : at + len(wanted)] == wanted:
            return one.statement[tokens[at][0] : tokens[at + len(wanted) - 1][1]]
    return predicate(one.statement, one.speaker)


def predicate(statement: str, speaker: str) -> str:
    """Return the statement without whom it is about: "prefers tea to coffee"."""
    text = statement.strip().rstrip(".")
    for opening in (f"{speaker} says ", f"{speaker} ", f"{speaker}'s "):
        if speaker and text.lower().startswith(opening.lower()):
            return text[len(opening) :]
    return text
