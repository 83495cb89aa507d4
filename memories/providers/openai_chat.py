"""Talking over OpenAI's wire, with OpenAI and with all who speak it."""

import json
from typing import Any

import openai

from memories.providers import network
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
from memories.providers.extractor import ExtractorConfig, refused
from memories.providers.openai_provider import (
    DEFAULT_CHAT_MODEL,
    DEFAULT_LOCAL_MODEL,
    client_for,
    is_openai,
    named,
)


class OpenAIChat(ChatModel):
    def __init__(self, config: ExtractorConfig) -> None:
        super().__init__(config)
        own = is_openai(config.endpoint)
        self.model = config.model or (DEFAULT_CHAT_MODEL if own else DEFAULT_LOCAL_MODEL)
        self.who = named(self.model, config.endpoint)
        # OpenAI's newer models refuse the old name, others do not know the new one.
        self._limit = "max_completion_tokens" if own else "max_tokens"

    def ask(self, question: ChatQuestion, tell: Tell) -> ChatReply:
        client = client_for(self._endpoint)
        sent: list[Any] = [{"role": "system", "content": question.rules}]
        sent += [message_of(message) for message in question.messages]
        more: dict[str, Any] = {"tools": [tool_of(each) for each in question.tools]}

        def call() -> ChatReply:
            words: list[str] = []
            refusal, model, usage = "", "", None
            calls: dict[int, ArgumentsBuilder] = {}
            with client.chat.completions.create(
                model=self.model, messages=sent, stream=True,
                stream_options={"include_usage": True},
                extra_body={self._limit: question.max_tokens},
                **(more if question.tools else {}),
            ) as stream:  # fmt: skip
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
            asked = json.dumps(sent, ensure_ascii=False)
            return ChatReply(
                "".join(words), model or self.model, wanted(calls.values()),
                usage.prompt_tokens if usage else network.estimate([asked]),
                usage.completion_tokens if usage else network.estimate(words),
            )  # fmt: skip

        reply = network.ask(openai, self.who, self._endpoint.timeout, call)
        network.add(reply.input_tokens, reply.output_tokens)
        return reply


def wanted(built: Any) -> tuple[ToolCall, ...]:
    """Calls of which the arguments are whole. Raises ValueError where they are no object."""
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
