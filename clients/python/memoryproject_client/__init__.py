"""Client of memoryproject, the memory server for AI agents."""

from memoryproject_client.answers import (
    Citation,
    ContextAnswer,
    Explanation,
    Fact,
    Hit,
    IngestAnswer,
    Link,
    MemoryRecord,
    Profile,
    SearchAnswer,
    Supersession,
)
from memoryproject_client.client import AsyncMemory, Memory
from memoryproject_client.faults import FieldFault, MemoryFault

__all__ = [
    "AsyncMemory",
    "Citation",
    "ContextAnswer",
    "Explanation",
    "Fact",
    "FieldFault",
    "Hit",
    "IngestAnswer",
    "Link",
    "Memory",
    "MemoryFault",
    "MemoryRecord",
    "Profile",
    "SearchAnswer",
    "Supersession",
]
