"""The time that the server takes for each page of the admin, over many memories and their evidence."""

import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any

from django.contrib.admin import site
from django.db import connection
from django.test import Client
from django.urls import reverse

from bench.speed.loading import Place, settle
from memories.belief.resolve import CaseAbout, NewItem, open_case
from memories.models import Case, Chunk, Document, Memory, Revision
from memories.search import RANKINGS
from workspaces.models import Membership, Role, User

# Each memory's evidence has its id: one episode, one session, one fact with one quote, one line of
# the audit log. A hundred of them are one conversation.
EVIDENCE = (
    """
insert into memories_conversation (id, created_at, updated_at, workspace_id, external_id, workflow,
                                   title, metadata, audience, subject_id)
select id, created_at, created_at, workspace_id, 'thread-' || place, '', '', '{}', '', subject_id
from (select *, row_number() over (order by id) as place from memories_memory) m
where place % 100 = 1
""",
    """
insert into memories_memorysession (id, created_at, updated_at, workspace_id, subject_id, state,
  mode,
  pathway, extract, is_whole_text, workflow, scope, visibility, metadata, requested_by, reason,
  error,
  attempts, claims, failures, learned, episode_ids, created_ids, updated_ids, reinforced_ids,
  counts, timings, steps, finished_at)
select id, created_at, created_at, workspace_id, subject_id,
  case when place % 1000 = 0 then 'dead' else 'done' end, 'sync', 'conversation', 'auto', false, '',
  'user', '', '{}', 'benchmark', '', '', 1, 1, 0, 1, array[id], array[id], '{}', '{}',
  '{"facts": 1}',
  '{}', '[]',
  created_at
from (select *, row_number() over (order by id) as place from memories_memory) m
""",
    """
insert into memories_episode (id, created_at, updated_at, workspace_id, session_id, subject_id,
  conversation_id, kind, role, author, content, payload, metadata, occurred_at, position, scope,
  workflow)
select id, created_at, created_at, workspace_id, id, subject_id,
  first_value(id) over (partition by (place - 1) / 100 order by place), 'user', 'user', '', content,
  '{}', '{}', created_at, (place - 1) % 100, 'user', ''
from (select *, row_number() over (order by id) as place from memories_memory) m
""",
    """
insert into memories_fact (id, created_at, updated_at, workspace_id, session_id, memory_id,
  subject_id, statement, category, fact_type, confidence, method, rule, entities, visibility,
  quarantine_reason, quarantined_at)
select id, created_at, created_at, workspace_id, id, id, subject_id, content, category,
  fact_type, 1,
  'pattern', 'benchmark', '{}', visibility, '', case when place % 2000 = 0 then created_at end
from (select *, row_number() over (order by id) as place from memories_memory) m
""",
    """
insert into memories_citation (workspace_id, fact_id, episode_id, start, "end", quote)
select workspace_id, id, id, 0, char_length(content), content from memories_memory
""",
    """
insert into workspaces_auditentry (id, created_at, updated_at, workspace_id, actor, action,
  target_kind, target_id, subject_id, reason, after)
select id, created_at, created_at, workspace_id, 'benchmark', 'ingest', 'memorysession', id,
  subject_id, '', '{"state": "done"}'
from memories_memory
""",
    """
insert into workspaces_subject (id, created_at, updated_at, workspace_id, external_id, name,
  metadata)
select gen_random_uuid(), now(), now(), (select min(workspace_id::text)::uuid from memories_memory),
  'user-' || n, '', '{}' from generate_series(1, 1000) n
""",
    """
update memories_supersession set state = 'pending'
where id in (select id from memories_supersession order by id limit 500)
""",
)

DOCUMENTS, CASES = 10_000, 500
TEXT = "The starter is fed at nine in the evening."

OF_THE_SERVER = (
    "workspaces_user",
    "workspaces_loginattempt",
    "workspaces_serverkey",
    "workspaces_workspaceremoval",
    "memories_evaluationrun",
    "memories_breaker",
    "memories_indexrepair",
    "memories_workerbeat",
    "memories_modelprice",
)


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it was served; times in milliseconds. `processor` is the web process's own, the
    median: what is left of p50 are the database, and the waits of a machine that does more."""

    name: str
    queries: int
    p50: float
    p95: float
    processor: float


def furnish(place: Place) -> Client:
    """Give every memory its evidence, beside documents and open cases; a browser of the workspace's
    owner."""
    with connection.cursor() as cursor:
        for statement in EVIDENCE:
            cursor.execute(statement)
    write_documents(place.scope.workspace_id)
    for memory in Memory.objects.order_by("pk")[:CASES]:
        about = CaseAbout(memory.workspace_id, memory.subject_id, "residence", memory.pk)
        open_case(about, Case.Kind.HELD, [NewItem(memory.created_at, memory_id=memory.pk)])
    settle()
    owner = User.objects.create_user("benchmark", "benchmark@example.org")
    Membership.objects.create(workspace_id=place.scope.workspace_id, user=owner, role=Role.OWNER)
    client = Client()
    client.force_login(owner)
    return client


def write_documents(workspace_id: uuid.UUID) -> None:
    """Each with one revision, one chunk; one of five hundred failed."""
    rows = [
        Document(
            workspace_id=workspace_id,
            title=f"Handbook {n}",
            visibility="team",
            state="failed" if n % 500 == 0 else "done",
            error_code="" if n % 500 else "no_text",
        )
        for n in range(DOCUMENTS)
    ]
    revisions = [
        Revision(workspace_id=workspace_id, document=row, number=1, text=TEXT, media_type="text/plain") for row in rows
    ]
    for row, revision in zip(rows, revisions, strict=True):
        row.current_revision = revision.pk
    chunks = [
        Chunk(workspace_id=workspace_id, revision=each, ordinal=0, start=0, end=len(TEXT), tokens=9)
        for each in revisions
    ]
    Document.objects.bulk_create(rows, batch_size=1_000)
    Revision.objects.bulk_create(revisions, batch_size=1_000)
    Chunk.objects.bulk_create(chunks, batch_size=1_000)


def served(client: Client, rounds: int) -> Iterator[Page]:
    for name, address in addresses().items():
        if client.get(address).status_code in (302, 403):  # templates are compiled once
            continue  # a name of earlier days, which leads on; an answer to what is sent
        number = _queries(client, address)
        taken = [_milliseconds(client, address) for _ in range(rounds)]
        times = [wall for wall, _ in taken]
        p95 = quantiles(times, n=20)[-1] if rounds > 1 else times[0]
        yield Page(name, number, median(times), p95, median(own for _, own in taken))


def _queries(client: Client, address: str) -> int:
    asked: list[str] = []

    def note(execute: Any, text: str, *rest: Any) -> Any:
        asked.append(text)
        return execute(text, *rest)

    with connection.execute_wrapper(note):
        client.get(address)
    return len(asked)


def _milliseconds(client: Client, address: str) -> tuple[float, float]:
    """Return milliseconds by the wall clock, and of this process's processor time."""
    started, own = time.perf_counter(), time.process_time()
    answer = client.get(address)
    took, own = time.perf_counter() - started, time.process_time() - own
    if answer.status_code != 200:
        raise RuntimeError(f"{address} answered {answer.status_code}")
    return took * 1e3, own * 1e3


def addresses() -> dict[str, str]:
    """All pages without an id that a member may open, and the page of one row of each kind."""
    found = {"home": reverse("admin:index")}
    for model in site._registry:
        noun = f"{model._meta.app_label}_{model._meta.model_name}"
        if noun.startswith("django_q") or noun in OF_THE_SERVER:
            continue
        found[f"{model._meta.verbose_name_plural}"] = reverse(f"admin:{noun}_changelist")
        row = model._default_manager.order_by("-pk").first()
        if row is not None:
            found[f"a {model._meta.verbose_name}"] = reverse(f"admin:{noun}_change", args=[row.pk])
    found |= {f"page {name}": address for name, address in _own_pages()}
    memories, search = found["memories"], found["page search"]
    return found | {
        "the subject of all memories": _page_of_subject(),
        "memories, all": f"{memories}?state=all",
        "memories, last page": f"{memories}?p=15",
        "search, side by side": f"{search}?query=the+way&ranking=all",
        "documents that failed": f"{found['documents']}?state=failed",
        "documents, words": f"{found['documents']}?q=handbook",
        **{f"search, {each}": f"{search}?query=the+way&ranking={each}" for each in RANKINGS},
        "memories, words": f"{memories}?q=the",
        "pending decisions": f"{found['supersessions']}?state=pending",
        "stuck sessions": f"{found['sessions']}?state=stuck",
        "facts in quarantine": f"{found['facts']}?state=quarantined",
    }


def _page_of_subject() -> str:
    subject = Memory.objects.values_list("subject", flat=True)[0]
    return reverse("admin:workspaces_subject_change", args=[subject])


def _own_pages() -> Iterator[tuple[str, str]]:
    """Those beside the lists, but what only answers a form that is sent, or a script."""
    for admin in site._registry.values():
        for page in getattr(admin, "pages", ()):
            if "<" not in page.path and hasattr(page, "template_name"):
                name = page.name.removeprefix("memories_").replace("_", " ")
                yield name, reverse(f"admin:{page.name}")
    tabs = reverse("admin:memories_rules")
    yield from ((f"rules, {tab}", f"{tabs}?tab={tab}") for tab in ("attributes", "ends", "limits"))
    yield "jump to", f"{reverse('admin:memories_jump')}?q=the"


def lines(pages: Sequence[Page], most_ms: float, most_queries: int) -> Iterator[str]:
    yield f"{'page':32} {'queries':>8} {'p50 ms':>8} {'p95 ms':>8} {'cpu ms':>8}"
    for page in pages:
        over = page.p50 > most_ms or page.queries > most_queries
        mark = "  over" if over else ""
        figures = (page.p50, page.p95, page.processor)
        told = " ".join(f"{figure:8.1f}" for figure in figures)
        yield f"{page.name:32} {page.queries:8} {told}{mark}"
