"""The contents of a person's page, read in few queries however much there is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

from django.db.models import OuterRef, Q, Subquery
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memories.admin.cases.case_cards import case_cards, with_statements
from memories.index import row_marks, subjects
from memories.language.english import statements
from memories.language.english.calendar import DateOrder
from memories.language.english.dates import last_day
from memories.models import (
    Case,
    Category,
    Conversation,
    Episode,
    FactType,
    Feature,
    FeatureCitation,
    Memory,
    MemoryUse,
    SearchUse,
    SubjectMerge,
    Supersession,
    WorkspaceIndex,
)
from workspaces.adminbase.act_words import act_words
from workspaces.adminbase.target_names import describe_targets, kind_text
from workspaces.models import AuditEntry, Subject
from workspaces.models.workspace import first_uuid7
from workspaces.scope import Scope

NEWEST = 300  # live memories that the page looks at
AT_FIRST = 5  # memories of a part that are shown before the rest is asked for
PER_PART = 30
MOST = 8
LOOKED_AT = 500  # newest episodes of a subject, for their conversations
MOST_FEATURES = 300
MOST_SERVED = 100
WEEK = timedelta(days=7)
# Acts of people and programs on a memory; new memories are marked as new in their parts instead.
ACTS = (
    "create",
    "edit",
    "forget",
    "restore",
    "approve",
    "reject",
    "keep_both",
    "undo",
    "move",
    "merge",
    "separate",
    "split",
    "change",
    "edit_feature",
    "delete_feature",
    "add_feature",
)
# Attributes with one value at a time that say who somebody is, not how things are now.
LASTING = frozenset(
    {
        "age",
        "birthday",
        "boyfriend",
        "called",
        "email",
        "fiance",
        "hair",
        "height",
        "language",
        "name",
        "phone",
        "relationship",
        "spouse",
    }
)
PARTS: dict[str, tuple[str | Promise, str | Promise]] = {
    "who": (_("Who"), _("Nothing tells yet who this is.")),
    "now": (_("Now"), _("Nothing tells yet where they live or what they do.")),
    "preferences": (_("Preferences"), _("No likes or dislikes are known yet.")),
    "plans": (_("Plans"), _("No plans are known.")),
    "instructions": (_("Instructions"), _("They asked for nothing that always holds.")),
    "also": (_("Also known"), ""),
}

Sections = dict[str, dict[str, list[Feature]]]


@dataclass(slots=True)
class ShownMemory:
    """A memory as the page shows it; `features` are those based on it."""

    memory: Memory
    is_new: bool
    features: list[Feature] = field(default_factory=list)


@dataclass(slots=True)
class KnownPart:
    """One part of a person's page; `more` is how many of the newest memories are not shown."""

    name: str
    memories: list[ShownMemory] = field(default_factory=list)
    more: int = 0

    @property
    def title(self) -> str:
        return str(PARTS[self.name][0])

    @property
    def empty(self) -> str:
        return str(PARTS[self.name][1])

    @property
    def first(self) -> list[ShownMemory]:
        return self.memories[:AT_FIRST]

    @property
    def rest(self) -> list[ShownMemory]:
        return self.memories[AT_FIRST:]


@dataclass(frozen=True, slots=True)
class DuplicatePair:
    """Two live memories that the model takes for the same statement. `conflicts`: they give the
    same thing two values, and nobody was asked about it."""

    older: Memory
    newer: Memory
    cosine: float
    conflicts: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """A change of this week: `did` in plain words, what was changed, and by whom; `line` is its
    line of the audit log, `memory` the memory that is no longer believed."""

    at: datetime
    did: str
    what: str
    actor: str
    reason: str = ""
    line: AuditEntry | None = None
    memory: Memory | None = None


@dataclass(frozen=True, slots=True)
class OpenCase:
    """A case that waits: its question, and its newest words."""

    case: Case
    about: str
    text: str


def newest(scope: Scope, subject: Subject) -> list[Memory]:
    rows = Memory.objects.visible_to(scope).live().filter(subject=subject)
    return list(rows.order_by("-id")[:NEWEST])


def parts_of(memories: Sequence[Memory], index: WorkspaceIndex) -> dict[str, KnownPart]:
    """Sort the memories into parts: pinned ones first, then the newest."""
    parts = {name: KnownPart(name) for name in PARTS}
    now = timezone.now()
    for memory in sorted(memories, key=lambda each: not each.pinned):
        part = parts[_part_of(memory, now.date(), index.date_order)]
        if len(part.memories) == PER_PART:
            part.more += 1
        else:
            part.memories.append(ShownMemory(memory, memory.created_at >= now - WEEK))
    return parts


def _part_of(memory: Memory, today: date, order: DateOrder) -> str:
    day = memory.event_date.date() if memory.event_date else None
    is_past = day is not None and last_day(memory.content, day, order) < today
    if memory.valid_until is not None and memory.valid_until.date() <= today:
        return "also"
    if memory.fact_type == FactType.SYSTEM or memory.category in (
        Category.INSTRUCTION,
        Category.POLICY,
    ):
        return "instructions"
    if Category.PREFERENCE in (memory.category, memory.fact_type):
        return "preferences"
    is_who = memory.fact_type == FactType.PROFILE or memory.category in (
        Category.IDENTITY,
        Category.RELATIONSHIP,
    )
    told = {slot.name for slot in statements.read(memory.content).slots} if memory.slots else set()
    if is_who and told & LASTING:  # a birthday in the future is no plan
        return "who"
    if memory.category == Category.PLAN or (day is not None and day > today):
        return "also" if is_past else "plans"
    if memory.slots:
        return "now"
    if is_who:
        return "who"
    return "now" if memory.category == Category.TEMPORAL and not is_past else "also"


def changes_of_week(scope: Scope, subject: Subject) -> list[Change]:
    """Return the changes of the last week: what people and programs did by hand, and what newer
    words replaced, newest first."""
    since = timezone.now() - WEEK
    acts = AuditEntry.objects.filter(
        workspace_id=subject.workspace_id,
        action__in=ACTS,
        subject_id=subject.pk,
        pk__gte=first_uuid7(since),
    )
    lines: list[Any] = list(acts.order_by("-id")[:MOST])
    for line in lines:
        line.subject_id = None  # the name of the page's person need not be looked up
    describe_targets([line for line in lines if line.target_kind != "subject"])
    changes = []
    for line in lines:  # for acts on the page's person, only the kind
        words = "" if line.target_kind == "subject" else line.words
        target = words or kind_text(line.target_kind)
        changes.append(Change(line.created_at, act_words(line), target, line.actor, line.reason, line))
    # An edit is among the acts already.
    replaced = Supersession.objects.visible_to(scope).exclude(rule="edit")
    replaced = replaced.filter(
        state=Supersession.State.APPLIED, waited=False, old__subject=subject, decided_at__gte=since
    )
    for each in replaced.select_related("old").order_by("-id")[:MOST]:
        changes.append(Change(each.decided_at, gettext("replaced"), each.old.content, "", memory=each.old))
    return sorted(changes, key=lambda change: change.at, reverse=True)[:MOST]


def open_cases(scope: Scope, subject: Subject) -> list[OpenCase]:
    """Return the inbox's open cases about somebody, the most pressing first."""
    cases = Case.objects.visible_to(scope).filter(subject=subject, state=Case.State.OPEN)
    rows = with_statements(cases.order_by("-rank", "-id"))[:MOST]
    return [OpenCase(card.case, card.question, card.text) for card in case_cards(list(rows), quotes=False)]


def duplicates(index: WorkspaceIndex, memories: Sequence[Memory]) -> list[DuplicatePair]:
    """Return the pairs of duplicates that nobody has decided on."""
    seen = {memory.pk: memory for memory in memories}
    alike = subjects.alike(index, list(seen))
    ids = [one for pair in alike for one in pair[:2]]
    if not ids:
        return []
    decided = Supersession.objects.filter(Q(old__in=ids) & Q(new__in=ids))
    known = {frozenset(each) for each in decided.values_list("old_id", "new_id")}
    words = row_marks.words_of(index)
    return [
        DuplicatePair(seen[older], seen[newer], cosine, _conflict(seen[older], seen[newer], words))
        for older, newer, cosine in alike
        if frozenset((older, newer)) not in known
    ]


def _conflict(older: Memory, newer: Memory, words: statements.OwnWords) -> bool:
    """Tell whether the two cannot both be true, by what they say."""
    was, now = (statements.read(each.content, words) for each in (older, newer))
    return statements.relation(was, now, cosine=None, threshold=1.0, words=words).kind in (
        "update",
        "unsure",
    )


def conversations(subject: Subject, most: int = MOST) -> list[Any]:
    """Return the subject's conversations, and others in which something was said about it. Each has
    `last_at`, the time of its last message, and `last_position`."""
    heard = Episode.objects.filter(subject=subject, conversation__isnull=False).order_by("-id")
    own = Conversation.objects.filter(subject=subject).order_by("-id")
    ids = own.values("pk")[:most].union(heard.values("conversation_id")[:LOOKED_AT])
    said = Episode.objects.filter(conversation=OuterRef("pk"))
    rows = Conversation.objects.filter(pk__in=ids).select_related("agent")
    rows = rows.annotate(
        last_at=Subquery(said.order_by("-occurred_at", "-position").values("occurred_at")[:1]),
        last_position=Subquery(said.order_by("-position").values("position")[:1]),
    )
    return list(rows.order_by("-id")[:most])


def served(subject: Subject) -> list[SearchUse]:
    """Return counts of searches for what is known of somebody, by day and asker, newest first."""
    rows = SearchUse.objects.filter(workspace_id=subject.workspace_id, subject=subject)
    return list(rows.order_by("-day", "-searches")[:MOST_SERVED])


def served_memories(scope: Scope, subject: Subject) -> list[MemoryUse]:
    """Return which memories about somebody were served, by day and asker, the newest first."""
    own = Memory.objects.visible_to(scope).filter(subject=subject)
    rows = MemoryUse.objects.filter(workspace_id=subject.workspace_id, memory__in=own)
    return list(rows.select_related("memory").order_by("-day", "-times", "-memory")[:PER_PART])


def merges(subject: Subject) -> list[SubjectMerge]:
    """Return the merges of this subject into others, and of others into it, that still stand."""
    of_it = SubjectMerge.objects.filter(Q(source=subject) | Q(target=subject), undone_at=None)
    return list(of_it.select_related("source", "target").order_by("-id")[:MOST])


def features(scope: Scope, subject: Subject) -> list[Feature]:
    rows = Feature.objects.visible_to(scope).live().filter(subject=subject)
    return list(rows.order_by("category", "tag", "feature", "-id")[:MOST_FEATURES])


def sections_of(rows: Iterable[Feature]) -> Sections:
    """Group features by category and tag, in the order in which they come."""
    sections: Sections = {}
    for feature in rows:
        sections.setdefault(feature.category, {}).setdefault(feature.tag, []).append(feature)
    return sections


def beside_memories(parts: Iterable[KnownPart], rows: Sequence[Feature]) -> list[Feature]:
    """Add each feature to the memory whose words it is based on; return those without such a memory
    on the page."""
    shown = {known.memory.pk: known for part in parts for known in part.memories}
    cited = FeatureCitation.objects.filter(
        feature__in=[row.pk for row in rows],
        change__is_current=True,
        fact__memory__in=list(shown),
    )
    memory_of = dict(cited.values_list("feature", "fact__memory")) if rows and shown else {}
    left = []
    for row in rows:
        if row.pk in memory_of:
            shown[memory_of[row.pk]].features.append(row)
        else:
            left.append(row)
    return left
