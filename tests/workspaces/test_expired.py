"""What is over goes with the sweep, and no more of it at once than a sweep has time for."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from memories.models import IdempotentAnswer
from memories.worker import sweep
from tests.api_fixtures import caller
from tests.factories import UserFactory
from tests.people import Person
from workspaces import expired
from workspaces.models import Invitation

DAY = timedelta(days=1)


def log_in(number: int) -> None:
    user = UserFactory()
    for _ in range(number):
        Client().force_login(user)


def test_sessions_of_browsers_go_when_they_have_ended(db: None) -> None:
    log_in(2)
    over = Session.objects.all()[0]
    Session.objects.filter(pk=over.pk).update(expire_date=timezone.now() - DAY)
    sweep.sweep()
    assert [each.pk != over.pk for each in Session.objects.all()] == [True]


def test_invitations_go_long_after_they_ended(alice: Person) -> None:
    http, now = caller(alice), timezone.now()
    for name, ended in (("new", -DAY), ("recent", 80 * DAY), ("old", 100 * DAY)):
        http.post("/members", {"email": f"{name}@example.org", "role": "viewer"})
        Invitation.objects.filter(email__startswith=name).update(expires_at=now - ended)
    http.post("/members", {"email": "taken@example.org", "role": "viewer"})
    Invitation.objects.filter(email__startswith="taken").update(accepted_at=now - 91 * DAY)
    sweep.sweep()
    left = {each.email.partition("@")[0] for each in Invitation.objects.all()}
    assert left == {"new", "recent"}


def test_a_sweep_takes_so_many_and_leaves_the_rest_to_the_next(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    log_in(3)
    Session.objects.update(expire_date=timezone.now() - DAY)
    for number in range(3):
        caller(alice).post("/memories", {"content": "The gate is green"}, Idempotency_Key=str(number))
    IdempotentAnswer.objects.update(expires_at=timezone.now() - DAY)
    monkeypatch.setattr(expired.delete_some, "__defaults__", (2,))
    left = []
    for _ in range(2):
        sweep.sweep()
        left.append((Session.objects.count(), IdempotentAnswer.objects.count()))
    assert left == [(1, 1), (0, 0)]
