"""The official SDK of Anthropic: talking with Claude, and facts that Claude reads, as structured
output."""

from typing import Any

import anthropic

from memories.errors import ProviderError
from memories.providers import network
from memories.providers.chat_model import ChatModel, ChatQuestion, ChatReply, Tell, ToolCall
from memories.providers.extractor import Extractor, ExtractorConfig, ModelQuestion, ModelReply, refused

DEFAULT_MODEL = "claude-haiku-4-5"
CUT = ("max_tokens", "model_context_window_exceeded")


class AnthropicChat(ChatModel):
    def __init__(self, config: ExtractorConfig) -> None:
        super().__init__(config)
        self.model = config.model or DEFAULT_MODEL
        host = config.endpoint.host
        self.who = f"{self.model} at {host}" if host else f"Anthropic's {self.model}"

    def ask(self, question: ChatQuestion, tell: Tell) -> ChatReply:
        if not self._endpoint.api_key:
            raise ProviderError("ANTHROPIC_API_KEY is not set", permanent=True)
        sdk, wire = anthropic.Anthropic, anthropic.DefaultHttpxClient
        client = network.connect(sdk, wire, self._endpoint)
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
                system=question.rules,
                messages=turns(question.messages),
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
            usage = message.usage
            reply = ChatReply(text, message.model, calls, usage.input_tokens, usage.output_tokens)
            return reply, message.stop_reason or ""

        reply, reason = network.ask(anthropic, self.who, self._endpoint.timeout, call)
        network.add(reply.input_tokens, reply.output_tokens)
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

    def ask(self, question: ModelQuestion) -> ModelReply:
        if not self._endpoint.api_key:
            raise ProviderError("ANTHROPIC_API_KEY is not set", permanent=True)
        sdk, wire = anthropic.Anthropic, anthropic.DefaultHttpxClient
        client = network.connect(sdk, wire, self._endpoint)

        def call() -> ModelReply:
            # `parse` of the SDK sends the same, but reads the JSON before the stop reason can be
            # looked at, and throws the text away: a cut-off answer would look like a wrong one.
            message = client.messages.create(
                model=self.model,
                max_tokens=self._max_tokens,
                system=question.rules,
                messages=[{"role": "user", "content": question.text}],
                output_config={
                    "format": {
                        "type": "json_schema",
                        "schema": anthropic.transform_schema(question.schema),
                    }
                },
            )
            return ModelReply(
                text="".join(block.text for block in message.content if block.type == "text"),
                stop_reason=message.stop_reason or "",
                model=message.model,
                input_tokens=message.usage.input_tokens,
                output_tokens=message.usage.output_tokens,
                is_cut=message.stop_reason in CUT,
            )

        reply = network.ask(anthropic, self.who, self._endpoint.timeout, call)
        network.add(reply.input_tokens, reply.output_tokens)
        if reply.stop_reason == "refusal":
            raise refused(self.who)
        return reply
