"""The ladder: models that read facts, asked in order until one answers.

A workspace names its own in `settings["extractors"]`; else it is the one of the server's
settings. Each step is told, also those that failed.
"""

import re
import time
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.utils import timezone

from memories.chunking import pieces
from memories.errors import CapReached, Invalid, ProviderError
from memories.models import ExtractorUse
from memories.prompts import PROMPT_VERSION
from memories.providers import (
    ExtractedFact,
    ExtractionAnswer,
    ExtractionRequest,
    ExtractorConfig,
    Question,
    Reply,
    extractor_from,
)
from memoryproject.env import env_secret, env_str
from workspaces.models import Workspace

PROVIDERS = ("openai", "anthropic")
FIELDS = {"provider", "model", "baseUrl", "timeout", "dailyCap", "keyEnv"}
WHEN = UNMATCHED, ALWAYS = ("unmatched", "always")  # the setting `llm`: which messages it reads
MOST_RUNGS = 10
LONGEST_TIMEOUT = 300.0
MOST_PIECES = 20  # requests that the messages of one ingest are read in
STEPS = 4  # so many of the server's time-outs has a session's lease room for
# Only these variables can be named: others hold what is none of a workspace's business.
KEY_NAME = re.compile(r"EXTRACTOR_KEY_([A-Z0-9_]{1,60})")


@dataclass(frozen=True, slots=True)
class Rung:
    """One extractor of a ladder. `timeout` in seconds; `daily_cap` of calls, None for no end."""

    provider: str
    model: str = ""
    base_url: str = ""
    timeout: float = 30.0
    daily_cap: int | None = None
    key_env: str = ""

    @property
    def name(self) -> str:
        """What its calls are counted under."""
        return f"{self.provider}|{self.model}|{self.base_url}"[:300]


@dataclass(frozen=True, slots=True)
class Step:
    """One attempt at a piece of the messages; `outcome` in words."""

    rule: str
    model: str
    outcome: str
    prompt_version: str = PROMPT_VERSION
    input_tokens: int = 0
    output_tokens: int = 0
    milliseconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        return {_camel(name): value for name, value in asdict(self).items()}


@dataclass(frozen=True, slots=True)
class ReadFact:
    """A fact, with the model and prompt that found it and the number of the piece that it read."""

    fact: ExtractedFact
    rule: str
    piece: int


@dataclass(slots=True)
class LadderAnswer:
    """`error` where a piece was read by no rung; the facts of the others are there all the same.
    Of `pieces` the last `unread` were left out: there were too many, or no time was left."""

    pieces: list[ExtractionRequest] = field(default_factory=list)
    facts: list[ReadFact] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    error: ProviderError | None = None
    unread: int = 0


# ---- which rungs


def rungs_of(raw: object) -> tuple[Rung, ...]:
    """The rungs that `settings["extractors"]` names. Raises Invalid, with the path of the field."""
    if not isinstance(raw, list) or len(raw) > MOST_RUNGS:
        raise Invalid("extractors", f"A list of at most {MOST_RUNGS} extractors.")
    return tuple(_rung(f"extractors[{number}]", each) for number, each in enumerate(raw))


def faults_of(workspace_settings: dict[str, Any]) -> list[str]:
    """What is wrong with the extractors that a workspace's settings name; [] where nothing is."""
    try:
        rungs_of(workspace_settings.get("extractors") or [])
    except Invalid as error:
        return [str(error)]
    return []


def _rung(path: str, raw: object) -> Rung:
    if not isinstance(raw, dict):
        raise Invalid(path, "An object with provider, model, baseUrl, timeout, dailyCap, keyEnv.")
    if unknown := set(raw) - FIELDS:
        raise Invalid(f"{path}.{min(map(str, unknown))}", "There is no such field.")
    if raw.get("provider") not in PROVIDERS:
        raise Invalid(f"{path}.provider", f"One of {', '.join(PROVIDERS)}.")
    rung = Rung(
        provider=raw["provider"],
        model=_text(path, raw, "model", 200),
        base_url=_text(path, raw, "baseUrl", 500).rstrip("/"),
        timeout=_number(path, raw, "timeout", (1, LONGEST_TIMEOUT)) or settings.PROVIDER_TIMEOUT,
        daily_cap=_cap(path, raw),
        key_env=_text(path, raw, "keyEnv", 80),
    )
    _check_address(path, rung)
    return rung


def _text(path: str, raw: dict[str, Any], name: str, longest: int) -> str:
    value = raw.get(name) or ""
    if not isinstance(value, str) or len(value) > longest or not value.isprintable():
        raise Invalid(f"{path}.{name}", f"A text of at most {longest} characters.")
    return value.strip()


def _number(path: str, raw: dict[str, Any], name: str, bounds: tuple[float, float]) -> float | None:
    value = raw.get(name)
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not bounds[0] <= value <= bounds[1]:
        raise Invalid(f"{path}.{name}", f"A number from {bounds[0]:g} to {bounds[1]:g}.")
    return float(value)


def _cap(path: str, raw: dict[str, Any]) -> int | None:
    value = _number(path, raw, "dailyCap", (0, 10**9))
    if value is not None and value != int(value):
        raise Invalid(f"{path}.dailyCap", "A whole number of calls.")
    return None if value is None else int(value)


def _check_address(path: str, rung: Rung) -> None:
    """A key of the server's goes only to the address that the server's operator gave with it."""
    parts = urlsplit(rung.base_url)
    if rung.base_url and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise Invalid(f"{path}.baseUrl", "An address that begins with http:// or https://.")
    if not rung.key_env:
        return
    if not KEY_NAME.fullmatch(rung.key_env):
        raise Invalid(f"{path}.keyEnv", "The name of a variable EXTRACTOR_KEY_<NAME>.")
    if rung.base_url != _address_for(rung.key_env):
        raise Invalid(
            f"{path}.baseUrl",
            f"The key {rung.key_env} may only go to the address in "
            f"{rung.key_env.replace('KEY', 'URL', 1)}.",
        )


def _address_for(key_env: str) -> str:
    return env_str(key_env.replace("KEY", "URL", 1)).rstrip("/")


def configured_rung() -> Rung | None:
    """The extractor that the server's settings name; None where there is none."""
    provider = settings.EXTRACTION_PROVIDER
    if provider == "auto":
        provider = "anthropic" if settings.ANTHROPIC_API_KEY else "none"
    if provider == "none":
        return None
    is_openai = provider == "openai"
    return Rung(
        provider=provider,
        model=settings.EXTRACTION_MODEL,
        base_url=settings.OPENAI_BASE_URL if is_openai else settings.ANTHROPIC_BASE_URL,
        timeout=settings.PROVIDER_TIMEOUT,
    )


def _config(rung: Rung, timeout: float) -> ExtractorConfig:
    return ExtractorConfig(
        provider=rung.provider,
        model=rung.model,
        api_key=_key(rung),
        base_url=rung.base_url,
        timeout=timeout,
    )


def _key(rung: Rung) -> str:
    """The named key; else the server's own, where the call goes to where that belongs."""
    if rung.key_env:
        return env_secret(rung.key_env)
    is_openai = rung.provider == "openai"
    own = settings.OPENAI_BASE_URL if is_openai else settings.ANTHROPIC_BASE_URL
    if rung.base_url.rstrip("/") != own.rstrip("/"):
        return ""
    return settings.OPENAI_API_KEY if is_openai else settings.ANTHROPIC_API_KEY


# ---- up the ladder


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
                _count(self.workspace_id, rung)
                return extractor_from(_config(rung, rung.timeout)).ask(question)
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
            _count(self.ladder.workspace_id, rung)
            found = extractor_from(_config(rung, self._timeout(rung))).extract(piece)
        except ProviderError as error:
            took = (time.perf_counter() - started) * 1e3
            step = Step(f"llm:{number}", rung.model, error.message, milliseconds=round(took, 2))
            answer.steps.append(step)
            raise
        answer.steps.append(_told(f"llm:{number}", found))
        return found

    def _timeout(self, rung: Rung) -> float:
        """Not longer than the session's lease allows."""
        left = self.ends_at - time.monotonic()
        if left <= 0:
            raise ProviderError("no time is left for another model", permanent=False)
        # Whole seconds: extractors are kept by their configuration.
        return rung.timeout if rung.timeout <= left else max(1.0, left // 1)


def _rank(error: ProviderError) -> tuple[bool, bool]:
    return error.permanent, isinstance(error, CapReached)


def _told(rule: str, found: ExtractionAnswer) -> Step:
    return Step(
        rule,
        found.model,
        f"{len(found.facts)} facts" + (", cut off" if found.is_cut else ""),
        found.prompt_version,
        found.input_tokens,
        found.output_tokens,
        round(found.milliseconds, 2),
    )


def _count(workspace_id: uuid.UUID, rung: Rung) -> None:
    """Count a call. Raises CapReached when the day's are used up."""
    now = timezone.now()
    if not ExtractorUse.objects.take(workspace_id, rung.name, now.date(), rung.daily_cap):
        tomorrow = datetime.combine(now.date() + timedelta(days=1), datetime.min.time(), now.tzinfo)
        wait = (tomorrow - now).total_seconds()
        raise CapReached("its daily cap is reached", permanent=False, retry_after=wait)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
