"""What Django's DATABASES holds: the embedded server, or the one that DATABASE_URL names."""

from pathlib import Path
from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

from memoryproject.embedded_postgres import APP_ROLE, DATABASE, OWNER_ROLE, Home

ENGINE = "memoryproject.postgres"
# The prepared texts of the hot path can use one index only: planning them once is safe and saves
# 0.4 ms.
# An approximate index looks at so many vectors, and goes on where a condition leaves too few. At a
# million, 200 find 0.94 of the first ten and 400 find 0.99, and a filter that leaves one in a hundred
# needs to go on further than 20,000.
SESSION = (
    "-c plan_cache_mode=force_generic_plan -c jit=off"
    " -c hnsw.ef_search=400 -c hnsw.iterative_scan=relaxed_order -c hnsw.max_scan_tuples=60000"
)
COMMON: dict[str, Any] = {
    "ENGINE": ENGINE,
    # One connection per process, kept. No pool: a pool is shared by forked workers and breaks
    # there.
    "CONN_MAX_AGE": None,
    "CONN_HEALTH_CHECKS": True,
}


def embedded(data_dir: Path, role: str) -> dict[str, Any]:
    """Settings of the server below `data_dir`; `role` is owner or app."""
    return {
        **COMMON,
        "NAME": DATABASE,
        "USER": APP_ROLE if role == "app" else OWNER_ROLE,
        "HOST": str(Home.below(data_dir).socket),
        "OPTIONS": {"prepare_threshold": 5, "options": SESSION},
    }


def external(url: str, app_url: str, role: str) -> dict[str, Any]:
    """Settings of the server at `url`. The app role logs in by `app_url`, or takes its rights after
    the owner's login when there is none."""
    parsed = dict(_parse(app_url if role == "app" and app_url else url))
    options = {"prepare_threshold": 5, **(parsed.pop("OPTIONS", None) or {})}
    options["options"] = f"{SESSION} {options.get('options', '')}".strip()
    if role == "app" and not app_url:
        options["assume_role"] = APP_ROLE
    return {**parsed, **COMMON, "OPTIONS": options}


def _parse(url: str) -> dict[str, Any]:
    if not url.startswith(("postgres://", "postgresql://", "pgsql://")):
        raise ImproperlyConfigured("DATABASE_URL must begin with postgresql://")
    try:
        return dict(dj_database_url.parse(url))
    except ValueError as error:
        raise ImproperlyConfigured(f"DATABASE_URL cannot be read: {error}") from None
