"""The benchmark: its data, its arithmetic, its client, and one small run as a person starts it."""

import http.server
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from bench.speed import report
from bench.speed.corpus import EVERY_OLD, Corpus
from bench.speed.footprint import footprint
from bench.speed.http_client import Client, UnexpectedAnswer, get
from bench.speed.layout import alone, label, plots, size_of
from bench.speed.recall import FILTERS
from bench.speed.study import Study
from bench.speed.timing import Act, Timing, growth, in_turn, percentile
from memoryproject.postgres.embedded_postgres import Home
from tests.live_server import wait_for

ROOT = Path(__file__).parents[2]
PATIENCE = 600  # seconds; a busy machine is slow, not wrong


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus(dimensions=64)


def test_same_seed_makes_same_block(corpus: Corpus) -> None:
    one, other = corpus.block(3, 2, 50), Corpus(dimensions=64).block(3, 2, 50)
    assert one.texts == other.texts
    assert np.array_equal(one.vectors, other.vectors)


def test_blocks_differ_by_place_and_number(corpus: Corpus) -> None:
    blocks = [corpus.block(0, 0, 20), corpus.block(0, 1, 20), corpus.block(1, 0, 20)]
    assert len({text for block in blocks for text in block.texts}) == 60


def test_what_is_told_again_is_new(corpus: Corpus) -> None:
    assert next(corpus.claims(1, 0)) == next(corpus.claims(1, 0))
    assert next(corpus.claims(1, 0)) != next(corpus.claims(1, 5_000))
    assert next(corpus.messages(1, 0)) != next(corpus.messages(1, 5_000))


def test_vectors_have_unit_length(corpus: Corpus) -> None:
    block = corpus.block(0, 0, 100)
    assert np.allclose(np.linalg.norm(block.vectors, axis=1), 1, atol=1e-5)


def test_random_pairs_are_less_alike_than_neighbours(corpus: Corpus) -> None:
    vectors = corpus.block(0, 0, 500).vectors
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -1)
    assert np.median(cosines) < 0.35 < np.median(cosines.max(axis=1))


def test_old_versions_are_near_their_heads(corpus: Corpus) -> None:
    block = corpus.block(0, 0, 40)
    cosines = np.sum(block.vectors[::EVERY_OLD] * block.old_vectors, axis=1)
    assert len(block.old_texts) == 4
    assert cosines.min() > 0.88


def test_every_second_query_stands_in_a_text(corpus: Corpus) -> None:
    texts = corpus.block(0, 0, 30).texts
    found = [any(q in text.lower() for text in texts) for q in corpus.queries(texts, 10)]
    assert found[1::2] == [True] * 5


@pytest.mark.parametrize(("text", "size"), [("1k", 1000), ("1M", 10**6), (" 2500 ", 2500)])
def test_sizes_are_read(text: str, size: int) -> None:
    assert size_of(text) == size
    assert size_of(label(size)) == size


@pytest.mark.parametrize("text", ["", "k", "many", "10", "-1k", "1.5k"])
def test_other_sizes_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="."):
        size_of(text)


@pytest.mark.parametrize("layout", ["one", "many", "skewed"])
def test_layouts_hold_all_rows_under_different_slugs(layout: str) -> None:
    found = plots(layout, 100_000)
    assert sum(plot.live for plot in found) == 100_000
    assert len({plot.slug for plot in found}) == len(found)
    assert any(plot.asked for plot in found)


def test_skewed_layout_asks_its_largest_and_its_smallest() -> None:
    asked = [plot.live for plot in plots("skewed", 100_000) if plot.asked]
    assert asked == [50_000, 1_563]


def test_smallest_of_many_is_asked_alone_first() -> None:
    assert [(plot.live, plot.asked) for plot in alone(plots("many", 5_000))] == [(1_000, "1k alone")]
    assert alone(plots("one", 5_000)) == []


def test_percentile_lies_between_values() -> None:
    assert percentile([1.0, 2.0, 3.0, 4.0], 0.5) == 2.5
    assert percentile([7.0], 0.95) == 7.0


def test_growth_is_the_exponent() -> None:
    assert growth([1_000, 10_000, 100_000], [1.0, 3.1623, 10.0]) == pytest.approx(0.5, abs=0.001)
    assert growth([1_000], [1.0]) is None


def test_acts_take_turns_and_warm_up_does_not_count() -> None:
    seen: list[str] = []
    acts = [Act(name, "", 0, lambda n, name=name: seen.append(name)) for name in "ab"]
    found = in_turn(acts, rounds=3, advance=lambda n: None, warm_up=2)
    assert [timing.count for timing in found] == [3, 3]
    assert all(set(seen[i : i + 2]) == {"a", "b"} for i in range(0, 10, 2))


def test_what_recall_and_the_cost_of_indexes_are_of_is_told() -> None:
    told = list(report.lines(Study(recall={"1k": 0.98}, index_cost={"1k": 1.15})))

    assert "recall@10 of the vector side, 1k: 0.980" in told
    assert "writing with indexes of vectors / without, 1k: 1.15" in told
    assert "  met     recall@10 of the vector side, 1k: 0.98 (limit 0.95)" in told


def test_a_context_and_a_filter_are_held_against_their_search() -> None:
    taken = {"hybrid, HTTP": 4.0, "context, HTTP": 6.4, "hybrid, HTTP, filter 10 %": 5.0}
    reads = [Timing(name, "1k", 1_000, 1, ms, ms, ms) for name, ms in taken.items()]
    told = {target.name: target for target in report.targets(Study(reads))}

    context = told["context, HTTP by hybrid, HTTP, 1k"]
    filtered = told["hybrid, HTTP, filter 10 % by hybrid, HTTP, 1k"]
    assert (context.value, context.is_met) == (1.6, False)
    assert (filtered.value, filtered.is_met) == (1.25, True)


class Wire(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = b"{}" if self.path != "/large" else json.dumps("x" * 300_000).encode()
        self.send_response(404 if self.path == "/missing" else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def client() -> Iterator[Client]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Wire) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        client = Client(f"http://127.0.0.1:{server.server_address[1]}")
        yield client
        client.close()
        server.shutdown()


def test_client_asks_again_over_the_same_connection(client: Client) -> None:
    assert [client.send(get("/")).body for _ in range(3)] == [b"{}"] * 3


def test_client_reads_large_answers_whole(client: Client) -> None:
    assert len(client.send(get("/large")).body) == 300_002


def test_client_tells_of_another_status(client: Client) -> None:
    with pytest.raises(UnexpectedAnswer, match="HTTP 404 instead of 200"):
        client.send(get("/missing")).expect(200)


def test_footprint_counts_a_process_and_its_children(tmp_path: Path) -> None:
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as process:
        home = Home.below(tmp_path)
        assert wait_for(lambda: footprint(process.pid, home)[0].processes == 2)
        own, database = footprint(process.pid, home)
        process.communicate(b"\n")
    assert own.megabytes > 5
    assert database.processes == 0


def run_benchmark(tmp_path: Path, *words: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "manage.py", "benchmark", *words],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "memoryproject.settings"}
        | {"MEMORY_DATA_DIR": str(tmp_path / "users"), "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.xdist_group("up")
def test_small_run_prints_a_table_and_leaves_nothing(tmp_path: Path) -> None:
    out = tmp_path / "result.json"
    words = ["--sizes", "100,200", "--rounds", "3", "--web", "1", "--workers", "1"]
    with run_benchmark(tmp_path, *words, "--json", str(out)) as process:
        said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, said
    assert "hybrid, HTTP" in said
    result = json.loads(out.read_text())
    cells = [f"{size}{cell}" for size in (100, 200) for cell in FILTERS]
    assert result["recall"] == dict.fromkeys(cells, 1.0)
    assert {timing["place"] for timing in result["timings"]} == {"", "100", "200"}
    assert result["indexCost"].keys() == {"100", "200"}
    assert not list(tmp_path.glob("memoryproject-benchmark-*"))
    assert not (tmp_path / "users" / "postgres").exists()


@pytest.mark.xdist_group("up")
def test_kept_data_is_measured_again_without_filling_it(tmp_path: Path) -> None:
    words = ["--rounds", "2", "--web", "1", "--workers", "1"]
    words += ["--data", str(tmp_path / "kept"), "--json", str(tmp_path / "result.json")]
    told = []
    kept, again = ["--keep", "--sizes", "100,200"], ["--reuse", "--sizes", "200"]
    for more in ([*kept, "--only", "searches"], [*again, "--only", "recall"]):
        with run_benchmark(tmp_path, *words, *more) as process:
            said, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, said
        told.append(json.loads((tmp_path / "result.json").read_text()))
    assert {timing["place"] for timing in told[0]["timings"]} == {"", "100", "200"}
    assert told[1]["timings"] == []
    assert told[1]["recall"] == {f"200{cell}": 1.0 for cell in FILTERS}


def test_a_folder_that_no_run_kept_is_not_reused(tmp_path: Path) -> None:
    with run_benchmark(tmp_path, "--data", str(tmp_path), "--reuse") as process:
        said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "--keep left" in said


@pytest.mark.xdist_group("up")
def test_interrupted_run_leaves_nothing(tmp_path: Path) -> None:
    with run_benchmark(tmp_path, "--sizes", "20k", "--web", "1", "--workers", "1") as process:
        assert wait_for(lambda: any(tmp_path.glob("*benchmark-*/up.json")), PATIENCE)
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, said
    assert not list(tmp_path.glob("memoryproject-benchmark-*"))


def test_folder_with_something_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "diary").write_text("mine")
    with run_benchmark(tmp_path, "--data", str(tmp_path)) as process:
        said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "is not empty" in said
    assert (tmp_path / "diary").read_text() == "mine"
