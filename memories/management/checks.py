"""System checks: settings that contradict each other are reported at the start, not at the first
request."""

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error

from memories.errors import ProviderError
from memories.providers.allowed_addresses import ANY, is_readable
from memories.providers.embedder import known_model
from memories.providers.neural.known_models import known_embedder
from memories.providers.neural.loaded_models import INSTALL
from memories.providers.neural.model_folder import read_folder

# The models that bring their own weights, or need none: nothing about them can be chosen.
FIXED = {"local": 256, "hash": 256, "none": 0}
CLOUDS = ("azure", "bedrock", "vertex")
DEFAULT_EXTRACTION_MODEL = "claude-haiku-4-5"
LOCAL_NAMES = ("localhost", "127.0.0.1", "::1", "testserver")
LOCAL_ENDINGS = (".localhost", ".local", ".test")


def register_all() -> None:
    for check in (
        openai_embedding,
        fixed_embedding,
        neural_embedding,
        neural_reranking,
        extraction,
        addresses,
        unused_addresses,
        allowed_hosts,
    ):
        checks.register(check, "memories")
    checks.register(debug_in_public, checks.Tags.security)
    checks.register(metrics_in_public, checks.Tags.security)


def _embedding_provider() -> str:
    """The provider that the settings select, by the same rule as the index."""
    provider = str(settings.EMBEDDING_PROVIDER)
    if provider == "auto":
        return "openai" if settings.OPENAI_API_KEY else "local"
    return provider


def openai_embedding(app_configs: Sequence[Any] | None, **_: Any) -> Iterator[CheckMessage]:
    if _embedding_provider() != "openai":
        return
    if not settings.OPENAI_API_KEY and not settings.OPENAI_BASE_URL:
        yield Error(
            "EMBEDDING_PROVIDER is openai, and there is neither OPENAI_API_KEY nor OPENAI_BASE_URL.",
            hint="Set the key; or the base URL of a server that speaks OpenAI's wire and needs none.",
            id="memories.E001",
        )
    model = settings.EMBEDDING_MODEL
    if model and not settings.EMBEDDING_DIMENSIONS and not known_model(model).dimensions:
        yield Error(
            f"How many dimensions EMBEDDING_MODEL={model} has is not known.",
            hint="Set EMBEDDING_DIMENSIONS to the length of its vectors.",
            id="memories.E002",
        )


def fixed_embedding(app_configs: Sequence[Any] | None, **_: Any) -> Iterator[CheckMessage]:
    provider = _embedding_provider()
    if provider in ("openai", "fastembed"):
        return
    wish = settings.EMBEDDING_DIMENSIONS
    if wish and wish != FIXED.get(provider, wish):
        yield Error(
            f"EMBEDDING_DIMENSIONS={wish}, but the {provider} embedder has {FIXED[provider]}.",
            hint="Leave EMBEDDING_DIMENSIONS out, or set EMBEDDING_PROVIDER=openai.",
            id="memories.E003",
        )
    if settings.EMBEDDING_MODEL:
        yield checks.Warning(
            f"EMBEDDING_MODEL={settings.EMBEDDING_MODEL} is not used by the {provider} embedder.",
            hint="Set EMBEDDING_PROVIDER=openai to use it, or leave EMBEDDING_MODEL out.",
            id="memories.W001",
        )
    if provider == "local" and find_spec("wordllama") is None:
        yield checks.Warning(
            "The local embedding model is not installed: vectors are made of hashed words.",
            hint="Its wheel is not built for every machine. Set OPENAI_API_KEY, or OPENAI_BASE_URL "
            "with EMBEDDING_PROVIDER=openai; EMBEDDING_PROVIDER=hash silences this.",
            id="memories.W002",
        )


def neural_embedding(app_configs: Sequence[Any] | None, **_: Any) -> Iterator[CheckMessage]:
    if settings.EMBEDDING_PROVIDER != "fastembed":
        return
    yield from _neural("EMBEDDING_PROVIDER", "EMBEDDING_FOLDER")
    known = known_embedder(settings.EMBEDDING_MODEL) if settings.EMBEDDING_MODEL else None
    wish = settings.EMBEDDING_DIMENSIONS
    if known and wish and wish != known.known.dimensions:
        yield Error(
            f"EMBEDDING_DIMENSIONS={wish}, but {known.name} has {known.known.dimensions}.",
            hint="Leave EMBEDDING_DIMENSIONS out.",
            id="memories.E003",
        )
    named = settings.EMBEDDING_MODEL or settings.EMBEDDING_FOLDER
    if known or wish or not named or _dimensions_of(settings.EMBEDDING_FOLDER) != 0:
        return
    yield Error(
        f"How many dimensions the model {named} has is not known.",
        hint="Set EMBEDDING_DIMENSIONS to the length of its vectors, or name one of docs/guides/models.md.",
        id="memories.E012",
    )


def _dimensions_of(folder: str) -> int | None:
    """Those that a folder names, 0 if it does not; None of one that cannot be read, which is told by itself."""
    try:
        return read_folder(folder).dimensions if folder else 0
    except ProviderError:
        return None


def neural_reranking(app_configs: Sequence[Any] | None, **_: Any) -> Iterator[CheckMessage]:
    if settings.RERANK_PROVIDER == "fastembed":
        yield from _neural("RERANK_PROVIDER", "RERANK_FOLDER")


def _neural(provider: str, folder: str) -> Iterator[CheckMessage]:
    """Tell what a model of this machine lacks; `provider` and `folder` are names of settings."""
    if find_spec("fastembed") is None:
        yield Error(f"{provider} is fastembed, which is not installed.", hint=f"{INSTALL}.", id="memories.E010")
    if named := getattr(settings, folder):
        try:
            read_folder(named)
        except ProviderError as error:
            hint = f"Put the files there, or leave {folder} out: then they are fetched."
            yield Error(f"{folder}: {error}.", hint=hint, id="memories.E011")


def extraction(app_configs: Sequence[Any] | None, **_: Any) -> list[CheckMessage]:
    found: list[CheckMessage] = []
    provider = settings.EXTRACTION_PROVIDER
    if provider == "anthropic" and not settings.ANTHROPIC_API_KEY:
        found.append(
            Error(
                "EXTRACTION_PROVIDER is anthropic, and there is no ANTHROPIC_API_KEY.",
                hint="Set the key; or EXTRACTION_PROVIDER=none to extract by patterns alone.",
                id="memories.E004",
            )
        )
    if provider == "openai" and not settings.OPENAI_API_KEY and not settings.OPENAI_BASE_URL:
        found.append(
            Error(
                "EXTRACTION_PROVIDER is openai, and there is neither OPENAI_API_KEY nor OPENAI_BASE_URL.",
                hint="Set the key; or the base URL of a server that speaks OpenAI's wire and needs none.",
                id="memories.E005",
            )
        )
    if provider in CLOUDS and not settings.EXTRACTION_MODEL:
        found.append(
            Error(
                f"EXTRACTION_PROVIDER is {provider}, and there is no EXTRACTION_MODEL.",
                hint="Name the deployment, or the model by that cloud's own name for it.",
                id="memories.E013",
            )
        )
    if provider == "openai" and settings.EXTRACTION_MODEL == DEFAULT_EXTRACTION_MODEL:
        found.append(
            Error(
                f"EXTRACTION_PROVIDER is openai, and EXTRACTION_MODEL is {DEFAULT_EXTRACTION_MODEL}.",
                hint="Name a model of that server in EXTRACTION_MODEL.",
                id="memories.E006",
            )
        )
    return found


def addresses(app_configs: Sequence[Any] | None, **_: Any) -> list[CheckMessage]:
    unreadable: list[CheckMessage] = []
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        url = getattr(settings, name)
        parts = urlsplit(url)
        if url and not (parts.scheme in ("http", "https") and parts.hostname):
            unreadable.append(
                Error(
                    f"{name}={url} is no address of a server.",
                    hint="It begins with http:// or https:// and a host, like http://localhost:11434/v1.",
                    id="memories.E007",
                )
            )
    return unreadable


def unused_addresses(app_configs: Sequence[Any] | None, **_: Any) -> Iterator[CheckMessage]:
    if settings.OPENAI_BASE_URL and "openai" not in (
        _embedding_provider(),
        settings.EXTRACTION_PROVIDER,
    ):
        yield checks.Warning(
            "OPENAI_BASE_URL is set, and nothing uses it.",
            hint="Set EMBEDDING_PROVIDER=openai (with EMBEDDING_MODEL) or EXTRACTION_PROVIDER=openai.",
            id="memories.W003",
        )
    if settings.ANTHROPIC_BASE_URL and not settings.ANTHROPIC_API_KEY:
        yield checks.Warning(
            "ANTHROPIC_BASE_URL is set, and there is no ANTHROPIC_API_KEY: nothing uses it.",
            hint="Set the key that the server behind it expects.",
            id="memories.W004",
        )


def allowed_hosts(app_configs: Sequence[Any] | None, **_: Any) -> Iterator[CheckMessage]:
    for name, whose in (("EXTRACTOR", "extractors"), ("WEBHOOK", "webhooks")):
        named = getattr(settings, f"{name}_ALLOWED_HOSTS")
        wrong = [entry for entry in named if not is_readable(entry)]
        if wrong:
            yield Error(
                f"{name}_ALLOWED_HOSTS names what is no host: {', '.join(wrong)}.",
                hint="Give hosts, host:port or networks: localhost:11434, models.lan, 10.0.0.0/8.",
                id="memories.E009",
            )
        if ANY in named:
            yield checks.Warning(
                f"{name}_ALLOWED_HOSTS is *: a workspace's {whose} may call this machine's own and private addresses.",
                hint="Name the hosts that workspaces need.",
                id="memories.W006",
            )


def metrics_in_public(app_configs: Sequence[Any] | None, **_: Any) -> list[CheckMessage]:
    public = [name for name in settings.ALLOWED_HOSTS if not _is_local(name)]
    if settings.METRICS_TOKEN or not public:
        return []
    return [
        checks.Warning(
            f"{', '.join(public)} may be asked for, and there is no METRICS_TOKEN: /metrics answers"
            " this machine only, and whoever a proxy here takes for it.",
            hint="Set METRICS_TOKEN, and give it to what reads the figures.",
            id="memories.W005",
        )
    ]


def debug_in_public(app_configs: Sequence[Any] | None, **_: Any) -> list[CheckMessage]:
    public = [name for name in settings.ALLOWED_HOSTS if not _is_local(name)]
    if not settings.DEBUG or not public:
        return []
    return [
        Error(
            f"DEBUG is on, and {', '.join(public)} may be asked for: errors would show settings.",
            hint="Set DEBUG=false, or leave only names of this machine in ALLOWED_HOSTS.",
            id="memories.E008",
        )
    ]


def _is_local(name: str) -> bool:
    bare = name.strip("[]").lower()
    return bare in LOCAL_NAMES or bare.endswith(LOCAL_ENDINGS)
