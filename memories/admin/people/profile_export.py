"""A person's profile with everything in it, as JSON or Markdown."""

import json
from collections.abc import Callable

from django.db.models import Prefetch
from django.utils import timezone

from memories.admin.people.profile_parts import features, sections_of
from memories.models import Citation, Fact, Memory
from memories.profiles.profile import GROUPS
from workspaces.models import Subject
from workspaces.scope import Scope

# Export of what is known of a person, as JSON or Markdown.

CHUNK = 500


def as_json(scope: Scope, subject: Subject) -> str:
    sections = sections_of(features(scope, subject))
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
    for category, tags in sections_of(features(scope, subject)).items():
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
    """Return all live memories, oldest first, with their quotes."""
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
