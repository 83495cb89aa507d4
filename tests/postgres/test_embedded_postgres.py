"""The embedded server under everything that kills it. Real servers, real processes."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from memoryproject.postgres.embedded_postgres import (
    APP_ROLE,
    DATABASE,
    OWNER_ROLE,
    SOCKET_NAME,
    Home,
    ensure_running,
    is_alive,
    leave,
)
from memoryproject.postgres.postgres_guard import command_line, postmaster

USER = """
import sys, time
from pathlib import Path
from memoryproject.postgres.embedded_postgres import Home, ensure_running
from memoryproject.postgres.postgres_guard import command_line, postmaster
home = Home.below(Path(sys.argv[1]), fast=True)
ensure_running(home)
print(postmaster(home.data), flush=True)
time.sleep(3600)
"""

DJANGO = """
import os, signal
import django
django.setup()
from django.db import connection
for number in (signal.SIGKILL, 0):
    connection.ensure_connection()
    os.kill(connection.connection.info.backend_pid, number)
    connection.close()
print("connected again")
"""


def start_user(home: Home) -> subprocess.Popen[str]:
    """Another process that uses the server until it is killed; its first line is the server's
    pid."""
    command = [sys.executable, "-c", USER, str(home.root.parent)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@contextmanager
def user_of(home: Home) -> Iterator[subprocess.Popen[str]]:
    other = start_user(home)
    try:
        yield other
    finally:
        other.kill()
        other.communicate()


def connect(home: Home, user: str = OWNER_ROLE) -> psycopg.Connection:
    return psycopg.connect(host=str(home.socket), user=user, dbname=DATABASE, autocommit=True)


def ask(home: Home, statement: str, user: str = OWNER_ROLE) -> object:
    with connect(home, user) as connection:
        row = connection.execute(statement).fetchone()
        return row[0] if row else None


def wait_for(condition: Callable[[], bool], seconds: float = 120) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def serves(home: Home) -> bool:
    ensure_running(home, recheck=True)
    try:
        return ask(home, "select 1") == 1
    except psycopg.OperationalError:
        return False


def kill_server(home: Home) -> None:
    pid = postmaster(home.data)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert wait_for(lambda: not is_alive(home))


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    folder = tmp_path_factory.mktemp("installation")
    folder.chmod(0o711)
    home = Home.below(folder)
    yield home
    leave(home)


@pytest.fixture
def home(installed: Home) -> Home:
    ensure_running(installed, recheck=True)
    return installed


def test_the_socket_is_private_and_there_is_no_tcp(home: Home):
    assert home.socket.stat().st_mode & 0o777 == 0o700
    assert (home.socket / SOCKET_NAME).stat().st_mode & 0o077 == 0
    assert ask(home, "show listen_addresses") == ""


def test_nobody_is_trusted_over_tcp_also_where_an_older_version_made_the_folder(home: Home):
    rules = "select string_agg(distinct type || ' ' || auth_method, ', ') from pg_hba_file_rules"
    assert ask(home, rules) == "host reject, local trust"
    with open(home.data / "pg_hba.conf", "a") as older:
        older.write("host all all 127.0.0.1/32 trust\n")
    kill_server(home)
    ensure_running(home, recheck=True)

    assert ask(home, rules) == "host reject, local trust"


def test_folders_outside_the_data_directory_are_left_alone(home: Home):
    assert home.root.parent.stat().st_mode & 0o777 == 0o711


def test_letters_beyond_ascii_have_a_lower_case(home: Home):
    assert ask(home, "select 'ÉCOLE' ilike '%école%'") is True


def test_the_ordinary_role_can_neither_create_nor_become_the_owner(home: Home):
    rights = "select rolsuper or rolcreatedb or rolcreaterole from pg_roles where rolname = current_user"
    assert ask(home, rights, APP_ROLE) is False
    for statement in ("create table mine (id int)", f"set role {OWNER_ROLE}"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            ask(home, statement, APP_ROLE)


def test_pgvector_is_there(home: Home):
    available = "select default_version from pg_available_extensions where name = 'vector'"
    assert str(ask(home, available)) >= "0.7"


def test_a_killed_server_is_back_with_its_rows(home: Home):
    with connect(home) as connection:
        connection.execute("create table kept as select 42 as answer")
    kill_server(home)
    ensure_running(home, recheck=True)
    assert ask(home, "select answer from kept") == 42


def test_a_killed_server_whose_backend_still_computes_is_back(home: Home):
    busy = connect(home)
    backend = busy.info.backend_pid
    busy.pgconn.send_query(b"select count(*) from generate_series(1, 100000000)")
    state = f"select state from pg_stat_activity where pid = {backend}"
    assert wait_for(lambda: ask(home, state) == "active")
    kill_server(home)
    ensure_running(home, recheck=True)
    assert ask(home, "select 1") == 1
    assert wait_for(lambda: not any(command_line(backend)))
    busy.close()


def test_a_killed_backend_does_not_keep_others_out(home: Home):
    with connect(home) as connection:
        os.kill(connection.info.backend_pid, signal.SIGKILL)
    assert wait_for(lambda: serves(home))


def test_django_waits_for_a_server_that_recovers(home: Home):
    names = {"DJANGO_SETTINGS_MODULE": "memoryproject.settings"}
    env = {**os.environ, **names, "MEMORY_DATA_DIR": str(home.root.parent)}
    done = subprocess.run([sys.executable, "-c", DJANGO], env=env, capture_output=True, text=True)
    assert done.stdout.strip() == "connected again", done.stderr


def test_pid_files_that_name_another_program_are_seen_through(home: Home):
    kill_server(home)
    stranger = subprocess.Popen(["sleep", "60"])
    for file in (home.data / "postmaster.pid", home.socket / f"{SOCKET_NAME}.lock"):
        lines = file.read_text().splitlines()
        file.write_text("\n".join([str(stranger.pid), *lines[1:]]) + "\n")
    ensure_running(home, recheck=True)
    assert ask(home, "select 1") == 1
    stranger.kill()
    stranger.wait()


def test_a_server_with_a_user_is_not_stopped(home: Home):
    with user_of(home) as other:
        assert other.stdout is not None
        assert int(other.stdout.readline()) == postmaster(home.data)
        assert leave(home, patience=0.2) is False
        assert ask(home, "select 1") == 1
        ensure_running(home)


def test_the_server_ends_after_its_last_user_was_killed(home: Home):
    with user_of(home) as other:
        assert other.stdout is not None
        other.stdout.readline()
        leave(home, patience=0)
    assert wait_for(lambda: not is_alive(home))
    assert wait_for(lambda: not (home.socket / SOCKET_NAME).exists())


def test_processes_that_start_at_once_make_one_server(tmp_path: Path):
    home = Home.below(tmp_path, fast=True)
    users = [start_user(home) for _ in range(3)]
    pids = {user.stdout.readline() for user in users if user.stdout}
    for user in users:
        user.kill()
        user.communicate()
    assert len(pids) == 1
    assert pids.pop().strip().isdigit()
    assert wait_for(lambda: leave(home))


def test_a_creation_that_was_interrupted_begins_anew(tmp_path: Path):
    home = Home.below(tmp_path, fast=True)
    (home.root / "data.draft").mkdir(parents=True)
    (home.root / "data.draft" / "PG_VERSION").write_text("18")
    ensure_running(home)
    assert ask(home, "select 1") == 1
    assert wait_for(lambda: leave(home))


def test_a_path_too_long_for_a_socket_works(tmp_path: Path):
    home = Home.below(tmp_path / ("long" * 30), fast=True)
    ensure_running(home)
    assert ask(home, "select 1", APP_ROLE) == 1
    assert home.socket.stat().st_mode & 0o777 == 0o700
    assert wait_for(lambda: leave(home))
    home.socket.rmdir()


def test_a_socket_left_behind_is_replaced(home: Home):
    kill_server(home)
    (home.socket / SOCKET_NAME).unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(home.socket / SOCKET_NAME))
    ensure_running(home, recheck=True)
    assert ask(home, "select 1") == 1
