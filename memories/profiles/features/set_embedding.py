"""Sets that name an embedder: their features have vectors of it beside the workspace's own.

The worker makes them, and a set changes over when all are there: until then search goes on with
what it had. `embedding_due_at` is the queue.
"""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from memories.errors import Invalid, ProviderError
from memories.index import configured_embedder, reembedding, workspace_index
from memories.models import EmbeddingModel, Entry, Feature, FeatureSet, Layer, Vector, WorkspaceIndex
from memories.profiles.features.config import config_of
from memories.providers import Embedder
from memories.queue import leases, outbox

PAUSE = timedelta(minutes=1)  # before a model that failed is asked again
ROUNDS = 10  # over what was written meanwhile; the rest is due again
MOST_POSTS = 200
LEASE = "embedding_lease_until"  # the column

# Sets whose setting is another than the one that their vectors were made for.
NOTICE = """
update memories_featureset s set embedding_due_at = %(now)s
from workspaces_workspace w
where w.id = s.workspace_id and s.embedding_due_at is null
  and nullif(case when s.config ? 'embedder' then s.config -> 'embedder'
                  when w.settings #> array['featureSetTypes', s.config ->> 'type'] ? 'embedder'
                  then w.settings #> array['featureSetTypes', s.config ->> 'type', 'embedder']
                  else w.settings #> '{featureSets,embedder}' end, 'null')
      is distinct from nullif(s.embedder, 'null')
"""


@dataclass(frozen=True, slots=True)
class SetEmbedding:
    """The model that a set shall speak and the one that it speaks (None: the workspace's), and how
    far the change has come: `made` of `total` features have vectors of the wanted one."""

    wanted: str | None
    spoken: str | None
    state: str  # ready, under way, failing
    made: int
    total: int
    error: str = ""


def faults(raw: object, path: str) -> list[Invalid]:
    """Return what is wrong with an embedder that is well declared: there is no such model, or no
    way to it."""
    if not isinstance(raw, Mapping):
        return []
    try:
        _embedder(raw)
    except ProviderError as error:
        where = "dimensions" if "dimensions" in error.message else "model"
        return [Invalid(f"{path}.{where}", f"{error.message[0].upper()}{error.message[1:]}.")]
    reachable = settings.OPENAI_API_KEY or settings.OPENAI_BASE_URL
    if raw.get("provider") == "openai" and not reachable:
        return [Invalid(f"{path}.provider", "The server has no OPENAI_API_KEY to reach it with.")]
    return []


def wanted_by(feature_set: FeatureSet) -> EmbeddingModel | None:
    """Return the model that a set's setting names; None for the workspace's. Raises
    ProviderError."""
    config = config_of(feature_set.workspace.settings, feature_set.config)
    if config.embedder is None:
        return None
    if not isinstance(config.embedder, Mapping):
        raise ProviderError("the setting embedder is no object", permanent=True)
    return configured_embedder.model_of(_embedder(config.embedder))


def _embedder(raw: Mapping[str, Any]) -> Embedder:
    name, dimensions = raw.get("model", ""), raw.get("dimensions", 0)
    embedder = configured_embedder.named_embedder(raw.get("provider", ""), name, dimensions)
    if name and embedder.name != name:
        fault = f"the model of {embedder.provider} is {embedder.name}"
        raise ProviderError(fault, permanent=True)
    if dimensions and embedder.dimensions != dimensions:
        fault = f"{embedder.name} has {embedder.dimensions} dimensions"
        raise ProviderError(fault, permanent=True)
    return embedder


def state_of(feature_set: FeatureSet) -> SetEmbedding:
    """Return the embedding of a set, which comes with its workspace."""
    error = feature_set.embedding_error
    try:
        wanted = wanted_by(feature_set)
    except ProviderError as fault:
        wanted, error = feature_set.embedding_model, fault.message
    spoken = feature_set.embedding_model
    under_way = feature_set.embedding_due_at is not None or wanted != spoken
    state = "failing" if error else "under way" if under_way else "ready"
    model = wanted or workspace_index.index_of(feature_set.workspace_id).embedding_model
    entries = _entries(feature_set)
    total = entries.count()
    return SetEmbedding(
        wanted=str(wanted) if wanted else None,
        spoken=str(spoken) if spoken else None,
        state=state,
        made=entries.filter(_has_vector(model)).count() if model else total,
        total=total,
        error=error,
    )


def _entries(feature_set: FeatureSet) -> QuerySet[Entry]:
    features = Feature.objects.filter(set=feature_set, ended_at=None)
    return Entry.objects.filter(layer=Layer.FEATURES, item__in=features.values("pk")).order_by("pk")


def _has_vector(model: EmbeddingModel) -> Exists:
    return Exists(Vector.objects.filter(entry_id=OuterRef("pk"), embedding_model_id=model.pk))


def note(feature_set: FeatureSet) -> None:
    """Let the worker look at a set whose setting changed its embedder, or whose last try failed."""
    config = config_of(feature_set.workspace.settings, feature_set.config)
    if feature_set.embedder != config.embedder or feature_set.embedding_error:
        rows = FeatureSet.objects.filter(pk=feature_set.pk)
        rows.update(embedding_due_at=timezone.now(), embedding_error="")
        outbox.post("embed_set", feature_set.pk)


def enqueue_due() -> int:
    """Wake workers for the sets whose features lack vectors; return the number of tasks."""
    now = timezone.now()
    with connection.cursor() as cursor:
        cursor.execute(NOTICE, {"now": now})
    free = leases.free(now, LEASE)
    due = FeatureSet.objects.filter(free, embedding_due_at__lte=now).order_by("embedding_due_at")
    ids = list(due.values_list("pk", flat=True)[:MOST_POSTS])
    for set_id in ids:
        outbox.post("embed_set", set_id)
    return len(ids)


def embed(set_id: uuid.UUID) -> int:
    """Make what is missing, then let the set speak the model that it names; return how many were
    made.

    A model that fails leaves the set as it was, to be tried again. One worker at a time is at a
    set; a second one, after the lease of the first ran out, makes the same vectors again, which
    harms nothing.
    """
    now = timezone.now()
    free = FeatureSet.objects.filter(leases.free(now, LEASE), pk=set_id, embedding_due_at__lte=now)
    if not free.update(embedding_lease_until=leases.end()):
        return 0
    rows = FeatureSet.objects.filter(pk=set_id, embedding_lease_until__isnull=False)
    try:
        with leases.renewed(rows.all, LEASE) as work:
            return _embed(set_id, work.advance)
    finally:
        rows.update(embedding_lease_until=None)


def _embed(set_id: uuid.UUID, advance: Callable[[], object]) -> int:
    made = 0
    for _ in range(ROUNDS):
        rows = FeatureSet.objects.select_related("workspace", "embedding_model")
        feature_set = rows.filter(pk=set_id, embedding_due_at__lte=timezone.now()).first()
        if feature_set is None:
            break
        space = workspace_index.index_of(feature_set.workspace_id)
        try:
            wanted = wanted_by(feature_set)
            made += _fill(space, feature_set, wanted, advance) if wanted else 0
        except ProviderError as error:
            pause = max(PAUSE, timedelta(seconds=error.retry_after or 0.0))
            due = FeatureSet.objects.filter(pk=set_id, embedding_due_at=feature_set.embedding_due_at)
            due.update(embedding_due_at=timezone.now() + pause, embedding_error=error.message)
            break
        if _change_over(space, feature_set, wanted):
            _drop_before(space, feature_set, wanted)
            break
    return made


def _fill(
    space: WorkspaceIndex,
    feature_set: FeatureSet,
    model: EmbeddingModel,
    advance: Callable[[], object],
) -> int:
    """Make vectors in bounded batches; what is made stays, whatever comes."""
    made, after, under = 0, 0, workspace_index.under_model(space, model)
    missing = _entries(feature_set).exclude(_has_vector(model)).values_list("pk", flat=True)
    while True:
        ids = list(missing.filter(pk__gt=after)[: reembedding.BATCH])
        if not ids:
            return made
        made += reembedding.make(under, ids)
        after = ids[-1]
        advance()


@transaction.atomic(durable=True)
def _change_over(space: WorkspaceIndex, feature_set: FeatureSet, wanted: EmbeddingModel | None) -> bool:
    """Let the set speak the wanted model. Return False where a feature or the setting changed
    meanwhile: then there is more to do."""
    workspace_index.lock(space)
    config = config_of(feature_set.workspace.settings, feature_set.config)
    same = Q(pk=feature_set.pk, embedding_due_at=feature_set.embedding_due_at)
    changed = FeatureSet.objects.filter(same).update(
        embedder=config.embedder,
        embedding_model=wanted,
        embedding_due_at=None,
        embedding_error="",
        updated_at=timezone.now(),
    )
    before = feature_set.embedding_model
    if changed and before != wanted:
        reembedding.note_use(before.pk if before else None, wanted)
    return bool(changed)


def _drop_before(space: WorkspaceIndex, feature_set: FeatureSet, wanted: EmbeddingModel | None) -> None:
    """Drop the vectors that nobody compares any more, in steps; none of them holds the workspace's
    lock."""
    before = feature_set.embedding_model
    own = workspace_index.index_of(space.workspace_id).embedding_model_id
    if not before or before == wanted or before.pk == own:
        return
    made = _entries(feature_set).filter(_has_vector(before)).values_list("pk", flat=True)
    while ids := list(made[: reembedding.BATCH]):
        Vector.objects.filter(entry_id__in=ids, embedding_model_id=before.pk).delete()
