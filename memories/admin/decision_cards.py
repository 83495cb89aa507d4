"""Decisions as a curator reads them: both sides with what differs, their quotes, and plain
words."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone
from django.utils.timesince import timesince

from memories.admin.memory_timeline import with_quotes
from memories.english.plain_words import rule_words
from memories.models import Fact, Memory, Supersession
from memories.resolve import OLDER
from workspaces.adminbase.actors import name_of, names_of
from workspaces.adminbase.word_diff import Piece, side, word_diff

State, KEPT_BOTH = Supersession.State, Supersession.KEPT_BOTH
MOST_QUOTES = 3


@dataclass(frozen=True, slots=True)
class Side:
    """One of two memories, with the words that only it has."""

    label: str
    memory: Memory
    state: str
    pieces: list[Piece]
    facts: list[Fact]


@dataclass(frozen=True, slots=True)
class DecisionCard:
    """A decision as a page shows it; `pieces` is the new text with what was removed where it
    stood."""

    decision: Supersession
    old: Side
    new: Side
    pieces: list[Piece]
    decider: str

    @property
    def is_held(self) -> bool:
        """Whether the new memory is not believed while it waits."""
        return self.decision.new.held_at is not None

    @property
    def is_moot(self) -> bool:
        """Whether the old memory ended meanwhile, so that nothing can be replaced."""
        old = self.decision.old
        return self.decision.state == State.PENDING and not old.is_live

    @property
    def why(self) -> str:
        return rule_words(self.decision.rule)

    @property
    def did(self) -> str:
        return deed(self.decision)

    @property
    def why_not_undone(self) -> str:
        """Why an applied one offers no undo, "" where it does."""
        if self.decision.state != State.APPLIED or self.undoing:
            return ""
        return "a newer version replaced it: undo that first, in its chain"

    @property
    def ago(self) -> str:
        return ago(self.decision)

    @property
    def undoing(self) -> str:
        """The verb that takes it back, "" where there is none."""
        return undoing(self.decision)


def decision_cards(decisions: Sequence[Supersession]) -> list[DecisionCard]:
    """Three queries for any number of decisions, which come with both memories."""
    memories = {memory for each in decisions for memory in (each.old_id, each.new_id)}
    facts: dict[Any, list[Fact]] = defaultdict(list)
    for fact in with_quotes(Fact.objects.newest_of(memories, MOST_QUOTES)):
        facts[fact.memory_id].append(fact)
    names = names_of(each.decided_by for each in decisions)
    cards = []
    for each in decisions:
        old, new = each.old, each.new
        pieces = word_diff(old.content, new.content)
        was = Side("Was", old, old.state, side(pieces, "removed"), facts[old.pk])
        becomes = Side("Becomes", new, new.state, side(pieces, "added"), facts[new.pk])
        name = names.get(each.decided_by, each.decided_by)
        cards.append(DecisionCard(each, was, becomes, pieces, name))
    return cards


def deed(decision: Supersession) -> str:
    """What was done, as in "<somebody> approved it"."""
    if decision.state == State.REJECTED:
        return KEPT_BOTH if decision.is_kept_both else "rejected it"
    if decision.state == State.APPLIED and decision.rule == "edit":
        return "corrected it"
    words = {
        State.APPLIED: "approved it" if decision.waited else "replaced it",
        State.UNDONE: "undid it",
        State.PENDING: "put it back" if decision.waited else "asked",
    }
    return words[State(decision.state)]


def undoing(decision: Supersession) -> str:
    """`undo` takes back, `redo` lets what was undone stand again; "" while it waits."""
    if decision.state == State.APPLIED:
        # What was replaced itself is taken back first; a version of the past replaced nothing.
        is_last = decision.new.superseded_by_id is None or decision.rule == OLDER
        return "undo" if is_last or decision.waited else ""
    if decision.state == State.REJECTED and decision.waited:
        return "undo"
    return "redo" if decision.state == State.UNDONE else ""


def meanwhile(decision: Supersession) -> str:
    """What somebody else did to it, and when, for whoever comes too late."""
    return f"{name_of(decision.decided_by)} {deed(decision)} {ago(decision)}."


def ago(decision: Supersession) -> str:
    since = timesince(decision.decided_at, timezone.now(), depth=1)
    return "just now" if since.startswith("0") else f"{since} ago"
