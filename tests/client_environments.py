"""Environments with packages of others, for drivers that use them unchanged: made once, by the
digest of their locks, below the data folder of the tests."""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from django.conf import settings

from manage import installer
from tests.live_server import ROOT, Server

CLIENTS = Path(__file__).parent / "clients"
PATIENCE = 600.0  # seconds that an installation may take on a busy machine


def python_with(*locks: str) -> Path:
    """The interpreter of an environment that holds what these lock files name."""
    texts = b"".join((CLIENTS / lock).read_bytes() for lock in locks) + sys.version.encode()
    folder = Path(settings.DATA_DIR) / "clients" / hashlib.sha256(texts).hexdigest()[:16]
    python, ready = folder / "bin" / "python", folder / "ready"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.parent / f"{folder.name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ready.exists():
            shutil.rmtree(folder, ignore_errors=True)
            run([sys.executable, "-m", "venv", "--without-pip", folder])
            words = ["--quiet", "--require-hashes", "--only-binary=:all:"]
            for name in locks:
                words += ["-r", CLIENTS / name]
            run([*installer(shutil.which("uv"), python), *words])
            ready.touch()
    return python


def node_modules_of(package: Path) -> Path:
    """A folder that holds what a package's lock file names, in `node_modules`."""
    names = ("package.json", "package-lock.json")
    digest = hashlib.sha256(b"".join((package / name).read_bytes() for name in names))
    folder = Path(settings.DATA_DIR) / "clients" / f"node-{digest.hexdigest()[:16]}"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder.parent / f"{folder.name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "ready").exists():
            for name in names:
                shutil.copy(package / name, folder)
            words = ["--ignore-scripts", "--legacy-peer-deps", "--no-audit", "--no-fund"]
            run(["npm", "ci", *words], cwd=folder)
            (folder / "ready").touch()
    return folder


def typescript_client(into: Path) -> Path:
    """Our own client as it is published: types made of docs/openapi.yaml, and compiled."""
    package, modules = ROOT / "clients" / "typescript", into / "node_modules"
    into.mkdir()
    modules.symlink_to(node_modules_of(package) / "node_modules")
    for name in ("package.json", "tsconfig.json"):
        shutil.copy(package / name, into)
    shutil.copytree(package / "src", into / "src")
    command = json.loads((package / "package.json").read_text())["scripts"]["types"].split()
    words = [ROOT / "docs" / "openapi.yaml" if "openapi.yaml" in word else word for word in command[1:]]
    run([modules / ".bin" / command[0], *words], cwd=into)
    run([modules / ".bin" / "tsc"], cwd=into)
    return into / "dist" / "index.js"


def run(command: list[Any], cwd: Path | None = None) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr


def steps_of(program: Path | str, driver: str, server: Server, *words: str, **env: str) -> dict[str, str]:
    """What each step of a driver came to: "" where it did."""
    said = {
        "PATH": os.environ["PATH"],
        "HOME": str(server.folder),
        "BASE_URL": server.info["url"],
        "API_KEY": server.info["key"],
        "WORKSPACE": server.info["workspace"],
        **env,
    }
    done = subprocess.run(
        [program, CLIENTS / driver, *words],
        env=said,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert done.returncode == 0, done.stderr
    return {line["step"]: line["why"] for line in lines}
