"""How much was kept and not read is said where somebody looks for it, with the next step."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from memories.meters.skip_counts import count_unread
from memories.models import MemorySession
from tests.api_fixtures import Caller, caller
from tests.desk import member, page_of
from tests.factories import SessionFactory, SubjectFactory
from tests.people import Person
from workspaces.models import Role, Subject, Workspace

HOME, MISSES = reverse("admin:index"), reverse("admin:memories_miss_changelist")
UNREAD = "The quay was a grey smear and the gulls had opinions about everything."
NO_MODEL = "No model is configured: 4 messages gave 1 memory; 2 were kept and not read."


@pytest.fixture
def http(alice: Person) -> Caller:
    return caller(alice)


@pytest.fixture
def told(http: Caller) -> Caller:
    """One message of four is read, one is a greeting, two fit no pattern."""
    said = ["I live in Lille.", "Good morning!", UNREAD, UNREAD.replace("quay", "pier")]
    rows = [{"role": "user", "content": each} for each in said]
    assert http.post("/memories/ingest", {"messages": rows, "userId": "u1"}).status == 201
    return http


def words(page: str) -> str:
    return " ".join(page.replace("\n", " ").split())


def test_it_is_said_on_home_on_the_person_and_among_what_was_missed(alice: Person, told: Caller) -> None:
    ada = member(alice.workspace)
    person = page_of(Subject.objects.get(external_id="u1"))
    for page in (HOME, MISSES, person):
        html = words(ada.sees(page))
        assert NO_MODEL in html, page
        assert "every text was understood" not in html.lower()
        assert "EXTRACTION_PROVIDER" in html
        assert reverse("admin:memories_search") in html


def test_of_somebody_else_it_says_nothing(alice: Person, told: Caller) -> None:
    other = SubjectFactory(workspace=alice.workspace)
    assert "No model is configured" not in member(alice.workspace).sees(page_of(other))


def test_a_viewer_reads_it_and_is_led_to_no_settings(alice: Person, told: Caller) -> None:
    alan = member(alice.workspace, Role.VIEWER)
    html = words(alan.sees(HOME))
    assert NO_MODEL in html
    assert "the settings of the workspace" not in html
    assert "the settings of the workspace" in member(alice.workspace).sees(HOME)


def test_mallory_hears_nothing_of_it(told: Caller) -> None:
    mallory = member(Workspace.objects.create(slug="swamp", name="Swamp"))
    for page in (HOME, MISSES):
        assert "kept and not read" not in mallory.sees(page)


def test_where_a_model_reads_what_waits_and_failed_is_said(workspace: Workspace, settings: Any) -> None:
    settings.EXTRACTION_PROVIDER, settings.ANTHROPIC_API_KEY = "anthropic", "sk-none"
    ada = member(workspace)
    assert "Every text was understood" in ada.sees(MISSES)
    ids = [workspace.pk] * 3  # as many messages; which they are is not asked
    SessionFactory(workspace=workspace, state="received", episode_ids=ids)
    SessionFactory(workspace=workspace, state="dead", episode_ids=ids[:1])
    for page in (HOME, MISSES):
        html = words(ada.sees(page))
        assert "3 messages wait to be read. 1 message could not be read." in html
        assert "No model is configured" not in html
        assert "every text was understood" not in html.lower()


def test_a_workspace_that_names_its_own_model_has_one(alice: Person, told: Caller) -> None:
    own = [{"provider": "openai", "model": "some", "baseUrl": "http://127.0.0.1:1/v1"}]
    Workspace.objects.filter(pk=alice.workspace.pk).update(settings={"extractors": own})
    assert "No model is configured" not in member(alice.workspace).sees(HOME)


def test_what_was_asked_to_be_kept_unread_is_not_counted(http: Caller) -> None:
    body = {"messages": [{"role": "user", "content": UNREAD}], "extract": "none"}
    assert http.post("/memories/ingest", body).status in (201, 202)
    found = count_unread(MemorySession.objects.all(), has_server_model=False)
    assert (found.messages, found.unread) == (1, 0)


def test_programs_read_it_beside_the_misses(told: Caller, mallory: Person) -> None:
    known: dict[str, Any] = {
        "hasModel": False,
        "messages": 4,
        "memories": 1,
        "unread": 2,
        "waiting": 0,
        "failed": 0,
    }
    assert told.get("/misses").body["unread"] == known
    assert told.get("/misses", userId="u1").body["unread"] == known
    nothing = dict.fromkeys(known, 0) | {"hasModel": False}
    assert told.get("/misses", userId="u2").body["unread"] == nothing
    assert caller(mallory).get("/misses").body["unread"] == nothing


def test_it_is_counted_in_one_statement(alice: Person, told: Caller) -> None:
    with CaptureQueriesContext(connection) as captured:
        count_unread(MemorySession.objects.all(), has_server_model=False)
    assert len(captured.captured_queries) == 1
