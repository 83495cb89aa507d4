"""The official OpenAI SDK, for OpenAI and for all who speak its wire (Ollama, Gemini, vLLM):
embeddings, facts read over the chat, and talking."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

import numpy as np
import openai
from openai.types import CompletionUsage

from memories.errors import ProviderError
from memories.providers import network
from memories.providers.answer_forms import ask_in_forms, in_words, without_bounds
from memories.providers.chat_model import (
    ArgumentsBuilder,
    ChatMessage,
    ChatModel,
    ChatQuestion,
    ChatReply,
    ChatTool,
    Tell,
    ToolCall,
)
from memories.providers.embedder import Embedder, EmbedderConfig, Matrix, Side, batches, known_model
from memories.providers.extractor import Extractor, ExtractorConfig, ModelQuestion, ModelReply, refused
from memories.providers.network import Endpoint

# The SDK insists on a key; servers in one's own house mostly want none.
NO_KEY = "none"


DEFAULT_EMBEDDING_MODEL = "text-embedding-3-small"
# OpenAI takes 8,191 tokens per text, and a token is never less than a byte. What is longer goes
# in pieces, and the text's vector is their mean, weighted by length.
PIECE_BYTES = 8_000
DEFAULT_CHAT_MODEL = "gpt-5-mini"
# The model that local servers most often serve.
DEFAULT_LOCAL_MODEL = "llama3.2"


def client_for(endpoint: Endpoint) -> openai.OpenAI:
    if not endpoint.api_key and not endpoint.base_url:
        raise ProviderError("OPENAI_API_KEY is not set", permanent=True)
    endpoint = replace(endpoint, api_key=endpoint.api_key or NO_KEY)
    return network.connect(openai.OpenAI, openai.DefaultHttpxClient, endpoint)


def is_openai(endpoint: Endpoint) -> bool:
    """Tell whether this is OpenAI's own service: others speak an older dialect of the wire."""
    return endpoint.host.partition(":")[0] in ("", "api.openai.com")


def named(model: str, endpoint: Endpoint) -> str:
    """The model's name in messages to people: with its server, where that is not OpenAI's."""
    return f"OpenAI's {model}" if is_openai(endpoint) else f"{model} at {endpoint.host}"


class OpenAIEmbedder(Embedder):
    provider = "openai"
    is_remote = True

    def __init__(self, config: EmbedderConfig) -> None:
        self.name = config.model or DEFAULT_EMBEDDING_MODEL
        self._endpoint = config.endpoint
        self._known = known_model(self.name)
        self.dimensions = config.dimensions or self._known.dimensions
        self.duplicate_threshold = self._known.duplicate_threshold
        self.search_floor = self._known.search_floor
        if not self.dimensions:
            raise ProviderError(
                f"how many dimensions {self.name} has is not known: set EMBEDDING_DIMENSIONS",
                permanent=True,
            )

    def make_vectors(self, texts: Sequence[str], side: Side) -> Matrix:
        known = self._known
        prefix = known.query_prefix if side == "query" else known.document_prefix
        owned = [(owner, piece) for owner, text in enumerate(texts) for piece in pieces(text)]
        sizes = [len(piece) for _, piece in owned]
        sums = np.zeros((len(texts), self.dimensions), np.float32)
        for batch in batches(sizes, self):
            vectors = self._ask([prefix + owned[position][1] for position in batch])
            weights = np.array([sizes[position] for position in batch], np.float32)
            owners = [owned[position][0] for position in batch]
            np.add.at(sums, owners, vectors * weights[:, None])
        return sums

    def _ask(self, pieces: list[str]) -> Matrix:
        wish = self.dimensions if self._known.takes_dimensions else openai.omit
        client = client_for(self._endpoint)

        def call() -> tuple[Matrix, int]:
            answer = client.embeddings.create(model=self.name, input=pieces, dimensions=wish)
            rows = sorted(answer.data, key=lambda row: row.index)
            vectors = np.array([row.embedding for row in rows], np.float32)
            if len(vectors) != len(pieces):
                raise ValueError(f"{len(vectors)} vectors for {len(pieces)} texts")
            usage = answer.usage
            return vectors, usage.prompt_tokens if usage else network.estimate(pieces)

        who = named(self.name, self._endpoint)
        vectors, tokens = network.ask(openai, who, self._endpoint.timeout, call)
        network.add(tokens)
        self._check(vectors, len(pieces))
        return vectors


def pieces(text: str) -> Iterator[str]:
    """`text` cut into at most PIECE_BYTES of UTF-8 each, between characters."""
    data = text.encode()
    start = 0
    while start < len(data):
        end = start + PIECE_BYTES
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end -= 1
        yield data[start:end].decode()
        start = end


class OpenAIExtractor(Extractor):
    provider = "openai"

    def __init__(self, config: ExtractorConfig) -> None:
        own = is_openai(config.endpoint)
        self.model = config.model or (DEFAULT_CHAT_MODEL if own else DEFAULT_LOCAL_MODEL)
        self._endpoint = config.endpoint
        self.who = named(self.model, config.endpoint)
        # OpenAI's newer models refuse the old name, Ollama does not know the new one.
        name = "max_completion_tokens" if own else "max_tokens"
        self._limit = {name: config.max_tokens}

    def _client(self) -> Any:
        return client_for(self._endpoint)

    def ask(self, question: ModelQuestion) -> ModelReply:
        line = (self.provider, self._endpoint.base_url, self.model)
        return ask_in_forms(line, AnswerForm, lambda form: self._ask(question, form))

    def _ask(self, question: ModelQuestion, form: "AnswerForm") -> ModelReply:
        client = self._client()
        schema = question.schema.model_json_schema()
        rules = question.rules + (in_words(schema) if form in (AnswerForm.OBJECT, AnswerForm.WORDS) else "")

        def call() -> tuple[ModelReply, str | None]:
            # Not `parse` of the SDK: it drops the text of an answer that is no JSON.
            completion = client.chat.completions.create(
                model=self.model,
                messages=[
                    {"role": "system", "content": rules},
                    {"role": "user", "content": question.text},
                ],
                response_format=response_format(form, schema),
                extra_body=self._limit,
            )
            choice = completion.choices[0]
            text = choice.message.content or ""
            tokens = tokens_of(completion.usage, (rules, question.text), (text,))
            reply = ModelReply(
                text=text,
                stop_reason=choice.finish_reason,
                model=completion.model,
                input_tokens=tokens.input,
                output_tokens=tokens.output,
                cached_tokens=tokens.cached,
                is_cut=choice.finish_reason == "length",
            )
            return reply, choice.message.refusal

        reply, refusal = network.ask(openai, self.who, self._endpoint.timeout, call)
        network.add(reply.input_tokens, reply.output_tokens, reply.cached_tokens)
        if refusal or reply.stop_reason == "content_filter":
            raise refused(self.who, refusal or "its content filter")
        return reply


class AnswerForm(StrEnum):
    """The forms of the wire in which JSON is asked for, the strictest first: OpenAI's own and most servers'
    (strict modes of some know no bounds of lists), that of llama.cpp's older servers and its Python bindings,
    plain JSON, and words alone."""

    BOUNDED = "bounded"
    SCHEMA = "schema"
    LLAMA = "llama"
    OBJECT = "object"
    WORDS = "words"


def response_format(form: AnswerForm, schema: dict[str, Any]) -> Any:
    match form:
        case AnswerForm.BOUNDED | AnswerForm.SCHEMA:
            own = schema if form is AnswerForm.BOUNDED else without_bounds(schema)
            return {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": own}}
        case AnswerForm.LLAMA:
            return {"type": "json_object", "schema": schema}
        case AnswerForm.OBJECT:
            return {"type": "json_object"}
    return openai.omit


def tokens_of(usage: CompletionUsage | None, sent: Iterable[str], got: Iterable[str]) -> network.TokenCount:
    """Return the tokens of a call, estimated where the server does not tell them."""
    if usage is None:
        return network.TokenCount(network.estimate(sent), network.estimate(got))
    details = usage.prompt_tokens_details
    cached = details.cached_tokens if details else 0
    return network.TokenCount(usage.prompt_tokens, usage.completion_tokens, cached or 0)


class OpenAIChat(ChatModel):
    def __init__(self, config: ExtractorConfig) -> None:
        super().__init__(config)
        own = is_openai(config.endpoint)
        self.model = config.model or (DEFAULT_CHAT_MODEL if own else DEFAULT_LOCAL_MODEL)
        self.who = named(self.model, config.endpoint)
        # OpenAI's newer models refuse the old name, others do not know the new one.
        self._limit = "max_completion_tokens" if own else "max_tokens"

    def _client(self) -> Any:
        return client_for(self._endpoint)

    def ask(self, question: ChatQuestion, tell: Tell) -> ChatReply:
        client = self._client()
        sent: list[Any] = [{"role": "system", "content": question.rules}]
        sent += [message_of(message) for message in question.messages]
        more: dict[str, Any] = {"tools": [tool_of(each) for each in question.tools]}

        def call() -> ChatReply:
            words: list[str] = []
            refusal, model, usage = "", "", None
            calls: dict[int, ArgumentsBuilder] = {}
            with client.chat.completions.create(
                model=self.model,
                messages=sent,
                stream=True,
                stream_options={"include_usage": True},
                extra_body={self._limit: question.max_tokens},
                **(more if question.tools else {}),
            ) as stream:
                for chunk in stream:
                    model, usage = chunk.model or model, chunk.usage or usage
                    for choice in chunk.choices:
                        delta = choice.delta
                        if delta.content:
                            words.append(delta.content)
                            tell(delta.content)
                        refusal += delta.refusal or ""
                        if choice.finish_reason == "content_filter":
                            refusal = refusal or "its content filter"
                        for piece in delta.tool_calls or ():
                            built = calls.setdefault(piece.index, ArgumentsBuilder())
                            built.id = piece.id or built.id
                            if piece.function:
                                built.name = piece.function.name or built.name
                                built.pieces.append(piece.function.arguments or "")
            if refusal:
                raise refused(self.who, refusal)
            tokens = tokens_of(usage, [json.dumps(sent, ensure_ascii=False)], words)
            return ChatReply(
                "".join(words),
                model or self.model,
                wanted(calls.values()),
                tokens.input,
                tokens.output,
                tokens.cached,
            )

        reply = network.ask(openai, self.who, self._endpoint.timeout, call)
        network.add(reply.input_tokens, reply.output_tokens, reply.cached_tokens)
        return reply


def wanted(built: Any) -> tuple[ToolCall, ...]:
    """Return the calls, whose arguments are whole. Raises ValueError where they are no object."""
    calls = []
    for each in built:
        arguments = json.loads("".join(each.pieces) or "{}")
        if not isinstance(arguments, dict):
            raise ValueError("arguments that are no object")
        calls.append(ToolCall(each.id, each.name, arguments))
    return tuple(calls)


def tool_of(tool: ChatTool) -> dict[str, Any]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }
    return {"type": "function", "function": function}


def message_of(message: ChatMessage) -> dict[str, Any]:
    told: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.role == "tool":
        told["tool_call_id"] = message.call_id
    if message.calls:
        told["tool_calls"] = [
            {
                "id": each.id,
                "type": "function",
                "function": {"name": each.name, "arguments": json.dumps(each.arguments)},
            }
            for each in message.calls
        ]
    return told
