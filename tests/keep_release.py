"""Tells a running server of some release a story, and keeps its database for tests of upgrades.

    python manage.py up --port 0 --data DIR --info FILE          (in a checkout of the release)
    python -m tests.keep_release --info FILE --data DIR --out tests/data/upgrades/NAME    (today's)

Writes NAME.sql.xz, a dump, and NAME.json: what was believed of whom. It speaks HTTP alone, so that
the one of today keeps any release.
"""

import argparse
import json
import lzma
import subprocess
import time
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from memoryproject.embedded_postgres import DATABASE, OWNER_ROLE, Home
from memoryproject.postgres_programs import program

TOLD = {
    "mira": """I live in Porto.
        I work as a nurse at the harbour clinic.
        I prefer green tea to coffee.
        My favourite colour is teal.
        I am vegetarian.
        My sister Ines plays the cello.
        I have a cat named Biscuit.
        I'm allergic to walnuts.
        My birthday is on March 3.
        Actually, my favourite colour is orange now.
        I bought a second-hand kayak last month.
        I speak Portuguese and Danish.""",
    "jonas": """I live in Bergen.
        I'm a carpenter at Fjord Woodworks.
        I drive an old Saab.
        I prefer working in the morning.
        My wife is called Signe.
        I moved to Tromsø, I live in Tromsø now.
        I don't like liquorice.
        I'm learning to play the banjo.
        My email is jonas@fjord.example.
        I quit my job at Fjord Woodworks, I work at Arctic Boats now.""",
    "rada": """I live in Plovdiv.
        I use Vim as my editor.
        I'm reading a book about lighthouses.
        I switched from Vim to Helix.
        I love hiking in the Rhodope mountains.
        My son Boris starts school in September.
        I hate cold showers.
        Always answer me in short sentences.""",
    "": """We decided to use Postgres for the warehouse.
        We use GitHub Actions for our builds.
        All deployments need two approvals.
        The staging server runs Debian.
        We decided to write the importer in Rust.
        We no longer use GitHub Actions, we use Buildkite now.
        Our stand-up is at 9:30 every day.
        The on-call phone is with Team Otter.""",
}
FORGOTTEN, PINNED = ("mira", "walnuts"), ("jonas", "Signe")


class Caller:
    """Speaks to the server that the info file names."""

    def __init__(self, info: Path) -> None:
        known = json.loads(info.read_text())
        self.base = f"{known['url']}/api/v1/workspaces/{known['workspace']}"
        self.headers = {"X-API-Key": known["key"], "Content-Type": "application/json"}

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        request = Request(self.base + path, data, self.headers, method=method)
        with urlopen(request, timeout=120) as answer:
            found: dict[str, Any] = json.loads(answer.read() or b"{}")
            return found

    def has(self, path: str) -> bool:
        try:
            self.call("GET", path)
        except HTTPError as error:
            if error.code == 404:
                return False
            raise
        return True

    def memories(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        cursor: str | None = None
        while cursor is not None or not found:
            asked = {"limit": 100, **({"cursor": cursor} if cursor else {})}
            page = self.call("GET", f"/memories?{urlencode(asked)}")
            found += page["results"]
            cursor = page["next"]
            if not cursor:
                break
        return found


def tell(caller: Caller) -> None:
    for user, lines in TOLD.items():
        who = {"userId": user, "threadId": f"{user}-talk"} if user else {}
        for line in lines.splitlines():
            message = {"role": "user", "content": line.strip(), "name": user}
            caller.call("POST", "/memories/ingest", {"messages": [message], **who})
    kept = {(memory["userId"] or "", memory["content"]): memory for memory in caller.memories()}
    for (user, content), memory in kept.items():
        if user == FORGOTTEN[0] and FORGOTTEN[1] in content:
            caller.call("DELETE", f"/memories/{memory['id']}?reason=wrong")
        if user == PINNED[0] and PINNED[1] in content:
            caller.call("PATCH", f"/memories/{memory['id']}", {"pinned": True})
    if caller.has("/sets"):
        for each in caller.call("GET", "/sets")["results"]:
            caller.call("POST", f"/sets/{each['key']}/fold", {})
        time.sleep(5)  # the worker folds


def beliefs(caller: Caller) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for memory in caller.memories():
        found.setdefault(memory["userId"] or "", []).append(memory["content"])
    return {user: sorted(contents) for user, contents in sorted(found.items())}


def dump(data: Path) -> bytes:
    words = [str(program("pg_dump")), "--inserts", "--rows-per-insert=200", "--no-owner"]
    words += ["--no-privileges", "--host", str(Home.below(data).socket), "--username", OWNER_ROLE]
    text = subprocess.run([*words, DATABASE], check=True, capture_output=True, text=True).stdout
    # psql's own commands are not SQL.
    return "".join(line for line in text.splitlines(True) if line[:1] != "\\").encode()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--info", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    caller = Caller(asked.info)
    tell(caller)
    known = json.dumps(beliefs(caller), indent=2, ensure_ascii=False)
    Path(f"{asked.out}.json").write_text(f"{known}\n")  # a version has dots
    Path(f"{asked.out}.sql.xz").write_bytes(lzma.compress(dump(asked.data), preset=9))


if __name__ == "__main__":
    main()
