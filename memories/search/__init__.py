"""Search: scope, candidates out of the index, ranking, hits with scores and citations."""

from memories.search.hits import MEMORY_ROWS, rows_of
from memories.search.query_vectors import query_vector
from memories.search.request import (
    EVIDENCE,
    INCLUDES,
    LAYERS,
    NOTES,
    RANKINGS,
    SINGULAR,
    Hit,
    Recency,
    SearchAnswer,
    SearchRequest,
    evidence_first,
    with_news,
)
from memories.search.search_run import search

__all__ = [
    "EVIDENCE",
    "INCLUDES",
    "LAYERS",
    "MEMORY_ROWS",
    "NOTES",
    "RANKINGS",
    "SINGULAR",
    "Hit",
    "Recency",
    "SearchAnswer",
    "SearchRequest",
    "evidence_first",
    "query_vector",
    "rows_of",
    "search",
    "with_news",
]
