"""The package as a stranger gets it: built, installed into an environment of its own, started in an
empty folder. The packages that it needs are those that run these tests: no network is asked."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

import httpx2
import pytest
from django.core.management import get_commands
from hatchling import build

import manage
from memoryproject.__main__ import HELP
from memoryproject.env import user_data_folder
from tests.live_server import PATIENCE, ROOT, wait_for

PACKAGES = ("memories", "memoryproject", "workspaces")
BESIDE = ("templates", "static")
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def files_below(folder: Path) -> set[str]:
    found = (path.relative_to(folder.parent) for path in folder.rglob("*") if path.is_file())
    return {str(path) for path in found if "__pycache__" not in path.parts}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, unpacked, with documentation of one page."""
    folder = tmp_path_factory.mktemp("sdist")
    with chdir(ROOT):
        name = build.build_sdist(str(folder))
    with tarfile.open(folder / name) as archive:
        archive.extractall(folder, filter="data")
    tree = folder / name.removesuffix(".tar.gz")
    shutil.rmtree(tree / "site", ignore_errors=True)
    (tree / "site").mkdir()
    (tree / "site" / "index.html").write_text("<h1>One page</h1>")
    return tree


@pytest.fixture(scope="module")
def wheel(tree: Path) -> Path:
    with chdir(tree):
        return tree.parent / build.build_wheel(str(tree.parent))


@dataclass
class Installed:
    """The program, and who runs it: somebody with a home of their own, in an empty folder."""

    program: Path
    home: Path
    folder: Path

    @property
    def env(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8"}

    def run(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        command = [self.program, *words]
        return subprocess.run(
            command, cwd=self.folder, env=self.env | env, capture_output=True, text=True, timeout=PATIENCE
        )


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run([manage.base_python(), "-m", "venv", "--without-pip", folder / "env"], check=True)
    python = folder / "env" / "bin" / "python"
    subprocess.run([*manage.installer(shutil.which("uv"), python), wheel], check=True, cwd=folder)
    [packages] = folder.glob("env/lib/python*/site-packages")
    ours = [path for path in sys.path if Path(path).name == "site-packages"]
    (packages / "packages.pth").write_text("\n".join(ours))
    for name in ("home", "empty"):
        (folder / name).mkdir()
    return Installed(python.with_name("memoryproject"), folder / "home", folder / "empty")


@pytest.fixture(scope="module")
def server(installed: Installed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    """Asks the server that `up` runs, with its key; the workspace is at /."""
    folder = tmp_path_factory.mktemp("told")
    info, told = folder / "info.json", folder / "log"
    words = [installed.program, "up", "--port", "0", "--web", "1", "--workers", "1", "--info", info]
    with told.open("w") as log:
        process = subprocess.Popen(words, cwd=installed.folder, env=installed.env, stdout=log, stderr=log)
    try:
        wait_for(lambda: info.exists() or process.poll() is not None)
        assert info.exists(), told.read_text()
        known = json.loads(info.read_text())
        assert f"  data   {installed.home}/.local/share/memoryproject\n" in told.read_text()
        with httpx2.Client(base_url=known["url"], headers={"X-API-Key": known["key"]}, timeout=PATIENCE) as asked:
            yield asked
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0, told.read_text()


def test_the_wheel_has_the_product_and_nothing_else(tree: Path, wheel: Path) -> None:
    source = set().union(*(files_below(ROOT / name) for name in PACKAGES)) - {"memoryproject/settings_test.py"}
    source |= {f"memoryproject/{file}" for name in BESIDE for file in files_below(ROOT / name)}
    with ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        about = {name.rpartition("/")[2] for name in archive.namelist() if ".dist-info/" in name}
        content = b"".join(archive.read(name) for name in archive.namelist())
    assert names == source | {"memoryproject/site/index.html"}
    assert about >= {"LICENSE", "NOTICE", "METADATA", "entry_points.txt"}
    for path in (tree, ROOT / "memoryproject", Path(sys.prefix) / "bin"):
        assert str(path).encode() not in content


def test_the_source_distribution_can_be_started_as_a_checkout(tree: Path) -> None:
    names = {path.name for path in tree.iterdir()}
    assert names >= {"manage.py", "requirements", *PACKAGES, *BESIDE}
    assert names.isdisjoint({"tests", "bench"})


def test_the_login_page_comes_with_its_styles(server: httpx2.Client) -> None:
    page = server.get("/admin/login/")
    assert page.status_code == 200
    parts = re.findall(r'(?:href|src)="(/static/[^"]+)"', page.text)
    assert [path for path in parts if path.endswith("/memoryproject/desk.css")]
    assert {path: server.get(path).status_code for path in parts} == dict.fromkeys(parts, 200)


def test_what_it_was_told_is_found(server: httpx2.Client) -> None:
    memories = "/api/v1/workspaces/demo/memories"
    told = server.post(f"{memories}/ingest", json={"content": "I moved to Lisbon in May.", "userId": "ada"})
    assert told.json()["memoriesCreated"] == 1, told.text
    found = server.post(f"{memories}/search", json={"query": "where does Ada live?", "userId": "ada"})
    assert "Lisbon" in found.json()["results"][0]["memory"]["content"], found.text


def test_documentation_that_was_built_before_the_wheel_is_served(server: httpx2.Client) -> None:
    assert server.get("/docs/").text == "<h1>One page</h1>"


def test_a_command_finds_the_server_that_runs(installed: Installed, server: httpx2.Client) -> None:
    done = installed.run("stats", "--json")
    assert done.returncode == 0, done.stderr
    assert list(json.loads(done.stdout)["workspaces"]) == ["demo"]


def test_nothing_is_written_where_it_was_started(installed: Installed, server: httpx2.Client) -> None:
    assert list(installed.folder.iterdir()) == []
    assert [path.name for path in installed.home.iterdir()] == [".local"]


def test_it_says_its_version_and_the_name_it_is_called_by(installed: Installed) -> None:
    assert installed.run("--version").stdout == f"{VERSION}\n"
    assert installed.run("--help").stdout == HELP.format(program="memoryproject")
    assert "  memoryproject backup /srv/backups\n" in installed.run("backup", "--help").stdout


@pytest.mark.parametrize(
    ("words", "env", "said"),
    [
        (["nonsense"], {}, "Unknown command: 'nonsense'\nType 'memoryproject help' for usage.\n"),
        (["stats"], {"DATABASE_URL": "sqlite:///x"}, "CommandError: DATABASE_URL must begin with postgresql://\n"),
        (["up"], {"WORKERS": "many"}, "CommandError: WORKERS='many': must be a whole number\n"),
    ],
)
def test_what_cannot_be_is_told_in_plain_words(
    installed: Installed, words: list[str], env: dict[str, str], said: str
) -> None:
    done = installed.run(*words, **env)
    assert done.returncode == 1
    assert done.stderr == said


def test_help_names_every_command_that_people_call() -> None:
    ours = {name for name, app in get_commands().items() if app in PACKAGES} - {"web"}
    # One line names two: "createworkspace    and removeworkspace".
    told = re.findall(r"^  ([a-z_]+)  ", HELP, re.MULTILINE) + ["removeworkspace"]
    assert sorted(told) == sorted(ours | {"changepassword", "mcp"})


@pytest.mark.parametrize(("named", "below"), [("/srv/data", "/srv"), ("", "/home/ada/.local"), ("here", "/home/ada")])
def test_state_lies_where_the_user_keeps_the_data_of_programs(
    monkeypatch: pytest.MonkeyPatch, named: str, below: str
) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setenv("XDG_DATA_HOME", named)
    folder = user_data_folder("memoryproject")
    assert folder.is_relative_to(below)
    assert folder.name == "memoryproject"
