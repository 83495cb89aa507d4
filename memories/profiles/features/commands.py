"""Commands on features: add, update, delete; and the reason where one is refused."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from memories.profiles.features.config import FeatureCategory

ADD, UPDATE, DELETE = "add", "update", "delete"
ACTIONS = (ADD, UPDATE, DELETE)
KEEP = "keep"  # a value of its own time, which is not so now
LONGEST_VALUE, LONGEST_NAME = 1_000, 100  # characters


@dataclass(frozen=True, slots=True)
class Cited:
    """Words of an episode: `quote` is its content from start to end; said at `occurred_at`."""

    episode_id: uuid.UUID
    start: int
    end: int
    quote: str
    occurred_at: datetime
    fact_id: uuid.UUID | None = None


@dataclass(frozen=True, slots=True)
class KnownFeature:
    """A feature that a set holds already, as far as commands care."""

    id: uuid.UUID
    category: str
    tag: str
    feature: str
    value: str
    about: str
    slot: str
    method: str
    occurred_at: datetime


@dataclass(frozen=True, slots=True)
class Command:
    """One change that is asked for. `target` is the feature to update or delete; `occurred_at`
    when it was said; `slot` names the attribute where it has one value at a time."""

    action: str
    category: str = ""
    tag: str = ""
    feature: str = ""
    value: str = ""
    about: str = ""
    slot: str = ""
    target: uuid.UUID | None = None
    cited: tuple[Cited, ...] = ()
    occurred_at: datetime | None = None
    reason: str = ""

    @property
    def columns(self) -> dict[str, str]:
        """The values that it gives a feature, by the feature's columns."""
        return {
            "category": self.category,
            "tag": self.tag,
            "feature": self.feature.strip(),
            "value": self.value.strip(),
            "about": self.about,
            "slot": self.slot,
        }

    def as_json(self) -> dict[str, Any]:
        """Return it as a person reads it, without what is empty."""
        values = asdict(self)
        values.pop("occurred_at")
        values["cited"] = [{"episode": str(c.episode_id), "quote": c.quote} for c in self.cited]
        return {name: str(value) if name == "target" else value for name, value in values.items() if value}


@dataclass(frozen=True, slots=True)
class RefusedCommand:
    """A command that is not done. `raw` is what was said where it was no command at all."""

    reason: str
    command: Command | None = None
    raw: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return self.command.as_json() if self.command else dict(self.raw)


@dataclass(slots=True)
class CommandPlan:
    """The commands that shall be done, and those that shall not."""

    commands: list[Command] = field(default_factory=list)
    refused: list[RefusedCommand] = field(default_factory=list)


def plan(
    commands: Sequence[Command],
    categories: Sequence[FeatureCategory],
    known: Sequence[KnownFeature],
) -> CommandPlan:
    """Return the commands that may be done to what is `known`, and the others with the reason."""
    result, by_id = CommandPlan(), {each.id: each for each in known}
    touched: set[uuid.UUID] = set()
    for command in commands:
        target = by_id.get(command.target) if command.target else None
        reason = _fault(command, categories, target)
        if not reason and target and target.id in touched:
            reason = "the feature is changed by an earlier command"
        if reason:
            result.refused.append(RefusedCommand(reason, command))
            continue
        if target:
            touched.add(target.id)
        result.commands.append(command)
    return result


def _fault(command: Command, categories: Sequence[FeatureCategory], target: KnownFeature | None) -> str:
    if command.action not in (*ACTIONS, KEEP):
        return f"there is no command {command.action!r}"
    if command.action not in (ADD, KEEP):
        if target is None:
            return "there is no such feature in this set"
        if target.method == "manual":
            return "it was written by a person"
        if command.occurred_at and command.occurred_at < target.occurred_at:
            return "what is known is newer"
    of_value = fault_of_value(command, categories)
    of_evidence = "" if command.cited else "no words of the messages stand behind it"
    if command.action in (ADD, KEEP):
        return of_value or of_evidence
    return of_evidence or of_value


def fault_of_value(command: Command, categories: Sequence[FeatureCategory]) -> str:
    if command.action == DELETE:
        return ""
    category = next((each for each in categories if each.name == command.category), None)
    if category is None:
        return f"the set has no category {command.category!r}"
    if command.tag not in {tag.name for tag in category.tags}:
        return f"the category {command.category} has no tag {command.tag!r}"
    if not command.feature.strip() or not command.value.strip():
        return "it names no feature, or no value"
    if len(command.feature) > LONGEST_NAME:
        return f"the feature's name is longer than {LONGEST_NAME} characters"
    if len(command.value) > LONGEST_VALUE:
        return f"the value is longer than {LONGEST_VALUE} characters"
    return ""
