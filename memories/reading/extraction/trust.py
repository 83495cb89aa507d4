"""Trust in sources: by source, what happens to claims that stand on its words alone, where a
workspace says nothing else."""

from memories.models import Episode

TRUST = BELIEVE, HOLD, IGNORE = ("believe", "hold", "ignore")
SOURCES = {  # in words for people
    "user": "a user",
    "assistant": "an assistant",
    "tool": "a tool",
    "document": "a document",
    "agents": "an agent's report",
}
DEFAULT_TRUST = dict.fromkeys(SOURCES, BELIEVE) | {"assistant": IGNORE}
SOURCE_OF: dict[str, str] = {
    Episode.Kind.ASSISTANT: "assistant",
    Episode.Kind.TOOL_USE: "tool",
    Episode.Kind.TOOL_RESULT: "tool",
    Episode.Kind.ERROR: "tool",
    Episode.Kind.ACTIVITY: "agents",
    Episode.Kind.TEXT: "document",
}
