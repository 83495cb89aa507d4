"""A database with all migrations, kept between runs: a test database is a copy of it."""

import hashlib
import importlib
from pathlib import Path

from django.apps import apps
from django.core.management import call_command
from django.db import connection

from memoryproject.postgres import administrators, crossings, database_roles, rights, walls

PREFIX = "memory_tests_"
LOCK = 7_310_415  # any number that no other lock of the server's has


def name() -> str:
    return PREFIX + digest()


def ready() -> str:
    """Its name, which holds a digest of all migrations. Made where it is missing, once for all
    processes; those of other migrations are dropped."""
    made = name()
    with connection._nodb_cursor() as cursor:
        cursor.execute("select pg_advisory_lock(%s)", [LOCK])
        cursor.execute("select datname from pg_database where starts_with(datname, %s)", [PREFIX])
        there = {row[0] for row in cursor.fetchall()}
        if made not in there:
            for old in there:
                cursor.execute(f'drop database "{old}" with (force)')
            unfinished = f"{made}_unfinished"
            cursor.execute(f'create database "{unfinished}"')
            _migrate(unfinished)
            cursor.execute(f'alter database "{unfinished}" rename to "{made}"')
        cursor.execute("select pg_advisory_unlock(%s)", [LOCK])
    return made


def digest() -> str:
    digest = hashlib.sha256()
    for app in apps.get_app_configs():
        folder = Path(app.path) / "migrations"
        for file in sorted(folder.glob("*.py")):
            digest.update(f"{app.label} {file.name}".encode() + file.read_bytes())
    for made in (administrators, crossings, walls, rights, database_roles):
        digest.update(Path(made.__file__).read_bytes())
    for module in ("django", "psycopg"):
        digest.update(importlib.import_module(module).__version__.encode())
    return digest.hexdigest()[:16]


def _migrate(database: str) -> None:
    own = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = database
    try:
        call_command("migrate", verbosity=0, interactive=False)
        granted = database_roles.prepare(connection)
        assert not granted.why, granted.why
    finally:
        connection.close()
        connection.settings_dict["NAME"] = own
