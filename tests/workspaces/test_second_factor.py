"""The second factor: after the password a code, each of them once; and ways back in."""

import time
from datetime import timedelta

import pyotp
import pytest
from django.core.management import CommandError, call_command
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from tests.desk import Desk, member
from tests.factories import UserFactory
from workspaces.login import second_factor, throttle
from workspaces.models import RecoveryCode, Role, SecondFactor, User, Workspace

PASSWORD = "a long enough password"
PAGE = "/admin/second-factor/"
pytestmark = pytest.mark.usefixtures("still_clock")


@pytest.fixture
def bob_at_desk(workspace: Workspace) -> Desk:
    return member(workspace, Role.VIEWER, username="bob")


def code_of(user: User, steps: int = 0) -> str:
    factor = SecondFactor.objects.get(user=user)
    totp = pyotp.TOTP(second_factor.secret_of(factor))
    return totp.at(timezone.now() + timedelta(seconds=steps * second_factor.STEP))


def turned_on(desk: Desk) -> list[str]:
    """The recovery codes. The code is of the step before, so that this one's is left."""
    second_factor.offer(desk.user)
    answer = desk.client.post(PAGE, {"code": code_of(desk.user, -1), "password": PASSWORD})
    return answer.context["codes"]


def logs_in(client: Client, code: str = "") -> HttpResponse:
    client.post("/admin/login/", {"username": "bob", "password": PASSWORD})
    return client.post("/admin/login/code/", {"code": code})


def is_in(client: Client) -> bool:
    return client.get(reverse("admin:index")).status_code == 200


def test_a_password_alone_lets_nobody_in_who_has_a_second_factor(bob_at_desk: Desk) -> None:
    turned_on(bob_at_desk)
    visitor = Client()
    answer = visitor.post("/admin/login/", {"username": "bob", "password": PASSWORD})

    assert answer["Location"] == reverse("admin:login_code")
    assert not is_in(visitor)


def test_the_code_of_the_app_lets_in_to_the_page_that_was_asked_for(bob_at_desk: Desk) -> None:
    turned_on(bob_at_desk)
    visitor, wanted = Client(), reverse("admin:memories_memory_changelist")
    visitor.post(f"/admin/login/?next={wanted}", {"username": "bob", "password": PASSWORD, "next": wanted})
    answer = visitor.post("/admin/login/code/", {"code": code_of(bob_at_desk.user)})

    assert answer["Location"] == wanted
    assert is_in(visitor)


def test_a_code_that_was_used_is_not_accepted_again(bob_at_desk: Desk) -> None:
    turned_on(bob_at_desk)
    code = code_of(bob_at_desk.user)
    logs_in(Client(), code)
    other = Client()
    answer = logs_in(other, code)

    assert "wrong, or was used already" in answer.content.decode()
    assert not is_in(other)


def test_a_recovery_code_lets_in_once(bob_at_desk: Desk) -> None:
    codes = turned_on(bob_at_desk)
    first, second = Client(), Client()
    logs_in(first, codes[3].upper())
    logs_in(second, codes[3])

    assert len(set(codes)) == 10
    assert (is_in(first), is_in(second)) == (True, False)
    assert RecoveryCode.objects.filter(user=bob_at_desk.user).count() == 9


def test_wrong_codes_make_the_next_one_wait_and_passwords_do_not_help(bob_at_desk: Desk) -> None:
    turned_on(bob_at_desk)
    guesser = Client()
    for _ in range(throttle.FREE["account"]):
        assert logs_in(guesser, "abcdef").status_code == 200
    answer = logs_in(guesser, code_of(bob_at_desk.user))

    assert answer.status_code == 429
    assert answer["Retry-After"] == "1"
    assert not is_in(guesser)


def test_the_step_before_the_code_ends_after_minutes_and_with_the_password(
    bob_at_desk: Desk,
) -> None:
    turned_on(bob_at_desk)
    late, changed = Client(), Client()
    for client in (late, changed):
        client.post("/admin/login/", {"username": "bob", "password": PASSWORD})
    session = late.session
    session["half_way"] |= {"at": time.time() - 301}
    session.save()
    assert late.get("/admin/login/code/")["Location"] == reverse("admin:login")

    bob_at_desk.user.set_password("quite another password")
    bob_at_desk.user.save()
    assert changed.get("/admin/login/code/")["Location"] == reverse("admin:login")


def test_turning_it_on_ends_the_other_sessions_and_keeps_this_one(bob_at_desk: Desk) -> None:
    elsewhere = Client()
    elsewhere.force_login(bob_at_desk.user)
    turned_on(bob_at_desk)

    assert is_in(bob_at_desk.client)
    assert not is_in(elsewhere)


@pytest.mark.parametrize("password", ["", "not the one"])
def test_it_is_not_turned_on_without_the_password(bob_at_desk: Desk, password: str) -> None:
    second_factor.offer(bob_at_desk.user)
    wish = {"code": code_of(bob_at_desk.user), "password": password}
    bob_at_desk.client.post(PAGE, wish)

    assert not second_factor.is_on(bob_at_desk.user)
    assert bob_at_desk.client.post(PAGE, wish | {"password": PASSWORD}).context["codes"]


def test_wrong_codes_of_the_picture_make_the_next_one_wait(bob_at_desk: Desk) -> None:
    second_factor.offer(bob_at_desk.user)
    for _ in range(throttle.FREE["account"]):
        bob_at_desk.client.post(PAGE, {"code": "abcdef", "password": PASSWORD})
    right = {"code": code_of(bob_at_desk.user), "password": PASSWORD}

    assert bob_at_desk.client.post(PAGE, right).status_code == 429
    assert not second_factor.is_on(bob_at_desk.user)


def test_a_wrong_code_does_not_turn_it_on(bob_at_desk: Desk) -> None:
    page = bob_at_desk.sees(PAGE)
    bob_at_desk.client.post(PAGE, {"code": "abcdef", "password": PASSWORD})

    assert "<svg" in page
    assert second_factor.secret_of(SecondFactor.objects.get()) in page
    assert not second_factor.is_on(bob_at_desk.user)


def test_the_secret_is_shown_no_more_once_it_is_on(bob_at_desk: Desk) -> None:
    codes = turned_on(bob_at_desk)
    secret, page = second_factor.secret_of(SecondFactor.objects.get()), bob_at_desk.sees(PAGE)

    assert secret not in page
    assert not any(code in page for code in codes)


def test_it_is_turned_off_by_the_password_and_by_nothing_less(bob_at_desk: Desk) -> None:
    turned_on(bob_at_desk)
    bob_at_desk.client.post(PAGE, {"password": "wrong"})
    assert second_factor.is_on(bob_at_desk.user)

    bob_at_desk.client.post(PAGE, {"password": PASSWORD})
    assert not second_factor.is_on(bob_at_desk.user)
    assert not RecoveryCode.objects.exists()


def test_a_clock_that_was_wrong_does_not_make_later_codes_old(bob_at_desk: Desk) -> None:
    turned_on(bob_at_desk)
    ahead = timezone.now() + timedelta(days=400)
    SecondFactor.objects.update(last_step=int(ahead.timestamp()) // second_factor.STEP)

    assert second_factor.accepts(bob_at_desk.user, code_of(bob_at_desk.user))


def test_the_database_alone_does_not_tell_the_secret(bob_at_desk: Desk, settings: object) -> None:
    factor = second_factor.offer(bob_at_desk.user)
    here = second_factor.secret_of(factor)
    settings.SECRET_KEY = "another server's"  # type: ignore[attr-defined]

    assert second_factor.secret_of(factor) != here


def test_a_nonce_that_is_copied_from_another_account_gives_no_codes(bob_at_desk: Desk) -> None:
    """Also not from a factor that release 0.1.0 made, with its seal."""
    bobs, own = second_factor.offer(bob_at_desk.user), second_factor.offer(UserFactory())
    known = second_factor.secret_of(own)
    SecondFactor.objects.filter(pk=bobs.pk).update(nonce=own.nonce)
    bobs.refresh_from_db()
    assert second_factor.secret_of(bobs) != known

    own.seal = second_factor.seal_of(own.user_id, own.nonce)
    known_since = second_factor.secret_of(own)
    SecondFactor.objects.filter(pk=bobs.pk).update(nonce=own.nonce, seal=own.seal)
    bobs.refresh_from_db()
    assert second_factor.secret_of(bobs) not in (known, known_since)


def test_a_command_turns_it_off_for_whoever_lost_all(bob_at_desk: Desk) -> None:
    turned_on(bob_at_desk)
    call_command("resetsecondfactor", "bob")

    assert not second_factor.is_on(bob_at_desk.user)
    with pytest.raises(CommandError, match="no account"):
        call_command("resetsecondfactor", "nobody")
