"""Lessons of a workspace for the judge: pairs that people decided, heads that learn from them, the one that serves."""

from memories.teaching.learn_head import ask_due, due_workspaces, keep, learn, try_workspace, workspaces_to_ask
from memories.teaching.served_head import ask_to_learn, go_back, take_over, taught, unlearn

__all__ = [
    "ask_due",
    "ask_to_learn",
    "due_workspaces",
    "go_back",
    "keep",
    "learn",
    "take_over",
    "taught",
    "try_workspace",
    "unlearn",
    "workspaces_to_ask",
]
