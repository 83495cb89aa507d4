"""The official SDK of Anthropic: talking with Claude, and facts that Claude reads, as structured
output."""

import json
from enum import StrEnum
from typing import Any

import anthropic
from pydantic import BaseModel

from memories.errors import ProviderError
from memories.providers import network
from memories.providers.answer_forms import ask_in_forms
from memories.providers.chat_model import ChatModel, ChatQuestion, ChatReply, Tell, ToolCall
from memories.providers.extractor import Extractor, ExtractorConfig, ModelQuestion, ModelReply, refused

DEFAULT_MODEL = "claude-haiku-4-5"
CUT = ("max_tokens", "model_context_window_exceeded")
TOOL = "answer"
CACHED = {"type": "ephemeral"}


def client_for(endpoint: network.Endpoint) -> anthropic.Anthropic:
    if not endpoint.api_key:
        raise ProviderError("ANTHROPIC_API_KEY is not set", permanent=True)
    return network.connect(anthropic.Anthropic, anthropic.DefaultHttpxClient, endpoint)


class AnthropicChat(ChatModel):
    def __init__(self, config: ExtractorConfig) -> None:
        super().__init__(config)
        self.model = config.model or DEFAULT_MODEL
        host = config.endpoint.host
        self.who = f"{self.model} at {host}" if host else f"Anthropic's {self.model}"

    def _client(self) -> Any:
        return client_for(self._endpoint)

    def ask(self, question: ChatQuestion, tell: Tell) -> ChatReply:
        client = self._client()
        tools: list[Any] = [
            {
                "name": each.name,
                "description": each.description,
                "input_schema": each.parameters,
            }
            for each in question.tools
        ]

        def call() -> tuple[ChatReply, str]:
            with client.messages.stream(
                model=self.model,
                max_tokens=question.max_tokens,
                system=cached_rules(question.rules),
                messages=with_cache_mark(turns(question.messages)),
                tools=tools or anthropic.omit,
            ) as stream:
                for words in stream.text_stream:
                    tell(words)
                message = stream.get_final_message()
            calls = tuple(
                ToolCall(block.id, block.name, dict(block.input))
                for block in message.content
                if block.type == "tool_use"
            )
            text = "".join(block.text for block in message.content if block.type == "text")
            tokens = tokens_of(message.usage)
            reply = ChatReply(text, message.model, calls, tokens.input, tokens.output, tokens.cached)
            return reply, message.stop_reason or ""

        reply, reason = network.ask(anthropic, self.who, self._endpoint.timeout, call)
        network.add(reply.input_tokens, reply.output_tokens, reply.cached_tokens)
        if reason == "refusal":
            raise refused(self.who)
        return reply


def turns(messages: Any) -> list[Any]:
    """Convert messages to Anthropic's: tool results are a user's, and all of one turn stand
    together."""
    told: list[Any] = []
    for message in messages:
        role, content = "user", []
        if message.role == "tool":
            content.append({"type": "tool_result", "tool_use_id": message.call_id, "content": message.text})
        else:
            role = message.role
            if message.text.strip():  # the wire takes no empty ones
                content.append({"type": "text", "text": message.text})
            content += [
                {"type": "tool_use", "id": each.id, "name": each.name, "input": each.arguments}
                for each in message.calls
            ]
        if told and told[-1]["role"] == role:
            told[-1]["content"] += content
        else:
            told.append({"role": role, "content": content})
    return told


class AnthropicExtractor(Extractor):
    provider = "anthropic"

    def __init__(self, config: ExtractorConfig) -> None:
        self.model = config.model or DEFAULT_MODEL
        self._endpoint = config.endpoint
        self._max_tokens = config.max_tokens
        host = config.endpoint.host
        self.who = f"{self.model} at {host}" if host else f"Anthropic's {self.model}"

    def _client(self) -> Any:
        return client_for(self._endpoint)

    def ask(self, question: ModelQuestion) -> ModelReply:
        line = (self.provider, self._endpoint.base_url, self.model)
        return ask_in_forms(line, ClaudeForm, lambda form: self._ask(question, form))

    def _ask(self, question: ModelQuestion, form: "ClaudeForm") -> ModelReply:
        client = self._client()

        def call() -> ModelReply:
            # `parse` of the SDK sends the same, but reads the JSON before the stop reason can be
            # looked at, and throws the text away: a cut-off answer would look like a wrong one.
            message = client.messages.create(
                model=self.model,
                max_tokens=self._max_tokens,
                system=cached_rules(question.rules),
                messages=[{"role": "user", "content": question.text}],
                **shaped(form, question.schema),
            )
            tokens = tokens_of(message.usage)
            return ModelReply(
                text="".join(said_in(block) for block in message.content),
                stop_reason=message.stop_reason or "",
                model=message.model,
                input_tokens=tokens.input,
                output_tokens=tokens.output,
                cached_tokens=tokens.cached,
                is_cut=message.stop_reason in CUT,
            )

        reply = network.ask(anthropic, self.who, self._endpoint.timeout, call)
        network.add(reply.input_tokens, reply.output_tokens, reply.cached_tokens)
        if reply.stop_reason == "refusal":
            raise refused(self.who)
        return reply


class ClaudeForm(StrEnum):
    """The forms of the wire in which JSON is asked for: as structured output, else as the input of a tool
    that the model has to use, which older models and other hosts of them know."""

    SCHEMA = "schema"
    TOOL = "tool"


def shaped(form: ClaudeForm, shape: type[BaseModel]) -> dict[str, Any]:
    """Return the arguments of a call that asks for JSON of this shape."""
    schema = anthropic.transform_schema(shape)
    if form is ClaudeForm.SCHEMA:
        return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}
    tool = {"name": TOOL, "description": "Takes the whole answer.", "input_schema": schema}
    return {"tools": [tool], "tool_choice": {"type": "tool", "name": TOOL}}


def said_in(block: Any) -> str:
    if block.type == "tool_use":
        return json.dumps(block.input, ensure_ascii=False)
    return str(block.text) if block.type == "text" else ""


def cached_rules(rules: str) -> list[Any]:
    """Return the rules, which are the same for many calls, marked for the server's cache."""
    return [{"type": "text", "text": rules, "cache_control": CACHED}]


def with_cache_mark(told: list[Any]) -> list[Any]:
    """Mark the end of what was said so far: the next turn of the same talk begins with all of it."""
    if told and told[-1]["content"]:
        told[-1]["content"][-1]["cache_control"] = CACHED
    return told


def tokens_of(usage: Any) -> network.TokenCount:
    """Return the tokens of a call. The wire counts those that were put into the cache, or found there, apart
    from the others."""
    found, put = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
    return network.TokenCount(usage.input_tokens + found + put, usage.output_tokens, found)
