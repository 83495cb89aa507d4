"""Documents that a trial hands in, changes and has erased, and what each is to be at the end."""

import json
import random
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from bench import sentences
from bench.http_client import Answer, Client
from bench.server import TrialServer

LARGE, SMALL, CLAIMS = 2_500, 30, 12  # sentences
EDGE = "trial-edge-of-a-form"
WAIT = 0.4  # seconds between two parts of what the source sends


@dataclass
class Wanted:
    """The text that one document is to have at the end; `text` is None where it is to be gone.

    `said` are all texts that it was given, `claims` sentences that memories are read out of. It is
    sent again until it is answered.
    """

    name: str
    text: str | None
    kind: str = "content"  # content, file or url
    claims: tuple[str, ...] = ()
    said: list[str] = field(default_factory=list)
    id: str = ""
    statuses: list[int] = field(default_factory=list)
    is_answered: bool = False

    def send(self, server: TrialServer, client: Client, source: str) -> Answer:
        client.move_to(str(server.info["url"]))
        path = f"{server.path}/documents"
        if self.text is None:
            answer = client.ask("DELETE", f"{path}/{self.id}")
        elif self.kind == "file":
            body = form_of(f"{self.name}.txt", self.text.encode(), self.options)
            head = {"Content-Type": f"multipart/form-data; boundary={EDGE}"}
            answer = client.ask("POST", path, body, head)
        else:
            own = {"url": f"{source}/{self.name}.txt"} if self.kind == "url" else {}
            answer = client.ask("POST", path, {**self.options, **(own or {"content": self.text})})
        is_gone = self.text is None and answer.status == 404 and len(self.statuses) > 0
        self.statuses.append(answer.status)
        if answer.is_success or is_gone:
            self.is_answered = True
            self.id = str(answer.json.get("id") or self.id)
        return answer

    def give(self, text: str | None) -> None:
        self.text, self.is_answered = text, False
        if text is not None:
            self.said.append(text)

    @property
    def options(self) -> dict[str, Any]:
        extract = "patterns" if self.claims else "none"
        return {"customId": self.name, "extract": extract}


class Writer:
    """Texts that no other name has: the same seed, the same words."""

    def __init__(self, seed: int) -> None:
        self.seed, self.number = seed, 0

    def document(self, size: int, kind: str = "content", *, claims: int = 0) -> Wanted:
        self.number += 1
        name = f"d{self.number}n"
        chance = random.Random(f"{self.seed} claims {name}")
        words = [sentences.word(chance) + sentences.word(chance) for _ in range(claims)]
        said = tuple(f"The annual {word} fee is {n + 20} dollars." for n, word in enumerate(words))
        wanted = Wanted(name, None, kind, said)
        wanted.give("\n\n".join([self.text(f"{name}v1", size), *said]))
        return wanted

    def text(self, mark: str, size: int) -> str:
        lines = [sentences.sentence(self.seed, f"{mark}x{at}") for at in range(size)]
        return "\n\n".join(" ".join(lines[at : at + 5]) for at in range(0, size, 5))


def form_of(name: str, data: bytes, said: Mapping[str, Any]) -> bytes:
    """The body of an upload of a file; its parts stand apart by EDGE."""
    form = (
        f'--{EDGE}\r\nContent-Disposition: form-data; name="document"\r\n\r\n{json.dumps(said)}'
        f'\r\n--{EDGE}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    return form.encode() + data + f"\r\n--{EDGE}--\r\n".encode()


def send_half(server: TrialServer, wanted: Wanted) -> socket.socket:
    """The first half of an upload, over a connection that is left open."""
    body = form_of(f"{wanted.name}.txt", (wanted.text or "").encode(), wanted.options)
    host, port = str(server.info["url"]).removeprefix("http://").split(":")
    open_socket = socket.create_connection((host, int(port)), timeout=10.0)
    head = (
        f"POST {server.path}/documents HTTP/1.1\r\nHost: {host}\r\n"
        f"Authorization: Bearer {server.info['key']}\r\nContent-Length: {len(body)}\r\n"
        f"Content-Type: multipart/form-data; boundary={EDGE}\r\n\r\n"
    )
    with suppress(OSError):
        open_socket.sendall(head.encode() + body[: len(body) // 2])
    return open_socket


class Source:
    """A web server that hands out documents slowly; `asked` is set by each request."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.asked = threading.Event()
        source = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                source.asked.set()
                text = source.texts.get(self.path.strip("/").removesuffix(".txt"))
                data = (text or "").encode()
                self.send_response(404 if text is None else 200)
                self.send_header("Content-Type", "text/plain; charset=utf-8")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                with suppress(OSError):
                    for at in (0, 1):
                        time.sleep(WAIT)
                        half = len(data) // 2
                        self.wfile.write(data[half:] if at else data[:half])

            def log_message(self, *_: Any) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
