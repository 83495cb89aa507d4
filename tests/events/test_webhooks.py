"""Webhooks: told with the change, signed, tried again after longer waits, given up where it can be
seen, and sent again by hand."""

import asyncio
import base64
import hashlib
import hmac
import json
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from memories.belief import review
from memories.events import deliver_webhooks, webhooks
from memories.events.deliver_webhooks import WAITS, Told, deliver_due
from memories.events.webhook_sender import MOST_OF_WORKSPACE, WebhookSender
from memories.events.webhook_signatures import secret_of
from memories.events.webhooks import NewWebhook
from memories.models import ChangeEvent, Webhook, WebhookDelivery
from tests import desk
from tests.api_fixtures import Answer, caller, member
from tests.handed_in import hand_in
from tests.people import Person

ALL = tuple(ChangeEvent.Kind.values)
PATH = "/hook"


@pytest.fixture
def hook(alice: Person, httpserver: HTTPServer) -> Webhook:
    return webhooks.create(alice.scope, NewWebhook(httpserver.url_for(PATH), ("session.done",)))


def answers(server: HTTPServer, *statuses: int) -> list[Request]:
    """What comes to the address is answered so, in turn; the last one from then on."""
    came: list[Request] = []

    def handler(request: Request) -> Response:
        request.get_data()
        came.append(request)
        return Response(status=statuses[min(len(came), len(statuses)) - 1])

    server.expect_request(PATH, method="POST").respond_with_handler(handler)
    return came


def deliveries(hook: Webhook) -> list[WebhookDelivery]:
    return list(WebhookDelivery.objects.filter(webhook=hook).order_by("id"))


def send(hook: Webhook) -> int:
    return deliver_due(hook.pk, hook.workspace_id).tries


def is_signed(request: Request, secret: str) -> bool:
    """As a receiver checks it, who knows nothing of us."""
    headers = request.headers
    text = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + request.get_data()
    key = base64.b64decode(secret.removeprefix("whsec_"))
    mark = base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()
    return f"v1,{mark}" in headers["webhook-signature"].split()


def test_a_session_is_told_of_with_ids_and_a_signature(alice: Person, hook: Webhook, httpserver: HTTPServer):
    came = answers(httpserver, 204)
    session = alice.tell("Plums are kept in the cellar.")
    assert send(hook) == 1
    (request,), (delivery,) = came, deliveries(hook)
    assert json.loads(request.get_data()) == {
        "type": "session.done",
        "sessionId": str(session.pk),
        "state": "done",
        "at": delivery.happened_at.isoformat(),
        "id": str(delivery.pk),
        "workspaceId": str(alice.workspace.pk),
    }
    assert request.headers["webhook-id"] == str(delivery.pk)
    assert abs(int(request.headers["webhook-timestamp"]) - timezone.now().timestamp()) < 60
    assert is_signed(request, secret_of(hook))
    assert (delivery.state, delivery.status, delivery.attempts) == ("delivered", 204, 1)
    assert send(hook) == 0


def test_each_hears_of_what_it_asked_for_in_its_workspace(alice: Person, mallory: Person):
    every = webhooks.create(alice.scope, NewWebhook("https://example.org/all", ALL))
    documents = webhooks.create(alice.scope, NewWebhook("https://example.org/d", ("document.done",)))
    hand_in(alice)
    memory = alice.note("The gate is green.")
    review.forget(alice.scope, memory.pk)
    mallory.tell("Figs are kept in the attic.")
    assert [each.kind for each in deliveries(documents)] == ["document.done"]
    told = [(each.kind, each.item_state) for each in deliveries(every)]
    assert ("memory.changed", "live") in told
    assert ("memory.changed", "forgotten") in told
    assert not [each for each in deliveries(every) if each.workspace_id != alice.workspace.pk]
    assert ("session.done", "done") not in told


def test_ids_are_in_the_order_of_their_time(alice: Person, hook: Webhook):
    alice.tell("Plums are kept in the cellar.")
    first = deliveries(hook)[0].pk
    assert first.version == 7
    assert abs((first.int >> 80) / 1000 - timezone.now().timestamp()) < 60


def test_what_is_not_heard_is_sent_again_after_longer_waits_and_given_up(
    alice: Person, hook: Webhook, httpserver: HTTPServer
):
    came = answers(httpserver, 500)
    alice.tell("Plums are kept in the cellar.")
    waits = []
    for _ in range(len(WAITS) + 1):
        WebhookDelivery.objects.update(next_attempt_at=timezone.now())
        assert send(hook) == 1
        row = deliveries(hook)[0]
        if row.next_attempt_at:
            waits.append(round((row.next_attempt_at - timezone.now()).total_seconds(), -1))
    assert waits == sorted(waits)
    assert len(waits) == len(WAITS)
    assert (row.state, row.status, row.attempts) == ("given_up", 500, len(WAITS) + 1)
    assert len({request.headers["webhook-id"] for request in came}) == 1
    assert send(hook) == 0


def test_who_is_gone_is_told_no_more(alice: Person, hook: Webhook, httpserver: HTTPServer):
    answers(httpserver, 410)
    alice.tell("Plums are kept in the cellar.")
    assert send(hook) == 1
    assert deliveries(hook)[0].state == "given_up"


def test_what_was_given_up_is_sent_again_by_hand(alice: Person, mallory: Person, hook: Webhook, httpserver: HTTPServer):
    came = answers(httpserver, 410, 200)
    alice.tell("Plums are kept in the cellar.")
    send(hook)
    (row,) = deliveries(hook)
    route = f"/deliveries/{row.pk}/redeliver"
    assert caller(mallory).post(route).status == 404
    assert member(alice.workspace, "editor").post(route).status == 403
    assert caller(alice).post(route).body["state"] == "waiting"
    send(hook)
    assert deliveries(hook)[0].state == "delivered"
    assert [request.headers["webhook-id"] for request in came] == [str(row.pk)] * 2
    WebhookDelivery.objects.update(lease_until=timezone.now() + timedelta(seconds=30))
    assert caller(alice).post(route).status == 409


def test_after_a_rotation_both_secrets_are_good_for_a_while(alice: Person, hook: Webhook, httpserver: HTTPServer):
    came = answers(httpserver, 200)
    http, old = caller(alice), secret_of(hook)
    new = http.post(f"/webhooks/{hook.pk}/rotate").body["secret"]
    alice.tell("Plums are kept in the cellar.")
    send(hook)
    assert (is_signed(came[0], new), is_signed(came[0], old)) == (True, True)
    http.post(f"/webhooks/{hook.pk}/rotate", {"overlapSeconds": 0})
    alice.tell("Figs are kept in the attic.")
    send(hook)
    assert (is_signed(came[1], new), is_signed(came[1], old)) == (False, False)


def test_the_secret_is_shown_once_and_stands_in_no_table(alice: Person):
    http = caller(alice)
    made = http.post("/webhooks", {"url": "https://example.org/h", "events": ["case.opened"]})
    secret = made.body["secret"]
    assert secret.startswith("whsec_")
    assert "secret" not in http.get(f"/webhooks/{made.body['id']}").body
    assert "nonce" not in str(http.get("/webhooks").body)
    with connection.cursor() as cursor:
        cursor.execute("select w::text from memories_webhook w")
        assert secret.removeprefix("whsec_") not in str(cursor.fetchall())


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8000/",
        "http://169.254.169.254/latest",
        "https://10.0.0.7/x",
        "ftp://a/b",
        "https://[::1]/",
        "https://user:pass@example.org/",
        "http://example.org/",
        "https://",
        "https://example.org:99999/",
        "https://[::ffff:10.0.0.1]/",
        "https://exam\nple.org/",
    ],
)
def test_addresses_of_the_inside_are_refused(alice: Person, settings: Any, url: str):
    settings.WEBHOOK_ALLOWED_HOSTS = []
    answer = caller(alice).post("/webhooks", {"url": url, "events": ["session.done"]})
    assert (answer.status, answer.fields) == (400, ["url"])


def test_a_name_that_leads_inside_is_not_called(alice: Person, hook: Webhook, httpserver: HTTPServer, settings: Any):
    came = answers(httpserver, 200)
    settings.WEBHOOK_ALLOWED_HOSTS = []
    alice.tell("Plums are kept in the cellar.")
    assert send(hook) == 1
    (row,) = deliveries(hook)
    assert (row.state, row.status, came) == ("waiting", None, [])
    assert "no address that this server may call" in row.error


def test_a_redirect_is_not_followed(alice: Person, hook: Webhook, httpserver: HTTPServer):
    target = httpserver.url_for("/inside")
    httpserver.expect_request(PATH).respond_with_response(Response(status=302, headers={"Location": target}))
    alice.tell("Plums are kept in the cellar.")
    send(hook)
    assert (deliveries(hook)[0].state, deliveries(hook)[0].status) == ("waiting", 302)
    assert [request.path for request, _ in httpserver.log] == [PATH]


def test_nobody_there_is_told_as_such(alice: Person):
    hook = webhooks.create(alice.scope, NewWebhook("http://localhost:9/", ("session.done",)))
    alice.tell("Plums are kept in the cellar.")
    send(hook)
    assert deliveries(hook)[0].error == "the address cannot be reached"


def test_what_is_switched_off_waits(alice: Person, hook: Webhook, httpserver: HTTPServer):
    came = answers(httpserver, 200)
    http = caller(alice)
    alice.tell("Plums are kept in the cellar.")
    changed = http.patch(f"/webhooks/{hook.pk}", {"isActive": False, "events": list(ALL)})
    assert changed.body["isActive"] is False
    assert (send(hook), deliver_webhooks.due(), came) == (0, [], [])
    alice.tell("Figs are kept in the attic.")
    assert len(deliveries(hook)) == 1
    http.patch(f"/webhooks/{hook.pk}", {"isActive": True})
    assert deliver_webhooks.due() == [(hook.pk, hook.workspace_id)]
    assert send(hook) == 1


def test_one_worker_at_a_time_tells_an_address(alice: Person, hook: Webhook):
    alice.tell("Plums are kept in the cellar.")
    alice.tell("Figs are kept in the attic.")
    first = deliveries(hook)[0]
    WebhookDelivery.objects.filter(pk=first.pk).update(lease_until=timezone.now() + timedelta(seconds=60))
    assert send(hook) == 0
    # Of a worker that died the lease runs out; what it writes afterwards counts no more.
    WebhookDelivery.objects.update(lease_until=timezone.now() - timedelta(seconds=1), claims=7)
    deliver_webhooks._write(first, 200, "")
    assert deliveries(hook)[0].state == "waiting"


def test_a_ping_says_nothing_and_tells_whether_it_was_heard(alice: Person, hook: Webhook, httpserver: HTTPServer):
    came = answers(httpserver, 200)
    http = caller(alice)
    assert http.post(f"/webhooks/{hook.pk}/ping").status == 202
    send(hook)
    assert json.loads(came[0].get_data())["type"] == "ping"
    listed = http.get("/deliveries", webhookId=str(hook.pk), state="delivered").body["results"]
    assert [row["kind"] for row in listed] == ["ping"]
    assert http.get("/deliveries", webhookId=str(uuid.uuid4())).body["results"] == []


def test_administrators_alone_have_to_do_with_them(alice: Person, bob: Person, mallory: Person, hook: Webhook):
    def status(answer: Answer) -> int:
        return answer.status

    route = f"/webhooks/{hook.pk}"
    assert status(caller(bob).get(route)) == status(caller(bob).get("/deliveries")) == 403
    assert status(member(alice.workspace, "editor").get("/webhooks")) == 403
    assert status(caller(mallory).get(route)) == 404
    assert status(caller(mallory).patch(route, {"name": "mine"})) == 404
    assert status(caller(mallory).delete(route)) == 404
    assert status(caller(alice).patch(route, {"url": "http://10.0.0.1/"})) == 400
    assert status(caller(alice).patch(route, {})) == 200
    assert status(caller(alice).delete(route)) == 204
    assert not Webhook.objects.exists()


def test_a_workspace_has_so_many_and_no_more(alice: Person, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(webhooks, "MOST", 1)
    body = {"url": "https://example.org/h", "events": ["session.done"]}
    assert caller(alice).post("/webhooks", body).status == 201
    assert caller(alice).post("/webhooks", body).status == 409


def test_old_deliveries_go_with_the_sweep(alice: Person, hook: Webhook):
    alice.tell("Plums are kept in the cellar.")
    alice.tell("Figs are kept in the attic.")
    old = timezone.now() - deliver_webhooks.KEPT * 2
    WebhookDelivery.objects.update(created_at=old)
    WebhookDelivery.objects.filter(pk=deliveries(hook)[0].pk).update(state="delivered")
    owner = desk.member(alice.workspace)
    assert "What has waited for 30 days is not sent any more" in owner.sees(desk.page_of(hook))
    alice.tell("Pears are kept in the shed.")
    call_command("sweep")
    assert [row.created_at > old for row in deliveries(hook)] == [True]


def test_an_address_that_does_not_hear_is_not_asked_for_all_that_waits(
    alice: Person, hook: Webhook, httpserver: HTTPServer
):
    came = answers(httpserver, 500)
    for number in range(3):
        alice.tell(f"Box {number} is kept in the cellar.")
    told = deliver_due(hook.pk, hook.workspace_id)
    assert (told.tries, told.is_heard, len(came)) == (1, False, 1)


def test_the_first_address_of_each_workspace_comes_before_the_second_of_any(alice: Person, mallory: Person):
    for number in range(5):
        webhooks.create(mallory.scope, NewWebhook(f"https://example.org/{number}", ALL))
    hook = webhooks.create(alice.scope, NewWebhook("https://example.org/hook", ALL))
    mallory.tell("Figs are kept in the attic.")
    alice.tell("Plums are kept in the cellar.")
    found = deliver_webhooks.due()
    assert len(found) == 6
    assert found[1] == (hook.pk, alice.workspace.pk)
    assert hook.pk not in dict(deliver_webhooks.due(without=[hook.pk]))


def test_addresses_that_hang_leave_places_to_those_that_hear():
    async def run() -> None:
        go_on, took = asyncio.Event(), []

        async def answer(act: Any, hook: uuid.UUID, workspace: uuid.UUID) -> Told:
            took.append(workspace)
            if workspace in hanging:
                await go_on.wait()
            return Told(1, is_heard=workspace not in hanging)

        hanging = [uuid.uuid4() for _ in range(20)]
        sender = WebhookSender(answer)
        due = [(uuid.uuid4(), each) for each in hanging]
        sender.begin(due[:8])
        await asyncio.sleep(0)
        go_on.set()
        while sender.busy:
            await asyncio.sleep(0)
        assert {*sender.resting} == {hook for hook, _ in due[:8]}
        go_on.clear()
        other = uuid.uuid4()
        sender.begin([*due[:8], (uuid.uuid4(), other)])
        assert len(sender.busy) == 5
        await asyncio.sleep(0)
        assert took[-1] == other
        go_on.set()
        while sender.busy:
            await asyncio.sleep(0)

    asyncio.run(run())


def test_a_workspaces_addresses_take_no_more_than_their_places():
    async def run() -> None:
        began: list[uuid.UUID] = []
        go_on = asyncio.Event()

        async def wait(act: Any, hook: uuid.UUID, workspace: uuid.UUID) -> None:
            began.append(hook)
            await go_on.wait()
            raise ValueError("an address that breaks is no matter of the others")

        sender = WebhookSender(wait)
        one, other = uuid.uuid4(), uuid.uuid4()
        due = [(uuid.uuid4(), one) for _ in range(5)] + [(uuid.uuid4(), other)]
        sender.begin(due)
        sender.begin(due)
        await asyncio.sleep(0)
        assert len(began) == MOST_OF_WORKSPACE + 1
        sender.begin([(uuid.uuid4(), uuid.uuid4()) for _ in range(20)])
        assert len(sender.busy) == 8
        go_on.set()
        while sender.busy:
            await asyncio.sleep(0.01)

    asyncio.run(run())


def test_the_log_of_the_admin_shows_what_was_given_up_and_sends_it_again(
    alice: Person, mallory: Person, hook: Webhook, httpserver: HTTPServer
):
    answers(httpserver, 410, 200)
    alice.tell("Plums are kept in the cellar.")
    send(hook)
    (row,) = deliveries(hook)
    owner = desk.member(alice.workspace)
    assert "given up" in owner.sees(desk.list_of(WebhookDelivery))
    assert "session.done" in owner.sees(desk.page_of(row))
    assert "answered 410" in owner.sees(desk.page_of(hook))
    assert "secret" not in owner.sees(desk.page_of(hook)).lower().replace("old secret", "")
    owner.does(row, "redeliver")
    send(hook)
    assert "Nothing was" not in owner.sees(desk.list_of(WebhookDelivery))
    assert deliveries(hook)[0].state == "delivered"
    for stranger in (desk.member(mallory.workspace), desk.member(alice.workspace, "editor")):
        assert stranger.status(desk.page_of(hook)) in (403, 404)
        assert stranger.status(desk.page_of(row)) in (403, 404)


def test_a_hook_is_switched_off_and_on_and_pinged_in_the_admin(alice: Person, hook: Webhook):
    owner = desk.member(alice.workspace)
    assert str(hook) in owner.sees(desk.list_of(Webhook))
    owner.does(hook, "ping")
    assert deliveries(hook)[0].kind == "ping"
    owner.does(hook, "pause")
    assert not Webhook.objects.get().is_active
    owner.does(hook, "resume")
    assert Webhook.objects.get().is_active
