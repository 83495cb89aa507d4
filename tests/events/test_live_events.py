"""Events as they come: one look for all who listen, none left out, to whoever may hear."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from threading import Barrier
from typing import Any

import pytest
from django.db import connection, connections
from django.test import Client
from django.utils import timezone

from memories.events import live_events, read_events
from memories.events.live_events import Listener, LiveEvents, ticket_of
from memories.events.shown_events import EventFilter
from memoryproject.server.stream_process import Threads
from tests.factories import MembershipFactory
from tests.handed_in import hand_in
from tests.people import Person, backend_of
from tests.statements_sent import sent
from workspaces.auth import scope_for_member, scopes_again
from workspaces.keys import revoke_key
from workspaces.login.browser_sessions import row_key
from workspaces.models import ApiKey, Membership, User
from workspaces.scope import Scope

PATIENCE = 60.0


class Hall:
    """Listeners of one process, and what each of them heard."""

    def __init__(self) -> None:
        self.heard: dict[int, list[bytes]] = defaultdict(list)
        self.tasks: dict[int, asyncio.Task[None]] = {}
        self.threads = Threads(2, "test")
        self.live = LiveEvents(self.send, self.threads.run, self.threads.run)

    def send(self, numbers: Iterable[int], part: bytes) -> None:
        for number in numbers:
            self.heard[number].append(part)

    def listen(self, person: "Person | Member", **options: Any) -> int:
        number = len(self.tasks) + 1
        after = options.pop("after", None) or read_events.newest()
        ticket = json.loads(json.dumps(ticket_of(person.scope, EventFilter(**options), after)))
        self.tasks[number] = asyncio.ensure_future(self.live.serve(number, ticket))
        return number

    def kinds(self, number: int) -> list[str]:
        lines = b"".join(self.heard[number]).decode().splitlines()
        return [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not condition():
                await asyncio.sleep(0.02)

    async def are_all_listening(self) -> None:
        def ready() -> bool:
            listeners = self.live.listeners
            return len(listeners) == len(self.tasks) and all(each.cursor for each in listeners.values())

        await self.until(ready)

    async def close(self) -> None:
        for task in self.tasks.values():
            task.cancel()
        await asyncio.gather(*self.tasks.values(), return_exceptions=True)
        if self.live._looking:
            self.live._looking.cancel()
        both = Barrier(2)
        await asyncio.gather(*(self.threads.run(close_connection, both) for _ in range(2)))
        connections.close_all()  # the one that the test asks by, inside the loop


def close_connection(both: Barrier) -> None:
    both.wait(PATIENCE)  # each of the two threads has one
    connections.close_all()


def run(act: Callable[[Hall], Any]) -> Hall:
    """Do `act` with a hall; tests do the database's part in this thread, beside the loop."""

    async def main() -> Hall:
        hall = Hall()
        try:
            await act(hall)
        finally:
            await hall.close()
        return hall

    return asyncio.run(main())


@pytest.fixture(autouse=True)
def _in_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests themselves ask the database, from the thread that has the loop."""
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")


pytestmark = pytest.mark.django_db(transaction=True)


def test_each_hears_what_it_may_see_and_asked_for(alice: Person, bob: Person, carol: Person, mallory: Person):
    async def act(hall: Hall) -> None:
        people = (alice, bob, carol, mallory)
        numbers = {person: hall.listen(person) for person in people}
        done = hall.listen(alice, kinds=("document.done",))
        await hall.are_all_listening()
        document = hand_in(bob, visibility="private")
        one = hall.listen(alice, item=document.pk)
        hand_in(mallory, "A letter about pears.")
        await hall.until(lambda: "document.done" in hall.kinds(numbers[alice]))
        await hall.until(lambda: "document.done" in hall.kinds(numbers[mallory]))
        await hall.until(lambda: "document.done" in hall.kinds(numbers[bob]))
        assert len(hall.kinds(numbers[alice])) == len(hall.kinds(numbers[bob])) == 6
        assert hall.kinds(numbers[carol]) == []
        assert hall.kinds(done) == ["document.done"]
        assert str(document.pk) not in str(hall.heard[numbers[mallory]])
        assert hall.kinds(one) == []

    run(act)


def test_who_comes_again_hears_what_came_meanwhile_and_nothing_twice(alice: Person):
    async def act(hall: Hall) -> None:
        start = read_events.newest()
        hand_in(alice)
        number = hall.listen(alice, after=start)
        hand_in(alice, "A letter about pears.")
        await hall.until(lambda: hall.kinds(number).count("document.done") == 2)
        hand_in(alice, "A letter about apples.")
        await hall.until(lambda: hall.kinds(number).count("document.done") == 3)
        assert len(hall.kinds(number)) == 18

    run(act)


def test_a_key_that_is_revoked_hears_nothing_of_what_comes_after(
    alice: Person, bob: Person, monkeypatch: pytest.MonkeyPatch
):
    """Also of what came while nobody looked."""
    monkeypatch.setattr(live_events, "CHECKED_EVERY", 3600.0)

    async def act(hall: Hall) -> None:
        start = read_events.newest()
        number, other = hall.listen(bob), hall.listen(alice)
        await hall.are_all_listening()
        key = ApiKey.objects.get(pk=bob.scope.key_id)
        late = json.loads(json.dumps(ticket_of(bob.scope, EventFilter(), start)))
        revoke_key(key, actor="test")
        hand_in(alice, visibility="global")
        await hall.until(lambda: "document.done" in hall.kinds(other))
        await hall.until(hall.tasks[number].done)
        hall.tasks[9] = asyncio.ensure_future(hall.live.serve(9, late))
        await hall.until(hall.tasks[9].done)
        assert hall.kinds(number) == hall.kinds(9) == []
        assert not hall.tasks[other].done()

    run(act)


def revoked(person: Person) -> None:
    revoke_key(ApiKey.objects.get(pk=person.scope.key_id), actor="test")


def expired(person: Person) -> None:
    ApiKey.objects.filter(pk=person.scope.key_id).update(expires_at=timezone.now())


def for_writing_alone(person: Person) -> None:
    ApiKey.objects.filter(pk=person.scope.key_id).update(capabilities=["write"])


@pytest.mark.parametrize("end", [revoked, expired, for_writing_alone])
def test_a_stream_in_silence_ends_with_its_key(
    end: Callable[[Person], None], alice: Person, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(live_events, "CHECKED_EVERY", 0.05)

    async def act(hall: Hall) -> None:
        number = hall.listen(alice)
        await hall.are_all_listening()
        end(alice)
        await hall.until(hall.tasks[number].done)

    run(act)


def test_a_key_that_is_narrowed_hears_what_it_may_now(alice: Person, bob: Person):
    async def act(hall: Hall) -> None:
        number, other = hall.listen(alice), hall.listen(bob)
        await hall.are_all_listening()
        ApiKey.objects.filter(pk=alice.scope.key_id).update(limited_to_subjects=True)
        hand_in(bob)
        await hall.until(lambda: "document.done" in hall.kinds(other))
        assert hall.kinds(number) == []
        assert not hall.tasks[number].done()

    run(act)


@dataclass(frozen=True)
class Member:
    """A person with a page open."""

    membership: Membership
    client: Client

    @property
    def scope(self) -> Scope:
        scope = scope_for_member(self.membership.user, str(self.membership.workspace_id))
        assert scope is not None
        return replace(scope, session=row_key(self.client.session.session_key or ""))


def logged_out(member: Member) -> None:
    member.client.logout()


def with_another_password(member: Member) -> None:
    user = member.membership.user
    user.set_password("another")
    user.save(update_fields=["password"])


def removed(member: Member) -> None:
    member.membership.delete()


def switched_off(member: Member) -> None:
    User.objects.filter(pk=member.membership.user_id).update(is_active=False)


@pytest.mark.parametrize("end", [logged_out, with_another_password, removed, switched_off])
def test_an_open_page_hears_nothing_once_its_person_is_out(
    end: Callable[[Member], None], alice: Person, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(live_events, "CHECKED_EVERY", 3600.0)
    member = Member(MembershipFactory(workspace=alice.workspace, role="editor"), Client())
    member.client.force_login(member.membership.user)

    async def act(hall: Hall) -> None:
        number, other = hall.listen(member), hall.listen(alice)
        await hall.are_all_listening()
        hand_in(alice)
        await hall.until(lambda: hall.kinds(number) == hall.kinds(other) != [])
        end(member)
        hand_in(alice, "A letter about pears.")
        await hall.until(hall.tasks[number].done)
        await hall.until(lambda: hall.kinds(other).count("document.done") == 2)
        assert hall.kinds(number).count("document.done") == 1

    run(act)


def test_all_keys_of_a_process_are_looked_up_in_one_statement(alice: Person):
    people = [backend_of(alice.workspace) for _ in range(20)]
    scopes = {person.scope for person in people}
    revoked(people[0])
    with sent() as statements:
        assert len(scopes_again(scopes)) == 19
    assert len(statements) == 1


def test_silence_is_told_as_such_and_what_cannot_be_read_is_read_later(alice: Person, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(live_events, "PINGED_EVERY", 0.0)
    monkeypatch.setattr(live_events, "AFTER_AN_ERROR", 0.05)

    async def act(hall: Hall) -> None:
        number = hall.listen(alice)
        await hall.until(lambda: b": ping\n\n" in hall.heard[number])
        with connection.cursor() as cursor:
            cursor.execute("alter table memories_changeevent rename to elsewhere")
        await asyncio.sleep(0.5)
        with connection.cursor() as cursor:
            cursor.execute("alter table elsewhere rename to memories_changeevent")
        hand_in(alice)
        await hall.until(lambda: "document.done" in hall.kinds(number))

    run(act)


def test_many_listeners_cost_one_look(alice: Person, monkeypatch: pytest.MonkeyPatch):
    looks = []
    read = live_events._read

    def counted(*given: Any) -> Any:
        looks.append(given)
        return read(*given)

    monkeypatch.setattr(live_events, "_read", counted)
    monkeypatch.setattr(live_events, "LOOKED_EVERY", 3600.0)

    async def act(hall: Hall) -> None:
        numbers = [hall.listen(alice) for _ in range(500)]
        await hall.are_all_listening()
        assert len(looks) == 501  # each reads once what came before it listened
        hall.live._looking.cancel()  # type: ignore[union-attr]
        monkeypatch.setattr(live_events, "LOOKED_EVERY", 0.05)
        hall.live._looking = asyncio.ensure_future(hall.live._look())
        await hall.until(lambda: len(looks) > 501)
        hand_in(alice)
        await hall.until(lambda: all("document.done" in hall.kinds(n) for n in numbers))

    run(act)


def test_what_waits_for_one_that_reads_earlier_events_is_bounded_and_nothing_is_lost(
    alice: Person, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(live_events, "MOST_WAITING", 4)
    held: list[int] = []
    hold = LiveEvents._hold

    def counted(listener: Listener, *given: Any) -> None:
        hold(listener, *given)
        held.append(len(listener.waiting))

    monkeypatch.setattr(LiveEvents, "_hold", staticmethod(counted))

    async def act(hall: Hall) -> None:
        go_on, has_read = asyncio.Event(), asyncio.Event()

        async def slow(act: Callable[..., Any], *given: Any) -> Any:
            found = await hall.threads.run(act, *given)
            has_read.set()
            await go_on.wait()  # what comes from here on is not in it
            return found

        hall.live.catch_up = slow
        number, other = hall.listen(alice), hall.listen(alice, kinds=("document.done",))
        await has_read.wait()
        for words in ("One.", "Two.", "Three."):
            hand_in(alice, words)
        await hall.until(lambda: len(held) == 21)  # 18 of one and 3 of the other
        go_on.set()
        await hall.until(lambda: hall.kinds(number).count("document.done") == 3)
        await hall.until(lambda: hall.kinds(other).count("document.done") == 3)
        assert len(hall.kinds(number)) == 18
        assert max(held) <= 4

    run(act)


def test_who_opens_many_streams_keeps_no_other_from_what_came_before(alice: Person, mallory: Person):
    """Those of one asker read one after the other, whatever they have to read."""
    go_on, under_way, most = asyncio.Event(), 0, 0

    async def act(hall: Hall) -> None:
        async def slow_for_mallory(act: Callable[..., Any], *given: Any) -> Any:
            nonlocal under_way, most
            if given[0] == {mallory.workspace.pk}:
                under_way += 1
                most = max(most, under_way)
                await go_on.wait()
                under_way -= 1
            return await hall.threads.run(act, *given)

        hall.live.catch_up = slow_for_mallory
        since = read_events.newest()
        for person in (alice, mallory):
            hand_in(person, "A letter about pears.")
        many = [hall.listen(mallory, after=since) for _ in range(30)]
        one = hall.listen(alice, after=since)
        await hall.until(lambda: "document.done" in hall.kinds(one) and under_way > 0)
        assert most == 1
        go_on.set()
        await hall.until(lambda: all("document.done" in hall.kinds(each) for each in many))
        assert most == 1

    run(act)
