"""The lanes: kinds of requests that do not queue behind each other, the processes of each, and the
options that `up` passes to the front, which reads no settings itself."""

import json
import os
from dataclasses import asdict, dataclass

VARIABLE = "FRONT_OPTIONS"


@dataclass(frozen=True, slots=True)
class Options:
    """`socket` is where web processes connect. Bodies in bytes, times in seconds, caps in requests
    per minute (0: none). `least_free` is the disk space to keep free when requests and answers are
    written to disk on the way (0: none)."""

    socket: str
    largest_body: int
    body_seconds: float
    largest_upload: int = 0
    least_free: int = 0
    most_connections: int = 32_768
    behind_proxy: bool = False
    key_cap: int = 0
    workspace_cap: int = 0
    anonymous_cap: int = 0
    log_level: str = "INFO"
    log_format: str = "text"

    def as_variable(self) -> dict[str, str]:
        return {VARIABLE: json.dumps(asdict(self))}

    @classmethod
    def of_variable(cls) -> "Options":
        return cls(**json.loads(os.environ[VARIABLE]))


SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
READS_BY_POST = ("/memories/search", "/memories/context", "/documents/search")
# Routes that the clients of other memory servers use.
OTHERS = ("/v1/", "/v2/", "/v3/", "/v4/", "/api/v2/", "/chat/")
API = ("/api/v1/", *OTHERS)  # where keys ask
OTHERS_READ_BY_POST = (
    "/search/",
    "/search",
    "v2/memories/",
    "v3/memories/",
    "/documents/list",
    "/profile",
    "v2/memories/list",
    "/projects/get",
    "/projects/list",
    "/feature/get",
)
PASSWORDS = ("/admin/login", "/admin/password_change", "/admin/second-factor", "/accounts/")


@dataclass(frozen=True, slots=True)
class Lane:
    """`queue` is how long a request may wait for its turn, `work` how long it may take before its
    process counts as stuck and is ended; both in seconds."""

    name: str
    queue: float
    work: float
    threads: int = 1
    niceness: int = 0  # of its processes: password hashing gives way to answers


READ = Lane("read", queue=30, work=60)
WRITE = Lane("write", queue=60, work=180)
PAGES = Lane("pages", queue=30, work=120)
LOGIN = Lane("login", queue=30, work=60, niceness=10)
# Requests that wait for somebody else's answer: models and network embedders.
WAITING = Lane("waiting", queue=30, work=240, threads=16)
# Health, metrics, and checks whether an ingest is done: answered beside the work.
BESIDE = Lane("beside", queue=5, work=20, threads=2)
# MCP has an event loop of its own; its places wait for models, too.
MCP = Lane("mcp", queue=30, work=240, threads=16)
CHATS_AT_ONCE = 16  # live answers of the chat, in each of its processes
LANES = {lane.name: lane for lane in (READ, WRITE, PAGES, LOGIN, WAITING, BESIDE, MCP)}


def processes_of(lane: Lane, web: int) -> int:
    """Return the number of processes of a lane when `up --web` is `web`."""
    if lane in (READ, WRITE):
        return web
    return min(web, 2) if lane in (PAGES, MCP) else 1


def lane_of(method: str, path: str) -> Lane:
    """Choose the lane of a request by its method and path."""
    if path.startswith("/api/v1/"):
        reads = method in SAFE or (method == "POST" and path.endswith(READS_BY_POST))
        return READ if reads else WRITE
    if path.startswith(OTHERS):
        reads = method in SAFE or (method == "POST" and path.endswith(OTHERS_READ_BY_POST))
        return READ if reads else WRITE
    if path == "/mcp" or path.startswith("/mcp/"):
        return MCP
    if path in ("/health/ready", "/metrics"):
        return BESIDE
    if method not in SAFE and path.startswith(PASSWORDS):
        return LOGIN
    return PAGES
