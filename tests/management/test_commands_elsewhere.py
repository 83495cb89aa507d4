"""Every command does the same on a server of somebody's own, whose owner is no superuser, as on the
embedded one, whose owner passes all walls."""

import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command, get_commands
from django.db import connection
from pytest_django.plugin import DjangoDbBlocker

from memories.management.commands.up import Command as UpCommand
from memoryproject.postgres.base import one_line_refusals
from memoryproject.postgres.embedded_postgres import Home
from tests.own_databases import own_database
from tests.servers_of_ones_own import administer, external, home
from workspaces.models import User

__all__ = ["external", "home"]

TALK = Path(__file__).parents[1] / "data" / "locomo_small.json"
# They run until they are ended, are walked by tests of their own, or make tables.
NOT_TRIED = {
    "up",
    "web",
    "work",
    "models",
    "migrate",
    "restore",  # test_backups.py
    "prove_isolation",  # test_plain_owner.py tries its tables
}
ACME = ("--workspace", "acme")
SAID = ("I live in Lisbon.", "I prefer green tea over coffee.")
REPORT = "# Harvest\n\nThe plums were picked in the first week of September.\n"


def steps(folder: Path) -> list[tuple[str, ...]]:
    """What is run, in this order; the words of a step are its name."""
    chat, notes, out = folder / "chat.json", folder / "harvest.md", str(folder / "acme.jsonl")
    return [
        ("createworkspace", "acme", "--name", "Acme"),
        ("createkey", *ACME, "--name", "first", "--json"),
        ("createkey", "--server", "--json"),
        ("keys", "list", *ACME),
        ("members", "invite", "bob@example.org", *ACME),
        ("members", "list", *ACME),
        ("ingestfile", str(chat), *ACME, "--user", "ada"),
        ("ingestfile", str(notes), *ACME, "--documents", "--space", "reports"),
        ("importmemories", str(chat), *ACME, "--user", "cleo", "--batch", "chats"),
        ("sweep",),
        ("search", "where does ada live?", *ACME, "--user", "ada"),
        ("search", "plums", *ACME, "--layers", "memories,episodes"),
        ("checkindex", "--json"),
        ("reindex", *ACME),
        ("reembed", "--all"),
        ("checkindex", "--json"),
        ("demo", "--json"),
        ("stats", *ACME),
        ("golden", *ACME),
        ("calibrate", "--dry-run"),
        ("teach", *ACME, "--examples"),
        ("evaluate", "retrieval", "--dataset", str(TALK), "--limit", "1"),
        ("exportworkspace", out, *ACME),
        ("checkaudit", *ACME),
        ("checkvisibility", *ACME),
        ("prune", *ACME),
        ("erase", "subject", "ada", *ACME, "--yes"),
        ("checkindex", *ACME),
        ("removeworkspace", "acme", "--yes"),
        ("importworkspace", out, "--slug", "acme-2"),
        ("search", "tea", "--workspace", "acme-2", "--user", "ada"),
        ("resetsecondfactor", "ada"),
        ("checkindex", "--json"),
        ("backup", str(folder / "backups")),
    ]


def told(words: tuple[str, ...]) -> str:
    """What a command says of what it did, without ids, times and sizes, which differ."""
    out, err = StringIO(), StringIO()
    try:
        call_command(*words, stdout=out, stderr=err)
    except (CommandError, SystemExit) as error:
        err.write(f"REFUSED {error}")
    text = f"{out.getvalue()}{err.getvalue()}"
    if words[0] == "stats":
        text = text.splitlines()[0]  # the others are estimates of tables
    for pattern in (
        r"\r[^\n]*",
        r"[\d,.]+ (?:s|ms|kB|MB|bytes)\b",
        r"[\d,]+ (?:pieces of work|rows in)\b",  # work that took a moment leaves no line
        r"mps?_[\w-]+",
        r"\b[\w-]{43}\b",
        r"[0-9a-f]{8}-[0-9a-f-]{27}",
        r"\b[0-9a-f]{12,}\b",
        r"\d{4}-\d\d-\d\d\S*",
        r"\d+\.\d+",
        r"memory-\w+",
        r"invitation/\S+",
        r"/\S+/",
        r":\d+:\w+",
    ):
        text = re.sub(pattern, "*", text)
    return text


def everything(folder: Path) -> dict[str, str]:
    folder.mkdir()
    said = [{"role": "user", "content": line} for line in SAID]
    (folder / "chat.json").write_text(json.dumps(said))
    (folder / "harvest.md").write_text(REPORT)
    User.objects.create_user("ada", "ada@example.org", "a long enough password")
    done = {}
    for number, words in enumerate(steps(folder)):
        done[f"{number} {' '.join(words[:2])}"] = told(words)
    return {name.replace(str(folder), ""): text for name, text in done.items()}


@pytest.fixture
def at_home(tmp_path: Path, settings: Any, django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> dict[str, str]:
    """What all commands say over the embedded server."""
    settings.BLOB_DIR = tmp_path / "blobs"
    with django_db_blocker.unblock(), own_database("commands") as name:
        own = connection.settings_dict["NAME"]
        connection.close()
        connection.settings_dict["NAME"] = name
        try:
            return everything(tmp_path / "embedded")
        finally:
            connection.close()
            connection.settings_dict["NAME"] = own


def test_every_command_does_the_same_where_the_walls_hold_the_owner_too(
    at_home: dict[str, str],
    home: Home,
    external: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connected = prepared(home, external)
    monkeypatch.setenv("PGHOST", str(home.socket))  # of a backup, too
    with connected("owner"):
        elsewhere = everything(tmp_path / "elsewhere")
    assert elsewhere == at_home
    assert not [text for text in at_home.values() if "REFUSED" in text]
    assert "I live in Lisbon." in elsewhere["10 search where does ada live?"]
    assert '"agrees": true' in elsewhere["12 checkindex --json"]


def run(text: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(text)


def prepared(home: Home, external: Any) -> Any:
    """Connects to a database whose owner is no superuser, with all tables and walls."""
    administer(
        home,
        "postgres",
        "create role plain login createrole",
        "create database memory owner plain",
    )
    administer(home, "memory", "create extension vector")
    connected = external("plain", "")
    with connected("owner"):
        assert UpCommand(stdout=StringIO(), stderr=StringIO()).prepare() == "app"
    return connected


def test_no_command_is_left_out() -> None:
    own = {app.name for app in apps.get_app_configs()} & {"memories", "workspaces"}
    named = {name for name, app in get_commands().items() if app in own}
    assert named == NOT_TRIED | {words[0] for words in steps(Path())}


def test_a_wall_that_keeps_rows_from_a_login_is_named_as_the_cause(home: Home, external: Any) -> None:
    connected = prepared(home, external)
    with connected("owner"), pytest.raises(CommandError) as refusal, one_line_refusals():
        run(
            "insert into memories_entry (workspace, layer, item, visibility, scope, occurred_at,"
            " role, author, position, marks, live, length, terms, trigrams)"
            " values (1, 1, gen_random_uuid(), 0, 0, now(), '', '', 0, 0, true, 1, '{}', '{}')"
        )
    assert "A wall between workspaces keeps the login 'plain' from rows" in str(refusal.value)
    assert "No right is missing" in str(refusal.value)
    assert "CREATE EXTENSION" not in str(refusal.value)
