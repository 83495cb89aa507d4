"""Spaces in the browser: made by a form, named anew, with the documents that stand there."""

import pytest

from memories.models import Document, DocumentSpace, Space
from tests.desk import list_of, member, page_of
from tests.people import Person

ADD = "/admin/memories/space/add/"
pytestmark = pytest.mark.django_db


@pytest.fixture
def shelf(alice: Person) -> Space:
    space = Space.objects.create(workspace=alice.workspace, container_tag="north", name="North")
    for title in ("Ferry times", "Letter to Ida"):
        document = Document.objects.create(workspace=alice.workspace, title=title, state="failed", error_code="no_text")
        DocumentSpace.objects.create(workspace=alice.workspace, document=document, space=space)
    return space


def test_a_space_is_made_by_a_form(alice: Person) -> None:
    desk = member(alice.workspace, "editor")
    given = {"workspace": alice.workspace.pk, "tag": "house", "name": "The house"}
    desk.client.post(ADD, given)
    space = Space.objects.get()
    assert (space.container_tag, space.name) == ("house", "The house")
    again = desk.client.post(ADD, given).content.decode()
    assert "There is a space of this tag already." in again
    assert "Enter a valid value." in desk.client.post(ADD, given | {"tag": "a b"}).content.decode()
    assert Space.objects.count() == 1


def test_its_page_names_what_stands_there(alice: Person, shelf: Space) -> None:
    desk = member(alice.workspace, "editor")
    shown = desk.sees(page_of(shelf))
    assert "Ferry times" in shown
    assert "Letter to Ida" in shown
    assert "north" in desk.sees(list_of(Space))


def test_it_gets_another_name_by_whoever_may_write(alice: Person, shelf: Space) -> None:
    member(alice.workspace, "editor").does(shelf, "rename", name="The north")
    assert Space.objects.get().name == "The north"
    viewer = member(alice.workspace, "viewer")
    assert "/do/rename/" not in viewer.sees(page_of(shelf))
    assert viewer.status(ADD) == 403


def test_others_do_not_see_it(mallory: Person, shelf: Space) -> None:
    desk = member(mallory.workspace, "admin")
    assert desk.status(page_of(shelf)) == 404
    assert "North" not in desk.sees(list_of(Space))
