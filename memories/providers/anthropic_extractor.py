"""Facts read by Claude, over the official SDK with structured output."""

import anthropic

from memories.errors import ProviderError
from memories.providers import network
from memories.providers.extractor import (
    Extractor,
    ExtractorConfig,
    ModelQuestion,
    ModelReply,
    refused,
)

DEFAULT_MODEL = "claude-haiku-4-5"
CUT = ("max_tokens", "model_context_window_exceeded")


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
