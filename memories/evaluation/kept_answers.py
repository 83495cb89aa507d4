"""Answers of models, kept by their prompts, so that no prompt is paid for twice."""

import hashlib
import json
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from django.conf import settings

from memories.errors import Misconfigured, ProviderError, UnreadableAnswer
from memories.providers.chat_model import ChatQuestion, ChatReply
from memories.providers.extractor import ExtractorConfig, ModelQuestion, ModelReply
from memories.reading.extraction.fallback_chain import own_line

KEPT = "answers.jsonl"  # in the data folder
PROVIDERS = ("openai", "anthropic", "azure", "bedrock", "vertex")
LONGEST_CALL = 300.0  # seconds: nobody waits
LONGEST_GRADE = 2_000  # tokens, with what a model thinks before it
TRIES, LONGEST_PAUSE = 5, 60.0  # of a call that fails for now; seconds


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """An answer with what it took; `error` where the model gave none to this prompt."""

    text: str
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    seconds: float = 0.0
    error: str = ""


class KeptAnswers:
    """The answers of models by prompt, in a file to which each is added as it comes."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        self._known: dict[str, ModelAnswer] = {}
        if path.exists():
            for line in path.read_text().splitlines():
                row = json.loads(line)
                prompt = row.pop("prompt")
                self._known[prompt] = ModelAnswer(**row)

    def ask(
        self, who: str, asked: ChatQuestion | ModelQuestion, call: Callable[[], ChatReply | ModelReply]
    ) -> ModelAnswer:
        """Return the answer that is kept, else ask. Raises ProviderError where asking on makes no sense. Where this
        prompt alone gets no answer that can be used, the error is returned, and not kept."""
        if isinstance(asked, ChatQuestion):
            told = [asked.rules, *(message.text for message in asked.messages)]
        else:
            told = [asked.rules, asked.text]
        prompt = hashlib.sha256(json.dumps([who, *told]).encode()).hexdigest()
        if prompt in self._known:
            return self._known[prompt]
        started = time.monotonic()
        try:
            reply = patiently(call)
        except Misconfigured:
            raise
        except ProviderError as error:
            if not (error.permanent or isinstance(error, UnreadableAnswer)):
                raise
            return ModelAnswer("", error=error.message)
        seconds = round(time.monotonic() - started, 2)
        answer = ModelAnswer(reply.text, reply.input_tokens, reply.output_tokens, reply.cached_tokens, seconds)
        with self._lock:
            self._known[prompt] = answer
            with self._path.open("a") as file:
                file.write(json.dumps({"prompt": prompt, **asdict(answer)}) + "\n")
        return answer


def patiently(call: Callable[[], ChatReply | ModelReply]) -> ChatReply | ModelReply:
    """Call, and again after a pause where it failed for now. Raises ProviderError."""
    for attempt in range(1, TRIES):
        try:
            return call()
        except ProviderError as error:
            if error.permanent:
                raise
            time.sleep(min(error.retry_after or 2.0**attempt, LONGEST_PAUSE))
    return call()


def config_of(name: str) -> ExtractorConfig:
    """Return the model that is named, as `provider:model` or by itself: Claude is Anthropic's, others are at the
    address of OPENAI_BASE_URL."""
    provider, _, model = name.partition(":")
    if provider not in PROVIDERS or not model:
        provider, model = "anthropic" if name.startswith("claude") else "openai", name
    address, key = own_line(provider)
    seconds = max(settings.PROVIDER_TIMEOUT, LONGEST_CALL)
    return ExtractorConfig(provider, model, key, address, seconds, LONGEST_GRADE)
