"""Google Drive and OneDrive: all of it first, then the drive's own list of changes."""

import base64
import json
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from memories.providers.web_fetch import FetchError
from memories.sources.connectors import google_drive, oauth
from memories.sources.connectors.connector import Connector, Unlisted
from tests.source_stubs import Stub, listed, says

GOOGLE = "application/vnd.google-apps."
FOLDER = f"{GOOGLE}folder"
PERSON = {"clientId": "app", "clientSecret": "s", "refreshToken": "first"}


@pytest.fixture(autouse=True)
def no_tokens() -> None:
    oauth._kept.clear()


class Drive:
    """Files by id, and a list of what changed; `tokens` are good ones."""

    def __init__(self) -> None:
        self.files: dict[str, dict[str, Any]] = {}
        self.changed: list[str] = []
        self.forms: list[dict[str, str]] = []
        self.token = 0
        self.oldest = 0  # a token before it is known no more

    def file(self, file_id: str, name: str, kind: str = "text/plain", parent: str = "top") -> None:
        self.files[file_id] = {
            "id": file_id,
            "name": name,
            "mimeType": kind,
            "parents": [parent],
            "trashed": False,
            "modifiedTime": f"2026-01-01T00:00:{len(self.changed):02}Z",
            "webViewLink": "https://d/",
        } | ({} if kind.startswith(GOOGLE) else {"md5Checksum": f"md5-{name}"})
        self.changed.append(file_id)

    def answer(self, request: Request) -> Response | None:
        if request.path == "/token":
            self.forms.append(request.form.to_dict())
            if request.form.get("refresh_token") == "wrong":
                return says({"error": "invalid_grant"}, 400)
            self.token += 1
            return says({"access_token": f"t{self.token}", "expires_in": 3600})
        if request.headers.get("authorization") != f"Bearer t{self.token}":
            return says({}, 401)
        kind, _, rest = request.path.strip("/").partition("/")
        if kind == "about":
            return says({"user": {"emailAddress": "ada@example.org"}})
        if kind == "changes":
            return self._changes(rest, request.args)
        return self._file(rest, request.args) if rest else self._list(request.args)

    def _changes(self, rest: str, asked: Any) -> Response:
        if rest:
            return says({"startPageToken": str(len(self.changed))})
        start = int(asked["pageToken"])
        if start < self.oldest:
            return says({"error": {"message": "Invalid Value"}}, 400)
        rows = [
            {"fileId": i, "removed": i not in self.files, "file": self.files.get(i)}
            for i in self.changed[start : start + 2]
        ]
        end = min(start + 2, len(self.changed))
        name = "nextPageToken" if end < len(self.changed) else "newStartPageToken"
        return says({"changes": rows, name: str(end)})

    def _list(self, asked: Any) -> Response:
        parent = asked["q"].partition(" and '")[2].partition("'")[0]
        files = [f for f in self.files.values() if not parent or parent in f["parents"]]
        start = int(asked.get("pageToken", 0))
        more = {"nextPageToken": str(start + 2)} if start + 2 < len(files) else {}
        return says({"files": files[start : start + 2], **more})

    def _file(self, rest: str, asked: Any) -> Response | None:
        file_id, _, export = rest.partition("/")
        if file_id not in self.files:
            return None
        if export:
            return Response(f"as {asked['mimeType']}")
        return Response("content") if asked.get("alt") else says(self.files[file_id])


@pytest.fixture
def drive() -> Drive:
    made = Drive()
    made.file("inner", "Inner", FOLDER)
    made.file("a", "a.txt")
    made.file("b", "Report", f"{GOOGLE}document", "inner")
    made.file("c", "photo.png", "image/png")
    made.file("d", "Form", f"{GOOGLE}form")
    made.file("e", "else.txt", parent="elsewhere")
    return made


@pytest.fixture
def stub(httpserver: HTTPServer, drive: Drive) -> Stub:
    return Stub(httpserver, drive.answer)


def google(stub: Stub, folder: str = "top", **credentials: str) -> Connector:
    options = {"folderId": folder} if folder else {}
    return stub.connector("google_drive", options, credentials or PERSON)


def test_a_folder_is_listed_with_all_below_it(stub: Stub) -> None:
    versions, _, last = listed(google(stub), {})
    assert set(versions) == {"a", "b"}
    assert versions["a"] == "md5-a.txt"
    assert (last.unlisted, last.cursor["folders"]) == (Unlisted.GONE, ["top", "inner"])
    assert set(listed(google(stub, folder=""), {})[0]) == {"a", "b", "e"}


def test_then_its_changes_are_read(stub: Stub, drive: Drive) -> None:
    cursor = listed(google(stub), {})[2].cursor
    drive.file("a", "a2.txt")
    drive.file("e", "else2.txt", parent="elsewhere")
    drive.file("new", "new.md", parent="inner")
    del drive.files["b"]
    drive.changed.append("b")
    versions, gone, last = listed(google(stub), cursor)
    assert versions == {"a": "md5-a2.txt", "new": "md5-new.md"}
    assert gone == {"e", "b"}
    assert last.unlisted == Unlisted.KEPT
    assert listed(google(stub), last.cursor)[0] == {}


@pytest.mark.parametrize("cause", ["an old token", "a new folder", "a lost folder"])
def test_where_changes_do_not_tell_it_all_is_listed_again(stub: Stub, drive: Drive, cause: str) -> None:
    cursor = listed(google(stub), {})[2].cursor
    if cause == "an old token":
        drive.oldest = 100
    elif cause == "a new folder":
        drive.file("second", "Second", FOLDER)
    else:
        del drive.files["inner"]
        drive.changed.append("inner")
    assert listed(google(stub), cursor)[2].unlisted == Unlisted.GONE


def test_googles_own_kinds_are_exported(stub: Stub) -> None:
    one, two = google(stub).fetch("a", {}), google(stub).fetch("b", {})
    assert one is not None
    assert two is not None
    assert (one.data, one.filename) == (b"content", "a.txt")
    assert (two.data, two.filename) == (b"as text/markdown", "Report.md")


def test_what_is_gone_or_in_the_trash_says_so(stub: Stub, drive: Drive) -> None:
    drive.files["a"]["trashed"] = True
    for file_id in ("a", "none"):
        with pytest.raises(FetchError) as gone:
            google(stub).fetch(file_id, {})
        assert gone.value.code == "source_gone"


def test_a_token_is_kept_and_made_anew_when_it_is_refused(stub: Stub, drive: Drive) -> None:
    assert google(stub).test() == "As ada@example.org."
    google(stub).test()
    assert len(drive.forms) == 1
    drive.token = 7  # those before are good no more
    google(stub).test()
    assert len(drive.forms) == 2
    assert drive.forms[0]["refresh_token"] == "first"


def test_a_service_account_signs_for_itself(stub: Stub, drive: Drive) -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()
    account = {"clientEmail": "bot@example.org", "privateKey": pem}
    google(stub, **account).test()
    [form] = drive.forms
    claims = json.loads(base64.urlsafe_b64decode(form["assertion"].split(".")[1] + "=="))
    assert (claims["iss"], claims["scope"]) == ("bot@example.org", google_drive.SCOPE)
    with pytest.raises(FetchError) as refusal:
        google(stub, clientEmail="b", privateKey="no key")
    assert refusal.value.code == "login_required"


def test_refused_credentials_and_limits_are_told(stub: Stub) -> None:
    with pytest.raises(FetchError) as refusal:
        google(stub, **(PERSON | {"refreshToken": "wrong"})).test()
    assert refusal.value.code == "login_required"
    with pytest.raises(FetchError):
        stub.connector("google_drive", {})
    source = google(stub)
    source.test()
    reason = {"error": {"errors": [{"reason": "userRateLimitExceeded"}]}}
    for ask in (lambda: source.changes({}), lambda: source.fetch("a", {})):
        stub.faults = [says(reason, 403)]
        with pytest.raises(FetchError) as limit:
            ask()
        assert (limit.value.code, limit.value.retry_after) == ("rate_limited", 60.0)
    for ask in (lambda: source.changes({}), lambda: source.fetch("a", {}), source.test):
        stub.faults = [says([])]
        with pytest.raises(FetchError) as shape:
            ask()
        assert shape.value.code == "fetch_failed"
    stub.faults = [says({}, 403)]
    with pytest.raises(FetchError) as closed:
        source.test()
    assert closed.value.code == "login_required"


# ---- OneDrive


class OneDrive:
    def __init__(self) -> None:
        self.log: list[dict[str, Any]] = []
        self.oldest = 0
        self.refresh = "first"
        self.url = ""

    def file(self, file_id: str, name: str, **more: Any) -> None:
        row = {"id": file_id, "name": name, "cTag": f"c-{name}", "file": {}, "webUrl": "https://o/"}
        self.log.append(row | more)

    def answer(self, request: Request) -> Response | None:
        if request.path.endswith("/oauth2/v2.0/token"):
            if request.form["grant_type"] == "client_credentials":
                return says({"access_token": "good", "expires_in": 3600})
            if request.form["refresh_token"] != self.refresh:
                return says({"error": "invalid_grant"}, 400)
            self.refresh += "+"
            return says({"access_token": "good", "refresh_token": self.refresh})
        if request.path == "/blob":
            assert "authorization" not in request.headers
            return Response("content")
        if request.headers.get("authorization") != "Bearer good":
            return says({}, 401)
        if request.path.endswith("/content"):
            there = self.url.replace("localhost", "127.0.0.1")
            return Response("", 302, {"Location": f"{there}blob"})
        if not request.path.endswith("/delta"):
            return says({"driveType": "business"})
        start = int(request.args.get("token", 0))
        if "token" not in request.args:
            self.oldest = 0
        if start < self.oldest:
            return says({"error": {"code": "resyncRequired"}}, 410)
        end = min(start + 2, len(self.log))
        name = "@odata.nextLink" if end < len(self.log) else "@odata.deltaLink"
        link = f"{self.url.rstrip('/')}{request.path}?token={end}"
        return says({"value": self.log[start:end], name: link})


@pytest.fixture
def onedrive() -> OneDrive:
    made = OneDrive()
    made.log.append({"id": "root", "name": "root", "folder": {}})
    made.file("a", "a.docx")
    made.file("b", "b.md")
    made.file("c", "c.exe")
    return made


@pytest.fixture
def graph(httpserver: HTTPServer, onedrive: OneDrive) -> Stub:
    made = Stub(httpserver, onedrive.answer)
    onedrive.url = made.url
    return made


def microsoft(graph: Stub, refresh: str = "first", **options: str) -> Connector:
    return graph.connector("onedrive", options, {"clientId": "app", "refreshToken": refresh})


def test_a_drive_is_listed_and_then_its_changes(graph: Stub, onedrive: OneDrive) -> None:
    source = microsoft(graph)
    versions, _, last = listed(source, {})
    assert (versions, last.unlisted) == ({"a": "c-a.docx", "b": "c-b.md"}, Unlisted.GONE)
    onedrive.file("a", "a2.docx")
    onedrive.log.append({"id": "b", "deleted": {"state": "deleted"}})
    versions, gone, last = listed(source, last.cursor)
    assert (versions, gone, last.unlisted) == ({"a": "c-a2.docx"}, {"b"}, Unlisted.KEPT)
    onedrive.oldest = 100
    assert listed(source, last.cursor)[2].unlisted == Unlisted.GONE


def test_the_renewed_refresh_token_is_handed_on(graph: Stub) -> None:
    source = microsoft(graph)
    source.test()
    source.test()
    assert source.renewed is not None
    assert source.renewed["refreshToken"] == "first+"
    assert microsoft(graph, "first+").test() == "A drive: business."
    oauth._kept.clear()
    with pytest.raises(FetchError) as refusal:
        microsoft(graph).test()
    assert refusal.value.code == "login_required"


def test_content_comes_without_the_token(graph: Stub) -> None:
    app = {"clientId": "app", "clientSecret": "s", "tenant": "t"}
    source = graph.connector("onedrive", {"driveId": "d", "folderId": "f"}, app)
    source.wire.allowed = ("localhost", "127.0.0.1")
    found = source.fetch("a!1", {})
    assert found is not None
    assert found.data == b"content"
    source.changes({})
    assert "/drives/d/items/f/delta" in graph.asked
    assert source.renewed is None


def test_odd_answers_of_a_drive_are_told(graph: Stub) -> None:
    with pytest.raises(FetchError):
        graph.connector("onedrive", {})
    source = microsoft(graph)
    source.test()
    for ask in (lambda: source.changes({}), source.test):
        graph.faults = [says([])]
        with pytest.raises(FetchError) as shape:
            ask()
        assert shape.value.code == "fetch_failed"
    graph.faults = [says({}, 410)]
    with pytest.raises(FetchError):
        source.changes({})
    graph.faults = [says({"value": [], "@odata.nextLink": "https://elsewhere.example/"})]
    more = source.changes({}).cursor
    with pytest.raises(FetchError) as refusal:
        source.changes(more)
    assert refusal.value.code == "fetch_refused"


def test_a_token_server_that_answers_oddly_is_told(graph: Stub) -> None:
    for odd, code in ((says({}), "fetch_failed"), (says({}, 500), "fetch_status")):
        graph.faults = [odd]
        with pytest.raises(FetchError) as shape:
            microsoft(graph).test()
        assert shape.value.code == code
