"""From facts to features without a model: by the pattern that found them and the slot they fill."""

import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memories.english import statements as conflicts
from memories.english.lexical import stems
from memories.english.statements import Slot
from memories.english.statements.wording import root
from memories.features.clarity import is_home, is_thing, stands_alone, to_the_point
from memories.features.commands import ADD, DELETE, UPDATE, Cited, Command, Known

# How sure a pattern must be for what it finds to stand in a profile.
SURE = 0.8
NAMELESS = "User"


@dataclass(frozen=True, slots=True)
class Told:
    """A live memory as rules see it: its newest words, and by whom they were said.

    `replaces` are features that stand on versions which this memory superseded.
    """

    statement: str
    category: str
    rule: str
    speaker: str
    confidence: float
    occurred_at: datetime
    cited: tuple[Cited, ...]
    replaces: frozenset[uuid.UUID] = frozenset()

    @property
    def about(self) -> str:
        """Whose feature it is; of a speaker without a name, the set's own subject's."""
        return "" if self.speaker == NAMELESS else self.speaker


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where a feature stands: category, tag, name."""

    category: str
    tag: str
    feature: str


def _shelves(category: str, tag: str, **features: str) -> dict[str, Shelf]:
    """`pattern_name="feature name"`; an empty name is the pattern's own."""
    return {
        pattern.replace("_", "-"): Shelf(category, tag, feature or pattern.replace("_", " "))
        for pattern, feature in features.items()
    }


# What a pattern finds, by its name.
BY_PATTERN: dict[str, Shelf] = {
    **_shelves("identity", "home", lives="home", moved="home"),
    **_shelves("identity", "work", works="work", my_work="work", does_for_living="work"),
    **_shelves("identity", "name", name="name"),
    **_shelves("identity", "age", age="age", birthday="birthday"),
    **_shelves("identity", "contact", contact="contact"),
    **_shelves("identity", "education", studies="studies"),
    **_shelves("identity", "abilities", speaks="languages", able="abilities"),
    **_shelves("identity", "health", health="health"),
    **_shelves("identity", "character", is_a="is", identifies="identifies"),
    **_shelves("identity", "habits", habit="habit", routine="routine"),
    **_shelves("preferences", "choices", prefers="prefers", uses="uses"),
    **_shelves("preferences", "favourites", favourite="favourite"),
    **_shelves("preferences", "likes", likes="likes", fan="likes", taste="taste"),
    **_shelves("preferences", "dislikes", dislikes="dislikes"),
    **_shelves("preferences", "interests", passion="passion"),
    **_shelves("preferences", "values", values="values", finds="finds"),
    **_shelves("relationships", "family", kin="family"),
    **_shelves("relationships", "pets", pet="pet"),
    **_shelves("relationships", "partner", couple="partner"),
    **_shelves("relationships", "people", people="people", met="met", has_people="people",
               named="people"),
    **_shelves("possessions", "things", got="got", has="has", my_thing="has"),
    **_shelves("plans", "goals", goal="goal", wants="wants"),
    **_shelves("plans", "plans", going_to="plan", plans="plan", considering="considers",
               dated_plan="plan"),
}  # fmt: skip
# What models and other patterns find, by the fact's category.
BY_CATEGORY: dict[str, Shelf] = {
    "preference": Shelf("preferences", "likes", "preference"),
    "identity": Shelf("identity", "character", "identity"),
    "relationship": Shelf("relationships", "people", "people"),
    "possession": Shelf("possessions", "things", "has"),
    "plan": Shelf("plans", "plans", "plan"),
    "technology": Shelf("technology", "tools", "technology"),
    "policy": Shelf("work", "rules", "rule"),
    "decision": Shelf("work", "decisions", "decision"),
    "instruction": Shelf("assistant", "instructions", "instruction"),
}
# Attributes of which somebody has one at a time, by the slot's name.
BY_SLOT: dict[str, Shelf] = {
    "residence": Shelf("identity", "home", "home"),
    "employer": Shelf("identity", "work", "employer"),
    "job": Shelf("identity", "work", "job"),
    "manager": Shelf("identity", "work", "manager"),
    "age": Shelf("identity", "age", "age"),
    "birthday": Shelf("identity", "age", "birthday"),
    "phone": Shelf("identity", "contact", "phone"),
    "email": Shelf("identity", "contact", "email"),
    "timezone": Shelf("identity", "contact", "time zone"),
    "relationship": Shelf("identity", "family status", "relationship"),
    "spouse": Shelf("relationships", "partner", "spouse"),
    "fiance": Shelf("relationships", "partner", "engaged to"),
    "boyfriend": Shelf("relationships", "partner", "partner"),
    "diet": Shelf("identity", "health", "diet"),
    "weight": Shelf("identity", "health", "weight"),
    "height": Shelf("identity", "health", "height"),
    "hair": Shelf("identity", "character", "hair"),
    "commute": Shelf("identity", "habits", "commute"),
    "favorite": Shelf("preferences", "favourites", "favourite"),
    "car": Shelf("possessions", "things", "car"),
    "reading": Shelf("preferences", "interests", "reading"),
    "preferred": Shelf("preferences", "choices", "prefers"),
}
# Shelves on which there is one value at a time.
SLOT_OF = {
    shelf: f"{name}|" for name, shelf in BY_SLOT.items() if name not in ("favorite", "preferred")
}
# Attributes whose word is the value: "is vegan".
_WHOLE = frozenset({"relationship", "diet", "preferred"})
# Of these the past still tells something.
TOLD_IN_THE_PAST = frozenset(
    {"home", "education", "health", "family", "people", "rules", "decisions"}
)
_over = re.compile(
    r"(?:and others|(?:also |really |just )?(?:had|has had|has been an?|was|were|wanted|ran|went))\b",
    re.IGNORECASE,
)
_words = re.compile(r"[\w@.+'&/-]*[\w@+'&/]")


@dataclass(frozen=True, slots=True)
class _Draft:
    shelf: Shelf
    value: str
    slot: str


def commands(told: Sequence[Told], known: Sequence[Known]) -> list[Command]:
    """What the memories ask of the features, oldest word first; equal slots update.

    A later command sees what the ones before it did.
    """
    made: dict[tuple[str, ...], Command] = {}
    for one in sorted(told, key=lambda each: each.occurred_at):
        for draft in _drafts(one):
            command = _command(one, draft, known)
            made[_place(command)] = command
    return list(made.values())


def corrected(one: Told, old: Known) -> Command:
    """What a feature is to say when a person put right the memory that it stands on; what the new
    words tell no feature of, ends. A model's own shelf is kept."""
    drafts = list(_drafts(one))
    same = [d for d in drafts if (d.slot and d.slot == old.slot) or d.shelf.tag == old.tag]
    told = Command(UPDATE, old.category, old.tag, old.feature, about=old.about, target=old.id)
    if old.method == "llm":
        value = same[0].value if same else to_the_point(predicate(one.statement, one.speaker))
        return replace(told, value=value, slot=old.slot)
    if not drafts:
        return replace(told, action=DELETE, reason=f"corrected: {one.statement}")
    draft = (same or drafts)[0]
    shelf = draft.shelf
    return replace(
        told, category=shelf.category, tag=shelf.tag, feature=shelf.feature,
        value=draft.value, slot=draft.slot,
    )  # fmt: skip


def slot_of(category: str, tag: str, feature: str) -> str:
    """Of a feature that a person writes: the attribute that it is the one value of, if any."""
    return SLOT_OF.get(Shelf(category, tag, feature), "")


def _place(command: Command) -> tuple[str, ...]:
    """Two commands for one place: the later one counts."""
    if command.target:
        return (str(command.target),)
    own = command.slot or f"={command.tag}|{command.feature}|{command.value.casefold()}"
    return (command.about, command.category, own)


def _command(one: Told, draft: _Draft, known: Sequence[Known]) -> Command:
    old = _old(one, draft, known)
    return Command(
        action=UPDATE if old else ADD,
        category=draft.shelf.category,
        tag=draft.shelf.tag,
        feature=draft.shelf.feature,
        value=draft.value,
        about=one.about,
        slot=draft.slot,
        target=old.id if old else None,
        cited=_saying(draft.value, one.cited),
        occurred_at=one.occurred_at,
    )


def _saying(value: str, cited: tuple[Cited, ...]) -> tuple[Cited, ...]:
    """The words that say what the value says: a memory may stand on others that tell less."""
    wanted = set(stems(value.split(maxsplit=1)[-1]))
    found = tuple(each for each in cited if wanted <= set(stems(each.quote)))
    return found or cited


def _old(one: Told, draft: _Draft, known: Sequence[Known]) -> Known | None:
    """The feature that this is a newer value of."""
    for each in known:
        if draft.slot and each.slot == draft.slot and is_theirs(one.about, each, known):
            return each
    return next((each for each in known if each.id in one.replaces and not each.slot), None)


def is_theirs(about: str, known: Known, others: Sequence[Known]) -> bool:
    """Whether a feature is about the same person: a person need not write whose it is where all
    are of one."""
    if known.about == about:
        return True
    names = {about, known.about, *(each.about for each in others)} - {""}
    return "" in (about, known.about) and len(names) == 1


def _drafts(one: Told) -> Iterator[_Draft]:
    if one.confidence < SURE:
        return
    slots = [slot for slot in _own_slots(one) if slot.name in BY_SLOT and _is_meant(one, slot)]
    for slot in slots:
        if value := _value(one, slot):
            shelf = BY_SLOT[slot.name]
            name = f"{shelf.feature} {slot.key}" if slot.name == "favorite" else shelf.feature
            yield _Draft(
                Shelf(shelf.category, shelf.tag, name), value, f"{slot.name}|{slot.key}"[:255]
            )
    found = BY_PATTERN.get(one.rule) or BY_CATEGORY.get(one.category)
    value = to_the_point(predicate(one.statement, one.speaker))
    if not slots and found is not None and _is_told(one, found, value):
        yield _Draft(found, value, "")


def _is_meant(one: Told, slot: Slot) -> bool:
    """Who "stays positive" lives nowhere by that."""
    return slot.name != "residence" or is_home(one.statement, _value(one, slot))


def _is_told(one: Told, shelf: Shelf, value: str) -> bool:
    if shelf.tag == "things" and not is_thing(value):
        return False
    if shelf.tag == "home" and not is_home(one.statement, value):
        return False
    return _lasts(shelf, value) and stands_alone(one.statement, value, one.speaker)


def _lasts(shelf: Shelf, value: str) -> bool:
    """What was, happened once, or was done with others tells little of what somebody is or has."""
    return shelf.tag in TOLD_IN_THE_PAST or not _over.match(value)


def _own_slots(one: Told) -> list[Slot]:
    """Slots of the speaker's own, not of somebody they speak about; one per name."""
    own = "-".join(sorted(root(word) for word in one.speaker.lower().split()))
    found = [_moved(one, slot) for slot in conflicts.read(one.statement).slots]
    by_name: Mapping[str, Slot] = {slot.name: slot for slot in found if slot.subject == own}
    return list(by_name.values())


def _moved(one: Told, slot: Slot) -> Slot:
    """Who moves from one place to another lives there; in the words alone it may be an employer."""
    is_home = one.rule == "moved" and slot.name == "employer"
    return replace(slot, name="residence") if is_home else slot


def _value(one: Told, slot: Slot) -> str:
    """The value in the words of the statement: slots hold roots of words."""
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
    """The statement without whom it is about: "prefers tea to coffee"."""
    text = statement.strip().rstrip(".")
    for opening in (f"{speaker} says ", f"{speaker} ", f"{speaker}'s "):
        if speaker and text.lower().startswith(opening.lower()):
            return text[len(opening) :]
    return text
