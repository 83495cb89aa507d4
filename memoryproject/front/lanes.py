"""The lanes: kinds of requests that do not queue behind each other, and the processes of each.

A process of a lane does one request at a time (the lane `waiting`: one in each of its threads), so
that one request is never in another one's way unless its whole lane is busy.
"""

from dataclasses import dataclass

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
READS_BY_POST = ("/memories/search", "/memories/context")
PASSWORDS = ("/admin/login", "/admin/password_change", "/admin/second-factor", "/accounts/")


@dataclass(frozen=True, slots=True)
class Lane:
    """`queue` is how long a request may wait for its turn, `work` how long it may take before its
    process is taken for stuck and ended; both in seconds."""

    name: str
    queue: float
    work: float
    threads: int = 1
    niceness: int = 0  # of its processes: what hashes passwords gives way to what answers


READ = Lane("read", queue=30, work=60)
WRITE = Lane("write", queue=60, work=180)
PAGES = Lane("pages", queue=30, work=120)
LOGIN = Lane("login", queue=30, work=60, niceness=10)
# What has to wait for somebody else's answer: models and network embedders.
WAITING = Lane("waiting", queue=30, work=240, threads=16)
# Health, figures, and who asks whether an ingest is done: answered beside the work.
BESIDE = Lane("beside", queue=5, work=20, threads=2)
LANES = {lane.name: lane for lane in (READ, WRITE, PAGES, LOGIN, WAITING, BESIDE)}


def processes_of(lane: Lane, web: int) -> int:
    """How many processes a lane has where `up --web` says `web`."""
    if lane in (READ, WRITE):
        return web
    return min(web, 2) if lane is PAGES else 1


def lane_of(method: str, path: str) -> Lane:
    """Where a request belongs, by what it asks for."""
    if path.startswith("/api/v1/"):
        reads = method in SAFE or (method == "POST" and path.endswith(READS_BY_POST))
        return READ if reads else WRITE
    if path in ("/health/ready", "/metrics"):
        return BESIDE
    if method not in SAFE and path.startswith(PASSWORDS):
        return LOGIN
    return PAGES
