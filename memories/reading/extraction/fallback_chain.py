"""The fallback chain: models that read facts, asked in order until one answers.

A workspace names its own in `settings["extractors"]`; else it is the one of the server's settings.
Every attempt is reported, also the failed ones.
"""

import hashlib
import logging
import re
import time
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence, Sized
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from typing import Annotated, Any, TypeVar
from urllib.parse import urlsplit

from django.conf import settings
from django.utils import timezone
from pydantic import AfterValidator, Field, ValidationInfo, model_validator
from pydantic.alias_generators import to_camel

from memories.errors import CapReached, Invalid, ProviderError
from memories.meters import breakers
from memories.meters.breakers import ProviderLine
from memories.models import ExtractorUse
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
from memories.providers.allowed_addresses import is_refused
from memories.providers.message_pieces import pieces
from memories.providers.prompts import PROMPT_VERSION
from memories.settings_objects import SettingsObject, between, checked, faults, wrong
from memoryproject.env import env_secret, env_str
from workspaces.models import Workspace
from workspaces.request_fields import OneOf

# The models of a fallback chain, as a workspace's settings or the server's name them. Their keys
# are variables of the server, each of which goes to one address only.

ALWAYS = "always"
WHEN = ("unmatched", ALWAYS)  # the setting `llm`: which messages are read
PROVIDERS = ("openai", "anthropic")
MOST_MODELS = 10
LONGEST_TIMEOUT = 300.0
# Only these variables can be named: others hold what is none of a workspace's business.
NAME = re.compile(r"EXTRACTOR_KEY_([A-Z0-9_]{1,60})")


MUCH = 1_500  # characters of a question that gives reason to doubt an empty answer
# Behind all else, so that the beginning is found in the server's cache.
AGAIN = "Your last answer to this was empty or named nothing that it stands on. Read it once more, and answer again."
MOST_PIECES = 20  # requests that the messages of one ingest are read in
STEPS = 4  # so many of the server's time-outs may the messages of one ingest take


def _printable(text: str) -> str:
    if not text.isprintable():
        raise wrong("A text in one line.")
    return text.strip()


def _address(text: str) -> str:
    parts = urlsplit(text)
    if text and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise wrong("An address that begins with http:// or https://.")
    return text.rstrip("/")


def _key_name(text: str) -> str:
    if text and not is_name(text):
        raise wrong("The name of a variable EXTRACTOR_KEY_<NAME>.")
    return text


def _owned(url: str, info: ValidationInfo) -> str:
    """Check an address: calls go only where the operator allows them, and a key of the server only
    to the address that the operator gave with it."""
    key_env = info.data.get("key_env", "")
    allowed = _allowed(url, key_env)
    if url and allowed is not None and is_refused(url, allowed):
        raise wrong("A public https address, or one that the operator allows (EXTRACTOR_ALLOWED_HOSTS).")
    if key_env and url and url != address_for(key_env):
        raise wrong(f"The key {key_env} may only go to the address in {address_env(key_env)}.")
    return url


class ConfiguredModel(SettingsObject):
    """One model of a chain. `timeout` in seconds; `dailyCap` of calls, null for no end."""

    provider: Annotated[str, Field(validate_default=True), OneOf(PROVIDERS)] = ""
    model: Annotated[str, Field(max_length=200), AfterValidator(_printable)] = ""
    key_env: Annotated[str, Field(max_length=80), AfterValidator(_key_name)] = ""
    base_url: Annotated[
        str,
        Field(max_length=500, validate_default=True),
        AfterValidator(_printable),
        AfterValidator(_address),
        AfterValidator(_owned),
    ] = ""
    timeout: Annotated[float, between(1, LONGEST_TIMEOUT)] = Field(default_factory=lambda: settings.PROVIDER_TIMEOUT)
    daily_cap: Annotated[int, between(0, 10**9)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _without_null(cls, raw: object) -> object:
        """Drop nulls: they mean the same as a field that is left out."""
        return {k: v for k, v in raw.items() if v is not None} if isinstance(raw, dict) else raw

    @property
    def name(self) -> str:
        """The name under which its calls are counted."""
        return f"{self.provider}|{self.model}|{self.base_url}"[:300]


Models = Annotated[list[ConfiguredModel], Field(max_length=MOST_MODELS)]


def models_from(raw: object) -> tuple[ConfiguredModel, ...]:
    """Return the models that `settings["extractors"]` names. Raises Invalid, with each field's
    path."""
    return tuple(checked(Models, raw, "extractors"))


def faults_of_model(raw: object, place: str) -> list[Invalid]:
    """Return the faults of a set's own model; a text or null names none."""
    if not isinstance(raw, Mapping):
        return []
    found = faults(ConfiguredModel, raw, place)
    if not found and not raw.get("model"):
        found = [Invalid(f"{place}.model", "Name the model that is to be asked.")]
    return found


def allowed_to(model: ConfiguredModel) -> tuple[str, ...] | None:
    """Return the addresses that calls of this model may go to (`providers.allowed_addresses`); None
    where the operator's own settings name its address."""
    return _allowed(model.base_url, model.key_env)


def _allowed(base_url: str, key_env: str) -> tuple[str, ...] | None:
    own = {settings.OPENAI_BASE_URL, settings.ANTHROPIC_BASE_URL, ""}
    if key_env and is_name(key_env):
        own.add(address_for(key_env))
    if base_url.rstrip("/") in {address.rstrip("/") for address in own}:
        return None
    return tuple(settings.EXTRACTOR_ALLOWED_HOSTS)


def server_model() -> ConfiguredModel | None:
    """The extractor that the server's settings name; None where there is none."""
    provider = settings.EXTRACTION_PROVIDER
    if provider == "auto":
        provider = "anthropic" if settings.ANTHROPIC_API_KEY else "none"
    if provider == "none":
        return None
    return ConfiguredModel.model_construct(
        provider=provider,
        model=settings.EXTRACTION_MODEL,
        base_url=own_line(provider)[0],
        timeout=settings.PROVIDER_TIMEOUT,
    )


def own_line(provider: str) -> tuple[str, str]:
    """Return the server's own address and key for a provider; those of a cloud's models are its SDK's affair."""
    lines = {
        "openai": (settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY),
        "anthropic": (settings.ANTHROPIC_BASE_URL, settings.ANTHROPIC_API_KEY),
    }
    return lines.get(provider, ("", ""))


def is_name(key_env: str) -> bool:
    return NAME.fullmatch(key_env) is not None


def address_env(key_env: str) -> str:
    return key_env.replace("KEY", "URL", 1)


def address_for(key_env: str) -> str:
    """Return the address that the server's operator gave with the key."""
    return env_str(address_env(key_env)).rstrip("/")


def address_of(model: ConfiguredModel) -> str:
    """Return the address of its calls: an entry without one has that of its key, else the server's
    own; "" is the service of the model's maker."""
    if model.base_url or model.key_env:
        return model.base_url or address_for(model.key_env)
    return own_line(model.provider)[0].rstrip("/")


def unusable(raw: object) -> list[str]:
    """Return, in words, which models in `settings["extractors"]` cannot be asked, and why."""
    try:
        models = models_from(raw)
    except Invalid as error:
        return [str(error)]
    found = []
    for number, model in enumerate(models, 1):
        url = address_of(model)
        if not key_for(model.provider, url, model.key_env) and (model.provider == "anthropic" or not url):
            name = model.key_env or f"{model.provider.upper()}_API_KEY"
            found.append(f"model {number} ({model.model or model.provider}) needs {name}")
    return found


def key_for(provider: str, base_url: str, key_env: str) -> str:
    """Return the named key; else the server's own, where the call goes to that key's address."""
    if key_env:
        return env_secret(key_env)
    address, key = own_line(provider)
    return key if base_url.rstrip("/") == address.rstrip("/") else ""


Answer = TypeVar("Answer")
Found = TypeVar("Found", bound=Sized)
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ModelAttempt:
    """One attempt at a piece of the messages; `outcome` in words. `piece` is a digest of what was read, and
    empty where it failed."""

    rule: str
    model: str
    outcome: str
    prompt_version: str = PROMPT_VERSION
    input_tokens: int = 0
    output_tokens: int = 0
    milliseconds: float = 0.0
    cached_tokens: int = 0
    piece: str = ""

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
    """The answer of a chain. `error` if no model read a piece; the facts of the others are there
    all the same. The last `unread` of `pieces` were left out: too many, or no time was left."""

    pieces: list[ExtractionRequest] = field(default_factory=list)
    facts: list[ReadFact] = field(default_factory=list)
    steps: list[ModelAttempt] = field(default_factory=list)
    error: ProviderError | None = None
    unread: int = 0


def digest_of(piece: ExtractionRequest) -> str:
    """Return a digest of the messages of a piece, by which it is known when it was read before."""
    told = "\n".join(f"{each.index}:{each.start}:{each.speaker}:{each.text}" for each in piece.messages)
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def step_of(rule: str, found: ExtractionAnswer, piece: ExtractionRequest) -> ModelAttempt:
    return ModelAttempt(
        rule,
        found.model,
        f"{len(found.facts)} facts" + (", cut off" if found.is_cut else ""),
        found.prompt_version,
        found.input_tokens,
        found.output_tokens,
        round(found.milliseconds, 2),
        found.cached_tokens,
        digest_of(piece),
    )


@dataclass(frozen=True, slots=True)
class FallbackChain:
    """The models of a workspace; `fault`: why those that it names cannot be used."""

    workspace_id: uuid.UUID
    models: tuple[ConfiguredModel, ...]
    fault: str = ""
    use: str = "extraction"  # what its calls are written down as

    def ask(self, question: ModelQuestion) -> ModelReply:
        """Return the first whole answer of a model. Raises ProviderError where none gives one."""
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

    def ask_again_if_empty(self, question: ModelQuestion, read: Callable[[str], Found]) -> tuple[Found, str]:
        """Return what `read` finds in an answer, and which model gave it. An empty answer to much text is
        likelier a small model's weakness than the truth: it is asked once more, and told so. Raises
        ProviderError."""
        reply = self.ask(question)
        found = read(reply.text)
        if not found and len(question.text) >= MUCH:
            reply = self.ask(replace(question, text=f"{question.text}\n{AGAIN}"))
            found = read(reply.text)
        return found, reply.model

    def extract(self, request: ExtractionRequest, read: Collection[str] = ()) -> ChainAnswer:
        """Return the facts of all messages but for the pieces that were `read` before, by their digests.
        Writes nothing; a failure is in the answer."""
        answer, climb = ChainAnswer(list(pieces(request))), _Climb(self)
        if self.fault:
            answer.error = ProviderError(self.fault, permanent=True)
            return answer
        for number, piece in enumerate(answer.pieces):
            if digest_of(piece) in read:
                continue
            if number == MOST_PIECES or climb.is_late(answer.steps):
                answer.unread = len(answer.pieces) - number
                break
            found, rule = climb.read(piece, answer)
            answer.facts += [ReadFact(fact, rule, number) for fact in found]
        return answer


def chain_of(workspace_id: uuid.UUID, use: str = "extraction") -> FallbackChain | None:
    """Return the workspace's own chain, or the server's one model; None where there is no model.
    `use` is the purpose that its calls are recorded under."""
    rows = Workspace.objects.filter(pk=workspace_id).values_list("settings__extractors", flat=True)
    return chain_from(workspace_id, rows.first(), use)


def chain_from(workspace_id: uuid.UUID, raw: object, use: str = "extraction") -> FallbackChain | None:
    """Make the chain of `chain_of` from the setting `extractors`, already read."""
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
    """One run of a chain: a model that failed once is left out for the rest of the messages."""

    chain: FallbackChain
    failed: set[ConfiguredModel] = field(default_factory=set)
    ends_at: float = field(default_factory=lambda: time.monotonic() + STEPS * settings.PROVIDER_TIMEOUT)

    def is_late(self, steps: Sequence[ModelAttempt]) -> bool:
        """Tell whether another attempt as slow as the slowest so far would not end in time."""
        slowest = max((step.milliseconds for step in steps), default=0.0) / 1e3
        return bool(steps) and time.monotonic() + slowest >= self.ends_at

    def read(self, piece: ExtractionRequest, answer: ChainAnswer) -> tuple[Sequence[ExtractedFact], str]:
        """Return the facts of a piece and their rule."""
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

    def _ask(self, model: ConfiguredModel, piece: ExtractionRequest, answer: ChainAnswer) -> ExtractionAnswer:
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
            step = ModelAttempt(f"llm:{number}", model.model, error.message, milliseconds=round(took, 2))
            answer.steps.append(step)
            raise
        answer.steps.append(step_of(f"llm:{number}", found, piece))
        return found


def _rank(error: ProviderError) -> tuple[bool, bool]:
    return error.permanent, isinstance(error, CapReached)


def _config_of(model: ConfiguredModel) -> ExtractorConfig:
    base_url = address_of(model)
    return ExtractorConfig(
        provider=model.provider,
        model=model.model,
        api_key=key_for(model.provider, base_url, model.key_env),
        base_url=base_url,
        timeout=model.timeout,
        allowed=allowed_to(model),
    )


def line_of(chain: FallbackChain, model: ConfiguredModel) -> ProviderLine:
    """Return the line over which a model of the chain is asked. Raises ProviderError where it cannot be."""
    config = _config_of(model)
    name = model.model or extractor_from(config).model
    return ProviderLine("language", name, config.base_url, config.api_key, model.timeout, chain.workspace_id, chain.use)


def _call(chain: FallbackChain, model: ConfiguredModel, act: Callable[[Extractor], Answer]) -> Answer:
    """Return the model's answer within its time. Raises ProviderError, and at once while its
    breaker is open or the workspace may spend no more."""
    workspace_id, config = chain.workspace_id, _config_of(model)
    extractor = extractor_from(config)

    def counted() -> Answer:
        """Call and count it. Raises CapReached where the day's calls are used up."""
        network.check_allowed(extractor.who or model.model)  # before anything is written
        now = timezone.now()
        if not ExtractorUse.objects.take(workspace_id, model.name, now.date(), model.daily_cap):
            day = now.date() + timedelta(days=1)
            tomorrow = datetime.combine(day, datetime.min.time(), now.tzinfo)
            wait = (tomorrow - now).total_seconds()
            raise CapReached("its daily cap is reached", permanent=False, retry_after=wait)
        return act(extractor)

    try:
        return breakers.call(line_of(chain, model), counted)
    except ProviderError as error:
        if config.allowed is None:
            raise
        # Those who named the address must not read through this server what is there.
        raise error.in_own_words() from None
