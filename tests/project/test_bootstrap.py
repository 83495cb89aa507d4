"""`manage.py` on a bare Python. A stand-in for uv links the packages that run these tests."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BARE_PYTHON = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
UV = f"""#!{BARE_PYTHON}
import os, pathlib, subprocess, sys, time
here = pathlib.Path(__file__).parent
with open(here / "calls", "a") as calls:
    calls.write(sys.argv[1] + "\\n")
if sys.argv[1] == "venv":
    subprocess.run([{str(BARE_PYTHON)!r}, "-m", "venv", "--without-pip", sys.argv[-1]], check=True)
    sys.exit()
if (here / "fail").exists():
    sys.exit("no network")
time.sleep(0.5)
python = pathlib.Path(sys.argv[sys.argv.index("--python") + 1])
packages = next(python.parent.parent.glob("lib/python*/site-packages"))
(packages / "packages.pth").write_text({sysconfig.get_paths()["purelib"]!r})
"""


class Tree:
    """A fresh clone: manage.py and the locks, and a PATH that holds one uv."""

    def __init__(self, folder: Path, *, with_uv: bool = True) -> None:
        self.folder, self.bin = folder, folder / "bin"
        self.bin.mkdir()
        shutil.copy(ROOT / "manage.py", folder)
        for name in ("__main__.py", "server/start_steps.py"):
            copy = folder / "memoryproject" / name
            copy.parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / "memoryproject" / name, copy)
        (folder / "requirements").mkdir()
        (folder / "requirements" / "base.txt").write_text("# to run\n")
        self.lock = folder / "requirements" / "test.txt"
        self.lock.write_text("# one\n")
        if with_uv:
            (self.bin / "uv").write_text(UV)
            (self.bin / "uv").chmod(0o755)

    @property
    def calls(self) -> list[str]:
        return (self.bin / "calls").read_text().split()

    def start(self, *words: str) -> subprocess.Popen[str]:
        env = {
            "PATH": str(self.bin),
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        command = [str(BARE_PYTHON), str(self.folder / "manage.py"), *words]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, env=env, stdout=pipe, stderr=pipe, text=True, cwd="/")

    def run(self, *words: str) -> tuple[int, str]:
        process = self.start(*(words or ("test", "--version")))
        out, errors = process.communicate()
        return process.returncode, out + errors


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_the_first_command_installs_and_goes_on(tree: Tree):
    code, said = tree.run()
    assert (code, tree.calls) == (0, ["venv", "pip"]), said
    assert "pytest" in said


def test_the_second_command_installs_nothing(tree: Tree):
    tree.run()
    code, said = tree.run()
    assert (code, tree.calls) == (0, ["venv", "pip"])
    assert "Installing" not in said


def test_a_changed_lock_is_installed_into_the_same_environment(tree: Tree):
    tree.run()
    tree.lock.write_text("# two\n")
    code, _ = tree.run()
    assert (code, tree.calls) == (0, ["venv", "pip", "pip"])


def test_the_tools_are_installed_for_the_tests_alone(tree: Tree):
    tree.run("nonsense")  # Django is not told its settings here: it ends after the installation
    stamp = tree.folder / ".venv" / "installed-lock"
    to_run = stamp.read_text()
    tree.run()
    assert stamp.read_text() != to_run
    assert tree.calls == ["venv", "pip", "pip"]
    tree.run("nonsense")
    assert tree.calls == ["venv", "pip", "pip"]  # what the tests need holds what the server needs


def test_what_the_tests_compile_is_kept_for_the_next_process(tree: Tree):
    file = tree.folder / "test_of_the_tree.py"
    file.write_text("import sys\n\ndef test_it():\n    assert not sys.dont_write_bytecode\n")
    code, said = tree.run("test", "-n", "0", str(file))
    assert code == 0, said


def test_an_interrupted_installation_is_made_anew(tree: Tree):
    (tree.bin / "fail").touch()
    code, said = tree.run()
    assert code == 1
    assert "Failed:" in said
    (tree.bin / "fail").unlink()
    code, _ = tree.run()
    assert (code, tree.calls) == (0, ["venv", "pip", "venv", "pip"])


def test_two_commands_at_once_install_once(tree: Tree):
    running = [tree.start("test", "--version") for _ in range(2)]
    said = [process.communicate() for process in running]
    assert [process.returncode for process in running] == [0, 0], said
    assert tree.calls == ["venv", "pip"]


def test_an_environment_made_by_others_is_left_alone(tree: Tree):
    tree.run()
    (tree.folder / ".venv" / "installed-lock").unlink()
    tree.lock.write_text("# two\n")
    code, _ = tree.run()
    assert (code, tree.calls) == (0, ["venv", "pip"])


def test_pip_installs_where_there_is_no_uv(tmp_path: Path):
    tree = Tree(tmp_path, with_uv=False)
    code, said = tree.run()
    assert code == 1
    assert "is not complete although it was just installed" in said  # its lock names nothing
    assert not (tmp_path / ".venv" / "bin" / "pip").exists()  # the interpreter's own did it


def test_an_old_python_is_refused_by_name():
    old = "import sys, runpy; sys.version_info = (3, 9, 2)"
    code = f"{old}; runpy.run_path('manage.py', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert "Python 3.11 or newer is needed; this is 3.9." in done.stderr


def test_the_locks_name_no_package_index_and_agree():
    locks = [(ROOT / "requirements" / f"{kind}.txt").read_text() for kind in ("base", "test")]
    assert "://" not in "".join(locks)
    to_run, to_test = (set(re.findall(r"^\S+==\S+", lock, re.M)) for lock in locks)
    assert to_run < to_test


def test_other_commands_are_djangos_own():
    done = subprocess.run(
        [sys.executable, "manage.py", "nonsense"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=os.environ,
    )
    assert "Unknown command: 'nonsense'" in done.stderr
