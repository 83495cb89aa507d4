"""Arithmetic on ids and scores: which of the candidates answer the query. No database, no text.

`analyse` reads the query, `marks` reads a message once when it is indexed, `hybrid` and the
plain rankings put candidates in order.
"""

from memories.ranking.columns import (
    Candidate,
    Candidates,
    Columns,
    Ranked,
    by_keyword,
    by_vector,
    linea,
)
from memories.ranking.hybrid import RecencyBoost, by_passage, hybrid
from memories.ranking.message_marks import WISHES, Mark, marks
from memories.ranking.query import (
    SPEAKER_ROLES,
    EventQuestion,
    EventSide,
    Participant,
    QueryView,
    analyse,
    asked_days,
    asks_assistant,
    asks_in_time,
    asks_of_past,
    event_question,
    listed,
    says_nothing,
)
from memories.ranking.weights import Weights

__all__ = [
    "SPEAKER_ROLES",
    "WISHES",
    "Candidate",
    "Candidates",
    "Columns",
    "EventQuestion",
    "EventSide",
    "Mark",
    "Participant",
    "QueryView",
    "Ranked",
    "RecencyBoost",
    "Weights",
    "analyse",
    "asked_days",
    "asks_assistant",
    "asks_in_time",
    "asks_of_past",
    "by_keyword",
    "by_passage",
    "by_vector",
    "event_question",
    "hybrid",
    "linea",
    "listed",
    "marks",
    "says_nothing",
]
