"""A streaming replica that answers reads: two real servers out of the embedded programs."""

import json
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote
from urllib.request import Request, urlopen

import psycopg
import pytest

from memoryproject.postgres.embedded_postgres import APP_ROLE, DATABASE, OWNER_ROLE, run_as_server
from memoryproject.server.front.rate_limits import Tenants
from tests.live_server import Server, measured, wait_for

CLIENTS, EACH = 6, 50


class Standby:
    """The replica's server, in a folder of its own, beside the `up` whose database it follows."""

    def __init__(self, folder: Path, primary: Server) -> None:
        self.folder, self.data, self.primary = folder, folder / "data", primary
        self.log = folder / "log"

    def make(self) -> None:
        home = self.primary.home
        with open(home.data / "pg_hba.conf", "a") as who:
            who.write("local replication all trust\n")
        self.primary.ask("select pg_reload_conf()")
        words = ("-h", str(home.socket), "-U", OWNER_ROLE, "-R", "-c", "fast", "-X", "stream")
        done = run_as_server("pg_basebackup", *words, "-D", str(self.data))
        assert done.returncode == 0, done.stdout

    def start(self) -> None:
        own = f"-c unix_socket_directories={self.folder} -c log_statement=all"
        words = ("-w", "-D", str(self.data), "-l", str(self.log), "-o", own)
        done = run_as_server("pg_ctl", "start", *words)
        assert done.returncode == 0, done.stdout

    def kill(self) -> None:
        run_as_server("pg_ctl", "stop", "-m", "immediate", "-D", str(self.data))

    def ask(self, statement: str) -> object:
        with psycopg.connect(host=str(self.folder), user=OWNER_ROLE, dbname=DATABASE) as made:
            row = made.execute(statement).fetchone()
        return row[0] if row else None

    @property
    def reads(self) -> int:
        """How often the index was asked here."""
        return self.log.read_text(errors="replace").count("from memories_entry")

    @property
    def is_asked(self) -> bool:
        """Whether a search that comes now is answered here."""
        before = self.reads
        assert self.search() == 200
        return self.reads > before

    # What a caller asks of the `up` before it.

    @property
    def base(self) -> str:
        return f"/api/v1/workspaces/{self.primary.info['workspace']}"

    def search(self, user: str = "ada") -> int:
        asked = {"query": "where is home?", "userId": user}
        return self.primary.post(f"{self.base}/memories/search", asked)

    def tell(self, user: str, content: str) -> int:
        body = {"userId": user, "content": content}
        return self.primary.post(f"{self.base}/memories/ingest", body)

    def believed(self, user: str) -> str:
        info = self.primary.info
        url = f"{info['url']}{self.base}/memories?userId={user}"
        with urlopen(Request(url, headers={"X-API-Key": info["key"]}), timeout=60) as answer:
            return " ".join(row["content"] for row in json.load(answer)["results"])

    @property
    def lags(self) -> bool:
        """Whether that is what the process that reads told last."""
        told = self.primary.log.read_text()
        return told.rfind("lags and is not asked") > told.rfind("caught up")

    def times_in_log(self, words: str) -> int:
        return self.primary.log.read_text().count(words)


@pytest.fixture(scope="module")
def standby(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standby]:
    """Made while the server runs already, which takes it then."""
    folder = Path(tempfile.mkdtemp(prefix="replica-", dir="/tmp"))  # short enough for a socket
    own = f"postgresql://{APP_ROLE}@{quote(str(folder), '')}/{DATABASE}"
    env = {"DATABASE_REPLICA_URL": own, "DATABASE_REPLICA_LAG": "1"}
    primary = Server(tmp_path_factory.mktemp("primary"), env=env | measured())
    made = Standby(folder, primary)
    try:
        primary.wait_until_ready()
        assert made.tell("ada", "I live in Oslo.") == 201
        made.make()
        made.start()
        yield made
    finally:
        made.kill()
        primary.end()
        shutil.rmtree(folder)


def test_a_replica_that_was_not_there_is_taken_and_answers_reads(standby: Standby) -> None:
    assert wait_for(lambda: standby.is_asked)
    assert "Oslo" in standby.believed("ada")


def test_what_was_just_written_is_read_whatever_the_replica_has(standby: Standby) -> None:
    assert wait_for(lambda: standby.is_asked)
    standby.ask("select pg_wal_replay_pause()")
    try:
        assert standby.tell("ada", "I moved to Rome, I live in Rome now.") == 201
        assert "Rome" in standby.believed("ada")
    finally:
        standby.ask("select pg_wal_replay_resume()")
    assert wait_for(lambda: standby.is_asked)


def test_a_replica_that_lags_is_left_alone_until_it_has_caught_up(standby: Standby) -> None:
    assert wait_for(lambda: standby.is_asked and not standby.lags)
    standby.ask("select pg_wal_replay_pause()")
    try:
        assert standby.tell("eve", "I live in Bern.") == 201
        assert wait_for(lambda: standby.search() == 200 and standby.lags)
        assert not standby.is_asked
    finally:
        standby.ask("select pg_wal_replay_resume()")
    assert wait_for(lambda: standby.search() == 200 and not standby.lags)


def test_nobody_hears_of_a_replica_that_is_killed(standby: Standby) -> None:
    """300 requests of several clients, each of which reads what it has just written."""
    assert wait_for(lambda: standby.is_asked)
    wrong: list[object] = []
    left = "the replica is not asked until it answers again"
    before, was_left, done = standby.reads, standby.times_in_log(left), threading.Semaphore(0)

    def talk(client: int) -> None:
        user = f"user-{client}"
        for turn in range(EACH):
            if turn % 10 == 0:
                status = standby.tell(user, f"I live in town{client}x{turn}.")
                is_right = status == 201 and f"town{client}x{turn}" in standby.believed(user)
            else:
                is_right = standby.search(user) == 200
            if not is_right:
                wrong.append((client, turn))
            done.release()

    clients = [threading.Thread(target=talk, args=[number]) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    for _ in range(CLIENTS * EACH // 2):
        done.acquire()
    assert standby.reads > before
    standby.kill()
    for client in clients:
        client.join()
    standby.start()
    assert wrong == []
    assert standby.times_in_log(left) > was_left
    assert wait_for(lambda: standby.is_asked)


def test_who_is_not_known_yet_may_have_seen_all_there_is() -> None:
    tenants = Tenants(time.monotonic)
    assert tenants.position_of("a") == 0
    tenants.saw("a", 7)
    tenants.saw("b", 9)
    tenants.saw("a", 5)  # an answer that comes late
    assert [tenants.position_of(name) for name in "abc"] == [7, 9, 9]
