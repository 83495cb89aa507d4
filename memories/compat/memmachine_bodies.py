"""Bodies that MemMachine's clients send."""

import re
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from django.utils.dateparse import parse_datetime
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, with_config
from pydantic_core import PydanticCustomError

from memories.language.bounds import LONGEST_ID, LONGEST_QUERY, MOST_MESSAGES
from workspaces.request_fields import (
    AnyText,
    Flag,
    Free,
    Metadata,
    NullIs,
    Number,
    OwnId,
    Text,
    not_too_large,
    without_reserved,
)

# What MemMachine's client sends. It leaves out what has a default, and sends more than is used
# here.

sent = with_config(ConfigDict(extra="ignore"))

UNIVERSAL = "universal"  # organisation and project where none is named
MILLISECONDS_FROM = 1e12  # a number so large is no count of seconds
NAME = re.compile(r"[\w:-]{1,100}\Z")

MemoryType = Literal["episodic", "semantic"]


def _name(given: Any) -> str:
    if not isinstance(given, str) or not NAME.match(given):
        raise PydanticCustomError("invalid", "1 to 100 letters, digits, underscores, hyphens and colons.")
    return given


def _moment(given: Any) -> datetime:
    """Read ISO 8601, or seconds or milliseconds since 1970; without a zone it is UTC."""
    moment = None
    try:
        if isinstance(given, str):
            moment = parse_datetime(given)
        elif isinstance(given, int | float) and not isinstance(given, bool):
            seconds = given / 1000 if given > MILLISECONDS_FROM else given
            moment = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        moment = None
    if moment is None:
        raise PydanticCustomError("invalid", "Must be a time as ISO 8601, or a number of seconds.")
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


Name = Annotated[str, BeforeValidator(_name)]
Texts = Annotated[dict[str, AnyText], AfterValidator(not_too_large), AfterValidator(without_reserved)]
Spoken = Annotated[AnyText, Field(max_length=LONGEST_ID), NullIs("")]


@sent
@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectNames:
    org_id: Name = UNIVERSAL
    project_id: Name = UNIVERSAL

    @property
    def project(self) -> str:
        """Organisation and project as one name; neither has a slash."""
        return f"{self.org_id}/{self.project_id}"


@sent
@dataclass(frozen=True, slots=True, kw_only=True)
class NewProject(ProjectNames):
    description: Annotated[AnyText, Field(max_length=500)] = ""
    config: Annotated[Free, NullIs({})] = field(default_factory=dict)


@sent
@dataclass(frozen=True, slots=True, kw_only=True)
class MemMachineMessage:
    """A message; its metadata names its user (`user_id`) and its session."""

    content: Text
    producer: Spoken = "user"
    produced_for: Spoken = ""
    timestamp: Annotated[datetime, BeforeValidator(_moment)] | None = None
    role: Spoken = ""
    metadata: Annotated[Texts, NullIs({})] = field(default_factory=dict)


@sent
@dataclass(frozen=True, slots=True, kw_only=True)
class MemMachineAdd(ProjectNames):
    messages: Annotated[tuple[MemMachineMessage, ...], Field(min_length=1, max_length=MOST_MESSAGES)]
    types: Annotated[tuple[MemoryType, ...], NullIs(())] = ()


@sent
@dataclass(frozen=True, slots=True, kw_only=True)
class MemMachineSearch(ProjectNames):
    query: Annotated[Text, Field(max_length=LONGEST_QUERY)]
    top_k: Annotated[int, Field(ge=1), NullIs(10)] = 10
    filter: Annotated[AnyText, NullIs("")] = ""
    set_metadata: Annotated[Free, NullIs({})] = field(default_factory=dict)
    expand_context: Annotated[int, Field(ge=0, le=100), NullIs(0)] = 0
    score_threshold: Annotated[Number, Field(ge=0, le=1)] | None = None
    types: Annotated[tuple[MemoryType, ...], NullIs(())] = ()
    agent_mode: Annotated[Flag, NullIs(False)] = False


@sent
@dataclass(frozen=True, slots=True, kw_only=True)
class MemMachineList(ProjectNames):
    page_size: Annotated[int, Field(ge=1, le=1000), NullIs(100)] = 100
    page_num: Annotated[int, Field(ge=0, le=1_000_000), NullIs(0)] = 0
    filter: Annotated[AnyText, NullIs("")] = ""
    set_metadata: Annotated[Free, NullIs({})] = field(default_factory=dict)
    type: MemoryType | None = None


@sent
@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodicIds(ProjectNames):
    episodic_id: uuid.UUID | None = None
    episodic_ids: Annotated[tuple[uuid.UUID, ...], Field(max_length=100), NullIs(())] = ()

    @property
    def ids(self) -> list[uuid.UUID]:
        return [*([self.episodic_id] if self.episodic_id else []), *self.episodic_ids]


@sent
@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticIds(ProjectNames):
    semantic_id: Annotated[AnyText, NullIs("")] = ""
    semantic_ids: Annotated[tuple[Text, ...], Field(max_length=100), NullIs(())] = ()

    @property
    def ids(self) -> list[str]:
        return [each for each in (self.semantic_id, *self.semantic_ids) if each]


@sent
@dataclass(frozen=True, slots=True, kw_only=True)
class NewSemanticFeature(ProjectNames):
    set_id: OwnId
    category_name: Text
    tag: Text
    feature: Text
    value: Text
    feature_metadata: Annotated[Metadata, NullIs({})] = field(default_factory=dict)
    citations: Annotated[tuple[uuid.UUID, ...], NullIs(())] = ()


@sent
@dataclass(frozen=True, slots=True, kw_only=True)
class NamedFeature(ProjectNames):
    feature_id: uuid.UUID
    load_citations: Annotated[Flag, NullIs(False)] = False


@sent
@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureUpdate(ProjectNames):
    feature_id: uuid.UUID
    category_name: Text | None = None
    tag: Text | None = None
    feature: Text | None = None
    value: Text | None = None
    metadata: Metadata | None = None


@sent
@dataclass(frozen=True, slots=True, kw_only=True)
class NamedSet(ProjectNames):
    """The set of a user's features: {"metadata_tags": ["user_id"], "set_metadata":
    {"user_id": "ada"}}."""

    is_org_level: Annotated[Flag, NullIs(False)] = False
    metadata_tags: Annotated[tuple[Text, ...], NullIs(())] = ()
    set_metadata: Annotated[Free, NullIs({})] = field(default_factory=dict)
