"""What is known of a subject as a file: JSON for programs, Markdown for people."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from django.db.models import Prefetch
from django.utils import timezone

from memories.admin.profile_parts import Sections, features
from memories.features.profile import GROUPS
from memories.models import Citation, Fact, Feature, Memory
from workspaces.models import Subject
from workspaces.scope import Scope

CHUNK = 500


def as_json(scope: Scope, subject: Subject) -> str:
    sections = features(scope, subject)
    told = {
        "userId": subject.external_id,
        "name": subject.name,
        "metadata": subject.metadata,
        "exportedAt": timezone.now().isoformat(),
        **{name: list(map(_memory, each)) for name, each in _grouped(scope, subject).items()},
        "features": {
            category: {tag: list(map(_feature, each)) for tag, each in tags.items()}
            for category, tags in sections.items()
        },
    }
    return json.dumps(told, ensure_ascii=False, indent=2) + "\n"


def as_markdown(scope: Scope, subject: Subject) -> str:
    lines = [f"# {_line(str(subject))}", "", f"`{subject.external_id}`, {timezone.now():%Y-%m-%d}"]
    for name, memories in _grouped(scope, subject).items():
        if memories:
            lines += ["", f"## {name.capitalize()}", ""]
            lines += [part for memory in memories for part in _told(memory)]
    lines += _sections(features(scope, subject))
    return "\n".join(lines) + "\n"


FORMATS: dict[str, tuple[str, Callable[[Scope, Subject], str]]] = {
    "json": ("application/json", as_json),
    "md": ("text/markdown; charset=utf-8", as_markdown),
}


def _grouped(scope: Scope, subject: Subject) -> dict[str, list[Memory]]:
    found: dict[str, list[Memory]] = {name: [] for name in GROUPS.values()}
    for memory in _memories(scope, subject):
        found[GROUPS[memory.fact_type]].append(memory)
    return found


def _memories(scope: Scope, subject: Subject) -> Iterator[Memory]:
    """All live ones, oldest first, with the quotes that they stand on."""
    quotes = Prefetch("citations", Citation.objects.only("fact_id", "quote"))
    facts = Prefetch("facts", Fact.objects.visible_to(scope).prefetch_related(quotes))
    rows = Memory.objects.visible_to(scope).live().filter(subject=subject)
    return rows.prefetch_related(facts).order_by("id").iterator(chunk_size=CHUNK)


def _quotes(memory: Memory) -> list[str]:
    return [citation.quote for fact in memory.facts.all() for citation in fact.citations.all()]


def _memory(memory: Memory) -> dict[str, Any]:
    return {
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


def _feature(feature: Feature) -> dict[str, Any]:
    return {"id": str(feature.pk), "feature": feature.feature, "value": feature.value}


def _told(memory: Memory) -> list[str]:
    words = [f"- {_line(memory.content)} ({memory.category}, {memory.created_at:%Y-%m-%d})"]
    return words + [f"  > {_line(quote)}" for quote in _quotes(memory)]


def _sections(sections: Sections) -> list[str]:
    lines: list[str] = []
    for category, tags in sections.items():
        lines += ["", f"## {category.capitalize()}"]
        for tag, found in tags.items():
            lines += ["", f"### {tag}", ""]
            lines += [f"- {_line(each.feature)}: {_line(each.value)}" for each in found]
    return lines


def _line(text: str) -> str:
    return " ".join(text.split())
