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
    said = [{"role": "user", "name": "Ada", "content": f"I live in Lisbon. I like tea {n}."} for n in range(5)]
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


# ---- configured


def address_of(row: FeatureSet) -> str:
    return reverse("admin:memories_featureset_configure", args=[row.pk])


def filled(desk: Client, row: FeatureSet) -> dict[str, str]:
    """The form as the page shows it."""
    context = desk.get(address_of(row)).context
    rows = context["categories"].rows
    fields = [*context["form"], *rows.management_form, *(each for form in rows for each in form)]
    return {field.html_name: str(field.value() or "") for field in fields}


def configure(desk: Client, **changes: str) -> tuple[FeatureSet, str]:
    """The set afterwards, and the page that answers."""
    row = FeatureSet.objects.get()
    values = filled(desk, row) | {name.replace("__", "."): each for name, each in changes.items()}
    answer = desk.post(address_of(row), values, follow=True).content.decode()
    row.refresh_from_db()
    return row, answer


def test_what_nobody_changes_stays_the_workspaces(desk: Client) -> None:
    row, told = configure(desk)
    assert (row.config, "Saved." in told) == ({}, True)


def test_what_a_set_says_and_takes_back(desk: Client) -> None:
    said = {"messages": "7", "updatePrompt": "Only food.", "languageModel": "none"}
    row, told = configure(desk, **said, embedder="own", embedder__provider="local")
    assert row.config == said | {"messages": 7, "embedder": {"provider": "local"}}
    assert "none: rules alone" in told
    row, _ = configure(desk, messages="", updatePrompt="", languageModel="", embedder="")
    assert row.config == {}


def test_the_page_says_what_counts_without_it_and_who_says_so(desk: Client, alice: Person) -> None:
    alice.workspace.settings = {"featureSets": {"seconds": 5}}
    alice.workspace.save()
    told = desk.get(address_of(FeatureSet.objects.get())).content.decode()
    assert "Left empty: 5, as the workspace has it." in told
    assert "Left empty: 20, as the product has it." in told


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"messages": "0"}, "messages", "A whole number from"),
        ({"seconds": "soon"}, "seconds", "whole number"),
        ({"embedder": "own"}, "embedder.provider", "One of local, openai, hash."),
        ({"languageModel": "own", "languageModel__provider": "openai"}, "languageModel.model", "Name the model"),
        (
            {
                "languageModel": "own",
                "languageModel__provider": "openai",
                "languageModel__model": "m",
                "languageModel__timeout": "9999",
            },
            "languageModel.timeout",
            "A number from 1",
        ),
    ],
)
def test_what_makes_no_sense_is_told_at_its_field(
    desk: Client, changes: dict[str, str], field: str, message: str
) -> None:
    row = FeatureSet.objects.get()
    values = filled(desk, row) | {name.replace("__", "."): each for name, each in changes.items()}
    answer = desk.post(address_of(row), values)
    assert message in " ".join(answer.context["form"].errors[field])
    row.refresh_from_db()
    assert row.config == {}


def test_what_a_set_says_is_shared_as_a_type_and_taken_by_another(desk: Client, alice: Person) -> None:
    row, _ = configure(desk, messages="7")
    assert "One set is of the type talk." in do(desk, row, "share", name="talk")
    row.refresh_from_db()
    alice.workspace.refresh_from_db()
    assert row.config == {"type": "talk"}
    assert alice.workspace.settings["featureSetTypes"] == {"talk": {"messages": 7}}
    told = desk.get(address_of(row)).content.decode()
    assert "Left empty: 7, as the type has it." in told
    row, _ = configure(desk, type="")
    assert row.config == {}


def categories(row: FeatureSet) -> list[str]:
    return [each["name"] for each in row.config["categories"]]


def test_categories_are_changed_added_removed_and_given_back(desk: Client) -> None:
    number = int(filled(desk, FeatureSet.objects.get())["categories-INITIAL_FORMS"])
    more = {f"categories-{number}-name": "garden", f"categories-{number}-tags": "beds: what grows"}
    row, _ = configure(desk, **more, **{"categories-0-DELETE": "on"})
    assert ("identity" in categories(row), categories(row)[-1]) == (False, "garden")
    assert row.config["categories"][-1] == {
        "name": "garden",
        "description": "",
        "tags": [{"name": "beds", "description": "what grows"}],
    }
    row, _ = configure(desk, **{"categories.inherit": "on"})
    assert row.config == {}


@pytest.mark.parametrize(
    ("changes", "row", "field"),
    [
        ({"categories-1-tags": ""}, 1, "tags"),
        ({"categories-0-DELETE": "on", "categories-1-name": ""}, 1, "name"),
        ({"categories-2-tags": "twice\ntwice"}, 2, "tags"),
    ],
)
def test_a_wrong_category_is_told_at_its_row(desk: Client, changes: dict[str, str], row: int, field: str) -> None:
    found = FeatureSet.objects.get()
    answer = desk.post(address_of(found), filled(desk, found) | changes)
    assert list(answer.context["categories"].rows[row].errors) == [field]
    found.refresh_from_db()
    assert found.config == {}


def test_all_that_is_wrong_is_told_at_once(desk: Client) -> None:
    found = FeatureSet.objects.get()
    wrong = {"seconds": "soon", "messages": "0", "featuresPerConsolidation": "1", "embedder": "own"}
    wrong |= {"categories-0-tags": "", "categories-1-name": ""}
    told = desk.post(address_of(found), filled(desk, found) | wrong).context
    fields = {"seconds", "messages", "featuresPerConsolidation", "embedder.provider"}
    assert set(told["form"].errors) == fields
    assert [list(row.errors) for row in told["categories"].rows[:3]] == [["tags"], ["name"], []]
    found.refresh_from_db()
    assert found.config == {}


def test_two_categories_of_one_name_are_refused(desk: Client) -> None:
    _, told = configure(desk, **{"categories-1-name": "identity"})
    assert "A name stands twice." in told


def test_who_may_configure_is_asked(desk: Client, alice: Person, mallory: Person) -> None:
    address = address_of(FeatureSet.objects.get())
    for workspace, role, status in (
        (alice.workspace, "editor", 403),
        (alice.workspace, "viewer", 403),
        (mallory.workspace, "owner", 404),
    ):
        other = Client()
        other.force_login(MembershipFactory(workspace=workspace, role=role).user)
        assert other.get(address).status_code == status
        assert other.post(address, {"messages": "3"}).status_code == status
    assert FeatureSet.objects.get().config == {}


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
