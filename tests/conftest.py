"""Three people: Alice's backend sees all of the workspace, Bob's agent is in her default team,
Mallory has a workspace of her own and must see nothing."""

from datetime import datetime

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django.plugin import DjangoDbBlocker

from memories import breakers
from tests import template_database
from tests.people import Person, backend_of, bound_to_agent
from workspaces.models import Workspace


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, django_db_blocker: DjangoDbBlocker
) -> None:
    """pytest-django's own: here test databases are copies of one that is migrated already."""
    with django_db_blocker.unblock():
        connection.settings_dict["TEST"]["TEMPLATE"] = template_database.ready()


@pytest.fixture(autouse=True)
def closed_breakers() -> None:
    """What a test before saw of a server has nothing to do with this one's."""
    breakers.forget()


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


@pytest.fixture
def still_clock(monkeypatch: pytest.MonkeyPatch) -> datetime:
    """The time of rows stands still: on a busy machine a pause of a second is soon over."""
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)
    return now


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--write-statements",
        action="store_true",
        help="write tests/statements anew (see tests/test_statements.py)",
    )
