"""Three people: Alice's backend sees all of the workspace, Bob's agent is in her default team,
Mallory has a workspace of her own and must see nothing."""

import asyncio
import gc
import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone
from pytest_django.plugin import DjangoDbBlocker

from memories.meters import breakers
from memoryproject.postgres import visible
from tests import empty_tables, template_database
from tests.api_operations import Furnished, furnish
from tests.live_server import Server, measured
from tests.ordinary_role import ordinary_role
from tests.people import Person, backend_of, bound_to_agent
from workspaces.models import Workspace


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, django_db_blocker: DjangoDbBlocker
) -> None:
    """pytest-django's own: here test databases are copies of one that is migrated already."""
    with django_db_blocker.unblock():
        connection.settings_dict["TEST"]["TEMPLATE"] = template_database.ready()
    empty_tables.begin()


@pytest.fixture(autouse=True, scope="module")
def no_foreign_loop(request: pytest.FixtureRequest) -> Iterator[None]:
    """The browser of other tests leaves its event loop running in this thread: a test without it
    does not see it. Of the module, so before any test's transaction begins: what runs in a loop has
    a database connection of its own."""
    loop = None if request.path.parent.name == "browser" else asyncio._get_running_loop()
    if loop is not None:
        asyncio._set_running_loop(None)
    yield
    if loop is not None:
        asyncio._set_running_loop(loop)


@pytest.fixture(scope="module")
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of the module's own, begun over a migrated folder."""
    server = Server(tmp_path_factory.mktemp(request.path.stem), env=measured())
    try:
        yield server.wait_until_ready()
    finally:
        server.end()


@pytest.fixture(autouse=True)
def one_day() -> None:
    """What a test writes and what it then reads of today is of one day: none begins in the last
    minute of it. What happens at midnight is tested with times that are given."""
    now = timezone.now()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    left = (midnight - now).total_seconds()
    if left < 60:
        time.sleep(left + 1)


@pytest.fixture(autouse=True)
def closed_breakers() -> None:
    """What a test before saw of a server has nothing to do with this one's."""
    breakers.forget()


@pytest.fixture(autouse=True)
def nothing_asked_for() -> Iterator[None]:
    """What a test before made visible is not for the next one."""
    with visible.only():
        yield


@pytest.fixture(autouse=True)
def served_by_the_ordinary_role(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests furnish as the owner; what answers a request is the role that serves, as on a
    server."""
    names = {"db", "transactional_db", "live_server"}
    marked = request.node.get_closest_marker("django_db")
    if marked or names & {*request.fixturenames}:  # else a test without a database
        serve_by_the_ordinary_role(monkeypatch)


def serve_by_the_ordinary_role(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Client.request

    def as_ordinary_role(client: Client, **environ: Any) -> Any:
        with ordinary_role():
            return original(client, **environ)

    monkeypatch.setattr(Client, "request", as_ordinary_role)


@pytest.fixture
def workspace(db: None) -> Workspace:
    return Workspace.objects.create(slug="orchard", name="Orchard")


@pytest.fixture
def alice(workspace: Workspace) -> Person:
    return backend_of(workspace)


@pytest.fixture
def bob(workspace: Workspace) -> Person:
    return bound_to_agent(workspace, "bob")


@pytest.fixture
def carol(workspace: Workspace) -> Person:
    """An agent of another team."""
    return bound_to_agent(workspace, "carol", team="others")


@pytest.fixture
def mallory(db: None) -> Person:
    return backend_of(Workspace.objects.create(slug="swamp", name="Swamp"))


@pytest.fixture(scope="module")
def furnished(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Furnished]:
    """A workspace with a row for each operation, made once for all tests of a file: each begins
    with it as it was, for its own transaction is within this one."""
    whole = transaction.atomic()
    whole._from_testcase = True  # type: ignore[attr-defined]  # no durable block's caller
    with django_db_blocker.unblock(), whole:
        with pytest.MonkeyPatch.context() as monkeypatch, visible.only():
            serve_by_the_ordinary_role(monkeypatch)
            alice = backend_of(Workspace.objects.create(slug="orchard", name="Orchard"))
            made = Furnished(alice, furnish(alice))
        yield made
        transaction.set_rollback(True)


@pytest.fixture
def rows(furnished: Furnished) -> dict[str, str]:
    """The ids of what the furnished workspace holds, by what each is called in a route."""
    return dict(furnished.ids)


@pytest.fixture
def still_clock(monkeypatch: pytest.MonkeyPatch) -> datetime:
    """The time of rows stands still: on a busy machine a pause of a second is soon over."""
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)
    return now


# The trials: servers, clients of others by their own packages, a small real model, faults, upgrades, every
# page in both themes. Long, and asked for by --trials or by the name of the file.
TRIALS = (
    "test_trials.py",
    "test_pages.py",
    "test_clients.py",
    "test_up.py",
    "test_survival.py",
    "test_front.py",
    "test_guides.py",
    "test_upgrades.py",
    "test_benchmark.py",
    "test_benchmark_folding.py",
    "test_benchmark_pages.py",
    "test_benchmark_walls.py",
    "test_pooler.py",
    "test_replica.py",
    "test_replica_reads.py",
    "test_front_crowd.py",
    "test_frozen_database.py",
    "test_health_live.py",
    "test_small_model.py",
    "test_outages.py",
)
# Processes that share the tests take these first: none is left alone with one at the end.
LONGEST = (
    *TRIALS,
    "test_prove_isolation.py",
    "test_package.py",
    "test_api_bad_input.py",
    "test_statements.py",
    "test_workspace_removal.py",
    "test_review.py",
    "test_desk.py",
    "test_plans_walked.py",
    "test_backups.py",
)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The trials only where they are asked for, or named. In processes of pytest-xdist the longest files
    come first (with --no-loadscope-reorder), then those with most tests; within a file as they stand."""
    named = {Path(argument.partition("::")[0]).name for argument in config.args}
    with_trials = config.getoption("trials")
    wanted = [item for item in items if with_trials or item.path.name not in TRIALS or item.path.name in named]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(wanted)])
    items[:] = wanted
    if not hasattr(config, "workerinput"):
        return
    counts = Counter(item.path for item in items)

    def place(item: pytest.Item) -> tuple[int, int, str]:
        name = item.path.name
        rank = LONGEST.index(name) if name in LONGEST else len(LONGEST)
        return rank, -counts[item.path], str(item.path)

    items.sort(key=place)


def pytest_collection_finish() -> None:
    """What was imported and collected stays: no collection has to walk it again."""
    gc.collect()
    gc.freeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--trials", action="store_true", help="run the long trials, too")
    parser.addoption(
        "--write-statements",
        action="store_true",
        help="write tests/statements anew (see tests/postgres/test_statements.py)",
    )
