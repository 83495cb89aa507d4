"""Up the ladder: rung after rung is asked, until one answers."""

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar

from django.conf import settings
from django.utils import timezone

from memories import breakers
from memories.breakers import Line
from memories.chunking import pieces
from memories.errors import CapReached, Invalid, ProviderError
from memories.ladder import keys
from memories.ladder.answers import LadderAnswer, ReadFact, Step, step_of
from memories.ladder.rungs import Rung, configured_rung, rungs_of
from memories.models import ExtractorUse
from memories.providers import (
    ExtractedFact,
    ExtractionAnswer,
    ExtractionRequest,
    Extractor,
    ExtractorConfig,
    Question,
    Reply,
    extractor_from,
    network,
)
from workspaces.models import Workspace

Answer = TypeVar("Answer")

MOST_PIECES = 20  # requests that the messages of one ingest are read in
STEPS = 4  # so many of the server's time-outs may the messages of one ingest take


@dataclass(frozen=True, slots=True)
class Ladder:
    """The rungs of one workspace; `fault`: why those that it names cannot be used."""

    workspace_id: uuid.UUID
    rungs: tuple[Rung, ...]
    fault: str = ""

    def ask(self, question: Question) -> Reply:
        """The first whole answer of a rung. Raises ProviderError where none gives one."""
        if self.fault:
            raise ProviderError(self.fault, permanent=True)
        errors = []
        for rung in self.rungs:
            try:
                return _call(self.workspace_id, rung, lambda model: model.ask(question))
            except ProviderError as error:
                errors.append(error)
        errors.sort(key=_rank)
        raise errors[0]

    def extract(self, request: ExtractionRequest) -> LadderAnswer:
        """The facts of all messages. Asks only; a failure stands in the answer."""
        answer, climb = LadderAnswer(list(pieces(request))), _Climb(self)
        if self.fault:
            answer.error = ProviderError(self.fault, permanent=True)
            return answer
        for number, piece in enumerate(answer.pieces):
            if number == MOST_PIECES or climb.is_late(answer.steps):
                answer.unread = len(answer.pieces) - number
                break
            found, rule = climb.read(piece, answer)
            answer.facts += [ReadFact(fact, rule, number) for fact in found]
        return answer


def ladder_of(workspace_id: uuid.UUID) -> Ladder | None:
    """The workspace's own ladder, or the server's one rung; None where there is no model."""
    rows = Workspace.objects.filter(pk=workspace_id).values_list("settings__extractors", flat=True)
    return ladder_from(workspace_id, rows.first())


def ladder_from(workspace_id: uuid.UUID, raw: object) -> Ladder | None:
    """As `ladder_of`, of the setting `extractors` that was read already."""
    if raw is None:
        rung = configured_rung()
        return Ladder(workspace_id, (rung,)) if rung else None
    try:
        rungs = rungs_of(raw)
    except Invalid as error:
        return Ladder(workspace_id, (), f"the workspace's settings: {error}")
    return Ladder(workspace_id, rungs) if rungs else None


@dataclass(slots=True)
class _Climb:
    """One way up: a rung that failed once is left out for the rest of the messages."""

    ladder: Ladder
    failed: set[Rung] = field(default_factory=set)
    ends_at: float = field(
        default_factory=lambda: time.monotonic() + STEPS * settings.PROVIDER_TIMEOUT
    )

    def is_late(self, steps: Sequence[Step]) -> bool:
        """Whether one more as slow as the slowest so far would not end in time."""
        slowest = max((step.milliseconds for step in steps), default=0.0) / 1e3
        return bool(steps) and time.monotonic() + slowest >= self.ends_at

    def read(
        self, piece: ExtractionRequest, answer: LadderAnswer
    ) -> tuple[Sequence[ExtractedFact], str]:
        """The facts of a piece and their rule."""
        errors = []
        for rung in self.ladder.rungs:
            if rung in self.failed:
                continue
            try:
                found = self._ask(rung, piece, answer)
            except ProviderError as error:
                self.failed.add(rung)
                errors.append(error)
            else:
                return found.facts, f"{found.model} {found.prompt_version}"
        # What can be tried again is worth trying again, whatever else failed for good.
        errors.sort(key=_rank)
        answer.error = answer.error or (errors[0] if errors else None)
        return (), ""

    def _ask(self, rung: Rung, piece: ExtractionRequest, answer: LadderAnswer) -> ExtractionAnswer:
        started = time.perf_counter()
        number = self.ladder.rungs.index(rung) + 1
        try:
            # Not longer than the session's lease allows.
            with network.patience(self.ends_at - time.monotonic()):
                found = _call(self.ladder.workspace_id, rung, lambda model: model.extract(piece))
        except ProviderError as error:
            took = (time.perf_counter() - started) * 1e3
            step = Step(f"llm:{number}", rung.model, error.message, milliseconds=round(took, 2))
            answer.steps.append(step)
            raise
        answer.steps.append(step_of(f"llm:{number}", found))
        return found


def _rank(error: ProviderError) -> tuple[bool, bool]:
    return error.permanent, isinstance(error, CapReached)


def _call(workspace_id: uuid.UUID, rung: Rung, act: Callable[[Extractor], Answer]) -> Answer:
    """What the rung's model gives, within its time; at once an error while its breaker is open."""
    config = _config(rung)
    extractor = extractor_from(config)

    def counted() -> Answer:
        network.check_allowed(extractor.who or rung.model)  # before anything is written
        _count(workspace_id, rung)
        return act(extractor)

    line = Line(
        "language", rung.model or extractor.model, rung.base_url, config.api_key, rung.timeout
    )
    return breakers.call(line, counted)


def _count(workspace_id: uuid.UUID, rung: Rung) -> None:
    """Count a call. Raises CapReached when the day's are used up."""
    now = timezone.now()
    if not ExtractorUse.objects.take(workspace_id, rung.name, now.date(), rung.daily_cap):
        tomorrow = datetime.combine(now.date() + timedelta(days=1), datetime.min.time(), now.tzinfo)
        wait = (tomorrow - now).total_seconds()
        raise CapReached("its daily cap is reached", permanent=False, retry_after=wait)


def _config(rung: Rung) -> ExtractorConfig:
    return ExtractorConfig(
        provider=rung.provider,
        model=rung.model,
        api_key=keys.key_for(rung.provider, rung.base_url, rung.key_env),
        base_url=rung.base_url,
        timeout=rung.timeout,
    )
