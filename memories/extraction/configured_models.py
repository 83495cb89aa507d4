"""The models of a fallback chain, as a workspace's settings or the server's name them. Their keys are
variables of the server, each of which goes to one address only."""

import re
from collections.abc import Mapping
from typing import Annotated
from urllib.parse import urlsplit

from django.conf import settings
from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from memories.errors import Invalid
from memories.providers.allowed_addresses import is_refused
from memories.settings_objects import SettingsObject, between, checked, faults, wrong
from memoryproject.env import env_secret, env_str
from workspaces.request_fields import OneOf

ALWAYS = "always"
WHEN = ("unmatched", ALWAYS)  # the setting `llm`: which messages are read
PROVIDERS = ("openai", "anthropic")
MOST_MODELS = 10
LONGEST_TIMEOUT = 300.0
# Only these variables can be named: others hold what is none of a workspace's business.
NAME = re.compile(r"EXTRACTOR_KEY_([A-Z0-9_]{1,60})")


def _printable(text: str) -> str:
    if not text.isprintable():
        raise wrong("A text in one line.")
    return text.strip()


def _address(text: str) -> str:
    parts = urlsplit(text)
    if text and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise wrong("An address that begins with http:// or https://.")
    return text.rstrip("/")


def _key_name(text: str) -> str:
    if text and not is_name(text):
        raise wrong("The name of a variable EXTRACTOR_KEY_<NAME>.")
    return text


def _owned(url: str, info: ValidationInfo) -> str:
    """A call goes only where the operator allows it, and a key of the server's only to the address that
    the operator gave with it."""
    key_env = info.data.get("key_env", "")
    allowed = _allowed(url, key_env)
    if url and allowed is not None and is_refused(url, allowed):
        raise wrong(
            "A public https address, or one that the operator allows (EXTRACTOR_ALLOWED_HOSTS)."
        )
    if key_env and url and url != address_for(key_env):
        raise wrong(f"The key {key_env} may only go to the address in {address_env(key_env)}.")
    return url


class ConfiguredModel(SettingsObject):
    """One model of a chain. `timeout` in seconds; `dailyCap` of calls, null for no end."""

    provider: Annotated[str, Field(validate_default=True), OneOf(PROVIDERS)] = ""
    model: Annotated[str, Field(max_length=200), AfterValidator(_printable)] = ""
    key_env: Annotated[str, Field(max_length=80), AfterValidator(_key_name)] = ""
    base_url: Annotated[
        str,
        Field(max_length=500, validate_default=True),
        AfterValidator(_printable),
        AfterValidator(_address),
        AfterValidator(_owned),
    ] = ""
    timeout: Annotated[float, between(1, LONGEST_TIMEOUT)] = Field(
        default_factory=lambda: settings.PROVIDER_TIMEOUT
    )
    daily_cap: Annotated[int, between(0, 10**9)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _without_null(cls, raw: object) -> object:
        """null says nothing, as where the field is left out."""
        return {k: v for k, v in raw.items() if v is not None} if isinstance(raw, dict) else raw

    @property
    def name(self) -> str:
        """What its calls are counted under."""
        return f"{self.provider}|{self.model}|{self.base_url}"[:300]


Models = Annotated[list[ConfiguredModel], Field(max_length=MOST_MODELS)]


def models_from(raw: object) -> tuple[ConfiguredModel, ...]:
    """The models that `settings["extractors"]` names. Raises Invalid, with the path of each field."""
    return tuple(checked(Models, raw, "extractors"))


def faults_of_model(raw: object, place: str) -> list[Invalid]:
    """What is wrong with the one model of a set's own; a text or null is none."""
    if not isinstance(raw, Mapping):
        return []
    found = faults(ConfiguredModel, raw, place)
    if not found and not raw.get("model"):
        found = [Invalid(f"{place}.model", "Name the model that is to be asked.")]
    return found


def allowed_to(model: ConfiguredModel) -> tuple[str, ...] | None:
    """Which addresses a call of this model may go to (`providers.allowed_addresses`); None where the
    operator's own settings name its address."""
    return _allowed(model.base_url, model.key_env)


def _allowed(base_url: str, key_env: str) -> tuple[str, ...] | None:
    own = {settings.OPENAI_BASE_URL, settings.ANTHROPIC_BASE_URL, ""}
    if key_env and is_name(key_env):
        own.add(address_for(key_env))
    if base_url.rstrip("/") in {address.rstrip("/") for address in own}:
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
    return ConfiguredModel.model_construct(
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


def address_of(model: ConfiguredModel) -> str:
    """Where its calls go: an entry without an address has that of its key, else the server's own;
    "" is the service of the model's maker."""
    if model.base_url or model.key_env:
        return model.base_url or address_for(model.key_env)
    is_openai = model.provider == "openai"
    own = settings.OPENAI_BASE_URL if is_openai else settings.ANTHROPIC_BASE_URL
    return str(own).rstrip("/")


def unusable(raw: object) -> list[str]:
    """Which of the models in `settings["extractors"]` cannot be asked, and why, in words."""
    try:
        models = models_from(raw)
    except Invalid as error:
        return [str(error)]
    found = []
    for number, model in enumerate(models, 1):
        url = address_of(model)
        if not key_for(model.provider, url, model.key_env) and (
            model.provider == "anthropic" or not url
        ):
            name = model.key_env or f"{model.provider.upper()}_API_KEY"
            found.append(f"model {number} ({model.model or model.provider}) needs {name}")
    return found


def key_for(provider: str, base_url: str, key_env: str) -> str:
    """The named key; else the server's own, where the call goes to where that belongs."""
    if key_env:
        return env_secret(key_env)
    is_openai = provider == "openai"
    own = settings.OPENAI_BASE_URL if is_openai else settings.ANTHROPIC_BASE_URL
    if base_url.rstrip("/") != own.rstrip("/"):
        return ""
    return settings.OPENAI_API_KEY if is_openai else settings.ANTHROPIC_API_KEY
