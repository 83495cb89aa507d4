"""The example workspace: every idea has something that shows it."""

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from memories.admin.playground.talk_turn import new_turn_id
from memories.models import Case, Citation, Document, Episode, Ground, Memory, Supersession
from workspaces.models import User, Workspace

COUNTED = (Memory, Episode, Citation, Supersession, Ground, Case, Document, Workspace)


def demo(**options: object) -> str:
    out = StringIO()
    call_command("demo", stdout=out, **options)
    return out.getvalue()


@pytest.fixture
def owner(transactional_db: None) -> User:
    return User.objects.create_superuser("admin", "admin@example.org", "a long password")


def test_the_story_shows_every_idea_and_says_where(owner: User) -> None:
    places = json.loads(demo(json=True))
    browser = Client()
    browser.force_login(owner)
    pages = {place["idea"].partition(":")[0]: browser.get(place["path"]).content.decode() for place in places}
    words = {
        "A chain": "Mira moved to Antwerp",
        "A correction by hand, which holds against what is said later": "Verhaeghe",
        "A citation": "I live in Ghent",
        "An ended ground": "what it rests on has ended",
        "A case": "coffee to tea",
        "A document, cut into parts that are searched and quoted": "Handbook of the bakery",
        "Time travel": "Mira lives in Ghent",
    }
    assert {idea for idea, text in words.items() if text in pages[idea]} == set(words)
    assert len(places) == len(words)


def test_what_is_said_to_it_afterwards_is_compared_with_the_story(owner: User) -> None:
    demo()
    workspace = Workspace.objects.get(slug="demo-mira")
    browser = Client()
    browser.force_login(owner)
    page = f"{reverse('admin:memories_playground')}?workspace={workspace.slug}&user=mira"
    browser.post(page, {"words": "I moved to Bruges.", "turn": new_turn_id()})
    homes = Memory.objects.live().filter(content__regex="Ghent|Antwerp|Bruges")
    assert [memory.content for memory in homes] == ["Mira moved to Bruges"]


def test_told_again_nothing_is_doubled_and_what_is_gone_is_not_shown(owner: User) -> None:
    first = demo(url="http://here/")
    before = [model.objects.count() for model in COUNTED]
    assert demo(url="http://here/") == first
    assert [model.objects.count() for model in COUNTED] == before
    assert first.count("http://here/admin/") == 7
    Case.objects.all().delete()
    assert demo().count("/admin/") == 5
