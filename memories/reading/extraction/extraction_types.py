"""Types that extraction takes and returns, and the visibility that a claim's category implies."""

import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple

from memories.belief.resolve import Claim
from memories.errors import ProviderError
from memories.language.english.calendar import DateOrder
from memories.language.english.patterns.pattern import TEAM_CATEGORIES
from memories.language.english.referents import UNKNOWN
from memories.language.english.topics import is_private_life, is_work, told_by_us
from memories.language.english.workspace_patterns import OwnPattern
from memories.models import Category, Episode, MemorySession, Visibility
from memories.providers.prompts import DecidedExample
from memories.reading import guard
from memories.reading.extraction.trust import DEFAULT_TRUST, SOURCE_OF
from memories.reading.extraction.workspace_instructions import Instructions
from memories.reading.guard import served_line
from memories.reading.guard.masked_text import is_masked

SPEAKING = (
    Episode.Kind.USER,
    Episode.Kind.ASSISTANT,
    Episode.Kind.TEXT,
    Episode.Kind.ACTIVITY,
)
Span = tuple[int, int]
NO_UNSURE: Mapping[uuid.UUID, str] = MappingProxyType({})
ROLES = frozenset(("user", "human"))  # as callers put them where a name belongs
NEW_LINE, BULLETS = "\n", "… \t\r\n-*•>"


OF_TEAM = ("Team ", "The team's ")


class Voice(NamedTuple):
    """A place in a message of somebody else's `words`, which begin behind a label; "" as a `name` is nobody's."""

    start: int
    end: int
    words: int
    name: str


@dataclass(frozen=True, slots=True)
class Message:
    """One episode as extraction sees it; `index` is its place in the request.

    `served` are the places of what this server itself had served, and a document's headings: they
    are not read. `voices` are those of others in it; `is_played`: some of the served places are said in a role-play.
    """

    index: int
    id: uuid.UUID
    kind: str
    role: str
    speaker: str
    text: str
    occurred_at: datetime
    served: tuple[Span, ...] = ()
    voices: tuple[Voice, ...] = ()
    is_played: bool = False

    @property
    def readable(self) -> str:
        """The text of the same length, with other characters in the served places."""
        kept, position = [], 0
        for start, end in sorted(self.served):
            if end > position:
                start = max(start, position)
                # Not blanks alone: no quote must reach over it.
                kept += [self.text[position:start], "…".center(end - start, NEW_LINE)]
                position = end
        return "".join([*kept, self.text[position:]]) if kept else self.text

    @property
    def not_own(self) -> tuple[Span, ...]:
        """The places that are not read as its speaker's."""
        return (*self.served, *((voice.start, voice.end) for voice in self.voices))

    @property
    def is_served(self) -> bool:
        return bool(self.served) and not self.readable.strip(BULLETS)


@dataclass(frozen=True, slots=True)
class Skip:
    """A message that is not read, or a claim of it that is not kept; `label` is one of the
    gatekeeper's, `reason` may say more."""

    index: int
    reason: str
    label: str


@dataclass(frozen=True, slots=True)
class Missed:
    """A message in which no pattern fired, and what a model found; `category` is the commonest."""

    episode_id: uuid.UUID
    text: str
    statements: tuple[str, ...]
    category: str


@dataclass(frozen=True, slots=True)
class ExtractOptions:
    """The options of an extraction; `visibility` empty: by category.

    `patterns` are the workspace's own; they come before the library's. `before` are
    the messages that the conversation had already: they are context, and make no claims.
    `asks_always`: a model reads the messages that patterns covered, too. `subject`: the caller's
    own id of the person it is about, where no name is known. `date_order` is that of day and month
    in numbers. `patterns_off` are names of the library's patterns that are switched off.
    `shares`: what a team decides is the team's, as where nobody speaks for themselves alone.
    `trust` in the words of each of SOURCES. `read`: digests of the pieces that a model read before.
    `instructions` are the workspace's and the request's; `examples` looks up what people kept and threw away.
    """

    extract: str = MemorySession.Extract.AUTO
    is_whole_text: bool = False
    visibility: str = ""
    patterns: tuple[OwnPattern, ...] = ()
    before: tuple[Message, ...] = ()
    asks_always: bool = False
    subject: str = ""
    date_order: DateOrder = "auto"
    shares: bool = True
    trust: Mapping[str, str] = field(default_factory=dict)
    patterns_off: frozenset[str] = frozenset()
    read: frozenset[str] = frozenset()
    instructions: Instructions = Instructions()
    examples: Callable[[], Sequence[DecidedExample]] = tuple

    def trust_in(self, message: Message) -> str:
        source = self.source_of(message)
        return self.trust.get(source) or DEFAULT_TRUST[source]

    def source_of(self, message: Message) -> str:
        """Return the source of a message: a whole text is its sender's own words, a text among
        messages a document's."""
        is_own = message.kind == Episode.Kind.TEXT and self.is_whole_text
        return "user" if is_own else SOURCE_OF.get(message.kind, "user")

    def visibility_of(self, category: str, statement: str, words: str = "") -> str:
        """Return the visibility of a claim. "We" in a person's decision or habit may be anybody: it
        is the team's if its `words`, as they were said, are about work."""
        is_by_us = category == Category.DECISION or (category == Category.POLICY and told_by_us(words))
        is_at_home = is_by_us and not is_work(words or statement) or is_private_life(words)
        shares = self.shares and not (self.subject and is_at_home)
        return self.visibility or visibility_of(category, statement, shares=shares)


@dataclass(slots=True)
class Extraction:
    """The claims found, and why the rest made none. `error` is a model's failure; `quarantined`
    are claims without evidence, each with what is lacking. Counts: `too_long` texts to be kept
    whole exceed a memory, `unread` messages were read only in their beginning, `cut` statements
    were too long, `masked` claims had masked words, `ignored` ones say what `instructions` leave out.
    `unworthy` findings are not worth keeping. `unmeant` and `voiced` are messages with words that are not said in
    earnest, and with words of others."""

    claims: list[Claim] = field(default_factory=list)
    skipped: list[Skip] = field(default_factory=list)
    unworthy: list[Skip] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    error: ProviderError | None = None
    quarantined: list[tuple[Claim, str]] = field(default_factory=list)
    missed: list[Missed] = field(default_factory=list)
    too_long: int = 0
    unread: int = 0
    cut: int = 0
    masked: int = 0
    unmeant: set[uuid.UUID] = field(default_factory=set)
    voiced: set[uuid.UUID] = field(default_factory=set)
    ignored: int = 0
    instructions: Instructions = Instructions()
    milliseconds: dict[str, float] = field(default_factory=dict)
    steps: list[dict[str, Any]] = field(default_factory=list)

    def add(self, claims: Iterable[Claim], unsure: Mapping[uuid.UUID, str] = NO_UNSURE) -> None:
        """Add the credible ones of `claims`: none of masked words; those that stand on `unsure`
        messages alone are held, with who said them."""
        for claim in claims:
            cited = {quote.text_id for quote in claim.quotes}
            if any(map(is_masked, (claim.statement, *(quote.quote for quote in claim.quotes)))):
                self.masked += 1
            elif self.instructions.ignore and self.instructions.leave_out(claim.statement):
                self.ignored += 1
            elif places := _put_in(claim):
                safe = replace(claim, statement=guard.masked(claim.statement, places))
                self.quarantined.append((safe, guard.reason_of(places)))
            elif cited and cited <= unsure.keys():
                said = " and ".join(sorted({unsure[each] for each in cited}))
                self.quarantined.append((claim, f"only {said} said it"))
            else:
                self.claims.append(claim)

    @property
    def reason(self) -> str:
        """Return why there are not more claims, in words for people."""
        parts = list(self.notes)
        parts += [f"messages with words that are not said in earnest: {len(self.unmeant)}"] if self.unmeant else []
        parts += [f"messages with words of others, believed of nobody else: {len(self.voiced)}"] if self.voiced else []
        if self.ignored:
            parts.append(f"left out, as the instructions say: {self.ignored}")
        for heading, skips in (
            ("not worth keeping", self.unworthy),
            ("skipped", self.skipped),
        ):
            counted = Counter(skip.reason for skip in skips)
            told = [f"{reason} ({n})" if n > 1 else reason for reason, n in counted.items()]
            parts += [f"{heading}: {', '.join(told)}"] if told else []
        return "; ".join(parts)


def _put_in(claim: Claim) -> list[guard.Finding]:
    """Return the secrets and orders in a statement that arise from its wording, by names or by what
    was said before: those in the words themselves are already masked, or allowed."""
    places = guard.findings(claim.statement)
    said = {
        quote.quote[each.start : each.end]
        for quote in (claim.quotes if places else ())
        for each in guard.findings(quote.quote)
    }
    return [place for place in places if claim.statement[place.start : place.end] not in said]


def visibility_of(category: str, statement: str = "", *, shares: bool = True) -> str:
    """Return the default visibility of API.md's table: preferences and people private; the team's
    rules team, but for what no team decides, and so are statements about the team itself."""
    is_of_team = category in TEAM_CATEGORIES or statement.startswith(OF_TEAM)
    is_team = shares and is_of_team and not is_private_life(statement)
    return Visibility.TEAM if is_team else Visibility.PRIVATE


def speaker_of(kind: str, subject: str, author: str = "") -> str:
    """Return the speaker of a message: its author's name, in one line and without markup; if it has
    none that may be shown, "Assistant" or the subject's name. A role is no name."""
    is_name = author and not is_masked(author) and author.casefold() not in ROLES
    if is_name and (name := served_line.name(author)):
        return name
    return "Assistant" if kind == Episode.Kind.ASSISTANT else subject or UNKNOWN


def step(rule: str, facts: int, milliseconds: float = 0.0) -> dict[str, Any]:
    return {"rule": rule, "outcome": f"{facts} facts", "milliseconds": milliseconds}


def since(started: float) -> float:
    return round((time.perf_counter() - started) * 1e3, 2)
