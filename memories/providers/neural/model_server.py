"""The process of models: whoever needs a vector or a score asks it over a local socket.

One thread speaks to all who ask, others compute. What several ask at the same time of one model is computed together;
a search goes before a score, a score before what is to be indexed, and who asks for much takes turns with the others.
What nobody waits for any more is not computed.
"""

import asyncio
import fcntl
import heapq
import logging
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from memories.errors import ProviderError, TimedOut
from memories.providers.embedder import Matrix
from memories.providers.neural.known_models import RERANKING, ModelSpec
from memories.providers.neural.loaded_models import (
    AT_ONCE,
    CHARACTERS,
    Input,
    LoadedModels,
    checked,
    pieces_of,
    size_of,
)
from memories.providers.neural.model_client import SOON, STATE, NotThere
from memoryproject.local_sockets import make_private
from memoryproject.server.front.wire import next_frame, packed

SEARCH, SCORE, INDEX = 0, 1, 2  # what goes before what
AGAIN = 30.0  # seconds after which a model that could not be loaded is tried again
UNUSED = 600.0  # seconds after which a model that the settings do not name is given up
ROUND = 30.0  # seconds between two looks for such
SWITCH = 0.0005  # seconds that a thread may keep the others from Python's own work: a search waits for little

log = logging.getLogger(__name__)


class WireQuestion(msgspec.Struct):
    """`seconds`: so long its asker waits."""

    spec: ModelSpec
    seconds: float
    is_query: bool = False


@dataclass
class AskedRows:
    """One question under way; `left` of its inputs are not computed yet."""

    spec: ModelSpec
    rank: int
    inputs: Sequence[Input]
    until: float
    rows: Matrix
    left: int
    answer: "Future[Matrix]" = field(default_factory=Future)

    @classmethod
    def of(cls, spec: ModelSpec, rank: int, inputs: Sequence[Input], seconds: float) -> "AskedRows":
        rows = np.zeros((len(inputs), spec.dimensions), np.float32)
        return cls(spec, rank, inputs, time.monotonic() + seconds, rows, len(inputs))

    def fail(self, error: Exception) -> None:
        with suppress(InvalidStateError):  # nobody waits any more, or another piece failed before
            self.answer.set_exception(error)


@dataclass(order=True)
class WaitingPiece:
    """Inputs of a question that are computed together: by its rank, then the `turn` of its question."""

    rank: int
    turn: int
    number: int
    asked: AskedRows = field(compare=False)
    positions: list[int] = field(compare=False)

    @property
    def inputs(self) -> list[Input]:
        return [self.asked.inputs[position] for position in self.positions]


class WaitingPieces:
    """Pieces that wait to be computed."""

    def __init__(self) -> None:
        self._heap: list[WaitingPiece] = []
        self._changed = threading.Condition()
        self._numbers = count()

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, asked: AskedRows) -> None:
        with self._changed:
            for turn, positions in enumerate(pieces_of(asked.inputs)):
                heapq.heappush(self._heap, WaitingPiece(asked.rank, turn, next(self._numbers), asked, positions))
            self._changed.notify_all()

    def take(self, *, but_index: bool) -> list[WaitingPiece]:
        """Return pieces of one model and rank that are computed together, as soon as there are some."""
        with self._changed:
            while True:
                self._drop_late()
                if self._heap and not (but_index and self._heap[0].rank == INDEX):
                    return self._together()
                self._changed.wait(1.0)

    def _drop_late(self) -> None:
        now = time.monotonic()
        while self._heap and (self._heap[0].asked.until < now or self._heap[0].asked.answer.done()):
            late = heapq.heappop(self._heap).asked
            late.fail(TimedOut(f"the model {late.spec.name} had no turn in time", permanent=False))

    def _together(self) -> list[WaitingPiece]:
        taken = [heapq.heappop(self._heap)]
        number, longest = len(taken[0].positions), max(map(size_of, taken[0].inputs))
        while self._heap:
            best = self._heap[0]
            number += len(best.positions)
            longest = max(longest, *map(size_of, best.inputs))
            is_alike = (best.rank, best.asked.spec) == (taken[0].rank, taken[0].asked.spec)
            if not is_alike or number > AT_ONCE or longest * number > CHARACTERS:
                break
            taken.append(heapq.heappop(self._heap))
        return taken


class ModelServer:
    """`wanted` are loaded at once and kept; `runners` threads compute, one of them never what is to be indexed."""

    def __init__(self, place: Path, wanted: Sequence[ModelSpec], runners: int) -> None:
        self.place, self.wanted, self.runners = place, wanted, runners
        self.models = LoadedModels()
        self.waiting = WaitingPieces()
        self.runs = self.computed = 0
        self.faults: dict[ModelSpec, tuple[float, ProviderError]] = {}
        self.loading: set[ModelSpec] = set()
        self.used: dict[ModelSpec, float] = {}
        self._giving = threading.Lock()

    def run(self) -> None:
        """Serve for ever, from the moment on in which no other process does."""
        make_private(self.place.parent)
        lock = os.open(self.place.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        for spec in self.wanted:
            self._begin_loading(spec)
        for number in range(max(2, self.runners)):
            threading.Thread(target=self._compute, args=(number == 0,), name="model", daemon=True).start()
        while True:
            try:
                asyncio.run(self._serve())
            except OSError as error:
                log.error("Nobody can ask for models at %s: %s", self.place, error)
                time.sleep(AGAIN)

    async def _serve(self) -> None:
        self.place.unlink(missing_ok=True)  # of one that was killed
        server = await asyncio.start_unix_server(self._converse, self.place)
        self.place.chmod(0o600)
        async with server:
            while True:
                await asyncio.sleep(ROUND)
                self._give_up_unused()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one client's questions, one after the other."""
        with suppress(ConnectionError):
            while frame := await next_frame(reader):
                writer.write(await self._answer(*frame))
                await writer.drain()
        writer.close()

    async def _answer(self, head: dict[str, Any], body: bytes) -> bytes:
        if STATE in head:
            state: dict[str, Any] = {"faults": [fault.message for _, fault in self.faults.values()]}
            state |= {"loading": [spec.name for spec in self.loading], "waiting": len(self.waiting)}
            return packed({**state, "runs": self.runs, "computed": self.computed})
        try:
            question = msgspec.convert(head, WireQuestion)
            inputs: list[Input] = msgspec.json.decode(body, type=list[str | tuple[str, str]])
            spec = question.spec
            self._check(spec)
            self.used[spec] = time.monotonic()
            rank = SCORE if spec.purpose == RERANKING else SEARCH if question.is_query else INDEX
            asked = AskedRows.of(spec, rank, inputs, question.seconds)
            self.waiting.add(asked)
            rows = await asyncio.wait_for(asyncio.wrap_future(asked.answer), question.seconds)
            return packed({"shape": rows.shape}, rows.tobytes())
        except TimeoutError:
            return _told(TimedOut("the process of models had too much to do", permanent=False))
        except ProviderError as error:
            return _told(error)
        except msgspec.MsgspecError as error:
            return _told(ProviderError(f"no question for a model: {error}", permanent=True))

    # ---- models -----------------------------------------------------------------------------

    def _check(self, spec: ModelSpec) -> None:
        """Raise ProviderError unless the model is loaded; see to it that it will be."""
        if self.models.get(spec) is not None:
            return
        at, fault = self.faults.get(spec, (-AGAIN, None))
        if fault is not None and time.monotonic() - at < AGAIN:
            raise fault
        if spec not in self.loading:
            self._begin_loading(spec)
        raise NotThere(f"the model {spec.name} is being loaded", permanent=False, retry_after=SOON)

    def _begin_loading(self, spec: ModelSpec) -> None:
        self.loading.add(spec)
        threading.Thread(target=self._load, args=(spec,), name="loading", daemon=True).start()

    def _load(self, spec: ModelSpec) -> None:
        began = time.monotonic()
        try:
            self.models.load(spec).rows(["a"] if spec.purpose != RERANKING else [("a", "b")])  # the first one is slow
            self.faults.pop(spec, None)
            log.info("The model %s was loaded in %.1f s", spec.name, time.monotonic() - began)
        except ProviderError as error:
            self.faults[spec] = time.monotonic(), error
            log.error("%s; it is tried again when it is asked for", error.message)
        finally:
            self.used[spec] = time.monotonic()
            self.loading.discard(spec)

    def _give_up_unused(self) -> None:
        now = time.monotonic()
        for spec in [spec for spec, at in self.used.items() if now - at > UNUSED and spec not in self.wanted]:
            self.models.forget(spec)
            self.used.pop(spec)
            self.faults.pop(spec, None)

    # ---- computing --------------------------------------------------------------------------

    def _compute(self, but_index: bool) -> None:
        while True:
            pieces = self.waiting.take(but_index=but_index)
            spec = pieces[0].asked.spec
            inputs = [one for piece in pieces for one in piece.inputs]
            try:
                if (model := self.models.get(spec)) is None:
                    raise NotThere(f"the model {spec.name} was given up", permanent=False, retry_after=SOON)
                rows = checked(spec, model.rows(inputs))
            except ProviderError as error:
                for piece in pieces:
                    piece.asked.fail(error)
                continue
            self.runs, self.computed = self.runs + 1, self.computed + len(inputs)
            for piece in pieces:
                own, rows = rows[: len(piece.positions)], rows[len(piece.positions) :]
                self._give(piece, own)

    def _give(self, piece: WaitingPiece, rows: Matrix) -> None:
        asked = piece.asked
        asked.rows[piece.positions] = rows
        with self._giving:
            asked.left -= len(rows)
            is_whole = asked.left == 0
        if is_whole:
            with suppress(InvalidStateError):
                asked.answer.set_result(asked.rows)


def _told(error: ProviderError) -> bytes:
    return packed({"fault": error.message, "kind": type(error).__name__, "permanent": error.permanent})


@contextmanager
def served_beside(place: Path, wanted: Sequence[ModelSpec], runners: int) -> Iterator[ModelServer]:
    """Serve in threads of this process, which end with it."""
    sys.setswitchinterval(SWITCH)
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # each runner reads its own texts
    server = ModelServer(place, wanted, runners)
    threading.Thread(target=server.run, name="models", daemon=True).start()
    yield server
