"""Facts read over OpenAI's chat wire: OpenAI itself, Ollama, Gemini's compatible endpoint, vLLM."""

from typing import TYPE_CHECKING

import openai

from memories.providers import network
from memories.providers.extractor import (
    Extractor,
    ExtractorConfig,
    ModelQuestion,
    ModelReply,
    refused,
)
from memories.providers.openai_client import client_for, is_openai, named

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletion

DEFAULT_MODEL = "gpt-5-mini"
# What a server in one's own house most often serves.
DEFAULT_LOCAL_MODEL = "llama3.2"


class OpenAIExtractor(Extractor):
    provider = "openai"

    def __init__(self, config: ExtractorConfig) -> None:
        own = is_openai(config.endpoint)
        self.model = config.model or (DEFAULT_MODEL if own else DEFAULT_LOCAL_MODEL)
        self._endpoint = config.endpoint
        self.who = named(self.model, config.endpoint)
        # OpenAI's newer models refuse the old name, Ollama does not know the new one.
        name = "max_completion_tokens" if own else "max_tokens"
        self._limit = {name: config.max_tokens}

    def ask(self, question: ModelQuestion) -> ModelReply:
        client = client_for(self._endpoint)

        def call() -> tuple[ModelReply, str | None]:
            # Not `parse` of the SDK: it drops the text of an answer that is no JSON.
            completion = client.chat.completions.create(
                model=self.model,
                messages=[
                    {"role": "system", "content": question.rules},
                    {"role": "user", "content": question.text},
                ],
                response_format={
                    "type": "json_schema",
                    "json_schema": {
                        "name": "facts",
                        "strict": True,
                        "schema": question.schema.model_json_schema(),
                    },
                },
                extra_body=self._limit,
            )
            return _reply(completion), completion.choices[0].message.refusal

        reply, refusal = network.ask(openai, self.who, self._endpoint.timeout, call)
        if refusal or reply.stop_reason == "content_filter":
            raise refused(self.who, refusal or "its content filter")
        return reply


def _reply(completion: "ChatCompletion") -> ModelReply:
    choice = completion.choices[0]
    usage = completion.usage
    return ModelReply(
        text=choice.message.content or "",
        stop_reason=choice.finish_reason,
        model=completion.model,
        input_tokens=usage.prompt_tokens if usage else 0,
        output_tokens=usage.completion_tokens if usage else 0,
        is_cut=choice.finish_reason == "length",
    )
