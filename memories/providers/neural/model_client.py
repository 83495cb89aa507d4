"""The way to the process of models: one question at a time over a local socket, within a deadline."""

import os
import socket
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from memories import metrics
from memories.errors import Misconfigured, ProviderError, TimedOut, Unasked
from memories.providers.embedder import Matrix
from memories.providers.neural.known_models import ModelSpec
from memories.providers.neural.loaded_models import Input
from memoryproject.server.front.wire import Frame, Frames, packed

SOON = 2.0  # seconds after which one that is not there yet is asked again
STATE = "state"
PART = 2**18  # bytes that are read at once


class NotThere(Unasked):
    """The process of models does not run, or is still loading the model."""


KINDS: dict[str, type[ProviderError]] = {kind.__name__: kind for kind in (NotThere, TimedOut, Misconfigured)}


def ask(place: Path, spec: ModelSpec, inputs: Sequence[Input], seconds: float, *, is_query: bool = False) -> Matrix:
    """Return a row for each input. Raises ProviderError: NotThere at once, TimedOut after so many seconds."""
    head = {"spec": msgspec.to_builtins(spec), "seconds": seconds, "is_query": is_query}
    with metrics.timer("provider_calls", provider="fastembed"):
        answer, body = _exchange(place, packed(head, msgspec.json.encode(inputs)), seconds)
    if "fault" in answer:
        kind = KINDS.get(answer["kind"], ProviderError)
        raise kind(answer["fault"], permanent=answer["permanent"], retry_after=SOON if kind is NotThere else None)
    return np.frombuffer(body, np.float32).reshape(answer["shape"])


def state_of(place: Path, seconds: float) -> dict[str, Any]:
    """Return what the process of models tells of itself. Raises ProviderError."""
    return _exchange(place, packed({STATE: True}), seconds)[0]


def _exchange(place: Path, question: bytes, seconds: float) -> Frame:
    end = time.monotonic() + seconds
    kept = _kept.line_to(place)
    if kept is not None:
        try:
            return kept.exchange(question, end)
        except OSError:
            _kept.drop()  # the process ended since then, and may be there again
    line = _kept.new_line_to(place, seconds)
    try:
        return line.exchange(question, end)
    except OSError:
        _kept.drop()
        raise NotThere("the process of models ended while it was asked", permanent=False, retry_after=SOON) from None


class _Line:
    """An open connection; a process keeps one for each of its threads."""

    def __init__(self, connection: socket.socket, place: Path) -> None:
        self.connection, self.place = connection, place

    def __del__(self) -> None:
        """Its thread has ended."""
        self.connection.close()

    def exchange(self, question: bytes, end: float) -> Frame:
        """Send a question and return its answer. Raises TimedOut, and OSError where the line is broken."""
        frames = Frames()
        try:
            self._wait_until(end)
            self.connection.sendall(question)
            while True:
                self._wait_until(end)
                if not (part := self.connection.recv(PART)):
                    raise ConnectionResetError
                for frame in frames.feed(part):
                    return frame
        except TimeoutError:
            _kept.drop()  # what comes late must not be taken for the next answer
            raise TimedOut("the process of models did not answer in time", permanent=False) from None

    def _wait_until(self, end: float) -> None:
        self.connection.settimeout(max(0.001, end - time.monotonic()))


class _Kept(threading.local):
    line: _Line | None = None

    def line_to(self, place: Path) -> _Line | None:
        return self.line if self.line and self.line.place == place else None

    def new_line_to(self, place: Path, seconds: float) -> _Line:
        """Connect. Raises NotThere."""
        self.drop()
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.settimeout(seconds)
            connection.connect(str(place))
        except OSError as error:
            connection.close()
            told = f"the process of models does not run beside `up` or `work` ({error.strerror or error})"
            raise NotThere(told, permanent=False, retry_after=SOON) from None
        self.line = _Line(connection, place)
        return self.line

    def drop(self) -> None:
        if self.line is not None:
            self.line.connection.close()
            self.line = None


_kept = _Kept()


def _begin_anew() -> None:
    """Let a forked process open its own lines."""
    global _kept
    _kept = _Kept()


os.register_at_fork(after_in_child=_begin_anew)
