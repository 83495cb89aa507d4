"""The pipeline of documents, from a kept file to search: read, cut, indexed, embedded. The rows are
the queue; each step can run again, and skips what is done."""

import hashlib
import logging
import math
import time
import uuid
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime

from memories import metrics
from memories.belief.resolve.forgotten_words import ForgottenWords, for_document, places_in
from memories.documents import blobs, document_queue
from memories.documents.chunks import ChunkPlace, ChunkSizes, cut
from memories.documents.document_queue import MAX_ATTEMPTS as MAX_ATTEMPTS
from memories.documents.document_queue import QUEUE
from memories.documents.document_queue import due as due
from memories.documents.document_store import allowed_by, allowed_in
from memories.documents.fetch_document import UNTIL_ROOM, NotNow, fetch_document, is_elsewhere, is_repository
from memories.documents.hidden_words import (
    HiddenWords,
    hide_words,
    keep_hidden,
    name_without_secrets,
    of_title,
    unmask_names,
    with_masks_before,
)
from memories.documents.index_revision import RevisionSteps
from memories.documents.long_texts import read_message, read_plain
from memories.documents.read_in_child import read_in_child
from memories.errors import NoRoom, WorkspaceFull
from memories.file_formats.assembly import FileRefused, FileText
from memories.index import due_vectors, workspace_index
from memories.models import (
    Chunk,
    Document,
    DocumentPart,
    DueVector,
    MaskedSpan,
    MemorySession,
    Passage,
    Revision,
    WorkspaceIndex,
)
from memories.providers.web_fetch import FetchError
from memories.queue import leases, outbox
from memories.queue.due_rows import DIED
from memories.queue.leases import TakenOver
from memories.reading.guard.masked_text import LONGEST_NAME, in_names, is_masked, masked, without_words
from memories.settings.workspace_settings import settings_of
from memoryproject.postgres import crossings
from workspaces.models import Workspace
from workspaces.models.workspace import uuid7

State, Stage = Document.State, Revision.Stage
TRIED_AGAIN = frozenset(("rate_limited", "fetch_failed"))
LONGEST_WAIT = timedelta(minutes=45)  # of a document whose source wants a pause
PARTS_AT_ONCE = 2_000
log = logging.getLogger(__name__)


def run(document_id: uuid.UUID, seconds: float = math.inf) -> Document | None:
    """Read a document that is due, as far as it goes in about `seconds`: what is left then is due
    at once. None where another worker has it, or it is done."""
    row = document_queue.claim(document_id)
    return None if row is None else _claimed(row, seconds)


def run_next(seconds: float = math.inf) -> Document | None:
    """Run the document whose turn it is, like `run`; None where none is due, or as many are being
    worked on as may be."""
    row = document_queue.claim_next()
    if row is None:
        return None
    try:
        with crossings.of_row("memories_document", row.pk):
            return _claimed(row, seconds)
    finally:
        document_queue.ring()


def run_in_turns(document_id: uuid.UUID, seconds: float) -> Document | None:
    """Go on with a document for about `seconds`, turn by turn, so that others have theirs; None
    where nothing could be done."""
    until, done = time.monotonic() + seconds, None
    while time.monotonic() < until and document_queue.waits(document_id):
        done = run_next(document_queue.TURN) or done
        if done is None:
            break
    return done


def _claimed(row: Document, seconds: float) -> Document | None:
    work = DocumentRun(row, time.monotonic() + seconds)
    try:
        with QUEUE.renewed(row) as lease:
            if QUEUE.died_too_often(row):
                work.fail("attempts", DIED)
            else:
                work.read(lease.advance)
    except FileRefused as refusal:
        work.refused(refusal.code, refusal.message, may_pass=refusal.code in TRIED_AGAIN)
    except FetchError as error:
        work.refused(error.code, error.message, may_pass=error.is_passing)
    except NotNow as pause:
        work.put_off(pause)
    except NoRoom as full:
        # Where a smaller file may have room, this one is not fetched in vain all the time.
        wait = LONGEST_WAIT if isinstance(full, WorkspaceFull) else UNTIL_ROOM
        work.put_off(NotNow(timezone.now() + wait, full.message))
    except TurnIsOver:
        work.hand_over()
    except TakenOver:
        return None
    return Document.objects.get(pk=row.pk)


def sizes_of(workspace: Workspace) -> ChunkSizes:
    """Return the chunk sizes of the workspace's settings."""
    own = settings_of(workspace).chunks
    return ChunkSizes(own.size, own.overlap, own.minimum)


class TurnIsOver(Exception):
    """The end of a turn: others have theirs; what is done stays."""


@dataclass(slots=True)
class DocumentRun:
    """One worker's turn with a document, which is over at `until`."""

    row: Document
    until: float
    began: datetime | None = None
    forgotten: set[ForgottenWords] | None = None  # statements by which its text was masked

    def read(self, advance: Any) -> None:
        row = self.row
        space = workspace_index.index_of(row.workspace_id)
        was_read = row.state in (State.INDEXING, State.EMBEDDING)  # and another had it until now
        begun = self.begun()
        was_read = self.go_on(space, advance, begun) or was_read
        if was_read and row.revisions.filter(superseded_at=None, blob=row.blob, stage="").exists():
            return self.finish()
        if is_elsewhere(row):
            self.enter(State.EXTRACTING)
            if not self.fetch():
                return
            advance()
        staged = next((each for each in begun if each.stage == Stage.COMING), None)
        if staged is not None and staged.blob_id != row.blob_id:  # other words came meanwhile
            Revision.objects.filter(pk=staged.pk).update(stage=Stage.GONE, indexed=0)
            self.go_on(space, advance, self.begun())
            staged = None
        if staged is None:
            staged = self.stage(space, advance)
        if staged is not None:
            self.index(space, staged, advance)
            self.go_on(space, advance, self.begun())  # the one before leaves
        else:
            self.embed(space, row.current_revision, advance)
        self.finish()

    def begun(self) -> list[Revision]:
        """Return the revisions with which something was begun."""
        return list(self.row.revisions.exclude(stage="").defer("text").order_by("number"))

    def go_on(self, space: WorkspaceIndex, advance: Any, begun: Iterable[Revision]) -> bool:
        """Finish what was begun with revisions that exist: they leave, or are indexed again. Return
        whether the document's current text is among them."""
        is_current = False
        for revision in begun:
            if revision.stage == Stage.COMING:
                continue
            if revision.stage in Revision.WRITING:
                self.index(space, revision, advance)
                is_current = is_current or revision.superseded_at is None
                continue
            steps = RevisionSteps(space, revision, self.held)
            while steps.take_off_next():
                self.step_done(advance)
            steps.settle()
        return is_current

    def stage(self, space: WorkspaceIndex, advance: Any) -> Revision | None:
        """Read its source and keep the words, which are then to be indexed; None where it says what
        it said."""
        row = self.row
        self.enter(State.EXTRACTING)
        found = self.read_source()
        if not found.text.strip():
            left_out = ", ".join(f"{each['part']} ({each['code']})" for each in found.warnings[:5])
            raise FileRefused("no_text", f"There is no text in it. Left out: {left_out or 'nothing'}.")
        self.leave({"characters": len(found.text), "pages": found.pages})
        advance()
        digest = hashlib.sha256(found.text.encode()).hexdigest()
        hidden = hide_words(found, allowed_by(space))
        known = row.revision
        is_known = known is not None and known.text_sha256 == digest
        if not is_known:
            forgotten = for_document(space, row, hidden.text.text)
            self.forgotten = set(forgotten)
            again = places_in(hidden.text.text, forgotten, is_his=True)
            if forgotten:
                hidden = hidden.without(again, forgotten, [row.given_title])
            hidden = with_masks_before(hidden, known)
        found = hidden.text
        advance()
        if known is not None and is_known:
            # Words that somebody asked to forget stay masked, whatever the workspace lets through
            # now.
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
            plain = copy(row)
            unmask_names(plain)
            names = {"title": title_of(plain, hidden.original)}
            if (given := without_words(row.given_title, hidden.told)) != row.given_title:
                row.given_title, names["given_title"] = given, plain.given_title
                QUEUE.held(row).update(given_title=given)
            row.title = title_of(row, found)  # lends its words to the entries
            keep_hidden(row, names, hidden.told)
            self.note(found, hidden, title=row.title)
            return self.write(hidden, digest, places)
        self.note(found, hidden)
        return None

    def index(self, space: WorkspaceIndex, revision: Revision, advance: Any) -> None:
        """Its entries with their vectors, in steps; then it is what the document says. What the
        embedder cannot do now stays due, and is found by its words meanwhile."""
        steps, is_shown = RevisionSteps.of(space, revision, self.held), False
        steps.forgotten = self.forgotten
        learning = partial(learn_from, self.row.pk, revision, again=True)
        then = learning if revision.stage == Stage.CUT else lambda: None
        while not is_shown:  # more was forgotten meanwhile
            self.enter(State.INDEXING)
            while not steps.is_written and steps.write_next():
                self.step_done(advance)
            self.leave({"passages": revision.indexed})
            self.embed(space, revision.pk, advance)
            if revision.superseded_at is not None and revision.stage == Stage.REFILL:
                return steps.settle()
            is_shown = steps.show(then)

    def step_done(self, advance: Any) -> None:
        """Note that a step is done. Raises TurnIsOver, between two steps."""
        advance()
        if self.row.attempts > 1:
            QUEUE.keep(self.row)
        if time.monotonic() >= self.until:
            raise TurnIsOver

    def held(self) -> QuerySet[Document]:
        return QUEUE.held(self.row)

    def note(self, found: FileText, hidden: HiddenWords, **values: str) -> None:
        """Save the warnings that are reported at the end, which another worker may reach, and other
        `values`. Raises TakenOver."""
        row = self.row
        row.warnings = [*hidden.warnings, *found.warnings]
        row.warnings += [
            {"code": "words_masked", "part": name}
            for name in ("title", "filename", "metadata")
            if is_masked(str(getattr(row, name)))
        ]
        row.warnings = row.warnings[:200]
        if row.type == Document.Type.TEXT and found.type in Document.Type.values:
            row.type = Document.Type.REPOSITORY if is_repository(row) else found.type
        if not QUEUE.held(row).update(warnings=row.warnings, type=row.type, **values):
            raise TakenOver

    def fetch(self) -> bool:
        """Fetch its file. False where it is the same as was read: then it is done."""
        row = self.row
        found = fetch_document(row)
        if found is None:
            blob = row.revision.blob if row.revision else None
            QUEUE.leave(row, None, state=State.DONE, blob=blob, error_code="", reason="", attempts=0)
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
            if not QUEUE.held(row).update(**values, steps=row.steps):
                raise TakenOver
            keep_hidden(row, {"filename": found.filename[:255]} if found.filename else {})
        self.began = timezone.now()
        return True

    def read_source(self) -> FileText:
        """Read its file, or the message that it is the text of. Raises FileRefused."""
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
    def write(self, hidden: HiddenWords, digest: str, places: Sequence[ChunkPlace]) -> Revision:
        """The revision with its parts and chunks, before it has an entry: nobody waits for this,
        for the index is not touched."""
        row, now, found = self.row, timezone.now(), hidden.text
        revision, old = row.revision, row.revision
        if old is None or old.text_sha256 != digest:
            revision = self.new_revision(found, digest, now)
            revision.save(force_insert=True)
            parts = [
                DocumentPart(workspace_id=row.workspace_id, revision=revision, **asdict(part)) for part in found.parts
            ]
            DocumentPart.objects.bulk_create(parts, batch_size=PARTS_AT_ONCE)
        else:  # the same words: what the workspace lets through may be other now
            old.masks.filter(kind=MaskedSpan.Kind.SECRET).delete()
            old.stage, old.indexed = Stage.CUT, 0
            rows = Revision.objects.filter(pk=old.pk)
            rows.update(text=found.text, stage=old.stage, indexed=0)
        assert revision is not None
        masks = hidden.masks_of(revision)
        if hidden.told:
            titled = row.masks.filter(place="title", kind=MaskedSpan.Kind.FORGOTTEN)
            masks += of_title(revision, titled, hidden.told)
        MaskedSpan.objects.bulk_create(masks, batch_size=PARTS_AT_ONCE)
        self.write_chunks(revision, places)
        # At the end, so that the lease is renewed until then: who was taken over writes nothing.
        if not QUEUE.held(row).update(updated_at=timezone.now()):
            raise TakenOver
        return revision

    def new_revision(self, found: FileText, digest: str, now: datetime) -> Revision:
        row = self.row
        last = row.revisions.order_by("-number").values_list("number", flat=True).first()
        return Revision(
            workspace_id=row.workspace_id,
            document=row,
            number=(last or 0) + 1,
            blob=row.blob,
            text=found.text,
            text_sha256=digest,
            media_type=found.media_type[:150],
            extractor=found.extractor,
            language=found.language[:20],
            title=row.title,
            author=found.author[:255],
            pages=found.pages,
            created_at=now,
            superseded_at=now,
            stage=Stage.COMING,
            published_at=row.published_at or moment_of(found.published_at),
        )

    def write_chunks(self, revision: Revision, places: Sequence[ChunkPlace]) -> None:
        own: dict[str, Any] = {"workspace_id": self.row.workspace_id, "revision": revision}
        chunks = [
            Chunk(
                id=uuid7(),
                ordinal=number,
                start=each.start,
                end=each.end,
                heading=each.heading,
                tokens=each.tokens,
                **own,
            )
            for number, each in enumerate(places)
        ]
        stretches = [(chunk, place) for chunk, each in zip(chunks, places, strict=True) for place in each.passages]
        passages = [
            Passage(id=uuid7(), chunk=chunk, ordinal=number, start=start, end=end, **own)
            for number, (chunk, (start, end)) in enumerate(stretches)
        ]
        Chunk.objects.bulk_create(chunks, batch_size=PARTS_AT_ONCE)
        Passage.objects.bulk_create(passages, batch_size=PARTS_AT_ONCE)

    def embed(self, space: WorkspaceIndex, revision: uuid.UUID | None, advance: Any) -> None:
        if self.row.is_apart:
            return  # its vectors stay due, for nobody waits for them
        self.enter(State.EMBEDDING)
        waiting = DueVector.objects.filter(
            workspace=space.number,
            next_attempt_at__lte=timezone.now(),
            entry__item__in=Passage.places.filter(revision=revision).values("pk"),
        )
        ids = list(waiting.order_by("pk").values_list("pk", flat=True))
        for at in range(0, len(ids), due_vectors.BATCH):
            due_vectors.fill_entries(space, ids[at : at + due_vectors.BATCH])
            self.step_done(advance)
        self.leave({"passages": len(ids)})

    def enter(self, state: str) -> None:
        """Begin a step; raises TakenOver where the claim is lost. What stands apart is done with
        before anybody could look at its steps: they are told at its end."""
        self.began = timezone.now()
        values = {"state": state, "lease_until": leases.end(), "updated_at": self.began}
        if not self.row.is_apart and not QUEUE.held(self.row).update(**values):
            raise TakenOver
        self.row.state = state

    def leave(self, counts: dict[str, int]) -> None:
        self.row.steps = [*self.row.steps, self.step(self.row.state, counts)]
        if not self.row.is_apart:
            QUEUE.held(self.row).update(steps=self.row.steps)

    def step(self, name: str, counts: dict[str, int], error: str = "") -> dict[str, Any]:
        began, ended = self.began or timezone.now(), timezone.now()
        return {
            "step": str(name),
            "startedAt": began.isoformat(),
            "endedAt": ended.isoformat(),
            "counts": counts,
            "error": error,
        }

    @transaction.atomic(durable=True)
    def finish(self) -> None:
        """Mark it searchable; a session of its own reads what may be learned from it."""
        row = self.row
        is_done = QUEUE.leave(row, None, state=State.DONE, error_code="", reason="", attempts=0, steps=row.steps)
        if is_done and row.extract != Document.Extract.NONE:
            for revision in row.revisions.filter(superseded_at=None):
                learn_from(row.pk, revision, again=False)
        metrics.count("documents_finished", outcome="done", type=row.type)

    def hand_over(self) -> None:
        """Make it due for another turn, which is no attempt."""
        QUEUE.give_back(self.row)
        outbox.post("run_document", self.row.pk)

    def refused(self, code: str, message: str, *, may_pass: bool) -> None:
        """Mark it failed until somebody tries it again; an error that passes by itself makes it due
        again."""
        if may_pass and (again_at := QUEUE.retry_at(self.row)) is not None:
            QUEUE.leave(self.row, again_at, state=State.QUEUED, reason=message)
        else:
            self.fail(code, message)

    def put_off(self, pause: NotNow) -> None:
        """Put it off, which is no attempt: its source does not want to be asked now."""
        until = min(pause.until, timezone.now() + LONGEST_WAIT)
        attempts = self.row.attempts - 1
        QUEUE.leave(self.row, until, state=State.QUEUED, reason=pause.message, attempts=attempts)

    def fail(self, code: str, message: str) -> None:
        row = self.row
        steps = [*row.steps, self.step(row.state, {}, code)]
        QUEUE.leave(row, None, state=State.FAILED, error_code=code, reason=message, steps=steps)
        log.info("document %s of workspace %s failed: %s", row.pk, row.workspace_id, code)
        metrics.count("documents_finished", outcome=code, type=row.type)


def learn_from(document_id: uuid.UUID, revision: Revision, *, again: bool) -> None:
    """A session that reads memories out of a revision, due for the worker, as the document is by
    now; one that has done so reads it `again` where that is asked. Nothing where none are wanted,
    or it stands apart."""
    row = Document.objects.get(pk=document_id)
    if row.extract == Document.Extract.NONE or row.is_apart:
        return
    if revision.session_id is None:
        session = MemorySession(
            workspace_id=row.workspace_id,
            subject_id=row.subject_id,
            agent_id=row.agent_id,
            visibility=row.visibility,
            pathway=MemorySession.Pathway.DOCUMENT,
            mode=MemorySession.Mode.ASYNC,
            extract=row.extract,
            requested_by=row.requested_by,
            next_attempt_at=timezone.now(),
        )
        session.save(force_insert=True)
        Revision.objects.filter(pk=revision.pk).update(session=session)
        outbox.post("run_session", session.pk)
    elif again:
        MemorySession.objects.filter(pk=revision.session_id, state__in=MemorySession.FINAL).start_again()
        outbox.post("run_session", revision.session_id)


def title_of(row: Document, found: FileText) -> str:
    """Return the caller's title, or else the file's, its first heading, its name or its first
    line."""
    heading = next((part.label for part in found.parts if part.kind == "heading"), "")
    first = found.text.lstrip().partition("\n")[0]
    told = row.given_title or found.title or heading or row.filename or first
    return " ".join(told.split())[:LONGEST_NAME]


def moment_of(text: str) -> datetime | None:
    """Return the time in a file's own properties; None where it is none."""
    try:
        moment = parse_datetime(text)
        if moment is None and (day := parse_date(text[:10])):
            moment = datetime(day.year, day.month, day.day)
    except ValueError:
        return None
    if moment is None or not 1900 <= moment.year <= 2200:
        return None
    return moment if moment.tzinfo else timezone.make_aware(moment)
