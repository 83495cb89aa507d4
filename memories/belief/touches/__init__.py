"""Touches: what people's later messages say of what is believed, found when either is written."""

from memories.belief.touches.decided import follow_decision, question_again, take_back, uphold
from memories.belief.touches.judged import (
    OPEN,
    EarlierWords,
    HeardChange,
    compare,
    decide_open,
    open_touches,
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
    "compare",
    "decide_open",
    "follow_decision",
    "go_on",
    "old_workspaces",
    "open_touches",
    "question_again",
    "said_later",
    "take_back",
    "unread_places",
    "uphold",
    "write_touches",
    "writing",
]
