"""What extraction takes and gives, and what a claim's category means."""

import time
import uuid
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memories.english.calendar_dates import DateOrder
from memories.english.private_life import is_private_life, is_work
from memories.english.talk import UNKNOWN
from memories.english.workspace_patterns import OwnPattern
from memories.errors import ProviderError
from memories.masked_text import is_masked
from memories.models import Category, Episode, FactType, MemorySession, Visibility
from memories.resolve import Claim

TYPE_OF: dict[str, str] = {
    Category.PREFERENCE: FactType.PREFERENCE,
    Category.IDENTITY: FactType.PROFILE,
    Category.RELATIONSHIP: FactType.PROFILE,
    Category.POSSESSION: FactType.PROFILE,
    Category.PLAN: FactType.EVENT,
    Category.TEMPORAL: FactType.EVENT,
    Category.INSTRUCTION: FactType.SYSTEM,
}
TEAM_CATEGORIES = (Category.POLICY, Category.TECHNOLOGY, Category.DECISION)
SPEAKING = (
    Episode.Kind.USER,
    Episode.Kind.ASSISTANT,
    Episode.Kind.TEXT,
    Episode.Kind.ACTIVITY,
)
Span = tuple[int, int]
# What becomes of claims that stand on the words of an assistant, or of a tool, alone.
TRUST = BELIEVE, HOLD, IGNORE = ("believe", "hold", "ignore")
NEW_LINE, BULLETS = "\n", "… \t\r\n-*•>"


@dataclass(frozen=True, slots=True)
class Message:
    """One episode as extraction sees it; `index` is its place in the request.

    `served` are the places of what this server itself had told: they are not read.
    """

    index: int
    id: uuid.UUID
    kind: str
    role: str
    speaker: str
    text: str
    occurred_at: datetime
    served: tuple[Span, ...] = ()

    @property
    def readable(self) -> str:
        """The text, each place as it was, with other signs where it was served."""
        kept, position = [], 0
        for start, end in sorted(self.served):
            if end > position:
                start = max(start, position)
                # Not blanks alone: no quote must reach over it.
                kept += [self.text[position:start], "…".center(end - start, NEW_LINE)]
                position = end
        return "".join([*kept, self.text[position:]]) if kept else self.text

    @property
    def is_served(self) -> bool:
        return bool(self.served) and not self.readable.strip(BULLETS)


@dataclass(frozen=True, slots=True)
class Skip:
    """A message that is not read; `label` is one of the gatekeeper's, `reason` may say more."""

    index: int
    reason: str
    label: str


@dataclass(frozen=True, slots=True)
class Missed:
    """What a model found in a message in which no pattern fired; `category` is the commonest."""

    episode_id: uuid.UUID
    text: str
    statements: tuple[str, ...]
    category: str


@dataclass(frozen=True, slots=True)
class ExtractOptions:
    """What the caller asked of an extraction; `visibility` empty: by category.

    `patterns` are the workspace's own; they come before the library's. `before` are
    the messages that the conversation had already: they are context, and make no claims.
    `asks_always`: a model reads the messages that patterns covered, too. `subject`: the caller's
    own id of whom it is about, where nobody knows a name. `languages` are read beside English;
    `date_order` is that of day and month in numbers.
    `shares`: what a team decides is the team's, as it is where no person speaks for himself.
    `trust` in an assistant's and a tool's words, by the names of `memories.workspace_settings`.
    """

    extract: str = MemorySession.Extract.AUTO
    is_whole_text: bool = False
    visibility: str = ""
    patterns: tuple[OwnPattern, ...] = ()
    before: tuple[Message, ...] = ()
    asks_always: bool = False
    subject: str = ""
    languages: tuple[str, ...] = ()
    date_order: DateOrder = "auto"
    shares: bool = True
    trust: Mapping[str, str] = field(default_factory=dict)

    def trust_in(self, message: Message) -> str:
        if message.kind == Episode.Kind.ASSISTANT:
            return self.trust.get("assistant", IGNORE)
        is_tool = message.kind in (Episode.Kind.TOOL_USE, Episode.Kind.TOOL_RESULT)
        return self.trust.get("tool", BELIEVE) if is_tool else BELIEVE

    def visibility_of(self, category: str, statement: str) -> str:
        """Of a decision a person tells, "we" may be anybody: it is the team's where it is of work."""
        shares = self.shares and not (
            self.subject and category == Category.DECISION and not is_work(statement)
        )
        return self.visibility or visibility_of(category, statement, shares=shares)


@dataclass(slots=True)
class Extraction:
    """The claims found, and why the rest made none. `error` is a model's failure; `quarantined`
    are claims without evidence, each with what is lacking. `too_long`: so many texts were to be
    kept whole and are longer than a memory; of `unread` messages only the beginning was read, `cut`
    statements were longer than one may be; so many claims held `masked` words."""

    claims: list[Claim] = field(default_factory=list)
    skipped: list[Skip] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    error: ProviderError | None = None
    quarantined: list[tuple[Claim, str]] = field(default_factory=list)
    missed: list[Missed] = field(default_factory=list)
    too_long: int = 0
    unread: int = 0
    cut: int = 0
    masked: int = 0
    milliseconds: dict[str, float] = field(default_factory=dict)
    steps: list[dict[str, Any]] = field(default_factory=list)

    def add(self, claims: Iterable[Claim], unsure: Collection[uuid.UUID] = ()) -> None:
        """What may be believed of `claims`: none of masked words; those that stand on `unsure`
        messages alone are held."""
        for claim in claims:
            cited = {quote.episode_id for quote in claim.quotes}
            if any(map(is_masked, (claim.statement, *(quote.quote for quote in claim.quotes)))):
                self.masked += 1
            elif cited and cited <= set(unsure):
                self.quarantined.append((claim, "only an assistant or a tool said it"))
            else:
                self.claims.append(claim)

    @property
    def reason(self) -> str:
        """Why there are no more claims than there are, in words for people."""
        counted: dict[str, int] = {}
        for skip in self.skipped:
            counted[skip.reason] = counted.get(skip.reason, 0) + 1
        parts = [f"{reason} ({n})" if n > 1 else reason for reason, n in counted.items()]
        return "; ".join([*self.notes, *(["skipped: " + ", ".join(parts)] if parts else [])])


def visibility_of(category: str, statement: str = "", *, shares: bool = True) -> str:
    """The default of API.md's table: preferences and people private, the team's rules team, but for
    what no team decides."""
    is_team = shares and category in TEAM_CATEGORIES and not is_private_life(statement)
    return Visibility.TEAM if is_team else Visibility.PRIVATE


def type_of(category: str) -> str:
    return TYPE_OF.get(category, FactType.FACT)


def speaker_of(kind: str, subject: str) -> str:
    """Whose words a message without an author's name are."""
    return "Assistant" if kind == Episode.Kind.ASSISTANT else subject or UNKNOWN


def step(rule: str, facts: int, milliseconds: float = 0.0) -> dict[str, Any]:
    return {"rule": rule, "outcome": f"{facts} facts", "milliseconds": milliseconds}


def since(started: float) -> float:
    return round((time.perf_counter() - started) * 1e3, 2)
