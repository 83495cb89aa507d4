"""A memory block of LlamaIndex: what falls out of its short-term memory is learned from, and what
the memory knows of the question stands in the prompt."""

from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import Field
from llama_index.core.memory import BaseMemoryBlock

from memoryproject_client.client import AsyncMemory

ROLES = {"user": "user", "assistant": "assistant", "system": "system"}


class LearnedMemoryBlock(BaseMemoryBlock[str]):
    """`Memory.from_defaults(memory_blocks=[LearnedMemoryBlock(memory=AsyncMemory(...),
    user_id="ada")])`. `tokens` is how long its text may be."""

    name: str = Field(default="learned_memory")
    memory: AsyncMemory
    user_id: str
    thread_id: str | None = None
    tokens: int = 1000

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        asked = next(
            (one.content for one in reversed(messages or []) if one.role == "user" and one.content),
            None,
        )
        if not asked:
            return ""
        found = await self.memory.context(asked, user_id=self.user_id, tokens=self.tokens)
        return found.text

    async def _aput(self, messages: list[ChatMessage]) -> None:
        said = [
            {"role": ROLES.get(str(one.role.value), "assistant"), "content": one.content}
            for one in messages
            if one.content
        ]
        if said:
            await self.memory.ingest(said, user_id=self.user_id, thread_id=self.thread_id)
