"""Backups of the whole database, taken while it is used, and restored: pg_dump and pg_restore.

A backup is a folder with the dump, the files of documents, the secrets of the data folder and a
manifest, which records its versions, the number of rows that each table had at the very moment of
the dump, and the digest of every file.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import IO, Any, Self

from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone
from psycopg import sql

from memoryproject.env import env_secret
from memoryproject.postgres.embedded_postgres import EmbeddedPostgresError, program
from memoryproject.postgres.visible import VIEWS
from memoryproject.postgres.walls import UPKEEP

MANIFEST, DUMP = "manifest.json", "database.dump"
FORMAT = "memoryproject backup"
NAME = "memory-%Y%m%dT%H%M%SZ"
SECRETS = ("secret_key", "connection_key", "first_run.json")  # of the data folder
BLOBS = "blobs"  # in the backup, whatever settings.BLOB_DIR is called
AT_TABLE = re.compile(r'(?:dumping contents of|processing data for) table "[^".]+\.([^"]+)"')

TABLES = """
select c.relname from pg_class c
where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
  and not exists (select 1 from pg_depend d where d.objid = c.oid and d.deptype = 'e')
order by c.relname
"""
FUNCTIONS = """
select p.oid::regprocedure::text from pg_proc p
where p.pronamespace = current_schema()::regnamespace
  and not exists (select 1 from pg_depend d where d.objid = p.oid and d.deptype = 'e')
"""
# Roles that own something, may do something, or are named by a policy.
ROLES = """
select distinct r.rolname from pg_roles r
where r.rolname !~ '^pg_' and exists (
  select 1 from pg_shdepend d where d.refclassid = 'pg_authid'::regclass and d.refobjid = r.oid
    and d.dbid = (select oid from pg_database where datname = current_database()))
order by 1
"""
OTHERS = """
select count(*) from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
"""
VERSION = """
select current_setting('server_version'),
       coalesce((select extversion from pg_extension where extname = 'vector'), '')
"""
IS_SUPERUSER = "select rolsuper from pg_roles where rolname = current_user"


class BackupFault(Exception):
    """The reason why a backup cannot be taken or restored, in one line."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """`migrations`: the newest of each app; `counts`: rows by table; `files`: SHA-256 by path."""

    taken_at: str
    postgres: str
    pgvector: str
    migrations: dict[str, str]
    counts: dict[str, int]
    roles: list[str]
    files: dict[str, str] = field(default_factory=dict)
    format: str = FORMAT
    version: int = 1

    @property
    def rows(self) -> int:
        return sum(self.counts.values())

    @classmethod
    def of(cls, folder: Path) -> Self:
        """Read a folder's manifest. Raises BackupFault for none, or for one of a later version."""
        try:
            told = json.loads((folder / MANIFEST).read_text())
        except (OSError, ValueError):
            raise BackupFault(f"{folder} holds no backup: there is no {MANIFEST} in it.") from None
        if not isinstance(told, dict) or told.get("format") != FORMAT:
            raise BackupFault(f"{folder} holds no backup of this server.")
        if told["version"] != 1:
            raise BackupFault(f"{folder} was written by a later version: take that one.")
        return cls(**told)


def take(parent: Path, advance: Callable[[int], object]) -> tuple[Path, Manifest]:
    """Back up into a new folder below `parent`; `advance` receives the number of rows dumped.

    Until it is complete the folder has another name. Raises BackupFault.
    """
    now = timezone.now()
    parent.mkdir(parents=True, exist_ok=True)
    folder, later = parent / now.strftime(NAME), now
    while folder.exists():  # of the same second
        later += timedelta(seconds=1)
        folder = parent / later.strftime(NAME)
    draft = Path(tempfile.mkdtemp(prefix=".draft-", dir=parent))  # mode 0700
    try:
        # Before and after the dump: a file that its rows name exists at one of these times.
        _copy_blobs(draft / BLOBS)
        with snapshot() as (name, counts):
            options = ["--format=custom", f"--snapshot={name}", f"--file={draft / DUMP}"]
            options.append("--enable-row-security")  # an owner who is held by it sees all by UPKEEP
            run("pg_dump", options, counts, advance)
        # It holds everything: whoever copies it out of this folder has it all.
        os.chmod(draft / DUMP, 0o600)
        _copy_blobs(draft / BLOBS)
        with connection.cursor() as cursor:
            cursor.execute(VERSION)
            postgres, pgvector = cursor.fetchone()
            cursor.execute(ROLES)
            roles = [role for (role,) in cursor.fetchall()]
        for each in SECRETS:
            with contextlib.suppress(FileNotFoundError):
                shutil.copy(settings.DATA_DIR / each, draft / each)
                os.chmod(draft / each, 0o600)
        paths = sorted(path for path in draft.rglob("*") if path.is_file())
        manifest = Manifest(
            now.isoformat(),
            postgres,
            pgvector,
            newest(),
            counts,
            roles,
            {path.relative_to(draft).as_posix(): _sha256(path) for path in paths},
        )
        (draft / MANIFEST).write_text(json.dumps(asdict(manifest), indent=2) + "\n")
        draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return folder, manifest


@contextlib.contextmanager
def snapshot() -> Iterator[tuple[str, dict[str, int]]]:
    """Hold a snapshot of the database: its name, for pg_dump, and the number of rows of each
    table."""
    with connection.cursor() as cursor:
        cursor.execute("begin isolation level repeatable read, read only")
        try:
            cursor.execute("select pg_export_snapshot()")
            name = str(cursor.fetchone()[0])
            yield name, counts_of(cursor)
        finally:
            cursor.execute("rollback")


def counts_of(cursor: Any) -> dict[str, int]:
    """Rows by table, counted exactly."""
    cursor.execute(f"set {UPKEEP} = 'on'")
    cursor.execute(TABLES)
    counts = {}
    for (table,) in cursor.fetchall():
        cursor.execute(sql.SQL("select count(*) from {}").format(sql.Identifier(table)))
        counts[table] = int(cursor.fetchone()[0])
    return counts


def newest() -> dict[str, str]:
    """The newest migration of each app that the database has."""
    # Migrations that a later one replaced are recorded as well.
    there = MigrationLoader(None).disk_migrations.keys()
    return dict(sorted(MigrationRecorder(connection).applied_migrations().keys() & there))


def old_ones(parent: Path, keep: int) -> list[Path]:
    """Backups below `parent` beyond the newest `keep`, by their names, which are times."""
    found = [path for path in parent.glob("memory-*T*Z") if path.is_dir() and (path / MANIFEST).is_file()]
    return sorted(found)[: -keep or None]


def drop(folder: Path) -> None:
    shutil.rmtree(folder)


def check(folder: Path) -> Manifest:
    """Check a backup and return its manifest. Raises BackupFault where one of its files has
    changed, or where it is of a later version than this server."""
    manifest = Manifest.of(folder)
    for name, digest in manifest.files.items():
        path = folder / name
        if not path.is_file() or _sha256(path) != digest:
            raise BackupFault(f"{path} is not as it was written: take another backup.")
    there = MigrationLoader(None).disk_migrations
    # The last of the migrations that one replaces left the same tables.
    known = {*there, *(each.replaces[-1] for each in there.values() if each.replaces)}
    unknown = {app: name for app, name in manifest.migrations.items() if (app, name) not in known}
    if unknown:
        told = ", ".join(f"{app} {name}" for app, name in sorted(unknown.items()))
        raise BackupFault(f"The backup is of a later version, or another one ({told}): take that.")
    return manifest


def what_is_there() -> dict[str, int]:
    """Count the rows of the database that a restore would replace."""
    with connection.cursor() as cursor:
        counts = counts_of(cursor)
    people = ("workspaces_user", "workspaces_workspace", "memories_episode", "memories_memory")
    return {name: counts[name] for name in people if counts.get(name)}


def others() -> int:
    """The number of other connections: above zero, a server runs."""
    with connection.cursor() as cursor:
        cursor.execute(OTHERS)
        return int(cursor.fetchone()[0])


def empty() -> None:
    """Drop everything of ours in the database."""
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("drop schema if exists {} cascade").format(sql.Identifier(VIEWS)))
        cursor.execute(TABLES)
        for (table,) in cursor.fetchall():
            cursor.execute(sql.SQL("drop table {} cascade").format(sql.Identifier(table)))
        cursor.execute(FUNCTIONS)
        for (function,) in cursor.fetchall():
            cursor.execute(f"drop function if exists {function} cascade")


def put_back(folder: Path, manifest: Manifest, advance: Callable[[int], object]) -> None:
    """Empty the database and fill it from the backup, in one transaction of pg_restore; with the
    secrets of the data folder. Raises BackupFault; then the database is empty."""
    empty()
    options = ["--single-transaction", "--exit-on-error", "--no-comments"]
    options += ["--dbname", connection.settings_dict["NAME"]]
    with connection.cursor() as cursor:
        cursor.execute(IS_SUPERUSER)
        if not cursor.fetchone()[0]:
            options += ["--no-owner", "--no-acl"]
        else:  # owners shall own their objects again
            cursor.execute("select rolname from pg_roles")
            known = {role for (role,) in cursor.fetchall()}
            for role in set(manifest.roles) - known:
                cursor.execute(sql.SQL("create role {} nologin").format(sql.Identifier(role)))
    run("pg_restore", [*options, str(folder / DUMP)], manifest.counts, advance)
    connection.close()  # prepared statements belong to tables that no longer exist
    for each in SECRETS:
        if (folder / each).is_file():
            shutil.copy(folder / each, settings.DATA_DIR / each)
            os.chmod(settings.DATA_DIR / each, 0o600)
    if (folder / BLOBS).is_dir():
        shutil.rmtree(settings.BLOB_DIR, ignore_errors=True)
        shutil.copytree(folder / BLOBS, settings.BLOB_DIR)


@contextlib.contextmanager
def secret_of_folder() -> Iterator[None]:
    """Inside, use the SECRET_KEY of the next start: that of the data folder, unless the environment
    names one."""
    before, path = settings.SECRET_KEY, settings.DATA_DIR / "secret_key"
    if not env_secret("SECRET_KEY") and path.is_file():
        settings.SECRET_KEY = path.read_text().strip()
    try:
        yield
    finally:
        settings.SECRET_KEY = before


def differences(manifest: Manifest) -> dict[str, tuple[int, int]]:
    """Tables whose number of rows differs from the backup: the expected and the actual number."""
    with connection.cursor() as cursor:
        here = counts_of(cursor)
    names = manifest.counts.keys() | here.keys()
    both = {name: (manifest.counts.get(name, 0), here.get(name, 0)) for name in names}
    return {name: pair for name, pair in sorted(both.items()) if pair[0] != pair[1]}


def run(
    name: str,
    options: list[str],
    counts: Mapping[str, int],
    advance: Callable[[int], object],
) -> None:
    """Run pg_dump or pg_restore to its end; `advance` receives a table's rows when the next one
    begins. Raises BackupFault with the program's last line."""
    words = [*client(name), "--verbose", *options]
    last, before = "", 0
    with subprocess.Popen(
        words,
        env=login(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as process:
        try:
            stream: IO[str] | None = process.stderr
            for line in stream or ():
                if found := AT_TABLE.search(line):
                    advance(before)
                    before = counts.get(found[1], 0)
                elif "error:" in line or "FATAL" in line:
                    last = last or line.strip()
        except BaseException:
            process.terminate()
            raise
    advance(before)
    if process.returncode:
        raise BackupFault(f"{name} failed: {last or f'exit code {process.returncode}'}")


def client(name: str) -> list[str]:
    """The command of the embedded PostgreSQL's program, or the machine's own."""
    with contextlib.suppress(EmbeddedPostgresError):
        return [str(program(name))]
    found = shutil.which(name)
    if found is None:
        raise BackupFault(f"There is no {name} on this machine: install PostgreSQL's client.")
    return [found]


def login() -> dict[str, str]:
    """The environment in which PostgreSQL's programs find the database."""
    own = connection.settings_dict
    named = {"PGDATABASE": "NAME", "PGUSER": "USER", "PGPASSWORD": "PASSWORD", "PGHOST": "HOST", "PGPORT": "PORT"}
    told = {name: str(own[key]) for name, key in named.items() if own.get(key)}
    options = own.get("OPTIONS") or {}
    for name in ("sslmode", "sslrootcert", "sslcert", "sslkey"):
        if value := options.get(name):
            told[f"PG{name.upper()}"] = str(value)
    return {**os.environ, **told, "PGOPTIONS": f"-c {UPKEEP}=on"}


def _copy_blobs(target: Path) -> None:
    """Copy the document files that `target` lacks; a file deleted meanwhile is named by no row."""
    root = Path(settings.BLOB_DIR)
    for path in root.rglob("*"):
        copy = target / path.relative_to(root)
        # A file not yet moved to its name belongs to a request under way.
        if path.is_file() and not path.name.startswith("new-") and not copy.exists():
            copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with contextlib.suppress(FileNotFoundError):
                shutil.copy2(path, copy)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
