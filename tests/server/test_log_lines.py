"""What the operator reads on stderr."""

import io
import json
import logging
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

import pytest
from django.core.management import call_command, get_commands, load_command_class
from django.db import OperationalError, connection
from django.http import HttpResponse
from django.test import Client
from django.utils.log import log_response
from pytest_django.fixtures import Settings

from memories.index import rebuild, workspace_index
from memories.management.command_options import PrintableOutput
from memories.models import EvaluationRun
from memoryproject.log_lines import JSONLines
from memoryproject.postgres import visible
from tests.api_fixtures import caller
from tests.desk import list_of, member
from tests.people import Person, with_key
from workspaces.keys import KeyOptions
from workspaces.models import Role, Workspace


@contextmanager
def written(formatter: logging.Formatter | None = None) -> Iterator[io.StringIO]:
    """What the handler of the settings writes meanwhile, by its own formatter or another."""
    [handler] = [each for each in logging.getLogger().handlers if type(each) is logging.StreamHandler]
    lines = io.StringIO()
    before, own = handler.setStream(lines), handler.formatter
    handler.setFormatter(formatter or own)
    try:
        yield lines
    finally:
        handler.setStream(before)
        handler.setFormatter(own)


def test_a_page_that_is_not_for_the_role_is_one_line(workspace: Workspace) -> None:
    bob = member(workspace, Role.EDITOR)
    with written() as log:
        assert bob.status(list_of(EvaluationRun)) == 403

    [line] = log.getvalue().splitlines()
    assert f"403 GET /admin/memories/evaluationrun/ from 127.0.0.1, user {bob.user.pk}" in line


def test_a_failure_still_tells_where_in_the_code() -> None:
    with written() as log:
        log_response("Failed", response=HttpResponse(status=500), exception=ZeroDivisionError())

    assert "ZeroDivisionError" in log.getvalue()


# ---- what an operator asks about ------------------------------------------------------------


def test_a_slow_search_is_a_line_without_its_words(alice: Person, settings: Settings) -> None:
    alice.note("Zora keeps bees.")
    settings.SLOW_SEARCH_SECONDS = 1e-9
    with written() as log:
        alice.ask("zora bees")

    [line] = log.getvalue().splitlines()
    assert f"Slow search in workspace {alice.workspace.pk}" in line
    assert "hybrid" in line
    assert "bees" not in line


def test_a_line_about_one_workspace_names_it_and_one_about_several_none(alice: Person) -> None:
    here, other = alice.workspace.pk, uuid.uuid4()
    with written() as log, visible.only(here):
        logging.getLogger("memories").warning("A model failed.")
    assert f"[-] [{here}]: A model failed." in log.getvalue()
    for seen in ((), (here, other)):
        with written(JSONLines()) as log, visible.only(*seen):
            logging.getLogger("memories").warning("A model failed.")
        assert json.loads(log.getvalue())["workspaceId"] is None


def test_a_search_within_its_time_is_not_told(alice: Person, settings: Settings) -> None:
    settings.SLOW_SEARCH_SECONDS = 0
    with written() as log:
        alice.ask("zora bees")

    assert log.getvalue() == ""


def test_an_index_that_was_made_anew_is_a_line(alice: Person) -> None:
    alice.note("Zora keeps bees.")
    with written() as log:
        rebuild.rebuild(workspace_index.index_of(alice.workspace.pk), lambda _: None)

    [line] = log.getvalue().splitlines()
    assert f"Index of workspace {alice.workspace.pk} made anew" in line


# ---- who was refused ------------------------------------------------------------------------


def refused(path: str, **headers: str) -> str:
    """The one line that a refused request leaves, with the id that the answer has."""
    with written() as log:
        answer = Client(raise_request_exception=False).get(path, headers=headers)
    assert answer.status_code in (401, 403, 429, 503)
    [line] = log.getvalue().splitlines()
    assert f"[{answer['X-Request-Id']}]" in line
    return line


def test_who_shows_no_key_leaves_the_address(db: None) -> None:
    line = refused("/api/v1/workspaces?token=swordfish")
    assert "401 GET /api/v1/workspaces from 127.0.0.1, nobody" in line
    assert "swordfish" not in line


def test_of_a_key_the_prefix_is_told_and_never_the_secret(alice: Person) -> None:
    label, prefix, secret = alice.key.split("_", 2)
    line = refused("/api/v1/workspaces", authorization=f"Bearer {label}_{prefix}_x{secret}")
    assert line.endswith(f"from 127.0.0.1, key mp_{prefix}")
    assert secret not in line
    assert refused("/api/v1/workspaces", authorization="Bearer hunter2").endswith("key that is none")


def test_who_may_not_leaves_a_line(alice: Person) -> None:
    narrow = with_key(alice.workspace, KeyOptions("reader", ("read",)))
    line = refused("/api/v1/workspaces/orchard/keys", authorization=f"Bearer {narrow.key}")
    assert f"403 GET /api/v1/workspaces/orchard/keys from 127.0.0.1, key mp_{narrow.key[3:15]}" in line


def test_a_forwarded_address_counts_behind_our_own_proxy_only(db: None, settings: Settings) -> None:
    forwarded = {"x-forwarded-for": "6.6.6.6, 203.0.113.9"}
    assert "from 127.0.0.1," in refused("/api/v1/workspaces", **forwarded)
    settings.BEHIND_TLS_PROXY = True
    assert "from 203.0.113.9," in refused("/api/v1/workspaces", **forwarded)
    assert "from 127.0.0.1," in refused("/api/v1/workspaces", **{"x-forwarded-for": "nonsense"})


def test_a_path_cannot_forge_a_line(db: None) -> None:
    line = refused("/api/v1/workspaces/a%0A2026-01-01 INFO all is well/memories")
    assert "/a%0A2026-01-01%20INFO" in line


def test_every_line_that_a_request_writes_has_its_id(alice: Person) -> None:
    log = logging.getLogger("memories.search")

    def ask(*_: object) -> None:
        log.warning("in the middle")
        raise OperationalError("away")

    with written() as lines, connection.execute_wrapper(ask):
        answer = caller(alice).call("GET", "/memories", headers={"X-Request-Id": "mine-1"})
    assert answer.status == 503
    assert all("[mine-1]" in line for line in lines.getvalue().splitlines())
    assert "in the middle" in lines.getvalue()


def test_a_line_is_no_longer_for_a_long_path() -> None:
    for formatter in (None, JSONLines()):
        with written(formatter) as log:
            assert Client().get("/" + "a" * 60_000).status_code == 404
        assert "Not Found: /aaa" in log.getvalue()
        assert len(log.getvalue()) < 2500


# ---- lines for programs ---------------------------------------------------------------------


def test_a_line_of_json_says_what_a_line_of_text_does() -> None:
    with written(JSONLines()) as log:
        Client().get("/api/v1/workspaces", headers={"X-Request-Id": "mine-1"})

    line = json.loads(log.getvalue())
    assert (line["level"], line["requestId"]) == ("WARNING", "mine-1")
    assert line["message"].startswith("401 GET /api/v1/workspaces from 127.0.0.1")
    assert datetime.fromisoformat(line["time"]).utcoffset() == timedelta(0)


def test_a_failure_is_one_line_of_json() -> None:
    with written(JSONLines()) as log:
        log_response("Failed\nat once", response=HttpResponse(status=500), exception=OSError("é"))

    [line] = map(json.loads, log.getvalue().splitlines())
    assert line["message"] == "Failed\nat once"
    assert line["trace"].endswith("OSError: é")


# ---- signs that no line shows as they are ---------------------------------------------------

FORGED = "a\n2026-01-01 00:00:00 WARNING all: well\r\x1b[31m\x9b2J\u202e\u2028\x00b\x85c"


def printed(line: str) -> bool:
    return line.isprintable() and "2026-01-01 00:00:00 WARNING" not in line[:30]


def test_what_a_line_quotes_cannot_be_a_line_or_move_a_cursor() -> None:
    log = logging.getLogger("memories.search")
    own = JSONLines()
    for formatter in (None, own):
        with written(formatter) as lines:
            log.warning("%s was asked for", FORGED)
        [line] = lines.getvalue().split("\n")[:-1]
        assert printed(line)
        assert "\\n2026-01-01 00:00:00 WARNING all: well\\r\\u001b[31m" in line
    assert json.loads(line)["message"] == f"{FORGED} was asked for"


def test_lines_of_what_was_raised_begin_with_blanks() -> None:
    with written() as log:
        log_response("Failed", response=HttpResponse(status=500), exception=OSError(FORGED))

    first, *others = log.getvalue().split("\n")[:-1]
    assert "Failed" in first
    assert "OSError: a" in log.getvalue()
    assert all(map(printed, (first, *others)))
    assert all(line.startswith("    ") for line in others)


def test_no_command_prints_stored_words_as_signs_of_control(alice: Person) -> None:
    alice.note(f"Zora keeps bees{FORGED.replace(chr(0), '')}")
    member(alice.workspace, Role.EDITOR, first_name="Bob\x1b[31m\nowner  mallory@example.com")
    for words in (
        ("search", "Zora bees", "--workspace", alice.workspace.slug),
        ("search", "Zora bees", "--json", "--workspace", alice.workspace.slug),
        ("members", "list", "--workspace", alice.workspace.slug),
        ("members", "list", "--json", "--workspace", alice.workspace.slug),
    ):
        out = io.StringIO()
        call_command(*words, stdout=out)
        assert all(map(printed, out.getvalue().split("\n"))), words
        assert not any(line.startswith("owner  mallory") for line in out.getvalue().split("\n"))


COMMANDS = [name for name, app in get_commands().items() if app == "memories"]


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "migrate"])  # Django's own
def test_every_command_prints_by_way_of_the_same_output(name: str) -> None:
    command = load_command_class(get_commands()[name], name)
    assert isinstance(command.stdout, PrintableOutput)
    assert isinstance(command.stderr, PrintableOutput)
