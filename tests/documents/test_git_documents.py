"""Repositories by their address: read as git's own server hands them out, within bounds."""

import os
import re
import socket
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from memories.documents import document_store, pipeline
from memories.documents.document_store import NewDocument
from memories.errors import Invalid
from memories.models import Document, DocumentPart
from memories.providers import git_clone
from memories.providers.web_fetch import FetchError, FetchLimits
from memories.sources.connectors.connector import is_readable
from tests.handed_in import look_for
from tests.people import Person

pytestmark = pytest.mark.django_db(transaction=True)
LIMITS = FetchLimits(60, 5_000_000)
OWN = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "PATH": os.environ["PATH"]}
NAMED = ("-c", "user.name=Nils", "-c", "user.email=nils@example.org")


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, settings: Any) -> None:
    settings.BLOB_DIR = tmp_path / "blobs"


@dataclass
class GitServer:
    """`git http-backend` behind the test's server; `faults` answer paths in its place."""

    server: HTTPServer
    folder: Path
    faults: dict[str, Response] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def git(self, *words: str) -> None:
        subprocess.run(["git", *NAMED, *words], cwd=self.folder, env=OWN, check=True)

    def told(self, *words: str, said: str = "") -> str:
        done = subprocess.run(
            ["git", *words],
            cwd=self.folder,
            env=OWN,
            input=said,
            text=True,
            check=True,
            stdout=subprocess.PIPE,
        )
        return done.stdout.strip()

    def commit(self, **files: str) -> None:
        for name, content in files.items():
            path = self.folder / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(exist_ok=True)
            path.write_text(content)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "More")

    def url(self, host: str = "localhost", name: str = "pumps.git") -> str:
        return f"http://{host}:{self.server.port}/{name}"

    def answer(self, request: Request) -> Response:
        self.asked.append(request.path)
        if request.path in self.faults:
            return self.faults[request.path]
        told = OWN | {
            "GIT_PROJECT_ROOT": str(self.folder.parent),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": request.path.replace("/pumps.git", "/pumps/.git"),
            "QUERY_STRING": request.query_string.decode(),
            "REQUEST_METHOD": request.method,
            "CONTENT_TYPE": request.content_type or "",
            "REMOTE_ADDR": "127.0.0.1",
            "HTTP_CONTENT_ENCODING": request.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
        }
        done = subprocess.run(
            ["git", "http-backend"],
            input=request.get_data(),
            env=told,
            capture_output=True,
            check=False,
        )
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        lines = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        return Response(body, int(lines.pop("Status", "200").split()[0]), lines)


@pytest.fixture
def served(httpserver: HTTPServer, tmp_path: Path) -> GitServer:
    made = GitServer(httpserver, tmp_path / "pumps")
    made.folder.mkdir()
    made.git("init", "-q", "-b", "main")
    made.commit(
        README_md="# Pumps\n\nThe copper pump needs oil every ninth day.",
        src__pump_py='def oil(pump):\n    """Oil it on the ninth day."""\n',
        logo_bin="no words",
    )
    (made.folder / "secret").symlink_to("/etc/passwd")
    made.commit()
    httpserver.expect_request(re.compile(".*")).respond_with_handler(made.answer)
    return made


def read(person: Person, url: str, **named: Any) -> Document:
    new = NewDocument(None, url=url, **named)
    document = document_store.receive(person.scope, new).document
    return pipeline.run(document.pk) or Document.objects.get(pk=document.pk)


def cloned(url: str, *allowed: str, limits: FetchLimits = LIMITS) -> git_clone.Repository:
    return git_clone.clone(url, limits, allowed, lambda path, _: is_readable(path))


def refusal(url: str, *allowed: str, limits: FetchLimits = LIMITS) -> str:
    with pytest.raises(FetchError) as refused:
        cloned(url, *allowed, limits=limits)
    return refused.value.code


def test_a_repository_is_one_document_with_its_files(alice: Person, served: GitServer) -> None:
    done = read(alice, served.url(), custom_id="pumps")
    assert (done.status, done.type, done.filename) == ("completed", "repository", "pumps.zip")
    files = DocumentPart.objects.filter(kind="file").values_list("label", flat=True)
    assert sorted(files) == ["README.md", "src/pump.py"]
    [hit] = look_for(alice, "How often does the copper pump need oil?").hits
    assert "README.md" in [part["label"] for part in hit.passages[0].row.parts]
    assert "root:" not in (done.revision.text if done.revision else "root:")


def test_what_is_committed_later_is_a_new_revision_and_the_same_is_none(alice: Person, served: GitServer) -> None:
    for number in (1, 1):
        done = read(alice, served.url(), custom_id="pumps")
        assert done.revisions.count() == number
    served.commit(README_md="# Pumps\n\nThe copper pump needs oil every tenth day.")
    done = read(alice, served.url(), custom_id="pumps")
    assert done.revision is not None
    assert ("tenth" in done.revision.text, done.revisions.count()) == (True, 2)


def test_a_branch_is_named_behind_the_address(alice: Person, served: GitServer) -> None:
    served.git("checkout", "-q", "-b", "north")
    served.commit(README_md="The pumps of the north freeze.")
    served.git("checkout", "-q", "main")
    done = read(alice, f"{served.url(name='pumps')}.git#north")
    assert done.revision is not None
    assert "freeze" in done.revision.text
    assert read(alice, f"{served.url()}#south").error_code == "source_gone"
    assert refusal(f"{served.url()}#--upload-pack=touch", "localhost") == "fetch_refused"


def test_git_goes_to_the_address_that_was_looked_at(served: GitServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name is known to this process alone: git could not look it up itself."""
    look_up = socket.getaddrinfo

    def names(host: Any, *others: Any, **more: Any) -> Any:
        return look_up("127.0.0.1" if host == "pumps.invalid" else host, *others, **more)

    monkeypatch.setattr(socket, "getaddrinfo", names)
    assert cloned(served.url("pumps.invalid"), "pumps.invalid").data[:2] == b"PK"
    assert refusal(served.url("pumps.invalid")) == "fetch_refused"


def test_no_redirect_leads_git_to_the_inside(served: GitServer) -> None:
    inside = Response("", 302, {"Location": f"http://127.0.0.1:{served.server.port}/pumps.git/x"})
    served.faults["/moved.git/info/refs"] = inside
    assert refusal(served.url(name="moved.git"), "localhost") == "fetch_refused"
    moved = f"{served.url()}/info/refs?service=git-upload-pack"
    served.faults["/moved.git/info/refs"] = Response("", 302, {"Location": moved})
    assert cloned(served.url(name="moved.git"), "localhost").url == served.url()
    served.faults["/pumps.git/git-upload-pack"] = inside
    assert refusal(served.url(), "localhost") == "fetch_failed"
    assert not [path for path in served.asked if path.endswith("/x")]


def test_what_is_no_repository_or_too_large_says_so(served: GitServer) -> None:
    served.faults["/page.git/info/refs"] = Response("<html>")
    assert refusal(served.url(name="page.git"), "localhost") == "fetch_failed"
    assert refusal(served.url(name="none.git"), "localhost") == "source_gone"
    served.faults["/mine.git/info/refs"] = Response("", 401)
    assert refusal(served.url(name="mine.git"), "localhost") == "login_required"
    with pytest.raises(FetchError, match="a connection .github. with a token reads it"):
        git_clone.clone(served.url(name="mine.git"), LIMITS, ["localhost"], lambda *_: True)
    noise = "".join(f"{number * 7919 % 100_003} " for number in range(60_000))
    served.commit(noise_txt=noise)
    small = FetchLimits(60, 200_000)
    assert refusal(served.url(), "localhost", limits=small) == "too_large"


def test_trees_that_unfold_without_end_are_refused(served: GitServer) -> None:
    """Ten folders that each hold ten of the same, ten deep: a few hundred bytes."""
    made = [*NAMED, "hash-object", "-w", "--stdin"]
    kind, sha = "100644 blob", served.told(*made, said="It hums.")
    for _ in range(10):
        lines = "".join(f"{kind} {sha}\tf{number}\n" for number in range(10))
        kind, sha = "040000 tree", served.told("mktree", said=lines)
    served.git("update-ref", "HEAD", served.told(*NAMED, "commit-tree", sha, "-m", "Bomb"))
    assert refusal(served.url(), "localhost") == "too_large"


def test_other_ways_of_git_are_refused_at_once(alice: Person, tmp_path: Path) -> None:
    for url in ("ssh://git@localhost/x.git", f"file://{tmp_path}/x.git", "ext::sh -c id", "x.git"):
        with pytest.raises(Invalid) as refused:
            document_store.receive(alice.scope, NewDocument(None, url=url, type="repository"))
        assert refused.value.field == "url"


def test_without_git_it_says_how_to_install_it(
    alice: Person, served: GitServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = read(alice, served.url())
    assert (done.state, done.error_code) == ("failed", "git_unavailable")
    assert "apt install git" in done.reason
