"""Search in documents: passages that answer, grouped by their document."""

import time
import uuid
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from django.conf import settings
from django.utils import timezone
from pydantic import Field

from memories import ranking
from memories.documents.document_store import State
from memories.errors import Invalid
from memories.language.bounds import LONGEST_QUERY, MOST_HITS
from memories.meters import search_counts
from memories.models import NOW, AsOf, Document
from memories.models.document import IN_SPACES
from memories.providers import network
from memories.ranking import Ranked
from memories.search import Recency, SearchRequest, candidates, query_vectors, reranking, rows_of
from memories.search.conditions import LayerQuery, RowCondition
from memories.search.confidence import similarity_of
from memories.search.filters import Filter
from memories.search.request import NOT_RERANKED
from memories.search.search_question import OF_FEW_SPACES, SearchQuestion
from workspaces.models.key import CONTAINER_TAG
from workspaces.request_fields import ExternalId, Flag, Number, OneOf, Whole, Words, declared
from workspaces.scope import NOBODY, Scope

BY_BOTH, BY_WORDS, RECENT = "vector+keyword", "keyword", "recent"
PATHS = (BY_BOTH, BY_WORDS, RECENT)
Tag = Annotated[str, Field(pattern=CONTAINER_TAG)]
OF_SPACES = IN_SPACES.format(document="row.document_id", tags="tags")
OF_DOCUMENTS = "row.document_id = any(%(document_ids)s::uuid[])"
OF_TYPES = "row.type = any(%(types)s::text[])"


@declared
@dataclass(frozen=True, slots=True)
class DocumentSearchOptions:
    """The options of a search in documents."""

    query: Annotated[Words, Field(max_length=LONGEST_QUERY)]
    limit: Annotated[Whole, Field(ge=1, le=MOST_HITS, description="Documents.")] = 10
    chunk_limit: Annotated[Whole, Field(ge=1, le=MOST_HITS, description="Chunks of each document.")] = 10
    container_tags: Annotated[
        tuple[Tag, ...], Field(max_length=100, description="Documents of any of these spaces.")
    ] = ()
    document_ids: Annotated[tuple[uuid.UUID, ...], Field(max_length=1000)] = ()
    types: tuple[Annotated[str, OneOf(Document.Type)], ...] = ()
    user_id: Annotated[ExternalId, Field(description="What is about this subject or nobody in particular.")] = ""
    agent_id: Annotated[ExternalId, Field(description="As this agent sees it; for keys without an agent.")] = ""
    threshold: Annotated[Number, Field(ge=0, le=1, description="Of a chunk's score.")] = 0.1
    document_threshold: Annotated[
        Number, Field(ge=0, le=1, description="Of a document's score, that of its best chunk.")
    ] = 0.0
    recency: Recency | None = None
    rerank: Flag = False
    only_matching: Annotated[
        Flag, Field(description="Without chunks that stand beside better ones of their document.")
    ] = False
    include_summary: Flag = False
    include_full_docs: Flag = False
    fallback: Annotated[
        str,
        OneOf(("none", "recent")),
        Field(description="Where nothing is found: nothing, or the newest documents."),
    ] = "none"


@dataclass(frozen=True, slots=True)
class DocumentSearch(DocumentSearchOptions):
    """A validated question. `filter` comes from `search.filters.parse` of the layer chunks."""

    filter: Filter | None = None
    at: AsOf = NOW


@dataclass(frozen=True, slots=True)
class PassageHit:
    """A passage of a chunk, from `row.start` to `row.end` of its revision's text; `row.content` are
    its words, `row.parts` where it stands, `row.chunk_id` its chunk. `similarity`, 0 to 1,
    compares passages of any two queries; it is the score where no vector is known."""

    row: Any
    score: float
    scores: dict[str, float]
    is_relevant: bool
    similarity: float


@dataclass(frozen=True, slots=True)
class DocumentHit:
    document: Document
    score: float
    passages: list[PassageHit] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class DocumentAnswer:
    """`search_path` is one of PATHS; `notes` are codes of search's NOTES."""

    hits: list[DocumentHit]
    search_path: str
    took_ms: float
    notes: tuple[str, ...] = ()


RELEVANT = 0.5  # of the best chunk's score


def search_documents(scope: Scope, request: DocumentSearch) -> DocumentAnswer:
    """The documents that answer best, each with its best passages. Raises Invalid, Forbidden."""
    if request.rerank and not reranking.is_reranker_configured():
        raise Invalid("rerank", "No reranker is configured: set RERANK_BASE_URL or RERANK_PROVIDER.", "not_configured")
    started = time.perf_counter()
    asked = _asked(scope, request)
    with network.patience(settings.QUERY_TIMEOUT):
        ranked, path = _ranked(request, asked)
    rows = {row.id: row for row in rows_of(scope, "chunks", [i for i, _ in ranked], request.at)}
    found = [(rows[item], one.score, dict(one.parts)) for item, one in ranked if item in rows]
    notes = list(asked.notes)
    if request.rerank:
        found = _reranked(scope, request.query, found, notes)
    good = [each for each in found if each[1] >= request.threshold]
    near = {i: similarity_of(one.cosine, asked.index.embedding_model) for i, one in ranked}
    best: dict[uuid.UUID, list[PassageHit]] = {}
    for row, score, parts in good:
        own = best.setdefault(row.document_id, [])
        is_relevant = not own or score >= RELEVANT * own[0].score
        if len(own) < request.chunk_limit and (is_relevant or not request.only_matching):
            by_meaning = near[row.id]
            similarity = score if by_meaning is None else by_meaning
            own.append(PassageHit(row, score, parts, is_relevant, similarity))
    chosen = [(pk, own) for pk, own in best.items() if own[0].score >= request.document_threshold]
    chosen = chosen[: request.limit]
    documents = Document.objects.visible_to(scope).with_all(request.at)
    known = documents.in_bulk([pk for pk, _ in chosen])
    hits = [DocumentHit(known[pk], own[0].score, own) for pk, own in chosen if pk in known]
    if not hits and request.fallback == "recent":
        newest = [each for each in _newest(scope, request) if each.revision is not None]
        hits, path = [DocumentHit(each, 0.0) for each in newest], RECENT
    subject = None if asked.subject == NOBODY else asked.subject
    search_counts.count(scope.workspace_id, subject, len(hits), scope.actor)
    took = (time.perf_counter() - started) * 1e3
    return DocumentAnswer(hits, path, took, tuple(dict.fromkeys(notes)))


def _asked(scope: Scope, request: DocumentSearch) -> LayerQuery:
    own = SearchRequest(
        request.query,
        user_id=request.user_id,
        agent_id=request.agent_id,
        layers=("chunks",),
        filter=request.filter,
        at=request.at,
    )
    asked = SearchQuestion.of(scope, own).in_layer("chunks")
    assert asked is not None  # no filter of memories is given
    wanted_if, values = [asked.wanted.condition], dict(asked.wanted_values)
    for condition, name, given in (
        (OF_SPACES, "tags", request.container_tags),
        (OF_DOCUMENTS, "document_ids", request.document_ids),
        (OF_TYPES, "types", request.types),
    ):
        if given:
            wanted_if.append(condition)
            values[name] = list(given)
    few = asked.wanted.few
    if request.container_tags:
        few = OF_FEW_SPACES.format(tags="tags")
        values["tenant"] = scope.workspace_id
    wanted = RowCondition(" and ".join(filter(None, wanted_if)), asked.wanted.history, few)
    return replace(asked, wanted=wanted, wanted_values=values, with_apart=names_some(request))


def names_some(request: DocumentSearch) -> bool:
    """Tell whether it asks for certain documents or spaces; then it also searches what stands
    apart."""
    return bool(request.container_tags or request.document_ids)


def _ranked(request: DocumentSearch, asked: LayerQuery) -> tuple[list[tuple[uuid.UUID, Ranked]], str]:
    """Passages by their ids, best first, and by what they were found."""
    view = ranking.analyse(request.query, now=timezone.now())
    vector = query_vectors.query_vector(asked.index, view.meaning, asked.notes)
    pool = candidates.pool(replace(asked, vector=vector), list(view.terms), candidates.OF_DOCUMENTS)
    boost = None
    if request.recency:
        own = request.recency
        boost = ranking.RecencyBoost(own.weight, own.half_life_days, timezone.now())
    ranked = ranking.by_passage(pool, boost)
    path = BY_WORDS if vector is None else BY_BOTH
    return [(uuid.UUID(bytes=one.item), one) for one in ranked], path


Found = tuple[Any, float, dict[str, float]]


def _reranked(scope: Scope, query: str, found: list[Found], notes: list[str]) -> list[Found]:
    """The best in the reranker's order; as they were where it fails."""
    best = found[: reranking.RERANKED]
    own = scope.workspace_id
    scores = reranking.reranker_scores(own, query, [row.content for row, _, _ in best])
    if scores is None:
        notes.append(NOT_RERANKED)
        return found
    new = [
        (row, score or 0.0, parts | ({} if score is None else {"rerank": score}))
        for (row, _, parts), score in zip(best, scores, strict=True)
    ]
    return sorted(new, key=lambda each: -each[1])


def _newest(scope: Scope, request: DocumentSearch) -> list[Document]:
    rows = Document.objects.visible_to(scope).known(request.at).with_all(request.at)
    if request.at.known_at is None:
        rows = rows.filter(state=State.DONE)
    if not names_some(request):
        rows = rows.filter(is_apart=False)
    if request.container_tags:
        rows = rows.in_spaces(request.container_tags)
    if request.document_ids:
        rows = rows.filter(pk__in=request.document_ids)
    if request.types:
        rows = rows.filter(type__in=request.types)
    if request.user_id:
        rows = rows.filter(subject__external_id=request.user_id)
    return list(rows[: request.limit])
