"""Touches: what people's later messages say of what is believed, found when either is written."""

from memories.belief.touches.decided import (
    agree,
    confirm,
    disagree,
    follow_decision,
    question_again,
    take_back,
    unconfirm,
    uphold,
)
from memories.belief.touches.judged import (
    OPEN,
    EarlierWords,
    HeardChange,
    ScoredPair,
    compare,
    decide_open,
    open_touches,
    pairs_of,
    score,
    unread_places,
)
from memories.belief.touches.meet import Meeting, PersonsMessage, TouchedMemory, said_later
from memories.belief.touches.old_messages import due_workspaces as old_workspaces
from memories.belief.touches.old_messages import go_on
from memories.belief.touches.touch_rows import NewTouch, write_touches, writing
from memories.belief.touches.unsure import UnsurePair, claim_unsure, decide_unsure, give_back_unsure, unsure_touches

__all__ = [
    "OPEN",
    "EarlierWords",
    "HeardChange",
    "Meeting",
    "NewTouch",
    "PersonsMessage",
    "ScoredPair",
    "TouchedMemory",
    "agree",
    "UnsurePair",
    "claim_unsure",
    "compare",
    "confirm",
    "decide_open",
    "disagree",
    "decide_unsure",
    "follow_decision",
    "give_back_unsure",
    "go_on",
    "old_workspaces",
    "open_touches",
    "pairs_of",
    "question_again",
    "said_later",
    "score",
    "take_back",
    "unconfirm",
    "unread_places",
    "unsure_touches",
    "uphold",
    "write_touches",
    "writing",
]
