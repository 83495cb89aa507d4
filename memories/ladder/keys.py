"""Keys of models: variables of the server, each of which goes to one address only."""

import re

from django.conf import settings

from memoryproject.env import env_secret, env_str

# Only these variables can be named: others hold what is none of a workspace's business.
NAME = re.compile(r"EXTRACTOR_KEY_([A-Z0-9_]{1,60})")


def is_name(key_env: str) -> bool:
    return NAME.fullmatch(key_env) is not None


def address_env(key_env: str) -> str:
    return key_env.replace("KEY", "URL", 1)


def address_for(key_env: str) -> str:
    """The address that the server's operator gave with the key."""
    return env_str(address_env(key_env)).rstrip("/")


def key_for(provider: str, base_url: str, key_env: str) -> str:
    """The named key; else the server's own, where the call goes to where that belongs."""
    if key_env:
        return env_secret(key_env)
    is_openai = provider == "openai"
    own = settings.OPENAI_BASE_URL if is_openai else settings.ANTHROPIC_BASE_URL
    if base_url.rstrip("/") != own.rstrip("/"):
        return ""
    return settings.OPENAI_API_KEY if is_openai else settings.ANTHROPIC_API_KEY
