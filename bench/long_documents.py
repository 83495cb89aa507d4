"""A long document while others write: how long it takes, and what callers feel meanwhile."""

import time
from dataclasses import dataclass, field
from random import Random

from bench import tenants
from bench.bounds import Bound
from bench.http_client import Client
from bench.server import ServerFailed, TrialServer

SIZES = (2_000_000, 4_000_000)  # characters
MOST = 2.5  # times the time for twice the text
INGEST, OTHERS = 1.0, 5.0  # seconds: of the same workspace, and of another one's document
PATIENCE, PAUSE = 900.0, 0.5  # seconds
OTHER = "beside"
WORDS = (
    "harbour lighthouse barrel oil keeper wall rope winter pump valve brass copper island ferry"
    " letter ledger crown anchor sail storm captain market silver garden bridge tower window"
).split()


@dataclass(slots=True)
class Felt:
    """Seconds of the document itself, and of what others asked meanwhile."""

    size: int
    whole: float = 0.0
    worked: float = 0.0  # processor time of the workers
    ingests: list[float] = field(default_factory=list)
    refused: int = 0
    documents: list[float] = field(default_factory=list)


def document_of(size: int, seed: int) -> str:
    """Prose of about `size` characters that repeats itself as little as people do."""
    random, said, length = Random(seed), [], 0
    while length < size:
        words = [random.choice(WORDS) + str(random.randrange(400)) for _ in range(12)]
        said.append(f"The {' '.join(words)}.{random.choice((' ', ' ', chr(10) * 2))}")
        length += len(said[-1])
    return "".join(said)


def felt_while(server: TrialServer, seed: int) -> list[Felt]:
    keys = tenants.make_over(server, {OTHER: {}})
    other = Client(str(server.info["url"]), keys[OTHER], 60.0)
    with server.client(60.0) as own, other:
        _wait(own, server.path, _brought(own, server.path, "A short one, to begin."))
        felt = []
        for size in SIZES:
            before = server.worked()
            felt.append(_felt(server.path, own, other, size, seed))
            felt[-1].worked = server.worked() - before
        return felt


def bounds(felt: list[Felt]) -> list[Bound]:
    ratio, work = felt[-1].whole / felt[0].whole, felt[-1].worked / felt[0].worked
    return [
        Bound("a document of 4 MB: times the time of 2 MB", ratio, MOST),
        Bound("a document of 4 MB: times the work of 2 MB", work, MOST),
        Bound("ingests refused meanwhile", sum(each.refused for each in felt), 0),
        Bound("the longest ingest meanwhile", max(max(f.ingests) for f in felt), INGEST, " s"),
        Bound(
            "another workspace's document meanwhile",
            max(max(f.documents) for f in felt),
            OTHERS,
            " s",
        ),
    ]


def _felt(path: str, own: Client, other: Client, size: int, seed: int) -> Felt:
    felt, began = Felt(size), time.monotonic()
    beside = f"/api/v1/workspaces/{OTHER}"
    document = _brought(own, path, document_of(size, seed))
    number = 0
    while not _is_done(own, path, document):
        if time.monotonic() > began + PATIENCE:
            raise ServerFailed(f"A document of {size} characters was not done.")
        number += 1
        body = {"content": f"I keep {number} barrels of oil.", "userId": "keeper", "mode": "sync"}
        answer = own.ask("POST", f"{path}/memories/ingest", body)
        felt.ingests.append(answer.seconds)
        felt.refused += not answer.is_success
        asked = time.monotonic()
        _wait(other, beside, _brought(other, beside, f"Note {number}: the ferry is late."))
        felt.documents.append(time.monotonic() - asked)
        time.sleep(PAUSE)
    felt.whole = time.monotonic() - began
    return felt


def _brought(client: Client, path: str, content: str) -> str:
    answer = client.ask("POST", f"{path}/documents", {"content": content, "extract": "none"})
    if not answer.is_success:
        raise ServerFailed(f"A document was answered {answer.status}: {answer.body[:300]!r}")
    return str(answer.json["id"])


def _wait(client: Client, path: str, document: str) -> None:
    end = time.monotonic() + PATIENCE
    while not _is_done(client, path, document):
        if time.monotonic() > end:
            raise ServerFailed("A short document was not done.")
        time.sleep(0.1)


def _is_done(client: Client, path: str, document: str) -> bool:
    answer = client.ask("GET", f"{path}/documents/{document}")
    if answer.json.get("status") == "failed":
        raise ServerFailed(f"A document failed: {answer.body[:300]!r}")
    return answer.json.get("status") == "completed"
