"""The fallback chain: models that read facts, asked in order until one answers.

A workspace names its own in `settings["extractors"]`; else it is the one of the server's settings.
Each step is told, also those that failed.
"""

import logging
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.conf import settings
from django.utils import timezone
from pydantic.alias_generators import to_camel

from memories import breakers
from memories.breakers import ProviderLine
from memories.errors import CapReached, Invalid, ProviderError
from memories.extraction.configured_models import (
    ConfiguredModel,
    address_of,
    allowed_to,
    key_for,
    models_from,
    server_model,
)
from memories.message_pieces import pieces
from memories.models import ExtractorUse
from memories.prompts import PROMPT_VERSION
from memories.providers import (
    ExtractedFact,
    ExtractionAnswer,
    ExtractionRequest,
    Extractor,
    ExtractorConfig,
    ModelQuestion,
    ModelReply,
    extractor_from,
    network,
)
from workspaces.models import Workspace

Answer = TypeVar("Answer")
log = logging.getLogger(__name__)

MOST_PIECES = 20  # requests that the messages of one ingest are read in
STEPS = 4  # so many of the server's time-outs may the messages of one ingest take


@dataclass(frozen=True, slots=True)
class ModelAttempt:
    """One attempt at a piece of the messages; `outcome` in words."""

    rule: str
    model: str
    outcome: str
    prompt_version: str = PROMPT_VERSION
    input_tokens: int = 0
    output_tokens: int = 0
    milliseconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        return {to_camel(name): value for name, value in asdict(self).items()}


@dataclass(frozen=True, slots=True)
class ReadFact:
    """A fact, with the model and prompt that found it and the number of the piece that it read."""

    fact: ExtractedFact
    rule: str
    piece: int


@dataclass(slots=True)
class ChainAnswer:
    """`error` where a piece was read by no model; the facts of the others are there all the same.
    Of `pieces` the last `unread` were left out: there were too many, or no time was left."""

    pieces: list[ExtractionRequest] = field(default_factory=list)
    facts: list[ReadFact] = field(default_factory=list)
    steps: list[ModelAttempt] = field(default_factory=list)
    error: ProviderError | None = None
    unread: int = 0


def step_of(rule: str, found: ExtractionAnswer) -> ModelAttempt:
    return ModelAttempt(
        rule,
        found.model,
        f"{len(found.facts)} facts" + (", cut off" if found.is_cut else ""),
        found.prompt_version,
        found.input_tokens,
        found.output_tokens,
        round(found.milliseconds, 2),
    )


@dataclass(frozen=True, slots=True)
class FallbackChain:
    """The models of one workspace; `fault`: why those that it names cannot be used."""

    workspace_id: uuid.UUID
    models: tuple[ConfiguredModel, ...]
    fault: str = ""
    use: str = "extraction"  # what its calls are written down as

    def ask(self, question: ModelQuestion) -> ModelReply:
        """The first whole answer of a model. Raises ProviderError where none gives one."""
        if self.fault:
            raise ProviderError(self.fault, permanent=True)
        errors = []
        for model in self.models:
            try:
                return _call(self, model, lambda model: model.ask(question))
            except ProviderError as error:
                errors.append(error)
        errors.sort(key=_rank)
        raise errors[0]

    def extract(self, request: ExtractionRequest) -> ChainAnswer:
        """The facts of all messages. Asks only; a failure stands in the answer."""
        answer, climb = ChainAnswer(list(pieces(request))), _Climb(self)
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


def chain_of(workspace_id: uuid.UUID, use: str = "extraction") -> FallbackChain | None:
    """The workspace's own chain, or the server's one model; None where there is no model. `use` is
    what its calls are written down as."""
    rows = Workspace.objects.filter(pk=workspace_id).values_list("settings__extractors", flat=True)
    return chain_from(workspace_id, rows.first(), use)


def chain_from(
    workspace_id: uuid.UUID, raw: object, use: str = "extraction"
) -> FallbackChain | None:
    """As `chain_of`, of the setting `extractors` that was read already."""
    if raw is None:
        model = server_model()
        return FallbackChain(workspace_id, (model,), use=use) if model else None
    try:
        models = models_from(raw)
    except Invalid as error:
        return FallbackChain(workspace_id, (), f"the workspace's settings: {error}")
    return FallbackChain(workspace_id, models, use=use) if models else None


@dataclass(slots=True)
class _Climb:
    """One way up: a model that failed once is left out for the rest of the messages."""

    chain: FallbackChain
    failed: set[ConfiguredModel] = field(default_factory=set)
    ends_at: float = field(
        default_factory=lambda: time.monotonic() + STEPS * settings.PROVIDER_TIMEOUT
    )

    def is_late(self, steps: Sequence[ModelAttempt]) -> bool:
        """Whether one more as slow as the slowest so far would not end in time."""
        slowest = max((step.milliseconds for step in steps), default=0.0) / 1e3
        return bool(steps) and time.monotonic() + slowest >= self.ends_at

    def read(
        self, piece: ExtractionRequest, answer: ChainAnswer
    ) -> tuple[Sequence[ExtractedFact], str]:
        """The facts of a piece and their rule."""
        errors = []
        for model in self.chain.models:
            if model in self.failed:
                continue
            try:
                found = self._ask(model, piece, answer)
            except ProviderError as error:
                self.failed.add(model)
                errors.append(error)
            else:
                return found.facts, f"{found.model} {found.prompt_version}"
        # What can be tried again is worth trying again, whatever else failed for good.
        errors.sort(key=_rank)
        answer.error = answer.error or (errors[0] if errors else None)
        return (), ""

    def _ask(
        self, model: ConfiguredModel, piece: ExtractionRequest, answer: ChainAnswer
    ) -> ExtractionAnswer:
        started = time.perf_counter()
        number = self.chain.models.index(model) + 1
        try:
            # Not longer than the session's lease allows.
            with network.patience(self.ends_at - time.monotonic()):
                found = _call(self.chain, model, lambda model: model.extract(piece))
        except ProviderError as error:
            workspace_id = self.chain.workspace_id
            log.warning("a model failed workspace %s: %s", workspace_id, error.own_words)
            took = (time.perf_counter() - started) * 1e3
            step = ModelAttempt(
                f"llm:{number}", model.model, error.message, milliseconds=round(took, 2)
            )
            answer.steps.append(step)
            raise
        answer.steps.append(step_of(f"llm:{number}", found))
        return found


def _rank(error: ProviderError) -> tuple[bool, bool]:
    return error.permanent, isinstance(error, CapReached)


def _call(
    chain: FallbackChain, model: ConfiguredModel, act: Callable[[Extractor], Answer]
) -> Answer:
    """What the model's model gives, within its time; at once an error while its breaker is open or
    the workspace may spend no more."""
    workspace_id = chain.workspace_id
    base_url = address_of(model)
    config = ExtractorConfig(
        provider=model.provider,
        model=model.model,
        api_key=key_for(model.provider, base_url, model.key_env),
        base_url=base_url,
        timeout=model.timeout,
        allowed=allowed_to(model),
    )
    extractor = extractor_from(config)

    def counted() -> Answer:
        """Raises CapReached where the day's calls are used up."""
        network.check_allowed(extractor.who or model.model)  # before anything is written
        now = timezone.now()
        if not ExtractorUse.objects.take(workspace_id, model.name, now.date(), model.daily_cap):
            day = now.date() + timedelta(days=1)
            tomorrow = datetime.combine(day, datetime.min.time(), now.tzinfo)
            wait = (tomorrow - now).total_seconds()
            raise CapReached("its daily cap is reached", permanent=False, retry_after=wait)
        return act(extractor)

    line = ProviderLine(
        "language", model.model or extractor.model, base_url, config.api_key, model.timeout,
        workspace_id, chain.use,
    )  # fmt: skip
    try:
        return breakers.call(line, counted)
    except ProviderError as error:
        if config.allowed is None:
            raise
        # Whoever named the address shall not read through this server what stands there.
        raise error.in_own_words() from None
