"""PDFs handed to a server over HTTP, and what became of each."""

import gzip
import sysconfig
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.faults.document_acts import EDGE, form_of
from bench.http_client import Client
from bench.processes import WORKER
from bench.server import TrialServer

# What may be the end of a PDF that is not read.
CODES = frozenset(
    (
        "bomb",
        "crashed",
        "damaged",
        "encrypted",
        "memory",
        "no_text",
        "ocr_unavailable",
        "timeout",
        "too_large",
        "too_many_pages",
        "unsupported_type",
    )
)
NO_REASONS = ("Traceback", "Error:", "Error(", 'File "')  # of a program, which tell nobody anything
FOUND = 20  # at most, of this machine's own


@dataclass(frozen=True, slots=True)
class Ended:
    """`state` is done, failed or refused; `wrong` says what must not be, if anything."""

    name: str
    state: str
    code: str = ""
    wrong: str = ""


def found_pdfs() -> Iterator[tuple[str, bytes]]:
    """Those that installed packages brought along."""
    folders = (Path(sysconfig.get_path("purelib")), Path("/usr/share/doc"))
    files = [file for folder in folders for file in sorted(folder.rglob("*.pdf*"))]
    for file in [each for each in files if each.suffix in (".pdf", ".gz")][:FOUND]:
        yield (
            file.name,
            gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else (file.read_bytes()),
        )


def hand_in(
    server: TrialServer,
    files: Iterable[tuple[str, bytes]],
    patience: float,
    advance: Callable[[int], object],
) -> tuple[list[Ended], int]:
    """The fate of each file, and how often a worker ended meanwhile."""
    workers, deaths = _workers(server), 0
    ended: list[Ended] = []
    waiting: dict[str, str] = {}
    with server.client(120.0) as client:
        for name, data in files:
            head = {"Content-Type": f"multipart/form-data; boundary={EDGE}"}
            body = form_of(name, data, {"extract": "none"})
            answer = client.ask("POST", f"{server.path}/documents", body, head)
            if answer.is_success:
                waiting[str(answer.json["id"])] = name
            else:
                wrong = "" if answer.status == 400 else f"answered {answer.status}"
                ended.append(Ended(name, "refused", str(answer.status), wrong))
        until = time.monotonic() + patience
        while waiting and time.monotonic() < until:
            for row in list(waiting):
                known = client.ask("GET", f"{server.path}/documents/{row}?include=steps").json
                if known.get("status") in ("completed", "failed"):
                    ended.append(_ended(client, server.path, waiting.pop(row), known))
                    advance(1)
            now = _workers(server)
            deaths, workers = deaths + (now != workers), now
            time.sleep(1.0)
    ended += [Ended(name, "stuck", "", "neither read nor refused") for name in waiting.values()]
    return ended, deaths


def counted(ended: Iterable[Ended]) -> str:
    numbers = Counter(each.code or each.state for each in ended)
    return ", ".join(f"{number} {name}" for name, number in numbers.most_common())


def _ended(client: Client, path: str, name: str, known: dict[str, Any]) -> Ended:
    if known["status"] == "completed":
        shown = client.ask("GET", f"{path}/documents/{known['id']}?include=content").json
        is_empty = not str(shown.get("content") or "").strip()
        return Ended(name, "done", "", "done, and has no text" if is_empty else "")
    code, reason = str(known.get("errorCode")), str(known.get("reason"))
    wrong = "" if code in CODES else f"an end that is none: {code}"
    if not reason or any(sign in reason for sign in NO_REASONS):
        wrong = f"a reason for nobody: {reason[:200]}"
    return Ended(name, "failed", code, wrong)


def _workers(server: TrialServer) -> int:
    """The process that all work is done below."""
    return min((each.pid for each in server.processes() if each.kind == WORKER), default=0)
