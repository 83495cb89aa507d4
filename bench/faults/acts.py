"""Requests of clients during a trial, each with marks by which its rows are known afterwards."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bench import sentences
from bench.http_client import Answer

SYNC, ASYNC, LARGE, APPEND, CLAIMS, NOTE = "sync", "async", "large", "append", "claims", "note"
ERASE, FOLD = "erase", "fold"
MAKING = {CLAIMS: sentences.claim, LARGE: sentences.passage}
USERS = 5
AGAIN = {0, 408, 409, 425, 429, 500, 502, 503, 504}  # a caller that gets these tries again


@dataclass
class Act:
    """One request of a caller, who sends it again until it is answered.

    `texts` are its messages by the caller's own id; `answer` is the first that says success.
    """

    kind: str
    method: str
    path: str
    body: Mapping[str, Any] | None = None
    key: str = ""
    user: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)
    statuses: list[int] = field(default_factory=list)
    answer: Answer | None = None
    erased: bool = False  # its words were to go again

    @property
    def headers(self) -> dict[str, str]:
        return {"Idempotency-Key": self.key} if self.key else {}

    @property
    def is_over(self) -> bool:
        """Answered, or refused for good."""
        return self.answer is not None or bool(self.statuses and self.statuses[-1] not in AGAIN)

    def note(self, answer: Answer) -> None:
        self.statuses.append(answer.status)
        if answer.is_success:
            self.answer = answer
        elif self.kind == ERASE and answer.status == 404 and len(self.statuses) > 1:
            self.answer = answer  # an earlier try, whose answer was lost, has erased it


class Workload:
    """Acts of one client: the same seed and client give the same acts in the same order.

    `keyed`: the share of them that has an Idempotency-Key. Without one the messages' ids alone keep
    them from being doubled.
    """

    def __init__(self, seed: int, client: str, path: str, keyed: float = 0.7) -> None:
        self.seed, self.client, self.path, self.keyed = seed, client, path, keyed
        self.chance = random.Random(f"{seed} acts {client}")
        self.number = 0

    def small(self, kind: str = "", user: str = "") -> Act:
        """A few messages, each of them one memory."""
        self.number += 1
        kinds = (SYNC, SYNC, ASYNC, CLAIMS, NOTE)
        kind = kind or self.chance.choice(kinds if self.keyed else kinds[:-1])
        user = user or f"user-{self.chance.randrange(USERS)}"
        if kind == NOTE:
            return self.whole(user)
        return self._ingest(kind, user, self.chance.randint(1, 4))

    def large(self, messages: int) -> Act:
        self.number += 1
        return self._ingest(LARGE, "user-0", messages)

    def whole(self, user: str) -> Act:
        """One text without an id: only the key tells that it was sent before."""
        mark = self._mark(0)
        text = sentences.sentence(self.seed, mark)
        body = {"content": text, "userId": user, "extract": "none"}
        path = f"{self.path}/memories/ingest"
        return Act(NOTE, "POST", path, body, f"key-{mark}", user, {mark: text})

    def append(self, conversation: str) -> Act:
        """Messages that are kept without being learned from."""
        self.number += 1
        texts = self._texts(self.chance.randint(1, 3))
        path = f"{self.path}/conversations/{conversation}/episodes"
        return Act(APPEND, "POST", path, {"messages": _messages(texts)}, self._key(), "", texts)

    def fold(self, user: str) -> Act:
        self.number += 1
        return Act(FOLD, "POST", f"{self.path}/sets/user:{user}/fold", {})

    def erase(self, subject: str, said: Act) -> Act:
        """Erase the subject that `said` was about."""
        path = f"{self.path}/subjects/{subject}"
        return Act(ERASE, "DELETE", path, None, "", said.user, said.texts)

    def _ingest(self, kind: str, user: str, messages: int) -> Act:
        texts = self._texts(messages, MAKING.get(kind, sentences.sentence))
        body = {
            "messages": _messages(texts),
            "userId": user,
            "threadId": f"thread-{user}",
            "mode": "async" if kind == ASYNC or self._is_left(kind) else "sync",
            "extract": "patterns" if kind == CLAIMS else "none",
        }
        path = f"{self.path}/memories/ingest"
        return Act(kind, "POST", path, body, self._key(), user, texts)

    def _is_left(self, kind: str) -> bool:
        """Some large ones are left to the worker."""
        return kind == LARGE and self.chance.random() < 0.3

    def _texts(self, number: int, make: Any = sentences.sentence) -> dict[str, str]:
        marks = [self._mark(at) for at in range(number)]
        return {mark: make(self.seed, mark) for mark in marks}

    def _mark(self, at: int) -> str:
        return f"{self.client}{self.number}x{at}"

    def _key(self) -> str:
        return f"key-{self.client}{self.number}" if self.chance.random() < self.keyed else ""


def _messages(texts: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"role": "user", "id": mark, "content": text} for mark, text in texts.items()]
