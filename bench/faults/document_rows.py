"""Documents as their callers were told, beside their rows and their files."""

import hashlib
import os
import time
from collections.abc import Iterator, Mapping, Sequence

from bench.faults.document_acts import Wanted
from bench.faults.outcome import Finding
from bench.faults.rows import DISAGREES, DOUBLED, LOST, STUCK
from bench.server import TrialServer
from memories.documents.chunks import ChunkSizes, cut

HOURS = 2 * 3600.0  # older than any file of a request under way
DONE = "select custom_id from memories_document where state = 'done' and custom_id is not null"
IN_STATE = {
    state: f"select 1 from memories_document where custom_id = %s and state = '{state}'"
    for state in ("extracting", "chunking", "indexing", "embedding", "done")
}
LEARNING = """
select 1 from memories_document d join memories_revision r on r.document_id = d.id
join memories_memorysession s on s.id = r.session_id
where d.custom_id = %s and s.state in ('extracting', 'resolving')"""
GIVEN_UP = "select id::text from memories_document where error_code = 'attempts'"
WAITING = {
    "documents that are not final": """
        select count(*) from memories_document where state not in ('done', 'failed')
        or error_code = 'attempts'""",
    "sessions that are not final": """
        select count(*) from memories_memorysession
        where state in ('received', 'extracting', 'resolving')""",
    "erasures that are not over": """
        select count(*) from memories_erasure where state in ('waiting', 'running')""",
    "runs of the connection": """
        select count(*) from memories_syncrun where state in ('waiting', 'running')""",
    "entries without vectors": "select count(*) from memories_duevector",
}
ROWS = """
select coalesce(d.custom_id, d.filename), d.state, d.error_code, r.id::text, r.text,
       (select count(*) from memories_revision o where o.document_id = d.id),
       (select count(*) from memories_revision o
        where o.document_id = d.id and o.superseded_at is null),
       (select count(*) from memories_chunk c where c.revision_id = r.id),
       (select array_agg(array[p.start, p."end"] order by p.ordinal)
        from memories_passage p where p.revision_id = r.id)
from memories_document d left join memories_revision r on r.id = d.current_revision"""
REPEATED = """
select f.statement from memories_fact f join memories_citation c on c.fact_id = f.id
where c.revision_id is not null
group by c.revision_id, c.start, c."end", f.statement having count(*) > 1"""
MEMORIES = """
select content from memories_memory
where superseded_at is null and forgotten_at is null"""
LEFT = """
select count(*) from memories_revision r
where not exists (select 1 from memories_document d where d.id = r.document_id)
   or r.text like %s"""
BLOBS = "select workspace_id::text, digest, size from memories_blob"
UNNAMED = """
select count(*) from memories_blob b
where not exists (select 1 from memories_document d where d.blob_id = b.id)
  and not exists (select 1 from memories_revision r where r.blob_id = b.id)"""


def findings(server: TrialServer, wanted: Sequence[Wanted], files: Mapping[str, str]) -> Iterator[Finding]:
    """All that is not as it is to be. Raises psycopg.Error."""
    found: dict[str, list[tuple[object, ...]]] = {}
    for name, *row in server.rows(ROWS):
        found.setdefault(str(name), []).append(tuple(row))
    expected = {each.name: (each.text, len(set(each.said))) for each in wanted}
    expected |= {name: (text, 0) for name, text in files.items()}
    for name, (text, said) in expected.items():
        own = found.pop(name, [])
        if text is None:
            if own or server.rows(LEFT, [f"%{name}v%"])[0][0]:
                yield Finding(LOST, f"{name} was erased, and is there")
        elif len(own) != 1:
            yield Finding(DOUBLED if own else LOST, f"{len(own)} documents {name}")
        else:
            yield from _document(name, text, said, own[0])
    for name in found:
        yield Finding(LOST, f"{name} is to be gone, and is there")
    yield from _learned(server, wanted)


def _learned(server: TrialServer, wanted: Sequence[Wanted]) -> Iterator[Finding]:
    """Check that all that was read out of them is there once."""
    memories = [str(row[0]) for row in server.rows(MEMORIES)]
    for (statement,) in server.rows(REPEATED):
        yield Finding(DOUBLED, f"a fact of the same words: {statement[:80]}")
    for each in wanted:
        for claim in each.claims:
            number = sum(claim.split()[2] in memory for memory in memories)
            if number != (each.text is not None):
                kind = DOUBLED if number > 1 else LOST
                yield Finding(kind, f"{number} memories of {each.name}: {claim}")


def _document(name: str, text: str, said: int, row: Sequence[object]) -> Iterator[Finding]:
    state, code, _, kept, revisions, newest, chunks, passages = row
    if state != "done":
        yield Finding(STUCK, f"{name} is {state}: {code}")
        return
    if kept != text:
        yield Finding(LOST, f"{name} does not say what it was given last")
    if newest != 1 or said and int(str(revisions)) > said:
        yield Finding(DOUBLED, f"{revisions} revisions, {newest} newest ones, {said} texts: {name}")
    places = cut(text, (), ChunkSizes())
    wanted = [list(passage) for place in places for passage in place.passages]
    if chunks != len(places) or passages != wanted:
        number = len(passages) if isinstance(passages, list) else 0
        kind = DOUBLED if number > len(wanted) else LOST
        yield Finding(kind, f"{name} has {chunks} chunks, {number} passages, not {len(places)}, {len(wanted)}")


def blobs_agree(server: TrialServer) -> Iterator[Finding]:
    """Every row has its file, every file its row, once files are old enough to be swept."""
    folder = server.data / "blobs"
    files = [each for each in folder.rglob("*") if each.is_file()]
    for each in files:
        os.utime(each, (time.time() - HOURS,) * 2)
    server.run("sweep")
    rows = {f"{space}/{digest[:2]}/{digest}": size for space, digest, size in server.rows(BLOBS)}
    there = {str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file()}
    for name in sorted(there - set(rows)):
        yield Finding(DISAGREES, f"a file without a row: {name}")
    for name, size in rows.items():
        data = (folder / name).read_bytes() if name in there else b""
        if hashlib.sha256(data).hexdigest() != name.rpartition("/")[2] or len(data) != size:
            yield Finding(LOST, f"a row without its file: {name}")
    if number := server.rows(UNNAMED)[0][0]:
        yield Finding(DISAGREES, f"{number} rows of files that nothing names")


def end_leases(server: TrialServer) -> None:
    """End the leases of whoever was killed, as half a minute would."""
    for table in ("document", "memorysession", "syncrun", "erasure"):
        server.rows(f"update memories_{table} set lease_until = now() where lease_until > now() returning 1")
