"""A `Session` of the OpenAI Agents SDK: the items of a run are messages of a conversation, come
back as they went in, and are learned from."""

import json
from collections.abc import Sequence
from typing import Any

from agents import SessionABC
from agents.memory import SessionSettings

from memoryproject_client.client import AsyncMemory

PAGE = 100
ITEM = "openai_item"
LONGEST = 100_000  # characters of a message
ROLES = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}


class OpenAISession(SessionABC):
    """`Runner.run(agent, "Hi", session=OpenAISession(memory, "monday", user_id="ada"))`.

    `pop_item` and `clear_session` erase what was said, which needs a key that may.
    """

    def __init__(self, memory: AsyncMemory, session_id: str, user_id: str | None = None) -> None:
        self.memory, self.session_id, self.user_id = memory, session_id, user_id
        self.session_settings: SessionSettings | None = SessionSettings()

    async def get_items(self, limit: int | None = None) -> list[Any]:
        rows = await self._newest(limit)
        return [row["metadata"][ITEM] for row in reversed(rows)]

    async def add_items(self, items: Sequence[Any]) -> None:
        if not items:
            return
        messages = [_message(item) for item in items]
        await self.memory.ingest(messages, user_id=self.user_id, thread_id=self.session_id)

    async def pop_item(self) -> Any | None:
        rows = await self._newest(1)
        if not rows:
            return None
        await self.memory.call("DELETE", f"/episodes/{rows[0]['id']}")
        return rows[0]["metadata"][ITEM]

    async def clear_session(self) -> None:
        query = {"threadId": self.session_id}
        for row in (await self.memory.call("GET", "/conversations", query=query))["results"]:
            await self.memory.call("DELETE", f"/conversations/{row['id']}")

    async def _newest(self, limit: int | None) -> list[dict[str, Any]]:
        """The newest first, without what others said in the conversation."""
        rows: list[dict[str, Any]] = []
        query = {"threadId": self.session_id, "limit": str(PAGE)}
        while limit is None or len(rows) < limit:
            page = await self.memory.call("GET", "/episodes", query=query)
            rows += [row for row in page["results"] if ITEM in row["metadata"]]
            if not page["next"]:
                break
            query["cursor"] = page["next"].partition("cursor=")[2].partition("&")[0]
        return rows[:limit]


def _message(item: Any) -> dict[str, Any]:
    kept = dict(item)
    role = ROLES.get(str(kept.get("role", "")))
    if role is None:
        # A call of a tool, its result, or a thought: evidence, and nobody's own words.
        words = json.dumps(kept, ensure_ascii=False)[:LONGEST]
        return {"role": "assistant", "content": words, "metadata": {ITEM: kept}}
    return {
        "role": role,
        "content": _text(kept.get("content")) or "(empty)",
        "metadata": {ITEM: kept},
    }


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part["text"]) for part in content or () if "text" in part)
