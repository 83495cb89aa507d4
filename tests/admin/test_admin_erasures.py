"""Erasing in the browser: the plan is shown, the name is typed, the certificate stays."""

import pytest
from django.test import Client

from memories.models import Episode, Erasure
from tests.factories import MembershipFactory
from tests.people import Person
from workspaces.models import Subject


def page(subject: Subject) -> str:
    return f"/admin/memories/erasure/of/subject/{subject.pk}/"


@pytest.fixture
def ada(alice: Person) -> Subject:
    alice.say("I moved to Zanzibar in May.", user_id="ada")
    return Subject.objects.get(external_id="ada")


def visitor(person: Person, role: str) -> Client:
    client = Client()
    client.force_login(MembershipFactory(workspace=person.workspace, role=role).user)
    return client


def test_the_plan_is_shown_before_anything_goes(alice: Person, ada: Subject) -> None:
    told = visitor(alice, "owner").get(page(ada)).content.decode()
    assert "Erase this person: ada" in told
    assert "<dt>messages</dt><dd>1</dd>" in told
    assert "Type ada" in told
    assert Episode.objects.exists()


def test_nothing_goes_until_the_name_is_typed(alice: Person, ada: Subject) -> None:
    told = visitor(alice, "owner").post(page(ada), {"name": "adam"}).content.decode()
    assert "nothing was erased" in told
    assert Episode.objects.exists()


def test_the_certificate_is_a_page(alice: Person, ada: Subject) -> None:
    owner = visitor(alice, "owner")
    told = owner.post(page(ada), {"name": "ada"}, follow=True).content.decode()
    assert "Erasure of a person" in told
    assert "Zanzibar" not in told
    assert not Episode.objects.exists()
    assert Erasure.objects.get().state == "done"


@pytest.mark.parametrize(("role", "status"), [("admin", 200), ("editor", 403), ("viewer", 403)])
def test_only_who_administers_gets_there(alice: Person, ada: Subject, role: str, status: int) -> None:
    assert visitor(alice, role).get(page(ada)).status_code == status


def test_another_workspace_has_no_such_subject(ada: Subject, mallory: Person) -> None:
    assert visitor(mallory, "owner").get(page(ada)).status_code == 404
