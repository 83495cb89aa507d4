"""The interface of extractors: messages in, facts with their quotes out, or a ProviderError; and
one extractor that calls no model."""

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pydantic import BaseModel

from memories.errors import ProviderError, UnreadableAnswer
from memories.language.english.patterns.pattern import FACT_TYPES
from memories.providers import prompts
from memories.providers.network import Endpoint
from memories.providers.prompts import ExtractionRequest, FactAnswer

MAX_ENTITIES = 20
MAX_NAME = 255


@dataclass(frozen=True)
class ExtractorConfig:
    """The choice of the model that reads facts. An empty `model` means the provider's own default.

    `provider` is anthropic, openai or none; `timeout` is in seconds, `max_tokens` of the answer;
    `allowed` as in Endpoint.
    """

    provider: str
    model: str = ""
    api_key: str = field(default="", repr=False)
    base_url: str = ""
    timeout: float = 30.0
    max_tokens: int = 8_000
    allowed: tuple[str, ...] | None = None

    @property
    def endpoint(self) -> Endpoint:
        # One call is one call: the next extractor follows, or the queue comes back.
        return Endpoint(self.api_key, self.base_url, self.timeout, retries=0, allowed=self.allowed)


@dataclass(frozen=True)
class ExtractedQuote:
    """Words that a fact stands on, as the model copied them: still to be found in the message."""

    message_index: int
    text: str


@dataclass(frozen=True)
class ExtractedFact:
    statement: str
    category: str
    fact_type: str
    confidence: float
    event_date: datetime | None
    entities: tuple[str, ...]
    quotes: tuple[ExtractedQuote, ...]


@dataclass(frozen=True)
class ExtractionAnswer:
    """`model` is what the server says it was; `stop_reason` is in the server's own words."""

    facts: tuple[ExtractedFact, ...]
    model: str
    prompt_version: str
    input_tokens: int
    output_tokens: int
    milliseconds: float
    stop_reason: str
    is_cut: bool = False
    cached_tokens: int = 0


@dataclass(frozen=True)
class ModelQuestion:
    """`rules` are ours, `text` is data; `schema` is the shape of the JSON that must come back."""

    rules: str
    text: str
    schema: type[BaseModel]


@dataclass(frozen=True)
class ModelReply:
    """An answer of a model; `is_cut`: it breaks off. Refused ones never come this far. `cached_tokens` of the
    input were found in the server's cache."""

    text: str
    stop_reason: str
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    is_cut: bool = False


class Extractor(ABC):
    """`who` is the model and where it is, in words."""

    provider: str
    model: str
    who: str = ""
    is_remote: bool = True

    @abstractmethod
    def ask(self, question: ModelQuestion) -> ModelReply:
        """Raises ProviderError: for refusals too."""

    def extract(self, request: ExtractionRequest) -> ExtractionAnswer:
        """Extract at most `request.max_facts` facts; from an answer that was cut off, the whole
        ones. Raises ProviderError, also where none is."""
        started = time.perf_counter()
        rules = prompts.extraction_rules(request)
        reply = self.ask(ModelQuestion(rules, prompts.extraction_text(request), prompts.FactsAnswer))
        if reply.is_cut:
            answers = prompts.whole_facts(reply.text)
            if not answers:
                raise cut_off(self.who, reply.output_tokens)
        else:
            try:
                answers = prompts.read_facts(reply.text).facts
            except ValueError as error:
                start = " ".join(reply.text.split())[:80]
                raise UnreadableAnswer(
                    f"{self.model} did not answer with the JSON it was asked for",
                    permanent=False,
                    foreign=repr(start),
                ) from error
        facts = [fact_of(answer) for answer in answers]
        return ExtractionAnswer(
            facts=tuple(fact for fact in facts if fact.statement)[: request.max_facts],
            model=reply.model or self.model,
            prompt_version=prompts.PROMPT_VERSION,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            milliseconds=(time.perf_counter() - started) * 1000,
            stop_reason=reply.stop_reason,
            is_cut=reply.is_cut,
            cached_tokens=reply.cached_tokens,
        )


def refused(who: str, why: str = "") -> ProviderError:
    words = " ".join(why.split())[:300]
    return UnreadableAnswer(f"{who} refused to answer", True, foreign=words)


def cut_off(who: str, tokens: int) -> ProviderError:
    after = f" after {tokens} tokens" if tokens else ""
    return UnreadableAnswer(f"{who} was cut off{after}: there is too much in one request", True)


def fact_of(answer: FactAnswer) -> ExtractedFact:
    """Return the fact without what no row can hold. The caller checks whether a quote stands in a
    message."""
    names = dict.fromkeys(_clean(name)[:MAX_NAME] for name in answer.entities)
    quotes = (ExtractedQuote(quote.message, quote.text) for quote in answer.quotes)
    return ExtractedFact(
        statement=_clean(answer.statement),
        category=answer.category,
        fact_type=FACT_TYPES.get(answer.category, "fact"),
        confidence=answer.confidence,
        event_date=day_of(answer.event_date),
        entities=tuple(name for name in names if name)[:MAX_ENTITIES],
        quotes=tuple(quote for quote in quotes if quote.text.strip()),
    )


def day_of(text: str | None) -> datetime | None:
    """Return midnight UTC of a day, month or year in ISO notation; None for anything else."""
    for form in ("%Y-%m-%d", "%Y-%m", "%Y"):
        try:
            return datetime.strptime((text or "").partition("T")[0].strip(), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None


def _clean(text: str) -> str:
    return text.replace("\x00", "").strip()


class NoExtractor(Extractor):
    provider = "none"
    model = "none"
    is_remote = False

    def ask(self, question: ModelQuestion) -> ModelReply:
        raise ProviderError(
            "no language model is configured: set ANTHROPIC_API_KEY, or EXTRACTION_PROVIDER=openai",
            permanent=True,
        )
