"""The memory that the processes of `up` take: the sum of their proportional set sizes (Linux).

A page that n processes share counts 1/n for each. PostgreSQL's shared buffers are a cache that
is set apart by its configuration, so its processes count without their shared memory.
"""

from dataclasses import dataclass
from pathlib import Path

from memoryproject.postgres.embedded_postgres import Home
from memoryproject.postgres.postgres_guard import postmaster

PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Footprint:
    """Megabytes, and how many processes hold them."""

    group: str
    processes: int
    megabytes: float


def is_measurable() -> bool:
    return (PROC / "self" / "smaps_rollup").exists()


def footprint(up: int, home: Home) -> list[Footprint]:
    """`up` with its web and worker processes, and PostgreSQL without its shared buffers.

    `up`: the process id of `up`; `home`: the embedded server of the same data folder.
    """
    children = _children()
    database = postmaster(home.data)
    guards = [pid for pid in _pids() if _is_guard(pid, home.root)]
    own = [*_tree(up, children), *guards]
    servers = _tree(database, children) if database else []
    return [
        Footprint("up, web and workers", len(own), _sum(own, shared=True)),
        Footprint("PostgreSQL, shared buffers not counted", len(servers), _sum(servers, shared=False)),
    ]


def _pids() -> list[int]:
    return [int(folder.name) for folder in PROC.glob("[0-9]*")]


def _children() -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for pid in _pids():
        stat = _read(pid, "stat")
        # The name in parentheses may hold anything, blanks too.
        words = stat.rpartition(")")[2].split()
        if words:
            found.setdefault(int(words[1]), []).append(pid)
    return found


def _tree(root: int, children: dict[int, list[int]]) -> list[int]:
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def _is_guard(pid: int, root: Path) -> bool:
    words = _read(pid, "cmdline").split("\0")
    return str(root) in words and any(word.endswith("postgres_guard.py") for word in words)


def _sum(pids: list[int], *, shared: bool) -> float:
    total = 0
    for pid in pids:
        sizes = _sizes(pid)
        total += sizes.get("Pss", 0) - (0 if shared else sizes.get("Pss_Shmem", 0))
    return round(total / 1024, 1)


def _sizes(pid: int) -> dict[str, int]:
    """Kilobytes by name."""
    rows = [line.split() for line in _read(pid, "smaps_rollup").splitlines()[1:]]
    return {row[0].rstrip(":"): int(row[1]) for row in rows if len(row) > 1}


def _read(pid: int, name: str) -> str:
    try:
        return (PROC / str(pid) / name).read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""  # It has just ended.
