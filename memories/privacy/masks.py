"""Words hidden from everybody: taken out of rows and index, kept aside, put back on undo.

Every reader of a row gets blocks there, so no place that serves text has to know of masks. Each act
runs in the caller's transaction, which holds the workspace's lock; `fill` comes after it. A new
episode is masked before it is written: `of_new`.
"""

import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from django.db import connection
from django.db.models import BooleanField, Q, QuerySet
from django.db.models.expressions import RawSQL

from memories.documents import document_store, long_texts
from memories.documents.document_summary import summary_of
from memories.errors import Forbidden
from memories.index import due_vectors, entries, rebuild, repair, row_marks
from memories.models import (
    Chunk,
    Document,
    DocumentPart,
    Episode,
    Fact,
    IdempotentAnswer,
    Layer,
    MaskedSpan,
    Memory,
    MemorySession,
    Miss,
    Passage,
    Rejection,
    Revision,
    WorkspaceIndex,
    passages_of,
)
from memories.privacy import irrevocable
from memories.profiles.features import set_queue
from memories.profiles.features.follow_sources import remove_standing_on
from memories.profiles.summaries import running_summary, talk_summaries
from memories.quality.golden_questions import drop_standing_on
from memories.reading.guard.masked_text import (
    BLOCK,
    Span,
    in_names,
    masked,
    places_of,
    text_at,
    unmasked,
    with_text_at,
    with_words,
    without_words,
)
from memoryproject.postgres import crossings
from workspaces.models import AuditEntry
from workspaces.scope import Scope

Target = Episode | Memory | Fact | Revision | Document
MODELS: Mapping[str, type[Target]] = {
    "episode": Episode,
    "memory": Memory,
    "fact": Fact,
    "revision": Revision,
    "document": Document,
}
JSON_COLUMNS = ("payload", "metadata")  # of an episode, which repeat what it says
SHORTEST = 4  # characters; what is shorter stands in a payload by chance
MANY = 100  # entries that are written anew at once, while the workspace's writers wait
# Ids in a kept answer, compared with given ones.
NAMES_SOME = """exists (
  select 1 from regexp_matches(body::text, '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}', 'g') m
  where m[1]::uuid = any(%s::uuid[]))
"""
WRITTEN = Q(before__isnull=False) | Q(after__isnull=False) | ~Q(reason="")  # lines with values
QUOTES = """
update {table} c set quote = substr(e.content, c.start + 1, c."end" - c.start)
from memories_episode e where e.id = c.episode_id and e.id = any(%(ids)s::uuid[])
"""
DOCUMENT_QUOTES = """
update memories_citation c set quote = substr(r.text, c.start + 1, c."end" - c.start)
from memories_revision r where r.id = c.revision_id and r.id = any(%(ids)s::uuid[])
"""


@dataclass(frozen=True, slots=True)
class MaskReason:
    """The reason why words are masked; `cause` is the intent, the quarantined fact or the forgotten
    memory: undoing it undoes the mask."""

    kind: str
    reason: str = ""
    cause: uuid.UUID | None = None


def of_new(episode: Episode, spans: Iterable[Span], why: MaskReason, words: Collection[str] = ()) -> list[MaskedSpan]:
    """Mask an unsaved episode, wherever it repeats the words, and `words` of its payload and
    metadata; returns the unsaved masks, to be written after it."""
    return _take(episode, _places(episode, sorted(spans), words), why)


def of_new_fact(fact: Fact, spans: Iterable[Span], why: MaskReason) -> list[MaskedSpan]:
    """Mask an unsaved fact; as `of_new`."""
    return _take(fact, [("statement", span) for span in sorted(spans)], why)


def of_new_memory(memory: Memory, spans: Iterable[Span], why: MaskReason) -> list[MaskedSpan]:
    """Mask an unsaved memory; as `of_new`."""
    return _take(memory, [("content", span) for span in sorted(spans)], why)


def copied(fact: Fact, row: Memory | Fact, cause: uuid.UUID) -> list[MaskedSpan]:
    """The unsaved masks, for `cause`, of a row that contains the words of a fact, masked alike."""
    target = {"memory": row} if isinstance(row, Memory) else {"fact": row}
    place = "content" if isinstance(row, Memory) else "statement"
    return [
        MaskedSpan(
            workspace_id=each.workspace_id,
            place=place,
            start=each.start,
            end=each.end,
            words=each.words,
            kind=each.kind,
            reason=each.reason,
            cause=cause,
            **target,
        )
        for each in fact.masks.filter(place="statement").order_by("pk")
    ]


def original_of(fact: Fact) -> str:
    """The statement of a fact as it was read. Callers that show it must audit that."""
    rows = fact.masks.filter(place="statement").order_by("pk")
    return unmasked(fact.statement, [(each.start, each.words) for each in rows])


def mask_episodes(
    space: WorkspaceIndex, spans: Mapping[uuid.UUID, Iterable[Span]], why: MaskReason
) -> list[MaskedSpan]:
    """Mask these spans of episodes. Features, summaries and notes that stand on them are deleted
    and rebuilt from the rest; quotes and kept answers are masked with them."""
    rows = list(Episode.objects.filter(pk__in=spans).select_for_update().order_by("pk"))
    made: list[MaskedSpan] = []
    for episode in rows:
        own = [(a, b) for a, b in spans[episode.pk] if episode.content[a:b].strip("█ \n")]
        taken = _take(episode, _places(episode, sorted(own)), why)
        _save(episode, taken)
        made += taken
    MaskedSpan.objects.bulk_create(made)
    ids = [episode.pk for episode in rows if any(one.episode_id == episode.pk for one in made)]
    words = [one.words for one in made]
    _follow_episodes(space, ids)
    remove_standing_on(space, {pk: tuple(spans[pk]) for pk in ids})
    Miss.objects.filter(episode__in=ids).delete()
    drop_standing_on(space.workspace_id, ids, words)
    sessions = {episode.session_id for episode in rows if episode.session_id}
    _mask_notes(sessions, words)
    _mask_answers(space, [*ids, *sessions], words)
    irrevocable.note_masks(irrevocable.MASKED, made)
    return made


def mask_documents(
    space: WorkspaceIndex, spans: Mapping[uuid.UUID, Iterable[Span]], why: MaskReason
) -> list[MaskedSpan]:
    """Mask these spans of revisions, and wherever another revision of the same document repeats
    their words, and its title, headings and metadata, with the quotes and the search index."""
    words: dict[uuid.UUID, set[str]] = {}  # by document
    for revision in Revision.objects.filter(pk__in=spans):
        said = {revision.text[start:end].strip(f"{BLOCK} \n") for start, end in spans[revision.pk]}
        words.setdefault(revision.document_id, set()).update(said)
    made: list[MaskedSpan] = []
    rows = Revision.objects.filter(document__in=words).select_for_update(of=("self",))
    for revision in rows.order_by("pk"):
        own = sorted(each for each in words[revision.document_id] if len(each) >= SHORTEST)
        taken = _take(revision, [("text", span) for _, span in places_of(revision.text, own)], why)
        named = places_of(revision.title, in_names(own))
        taken += _take(revision, [("title", span) for _, span in named], why)
        _save(revision, taken)
        made += taken
    for document in Document.objects.filter(pk__in=words).select_for_update().order_by("pk"):
        own = in_names(each for each in words[document.pk] if len(each) >= SHORTEST)
        places = [
            (column + pointer, span)
            for column in ("title", "given_title", "metadata")
            for pointer, span in places_of(getattr(document, column), own)
        ]
        taken = _take(document, places, why)
        _save(document, taken)
        made += taken
        _rename_pieces(document.pk, partial(without_words, words=own))
    MaskedSpan.objects.bulk_create(made)
    _follow_documents(space, made)
    irrevocable.note_masks(irrevocable.MASKED, made)
    return made


def mask_memories(
    space: WorkspaceIndex, ids: Iterable[uuid.UUID], why: MaskReason, words: Sequence[str] = ()
) -> list[MaskedSpan]:
    """Mask whole memories, which the caller forgets, with the statements of their facts and the
    values in the log; or only these `words`, wherever the memories contain them."""
    memories = list(Memory.objects.filter(pk__in=ids).select_for_update().order_by("pk"))
    facts = list(Fact.objects.filter(memory__in=memories).order_by("pk"))
    made: list[MaskedSpan] = []
    rows: list[Memory | Fact] = [*memories, *facts]
    for row in rows:
        place = "content" if isinstance(row, Memory) else "statement"
        said = {place: getattr(row, place), "entities": row.entities}
        whole = {place: (0, len(said[place]))} | {
            f"entities/{at}": (0, len(text)) for at, text in enumerate(row.entities) if text
        }
        named = [(pointer[1:], span) for pointer, span in places_of(said, words)]
        taken = _take(row, named if words else whole.items(), why)
        _save(row, taken)
        made += taken
    MaskedSpan.objects.bulk_create(made)
    known = [memory.pk for memory in memories]
    for rejection in Rejection.objects.filter(memory__in=known):
        content = without_words(rejection.content, words or [rejection.content])
        Rejection.objects.filter(pk=rejection.pk).update(content=content)
    _reindex(space, Layer.MEMORIES, known)
    touched = [*known, *(fact.pk for fact in facts)]
    if not words:
        blank(AuditEntry.objects.filter(workspace_id=space.workspace_id, target_id__in=touched))
    texts = [one.words for one in made if len(one.words) >= SHORTEST]
    drop_standing_on(space.workspace_id, known, texts)
    _mask_notes({fact.session_id for fact in facts if fact.session_id}, texts)
    _mask_answers(space, touched, texts)
    irrevocable.note_masks(irrevocable.MASKED, made)
    if not words:
        irrevocable.note_memories(irrevocable.FORGOTTEN, (m for m in memories if m.forgotten_at))
    return made


def _rename_pieces(document_id: uuid.UUID, renamed: Callable[[str], str]) -> None:
    """Rename a document's part labels and chunk headings, which its text contains."""
    for part in DocumentPart.objects.filter(revision__document=document_id):
        if (label := renamed(part.label)) != part.label:
            DocumentPart.objects.filter(pk=part.pk).update(label=label)
    for chunk in Chunk.objects.filter(revision__document=document_id).exclude(heading=""):
        if (heading := renamed(chunk.heading)) != chunk.heading:
            Chunk.objects.filter(pk=chunk.pk).update(heading=heading)


def refuse_unmasking(scope: Scope, masks: QuerySet[MaskedSpan]) -> None:
    """Raise Forbidden if there are words to put back and the caller may see no masked words:
    whatever the act is, it would let them read the words."""
    if not scope.may_unmask and masks.exists():
        raise Forbidden("An agent's key sees no masked words.")


def unmask(scope: Scope, space: WorkspaceIndex, masks: QuerySet[MaskedSpan]) -> list[uuid.UUID]:
    """Put words back, except those that another mask keeps; returns the ids of their rows. Their
    features and summaries are rebuilt. Raises Forbidden as `refuse_unmasking` does."""
    refuse_unmasking(scope, masks)
    rows = list(masks)
    going = {each.pk for each in rows}
    touched: dict[str, list[uuid.UUID]] = {}
    for name, model in MODELS.items():
        ids = {pk for each in rows if (pk := getattr(each, f"{name}_id"))}
        for row in model._default_manager.filter(pk__in=ids).select_for_update().order_by("pk"):
            # Put all words back, then mask those of the remaining masks again, oldest first.
            own = list(row.masks.order_by("pk"))
            for each in reversed(own):
                value = getattr(row, each.column)
                text = unmasked(text_at(value, each.pointer), [(each.start, each.words)])
                setattr(row, each.column, with_text_at(value, each.pointer, text))
            staying = [each for each in own if each.pk not in going]
            for each in staying:
                value = getattr(row, each.column)
                text = text_at(value, each.pointer)
                each.words = text[each.start : each.end]
                hidden = masked(text, [(each.start, each.end)])
                setattr(row, each.column, with_text_at(value, each.pointer, hidden))
            MaskedSpan.objects.bulk_update(staying, ["words"])
            _save(row, own)
            touched.setdefault(name, []).append(row.pk)
    MaskedSpan.objects.filter(pk__in=going).delete()
    irrevocable.note_masks(irrevocable.UNMASKED, rows)
    episodes, memories = touched.get("episode", []), touched.get("memory", [])
    for rejection in Rejection.objects.filter(memory__in=memories).select_related("memory"):
        if rejection.memory is not None:
            text = rejection.memory.content
            Rejection.objects.filter(pk=rejection.pk).update(content=text)
    _follow_episodes(space, episodes)
    texts = sorted(in_names(each.words for each in rows), key=len, reverse=True)
    written = Revision.objects.filter(pk__in=touched.get("revision", []))
    named = {*touched.get("document", []), *written.values_list("document", flat=True)}
    for document_id in named:
        _rename_pieces(document_id, partial(with_words, words=texts))
    _follow_documents(space, rows)
    if episodes:
        set_queue.unmark(space.workspace_id, episodes)
    _reindex(space, Layer.MEMORIES, memories)
    return [pk for ids in touched.values() for pk in ids]


def fill(space: WorkspaceIndex, masks: Iterable[MaskedSpan]) -> None:
    """Embed the rest of masked rows; after the transaction, for an embedder may be far away."""
    made = list(masks)
    revisions = {each.revision_id for each in made if each.revision_id}
    named = {each.document_id for each in made if each.document_id}
    revisions |= set(Revision.objects.filter(document__in=named).values_list("pk", flat=True))
    items = {pk for each in made if (pk := each.episode_id or each.memory_id)}
    due_vectors.fill(space, items | set(passages_of(revisions)) if revisions else items)


def originals(episodes: Sequence[Episode]) -> dict[uuid.UUID, str]:
    """The unmasked texts of these episodes, for comparisons. Callers that show them must audit
    that."""
    masks = MaskedSpan.objects.filter(episode__in=episodes, place="content").order_by("episode_id", "pk")
    taken = {pk: list(own) for pk, own in groupby(masks, key=lambda each: each.episode_id)}
    return {
        episode.pk: unmasked(episode.content, [(each.start, each.words) for each in taken.get(episode.pk, ())])
        for episode in episodes
    }


def of_any(ids: Collection[uuid.UUID]) -> bool:
    """Tell whether any of these rows, or of the messages in these sessions, has masked words."""
    own = Q(*((f"{name}__in", ids) for name in MODELS), _connector=Q.OR)
    own |= Q(episode__session__in=ids) | Q(fact__session__in=ids) | Q(revision__document__in=ids)
    return MaskedSpan.objects.filter(own).exists()


def reveal(scope: Scope, episode: Episode) -> str:
    """Return an episode's text unmasked to a person who may see it; the log records who did."""
    scope.audit("reveal", episode, subject_id=episode.subject_id)
    return originals([episode])[episode.pk]


def blank(lines: QuerySet[AuditEntry]) -> int:
    """Remove the values from lines of the log: the record that somebody did something stays."""
    rows = dict(lines.filter(WRITTEN).values_list("pk", "workspace_id"))
    return crossings.blank_audit(rows) if rows else 0


def _places(episode: Episode, spans: Sequence[Span], more: Collection[str] = ()) -> list[tuple[str, Span]]:
    """The spans of an episode's content, and where its payload and metadata repeat their words;
    `more` also in its author's name."""
    words = [
        text
        for text in dict.fromkeys([*(episode.content[start:end].strip() for start, end in spans), *more])
        if len(text) >= SHORTEST
    ]
    found = [("content", span) for span in spans]
    for name in JSON_COLUMNS:
        told = places_of(getattr(episode, name), words)
        found += [(name + pointer, span) for pointer, span in told]
    return [*found, *(("author", span) for _, span in places_of(episode.author, [*more]))]


def _take(row: Target, places: Iterable[tuple[str, Span]], why: MaskReason) -> list[MaskedSpan]:
    """Put blocks into the row; the words go into unsaved masks."""
    made = []
    for place, (start, end) in places:
        mask = MaskedSpan(
            workspace_id=row.workspace_id,
            place=place,
            start=start,
            end=end,
            kind=why.kind,
            reason=why.reason,
            cause=why.cause,
            **{next(name for name, model in MODELS.items() if isinstance(row, model)): row},
        )
        text = text_at(getattr(row, mask.column), mask.pointer)
        mask.words = text[start:end]
        changed = with_text_at(getattr(row, mask.column), mask.pointer, masked(text, [(start, end)]))
        setattr(row, mask.column, changed)
        made.append(mask)
    return made


def _save(row: Target, masks: Iterable[MaskedSpan]) -> None:
    values = {name: getattr(row, name) for name in {each.column for each in masks}}
    if values:
        type(row)._default_manager.filter(pk=row.pk).update(**values)


def _follow_episodes(space: WorkspaceIndex, ids: Sequence[uuid.UUID]) -> None:
    """Update everything made from episodes: quotes, index, neighbours' index, summaries."""
    if not ids:
        return
    for table in ("memories_citation", "memories_featurecitation"):
        with connection.cursor() as cursor:
            cursor.execute(QUOTES.format(table=table), {"ids": list(ids)})
    beside = rebuild.beside(ids)
    if len(ids) > MANY:  # nobody finds them until the worker wrote them anew, in steps
        entries.remove(space, Layer.EPISODES, [*ids, *beside])
        repair.leave(space)
    else:
        _reindex(space, Layer.EPISODES, ids)
        for item in rebuild.items_of_truth(Layer.EPISODES, beside):
            entries.reweigh(space, Layer.EPISODES, item.id, item.counts)
    long_texts.read_anew(space, ids)
    told = Episode.objects.filter(pk__in=ids)
    conversations = told.values_list("conversation_id", flat=True)
    running_summary.start_again({each for each in conversations if each})
    talk_summaries.start_again(space, told)


def _follow_documents(space: WorkspaceIndex, masks: Sequence[MaskedSpan]) -> None:
    """Update everything made from revisions: quotes, passages in the index, summaries."""
    places: dict[uuid.UUID, Q] = {}
    everywhere = ~Q(pk=None)  # a title lends its words to all
    for each in masks:
        if each.revision_id is not None:
            here = Q(start__lt=each.end, end__gt=each.start) if each.place == "text" else everywhere
            places[each.revision_id] = places.get(each.revision_id, Q(pk=None)) | here
    named = {each.document_id for each in masks if each.document_id}
    for pk in Revision.objects.filter(document__in=named).values_list("pk", flat=True):
        places[pk] = everywhere
    if not places:
        return
    with connection.cursor() as cursor:
        cursor.execute(DOCUMENT_QUOTES, {"ids": list(places)})
    for revision in Revision.objects.filter(pk__in=places).order_by("pk"):
        passages = Passage.places.filter(places[revision.pk], revision=revision)
        touched = list(passages.values_list("pk", flat=True)[: MANY + 1])
        if len(touched) > MANY:  # as of a title, which lends its words to all
            document_store.index_anew([revision.document_id])
        else:
            _reindex(space, Layer.CHUNKS, touched)
        rows = Document.objects.filter(current_revision=revision.pk)
        rows.update(summary=summary_of(space, revision.text))


def _reindex(space: WorkspaceIndex, layer: Layer, ids: Sequence[uuid.UUID]) -> None:
    if ids:
        if layer == Layer.MEMORIES:
            row_marks.rebuild_slots(ids, row_marks.words_of(space))
        entries.remove(space, layer, ids)
        entries.write(space, rebuild.items_of_truth(layer, ids), None)


def _mask_notes(sessions: set[uuid.UUID], words: Sequence[str]) -> None:
    """Mask words in the notes of sessions, which may repeat a statement."""
    for row in MemorySession.objects.filter(pk__in=sessions):
        notes = {name: getattr(row, name) for name in ("reason", "error", "steps", "metadata", "instructions")}
        if (clean := without_words(notes, words)) != notes:
            MemorySession.objects.filter(pk=row.pk).update(**clean)


def _mask_answers(space: WorkspaceIndex, ids: Sequence[uuid.UUID], words: Sequence[str]) -> None:
    """Mask answers that are kept for repeated requests."""
    for row in answers_with(space.workspace_id, ids):
        if (clean := without_words(row.body, words)) != row.body:
            IdempotentAnswer.objects.filter(pk=row.pk).update(body=clean)


def answers_with(workspace_id: uuid.UUID, ids: Iterable[uuid.UUID]) -> QuerySet[IdempotentAnswer]:
    """Return the answers kept for repeated requests that name one of these ids."""
    names_some = RawSQL(NAMES_SOME, [list(ids)], BooleanField())
    return IdempotentAnswer.objects.filter(names_some, workspace_id=workspace_id)
