"""Keeps the data of a release for tests of upgrades: starts its server over a new folder, tells it
a story, and writes down what it answers.

    python -m tests.keep_release 0.1.0                   of this tree
    python -m tests.keep_release 0.1.0 --tree CHECKOUT   of a checkout of the tag, by today's script

Writes tests/releases/VERSION: data.sql.xz, a dump, and answers.json, and tells which tables have no
row. It speaks HTTP alone, so that it keeps any release; tests/release_rows.py of the release itself
fills what has no door.
"""

import argparse
import json
import lzma
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import psycopg

from memoryproject.postgres.backups import counts_of
from memoryproject.postgres.embedded_postgres import DATABASE, OWNER_ROLE, Home, is_alive, program

TREE = Path(__file__).resolve().parent.parent
RELEASES = TREE / "tests" / "releases"
CLEAN = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}
ADD_ROWS = """
import os
os.environ["DJANGO_SETTINGS_MODULE"] = "memoryproject.settings"
import django
django.setup()
from tests import release_rows
release_rows.add()
"""
START = 300.0  # seconds until a server answers on a busy machine
SETTLED = 60.0  # seconds until a worker has done what it was left, and counts were written down
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
QUERIES = {
    "mira": ("Where does she live?", "favourite colour", "tea"),
    "jonas": ("Where does he work?", "liquorice", "his wife"),
    "rada": ("Which editor?", "short sentences"),
    "": ("Which database?", "Who builds?", "two approvals"),
}
FORGOTTEN, PINNED = ("mira", "walnuts"), ("jonas", "Signe")
# A row in more tables; {name} is the id that the request called so was answered.
MORE = (
    ("", "POST", "/memories/ingest", {"content": "Nothing to keep.", "userId": "gone"}),
    ("", "POST", "/memories/ingest", {"content": "The password of the wiki is tR0ub4dor-31."}),
    (
        "",
        "POST",
        "/memories/ingest",
        {
            "userId": "lena",
            "messages": [
                {"role": "user", "content": "I have a horse called Thunder."},
                {"role": "user", "content": "I was only kidding about the horse."},
            ],
        },
    ),
    (
        "",
        "POST",
        "/documents",
        {
            "content": "# Pumps\n\nThe pump in hall 4 runs at 60 bar.",
            "mode": "sync",
            "containerTags": ["manuals"],
            "customId": "pumps",
        },
    ),
    (
        "",
        "POST",
        "/documents",
        {
            "content": "# Pumps\n\nThe pump in hall 4 runs at 70 bar.",
            "mode": "sync",
            "containerTags": ["manuals"],
            "customId": "pumps",
        },
    ),
    ("", "POST", "/documents", {"content": " \n ", "mode": "sync"}),
    (
        "",
        "POST",
        "/connections",
        {
            "provider": "folder",
            "options": {"path": "/nowhere"},
            "minutes": 0,
        },
    ),
    ("", "POST", "/teams", {"name": "harbour"}),
    ("", "POST", "/keys", {"name": "spare"}),
    ("", "POST", "/members", {"email": "guest@example.org", "role": "viewer"}),
    ("", "POST", "/golden-questions", {"query": "staging server", "answer": "Debian"}),
    ("", "POST", "/golden-runs", {}),
    (
        "hook",
        "POST",
        "/webhooks",
        {
            "url": "https://example.org/hook",
            "events": ["session.done", "memory.changed"],
        },
    ),
    ("", "POST", "/webhooks/{hook}/ping", {}),
    ("hold", "POST", "/holds", {"userId": "rada", "reason": "Case 12"}),
    ("", "POST", "/holds/{hold}/lift", {}),
)


Call: TypeAlias = Callable[..., dict[str, Any]]  # (method, path below the workspace, body)


def caller(info: dict[str, Any]) -> Call:
    """Speaks to the server of an info file."""
    base = f"{info['url']}/api/v1/workspaces/{info['workspace']}"
    headers = {"X-API-Key": info["key"], "Content-Type": "application/json"}

    def call(method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        with urlopen(Request(base + path, data, headers, method=method), timeout=120) as answer:
            result: dict[str, Any] = json.loads(answer.read() or b"{}")
            return result

    return call


def memories(call: Call) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    cursor = ""
    while cursor is not None:
        asked = {"limit": 100, **({"cursor": cursor} if cursor else {})}
        page = call("GET", f"/memories?{urlencode(asked)}")
        rows += page["results"]
        cursor = page["next"]
    return rows


def tell(call: Call) -> None:
    for user, lines in TOLD.items():
        who = {"userId": user, "threadId": f"{user}-talk"} if user else {}
        for line in lines.splitlines():
            message = {"role": "user", "content": line.strip(), "name": user}
            call("POST", "/memories/ingest", {"messages": [message], **who})
    for memory in memories(call):
        user, content = memory["userId"], memory["content"]
        if user == FORGOTTEN[0] and FORGOTTEN[1] in content:
            call("DELETE", f"/memories/{memory['id']}?reason=wrong")
        if user == PINNED[0] and PINNED[1] in content:
            call("PATCH", f"/memories/{memory['id']}", {"pinned": True})
    ids: dict[str, str] = {}
    for name, method, path, body in MORE:
        ids[name] = known(call, method, path.format(**ids), body).get("id", "")
    for each in call("GET", "/subjects?externalId=gone")["results"]:
        call("DELETE", f"/subjects/{each['id']}")
    for each in known(call, "GET", "/sets").get("results", ()):
        call("POST", f"/sets/{each['key']}/fold", {})
    time.sleep(SETTLED)


def known(call: Call, *asked: Any) -> dict[str, Any]:
    """What is answered, or nothing by a release that has not this yet."""
    try:
        return call(*asked)
    except HTTPError as error:
        if error.code != 404:
            raise
        return {}


def answers(call: Call) -> dict[str, Any]:
    """What the server answers that an upgrade must not change: beliefs and profiles by user, hits
    by query and ranking, and each head's chain, the oldest first."""
    heads = memories(call)
    beliefs: dict[str, list[str]] = {}
    chains: dict[str, list[str]] = {}
    for head in heads:
        beliefs.setdefault(head["userId"] or "", []).append(head["content"])
        links = call("GET", f"/memories/{head['id']}/chain")["results"]
        if len(links) > 1:
            chains[head["content"]] = [link["memory"]["content"] for link in links]
    searches: dict[str, dict[str, list[str]]] = {}
    for user, queries in QUERIES.items():
        for query in queries:
            for ranking in ("linea", "hybrid"):
                body = {
                    "query": query,
                    "ranking": ranking,
                    "layers": ["memories"],
                    **({"userId": user} if user else {}),
                }
                hits = call("POST", "/memories/search", body)["results"]
                contents = [hit["memory"]["content"] for hit in hits]
                searches.setdefault(f"{user}: {query}", {})[ranking] = contents
    groups = ("facts", "preferences", "events", "profile", "system", "uncategorized")
    profiles: dict[str, dict[str, list[str]]] = {}
    for user in filter(None, TOLD):
        profile = call("GET", f"/memories/profile?userId={user}")
        profiles[user] = {name: sorted(m["content"] for m in profile[name]) for name in groups}
    return {
        "beliefs": {user: sorted(contents) for user, contents in sorted(beliefs.items())},
        "chains": dict(sorted(chains.items())),
        "profiles": profiles,
        "searches": searches,
    }


def dump(data: Path) -> bytes:
    words = [str(program("pg_dump")), "--inserts", "--rows-per-insert=200", "--no-owner"]
    words += ["--no-privileges", "--host", str(Home.below(data).socket), "--username", OWNER_ROLE]
    text = subprocess.run([*words, DATABASE], check=True, capture_output=True, text=True).stdout
    # psql's own commands are not SQL.
    return "".join(line for line in text.splitlines(True) if line[:1] != "\\").encode()


def rows(data: Path) -> dict[str, int]:
    """How many each table has."""
    home = str(Home.below(data).socket)
    with psycopg.connect(host=home, user=OWNER_ROLE, dbname=DATABASE) as owner:
        return counts_of(owner.cursor())


@contextmanager
def server(tree: Path, data: Path) -> Iterator[dict[str, Any]]:
    """`up` of a tree over a new folder; its info file."""
    info = data.parent / "info.json"
    words = [sys.executable, "manage.py", "up", "--port", "0", "--data", str(data)]
    words += ["--info", str(info), "--web", "1", "--workers", "1"]
    process = subprocess.Popen(words, cwd=tree, env=CLEAN)
    try:
        end = time.monotonic() + START
        while not info.exists():
            if process.poll() is not None or time.monotonic() > end:
                sys.exit("The server did not start.")
            time.sleep(0.2)
        yield json.loads(info.read_text())
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        while is_alive(Home.below(data)):  # its database ends after it
            time.sleep(0.2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version")
    parser.add_argument("--tree", type=Path, default=TREE, help="a checkout of the release")
    parser.add_argument("--out", type=Path, default=RELEASES)
    options = parser.parse_args()
    # The guard of the database may make its locks anew while the folder goes.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        data = Path(folder) / "data"
        with server(options.tree, data) as info:
            call = caller(info)
            tell(call)
            recorded = answers(call)
            time.sleep(SETTLED)
            if (options.tree / "tests" / "release_rows.py").exists():
                subprocess.run(
                    [sys.executable, "-c", ADD_ROWS],
                    check=True,
                    cwd=options.tree,
                    env=CLEAN | {"MEMORY_DATA_DIR": str(data)},
                )
            recorded["rows"], dumped = rows(data), dump(data)
    kept = options.out / options.version
    kept.mkdir(parents=True, exist_ok=True)
    text = json.dumps(recorded, indent=2, ensure_ascii=False)
    (kept / "answers.json").write_text(f"{text}\n")
    (kept / "data.sql.xz").write_bytes(lzma.compress(dumped, preset=9))
    without = [table for table, count in recorded["rows"].items() if not count]
    sys.stdout.write(f"Tables without a row: {', '.join(without)}\n")


if __name__ == "__main__":
    main()
