"""What a subject's page shows, gathered in few queries however much there is."""

import json
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Prefetch, Q
from django.utils import timezone

from memories.features.profile import GROUPS
from memories.index import subjects, workspace_index
from memories.models import (
    Citation,
    Conversation,
    Episode,
    Fact,
    Feature,
    Memory,
    SubjectMerge,
    Supersession,
)
from workspaces.adminbase.actors import names_of
from workspaces.adminbase.list_admin import bounded_counts, count_text
from workspaces.models import AuditEntry, Subject
from workspaces.models.workspace import first_uuid7
from workspaces.scope import Scope

NEWEST = 300  # live memories that the page looks at
PER_GROUP = 25
MOST = 8
LOOKED_AT = 500  # newest episodes of a subject, for the conversations they stand in
MOST_FEATURES = 300
WEEK = timedelta(days=7)
# What people and programs do to a memory; what came in shows as the memories of the week.
ACTS = ("create", "edit", "forget", "restore", "approve", "reject", "keep_both", "undo", "move",
        "merge", "separate")  # fmt: skip

Sections = dict[str, dict[str, list[Feature]]]
CHUNK = 500


@dataclass(frozen=True, slots=True)
class MemoryGroup:
    """Memories of one kind; `more` of the newest are not shown."""

    name: str
    memories: Sequence[Memory]
    more: int


@dataclass(frozen=True, slots=True)
class DuplicatePair:
    """Two live memories that the model takes for the same statement."""

    older: Memory
    newer: Memory
    cosine: float


def newest(scope: Scope, subject: Subject) -> list[Memory]:
    rows = Memory.objects.visible_to(scope).live().filter(subject=subject)
    return list(rows.order_by("-id")[:NEWEST])


def groups_of(memories: Sequence[Memory]) -> list[MemoryGroup]:
    grouped: dict[str, list[Memory]] = {name: [] for name in GROUPS.values()}
    for memory in memories:
        grouped[GROUPS[memory.fact_type]].append(memory)
    return [
        MemoryGroup(name, each[:PER_GROUP], max(0, len(each) - PER_GROUP))
        for name, each in grouped.items()
        if each
    ]


def of_this_week(memories: Sequence[Memory]) -> list[Memory]:
    since = timezone.now() - WEEK
    return [memory for memory in memories if memory.created_at >= since][:MOST]


def acts_of_this_week(subject: Subject) -> list[tuple[AuditEntry, str]]:
    """What was done by hand or by key, the newest first, with the name of who did it."""
    since = first_uuid7(timezone.now() - WEEK)
    lines = AuditEntry.objects.filter(
        workspace_id=subject.workspace_id, action__in=ACTS, subject_id=subject.pk, pk__gte=since
    )
    rows = list(lines.order_by("-id")[:MOST])
    names = names_of(line.actor for line in rows)
    return [(line, names.get(line.actor, line.actor)) for line in rows]


def waiting(scope: Scope, subject: Subject) -> list[Supersession]:
    pending = Supersession.objects.visible_to(scope).filter(
        state=Supersession.State.PENDING, old__subject=subject
    )
    return list(pending.select_related("old", "new").order_by("-id")[:MOST])


def duplicates(scope: Scope, memories: Sequence[Memory]) -> list[DuplicatePair]:
    """Pairs that nobody decided on yet."""
    seen = {memory.pk: memory for memory in memories}
    alike = subjects.alike(workspace_index.index_of(scope.workspace_id), list(seen))
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


def conversations(subject: Subject) -> list[Conversation]:
    """Those that are its own, and those of others in which something was said of it."""
    heard = Episode.objects.filter(subject=subject, conversation__isnull=False).order_by("-id")
    own = Conversation.objects.filter(subject=subject).order_by("-id")
    ids = own.values("pk")[:MOST].union(heard.values("conversation_id")[:LOOKED_AT])
    return list(Conversation.objects.filter(pk__in=ids).order_by("-id")[:MOST])


def merges(subject: Subject) -> list[SubjectMerge]:
    """What this subject was merged into, and what into it, as long as that stands."""
    of_it = SubjectMerge.objects.filter(Q(source=subject) | Q(target=subject), undone_at=None)
    rows = list(of_it.select_related("source", "target").order_by("-id")[:MOST])
    names = names_of(made.merged_by for made in rows)
    for made in rows:
        made.merged_by = names.get(made.merged_by, made.merged_by)
    return rows


def features(scope: Scope, subject: Subject) -> Sections:
    """By category and tag, in alphabetical order."""
    rows = Feature.objects.visible_to(scope).live().filter(subject=subject)
    sections: Sections = {}
    for feature in rows.order_by("category", "tag", "feature", "-id")[:MOST_FEATURES]:
        sections.setdefault(feature.category, {}).setdefault(feature.tag, []).append(feature)
    return sections


def plan(subject: Subject) -> str:
    """What merging this subject into another one would move, in words."""
    models: list[Any] = [Memory, Conversation, Episode, Fact, Feature]
    counts = bounded_counts(*(model._default_manager.filter(subject=subject) for model in models))
    words = [
        f"{count_text(count)} {model._meta.verbose_name_plural}"
        for model, count in zip(models, counts, strict=True)
        if count
    ]
    return ", ".join(words) or "nothing"


def of_ids(texts: Sequence[str]) -> list[uuid.UUID]:
    """Raises ValueError for what is no id."""
    return [uuid.UUID(text) for text in texts]


def as_json(scope: Scope, subject: Subject) -> str:
    sections = features(scope, subject)
    profile = {
        "userId": subject.external_id,
        "name": subject.name,
        "metadata": subject.metadata,
        "exportedAt": timezone.now().isoformat(),
        **{
            name: [
                {
                    "id": str(memory.pk),
                    "content": memory.content,
                    "category": memory.category,
                    "confidence": memory.confidence,
                    "pinned": memory.pinned,
                    "version": memory.version,
                    "eventDate": memory.event_date and memory.event_date.isoformat(),
                    "createdAt": memory.created_at.isoformat(),
                    "quotes": _quotes(memory),
                }
                for memory in each
            ]
            for name, each in _grouped(scope, subject).items()
        },
        "features": {
            category: {
                tag: [{"id": str(f.pk), "feature": f.feature, "value": f.value} for f in each]
                for tag, each in tags.items()
            }
            for category, tags in sections.items()
        },
    }
    return json.dumps(profile, ensure_ascii=False, indent=2) + "\n"


def as_markdown(scope: Scope, subject: Subject) -> str:
    lines = [f"# {_line(str(subject))}", "", f"`{subject.external_id}`, {timezone.now():%Y-%m-%d}"]
    for name, memories in _grouped(scope, subject).items():
        if memories:
            lines += ["", f"## {name.capitalize()}", ""]
        for memory in memories:
            about = f"{memory.category}, {memory.created_at:%Y-%m-%d}"
            lines.append(f"- {_line(memory.content)} ({about})")
            lines += [f"  > {_line(quote)}" for quote in _quotes(memory)]
    for category, tags in features(scope, subject).items():
        lines += ["", f"## {category.capitalize()}"]
        for tag, rows in tags.items():
            lines += ["", f"### {tag}", ""]
            lines += [f"- {_line(each.feature)}: {_line(each.value)}" for each in rows]
    return "\n".join(lines) + "\n"


FORMATS: dict[str, tuple[str, Callable[[Scope, Subject], str]]] = {
    "json": ("application/json", as_json),
    "md": ("text/markdown; charset=utf-8", as_markdown),
}


def _grouped(scope: Scope, subject: Subject) -> dict[str, list[Memory]]:
    """All live memories, oldest first, with the quotes that they stand on."""
    quotes = Prefetch("citations", Citation.objects.only("fact_id", "quote"))
    facts = Prefetch("facts", Fact.objects.visible_to(scope).prefetch_related(quotes))
    rows = Memory.objects.visible_to(scope).live().filter(subject=subject)
    grouped: dict[str, list[Memory]] = {name: [] for name in GROUPS.values()}
    for memory in rows.prefetch_related(facts).order_by("id").iterator(chunk_size=CHUNK):
        grouped[GROUPS[memory.fact_type]].append(memory)
    return grouped


def _quotes(memory: Memory) -> list[str]:
    return [citation.quote for fact in memory.facts.all() for citation in fact.citations.all()]


def _line(text: str) -> str:
    return " ".join(text.split())
