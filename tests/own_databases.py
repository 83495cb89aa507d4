"""Databases beside the one of the tests, on the same server, for programs of their own."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from django.conf import settings

from memoryproject.postgres.embedded_postgres import OWNER_ROLE
from tests import template_database


@contextmanager
def own_database(name: str) -> Iterator[str]:
    """One with all tables and no row. Asks for `django_db_setup`, which starts the server."""
    with as_owner("postgres") as owner:
        owner.execute(f'drop database if exists "{name}" with (force)')
        owner.execute(f'create database "{name}" template "{template_database.name()}"')
    try:
        yield name
    finally:
        with as_owner("postgres") as owner:
            owner.execute(f'drop database if exists "{name}" with (force)')


def socket_folder() -> Path:
    assert settings.EMBEDDED_POSTGRES is not None
    folder: Path = settings.EMBEDDED_POSTGRES.socket
    return folder


@contextmanager
def as_owner(database: str) -> "Iterator[psycopg.Connection[tuple[object, ...]]]":
    with psycopg.connect(host=str(socket_folder()), user=OWNER_ROLE, dbname=database, autocommit=True) as owner:
        yield owner
