"""The models of a fallback chain, as a workspace's settings or the server's name them. Their keys are
variables of the server, each of which goes to one address only."""

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from memories.errors import Invalid
from memories.providers.allowed_addresses import is_refused
from memoryproject.env import env_secret, env_str

WHEN = UNMATCHED, ALWAYS = ("unmatched", "always")  # the setting `llm`: which messages are read
PROVIDERS = ("openai", "anthropic")
FIELDS = {"provider", "model", "baseUrl", "timeout", "dailyCap", "keyEnv"}
MOST_RUNGS = 10
LONGEST_TIMEOUT = 300.0
# Only these variables can be named: others hold what is none of a workspace's business.
NAME = re.compile(r"EXTRACTOR_KEY_([A-Z0-9_]{1,60})")


@dataclass(frozen=True, slots=True)
class ConfiguredModel:
    """One extractor of a chain. `timeout` in seconds; `daily_cap` of calls, None for no end."""

    provider: str
    model: str = ""
    base_url: str = ""
    timeout: float = 30.0
    daily_cap: int | None = None
    key_env: str = ""

    @property
    def name(self) -> str:
        """What its calls are counted under."""
        return f"{self.provider}|{self.model}|{self.base_url}"[:300]


def models_from(raw: object) -> tuple[ConfiguredModel, ...]:
    """The models that `settings["extractors"]` names. Raises Invalid, with the path of the field."""
    if not isinstance(raw, list) or len(raw) > MOST_RUNGS:
        raise Invalid("extractors", f"A list of at most {MOST_RUNGS} extractors.")
    return tuple(_rung(f"extractors[{number}]", each) for number, each in enumerate(raw))


def faults_of(workspace_settings: dict[str, Any]) -> list[str]:
    """What is wrong with the extractors that a workspace's settings name; [] where nothing is."""
    try:
        models_from(workspace_settings.get("extractors") or [])
    except Invalid as error:
        return [str(error)]
    return []


def _rung(path: str, raw: object) -> ConfiguredModel:
    if not isinstance(raw, dict):
        raise Invalid(path, "An object with provider, model, baseUrl, timeout, dailyCap, keyEnv.")
    if unknown := set(raw) - FIELDS:
        raise Invalid(f"{path}.{min(map(str, unknown))}", "There is no such field.")
    if raw.get("provider") not in PROVIDERS:
        raise Invalid(f"{path}.provider", f"One of {', '.join(PROVIDERS)}.")
    model = ConfiguredModel(
        provider=raw["provider"],
        model=_text(path, raw, "model", 200),
        base_url=_text(path, raw, "baseUrl", 500).rstrip("/"),
        timeout=_number(path, raw, "timeout", (1, LONGEST_TIMEOUT)) or settings.PROVIDER_TIMEOUT,
        daily_cap=_cap(path, raw),
        key_env=_text(path, raw, "keyEnv", 80),
    )
    _check_address(path, model)
    return model


def _text(path: str, raw: dict[str, Any], name: str, longest: int) -> str:
    value = raw.get(name) or ""
    if not isinstance(value, str) or len(value) > longest or not value.isprintable():
        raise Invalid(f"{path}.{name}", f"A text of at most {longest} characters.")
    return value.strip()


def _number(path: str, raw: dict[str, Any], name: str, bounds: tuple[float, float]) -> float | None:
    value = raw.get(name)
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not bounds[0] <= value <= bounds[1]:
        raise Invalid(f"{path}.{name}", f"A number from {bounds[0]:g} to {bounds[1]:g}.")
    return float(value)


def _cap(path: str, raw: dict[str, Any]) -> int | None:
    value = _number(path, raw, "dailyCap", (0, 10**9))
    if value is not None and value != int(value):
        raise Invalid(f"{path}.dailyCap", "A whole number of calls.")
    return None if value is None else int(value)


def _check_address(path: str, model: ConfiguredModel) -> None:
    """A call goes only where the operator allows it, and a key of the server's only to the address that
    the operator gave with it."""
    parts = urlsplit(model.base_url)
    if model.base_url and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise Invalid(f"{path}.baseUrl", "An address that begins with http:// or https://.")
    allowed = allowed_to(model)
    if model.base_url and allowed is not None and is_refused(model.base_url, allowed):
        raise Invalid(
            f"{path}.baseUrl",
            "A public https address, or one that the operator allows (EXTRACTOR_ALLOWED_HOSTS).",
        )
    if not model.key_env:
        return
    if not is_name(model.key_env):
        raise Invalid(f"{path}.keyEnv", "The name of a variable EXTRACTOR_KEY_<NAME>.")
    if model.base_url != address_for(model.key_env):
        raise Invalid(
            f"{path}.baseUrl",
            f"The key {model.key_env} may only go to the address in {address_env(model.key_env)}.",
        )


def allowed_to(model: ConfiguredModel) -> tuple[str, ...] | None:
    """Which addresses a call of this model may go to (`providers.allowed_addresses`); None where the
    operator's own settings name its address."""
    own = {settings.OPENAI_BASE_URL, settings.ANTHROPIC_BASE_URL, ""}
    if model.key_env and is_name(model.key_env):
        own.add(address_for(model.key_env))
    if model.base_url.rstrip("/") in {address.rstrip("/") for address in own}:
        return None
    return tuple(settings.EXTRACTOR_ALLOWED_HOSTS)


def server_model() -> ConfiguredModel | None:
    """The extractor that the server's settings name; None where there is none."""
    provider = settings.EXTRACTION_PROVIDER
    if provider == "auto":
        provider = "anthropic" if settings.ANTHROPIC_API_KEY else "none"
    if provider == "none":
        return None
    is_openai = provider == "openai"
    return ConfiguredModel(
        provider=provider,
        model=settings.EXTRACTION_MODEL,
        base_url=settings.OPENAI_BASE_URL if is_openai else settings.ANTHROPIC_BASE_URL,
        timeout=settings.PROVIDER_TIMEOUT,
    )


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
