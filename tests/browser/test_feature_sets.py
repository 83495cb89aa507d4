"""The pages of feature sets: what counts and who said so, the history of a value, taking back."""

from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone
from playwright.sync_api import expect

from bench.story import Told
from memories.index import workspace_index
from memories.models import Episode, Feature, FeatureSet
from memories.profiles.features import apply
from memories.profiles.features.apply import ChangeOrigin
from memories.profiles.features.commands import ADD, Cited, Command
from memories.profiles.features.set_queue import discover_sets
from memories.profiles.features.update import update_now
from workspaces.scope import Scope, worker_scope

KEY = "user:ada"
SCHEMES = [("light", 1440), ("dark", 1440), ("light", 390), ("dark", 390)]


@pytest.fixture
def folded(told: Told) -> Scope:
    scope = worker_scope(told.workspace.pk, "test")
    discover_sets()
    update_now(scope, KEY)
    return scope


def the_set() -> FeatureSet:
    return FeatureSet.objects.get(key=KEY)


def page_of(row: Feature | FeatureSet) -> str:
    return f"memories/{row._meta.model_name}/{row.pk}/change/"


def configuring(row: FeatureSet) -> str:
    return f"memories/featureset/{row.pk}/configure/"


def add_two_alike(scope: Scope) -> None:
    space, found = workspace_index.index_of(scope.workspace_id), the_set()
    said = Episode.objects.filter(subject=found.subject, role="user").order_by("pk")[:2]
    commands = [
        Command(
            ADD,
            "preferences",
            "likes",
            "likes",
            value,
            occurred_at=timezone.now(),
            cited=(Cited(each.pk, 0, 6, each.content[:6], each.occurred_at),),
        )
        for value, each in zip(("likes warm plum jam", "likes warm plum jams"), said, strict=True)
    ]
    texts = [Feature.text_of("likes", "likes", each.value) for each in commands]
    vectors = apply.embed_texts(space, texts)
    origin = ChangeOrigin(found, "set:test", Feature.Method.RULE, "rules", said[0].agent_id)
    with transaction.atomic():
        apply.apply_commands(space, origin, commands, vectors)


def test_a_setting_is_said_by_the_set_and_shown_with_its_source(visit: Any, folded: Scope) -> None:
    ada = visit()
    ada.opens(page_of(the_set()))
    row = ada.page.locator(".desk-rows > div", has_text="Taken in from so many messages on")
    expect(row).to_contain_text("product")
    ada.follows(ada.page.get_by_role("link", name="Configure"))
    ada.page.get_by_label("Taken in from so many messages on").fill("7")
    ada.page.get_by_role("button", name="Save").click()

    expect(ada.page.get_by_text("Saved.")).to_be_visible()
    expect(row).to_contain_text("set")
    expect(row).to_contain_text("7")


def test_a_wrong_setting_is_told_at_its_field(visit: Any, folded: Scope) -> None:
    ada = visit()
    ada.opens(configuring(the_set()))
    card = ada.page.get_by_role("group").filter(has_text="Embedder")
    card.get_by_label("Which").select_option("own")
    card.get_by_label("Provider").select_option("openai")
    card.get_by_label("Dimensions").fill("99999")
    ada.page.get_by_role("button", name="Save").click()

    wrong = ada.page.locator(".errors", has_text="Dimensions")
    expect(wrong.get_by_text("A whole number from")).to_be_visible()
    assert the_set().config == {}


@pytest.mark.parametrize(("scheme", "width"), SCHEMES)
def test_the_form_of_a_set_fits(visit: Any, folded: Scope, scheme: str, width: int) -> None:
    ada = visit(viewport={"width": width, "height": 1000}, color_scheme=scheme)
    FeatureSet.objects.update(config={"messages": 7, "updatePrompt": "Only what is about food."})
    ada.opens(configuring(the_set()))
    expect(ada.page.get_by_role("heading", name="Categories and tags")).to_be_visible()
    assert ada.fits()


def test_a_value_is_corrected_shows_its_history_and_is_taken_back(visit: Any, folded: Scope) -> None:
    ada = visit()
    feature = Feature.objects.live().filter(set=the_set()).order_by("pk")[0]
    was = feature.value
    ada.opens(page_of(feature))
    ada.presses("Correct")
    dialog = ada.page.locator("dialog[open]")
    dialog.get_by_label("It is").fill("prefers the quiet car")
    dialog.get_by_role("button", name="Correct").click()
    expect(ada.page.get_by_text(f"{was} → prefers the quiet car").first).to_be_visible()
    expect(ada.page.get_by_text("Ada Lovelace").first).to_be_visible()
    ada.presses("Take back the last change")

    expect(ada.page.locator("h1").last).to_contain_text(was)
    assert Feature.objects.get(pk=feature.pk).value == was


def test_a_merge_is_shown_and_taken_back(visit: Any, folded: Scope) -> None:
    ada = visit()
    add_two_alike(folded)
    ada.opens(page_of(the_set()))
    ada.presses("Merge what says the same")
    expect(ada.page.get_by_text("1 note became part of others.")).to_be_visible()
    changes = ada.page.locator(".desk-card", has_text="Latest changes")
    ada.follows(changes.get_by_role("link", name="plum").first)
    expect(ada.page.get_by_text("merged:").first).to_be_visible()
    ada.presses("Take back the last change")

    expect(ada.page.get_by_text("Taken back.", exact=True)).to_be_visible()
    assert Feature.objects.live().filter(value__contains="plum").count() == 2


@pytest.mark.parametrize(("scheme", "width"), SCHEMES)
def test_a_change_of_the_embedder_is_shown_and_the_pages_fit(
    visit: Any, folded: Scope, scheme: str, width: int
) -> None:
    ada = visit(viewport={"width": width, "height": 1000}, color_scheme=scheme)
    FeatureSet.objects.update(config={"embedder": {"provider": "local"}}, embedding_due_at=timezone.now())
    ada.opens(page_of(the_set()))
    expect(ada.page.get_by_text("under way")).to_be_visible()
    expect(ada.page.get_by_role("progressbar")).to_be_visible()
    assert ada.fits()
    ada.opens(page_of(Feature.objects.filter(set=the_set()).order_by("pk")[0]))

    assert ada.fits()
