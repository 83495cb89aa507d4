"""Settings that do not go together are told at the start, with what to do."""

import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import CheckMessage, run_checks
from pytest_django import Settings

from tests import onnx_models

CLEAN: dict[str, Any] = {
    "EMBEDDING_PROVIDER": "hash",
    "EMBEDDING_MODEL": "",
    "EMBEDDING_DIMENSIONS": 0,
    "EMBEDDING_FOLDER": "",
    "EXTRACTION_PROVIDER": "auto",
    "EXTRACTION_MODEL": "claude-haiku-4-5",
    "OPENAI_API_KEY": "",
    "OPENAI_BASE_URL": "",
    "ANTHROPIC_API_KEY": "",
    "ANTHROPIC_BASE_URL": "",
    "DEBUG": False,
    "ALLOWED_HOSTS": ["localhost", "127.0.0.1", "[::1]"],
    "METRICS_TOKEN": "a token",
}
OPENAI = {"EMBEDDING_PROVIDER": "openai", "OPENAI_API_KEY": "k"}
OLLAMA = {"EMBEDDING_PROVIDER": "openai", "OPENAI_BASE_URL": "http://localhost:11434/v1"}
MINILM = {"EMBEDDING_PROVIDER": "fastembed", "EMBEDDING_MODEL": "minilm"}
EXTRACTING = {"EXTRACTION_PROVIDER": "openai", "EXTRACTION_MODEL": "gpt-5-mini"}

WRONG = [
    ({"EMBEDDING_PROVIDER": "openai"}, "memories.E001"),
    (OPENAI | {"EMBEDDING_MODEL": "own-model"}, "memories.E002"),
    ({"EMBEDDING_PROVIDER": "local", "EMBEDDING_DIMENSIONS": 512}, "memories.E003"),
    ({"EMBEDDING_PROVIDER": "none", "EMBEDDING_DIMENSIONS": 256}, "memories.E003"),
    ({"EMBEDDING_PROVIDER": "fastembed", "EMBEDDING_MODEL": "somebody/something"}, "memories.E012"),
    (MINILM | {"EMBEDDING_DIMENSIONS": 512}, "memories.E003"),
    (MINILM | {"EMBEDDING_FOLDER": "/no/such/folder"}, "memories.E011"),
    ({"EMBEDDING_PROVIDER": "fastembed", "EMBEDDING_FOLDER": "/no/such/folder"}, "memories.E011"),
    ({"RERANK_PROVIDER": "fastembed", "RERANK_FOLDER": "/no/such/folder"}, "memories.E011"),
    ({"EXTRACTION_PROVIDER": "anthropic"}, "memories.E004"),
    (EXTRACTING, "memories.E005"),
    ({"EXTRACTION_PROVIDER": "openai", "OPENAI_API_KEY": "k"}, "memories.E006"),
    (OLLAMA | {"OPENAI_BASE_URL": "localhost:11434"}, "memories.E007"),
    ({"DEBUG": True, "ALLOWED_HOSTS": ["localhost", "memory.example.org"]}, "memories.E008"),
    ({"DEBUG": True, "ALLOWED_HOSTS": ["*"]}, "memories.E008"),
    ({"EMBEDDING_MODEL": "nomic-embed-text"}, "memories.W001"),
    ({"OPENAI_BASE_URL": "http://localhost:11434/v1"}, "memories.W003"),
    ({"ANTHROPIC_BASE_URL": "http://localhost:1"}, "memories.W004"),
    ({"METRICS_TOKEN": "", "ALLOWED_HOSTS": ["memory.example.org"]}, "memories.W005"),
]
RIGHT = [
    {},
    OPENAI,
    OLLAMA | {"EMBEDDING_MODEL": "nomic-embed-text"},
    OPENAI | {"EMBEDDING_MODEL": "own-model", "EMBEDDING_DIMENSIONS": 384},
    {"EMBEDDING_PROVIDER": "auto", "OPENAI_API_KEY": "k", "EMBEDDING_DIMENSIONS": 512},
    {"EMBEDDING_PROVIDER": "local", "EMBEDDING_DIMENSIONS": 256},
    {"EMBEDDING_PROVIDER": "none"},
    {"EMBEDDING_PROVIDER": "fastembed"},
    MINILM | {"EMBEDDING_DIMENSIONS": 384},
    {"EMBEDDING_PROVIDER": "fastembed", "EMBEDDING_MODEL": "somebody/something", "EMBEDDING_DIMENSIONS": 384},
    {"RERANK_PROVIDER": "fastembed", "RERANK_MODEL": "bge-reranker"},
    {"EXTRACTION_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": "k"},
    EXTRACTING | {"OPENAI_BASE_URL": "http://127.0.0.1:8080/v1"},
    {"DEBUG": True},
    {"METRICS_TOKEN": ""},
    {"ALLOWED_HOSTS": ["memory.example.org"]},
]


def _told(settings: Settings, changes: dict[str, Any]) -> list[CheckMessage]:
    for name, value in (CLEAN | changes).items():
        setattr(settings, name, value)
    return [found for found in run_checks() if (found.id or "").startswith("memories.")]


@pytest.mark.parametrize(("changes", "identity"), WRONG)
def test_a_wrong_combination_is_told_with_a_hint(settings: Settings, changes: dict[str, Any], identity: str) -> None:
    told = _told(settings, changes)
    assert [found.id for found in told] == [identity]
    assert told[0].hint


@pytest.mark.parametrize("changes", RIGHT)
def test_a_right_combination_says_nothing(settings: Settings, changes: dict[str, Any]) -> None:
    assert _told(settings, changes) == []


def test_what_a_model_in_a_folder_needs_is_told(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = {"EMBEDDING_PROVIDER": "fastembed", "EMBEDDING_FOLDER": str(onnx_models.write(tmp_path))}
    assert _told(settings, changes) == []
    (tmp_path / "config.json").unlink()
    assert [found.id for found in _told(settings, changes)] == ["memories.E012"]
    assert _told(settings, changes | {"EMBEDDING_DIMENSIONS": 8}) == []
    monkeypatch.setitem(sys.modules, "fastembed", None)
    changes |= {"EMBEDDING_DIMENSIONS": 8, "RERANK_PROVIDER": "fastembed"}
    assert [found.id for found in _told(settings, changes)] == ["memories.E010", "memories.E010"]


def test_no_check_tells_a_key(settings: Settings) -> None:
    changes = {"EXTRACTION_PROVIDER": "openai", "OPENAI_API_KEY": "very secret"}
    assert "very secret" not in "".join(str(found) for found in _told(settings, changes))
