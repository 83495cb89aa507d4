"""Feature sets and features in the admin: read, configured, corrected and taken back."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from memories.models import Feature, FeatureSet
from tests.api_fixtures import caller
from tests.factories import MembershipFactory
from tests.people import Person


@pytest.fixture
def desk(alice: Person) -> Client:
    client = Client()
    client.force_login(MembershipFactory(workspace=alice.workspace, role="owner").user)
    http = caller(alice)
    said = [
        {"role": "user", "name": "Ada", "content": f"I live in Lisbon. I like tea {n}."}
        for n in range(5)
    ]
    http.post("/memories/ingest", {"userId": "ada", "messages": said})
    http.post("/sets/user:ada/fold")
    return client


def page(desk: Client, row: Feature | FeatureSet) -> str:
    name = row._meta.model_name
    return desk.get(reverse(f"admin:memories_{name}_change", args=[row.pk])).content.decode()


def do(desk: Client, row: Feature | FeatureSet, verb: str, **values: str) -> str:
    name = f"admin:memories_{row._meta.model_name}_do"
    answer = desk.post(reverse(name, args=[row.pk, verb]), values, follow=True)
    return answer.content.decode()


def test_a_set_shows_its_features_with_words_and_what_counts_for_it(desk: Client) -> None:
    found = FeatureSet.objects.get()
    with CaptureQueriesContext(connection) as asked:
        told = page(desk, found)
    assert "home: Lisbon" in told
    assert "I live in Lisbon." in told
    assert "Categories and tags" in told
    assert len(asked) < 20


def test_the_lists_ask_the_same_however_many_rows_there_are(desk: Client) -> None:
    for name in ("featureset", "feature"):
        with CaptureQueriesContext(connection) as asked:
            told = desk.get(reverse(f"admin:memories_{name}_changelist"))
        assert told.status_code == 200
        assert len(asked) < 20


def test_a_feature_is_corrected_and_taken_back(desk: Client) -> None:
    home = Feature.objects.get(feature="home")
    do(desk, home, "edit", value="Porto")
    assert "Lisbon → Porto" in page(desk, home)
    do(desk, home, "undo")
    home.refresh_from_db()
    assert home.value == "Lisbon"
    do(desk, home, "end", reason="moved away")
    assert "moved away" in page(desk, home)


def test_a_set_is_configured_and_a_wrong_setting_is_told(desk: Client) -> None:
    found = FeatureSet.objects.get()
    assert "A whole number from" in do(desk, found, "configure", config='{"messages": 0}')
    do(desk, found, "configure", config='{"messages": 7}')
    found.refresh_from_db()
    assert found.config == {"messages": 7}


def test_a_viewer_reads_and_changes_nothing(desk: Client, alice: Person) -> None:
    viewer = Client()
    viewer.force_login(MembershipFactory(workspace=alice.workspace, role="viewer").user)
    home = Feature.objects.get(feature="home")
    assert "home: Lisbon" in page(viewer, home)
    answer = viewer.post(reverse("admin:memories_feature_do", args=[home.pk, "end"]), {})
    assert answer.status_code == 403


def test_a_stranger_sees_no_set(desk: Client, mallory: Person) -> None:
    stranger = Client()
    stranger.force_login(MembershipFactory(workspace=mallory.workspace).user)
    address = reverse("admin:memories_featureset_change", args=[FeatureSet.objects.get().pk])
    assert stranger.get(address).status_code == 404
