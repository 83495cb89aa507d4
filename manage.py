#!/usr/bin/env python3
"""`python3 manage.py up` runs the server, `python3 manage.py test` the tests: on a bare Python,
too.

Where the dependencies are missing, the first command installs what requirements/base.txt names (for
`test`: requirements/test.txt, which holds that and the tools) into .venv, with uv if it is on PATH,
else with venv and pip, and starts again inside it. Standard library only, and no syntax that
an old Python cannot read, for it must be able to say that it is too old.
"""

import argparse
import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
LOCK = HERE / "requirements" / "base.txt"
TEST_LOCK = HERE / "requirements" / "test.txt"
VENV = HERE / ".venv"
PYTHON = VENV / "bin" / "python"
# Holds the digest of the lock that was installed, or UNFINISHED. Without it the environment is
# somebody else's.
STAMP = VENV / "installed-lock"
UNFINISHED = "unfinished"
NEEDED = ("django", "rest_framework", "unfold", "django_q", "psycopg", "pgvector", "granian")
RESTARTED = "MEMORY_BOOTSTRAPPED"
NO_PIP = """No way to install packages was found. Do one of these, then start again:
  - install uv
  - Debian, Ubuntu: apt-get install python3-venv
  - make an environment of your own and install requirements/base.txt into it"""


def main() -> None:
    if sys.version_info < (3, 11):  # noqa: UP036  that is what is to be found out
        sys.exit("Python 3.11 or newer is needed; this is {}.{}.".format(*sys.version_info[:2]))
    if sys.argv[1:2] == ["mcp"]:  # needs no package
        run()
        return
    restarted = os.environ.pop(RESTARTED, None)
    if not is_ready():
        if restarted:
            sys.exit(f"{VENV} is not complete although it was just installed: remove it and start again.")
        install_once()
        os.execve(PYTHON, [str(PYTHON), *sys.argv], {**os.environ, RESTARTED: "1"})
    if is_test():
        # Tests begin hundreds of processes: without it each would compile all that it imports.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.execv(sys.executable, test_command(sys.argv[2:]))
    run()


def run() -> None:
    from memoryproject import __main__ as command

    command.run(["manage.py", *sys.argv[1:]])


def is_test() -> bool:
    return sys.argv[1:2] == ["test"]


def needed() -> "tuple[str, ...]":
    return (*NEEDED, "pytest") if is_test() else NEEDED


def is_ready() -> bool:
    """The running interpreter has what we need, and our own environment has it in the locked
    versions."""
    ours = Path(sys.prefix).resolve() == VENV.resolve()
    return not (ours and is_stale()) and all(importlib.util.find_spec(name) for name in needed())


def is_stale() -> bool:
    enough = [TEST_LOCK] if is_test() else [LOCK, TEST_LOCK]
    return STAMP.exists() and STAMP.read_text() not in map(digest, enough)


def digest(lock: Path) -> str:
    return hashlib.sha256(lock.read_bytes()).hexdigest()


def install_once() -> None:
    """Several may start at once: one installs, the others wait and find it done."""
    with open(__file__) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another command installs just now: this one waits.", file=sys.stderr, flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        if STAMP.exists() and not is_stale():
            return
        if not STAMP.exists() and works():
            return
        print(
            f"The first start installs what is needed into {VENV}, once. Nothing else of this"
            " machine is changed; to begin anew, remove that folder.",
            file=sys.stderr,
            flush=True,
        )
        # What an interrupted installation left cannot be trusted: begin anew.
        clear = not works() or STAMP.read_text() == UNFINISHED
        try:
            install(clear)
        except subprocess.CalledProcessError as error:
            sys.exit(f"{error.output or ''}Failed: {' '.join(map(str, error.cmd))}")


def works() -> bool:
    code = "import " + ", ".join(needed())
    return PYTHON.exists() and subprocess.run([PYTHON, "-c", code], stderr=subprocess.DEVNULL).returncode == 0


def install(clear: bool) -> None:
    from memoryproject.server import start_steps

    uv = shutil.which("uv")
    if clear:
        with start_steps.StartStep("Environment"):
            shutil.rmtree(VENV, ignore_errors=True)
            make_environment(uv)
    STAMP.write_text(UNFINISHED)
    lock = TEST_LOCK if is_test() else LOCK
    start_steps.install([*installer(uv), "--require-hashes", "-r", lock], lock)
    STAMP.write_text(digest(lock))


def make_environment(uv: "str | None") -> None:
    if uv:
        subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, VENV], check=True)
    else:
        # A pip that is there already installs into it: one of its own is 30 MB and some seconds.
        needs_own = importlib.util.find_spec("ensurepip") and not has_pip(base_python())
        bare = [] if needs_own else ["--without-pip"]
        subprocess.run([sys.executable, "-m", "venv", *bare, VENV], check=True)


def base_python() -> Path:
    """The interpreter that environments are made of, also from within one."""
    name = "python{}.{}".format(*sys.version_info[:2])
    return Path(sys.base_prefix, "bin", name)


def installer(uv: "str | None", python: Path = PYTHON) -> "list[str | Path]":
    """Return the command that installs into the environment of `python`, which needs no pip."""
    if uv:
        return [uv, "pip", "install", "--no-progress", "--python", python, "--no-deps"]
    # Compiled when it is first imported, as with uv: most of it never is.
    options = ["--disable-pip-version-check", "--no-input", "--no-color"]
    for able in (PYTHON, base_python()):
        if has_pip(able):
            options += ["--python", str(python), "install", "--no-compile", "--no-deps"]
            return [able, "-m", "pip", *options]
    sys.exit(NO_PIP)


def has_pip(python: Path) -> bool:
    asked = [str(python), "-m", "pip", "--version"]
    return python.exists() and subprocess.run(asked, capture_output=True).returncode == 0


def test_command(words: "list[str]") -> "list[str]":
    """pytest in three processes for two cores, as tests often wait for servers; a file in one
    process, in the order of tests/conftest.py; a later -n wins. All with the trials must reach
    a share of all branches (fail_under in pyproject.toml); a part is not measured."""
    able = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("-n")
    is_whole = set(parser.parse_known_args(words)[1]) <= {"-v", "-vv", "-q", "--trials", "--durations=0"}
    measured = ["-p", "tests.executed_lines"] if is_whole else []
    spread = ["-n", str(able + (able + 1) // 2), "--dist=loadfile", "--no-loadscope-reorder"]
    return [sys.executable, "-m", "pytest", *spread, *measured, *words]


if __name__ == "__main__":
    main()
