"""Wrong passwords make the next try wait, in all processes alike; nobody is kept out for ever."""

import logging
import threading
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher, make_password
from django.contrib.sessions.models import Session
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django.fixtures import Settings

from memories import metrics
from memoryproject.server.front.callers import network_of
from tests.desk import desk_of, superuser
from tests.factories import MembershipFactory
from workspaces import expired
from workspaces.login import throttle
from workspaces.models import LoginAttempt, LoginPause, User, Workspace

PASSWORD = "a long enough password"
LOGIN = "/admin/login/"
pytestmark = pytest.mark.usefixtures("still_clock")


@pytest.fixture
def alice_in_person(workspace: Workspace) -> User:
    return MembershipFactory(workspace=workspace, user__username="alice").user


def tries(username: str, password: str = "wrong", *, client: Client | None = None, **meta: Any) -> HttpResponse:
    return (client or Client()).post(LOGIN, {"username": username, "password": password}, **meta)


def wear_out(username: str, **meta: Any) -> None:
    for _ in range(throttle.FREE["account"]):
        assert tries(username, **meta).status_code == 200


def let_pauses_pass() -> None:
    LoginPause.objects.update(not_before=timezone.now())


def test_after_five_wrong_passwords_the_next_try_is_told_to_wait(alice_in_person: User) -> None:
    wear_out("alice")
    answer = tries("alice", PASSWORD)

    assert answer.status_code == 429
    assert answer["Retry-After"] == "1"
    assert "Too many wrong tries. The next one is looked at in 1 second." in answer.content.decode()


def test_nothing_is_hashed_for_a_try_that_came_too_early(alice_in_person: User, settings: Settings) -> None:
    wear_out("alice")
    # No hasher is there that could read a password.
    settings.PASSWORD_HASHERS = []

    assert tries("alice").status_code == 429


def test_pauses_double_up_to_a_quarter_of_an_hour() -> None:
    pauses = [throttle.pause_after(number, 5).total_seconds() for number in range(1, 20)]

    assert pauses[:9] == [0, 0, 0, 0, 1, 2, 4, 8, 16]
    assert max(pauses) == pauses[-1] == 900
    assert throttle.pause_after(10**9, 5) == timedelta(minutes=15)


def test_the_right_password_after_the_pause_lets_in_and_begins_anew(alice_in_person: User) -> None:
    wear_out("alice")
    let_pauses_pass()

    assert tries("alice", PASSWORD).status_code == 302
    wear_out("alice")


def test_a_try_that_came_too_early_does_not_make_the_pause_longer(alice_in_person: User) -> None:
    wear_out("alice")
    before = list(LoginPause.objects.order_by("key").values())
    tries("alice")

    assert list(LoginPause.objects.order_by("key").values()) == before


def test_an_unknown_name_is_answered_like_a_known_one(alice_in_person: User) -> None:
    wear_out("alice")
    wear_out("nobody")
    known, unknown = tries("alice"), tries("nobody")

    assert known.status_code == unknown.status_code == 429
    words = known.content.decode().replace("alice", "nobody")
    tokens = [line for line in words.splitlines() if "csrfmiddlewaretoken" not in line]
    assert tokens == [line for line in unknown.content.decode().splitlines() if "csrfmiddlewaretoken" not in line]


def test_a_password_is_hashed_for_an_unknown_name_too(db: None, settings: Settings) -> None:
    settings.PASSWORD_HASHERS = []

    with pytest.raises(IndexError):  # Django's, where there is no hasher
        tries("nobody")


class OlderHasher(MD5PasswordHasher):
    algorithm = "older"


def test_a_failure_costs_the_same_whatever_hash_an_account_has(
    alice_in_person: User, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = f"{OlderHasher.__module__}.{OlderHasher.__qualname__}"
    settings.PASSWORD_HASHERS = [*settings.PASSWORD_HASHERS, older]
    bob = MembershipFactory(user__username="bob").user
    User.objects.filter(pk=bob.pk).update(password=make_password(PASSWORD, hasher="older"))
    hashed: list[str] = []
    encode = MD5PasswordHasher.encode

    def noted(self: MD5PasswordHasher, password: str, salt: str) -> str:
        hashed.append(self.algorithm)
        return encode(self, password, salt)

    monkeypatch.setattr(MD5PasswordHasher, "encode", noted)
    costs = []
    for name in ("alice", "bob", "nobody"):
        tries(name)
        costs.append(sorted(hashed))
        hashed.clear()

    assert costs == [["md5", "older"]] * 3


def test_a_name_is_one_account_however_it_is_written(alice_in_person: User) -> None:
    for name in ("alice", "Alice", " alice", "ALICE", "alice "):
        tries(name)

    assert tries("alice").status_code == 429


def test_an_address_that_tries_many_names_has_to_wait(alice_in_person: User) -> None:
    for number in range(throttle.FREE["address"]):
        tries(f"name-{number}", REMOTE_ADDR="203.0.113.7")

    assert tries("another", REMOTE_ADDR="203.0.113.7").status_code == 429
    assert tries("another", REMOTE_ADDR="203.0.113.8").status_code == 200


def test_a_try_that_is_refused_leaves_no_row(alice_in_person: User) -> None:
    """Of a password or a link, whatever name it comes up with."""
    for number in range(throttle.FREE["address"]):
        tries(f"name-{number}", REMOTE_ADDR="203.0.113.7")
    before = LoginPause.objects.count(), LoginAttempt.objects.count()
    visitor = Client(REMOTE_ADDR="203.0.113.7")
    for number in range(3):
        assert tries(f"another-{number}", REMOTE_ADDR="203.0.113.7").status_code == 429
        link = reverse("password_reset_confirm", args=[f"another-{number}", "guess"])
        assert visitor.get(link).status_code == 429

    assert (LoginPause.objects.count(), LoginAttempt.objects.count()) == before
    assert not Session.objects.exists()


def test_success_gives_an_address_no_more_than_its_own_try_back(alice_in_person: User) -> None:
    for number in range(throttle.FREE["address"] - 1):
        tries(f"name-{number}", REMOTE_ADDR="203.0.113.7")
    tries("alice", PASSWORD, REMOTE_ADDR="203.0.113.7")
    tries("last", REMOTE_ADDR="203.0.113.7")

    assert tries("another", REMOTE_ADDR="203.0.113.7").status_code == 429


def test_guessing_does_not_keep_out_the_browser_that_was_let_in_before(
    alice_in_person: User,
) -> None:
    own = Client()
    tries("alice", PASSWORD, client=own)
    own.post(reverse("admin:logout"))
    wear_out("alice", REMOTE_ADDR="203.0.113.7")

    assert tries("alice", PASSWORD, client=own).status_code == 302
    assert tries("alice", PASSWORD).status_code == 429


def test_a_known_browser_has_no_tries_at_other_names_and_no_endless_ones(
    alice_in_person: User,
) -> None:
    own = Client()
    tries("alice", PASSWORD, client=own)
    wear_out("bob", client=own)
    wear_out("alice", client=own)

    assert tries("bob", client=own).status_code == 429
    assert tries("alice", client=own).status_code == 429


@pytest.mark.django_db(transaction=True)
def test_of_many_tries_at_once_only_one_is_looked_at(alice_in_person: User) -> None:
    tries("alice")
    LoginPause.objects.update(failures=20, not_before=timezone.now())  # the last pause is over now
    seen: list[int] = []

    def guess() -> None:
        seen.append(tries("alice").status_code)
        connection.close()

    guessers = [threading.Thread(target=guess) for _ in range(8)]
    for each in guessers:
        each.start()
    for each in guessers:
        each.join()

    assert sorted(seen) == [200] + [429] * 7


def test_a_pause_set_by_a_clock_that_was_wrong_keeps_nobody_out(alice_in_person: User) -> None:
    wear_out("alice")
    ahead = timezone.now() + timedelta(days=400)
    LoginPause.objects.update(tried_at=ahead, not_before=ahead)

    assert tries("alice", PASSWORD).status_code == 302


def test_the_old_password_is_asked_for_under_the_same_count(alice_in_person: User) -> None:
    desk = desk_of(alice_in_person)
    new = {"new_password1": "quite another one", "new_password2": "quite another one"}
    for _ in range(throttle.FREE["account"]):
        desk.client.post(reverse("admin:password_change"), {"old_password": "wrong", **new})
    answer = desk.client.post(reverse("admin:password_change"), {"old_password": PASSWORD, **new})

    assert answer.status_code == 429
    alice_in_person.refresh_from_db()
    assert alice_in_person.check_password(PASSWORD)


def test_guessed_links_of_invitations_have_to_wait(workspace: Workspace) -> None:
    statuses = [Client().get(f"/accounts/password/MQ/abc-{n}").status_code for n in range(6)]

    assert statuses == [200] * 5 + [429]
    assert "looked at in 1 second" in Client().get("/accounts/password/MQ/abc-9").content.decode()


def test_wrong_tries_are_seen_in_rows_log_and_metrics(alice_in_person: User, caplog: pytest.LogCaptureFixture) -> None:
    metrics.clear()
    with caplog.at_level(logging.WARNING, "workspaces.login"):
        tries("alice", "my secret guess", REMOTE_ADDR="203.0.113.7", HTTP_X_REQUEST_ID="trace-1")
        tries("my typed-in password")
    known, unknown = LoginAttempt.objects.order_by("id")
    counted = {measure.labels: measure.count for measure in metrics.snapshot()}

    assert (known.user, known.address, known.request_id) == (
        alice_in_person,
        "203.0.113.7",
        "trace-1",
    )
    assert unknown.user is None
    assert f"user:{alice_in_person.pk} from 203.0.113.7, request trace-1" in caplog.text
    assert "secret guess" not in caplog.text + str(vars(known))
    assert "typed-in" not in caplog.text + str(vars(unknown))
    assert counted[(("kind", "password"), ("outcome", "wrong"))] == 2


def test_old_counts_and_attempts_are_dropped(alice_in_person: User, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(4):
        tries("alice")
    oldest, _, *newest = LoginAttempt.objects.order_by("id")
    LoginAttempt.objects.filter(pk=oldest.pk).update(created_at=timezone.now() - timedelta(days=91))
    LoginPause.objects.update(tried_at=timezone.now() - timedelta(days=2))
    monkeypatch.setattr(throttle, "MOST_ATTEMPTS", 2)
    expired.prune()

    assert list(LoginAttempt.objects.order_by("id")) == newest
    assert not LoginPause.objects.exists()


@pytest.mark.parametrize(
    ("trusted", "forwarded", "expected"),
    [
        (False, "198.51.100.1", "203.0.113.7"),
        (True, "198.51.100.1, 198.51.100.2", "198.51.100.2"),
        (True, "", "203.0.113.7"),
        (True, "198.51.100.2:4711", "198.51.100.2"),
        (True, "[2001:db8::1]:4711", "2001:db8::1"),
        (True, "not an address", ""),
    ],
)
def test_the_address_is_the_proxys_word_only_where_there_is_one(
    alice_in_person: User, settings: Settings, trusted: bool, forwarded: str, expected: str
) -> None:
    settings.BEHIND_TLS_PROXY = trusted
    told = {"HTTP_X_FORWARDED_FOR": forwarded} if forwarded else {}
    tries("alice", REMOTE_ADDR="203.0.113.7", **told)

    assert LoginAttempt.objects.get().address == expected


def test_the_addresses_of_one_house_are_one_address() -> None:
    tries_from = [f"2001:db8:1:2::{number:x}" for number in range(1, throttle.FREE["address"] + 1)]
    networks = {network_of(address) for address in tries_from}

    assert networks == {"2001:db8:1:2::/64"}


def test_wrong_tries_stand_in_a_list_for_superusers_and_for_nobody_else(
    alice_in_person: User,
) -> None:
    tries("alice", REMOTE_ADDR="203.0.113.7")
    page = reverse("admin:workspaces_loginattempt_changelist")

    assert "203.0.113.7" in superuser().sees(page)
    assert desk_of(alice_in_person).status(page) == 403
