"""A PostgreSQL server of somebody's own, where nobody but its administrator is known."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection
from pytest_django.plugin import DjangoDbBlocker

from memoryproject.postgres import databases, visible
from memoryproject.postgres.embedded_postgres import APP_ROLE, OWNER_ROLE, Home, ensure_running, leave


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A server where nobody but its administrator is known."""
    home = Home.below(tmp_path, fast=True)
    ensure_running(home)
    administer(home, "postgres", f"drop role {APP_ROLE}")  # of the server that we start ourselves
    yield home
    leave(home)


def administer(home: Home, database: str, *texts: str) -> None:
    login = {"host": str(home.socket), "user": OWNER_ROLE, "dbname": database}
    with psycopg.connect(**login, autocommit=True) as administrator:
        for text in texts:
            administrator.execute(text)


@pytest.fixture
def external(home: Home, settings: Any, django_db_blocker: DjangoDbBlocker) -> Iterator[Any]:
    """Connects to the database `memory` of that server, with settings of an owner and of a login
    for web and worker; by the role that is asked for."""
    settings.EMBEDDED_POSTGRES = None

    @contextmanager
    def connected(role: str) -> Iterator[None]:
        own = dict(connection.settings_dict)
        connection.close()
        connection.settings_dict.update(databases.external(settings.DATABASE_URL, settings.APP_DATABASE_URL, role))
        try:
            yield
        finally:
            connection.close()
            connection.settings_dict.clear()
            connection.settings_dict.update(own)

    def given(owner: str, app_login: str) -> Any:
        place = f"/memory?host={home.socket}"
        settings.DATABASE_URL = f"postgresql://{owner}@{place}"
        settings.APP_DATABASE_URL = f"postgresql://{app_login}@{place}" if app_login else ""
        return connected

    with django_db_blocker.unblock(), visible.only():
        yield given
