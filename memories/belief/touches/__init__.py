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
    compare,
    decide_open,
    open_touches,
    pairs_of,
    unread_places,
)
from memories.belief.touches.meet import Meeting, PersonsMessage, TouchedMemory, said_later
from memories.belief.touches.old_messages import due_workspaces as old_workspaces
from memories.belief.touches.old_messages import go_on
from memories.belief.touches.touch_rows import NewTouch, write_touches, writing

__all__ = [
    "OPEN",
    "EarlierWords",
    "HeardChange",
    "Meeting",
    "NewTouch",
    "PersonsMessage",
    "TouchedMemory",
    "agree",
    "compare",
    "confirm",
    "decide_open",
    "disagree",
    "follow_decision",
    "go_on",
    "old_workspaces",
    "open_touches",
    "pairs_of",
    "question_again",
    "said_later",
    "take_back",
    "unconfirm",
    "unread_places",
    "uphold",
    "write_touches",
    "writing",
]
