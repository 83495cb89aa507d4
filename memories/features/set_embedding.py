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
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from memories import leases, outbox
from memories.errors import Invalid, ProviderError
from memories.features.sets import config_of
from memories.index import reembedding, statements, workspace_index
from memories.models import EmbeddingModel, FeatureSet, Layer, WorkspaceIndex

PAUSE = timedelta(minutes=1)  # before a model that failed is asked again
ROUNDS = 10  # over what was written meanwhile; the rest is due again
MOST_BELLS = 200

# Sets whose setting is another than the one that their vectors were made for.
NOTICE = """
update memories_featureset s set embedding_due_at = %(now)s
from workspaces_workspace w
where w.id = s.workspace_id and s.embedding_due_at is null
  and nullif(case when s.config ? 'embedder' then s.config -> 'embedder'
                  else w.settings #> '{featureSets,embedder}' end, 'null')
      is distinct from nullif(s.embedder, 'null')
"""
CLAIM = f"""
update memories_featureset set embedding_lease_until = %(until)s
where id = %(id)s and embedding_due_at <= %(now)s
  and {leases.FREE.replace("lease_until", "embedding_lease_until")}
returning id
"""
OF_THE_SET = """
from memories_feature f join memories_entry e on e.layer = %(layer)s and e.item = f.id
where f.set_id = %(set)s and f.ended_at is null"""
HAS_VECTOR = """
exists (select 1 from memories_vector v
        where v.entry_id = e.id and v.embedding_model_id = %(model)s::int2)"""
MISSING = f"""
select e.id {OF_THE_SET} and e.id > %(after)s and not {HAS_VECTOR} order by e.id limit %(most)s
"""
COUNT = f"select count(*) as total, count(*) filter (where {HAS_VECTOR}) as made {OF_THE_SET}"
DROP = f"""
delete from memories_vector where embedding_model_id = %(model)s
  and entry_id in (select e.id {OF_THE_SET})
"""


@dataclass(frozen=True, slots=True)
class Embedding:
    """Which model a set shall speak and which it speaks (None: the workspace's), and how far the
    change has come: `made` of `total` features have vectors of the wanted one."""

    wanted: str | None
    spoken: str | None
    state: str  # ready, under way, failing
    made: int
    total: int
    error: str = ""


def faults(raw: object, path: str) -> list[Invalid]:
    """What is wrong with an embedder that is well declared: there is no such model, or no way to it."""
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


def wanted_by(found: FeatureSet) -> EmbeddingModel | None:
    """The model that a set's setting names; None for the workspace's. Raises ProviderError."""
    said = config_of(found).embedder
    if said is None:
        return None
    if not isinstance(said, Mapping):
        raise ProviderError("the setting embedder is no object", permanent=True)
    return workspace_index.model_of(_embedder(said))


def _embedder(said: Mapping[str, Any]) -> Any:
    own = said.get("provider", ""), said.get("model", ""), said.get("dimensions", 0)
    found = workspace_index.named_embedder(*own)
    if said.get("model") and found.name != said["model"]:
        raise ProviderError(f"the model of {found.provider} is {found.name}", permanent=True)
    if said.get("dimensions") and found.dimensions != said["dimensions"]:
        told = f"{found.name} has {found.dimensions} dimensions"
        raise ProviderError(told, permanent=True)
    return found


def state_of(found: FeatureSet) -> Embedding:
    """`found` comes with its workspace."""
    error = found.embedding_error
    try:
        wanted = wanted_by(found)
    except ProviderError as fault:
        wanted, error = found.embedding_model, fault.message
    spoken = found.embedding_model
    counts = _count(found, wanted)
    under_way = found.embedding_due_at is not None or wanted != spoken
    state = "failing" if error else "under way" if under_way else "ready"
    return Embedding(_named(wanted), _named(spoken), state, *counts, error)


def _named(model: EmbeddingModel | None) -> str | None:
    return str(model) if model else None


def _count(found: FeatureSet, wanted: EmbeddingModel | None) -> tuple[int, int]:
    model = wanted or workspace_index.space_of(found.workspace_id).embedding_model
    row = statements.rows(COUNT, _values(found, model.pk if model else None))[0]
    return (row.made if model else row.total), row.total


def _values(found: FeatureSet, model_id: int | None, **more: int) -> dict[str, Any]:
    return {"set": found.pk, "layer": int(Layer.FEATURES), "model": model_id, **more}


# ---- made by the worker ---------------------------------------------------------------------


def note(found: FeatureSet) -> None:
    """The set's own setting may have changed: let the worker look, if so."""
    if found.embedder != found.config.get("embedder") or found.embedding_error:
        rows = FeatureSet.objects.filter(pk=found.pk)
        rows.update(embedding_due_at=timezone.now(), embedding_error="")
        outbox.post("embed_set", found.pk)


def ring() -> int:
    """Wake workers for the sets whose features lack vectors; the number of bells."""
    now = timezone.now()
    statements.execute(NOTICE, {"now": now})
    free = leases.free(now, "embedding_lease_until")
    due = FeatureSet.objects.filter(free, embedding_due_at__lte=now).order_by("embedding_due_at")
    ids = list(due.values_list("pk", flat=True)[:MOST_BELLS])
    for set_id in ids:
        outbox.post("embed_set", set_id)
    return len(ids)


def embed(set_id: uuid.UUID) -> int:
    """Make what is missing, then let the set speak the model that it names; how many were made.

    A model that fails leaves the set as it was, to be tried again. One worker at a time is at a
    set; a second one, after the lease of the first ran out, makes the same vectors again, which
    harms nothing.
    """
    values = {"id": set_id, "now": timezone.now(), "until": leases.end()}
    if not statements.rows(CLAIM, values):
        return 0
    rows = FeatureSet.objects.filter(pk=set_id, embedding_lease_until__isnull=False)
    try:
        with leases.renewed(rows.all, "embedding_lease_until") as work:
            return _embed(set_id, work.advance)
    finally:
        rows.update(embedding_lease_until=None)


def _embed(set_id: uuid.UUID, advance: Callable[[], object]) -> int:
    made = 0
    for _ in range(ROUNDS):
        found = _due(set_id)
        if found is None:
            break
        space = workspace_index.space_of(found.workspace_id)
        try:
            wanted = wanted_by(found)
            made += _fill(space, found, wanted, advance) if wanted else 0
        except ProviderError as error:
            _postpone(found, error)
            break
        if _change_over(space, found, wanted):
            break
    return made


def _due(set_id: uuid.UUID) -> FeatureSet | None:
    rows = FeatureSet.objects.select_related("workspace", "embedding_model")
    return rows.filter(pk=set_id, embedding_due_at__lte=timezone.now()).first()


def _fill(
    space: WorkspaceIndex, found: FeatureSet, model: EmbeddingModel, advance: Callable[[], object]
) -> int:
    """In bounded batches; what is made stays, whatever comes."""
    made, after, under = 0, 0, workspace_index.speaking(space, model)
    while ids := _missing(found, model, after):
        made += reembedding.make(under, ids)
        after = ids[-1]
        advance()
    return made


def _missing(found: FeatureSet, model: EmbeddingModel, after: int) -> list[int]:
    values = _values(found, model.pk, after=after, most=reembedding.BATCH)
    return [row.id for row in statements.rows(MISSING, values)]


@transaction.atomic(durable=True)
def _change_over(space: WorkspaceIndex, found: FeatureSet, wanted: EmbeddingModel | None) -> bool:
    """False where a feature or the setting changed meanwhile: then there is more to do."""
    workspace_index.lock(space)
    same = Q(pk=found.pk, embedding_due_at=found.embedding_due_at)
    changed = FeatureSet.objects.filter(same).update(
        embedder=config_of(found).embedder, embedding_model=wanted, embedding_due_at=None,
        embedding_error="", updated_at=timezone.now(),
    )  # fmt: skip
    before = found.embedding_model
    if changed and before != wanted:
        if before and before.pk != workspace_index.space_of(space.workspace_id).embedding_model_id:
            statements.execute(DROP, _values(found, before.pk))
        reembedding.note_use(before.pk if before else None, wanted)
    return bool(changed)


def _postpone(found: FeatureSet, error: ProviderError) -> None:
    pause = max(PAUSE, timedelta(seconds=error.retry_after or 0.0))
    rows = FeatureSet.objects.filter(pk=found.pk, embedding_due_at=found.embedding_due_at)
    rows.update(embedding_due_at=timezone.now() + pause, embedding_error=error.message)
