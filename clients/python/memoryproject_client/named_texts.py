"""Texts by names of the caller's own, kept as documents of one space: what stores and tools of
other frameworks stand on. Each save is a revision, and is found by its words when it returns, by
searches that name the space: the documents stand apart, and are told in nobody's context."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

from memoryproject_client.client import Memory

EMPTY = "(empty)"  # a document has words


@dataclass(frozen=True, slots=True)
class NamedText:
    """`text` is None where only the list was read."""

    id: str
    name: str
    metadata: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    text: str | None = None
    score: float | None = None


class NamedTexts:
    """The texts of a space. Deleting one erases it, which needs a key that may."""

    def __init__(self, memory: Memory, space: str, user_id: str | None = None) -> None:
        self.memory, self.space, self.user_id = memory, space, user_id

    def read(self, name: str) -> NamedText | None:
        query = {"customId": self._own(name), "limit": "1"}
        rows = self.memory.call("GET", "/documents", query=query)["results"]
        if not rows:
            return None
        path = f"/documents/{rows[0]['id']}"
        return self._text(self.memory.call("GET", path, query={"include": "content"}))

    def write(self, name: str, text: str, metadata: Mapping[str, Any] | None = None) -> None:
        about = {"userId": self.user_id} if self.user_id else {}
        body = {
            "customId": self._own(name),
            "content": text or EMPTY,
            "filename": "text.txt",
            "metadata": {**(metadata or {}), "empty": not text},
            "containerTags": [self.space],
            "mode": "sync",
            "extract": "none",
            "isApart": True,
            **about,
        }
        kept = self.memory.call("POST", "/documents", body)
        if kept.get("unchanged"):
            path = f"/documents/{kept['id']}"
            self.memory.call("PATCH", path, {"metadata": body["metadata"]})

    def erase(self, one: NamedText) -> None:
        self.memory.call("DELETE", f"/documents/{one.id}")

    def every(self) -> Iterator[NamedText]:
        """All of the space, the newest first, without their words."""
        query: dict[str, str] | None = {"containerTag": self.space, "limit": "100"}
        while query is not None:
            page = self.memory.call("GET", "/documents", query=query)
            for row in page["results"]:
                yield self._text(row)
            following = page.get("next")
            parts = parse_qs(urlsplit(following).query) if following else {}
            query = {key: values[0] for key, values in parts.items()} if following else None

    def search(self, query: str, wanted: Mapping[str, Any], limit: int) -> list[NamedText]:
        """The texts that answer a question best, of those whose metadata is as wanted."""
        conditions = [{"field": f"metadata.{key}", "op": "eq", "value": value} for key, value in wanted.items()]
        body: dict[str, Any] = {
            "query": query,
            "limit": limit,
            "containerTags": [self.space],
            "threshold": 0,
        }
        if conditions:
            body["filter"] = {"and": conditions}
        hits = self.memory.call("POST", "/documents/search", body)["results"]
        return [self._text(hit["document"], hit["score"]) for hit in hits]

    def _own(self, name: str) -> str:
        return f"{self.space}:{name}"

    def _text(self, row: Mapping[str, Any], score: float | None = None) -> NamedText:
        metadata = dict(row["metadata"])
        empty = metadata.pop("empty", False)
        return NamedText(
            row["id"],
            row["customId"].removeprefix(f"{self.space}:"),
            metadata,
            datetime.fromisoformat(row["createdAt"]),
            datetime.fromisoformat(row["updatedAt"]),
            "" if empty else row.get("content"),
            score,
        )
