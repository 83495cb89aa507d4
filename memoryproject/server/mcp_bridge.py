"""`memoryproject mcp`: MCP over standard input and output, for clients that start their servers
themselves. Each message is passed to a server's `/mcp` over HTTP, and its answer comes back.

Standard library alone: it starts at once, and needs neither the packages nor the database.
"""

import argparse
import base64
import http.client
import json
import os
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TextIO

KEY = "MEMORY_KEY"
AT_ONCE = 8  # messages
PATIENCE = 300.0  # seconds for an answer
TRIES, LONGEST_PAUSE = 4, 10.0  # a busy server names a pause, in seconds
BUSY = (429, 502, 503)
UNREACHED = -32000  # the code of an error that the protocol leaves to servers
VERSION = "io.modelcontextprotocol/protocolVersion"
NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="memoryproject mcp", description="Speak MCP over standard input and output.")
    parser.add_argument("--url", required=True, help="the server's address")
    parser.add_argument("--key", default=os.environ.get(KEY, ""), help=f"or the variable {KEY}")
    parser.add_argument("--user", default="", help="pins the user of all that is asked")
    given = parser.parse_args(words)
    if not given.key:
        parser.error(f"give --key, or set {KEY}")
    user = f"/{urllib.parse.quote(given.user, safe='')}" if given.user else ""
    Bridge(f"{given.url.rstrip('/')}/mcp{user}", given.key).run(sys.stdin, sys.stdout)


@dataclass
class Bridge:
    """`version` is the protocol version that client and server have agreed on, if any."""

    address: str
    key: str = field(repr=False)
    version: str = ""

    def run(self, lines: TextIO, answers: TextIO) -> None:
        """Run until the client closes its end; requests under way are still answered."""
        writing = threading.Lock()

        def serve(message: dict[str, Any]) -> None:
            answer = json.dumps(self.answer(message), ensure_ascii=False)
            with writing:
                answers.write(f"{answer}\n")
                answers.flush()

        with ThreadPoolExecutor(AT_ONCE) as pool:
            for line in lines:
                try:
                    message = json.loads(line)
                except ValueError:
                    continue
                # Messages that ask for no answer are about sessions, and the server keeps none.
                if not isinstance(message, dict) or "id" not in message or "method" not in message:
                    continue
                if message["method"] == "initialize":
                    serve(message)  # later messages use the version that it agrees on
                else:
                    pool.submit(serve, message)

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return the server's answer; an error of the protocol where there is none."""
        try:
            answer = self.ask(message)
        except (OSError, http.client.HTTPException, ValueError) as error:
            detail = f"The memory server at {self.address} cannot be asked: {error}"
            fault = {"code": UNREACHED, "message": detail}
            return {"jsonrpc": "2.0", "id": message["id"], "error": fault}
        if message["method"] == "initialize":
            self.version = answer.get("result", {}).get("protocolVersion", "")
        return answer

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        body, headers = json.dumps(message).encode(), self.headers(message)
        for left in reversed(range(TRIES)):
            request = urllib.request.Request(self.address, body, headers)
            try:
                with urllib.request.urlopen(request, timeout=PATIENCE) as response:
                    return dict(json.load(response))
            except urllib.error.HTTPError as error:
                if error.code not in BUSY or not left:
                    return self.refusal(message, error)
                time.sleep(min(LONGEST_PAUSE, float(error.headers.get("Retry-After", 1))))
        raise AssertionError

    def headers(self, message: dict[str, Any]) -> dict[str, str]:
        """The HTTP headers; newer versions of the protocol repeat method and name in them."""
        params = message.get("params") or {}
        headers = {
            "Authorization": f"Bearer {self.key}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        own = (params.get("_meta") or {}).get(VERSION)
        if own:
            headers["Mcp-Method"] = message["method"]
            named = params.get(NAMED_BY.get(message["method"], ""))
            if isinstance(named, str):
                headers["Mcp-Name"] = header_value(named)
        if version := own or self.version:
            headers["MCP-Protocol-Version"] = version
        return headers

    def refusal(self, message: dict[str, Any], error: urllib.error.HTTPError) -> dict[str, Any]:
        """Convert the server's refusal: an error of the protocol, or a problem."""
        said = json.load(error)
        if "error" in said:
            return {**said, "id": message["id"]}
        fault = {"code": UNREACHED, "message": said.get("detail", str(error))}
        return {"jsonrpc": "2.0", "id": message["id"], "error": fault}


def header_value(text: str) -> str:
    """Encode a text that a header cannot hold as it is, as the protocol prescribes."""
    if text.isascii() and text.isprintable() and text == text.strip():
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="
