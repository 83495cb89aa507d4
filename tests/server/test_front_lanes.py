"""Which lane a request belongs to, and what the front makes of its headers."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.http.cookie import parse_cookie

from memoryproject.server.front.fairness import FairQueue
from memoryproject.server.front.lanes import LANES, READ, lane_of, processes_of
from memoryproject.server.front.presented import presented_key
from memoryproject.server.front.rate_limits import Tenants
from memoryproject.server.front.requests import Refusal, Request, request_of
from memoryproject.server.front.wire import Frames, packed

W = "/api/v1/workspaces/demo"


@pytest.mark.parametrize(
    ("method", "path", "lane"),
    [
        ("GET", f"{W}/memories", "read"),
        ("POST", f"{W}/memories/search", "read"),
        ("POST", f"{W}/memories/context", "read"),
        ("POST", f"{W}/memories/ingest", "write"),
        ("DELETE", f"{W}/memories/1", "write"),
        ("GET", "/health/ready", "beside"),
        ("GET", "/metrics", "beside"),
        ("GET", "/admin/login/", "pages"),
        ("POST", "/admin/login/", "login"),
        ("POST", "/accounts/password/x/y", "login"),
        ("POST", "/admin/memories/memory/", "pages"),
        ("GET", "/static/memoryproject/desk.css", "pages"),
    ],
)
def test_requests_queue_with_their_own_kind_only(method: str, path: str, lane: str) -> None:
    assert lane_of(method, path).name == lane


def test_each_lane_has_a_process_however_small_the_server() -> None:
    assert all(processes_of(lane, 1) == 1 for lane in LANES.values())
    assert processes_of(READ, 4) == 4


class Headers(list[tuple[str, str]]):
    def items(self) -> list[tuple[str, str]]:
        return self


def request(*headers: tuple[str, str], path: str = "/x", behind_proxy: bool = False) -> Request:
    scope: Any = SimpleNamespace(
        method="GET",
        path=path,
        query_string="a=1",
        client="10.0.0.9:5",
        authority=None,
        http_version="1.1",
        headers=Headers([("host", "memory.example:8000"), *headers]),
    )
    return request_of(scope, behind_proxy=behind_proxy)


def test_what_wsgi_wants_to_know_is_said() -> None:
    environ = request(("accept", "a"), ("accept", "b"), path="/ä b").environ
    assert environ["PATH_INFO"].encode("latin-1").decode() == "/ä b"
    assert (environ["SERVER_NAME"], environ["SERVER_PORT"]) == ("memory.example", "8000")
    assert (environ["HTTP_ACCEPT"], environ["QUERY_STRING"]) == ("a,b", "a=1")


def test_no_header_passes_for_another_or_for_a_word_of_the_front() -> None:
    environ = request(("x_api_key", "k"), ("memoryproject.tenant", "t")).environ
    assert "HTTP_X_API_KEY" not in environ
    assert "memoryproject.tenant" not in environ


def test_the_address_is_the_proxys_word_only_behind_a_proxy() -> None:
    forwarded = ("x-forwarded-for", "6.6.6.6, 1.2.3.4")
    assert request(forwarded).address == "10.0.0.9"
    assert request(forwarded, behind_proxy=True).address == "1.2.3.4"


def test_a_request_without_an_id_gets_one_and_a_plain_one_is_kept() -> None:
    assert request(("x-request-id", "abc-1")).request_id == "abc-1"
    assert len(request(("x-request-id", "no spaces please")).request_id) == 32


def test_a_log_line_shows_the_prefix_of_a_key_and_no_more() -> None:
    shown = request(("authorization", "Bearer mp_0a1b2c3d4e5f_secret-part"))
    assert shown.key_prefix == "mp_0a1b2c3d4e5f"


def test_a_made_up_key_counts_by_its_address_until_it_has_proved_something() -> None:
    tenants = Tenants()
    first = request(("x-api-key", "mp_a_b"), path=W)
    assert not tenants.name(first)
    assert first.tenant == "address:10.0.0.9"
    tenants.learn(first.credential, "orchard")
    again = request(("x-api-key", "mp_a_b"), path=W)
    assert tenants.name(again)
    assert again.tenant == "orchard"


@pytest.mark.parametrize(
    ("addresses", "tenants"),
    [
        (("2001:db8:1:2::1", "2001:db8:1:2:ffff::2", "[2001:db8:1:2::3]:443"), 1),
        (("2001:db8:1:2::1", "2001:db8:1:3::1"), 2),
        (("192.0.2.1", "192.0.2.1:5000", "::ffff:192.0.2.1"), 1),
        (("192.0.2.1", "192.0.2.2"), 2),
    ],
)
def test_strangers_of_one_network_count_as_one(addresses: tuple[str, ...], tenants: int) -> None:
    asked = [request(("x-forwarded-for", each), behind_proxy=True) for each in addresses]
    assert not any(Tenants().name(each) for each in asked)
    assert len({each.tenant for each in asked}) == tenants


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": "Bearer mp_a_b"},
        {"authorization": "bEARER   mp_a_b "},
        {"authorization": "Token mp_a_b"},
        {"authorization": "Basic bm9ib2R5", "x-api-key": "mp_a_b"},
        {"authorization": "Bearer mp_a_b", "x-api-key": "mp_c_d", "cookie": "sessionid=abc"},
    ],
)
def test_a_key_counts_as_one_however_it_is_shown(headers: dict[str, str]) -> None:
    shown = request(*headers.items(), path=W)
    assert shown.credential == request(("x-api-key", "mp_a_b"), path=W).credential
    assert presented_key(shown.environ) == "mp_a_b"
    assert presented_key(request(("authorization", "Basic bm9ib2R5")).environ) is None


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/admin/", {"cookie": "a=b; sessionid = abcdefgh"}),
        ("/admin/", {"cookie": 'sessionid="\\141bcdefgh"'}),
        ("/admin/", {"cookie": "sessionid=other; __Host-sessionid=another; sessionid=abcdefgh"}),
        ("/admin/", {"cookie": "sessionid=abcdefgh", "authorization": "Bearer mp_a_b"}),
        ("/admin/", {"cookie": "sessionid=abcdefgh", "x-api-key": "mp_a_b"}),
        (W, {"cookie": "sessionid=abcdefgh", "authorization": "Basic bm9ib2R5"}),
    ],
)
def test_a_session_counts_as_one_however_it_is_shown(path: str, headers: dict[str, str]) -> None:
    shown = request(*headers.items(), path=path)
    assert shown.credential == request(("cookie", "sessionid=abcdefgh")).credential
    assert parse_cookie(headers["cookie"])["sessionid"] == "abcdefgh"  # as processes read it


def test_a_cap_of_the_operators_holds_for_each_key_and_refills() -> None:
    now = [0.0]
    tenants = Tenants(lambda: now[0])
    one = request(("x-api-key", "mp_a_b"), path=W)
    tenants.learn(one.credential, "orchard")
    caps = {"key": 60, "workspace": 0, "anonymous": 0}
    known = tenants.name(one)
    for _ in range(60):
        tenants.check_caps(one, known=known, **caps)
    with pytest.raises(Refusal) as refused:
        tenants.check_caps(one, known=known, **caps)
    assert (refused.value.status, refused.value.wait) == (429, 1.0)
    now[0] += 1.0
    tenants.check_caps(one, known=known, **caps)


def test_frames_come_whole_out_of_pieces_of_any_size() -> None:
    sent = packed({"status": 200}, b"x" * 1000) + packed({"more": False})
    frames = Frames()
    came = [frame for at in range(len(sent)) for frame in frames.feed(sent[at : at + 1])]
    assert came == [({"status": 200}, b"x" * 1000), ({"more": False}, b"")]


def test_a_lone_queue_is_never_contended() -> None:
    queue: FairQueue[str] = FairQueue()
    queue.saw("a")
    assert not queue.is_contended("a")
