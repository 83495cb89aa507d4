"""The rungs of a ladder, as a workspace's settings or the server's name them."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from memories.errors import Invalid
from memories.ladder import keys

PROVIDERS = ("openai", "anthropic")
FIELDS = {"provider", "model", "baseUrl", "timeout", "dailyCap", "keyEnv"}
MOST_RUNGS = 10
LONGEST_TIMEOUT = 300.0


@dataclass(frozen=True, slots=True)
class Rung:
    """One extractor of a ladder. `timeout` in seconds; `daily_cap` of calls, None for no end."""

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


def rungs_of(raw: object) -> tuple[Rung, ...]:
    """The rungs that `settings["extractors"]` names. Raises Invalid, with the path of the field."""
    if not isinstance(raw, list) or len(raw) > MOST_RUNGS:
        raise Invalid("extractors", f"A list of at most {MOST_RUNGS} extractors.")
    return tuple(_rung(f"extractors[{number}]", each) for number, each in enumerate(raw))


def faults_of(workspace_settings: dict[str, Any]) -> list[str]:
    """What is wrong with the extractors that a workspace's settings name; [] where nothing is."""
    try:
        rungs_of(workspace_settings.get("extractors") or [])
    except Invalid as error:
        return [str(error)]
    return []


def _rung(path: str, raw: object) -> Rung:
    if not isinstance(raw, dict):
        raise Invalid(path, "An object with provider, model, baseUrl, timeout, dailyCap, keyEnv.")
    if unknown := set(raw) - FIELDS:
        raise Invalid(f"{path}.{min(map(str, unknown))}", "There is no such field.")
    if raw.get("provider") not in PROVIDERS:
        raise Invalid(f"{path}.provider", f"One of {', '.join(PROVIDERS)}.")
    rung = Rung(
        provider=raw["provider"],
        model=_text(path, raw, "model", 200),
        base_url=_text(path, raw, "baseUrl", 500).rstrip("/"),
        timeout=_number(path, raw, "timeout", (1, LONGEST_TIMEOUT)) or settings.PROVIDER_TIMEOUT,
        daily_cap=_cap(path, raw),
        key_env=_text(path, raw, "keyEnv", 80),
    )
    _check_address(path, rung)
    return rung


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


def _check_address(path: str, rung: Rung) -> None:
    """A key of the server's goes only to the address that the server's operator gave with it."""
    parts = urlsplit(rung.base_url)
    if rung.base_url and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise Invalid(f"{path}.baseUrl", "An address that begins with http:// or https://.")
    if not rung.key_env:
        return
    if not keys.is_name(rung.key_env):
        raise Invalid(f"{path}.keyEnv", "The name of a variable EXTRACTOR_KEY_<NAME>.")
    if rung.base_url != keys.address_for(rung.key_env):
        raise Invalid(
            f"{path}.baseUrl",
            f"The key {rung.key_env} may only go to the address in {keys.address_env(rung.key_env)}.",
        )


def configured_rung() -> Rung | None:
    """The extractor that the server's settings name; None where there is none."""
    provider = settings.EXTRACTION_PROVIDER
    if provider == "auto":
        provider = "anthropic" if settings.ANTHROPIC_API_KEY else "none"
    if provider == "none":
        return None
    is_openai = provider == "openai"
    return Rung(
        provider=provider,
        model=settings.EXTRACTION_MODEL,
        base_url=settings.OPENAI_BASE_URL if is_openai else settings.ANTHROPIC_BASE_URL,
        timeout=settings.PROVIDER_TIMEOUT,
    )
