"""The official OpenAI SDK, for OpenAI and for all who speak its wire (Ollama, Gemini, vLLM)."""

from dataclasses import replace

import openai

from memories.errors import ProviderError
from memories.providers import network
from memories.providers.network import Endpoint

# The SDK insists on a key; servers in one's own house mostly want none.
NO_KEY = "none"


def client_for(endpoint: Endpoint) -> openai.OpenAI:
    if not endpoint.api_key and not endpoint.base_url:
        raise ProviderError("OPENAI_API_KEY is not set", permanent=True)
    endpoint = replace(endpoint, api_key=endpoint.api_key or NO_KEY)
    return network.connect(openai.OpenAI, openai.DefaultHttpxClient, endpoint)


def is_openai(endpoint: Endpoint) -> bool:
    """Whether this is OpenAI's own service: others speak an older dialect of the wire."""
    return endpoint.host.partition(":")[0] in ("", "api.openai.com")


def named(model: str, endpoint: Endpoint) -> str:
    """How messages to people call the model: with its server, where that is not OpenAI's."""
    return f"OpenAI's {model}" if is_openai(endpoint) else f"{model} at {endpoint.host}"
