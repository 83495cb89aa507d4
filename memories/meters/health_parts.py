"""Parts of the health page that need rows: whether background work gets done, and how the models
do."""

import time
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.conf import settings
from django.db import connection

from memories.errors import ProviderError
from memories.meters import breakers
from memories.models import Breaker, IndexRepair
from memories.providers.neural import model_client
from memories.queue.workers_seen import LOST
from memoryproject.postgres import crossings
from memoryproject.server.machine_health import Part, State

STARTING = 60.0  # seconds after this process began, in which a worker may still be coming up
HUNG = 120.0  # seconds: the guard makes its rounds about every half minute
OVERDUE = 120.0  # seconds: a session whose turn came so long ago is waiting for nobody
ASKED = 1.0  # seconds that the process of models has to answer
WORKERS = """
select count(*) filter (where age < %(lost)s and works) as alive,
       count(*) filter (where age >= %(lost)s and works) as lost,
       string_agg(distinct kind, ', ') filter (where age >= %(hung)s and not works) as hung,
       max(seen_at) filter (where age >= %(lost)s) as last_lost,
       min(started_at) filter (where age < %(lost)s) as oldest
from (select *, abs(extract(epoch from now() - seen_at)) as age,
             kind not in ('pusher', 'guard') as works from memories_workerbeat) b
"""
SESSIONS = """
select count(*) as number, now() as now, min(created_at) as oldest,
       min(next_attempt_at) filter (where next_attempt_at <= now()) as due
from memories_memorysession
where state = 'received'
"""
DOCUMENTS = """
select count(*) as number, now() as now, min(next_attempt_at) as due
from memories_document
where state not in ('done', 'failed') and next_attempt_at <= now()
  and (state = 'queued' or lease_until is null or lease_until < now()
       or lease_until > now() + interval '10 min')
"""
_started = time.monotonic()


def workers() -> Part:
    """Failed where no worker was seen lately: new input would not be learned from."""
    found = _row(WORKERS, {"lost": LOST, "hung": HUNG})
    alive, lost = found["alive"], found["lost"]
    if alive and not lost and not found["hung"]:
        return Part("workers", State.OK, f"{alive} seen", found["oldest"], value=alive)
    if alive:
        detail = f"{alive} seen, {lost} lost"
        if found["hung"]:  # they hand the work out, and nobody gets any
            detail += f"; not seen: {found['hung']}"
        return Part("workers", State.DEGRADED, detail, found["last_lost"], value=alive)
    if time.monotonic() - _started < STARTING:
        return Part("workers", State.DEGRADED, "none seen yet", value=0)
    detail = "No worker has been seen lately: `up` or `work` must run."
    return Part("workers", State.FAILED, detail, found["last_lost"], value=0)


def sessions() -> Part:
    """Sessions that wait to be learned from."""
    with crossings.everywhere():
        found = _row(SESSIONS, {})
    age = _seconds(found["now"], found["oldest"])
    detail = f"{found['number']} wait, the oldest for {age:.0f} s" if found["number"] else ""
    is_late = _seconds(found["now"], found["due"]) > OVERDUE
    return Part("sessions", State.DEGRADED if is_late else State.OK, detail, value=age)


def documents() -> Part:
    """Documents that wait to be read and that no worker has. One that is read in turns has waited
    since its last turn; one whose source asks for a pause, since the end of the pause."""
    with crossings.everywhere():
        found = _row(DOCUMENTS, {})
    age = _seconds(found["now"], found["due"])
    detail = f"{found['number']} wait, the oldest for {age:.0f} s" if found["number"] else ""
    return Part("documents", State.DEGRADED if age > OVERDUE else State.OK, detail, value=age)


def repair() -> Part:
    """Indexes that were made by other rules and are being rebuilt."""
    with crossings.everywhere():
        rows = list(IndexRepair.objects.filter(finished_at=None))
        if not rows:
            ended = IndexRepair.objects.order_by("-finished_at").values_list("finished_at")
            last = ended.first()
            return Part("repair", State.OK, since=last[0] if last else None, value=0)
    rest = sum(row.rest or 0 for row in rows)
    rate = sum(row.rate for row in rows if row.state == IndexRepair.State.RUNNING)
    detail = f"{len(rows)} workspaces, {rest:,} rows to go, {rate:,.0f} a second"
    if failing := sum(row.state == IndexRepair.State.FAILING for row in rows):
        detail += f"; {failing} failing, the log tells why"
    since = min(row.started_at for row in rows)
    return Part("repair", State.DEGRADED, detail, since, value=rest)


def models() -> list[Part]:
    """Models called over the network, by purpose: a model that fails is not called for a while, and
    nothing waits for it. Its name and host are shown to those who run the server."""
    parts = []
    by_purpose = attrgetter("purpose")
    for purpose, group in groupby(sorted(breakers.states(), key=by_purpose), by_purpose):
        known = list(group)
        failing = [one for one in known if one.state == Breaker.State.OPEN]
        parts.append(
            Part(
                f"models: {purpose}",
                State.DEGRADED if failing else State.OK,
                f"{len(failing)} of {len(known)} fail and are not asked" if failing else "",
                min(one.since for one in failing or known),
            )
        )
    return parts


def models_here() -> list[Part]:
    """Models that run on this machine: while their process is away, searches go by words."""
    if "fastembed" not in (settings.EMBEDDING_PROVIDER, settings.RERANK_PROVIDER):
        return []
    name = "models: this machine"
    try:
        found = model_client.state_of(settings.MODELS_SOCKET, ASKED)
    except ProviderError as error:
        return [Part(name, State.DEGRADED, error.message)]
    loading = [f"{each} is being loaded" for each in found["loading"]]
    faults = [*found["faults"], *loading]
    return [Part(name, State.DEGRADED if faults else State.OK, "; ".join(faults))]


PARTS: tuple[Callable[[], Part | Sequence[Part]], ...] = (
    workers,
    sessions,
    documents,
    repair,
    models,
    models_here,
)


def _row(statement: str, values: dict[str, Any]) -> dict[str, Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        names = [column.name for column in cursor.description]
        return dict(zip(names, cursor.fetchone(), strict=True))


def _seconds(now: datetime, since: datetime | None) -> float:
    return max(0.0, (now - since).total_seconds()) if since else 0.0
