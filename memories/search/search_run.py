"""Search: scope, candidates out of the index, ranking, hits with scores and citations."""

import logging
import time
from dataclasses import replace

from django.conf import settings

from memories import metrics
from memories.errors import Invalid
from memories.meters import search_counts
from memories.models import Episode, WorkspaceIndex
from memories.providers import network
from memories.ranking import Weights, says_nothing
from memories.search import reranking
from memories.search.confidence import (
    ConfidenceWeights,
    confidence_of,
    similarity_by_words,
    similarity_of,
)
from memories.search.hits import HitRows, hits_of
from memories.search.rank import rank
from memories.search.request import NOT_RERANKED, Scored, SearchAnswer, SearchRequest
from memories.search.search_question import SearchQuestion
from workspaces.scope import NOBODY, WORKER, Scope

log = logging.getLogger(__name__)

# Of the thread in which a turn has no content: messages that are read, and that are its context,
# and characters of each.
TURNS_READ, TURNS, TURN = 6, 2, 300


def search(scope: Scope, request: SearchRequest, index: WorkspaceIndex | None = None) -> SearchAnswer:
    """Return the best hits of the asked layers, best first. Raises Invalid and Forbidden.

    Without a vector (no embedder, a provider that fails, no word it knows) words alone decide. All
    embedders together are waited for QUERY_TIMEOUT at most; what was missing stands in `notes`.
    With `rerank` there are 50 hits at most; where the reranker fails, the ranking stays as it is.
    `index` is the workspace as it would be under other settings or another model.
    """
    return answer_to(SearchQuestion.of(scope, request, index))


def answer_to(question: SearchQuestion) -> SearchAnswer:
    """Do what `search` does."""
    scope, request, asked, index = question.scope, question.request, question.asked, question.index
    if request.rerank and not reranking.is_reranker_configured():
        raise Invalid("rerank", "No reranker is configured: set RERANK_BASE_URL or RERANK_PROVIDER.", "not_configured")
    if request.thread_id and request.ranking == "hybrid" and says_nothing(request.query):
        question = _in_its_talk(question)
        request, asked = question.request, question.asked
    with network.patience(settings.QUERY_TIMEOUT):
        ranked = rank(question)
    ranked_after = time.perf_counter() - question.begun
    reranked = _reranked(scope, request, ranked) if request.rerank else None
    if request.rerank and reranked is None:
        asked.notes.append(NOT_RERANKED)
    ordered = ranked if reranked is None else reranked
    least = request.threshold
    good = [one for one in ordered if (least is None or one.score >= least) and _is_near(request, index, one.cosine)]
    hits = hits_of(scope, request, good)
    for one in (one for hit in hits for one in (hit, *hit.echoes)):
        by_meaning = similarity_of(one.cosine, index.embedding_model)
        by_words = similarity_by_words(request.query, one) if by_meaning is None else 0.0
        one.similarity = by_words if by_meaning is None else by_meaning
    if request.min_similarity:
        hits = [hit for hit in hits if hit.similarity >= request.min_similarity]
    if asked.trace:
        after = {"echoes": ranked, "rerank": ordered, "threshold": good}
        asked.trace.stages = {"ranking": ranked} | asked.trace.stages | after
        for one in [one for hit in hits for one in (hit, *hit.echoes)]:
            one.ranks = asked.trace.ranks.get(one.row.id, {})
    took = time.perf_counter() - question.begun
    subject = None if asked.subject == NOBODY else asked.subject
    served = [one.memory.id for hit in hits for one in (hit, *hit.echoes) if one.memory]
    told = () if scope.actor == WORKER else served  # a proof or a golden question serves nobody
    search_counts.count(scope.workspace_id, subject, len(hits), scope.actor, served=told)
    metrics.count("searches", took, ranking=request.ranking, workspace=str(scope.workspace_id))
    if 0 < settings.SLOW_SEARCH_SECONDS <= took:
        log.warning(
            "Slow search in workspace %s: %.0f ms, %.0f of them for the ranking %s of %s; %d hits",
            scope.workspace_id,
            took * 1e3,
            ranked_after * 1e3,
            request.ranking,
            ", ".join(request.layers),
            len(hits),
        )
    notes = tuple(dict.fromkeys(asked.notes))
    for note in notes:
        metrics.count("searches_degraded", note=note, workspace=str(scope.workspace_id))
    weights = Weights.of(index.ranking) if request.ranking == "hybrid" else None
    sure = confidence_of(request.query, hits, ConfidenceWeights.of(index.embedding_model))
    return SearchAnswer(hits, took * 1e3, weights, asked.trace, reranked is not None, notes, sure)


def _in_its_talk(question: SearchQuestion) -> SearchQuestion:
    """Add to a turn without content of its own what its thread was speaking of."""
    asked = question.asked
    rows = Episode.objects.visible_to(asked.scope).filter(conversation=asked.place_of_thread)
    texts = rows.order_by("-pk").values_list("content", flat=True)[:TURNS_READ]
    told = [text[:TURN] for text in texts if not says_nothing(text)][:TURNS]
    query = "\n".join([*reversed(told), asked.query])
    return replace(question, request=replace(question.request, query=query), asked=replace(asked, query=query))


def _is_near(request: SearchRequest, index: WorkspaceIndex, cosine: float | None) -> bool:
    """Tell whether a hit is near enough; False only where its meaning is known to be further off
    than was asked for."""
    near = similarity_of(cosine, index.embedding_model) if request.min_similarity else None
    return near is None or near >= (request.min_similarity or 0.0)


def _reranked(scope: Scope, request: SearchRequest, ranked: list[Scored]) -> list[Scored] | None:
    """Return the best in the reranker's order, what it left out behind them; None where it
    failed."""
    best = sorted(ranked, key=lambda found: found.order)[: reranking.RERANKED]
    found = HitRows(scope, replace(request, include=frozenset())).read(best)
    texts = [(one, row.content) for one, row in found]
    own = scope.workspace_id
    scores = reranking.reranker_scores(own, request.query, [text for _, text in texts])
    if scores is None:
        return None
    return [
        one._replace(score=0.0, behind=place)
        if score is None
        else one._replace(score=score, scores={**one.scores, "rerank": score})
        for place, ((one, _), score) in enumerate(zip(texts, scores, strict=True), 1)
    ]
