"""From a kept file to what search finds: read, cut, indexed, embedded. The rows are the queue; each
step can run again, and what was done is found done.
"""

import hashlib
import logging
import uuid
from collections.abc import Sequence
from copy import copy
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime

from memories import leases, metrics, outbox
from memories.documents import blobs
from memories.documents.chunks import ChunkPlace, ChunkSizes, cut
from memories.documents.document_store import allowed_in, read_message, read_plain
from memories.documents.fetch_document import NotNow, fetch_document, is_elsewhere
from memories.documents.hidden_words import (
    HiddenWords,
    hide_words,
    keep_hidden,
    name_without_secrets,
    unmask_names,
    with_masks_before,
)
from memories.documents.read_in_child import read_in_child
from memories.english import clauses
from memories.errors import ProviderError
from memories.file_formats.assembly import FileRefused, FileText
from memories.forgotten_words import forgotten_of, places_in
from memories.index import due_vectors, entries, prepared_sql, rebuild, workspace_index
from memories.index.configured_embedder import embedder_of
from memories.leases import TakenOver
from memories.masked_text import LONGEST_NAME, in_names, is_masked, masked, without_words
from memories.models import (
    Chunk,
    Document,
    DocumentPart,
    Layer,
    MaskedSpan,
    MemorySession,
    Passage,
    Revision,
    WorkspaceIndex,
    passages_of,
)
from memories.providers.web_fetch import FetchError
from memories.workspace_settings import settings_of
from workspaces.models import Workspace
from workspaces.models.workspace import uuid7

# What a document is about, in its own words: the sentences nearest to all that it says.

SENTENCES, READ = 3, 20_000  # chosen; characters that are looked at
SHORTEST_SENTENCE, LONGEST_SENTENCE = 25, 400  # characters of a sentence
CONSIDERED = 120


def summary_of(space: WorkspaceIndex, text: str) -> str:
    """Three sentences of the text in their order; by a remote embedder the first three, for which
    nobody is asked."""
    places = clauses.sentences(text[:READ])
    said = (" ".join(text[start:end].split()) for start, end in places)
    told = [
        one
        for one in said
        if SHORTEST_SENTENCE <= len(one) <= LONGEST_SENTENCE and not one.startswith("#")
    ]
    told = told[:CONSIDERED]
    if len(told) <= SENTENCES or embedder_of(space).is_remote:
        return " ".join(told[:SENTENCES])
    try:
        [vectors] = due_vectors.embed(space, [told])
    except ProviderError:
        return " ".join(told[:SENTENCES])
    known = [(n, vector) for n, vector in enumerate(vectors) if vector is not None]
    if not known:
        return " ".join(told[:SENTENCES])
    middle = np.mean([vector for _, vector in known], axis=0)
    near = sorted(known, key=lambda each: -float(each[1] @ middle))[:SENTENCES]
    return " ".join(told[n] for n in sorted(n for n, _ in near))


State = Document.State
MAX_ATTEMPTS = 4
AGAIN = timedelta(seconds=20)
TRIED_AGAIN = frozenset(("rate_limited", "fetch_failed"))
LONGEST_WAIT = timedelta(minutes=45)  # of a document whose source wants a pause
PARTS_AT_ONCE = 2_000
log = logging.getLogger(__name__)

CLAIM = f"""
update memories_document
set state = 'extracting', attempts = attempts + 1, claims = claims + 1, updated_at = %(now)s,
    lease_until = %(until)s
where id = %(id)s and ((state = 'queued' and next_attempt_at <= %(now)s)
                       or (state in ('extracting', 'chunking', 'embedding', 'indexing')
                           and {leases.FREE}))
returning id
"""


def due(limit: int | None = None) -> list[uuid.UUID]:
    """Documents whose turn it is, and those whose worker died."""
    now = timezone.now()
    abandoned = Q(state__in=Document.WORKING) & leases.free(now)
    rows = Document.objects.filter(Q(state=State.QUEUED, next_attempt_at__lte=now) | abandoned)
    return list(rows.order_by("next_attempt_at").values_list("pk", flat=True)[:limit])


def run(document_id: uuid.UUID, seconds: float = 0.0) -> Document | None:
    """Read a document that is due, as far as it goes; None where another worker has it, or it is
    done."""
    values = {"id": document_id, "now": timezone.now(), "until": leases.end()}
    if not prepared_sql.rows(CLAIM, values):
        return None
    row = Document.objects.select_related("blob", "episode").get(pk=document_id)
    work = DocumentRun(row)
    try:
        with leases.renewed(partial(held, row)) as lease:
            if row.attempts > MAX_ATTEMPTS:
                work.fail("attempts", "Its worker died too often.")
            else:
                work.read(lease.advance)
    except FileRefused as refusal:
        work.refused(refusal.code, refusal.message, may_pass=refusal.code in TRIED_AGAIN)
    except FetchError as error:
        work.refused(error.code, error.message, may_pass=error.is_passing)
    except NotNow as pause:
        work.put_off(pause)
    except TakenOver:
        return None
    return Document.objects.get(pk=document_id)


def held(row: Document) -> QuerySet[Document]:
    """The document, as long as this claim of it stands."""
    return Document.objects.filter(pk=row.pk, claims=row.claims, state__in=Document.WORKING)


def sizes_of(workspace: Workspace) -> ChunkSizes:
    """As the workspace's settings say."""
    own = settings_of(workspace).chunks
    return ChunkSizes(own.size, own.overlap, own.minimum)


@dataclass(slots=True)
class DocumentRun:
    """One worker's turn with a document."""

    row: Document
    began: datetime | None = None
    is_cut_anew: bool = False

    def read(self, advance: Any) -> None:
        row = self.row
        self.enter(State.EXTRACTING)
        if is_elsewhere(row):
            if not self.fetch():
                return
            advance()
        found = self.read_source()
        if not found.text.strip():
            raise FileRefused("no_text", "There is no text in it.")
        self.leave({"characters": len(found.text), "pages": found.pages})
        advance()
        space = workspace_index.index_of(row.workspace_id)
        digest = hashlib.sha256(found.text.encode()).hexdigest()
        allowed = allowed_in(row.workspace_id)
        hidden = hide_words(found, allowed)
        known = row.revision
        is_known = known is not None and known.text_sha256 == digest
        if row.subject is not None and not is_known:
            forgotten = forgotten_of(row.workspace_id, row.subject.external_id)
            hidden = hidden.without(places_in(hidden.text.text, forgotten, is_his=True))
        if not is_known:
            hidden = with_masks_before(hidden, known)
        found = hidden.text
        advance()
        if known is not None and is_known:
            # What somebody asked to forget stays masked, whatever the workspace lets through now.
            kept = known.masks.filter(kind=MaskedSpan.Kind.FORGOTTEN, place="text")
            found.text = masked(found.text, kept.values_list("start", "end"))
            words = in_names(kept.values_list("words", flat=True))
            found.title = without_words(found.title, words)
            for part in found.parts:
                part.label = without_words(part.label, words)
        if not (known and is_known and known.chunks.exists()):
            self.enter(State.CHUNKING)
            places = cut(found.text, found.parts, sizes_of(row.workspace))
            self.leave({"chunks": len(places)})
            summary = "" if row.is_apart else summary_of(space, found.text)
            advance()
            self.enter(State.INDEXING)
            row.title = title_of(row, found)  # lends its words to the entries
            held(row).update(title=row.title)
            plain = copy(row)
            unmask_names(plain)
            keep_hidden(row, {"title": title_of(plain, hidden.original)})
            self.write(space, hidden, digest, places, summary)
            advance()
        if not row.is_apart:  # else its vectors stay due, for nobody waits for them
            self.embed(space, advance)
        found.warnings = [*hidden.warnings, *found.warnings]
        found.warnings += [
            {"code": "words_masked", "part": name}
            for name in ("title", "filename", "metadata")
            if is_masked(str(getattr(row, name)))
        ]
        self.finish(found)

    def fetch(self) -> bool:
        """Bring its file here. False where it is as it was read: then it is done."""
        row = self.row
        found = fetch_document(row)
        if found is None:
            blob = row.revision.blob if row.revision else None
            held(row).update(
                state=State.DONE, blob=blob, error_code="", reason="", attempts=0,
                next_attempt_at=None, lease_until=None, updated_at=timezone.now(),
            )  # fmt: skip
            return False
        if not found.data.strip():
            raise FileRefused("no_text", "There is nothing in it.")
        allowed = allowed_in(row.workspace_id)
        name = name_without_secrets(found.filename[:255], allowed)
        values: dict[str, Any] = {"filename": name or row.filename}
        with (
            blobs.kept(row.workspace_id, [found.data]) as file,
            transaction.atomic(durable=True),
        ):
            row.blob = values["blob"] = file.row()
            row.steps = [*row.steps, self.step("fetching", {"bytes": file.size})]
            row.filename = values["filename"]
            if not held(row).update(**values, steps=row.steps):
                raise TakenOver
            keep_hidden(row, {"filename": found.filename[:255]} if found.filename else {})
        self.began = timezone.now()
        return True

    def read_source(self) -> FileText:
        """Its file, or the message that it is the text of. Raises FileRefused."""
        row = self.row
        if row.episode is not None:
            return read_message(row.episode)
        if row.blob is None:
            raise FileRefused("source_gone", "There is nothing to read.")
        path = blobs.path_of(row.workspace_id, row.blob.digest)
        if not path.is_file():
            raise FileRefused("source_gone", "Its file is not on the disk any more.")
        if row.is_apart:
            return read_plain(path.read_bytes())
        return read_in_child(path, row.filename)

    @transaction.atomic(durable=True)
    def write(
        self,
        space: WorkspaceIndex,
        hidden: HiddenWords,
        digest: str,
        places: Sequence[ChunkPlace],
        summary: str,
    ) -> None:
        """The revision with its parts, chunks and entries, and the old one's off the hot path."""
        row, now, found = self.row, timezone.now(), hidden.text
        revision, old = row.revision, row.revision
        if old is None or old.text_sha256 != digest:
            revision = self.new_revision(found, digest, now)
            if old is not None:
                entries.set_live(space, Layer.CHUNKS, passages_of([old.pk]), live=False)
                Revision.objects.filter(pk=old.pk).update(superseded_at=now)
            revision.save(force_insert=True)
            parts = [
                DocumentPart(workspace_id=row.workspace_id, revision=revision, **asdict(part))
                for part in found.parts
            ]
            DocumentPart.objects.bulk_create(parts, batch_size=PARTS_AT_ONCE)
        else:  # the same words: what the workspace lets through may be other now
            self.is_cut_anew = True
            old.masks.filter(kind=MaskedSpan.Kind.SECRET).delete()
            Revision.objects.filter(pk=old.pk).update(text=found.text)
        assert revision is not None
        MaskedSpan.objects.bulk_create(hidden.masks_of(revision), batch_size=PARTS_AT_ONCE)
        ids = self.write_chunks(revision, places)
        for at in range(0, len(ids), rebuild.BATCH):
            items = rebuild.items_of_truth(Layer.CHUNKS, ids[at : at + rebuild.BATCH])
            entries.write(space, items, None)
        row.revision, row.current_revision, row.summary = revision, revision.pk, summary
        steps = [*row.steps, self.step(State.INDEXING, {"passages": len(ids)})]
        row.steps = steps
        # At the end, so that the lease is renewed until then: who was taken over writes nothing.
        if not held(row).update(current_revision=revision.pk, summary=summary, steps=steps):
            raise TakenOver

    def new_revision(self, found: FileText, digest: str, now: datetime) -> Revision:
        row = self.row
        last = row.revisions.order_by("-number").values_list("number", flat=True).first()
        return Revision(
            workspace_id=row.workspace_id, document=row, number=(last or 0) + 1, blob=row.blob,
            text=found.text, text_sha256=digest, media_type=found.media_type[:150],
            extractor=found.extractor, language=found.language[:20], title=row.title,
            author=found.author[:255], pages=found.pages, created_at=now,
            published_at=row.published_at or moment_of(found.published_at),
        )  # fmt: skip

    def write_chunks(self, revision: Revision, places: Sequence[ChunkPlace]) -> list[uuid.UUID]:
        """The ids of the passages, in their order."""
        own: dict[str, Any] = {"workspace_id": self.row.workspace_id, "revision": revision}
        chunks = [
            Chunk(
                id=uuid7(), ordinal=number, start=each.start, end=each.end,
                heading=each.heading, tokens=each.tokens, **own,
            )
            for number, each in enumerate(places)
        ]  # fmt: skip
        stretches = [
            (chunk, place)
            for chunk, each in zip(chunks, places, strict=True)
            for place in each.passages
        ]
        passages = [
            Passage(id=uuid7(), chunk=chunk, ordinal=number, start=start, end=end, **own)
            for number, (chunk, (start, end)) in enumerate(stretches)
        ]
        Chunk.objects.bulk_create(chunks, batch_size=PARTS_AT_ONCE)
        Passage.objects.bulk_create(passages, batch_size=PARTS_AT_ONCE)
        return [passage.pk for passage in passages]

    def embed(self, space: WorkspaceIndex, advance: Any) -> None:
        """What the embedder cannot do now stays due, and is found by its words meanwhile."""
        self.enter(State.EMBEDDING)
        ids = passages_of([self.row.current_revision]) if self.row.current_revision else []
        for at in range(0, len(ids), due_vectors.BATCH):
            due_vectors.fill(space, ids[at : at + due_vectors.BATCH])
            advance()
        self.leave({"passages": len(ids)})

    def enter(self, state: str) -> None:
        """Begin a step; raises TakenOver where the claim is lost. What stands apart is done with
        before anybody could look at its steps: they are told at its end."""
        self.began = timezone.now()
        values = {"state": state, "lease_until": leases.end(), "updated_at": self.began}
        if not self.row.is_apart and not held(self.row).update(**values):
            raise TakenOver
        self.row.state = state

    def leave(self, counts: dict[str, int]) -> None:
        self.row.steps = [*self.row.steps, self.step(self.row.state, counts)]
        if not self.row.is_apart:
            held(self.row).update(steps=self.row.steps)

    def step(self, name: str, counts: dict[str, int], error: str = "") -> dict[str, Any]:
        began, ended = self.began or timezone.now(), timezone.now()
        return {
            "step": str(name), "startedAt": began.isoformat(), "endedAt": ended.isoformat(),
            "counts": counts, "error": error,
        }  # fmt: skip

    @transaction.atomic(durable=True)
    def finish(self, found: FileText) -> None:
        """It can be searched; what may be learned from it is read by a session of its own."""
        row = self.row
        is_generic = row.type == Document.Type.TEXT and found.type in Document.Type.values
        is_done = held(row).update(
            state=State.DONE, error_code="", reason="", attempts=0, next_attempt_at=None,
            lease_until=None, warnings=found.warnings[:200], updated_at=timezone.now(),
            type=found.type if is_generic else row.type,
        )  # fmt: skip
        is_read = row.extract != Document.Extract.NONE and not row.is_apart
        if is_done and row.revision is not None and is_read:
            learn_from(row, row.revision, again=self.is_cut_anew)
        metrics.count("documents_finished", outcome="done", type=row.type)

    def refused(self, code: str, message: str, *, may_pass: bool) -> None:
        """Failed, until somebody tries it again; what passes by itself is due again."""
        row = self.row
        if may_pass and row.attempts < MAX_ATTEMPTS:
            held(row).update(
                state=State.QUEUED, reason=message, lease_until=None,
                next_attempt_at=timezone.now() + AGAIN * 2**row.attempts,
            )  # fmt: skip
            return
        self.fail(code, message)

    def put_off(self, pause: NotNow) -> None:
        """No attempt: its source does not want to be asked now."""
        held(self.row).update(
            state=State.QUEUED, reason=pause.message, lease_until=None, attempts=F("attempts") - 1,
            next_attempt_at=min(pause.until, timezone.now() + LONGEST_WAIT),
        )  # fmt: skip

    def fail(self, code: str, message: str) -> None:
        row = self.row
        held(row).update(
            state=State.FAILED, error_code=code, reason=message, next_attempt_at=None,
            lease_until=None, steps=[*row.steps, self.step(row.state, {}, code)],
            updated_at=timezone.now(),
        )  # fmt: skip
        log.info("document %s of workspace %s failed: %s", row.pk, row.workspace_id, code)
        metrics.count("documents_finished", outcome=code, type=row.type)


def learn_from(row: Document, revision: Revision, *, again: bool) -> None:
    """A session that reads memories out of a revision, due for the worker; one that has done so
    reads it `again` where that is asked."""
    if revision.session_id is None:
        session = MemorySession(
            workspace_id=row.workspace_id, subject_id=row.subject_id, agent_id=row.agent_id,
            visibility=row.visibility, pathway=MemorySession.Pathway.DOCUMENT,
            mode=MemorySession.Mode.ASYNC, extract=row.extract, requested_by=row.requested_by,
            next_attempt_at=timezone.now(),
        )  # fmt: skip
        session.save(force_insert=True)
        Revision.objects.filter(pk=revision.pk).update(session=session)
        outbox.post("run_session", session.pk)
    elif again:
        rows = MemorySession.objects.filter(pk=revision.session_id, state__in=MemorySession.FINAL)
        rows.update(
            state=MemorySession.State.RECEIVED, attempts=0, failures=0, learned=0, error="",
            next_attempt_at=timezone.now(),
        )  # fmt: skip
        outbox.post("run_session", revision.session_id)


def title_of(row: Document, found: FileText) -> str:
    """What the caller said, what the file says, its first heading, its name, its first line."""
    heading = next((part.label for part in found.parts if part.kind == "heading"), "")
    first = found.text.lstrip().partition("\n")[0]
    told = row.given_title or found.title or heading or row.filename or first
    return " ".join(told.split())[:LONGEST_NAME]


def moment_of(text: str) -> datetime | None:
    """A time out of a file's own properties; None where it is none."""
    try:
        moment = parse_datetime(text)
        if moment is None and (day := parse_date(text[:10])):
            moment = datetime(day.year, day.month, day.day)
    except ValueError:
        return None
    if moment is None or not 1900 <= moment.year <= 2200:
        return None
    return moment if moment.tzinfo else timezone.make_aware(moment)
