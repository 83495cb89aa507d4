"""An answer of the chat as it is made, as server-sent events."""

import asyncio
import json
import logging
import threading
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import Any

import msgspec

from memories.chat.kept_chats import AskedChat, as_answer, ask
from memories.errors import BudgetSpent
from memories.http_errors import as_problem
from memoryproject.postgres import visible
from workspaces.api.problems import Problem, problem_of
from workspaces.scope import Scope

log = logging.getLogger(__name__)

KIND = "chat"
Run = Callable[..., Awaitable[Any]]
Send = Callable[[Iterable[int], bytes], None]


class ReaderGone(Exception):
    """Nobody hears the answer any more."""


def as_message(name: str, values: dict[str, Any]) -> bytes:
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    return f"event: {name}\ndata: {text}\n\n".encode()


def answer_in_parts(scope: Scope, asked: AskedChat, send: Callable[[bytes], None]) -> None:
    """Answer, part by part; what goes wrong is a part as well."""

    def tell(name: str, values: dict[str, Any]) -> None:
        send(as_message(name, values))

    try:
        with visible.only(scope.workspace_id):
            result, conversation = ask(scope, asked, tell)
        tell("done", as_answer(result, conversation))
    except ReaderGone:
        log.debug("nobody hears this answer any more")
    except Exception as error:
        problem = problem_for(error)
        tell("error", {"status": problem.status_code, "code": problem.code, "detail": str(problem)})


def problem_for(error: Exception) -> Problem:
    """What is told of an error; the log has its cause."""
    if isinstance(error, BudgetSpent):
        return Problem(429, error.own_words, code="budget", wait=error.retry_after)
    problem = problem_of(as_problem(error))
    if problem is None:
        log.exception("an answer broke off", exc_info=error)
        return Problem(500, "The server failed. The log has the cause under this requestId.")
    return problem


class LiveChat:
    """`run` is how a function is called that waits for the database and for models."""

    def __init__(self, send: Send, run: Run) -> None:
        self.send, self.run = send, run

    async def serve(self, number: int, ticket: dict[str, Any]) -> None:
        """Until it is answered. Where its reader goes, the call of the model ends with its next
        word."""
        loop, is_over = asyncio.get_running_loop(), threading.Event()

        def send(part: bytes) -> None:
            if is_over.is_set():
                raise ReaderGone
            loop.call_soon_threadsafe(self.send, [number], part)

        scope = msgspec.convert(ticket["scope"], Scope)
        asked = msgspec.convert(ticket["asked"], AskedChat)
        try:
            await self.run(answer_in_parts, scope, asked, send)
            await asyncio.sleep(0)  # what was sent from the thread goes first
        finally:
            is_over.set()


def ticket_of(scope: Scope, asked: AskedChat) -> dict[str, Any]:
    own = msgspec.to_builtins(replace(scope, beside=()))
    return {"kind": KIND, "scope": own, "asked": msgspec.to_builtins(asked)}
