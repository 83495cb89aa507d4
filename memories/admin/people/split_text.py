"""The plan of splitting a person in two, in words."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memories.models import Conversation, Episode, Fact, Feature, Memory
from workspaces.adminbase.list_admin import bounded_counts, count_text
from workspaces.models import Subject

MOVED = {Memory: "memory", Conversation: "conversation", Episode: "message", Fact: "fact", Feature: "feature"}
KINDS = {word: model._meta.model_name or "" for model, word in MOVED.items()}


def plan(subject: Subject) -> str:
    """Return what merging this subject into another one would move, in words."""
    counts = bounded_counts(
        *(model._default_manager.filter(subject=subject) for model in MOVED)  # type: ignore[misc]
    )
    return counted(zip(MOVED.values(), counts, strict=True))


def split_text(found: Mapping[str, Sequence[Any]]) -> str:
    """Return what would move along with the chosen rows, in words."""
    return counted((word, len(found.get(KINDS[word], ()))) for word in MOVED.values())


def counted(numbers: Iterable[tuple[str, int]]) -> str:
    words = [f"{count_text(count)} {word if count == 1 else plural_of(word)}" for word, count in numbers if count]
    return ", ".join(words) or "nothing"


def plural_of(word: str) -> str:
    return f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
