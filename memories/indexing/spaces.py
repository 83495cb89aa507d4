"""The workspace as the index knows it: its number, and the embedding model it speaks."""

import time
import uuid
from functools import cache
from importlib.util import find_spec

from django.conf import settings
from django.db import transaction
from django.db.models import F

from memories.indexing import statements
from memories.models import EmbeddingModel, Layer, WorkspaceIndex
from memories.providers import Embedder, EmbedderConfig, embedder_from

LOCK_CLASS = 4242
KEEP_MODEL = 5.0  # seconds
_models: dict[int, tuple[EmbeddingModel, float]] = {}


SPACE = """
select number, workspace_id, embedding_model_id, live_memories, live_episodes, average_length,
       sealed_upto, stamp
from memories_workspaceindex where workspace_id = %(workspace)s
"""


def space_of(workspace_id: uuid.UUID) -> WorkspaceIndex:
    """The index row of a workspace, made when first asked for."""
    # On the path of every search: prepared, because Django's own would cost ten times as much.
    found = statements.rows(SPACE, {"workspace": workspace_id})
    return _with_model(WorkspaceIndex(**found[0]._asdict())) if found else _new_space(workspace_id)


def _new_space(workspace_id: uuid.UUID) -> WorkspaceIndex:
    # bulk_create with ignore_conflicts: two first requests at once make one row.
    row = WorkspaceIndex(workspace_id=workspace_id, embedding_model=configured_model())
    WorkspaceIndex.objects.bulk_create([row], ignore_conflicts=True)
    return WorkspaceIndex.objects.select_related("embedding_model").get(workspace_id=workspace_id)


def _with_model(space: WorkspaceIndex) -> WorkspaceIndex:
    if space.embedding_model_id is not None:
        space.embedding_model = _model(space.embedding_model_id)
    return space


def configured_config() -> EmbedderConfig:
    """The embedder that the settings name."""
    return EmbedderConfig(
        provider=_configured_provider(),
        model=settings.EMBEDDING_MODEL,
        dimensions=settings.EMBEDDING_DIMENSIONS,
        api_key=settings.OPENAI_API_KEY,
        base_url=settings.OPENAI_BASE_URL,
        timeout=settings.PROVIDER_TIMEOUT,
    )


def _configured_provider() -> str:
    provider = str(settings.EMBEDDING_PROVIDER)
    if provider == "auto":
        provider = "openai" if settings.OPENAI_API_KEY else "local"
    # The wheel that carries the local model's weights is not built for every machine.
    return provider if provider != "local" or _has_local() else "hash"


@cache
def _has_local() -> bool:
    return find_spec("wordllama") is not None


def _model(model_id: int) -> EmbeddingModel:
    """An embedding model's row: its provider, name and dimensions never change, so it is kept a
    while; its thresholds may, so not for ever."""
    kept = _models.get(model_id)
    if kept is None or kept[1] < time.monotonic():
        row = EmbeddingModel.objects.get(pk=model_id)
        kept = _models[model_id] = (row, time.monotonic() + KEEP_MODEL)
    return kept[0]


def configured_model() -> EmbeddingModel | None:
    """The row of the configured embedding model; None for `none`."""
    embedder = embedder_from(configured_config())
    if not embedder.dimensions:
        return None
    model, _ = EmbeddingModel.objects.get_or_create(
        provider=embedder.provider,
        name=embedder.name,
        dimensions=embedder.dimensions,
        defaults={
            "duplicate_threshold": embedder.duplicate_threshold,
            "search_floor": embedder.search_floor,
        },
    )
    return model


def embedder_of(space: WorkspaceIndex) -> Embedder:
    """The embedder whose vectors this workspace's index holds, also after the settings changed."""
    model = space.embedding_model
    config = configured_config()
    if model is None:
        return embedder_from(EmbedderConfig(provider="none"))
    return embedder_from(
        EmbedderConfig(
            provider=model.provider,
            model=model.name,
            dimensions=model.dimensions,
            api_key=config.api_key,
            base_url=config.base_url,
            timeout=config.timeout,
        )
    )


def lock(space: WorkspaceIndex) -> None:
    """Queue behind other writers of the workspace until this transaction ends.

    A statement of its own: within the statement that looks for the nearest memories, the
    snapshot would be older than the lock, and two writers could both find nothing.
    """
    with transaction.get_connection().cursor() as cursor:
        cursor.execute("select pg_advisory_xact_lock(%s, %s)", [LOCK_CLASS, space.number])


def count(space: WorkspaceIndex, layer: int, change: int) -> None:
    """Note that `change` rows of `layer` became live (or, below 0, no longer are)."""
    column = "live_memories" if layer == Layer.MEMORIES else "live_episodes"
    WorkspaceIndex.objects.filter(pk=space.pk).update(
        **{column: F(column) + change, "stamp": F("stamp") + 1}
    )
