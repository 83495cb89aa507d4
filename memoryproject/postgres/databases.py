"""Django's DATABASES: the embedded server, or the one that DATABASE_URL names."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

from memoryproject.postgres.embedded_postgres import APP_ROLE, DATABASE, OWNER_ROLE, Home

ENGINE = "memoryproject.postgres"
# TCP keepalive notices a server that vanished silently. A local socket needs none of it.
ALIVE = {
    "keepalives": 1,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
GRACE = 2.0  # seconds for the server to end a statement by itself, before the client gives it up


COMMON: dict[str, Any] = {
    "ENGINE": ENGINE,
    # One connection per process, kept. No pool: a pool is shared by forked workers and breaks
    # there.
    "CONN_MAX_AGE": None,
    "CONN_HEALTH_CHECKS": True,
}


@dataclass(frozen=True)
class Limits:
    """Time limits of a process on the database, in seconds; 0 for none. `idle` is the time that a
    transaction may stay open without a statement: after it the locks go to others."""

    connect: int = 10
    statement: float = 0.0
    lock: float = 0.0
    idle: float = 0.0

    @property
    def session(self) -> dict[str, int]:
        """The limits in milliseconds by PostgreSQL's names, for a session of our own."""
        own = {
            "statement_timeout": self.statement,
            "lock_timeout": self.lock,
            "idle_in_transaction_session_timeout": self.idle,
        }
        return {name: round(1e3 * value) for name, value in own.items() if value}

    @property
    def answer_within(self) -> float | None:
        return self.statement + GRACE if self.statement else None


NO_END = Limits()
IDLE_IN_WEB = 60.0


def limits_of(kind: str, connect: int, statement: float, lock: float) -> Limits:
    """The limits of a process: `kind` is web, worker (each task is ended after ten minutes in all)
    or command, which may take hours: it migrates, builds indexes, reads files."""
    if kind == "web":
        return Limits(connect, statement, lock, IDLE_IN_WEB)
    if kind == "worker":
        return Limits(connect, statement=570.0, lock=300.0, idle=300.0)
    return Limits(connect)


def embedded(data_dir: Path, role: str, limits: Limits = NO_END) -> dict[str, Any]:
    """Settings of the server below `data_dir`; `role` is owner or app."""
    return {
        **COMMON,
        "NAME": DATABASE,
        "USER": APP_ROLE if role == "app" else OWNER_ROLE,
        "HOST": str(Home.below(data_dir).socket),
        "ANSWER_WITHIN": limits.answer_within,
        "LIMITS": limits.session,
        "OPTIONS": {"prepare_threshold": 5, "connect_timeout": limits.connect},
    }


def external(url: str, app_url: str, role: str, limits: Limits = NO_END) -> dict[str, Any]:
    """Settings of the server at `url`. The app role logs in by `app_url`, or, without one, the
    owner logs in and takes its rights."""
    name, login = "DATABASE_URL", url
    if role == "app" and app_url:
        name, login = "APP_DATABASE_URL", app_url
    if not login.startswith(("postgres://", "postgresql://", "pgsql://")):
        raise ImproperlyConfigured(f"{name} must begin with postgresql://")
    try:
        parsed: dict[str, Any] = {**dj_database_url.parse(login)}
    except ValueError:
        raise ImproperlyConfigured(
            f"{name} cannot be read: postgresql://USER:PASSWORD@HOST:PORT/DATABASE is its form,"
            " with a port up to 65535 and signs such as @ : / # in a password as %40 %3A %2F %23."
        ) from None
    if not parsed["NAME"] and "service" not in (parsed.get("OPTIONS") or {}):
        raise ImproperlyConfigured(
            f"{name} names no database: postgresql://USER:PASSWORD@HOST:PORT/DATABASE is its form."
        )
    usual = {"prepare_threshold": 5, "connect_timeout": limits.connect, **ALIVE}
    options = {**usual, **(parsed.pop("OPTIONS", None) or {})}
    if role == "app" and not app_url:
        options["assume_role"] = APP_ROLE
    own = {"ANSWER_WITHIN": limits.answer_within, "LIMITS": limits.session, "OPTIONS": options}
    return {**parsed, **COMMON, **own}
