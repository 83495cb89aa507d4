"""Data of earlier releases: the same beliefs and answers after an upgrade, and it goes on learning
at once. In data/upgrades is what was before the first release, in releases what came since."""

import base64
import hashlib
import hmac
import json
import lzma
import re
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.contenttypes.models import ContentType
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from pytest_django.plugin import DjangoDbBlocker

from memories.index import check, repair, workspace_index
from memories.index.row_marks import RULES_VERSION
from memories.ingest import NewMessage
from memories.models import IndexRepair, Memory, MemorySession, WorkspaceIndex
from memoryproject.postgres.backups import counts_of
from memoryproject.postgres.embedded_postgres import OWNER_ROLE, program
from memoryproject.server import machine_health
from tests import keep_release
from tests.api_fixtures import caller
from tests.own_databases import own_database, socket_folder
from tests.people import Person, backend_of
from workspaces.login.second_factor import secret_of
from workspaces.models import SecondFactor, Workspace

FOLDER = Path(__file__).parents[1] / "data" / "upgrades"
RELEASES = sorted(path.name.removesuffix(".json") for path in FOLDER.glob("*.json"))
NEWEST = {("memories", "0001_all_tables_of_0_1_0"), ("workspaces", "0001_release_0_1_0")}
KEPT = sorted(path.parent.name for path in keep_release.RELEASES.glob("*/answers.json"))


@pytest.fixture(params=RELEASES)
def release(request: Any, django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[str]:
    """A database of its own with the data of a release, as `up` has migrated it."""
    with django_db_blocker.unblock(), restored(FOLDER / f"{request.param}.sql.xz"):
        yield request.param


@pytest.fixture(params=KEPT)
def kept(request: Any, django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Path]:
    """The folder of a release, whose data is migrated in a database of its own."""
    folder = keep_release.RELEASES / request.param
    with django_db_blocker.unblock(), restored(folder / "data.sql.xz"):
        yield folder


@contextmanager
def restored(dump: Path) -> Iterator[None]:
    own, other = str(connection.settings_dict["NAME"]), f"upgrade_{uuid.uuid4().hex[:12]}"
    _execute(f"create database {other}")
    try:
        _speak_to(other)
        _execute(lzma.decompress(dump.read_bytes()).decode())
        _speak_to(other)  # the dump has emptied the search path
        call_command("migrate", verbosity=0)
        yield
    finally:
        _speak_to(own)
        _execute(f"drop database {other} with (force)")


def _speak_to(database: str) -> None:
    connection.close()
    connection.settings_dict["NAME"] = database
    ContentType.objects.clear_cache()


def _execute(text: str) -> None:
    with connection.cursor() as cursor:
        cursor.connection.execute(text, prepare=False)


@pytest.fixture
def backend(release: str) -> Person:
    return backend_of(Workspace.objects.get())


def beliefs() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    live = Memory.objects.live().values_list("subject__external_id", "content")
    for subject, content in live:
        found.setdefault(subject or "", []).append(content)
    return {subject: sorted(found[subject]) for subject in sorted(found)}


def homes_of(person: Person, user: str) -> list[str]:
    live = Memory.objects.live().filter(subject__external_id=user)
    return [content for content in live.values_list("content", flat=True) if " lives in " in content]


def tell(person: Person, user: str, words: str) -> MemorySession:
    return person.say(NewMessage(words, name=user), user_id=user)


def repair_all() -> None:
    assert repair.begin() in (0, 1)
    repair.run_all(time.monotonic() + 600, lambda line: None)


def tables(database: str) -> str:
    """How they are made, without what tells two databases with the same tables apart."""
    words = [str(program("pg_dump")), "--schema-only", "--exclude-table", "django_q_*"]
    words += ["--host", str(socket_folder()), "--username", OWNER_ROLE, database]
    text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    # A comment of a policy has a digest of ids of tables; a list of words in a condition gets other
    # casts when a dump is read.
    text = re.sub(r"(?m)^(\\|COMMENT ON POLICY).*\n", "", text)
    return re.sub(r"::(character varying|text)(\[\])?|[()]", "", text)


@pytest.fixture(scope="module")
def made_anew(django_db_setup: None) -> str:
    """The tables of a new database. Of a copy: what somebody looks into, nobody else can copy."""
    with own_database("made_anew") as name:
        return tables(name)


def test_what_was_migrated_step_by_step_has_the_tables_of_what_is_made_anew(release: str, made_anew: str) -> None:
    applied = MigrationRecorder(connection).applied_migrations()
    assert set(applied) >= NEWEST
    assert machine_health.migrations().state == "ok"
    assert tables(str(connection.settings_dict["NAME"])) == made_anew


@pytest.mark.parametrize("release", RELEASES[:1], indirect=True)
def test_what_has_all_steps_that_the_migration_of_today_replaces_is_taken_as_it_is(
    release: str,
) -> None:
    MigrationRecorder(connection).record_unapplied("memories", "0001_all_tables_of_0_1_0")
    assert machine_health.migrations().state == "failed"
    own = str(connection.settings_dict["NAME"])
    before = tables(own)
    call_command("migrate", verbosity=0)
    assert machine_health.migrations().state == "ok"
    assert tables(own) == before


@pytest.mark.parametrize("release", RELEASES[:1], indirect=True)
def test_what_stands_between_two_old_versions_is_refused(release: str) -> None:
    """First with some of the steps that the migration of today replaces, then with none of them,
    then with half of those before them, then of those before these."""
    steps = MigrationRecorder(connection).migration_qs.filter(app="memories")
    last = "commit 68bea688 over it once, then this version"
    taken_back = {
        f"start {last}": [
            "0001_all_tables_of_0_1_0",
            "0003_days_and_summaries",
            "0004_summaries_by_models",
        ],
        f"last of them: start {last}": ["0002_filters_and_wishes", "0001_release_0_1_0"],
        f"start commit c18273f1 over it once, then {last}": ["0030_served_memories"],
        f"start commit 69f907e over it once, then commit c18273f1 over it once, then {last}": [
            "0001_first_release",
            "0032_names_of_periods",
        ],
    }
    for line, names in taken_back.items():
        steps.filter(name__in=names).delete()
        before = set(steps.values_list("name", flat=True))
        with pytest.raises(CommandError, match=line):
            call_command("migrate", verbosity=0)
        assert set(steps.values_list("name", flat=True)) == before


def test_what_was_believed_is_believed_and_truth_and_index_agree(release: str, backend: Person) -> None:
    recorded = json.loads((FOLDER / f"{release}.json").read_text())
    assert beliefs() == recorded
    repair_all()
    assert beliefs() == recorded
    space = workspace_index.index_of(backend.workspace.pk)
    assert check.check_index(space, lambda done: None).broken == {}
    assert (space.rules, repair.count_stale(space)) == (RULES_VERSION, 0)


def test_new_words_replace_old_beliefs_before_the_repair(backend: Person) -> None:
    told = tell(backend, "mira", "I moved to Cork, I live in Cork now.")
    assert len(told.updated_ids) > 0
    assert [home for home in homes_of(backend, "mira") if "Porto" in home] == []
    assert tell(backend, "rada", "I moved to Sofia, I live in Sofia now.").updated_ids != []
    assert repair.count_stale(workspace_index.index_of(backend.workspace.pk)) > 0


def test_what_is_written_by_hand_replaces_old_beliefs_before_the_repair(backend: Person) -> None:
    made = backend.note("Mira lives in Cork now", user_id="mira", category="identity")
    assert [old.content for old in made.supersedes.all()] == ["Mira lives in Porto"]


def test_new_words_replace_old_beliefs_after_the_repair(backend: Person) -> None:
    repair_all()
    assert len(tell(backend, "mira", "I moved to Cork, I live in Cork now.").updated_ids) > 0
    assert [home for home in homes_of(backend, "mira") if "Porto" in home] == []
    told = tell(backend, "mira", "I moved to Lima, I live in Lima now.")
    assert len(told.updated_ids) > 0
    assert [home for home in homes_of(backend, "mira") if "Cork" in home] == []


def test_search_finds_old_words_before_and_after_the_repair(backend: Person) -> None:
    for _ in range(2):
        for ranking in ("hybrid", "keyword", "linea"):
            found = backend.finds("banjo", user_id="jonas", ranking=ranking)
            assert "Jonas is learning to play the banjo" in found
        repair_all()


def test_a_repair_that_stops_goes_on_where_it_was(backend: Person) -> None:
    repair.begin()
    repair.run(backend.workspace.pk, seconds=0.0)
    row = IndexRepair.objects.get()
    assert (row.state, row.rest) == ("running", (row.rows or 0) - row.done)
    assert 0 < row.done < (row.rows or 0)
    while IndexRepair.objects.get().finished_at is None:
        assert repair.run(backend.workspace.pk, seconds=0.0)
    row = IndexRepair.objects.get()
    assert (row.state, row.rest, row.done) == ("done", 0, row.rows)
    assert WorkspaceIndex.objects.get().rules == RULES_VERSION


def test_a_release_has_all_rows_and_answers_after_the_upgrade_as_it_did_before(kept: Path) -> None:
    assert machine_health.migrations().state == "ok"
    recorded = json.loads((kept / "answers.json").read_text())
    with connection.cursor() as cursor:
        counts = counts_of(cursor)
    ours = [table for table in recorded["rows"] if table.startswith(("memories_", "workspaces_"))]
    counts["memories_longjob"] -= 1  # the job that looks for what old messages say of what is believed
    assert {table: counts[table] for table in ours} == {t: recorded["rows"][t] for t in ours}
    person = backend_of(Workspace.objects.get())

    def call(method: str, path: str, body: Any = None) -> Any:
        answer = caller(person).call(method, path, body)
        assert answer.status == 200, answer.body
        return answer.body

    now = keep_release.answers(call)
    assert [now[name] for name in ("beliefs", "chains", "profiles")] == [
        recorded[name] for name in ("beliefs", "chains", "profiles")
    ]
    assert now["searches"].keys() == recorded["searches"].keys()
    for query, hits in recorded["searches"].items():
        assert now["searches"][query]["linea"] == hits["linea"]
        # A better ranking may put others before it; what came first stays among the first.
        assert hits["hybrid"][0] in now["searches"][query]["hybrid"][:3]


def test_a_release_goes_on_learning_and_its_index_agrees(kept: Path) -> None:
    person = backend_of(Workspace.objects.get())
    learned = tell(person, "mira", "I moved to Cork, I live in Cork now.")
    assert len(learned.updated_ids) > 0
    assert [home for home in homes_of(person, "mira") if "Porto" in home] == []
    repair_all()
    space = workspace_index.index_of(person.workspace.pk)
    assert check.check_index(space, lambda done: None).broken == {}
    assert (space.rules, repair.count_stale(space)) == (RULES_VERSION, 0)


def test_an_app_that_knows_a_code_of_release_0_1_0_goes_on(kept: Path) -> None:
    factor = SecondFactor.objects.get()
    known = hmac.digest(
        hashlib.sha256(f"workspaces.door.second_factor{settings.SECRET_KEY}".encode()).digest(),
        factor.nonce.encode(),
        "sha256",
    )
    assert secret_of(factor) == base64.b32encode(known[:20]).decode()
