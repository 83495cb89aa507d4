"""A repository at GitHub: its tree first, then what changed between two commits."""

import time
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from memories.providers.web_fetch import FetchError
from memories.sources.connectors.connector import Connector, Unlisted
from memories.sources.connectors.github import MOST_COMPARED
from tests.source_stubs import Stub, listed, says

REPO = "/repos/ada/pumps"


class Repository:
    """Commits as {path: (hash of its content, content)}, the newest last."""

    def __init__(self) -> None:
        self.commits: list[dict[str, tuple[str, str]]] = []
        self.is_truncated = False
        self.token = "secret"
        self.lost: set[str] = set()

    def commit(self, **files: str) -> None:
        named = {path.replace("__", "/").replace("_", "."): text for path, text in files.items()}
        self.commits.append({path: (f"sha-{text}", text) for path, text in named.items()})

    @property
    def head(self) -> str:
        return f"c{len(self.commits)}"

    def answer(self, request: Request) -> Response | None:
        if request.headers.get("authorization") != f"Bearer {self.token}":
            return says({"message": "Bad credentials"}, 401)
        if request.path == REPO:
            return says({"full_name": "ada/pumps", "default_branch": "main"})
        kind, _, rest = request.path.removeprefix(f"{REPO}/").partition("/")
        if kind == "commits":
            return says({"sha": self.head})
        if kind == "git":
            return self._tree(rest.partition("/")[2], "recursive" in request.args)
        if kind == "compare":
            return self._compared(*rest.split("..."))
        return self._content(rest, request)

    def _tree(self, sha: str, is_recursive: bool) -> Response:
        number, _, folder = sha.partition(":")
        files = self.commits[int(number[1:]) - 1]
        if is_recursive and not self.is_truncated:
            nodes = [self._node(path, sha) for path, (sha, _) in files.items()]
            return says({"tree": nodes, "truncated": False})
        nodes, inner = [], set()
        for path, (digest, _) in files.items():
            if not path.startswith(folder):
                continue
            name, slash, _ = path.removeprefix(folder).partition("/")
            if not slash:
                nodes.append(self._node(name, digest))
            elif name not in inner:
                inner.add(name)
                nodes.append({"path": name, "type": "tree", "sha": f"{number}:{folder}{name}/"})
        return says({"tree": nodes, "truncated": is_recursive})

    @staticmethod
    def _node(path: str, sha: str) -> dict[str, Any]:
        mode = "120000" if path.startswith("link") else "100644"
        return {"path": path, "mode": mode, "type": "blob", "sha": sha, "size": 10}

    def _compared(self, known: str, head: str) -> Response:
        if known in self.lost:
            return says({"message": "Not Found"}, 404)
        before, after = (self.commits[int(each[1:]) - 1] for each in (known, head))
        files: list[dict[str, Any]] = [
            {"filename": path, "status": "removed", "sha": sha}
            for path, (sha, _) in before.items()
            if path not in after and (sha, _) not in after.values()
        ]
        for path, (sha, text) in after.items():
            moved = next((p for p, c in before.items() if c == (sha, text) and p not in after), "")
            if path not in before and moved:
                named = {"previous_filename": moved, "status": "renamed"}
                files.append({"filename": path, "sha": sha, **named})
            elif before.get(path) != (sha, text):
                status = "modified" if path in before else "added"
                files.append({"filename": path, "status": status, "sha": sha})
        return says({"status": "ahead", "files": files})

    def _content(self, path: str, request: Request) -> Response | None:
        assert "raw" in request.headers["accept"]
        found = self.commits[-1].get(path)
        if found is None:
            return None
        if request.headers.get("if-none-match") == found[0]:
            return Response("", 304)
        return Response(found[1], headers={"ETag": found[0]})


@pytest.fixture
def repository() -> Repository:
    made = Repository()
    made.commit(README_md="one", src__pump_py="two", src__deep__valve_py="three", logo_png="four")
    return made


@pytest.fixture
def stub(httpserver: HTTPServer, repository: Repository) -> Stub:
    return Stub(httpserver, repository.answer)


def source(stub: Stub, token: str = "secret", **options: Any) -> Connector:
    options = {"owner": "ada", "repository": "pumps", **options}
    return stub.connector("github", options, {"token": token})


ALL = {"README.md": "sha-one", "src/pump.py": "sha-two", "src/deep/valve.py": "sha-three"}


def test_the_first_sync_lists_the_files_that_can_be_read(stub: Stub) -> None:
    versions, gone, last = listed(source(stub), {})
    assert (versions, gone) == (ALL, set())
    assert (last.unlisted, last.cursor) == (Unlisted.GONE, {"head": "c1"})
    assert last.items[0].url == "https://github.com/ada/pumps/blob/HEAD/README.md"


def test_a_large_tree_comes_folder_by_folder(stub: Stub, repository: Repository) -> None:
    repository.is_truncated = True
    versions, _, last = listed(source(stub), {})
    assert (versions, last.unlisted) == (ALL, Unlisted.GONE)
    assert last.cursor == {"head": "c1"}


def test_a_folder_endings_and_a_branch_narrow_it(stub: Stub, repository: Repository) -> None:
    repository.commit(docs__a_md="a", docs__b_py="b", link_md="l", README_md="r")
    assert [*listed(source(stub, folder="/docs/"), {})[0]] == ["docs/a.md", "docs/b.py"]
    assert [*listed(source(stub, endings=[".py"]), {})[0]] == ["docs/b.py"]
    assert "link.md" not in listed(source(stub, ref="next"), {})[0]
    assert f"{REPO}/commits/next" in stub.asked


def test_then_only_what_changed_is_named(stub: Stub, repository: Repository) -> None:
    cursor = listed(source(stub), {})[2].cursor
    assert listed(source(stub), cursor)[0] == {}
    repository.commit(README_md="new", src__pump_py="two", src__moved_py="three")
    versions, gone, last = listed(source(stub), cursor)
    assert versions == {"README.md": "sha-new", "src/moved.py": "sha-three"}
    assert gone == {"src/deep/valve.py"}
    assert (last.cursor, last.unlisted) == ({"head": "c2"}, Unlisted.KEPT)


@pytest.mark.parametrize("is_lost", [True, False], ids=["a lost commit", "too many files"])
def test_where_commits_cannot_be_compared_all_is_listed_again(
    stub: Stub, repository: Repository, is_lost: bool
) -> None:
    cursor = listed(source(stub), {})[2].cursor
    if is_lost:
        repository.commit(README_md="new")
        repository.lost = {"c1"}
    else:
        many = {f"f{n}_md": f"{n}" for n in range(MOST_COMPARED)}
        repository.commit(README_md="new", **many)
    versions, _, last = listed(source(stub), cursor)
    assert versions["README.md"] == "sha-new"
    assert last.unlisted == Unlisted.GONE


def test_a_file_is_fetched_and_not_twice(stub: Stub) -> None:
    one = source(stub).fetch("src/pump.py", {})
    assert one is not None
    assert (one.data, one.filename, one.marks) == (b"two", "pump.py", {"etag": "sha-two"})
    assert source(stub, ref="main").fetch("src/pump.py", one.marks) is None
    with pytest.raises(FetchError) as gone:
        source(stub).fetch("none.py", {})
    assert gone.value.code == "source_gone"


def test_a_test_names_the_repository(stub: Stub) -> None:
    assert source(stub).test() == "ada/pumps, branch main."
    with pytest.raises(FetchError) as refusal:
        source(stub, token="wrong").test()
    assert refusal.value.code == "login_required"


@pytest.mark.parametrize(
    ("status", "headers", "least", "most"),
    [
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "{later}"}, 50.0, 100.0),
        (403, {"retry-after": "7"}, 7.0, 7.0),
        (429, {}, 60.0, 60.0),
        (429, {"x-ratelimit-remaining": "0"}, 60.0, 60.0),
    ],
)
def test_a_spent_limit_is_waited_for(
    stub: Stub, status: int, headers: dict[str, str], least: float, most: float
) -> None:
    later = str(int(time.time()) + 100)
    sent = {name: value.replace("{later}", later) for name, value in headers.items()}
    stub.faults = [Response("", status, sent), Response("", status, sent)]
    for ask in (lambda: source(stub).changes({}), lambda: source(stub).fetch("README.md", {})):
        with pytest.raises(FetchError) as limit:
            ask()
        assert (limit.value.code, limit.value.is_passing) == ("rate_limited", True)
        assert least <= (limit.value.retry_after or 0) <= most


def test_a_plain_403_is_no_limit_and_odd_answers_are_told(stub: Stub) -> None:
    stub.faults = [says({}, 403)]
    with pytest.raises(FetchError) as refusal:
        source(stub).changes({})
    assert refusal.value.code == "login_required"
    for odd in (says({}), says([]), Response("<html>")):
        stub.faults = [odd]
        with pytest.raises(FetchError) as shape:
            source(stub).changes({})
        assert shape.value.code == "fetch_failed"
    stub.faults = [says([])]
    with pytest.raises(FetchError):
        source(stub).test()
