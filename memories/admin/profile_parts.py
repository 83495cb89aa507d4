"""What a person's page shows, gathered in few queries however much there is."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

from django.db.models import OuterRef, Prefetch, Q, Subquery
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memories.english import statements
from memories.english.calendar import DateOrder
from memories.english.dates import last_day
from memories.english.plain_words import attribute_words
from memories.index import subjects
from memories.models import (
    Case,
    CaseItem,
    Category,
    Conversation,
    Episode,
    Fact,
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
from workspaces.adminbase.actors import describe_targets, kind_text
from workspaces.adminbase.acts import act_words
from workspaces.adminbase.list_admin import bounded_counts, count_text
from workspaces.models import AuditEntry, Subject
from workspaces.models.workspace import first_uuid7
from workspaces.scope import Scope

NEWEST = 300  # live memories that the page looks at
AT_FIRST = 5  # of a part's memories, before the rest is asked for
PER_PART = 30
MOST = 8
LOOKED_AT = 500  # newest episodes of a subject, for the conversations they stand in
MOST_FEATURES = 300
MOST_SERVED = 100
WEEK = timedelta(days=7)
# What people and programs do to a memory; what came in stands among the memories, marked as new.
ACTS = (
    "create", "edit", "forget", "restore", "approve", "reject", "keep_both", "undo", "move",
    "merge", "separate", "split", "change", "edit_feature", "delete_feature", "add_feature",
)  # fmt: skip
# Of the attributes with one value at a time those that say who somebody is, not how things are now.
LASTING = frozenset({
    "age", "birthday", "boyfriend", "called", "email", "fiance", "hair", "height", "language",
    "name", "phone", "relationship", "spouse",
})  # fmt: skip
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
    """A memory where the page shows it; `features` are those that stand on it."""

    memory: Memory
    is_new: bool
    features: list[Feature] = field(default_factory=list)


@dataclass(slots=True)
class KnownPart:
    """What the page tells of one side of somebody; `more` of the newest are not shown."""

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
    """Two live memories that the model takes for the same statement."""

    older: Memory
    newer: Memory
    cosine: float


@dataclass(frozen=True, slots=True)
class Change:
    """Something that was done this week: `did` in plain words, to what, and by whom; `line` is that
    of the audit log, `memory` what is not believed any more."""

    at: datetime
    did: str
    what: str
    actor: str
    reason: str = ""
    line: AuditEntry | None = None
    memory: Memory | None = None


@dataclass(frozen=True, slots=True)
class OpenCase:
    """A case that waits, in its newest words."""

    case: Case
    about: str
    text: str


def newest(scope: Scope, subject: Subject) -> list[Memory]:
    rows = Memory.objects.visible_to(scope).live().filter(subject=subject)
    return list(rows.order_by("-id")[:NEWEST])


def parts_of(memories: Sequence[Memory], index: WorkspaceIndex) -> dict[str, KnownPart]:
    """Each of the memories in one part, what is pinned first, then the newest."""
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
    if is_who and told & LASTING:  # the next birthday is no plan
        return "who"
    if memory.category == Category.PLAN or (day is not None and day > today):
        return "also" if is_past else "plans"
    if memory.slots:
        return "now"
    if is_who:
        return "who"
    return "now" if memory.category == Category.TEMPORAL and not is_past else "also"


def changes_of_week(scope: Scope, subject: Subject) -> list[Change]:
    """What people and programs did by hand, and what was replaced by newer words; the newest
    first."""
    since = timezone.now() - WEEK
    acts = AuditEntry.objects.filter(
        workspace_id=subject.workspace_id,
        action__in=ACTS,
        subject_id=subject.pk,
        pk__gte=first_uuid7(since),
    )
    lines: list[Any] = list(acts.order_by("-id")[:MOST])
    for line in lines:
        line.subject_id = None  # whose name need not be looked up
    describe_targets([line for line in lines if line.target_kind != "subject"])
    changes = []
    for line in lines:  # of a person, whose page this is, only the kind
        words = "" if line.target_kind == "subject" else line.words
        target = words or kind_text(line.target_kind)
        changes.append(
            Change(line.created_at, act_words(line), target, line.actor, line.reason, line)
        )
    # An edit is told by its act.
    replaced = Supersession.objects.visible_to(scope).exclude(rule="edit")
    replaced = replaced.filter(
        state=Supersession.State.APPLIED, waited=False, old__subject=subject, decided_at__gte=since
    )
    for each in replaced.select_related("old").order_by("-id")[:MOST]:
        changes.append(
            Change(each.decided_at, gettext("replaced"), each.old.content, "", memory=each.old)
        )
    return sorted(changes, key=lambda change: change.at, reverse=True)[:MOST]


def open_cases(scope: Scope, subject: Subject) -> list[OpenCase]:
    """What waits for a decision about somebody, the most pressing first."""
    items = CaseItem.objects.select_related("memory", "fact").order_by("-at", "-pk")
    cases = Case.objects.visible_to(scope).filter(subject=subject, state=Case.State.OPEN)
    found = []
    for case in cases.order_by("-rank", "-id").prefetch_related(Prefetch("items", items))[:MOST]:
        texts = [
            getattr(each.memory, "content", "") or getattr(each.fact, "statement", "")
            for each in case.items.all()
        ]
        about = attribute_words(case.attribute)
        found.append(OpenCase(case, about, next(filter(None, texts), about)))
    return found


def duplicates(index: WorkspaceIndex, memories: Sequence[Memory]) -> list[DuplicatePair]:
    """Pairs that nobody decided on yet."""
    seen = {memory.pk: memory for memory in memories}
    alike = subjects.alike(index, list(seen))
    ids = [one for pair in alike for one in pair[:2]]
    if not ids:
        return []
    decided = Supersession.objects.filter(Q(old__in=ids) & Q(new__in=ids))
    known = {frozenset(each) for each in decided.values_list("old_id", "new_id")}
    return [
        DuplicatePair(seen[older], seen[newer], cosine)
        for older, newer, cosine in alike
        if frozenset((older, newer)) not in known
    ]


def conversations(subject: Subject, most: int = MOST) -> list[Any]:
    """Those that are its own, and those of others in which something was said of it; each with
    `last_at`, when something was said there last, and `last_position`."""
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
    """How often was searched for what is known of somebody, by day and asker, the newest first."""
    rows = SearchUse.objects.filter(workspace_id=subject.workspace_id, subject=subject)
    return list(rows.order_by("-day", "-searches")[:MOST_SERVED])


def served_memories(scope: Scope, subject: Subject) -> list[MemoryUse]:
    """Which of their memories were served, by day and asker, the newest first."""
    own = Memory.objects.visible_to(scope).filter(subject=subject)
    rows = MemoryUse.objects.filter(workspace_id=subject.workspace_id, memory__in=own)
    return list(rows.select_related("memory").order_by("-day", "-times", "-memory")[:PER_PART])


def merges(subject: Subject) -> list[SubjectMerge]:
    """What this subject was merged into, and what into it, as long as that stands."""
    of_it = SubjectMerge.objects.filter(Q(source=subject) | Q(target=subject), undone_at=None)
    return list(of_it.select_related("source", "target").order_by("-id")[:MOST])


def features(scope: Scope, subject: Subject) -> list[Feature]:
    rows = Feature.objects.visible_to(scope).live().filter(subject=subject)
    return list(rows.order_by("category", "tag", "feature", "-id")[:MOST_FEATURES])


def sections_of(rows: Iterable[Feature]) -> Sections:
    """By category and tag, in the order in which they come."""
    sections: Sections = {}
    for feature in rows:
        sections.setdefault(feature.category, {}).setdefault(feature.tag, []).append(feature)
    return sections


def beside_memories(parts: Iterable[KnownPart], rows: Sequence[Feature]) -> list[Feature]:
    """Hang each feature on the memory whose words it stands on; those that no memory of the page
    says."""
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


MOVED = {Memory: "memory", Conversation: "conversation", Episode: "message", Fact: "fact",
         Feature: "feature"}  # fmt: skip
KINDS = {word: model._meta.model_name or "" for model, word in MOVED.items()}


def plan(subject: Subject) -> str:
    """What merging this subject into another one would move, in words."""
    counts = bounded_counts(
        *(model._default_manager.filter(subject=subject) for model in MOVED)  # type: ignore[misc]
    )
    return counted(zip(MOVED.values(), counts, strict=True))


def split_text(found: Mapping[str, Sequence[Any]]) -> str:
    """What would go with what was chosen, in words."""
    return counted((word, len(found.get(KINDS[word], ()))) for word in MOVED.values())


def counted(numbers: Iterable[tuple[str, int]]) -> str:
    words = [
        f"{count_text(count)} {word if count == 1 else plural_of(word)}"
        for word, count in numbers
        if count
    ]
    return ", ".join(words) or "nothing"


def plural_of(word: str) -> str:
    return f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
