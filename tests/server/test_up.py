"""`manage.py up` as a stranger runs it: real processes, a real port, real signals."""

import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, OpenerDirector, build_opener

import pytest

from memoryproject.postgres.embedded_postgres import APP_ROLE, is_alive
from memoryproject.postgres.postgres_guard import postmaster
from memoryproject.server.address import reserve
from memoryproject.server.front.lanes import LANES, processes_of
from tests.live_server import PATIENCE, ROOT, Server, measured, strangers_environment, wait_for

LOGIN, CHANGE = "/admin/login/", "/admin/password_change/"


def sent(browser: OpenerDirector, server: Server, page: str, **fields: str) -> str:
    """Open a form and send it; where that leads."""
    form = browser.open(server.info["url"] + page).read().decode()
    token = re.findall('name="csrfmiddlewaretoken" value="([^"]+)"', form)[-1]
    body = urlencode({"csrfmiddlewaretoken": token, **fields}).encode()
    return browser.open(server.info["url"] + page, body).geturl()


def refused(*words: str) -> str:
    """What `up` says when it refuses to start."""
    command = [sys.executable, "manage.py", "up", *words]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=strangers_environment() | measured(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 1
    return done.stderr


def test_the_port_of_the_web_server_is_kept_for_it():
    with reserve("127.0.0.1", 0) as held, pytest.raises(OSError, match="in use"):
        socket.create_server(held.getsockname())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("up")


@pytest.fixture
def begin() -> Iterator[Callable[[Path], Server]]:
    started: list[Server] = []

    def start(folder: Path, more: str = "") -> Server:
        started.append(Server(folder, env=measured(), more=more))
        return started[-1]

    yield start
    for server in started:
        if server.process.poll() is None:
            server.end()


@pytest.fixture(scope="module")
def running(folder: Path) -> Iterator[Server]:
    server = Server(folder, env=measured(), empty=True)
    try:
        yield server.wait_until_ready()
    finally:
        if server.process.poll() is None:
            server.end()


@pytest.fixture
def ended(running: Server) -> Server:
    if running.process.poll() is None:
        running.end()
    assert wait_for(running.is_gone)
    return running


def test_it_answers_when_the_info_file_is_there(running: Server):
    assert running.get("/health/live") == 200
    assert running.get("/health/ready") == 200


def test_the_info_file_is_private_and_whole(running: Server):
    assert stat.S_IMODE(running.file.stat().st_mode) == 0o600
    assert set(running.info) >= {"url", "workspace", "key", "adminUser", "adminPassword"}


def test_it_prints_a_login_and_lines_to_try(running: Server):
    said = running.log.read_text()
    assert running.info["adminPassword"] in said
    assert said.count(f"curl {running.info['url']}/api/v1/workspaces/demo/memories/") == 2


def test_it_tells_what_a_start_is_doing(running: Server):
    told = running.log.read_text().partition("memoryproject answers at")[0]
    steps = re.findall(r"^  ([A-Z][^:]*): [\d.]+ s$", told, re.MULTILINE)
    assert steps == ["PostgreSQL", "Tables", "Web processes, worker, model"]
    assert "WARNING" not in told


def test_the_admin_and_its_styles_are_served(running: Server):
    assert running.get("/admin/login/") == 200
    assert running.get("/static/admin/css/base.css") == 200


def test_web_and_worker_are_the_ordinary_role(running: Server):
    statement = (
        "select distinct usename from pg_stat_activity"
        " where datname = current_database() and pid <> pg_backend_pid()"
        " and backend_type = 'client backend'"
    )
    assert wait_for(lambda: running.ask(statement) == [(APP_ROLE,)])


def test_the_ordinary_role_may_change_rows_only(running: Server):
    privileges = f"select distinct privilege_type from information_schema.table_privileges where grantee = '{APP_ROLE}'"
    assert {row[0] for row in running.ask(privileges)} == {"SELECT", "INSERT", "UPDATE", "DELETE"}


def test_a_second_server_over_the_same_data_is_refused(running: Server):
    said = refused("--port", "0", "--data", str(running.folder / "data"))
    assert "Another `up` runs over" in said


def test_a_port_in_use_is_refused(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        said = refused("--port", str(other.getsockname()[1]), "--data", str(tmp_path))
    assert "Choose another --port" in said


def test_a_killed_database_comes_back(running: Server):
    pid = postmaster(running.home.data)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert wait_for(lambda: postmaster(running.home.data) not in (None, pid))
    assert wait_for(lambda: running.get("/health/ready") == 200)


# The one that forks the others, and one of each lane.
WEB = 1 + sum(processes_of(lane, 1) for lane in LANES.values())


def test_a_killed_web_process_comes_back(running: Server):
    assert wait_for(lambda: len(running.children("web")) == WEB)
    before = running.children("web")
    os.kill(before[1], signal.SIGKILL)
    assert wait_for(lambda: len(running.children("web")) == WEB and before[1] not in running.children("web"))
    assert set(before) - {before[1]} <= set(running.children("web"))
    assert running.get("/api/v1/workspaces") == 200


@pytest.mark.parametrize(("program", "number"), [("web", WEB), ("granian", 2)])
def test_a_killed_program_comes_back_without_its_old_processes(running: Server, program: str, number: int):
    before = running.children(program)
    os.kill(before[0], signal.SIGKILL)
    assert wait_for(
        lambda: len(running.children(program)) == number and not set(before) & set(running.children(program))
    )
    assert wait_for(lambda: running.get("/api/v1/workspaces") == 200)


def test_a_front_that_does_not_answer_is_started_anew(running: Server):
    before = running.children("granian")
    for process in before:
        os.kill(process, signal.SIGSTOP)
    assert wait_for(lambda: not set(before) & set(running.children("granian")))
    assert wait_for(lambda: running.get("/api/v1/workspaces") == 200)


@pytest.mark.parametrize("which", [3, 4])  # the one that watches the others, and one that works
def test_all_worker_processes_are_new_after_one_was_killed(running: Server, which: int):
    assert wait_for(lambda: len(running.children("work")) == 7)
    before = running.children("work")
    os.kill(before[which], signal.SIGKILL)
    assert wait_for(lambda: len(running.children("work")) == 7 and not set(before) & set(running.children("work")))


def test_wrong_tries_are_told_with_the_address_they_came_from(running: Server):
    sent(build_opener(HTTPCookieProcessor()), running, LOGIN, username="admin", password="wrong")

    assert wait_for(lambda: "login: wrong password for user:" in running.log.read_text())
    assert " from 127.0.0.1, request " in running.log.read_text()
    assert running.get("/metrics") == 200


def test_the_first_password_is_changed_at_the_first_login_and_told_no_more(running: Server):
    browser, first = build_opener(HTTPCookieProcessor()), running.info["adminPassword"]
    new = "one that I chose myself"
    assert sent(browser, running, LOGIN, username="admin", password=first).endswith(CHANGE)
    fields = {"old_password": first, "new_password1": new, "new_password2": new}
    assert sent(browser, running, CHANGE, **fields).endswith("/admin/")

    assert wait_for(lambda: running.info["adminPassword"] is None)
    assert running.get("/api/v1/workspaces/demo/memories") == 200


def test_sigterm_stops_everything(running: Server):
    assert running.end() == 0, running.log.read_text()[-3000:]
    assert wait_for(running.is_gone)


def test_a_second_start_has_the_same_key_and_ctrl_c_stops_it(ended: Server, begin):
    first = json.loads((ended.folder / "data" / "first_run.json").read_text())
    again = begin(ended.folder, "--demo").wait_until_ready()
    told = again.log.read_text().partition("Look at the example:")[2]
    assert told.count(f"{again.info['url']}/admin/memories/") == 7, again.log.read_text()
    assert again.info["key"] == first["key"]
    assert again.info["adminPassword"] is first["admin_password"] is None
    assert again.get("/health/ready") == 200
    assert again.end(signal.SIGINT) == 0, again.log.read_text()[-3000:]
    assert wait_for(again.is_gone)
    assert not again.file.exists()


def test_nothing_is_left_when_up_itself_is_killed(ended: Server, begin):
    again = begin(ended.folder).wait_until_ready()
    again.end(signal.SIGKILL)
    assert wait_for(again.is_gone)


def test_sigterm_while_it_still_starts_leaves_nothing(ended: Server, begin):
    again = begin(ended.folder)
    assert wait_for(lambda: is_alive(again.home))
    assert again.end() == 0
    assert wait_for(again.is_gone)


def test_data_that_stands_between_two_old_versions_is_refused_and_stays(ended: Server):
    run = partial(ended.run, "dbshell", "--", "--tuples-only", "--no-align", "--command")
    forgotten = "'0001_all_tables_of_0_1_0', '0003_days_and_summaries', '0004_summaries_by_models'"
    run(f"delete from django_migrations where name in ({forgotten})")
    before = run("select app, name from django_migrations order by id")

    text = refused("--port", "0", "--data", str(ended.folder / "data"))

    assert text.splitlines() == [text.strip()]
    assert text.startswith("CommandError: This data was written by a version before the first release")
    assert "start commit 68bea688 over it once" in text
    assert run("select app, name from django_migrations order by id") == before
