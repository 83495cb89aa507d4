"""Decisions and cases as a curator reads them: both sides of a decision with their differences, and
the statements of a case on a timeline, each with its quotes and a plain explanation."""

import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Prefetch, Q
from django.utils import timezone
from django.utils.timesince import timesince
from django.utils.translation import gettext

from memories.admin.memories.memory_timeline import with_quotes
from memories.belief.cases.case_decision import DOUBTED, doubted, is_about_an_end, is_waiting, newest_of, standing
from memories.belief.resolve import OLDER
from memories.belief.resolve.file_cases import DRAWN, ENDED, QUESTIONED
from memories.language.english.case_words import holds_no_more, holds_still, question_of, question_of_order, short_names
from memories.language.english.plain_words import attribute_words, rule_words
from memories.models import DOUBTS, SAMPLED, Case, CaseItem, Fact, Intent, Memory, MemoryState, Supersession, Touch
from workspaces.adminbase.target_names import name_of, names_of
from workspaces.adminbase.word_diff import Piece, side, word_diff

# Cases as a curator reads them: every statement on a timeline, with quotes and plain words.

MOST_QUOTES = 3
KINDS = {
    "held": ("front_hand", "held back until you decide"),
    "quarantine": ("help", "not believed until you decide"),
    "uncertain": ("question_mark", "uncertain until you decide"),
    "intent": ("record_voice_over", "asked for in a message"),
}
ORDERS = {
    "forget": "asks to forget",
    "never": "asks never to mention",
    "retract": "takes back",
    "correct": "corrects",
    "remember": "asks to remember",
}
# Choices for a statement among several; the second set is for a statement that is only doubted.
CHOICES = {"keep": "Keep", "replace": "Replaced by the newest", "forget": "Forget"}
CHOICES_IN_DOUBT = {"keep": "Still true", "end": "Not true any more", "forget": "Never was"}


@dataclass(frozen=True, slots=True)
class CaseButton:
    """A way to decide a case, labelled by its effect; `key` is its key in the inbox."""

    verb: str
    key: str
    label: str
    look: str = ""


@dataclass(frozen=True, slots=True)
class CaseStatement:
    """One line of the timeline. `choice` is what becomes of it where everything is approved;
    `choices` has the alternatives by value, {} where there is nothing to choose."""

    item: CaseItem
    state: str
    order: Intent | None
    pieces: list[Piece]
    facts: list[Fact]
    later: list[Touch]
    choice: str
    choices: dict[str, str]

    @property
    def memory(self) -> Memory | None:
        return self.item.memory

    @property
    def fact(self) -> Fact | None:
        return self.item.fact

    @property
    def asks(self) -> str:
        """The order of the statement in plain words, "" where it has none."""
        return ORDERS[self.order.kind] if self.order else ""


@dataclass(frozen=True, slots=True)
class CaseCard:
    """A case as a page shows it."""

    case: Case
    statements: list[CaseStatement]
    newest: Memory | None
    decider: str

    @property
    def is_held(self) -> bool:
        return any(each.state == MemoryState.HELD for each in self.statements)

    @property
    def kind(self) -> tuple[str, str]:
        """An icon, and a line on what is believed meanwhile."""
        if self.case.kind not in ("held", "contradiction"):
            return KINDS[self.case.kind]
        if self.is_held:
            return KINDS["held"]
        return ("call_split", f"{'both' if self.is_pair else 'all'} believed until you decide")

    @property
    def orders(self) -> list[Intent]:
        """The orders in the case that wait for a decision."""
        rows = [each.order for each in self.statements if each.order]
        return [row for row in rows if row.state == Intent.State.CASE]

    @property
    def unseen(self) -> int:
        """The number of memories that the orders name and the case does not show."""
        named = {pk for row in self.orders for pk in row.memory_ids}
        return len(named - {each.item.memory_id for each in self.statements})

    @property
    def work(self) -> str:
        """The progress of a decision that is being carried out, "" where none is."""
        case: Any = self.case
        if case.work_since is None:
            return ""
        told = {"done": case.work_done, "total": case.work_total or case.work_done}
        return gettext("being carried out: %(done)s of %(total)s texts") % told

    @property
    def about(self) -> str:
        orders = [each.asks for each in self.statements if each.order]
        return orders[0] if orders else attribute_words(self.case.attribute)

    @property
    def is_about_end(self) -> bool:
        """Tell whether the case asks only if something still holds."""
        return is_about_an_end([each.item for each in self.statements], self.newest)

    @property
    def who(self) -> str:
        return str(self.case.subject) if self.case.subject else ""

    @property
    def question(self) -> str:
        """The question that the case asks, as its title."""
        orders = self.orders or [each.order for each in self.statements if each.order]
        if orders:
            return question_of_order(orders[0].kind, self.who)
        kind = "uncertain" if self.is_about_end else self.case.kind
        texts = [each.item.memory.content for each in self.statements if each.item.memory]
        return question_of(kind, self.case.attribute, self.who, texts)

    @property
    def buttons(self) -> list[CaseButton]:
        """The ways to decide the case, each labelled by its effect."""
        items = [each.item for each in self.statements]
        if self.orders:
            yes, no = "Do it", "Leave it"
        elif self.is_about_end:
            return self._of_an_end(doubted(items))
        elif len(names := self._rivals(standing(items))) > 1:
            return self._of_rivals(names)
        else:
            yes, no = "Believe it", "Do not believe it"
        return [CaseButton("approve", "a", yes, "yes"), CaseButton("reject", "r", no, "no")]

    def _rivals(self, memories: Sequence[Memory]) -> list[str]:
        """Return short names of the memories that cannot all be true, the newest last."""
        newest = self.newest
        others = [m for m in memories if m != newest and m not in self._doubted]
        rows = [*others, newest] if newest else others
        return short_names([memory.content for memory in rows])

    @property
    def _doubted(self) -> list[Memory]:
        return doubted([each.item for each in self.statements])

    def _of_rivals(self, names: list[str]) -> list[CaseButton]:
        *olds, new = names
        old = olds[0] if len(olds) == 1 else ""
        is_short = all("“" not in name for name in names)
        return [
            CaseButton("approve", "a", f"{new} is right" if is_short else "The newest is right", "yes"),
            CaseButton("keep-both", "b", "Both are true" if old else "All are true"),
            CaseButton(
                "reject",
                "r",
                f"{old} is right" if old and is_short else "What was known is right",
                "no",
            ),
        ]

    def _of_an_end(self, memories: Sequence[Memory]) -> list[CaseButton]:
        """Return the buttons "Antwerp is right: swims there no more", and "Still swims there"."""
        since = [each.item for each in self.statements if each.item.why == ENDED]
        values = [item.memory.content for item in since if item.memory]
        named = short_names(values)[-1:] if len(values) > 1 else []
        is_live = bool(since and since[-1].memory and since[-1].memory.is_live)
        begin = f"{named[0]} is right: " if named and is_live and "“" not in named[0] else ""
        if len(memories) == 1:
            ended, kept = (f(memories[0].content, self.who) for f in (holds_no_more, holds_still))
        else:
            ended, kept = "None of them holds any more", "All of them still hold"
        ended = f"{begin}{ended[0].lower()}{ended[1:]}" if begin else ended
        return [
            CaseButton("approve", "a", ended, "yes"),
            CaseButton("keep-both", "b", kept),
        ]

    @property
    def whys(self) -> list[str]:
        """The reasons to ask, each once."""
        reasons = [each.fact.quarantine_reason for each in self.statements if each.fact]
        reasons += [f"asked because: {row.reason}" for row in self.orders if row.reason]
        words = [] if self.orders else [rule_words(each.item.why) for each in self.statements if each.item.why]
        return list(dict.fromkeys([*reasons, *words]))

    @property
    def is_pair(self) -> bool:
        return len(self.statements) == 2 and not self.orders and not self.is_about_end

    @property
    def has_choices(self) -> bool:
        """Tell whether each statement can be decided by itself."""
        if self.is_about_end:
            return sum(bool(each.choices) for each in self.statements) > 1
        return sum(bool(each.choices or not each.memory) for each in self.statements) > 2

    @property
    def waited(self) -> str:
        since = timesince(self.case.created_at, timezone.now(), depth=1)
        return "just now" if since.startswith("0") else f"{since} ago"

    @property
    def text(self) -> str:
        """The subject matter of the case, in the newest words."""
        if self.newest is not None:
            return self.newest.content
        if self._doubted:
            return self._doubted[0].content
        quotes = [each.order.quote for each in self.statements if each.order]
        facts = [each.fact.statement for each in self.statements if each.fact]
        return next(iter([*quotes, *facts]), self.about)


def with_statements(rows: Any) -> Any:
    items = CaseItem.objects.select_related("memory", "fact").order_by("at", "pk")
    return (
        rows.with_work()
        .select_related("workspace", "subject", "assignee__user")
        .prefetch_related(Prefetch("items", items))
    )


def case_cards(cases: Sequence[Case], *, quotes: bool = True) -> list[CaseCard]:
    """Make the cards of cases loaded `with_statements`, in few queries for any number; without
    `quotes` in fewer."""
    memories = {item.memory_id for case in cases for item in case.items.all() if item.memory_id}
    own = {item.fact_id for case in cases for item in case.items.all() if item.fact_id}
    facts: dict[Any, list[Fact]] = defaultdict(list)
    if quotes:
        for fact in with_quotes(Fact.objects.newest_of(memories, MOST_QUOTES)):
            facts[fact.memory_id].append(fact)
        for fact in with_quotes(Fact.objects.filter(pk__in=own)):
            facts[fact.pk].append(fact)
    later: dict[Any, list[Touch]] = defaultdict(list)
    questioned = {item.memory_id for case in cases for item in case.items.all() if item.why in (QUESTIONED, DRAWN)}
    if quotes and questioned:
        asked_about = Q(relation__in=DOUBTS) | Q(draw__lt=SAMPLED)
        for touch in Touch.objects.filter(asked_about, memory__in=questioned).newest(MOST_QUOTES):
            later[touch.memory_id].append(touch)
    asked = {item.intent for case in cases for item in case.items.all() if item.intent}
    orders = Intent.objects.select_related("episode").in_bulk(asked)
    names = names_of(case.decided_by for case in cases if case.decided_by)
    waiting = defaultdict(list)
    pairs = Supersession.objects.filter(case__in=cases, state=Supersession.State.PENDING)
    for case_id, new_id in pairs.values_list("case", "new"):
        waiting[case_id].append(new_id)
    return [
        _card(case, facts, later, waiting[case.pk], orders, names.get(case.decided_by, case.decided_by))
        for case in cases
    ]


def card_of(case: Case) -> CaseCard:
    """Return the card of a case loaded `with_statements`. It is made once, though the page needs it
    for its text, its buttons and their forms."""
    held = vars(case)
    if "card" not in held:
        [held["card"]] = case_cards([case])
    card: CaseCard = held["card"]
    return card


def _card(
    case: Case,
    facts: dict[Any, list[Fact]],
    later: dict[Any, list[Touch]],
    waiting: list[uuid.UUID],
    orders: Mapping[uuid.UUID, Intent],
    decider: str,
) -> CaseCard:
    items = list(case.items.all())
    newest = newest_of(items, waiting)
    own_orders = [orders.get(item.intent) if item.intent else None for item in items]
    named = {pk for row in own_orders if row for pk in row.memory_ids}
    texts = [
        item.memory.content if item.memory else item.fact.statement if item.fact else order.quote if order else ""
        for item, order in zip(items, own_orders, strict=True)
    ]
    pieces = [[Piece("same", text)] for text in texts]
    is_about_end = is_about_an_end(items, newest)
    if len(items) == 2 and not any(own_orders) and not is_about_end:
        both = word_diff(*texts)
        pieces = [side(both, "removed"), side(both, "added")]
    statements = []
    for item, order, own in zip(items, own_orders, pieces, strict=True):
        is_asked = order is not None and order.state == Intent.State.CASE
        waits = is_asked or is_waiting(item)
        state = item.memory.state if item.memory else "waits" if waits else "decided"
        choice = "keep" if newest is None or item.memory_id == newest.pk else "replace"
        choice = "keep" if item.why in DOUBTED else choice
        choice = "forget" if item.memory_id in named else choice
        quotes = facts[item.memory_id or item.fact_id]
        choices = _choices(item, state, is_about_end=is_about_end)
        statements.append(CaseStatement(item, state, order, own, quotes, later[item.memory_id], choice, choices))
    return CaseCard(case, statements, newest, decider)


def _choices(item: CaseItem, state: str, *, is_about_end: bool) -> dict[str, str]:
    is_over = state in (MemoryState.SUPERSEDED, MemoryState.FORGOTTEN)
    if item.memory is None or is_over or (is_about_end and item.why not in DOUBTED):
        return {}
    return CHOICES_IN_DOUBT if item.why in DOUBTED else CHOICES


State, KEPT_BOTH = Supersession.State, Supersession.KEPT_BOTH


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
    """A decision as a page shows it; `pieces` is the new text, with removed words where they
    stood."""

    decision: Supersession
    old: Side
    new: Side
    pieces: list[Piece]
    decider: str

    @property
    def is_held(self) -> bool:
        """Tell whether the new memory is not believed while it waits."""
        return self.decision.new.held_at is not None

    @property
    def is_moot(self) -> bool:
        """Tell whether the old memory has ended meanwhile, so that nothing can be replaced."""
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
        """The reason why an applied decision offers no undo, otherwise ""."""
        if self.decision.state != State.APPLIED or self.undoing:
            return ""
        return "a newer version replaced it: undo that first, in its chain"

    @property
    def outcome(self) -> str:
        """The result in a sentence: which of the two memories are believed now."""
        old, new = short_names([self.decision.old.content, self.decision.new.content])
        was, now = self.decision.old.is_live, self.decision.new.is_live
        if was and now:
            return f"{old} and {new} are both believed."
        if now:
            return f"{new} is believed; {old} is not any more."
        if was:
            return f"{old} is believed; {new} is not."
        return f"{old} and {new} are not believed any more."

    @property
    def ago(self) -> str:
        return ago(self.decision)

    @property
    def undoing(self) -> str:
        """The verb that takes the decision back, "" where there is none."""
        return undoing(self.decision)


def decision_cards(decisions: Sequence[Supersession]) -> list[DecisionCard]:
    """Make the cards of decisions loaded with both memories, in three queries for any number."""
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
    """Return the act in words, as in "<somebody> approved it"."""
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
    """Return `undo` to take the decision back, `redo` to apply it again, or "" for neither."""
    if decision.state == State.APPLIED:
        # A later replacement is undone first; a version of the past replaced nothing.
        is_last = decision.new.superseded_by_id is None or decision.rule == OLDER
        return "undo" if is_last or decision.waited else ""
    if decision.state == State.REJECTED and decision.waited:
        return "undo"
    return "redo" if decision.state == State.UNDONE else ""


def meanwhile(decision: Supersession) -> str:
    """Return a sentence on what somebody else did to it, and when, for a person who comes too
    late."""
    return f"{name_of(decision.decided_by)} {deed(decision)} {ago(decision)}."


def ago(decision: Supersession) -> str:
    since = timesince(decision.decided_at, timezone.now(), depth=1)
    return "just now" if since.startswith("0") else f"{since} ago"
