"""Models that clouds serve, by the official SDKs' own classes: OpenAI's at Azure, Anthropic's at Amazon Bedrock
and at Google's Vertex AI. Addresses, regions, projects and what signs a call come from the variables and files
that these SDKs read themselves."""

from typing import Any

import anthropic
import openai

from memories.errors import Misconfigured
from memories.providers import network
from memories.providers.anthropic_provider import AnthropicChat, AnthropicExtractor
from memories.providers.extractor import ExtractorConfig
from memories.providers.openai_provider import OpenAIChat, OpenAIExtractor

AZURE, BEDROCK, VERTEX = "Azure", "Amazon Bedrock", "Vertex AI"


def azure_client(*, api_key: str, base_url: str | None, **more: Any) -> openai.AzureOpenAI:
    return openai.AzureOpenAI(**more)


def bedrock_client(*, api_key: str, base_url: str | None, **more: Any) -> anthropic.AnthropicBedrock:
    return anthropic.AnthropicBedrock(**more)


def vertex_client(*, api_key: str, base_url: str | None, **more: Any) -> anthropic.AnthropicVertex:
    return anthropic.AnthropicVertex(**more)


class _OfCloud:
    """The common part of both kinds of models: the cloud, and the SDK with the class that speaks to it."""

    cloud: str
    sdk: Any
    client: Any
    model: str
    who: str
    _endpoint: network.Endpoint

    def __init__(self, config: ExtractorConfig) -> None:
        super().__init__(config)  # type: ignore[call-arg]
        self.who = f"{self.model} at {self.cloud}"
        self.model = config.model

    def _client(self) -> Any:
        if not self.model:
            raise Misconfigured(f"name the model at {self.cloud}: EXTRACTION_MODEL", permanent=True)
        try:
            return network.connect(type(self).client, self.sdk.DefaultHttpxClient, self._endpoint)
        except (ValueError, ImportError, openai.OpenAIError, anthropic.AnthropicError) as error:
            raise Misconfigured(f"{self.who} cannot be asked", permanent=True, foreign=str(error)[:300]) from error


class _OfAzure(_OfCloud):
    provider, cloud, sdk, client = "azure", AZURE, openai, azure_client


class _OfBedrock(_OfCloud):
    provider, cloud, sdk, client = "bedrock", BEDROCK, anthropic, bedrock_client


class _OfVertex(_OfCloud):
    provider, cloud, sdk, client = "vertex", VERTEX, anthropic, vertex_client


class AzureExtractor(_OfAzure, OpenAIExtractor):
    pass


class AzureChat(_OfAzure, OpenAIChat):
    pass


class BedrockExtractor(_OfBedrock, AnthropicExtractor):
    pass


class BedrockChat(_OfBedrock, AnthropicChat):
    pass


class VertexExtractor(_OfVertex, AnthropicExtractor):
    pass


class VertexChat(_OfVertex, AnthropicChat):
    pass
