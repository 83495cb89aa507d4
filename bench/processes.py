"""The processes of one server, found by the data folder that they work on (Linux)."""

import os
from dataclasses import dataclass
from pathlib import Path

from memoryproject.postgres.embedded_postgres import Home
from memoryproject.postgres.postgres_guard import command_line, postmaster

PROC = Path("/proc")
UP, WEB, WORKER, POSTGRES, GUARD, COMMAND = "up", "web", "worker", "postgres", "guard", "command"


@dataclass(frozen=True, slots=True)
class Found:
    """`kind`: what it is for. Every descendant of `up` that is no worker counts as web."""

    pid: int
    kind: str
    words: str


def over(data: Path, up: int | None) -> list[Found]:
    """All processes over `data`, the oldest first of each kind; never this one."""
    parents = _parents()
    database = postmaster(Home.below(data).data)
    servers = _below(database, parents) if database else set()
    family = _below(up, parents) if up else set()
    mark = f"MEMORY_DATA_DIR={data}".encode()
    found = []
    for pid in sorted(parents):
        if pid == os.getpid() or not (pid in servers | family or _has(pid, mark)):
            continue
        words = [word for word in command_line(pid) if word]
        if words:
            kind = POSTGRES if pid in servers else _kind(pid, words, up, family)
            found.append(Found(pid, kind, " ".join(words)))
    return found


def open_files(found: list[Found]) -> int:
    number = 0
    for each in found:
        try:
            number += len(os.listdir(PROC / str(each.pid) / "fd"))
        except OSError:
            continue  # it has just ended
    return number


def processor_seconds(found: list[Found]) -> float:
    """Processor time of these processes and of their children that have ended, since they began."""
    ticks = 0
    for each in found:
        try:
            stat = (PROC / str(each.pid) / "stat").read_text(errors="replace")
        except OSError:
            continue
        ticks += sum(map(int, stat.rpartition(")")[2].split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def megabytes(found: list[Found]) -> float:
    """Proportional set sizes; of the database's processes without their shared memory."""
    kilobytes = 0
    for each in found:
        sizes = _sizes(each.pid)
        shared = sizes.get("Pss_Shmem", 0) if each.kind == POSTGRES else 0
        kilobytes += sizes.get("Pss", 0) - shared
    return round(kilobytes / 1024, 1)


def _kind(pid: int, words: list[str], up: int | None, family: set[int]) -> str:
    names = {Path(word).name for word in words[:5]}
    if pid == up:
        return UP
    if "postgres_guard.py" in names:
        return GUARD
    if Path(words[0]).name.rstrip(":") == "postgres":
        return POSTGRES  # one that outlived its server
    is_ours = not names.isdisjoint({"manage.py", "memoryproject"})
    if is_ours and "work" in words[:5]:
        return WORKER
    if is_ours and "up" in words[:5] and pid not in family:
        return UP
    return WEB if pid in family or "granian" in words[:5] else COMMAND


def _parents() -> dict[int, int]:
    found = {}
    for folder in PROC.glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text(errors="replace")
        except OSError:
            continue
        state, parent = stat.rpartition(")")[2].split()[:2]
        if state != "Z":
            found[int(folder.name)] = int(parent)
    return found


def _below(root: int, parents: dict[int, int]) -> set[int]:
    """`root` and all that descend from it."""
    children: dict[int, list[int]] = {}
    for pid, parent in parents.items():
        children.setdefault(parent, []).append(pid)
    found, waiting = set(), [root]
    while waiting:
        pid = waiting.pop()
        found.add(pid)
        waiting += children.get(pid, [])
    return found


def _has(pid: int, mark: bytes) -> bool:
    try:
        return mark in (PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return False


def _sizes(pid: int) -> dict[str, int]:
    """Kilobytes by name."""
    try:
        rows = (PROC / str(pid) / "smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return {}
    words = [row.split() for row in rows]
    return {row[0].rstrip(":"): int(row[1]) for row in words if len(row) > 1}
