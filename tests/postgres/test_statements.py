"""The statements of the hot paths are kept as files in tests/statements: what is sent, in its
order, and by which indexes it is answered on a mixed table.

After a change that is meant: `pytest tests/postgres/test_statements.py --write-statements`, and read the
difference.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from textwrap import wrap
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from bench.speed.corpus import Corpus
from bench.speed.layout import Plot
from bench.speed.loading import USER, load
from memories.index import hnsw_segments
from memories.ingest import NewMessage
from memories.models import AsOf, Memory
from memories.profiles.features.update import update_now
from memories.search import filters
from memoryproject.postgres import visible
from tests.api_fixtures import Caller, caller
from tests.many_rows import fill_beside_memories
from tests.ordinary_role import ordinary_role
from tests.people import Person, bound_to_agent
from tests.statements_sent import Sent, sent
from workspaces.models import Workspace

FOLDER = Path(__file__).parents[1] / "statements"
PLOTS = [Plot("large", 2_500), *(Plot(f"small-{n}", 150) for n in range(15))]
QUERY = "bonumi takuzu zobizo"
# What reads a table that is large here, or writes, and the parts of a statement in which it does:
# of a small table the planner may read the whole, which other tests' rows decide.
LARGE = "memory|episode|feature|featurechange|featurecitation|entry|vector|fact|citation|memoryperiod"
READS = re.compile(
    r" *(?:->  )?(?P<node>CTE \w+$|(?:Insert|Update|Delete) on \w+"
    rf"|Bitmap Index Scan on (?:memories_)?(?:{LARGE})_\w+"
    rf"|(?:Seq Scan|(?:Index|Index Only) Scan (?:Backward )?using \w+) on memories_(?:{LARGE})\b)"
)
# Which rows are known to be visible to all, and so in which way an index is read, the time of the
# last vacuum decides.
WAY = re.compile(r"(?:Index|Index Only|Bitmap Index) Scan (?:Backward )?(?:using|on) (?P<index>\w+).*")
INDEX = r"Index \g<index>"
# Numbers that differ from run to run stand in the text where an index is partial.
LITERALS = {
    r"\bworkspace = \d+": "workspace = <number>",
    r"\bembedding_model_id = \d+": "embedding_model_id = <model>",
    r"\bentry_id (<=|>) \d+": r"entry_id \1 <upto>",
    r"\b(vector_(?:sealed|tail))_[\d_]+": r"\1",
    # Either is as good, as the rows are filled.
    r"featurecitation_(?:feature|change)_id_\w+": "featurecitation_feature_id",
    r"memoryperiod_one_open": "memoryperiod_history",
}
OF_ADA: dict[str, Any] = {"user_id": "ada"}  # who has features that were read out of messages
EVERYTHING = frozenset({"citations", "chain", "neighbours"})
AS_IT_IS: Any = {"break_long_words": False, "break_on_hyphens": False}
Act = Callable[[], object]


@pytest.fixture
def person(transactional_db: None, settings: Any) -> Iterator[Person]:
    settings.VECTOR_INDEX_FROM = 0
    place = load(PLOTS, Corpus(256), lambda n: None)[0]
    fill_beside_memories()
    with connection.cursor() as cursor:
        cursor.execute("vacuum analyze")  # or it comes by itself, in the middle
    yield Person(Workspace.objects.get(pk=place.scope.workspace_id), place.key)
    settings.VECTOR_INDEX_FROM = 0
    hnsw_segments.rebuild_indexes()


def searches(person: Person) -> dict[str, Act]:
    def asking(by: Person = person, **options: Any) -> Act:
        return lambda: by.ask(QUERY, **options)

    category = filters.parse({"field": "category", "op": "eq", "value": "plan"}, ("memories",))
    layers = ("memories", "episodes", "features")
    each = {
        f"search_{ranking}_{layer}": asking(ranking=ranking, layers=(layer,))
        for layer in layers
        for ranking in ("hybrid", "linea", "keyword", "vector")
    }
    then = AsOf(known_at=timezone.now())
    narrowed = {
        f"search_{ranking}_{name}": asking(ranking=ranking, **options)
        for name, options in {
            "filtered": {"filter": category},
            "known_at": {"at": then},
            "known_at_filtered": {"at": then, "filter": category},
            "of_a_user": {"user_id": USER},
            "of_a_thread": {"user_id": USER, "thread_id": "talk"},
        }.items()
        for ranking in ("hybrid", "linea")
    }
    return {
        **each,
        **narrowed,
        "search_hybrid_of_an_agent": asking(bound_to_agent(person.workspace, "bob")),
        "search_hybrid_of_a_date": lambda: person.ask(f"{QUERY} in May 2026"),
        "search_hybrid_many_words": lambda: person.ask(" ".join(f"nawako{n}" for n in range(40))),
        "search_hybrid_all_layers": asking(layers=layers),
        "search_hybrid_with_everything": asking(**OF_ADA, layers=layers, include=EVERYTHING),
        "search_hybrid_all_layers_known_at": lambda: person.ask(
            QUERY, **OF_ADA, layers=layers, include=EVERYTHING, at=AsOf(known_at=timezone.now())
        ),
    }


def ingests(person: Person) -> dict[str, Act]:
    def telling(*messages: str) -> Act:
        """One of them each time, since the same again is nothing new."""
        left = iter(messages)
        return lambda: person.say(
            *(NewMessage(text, name="Ada") for text in next(left).split("|")),
            user_id="ada",
            thread_id="talk",
        )

    return {
        "ingest_one_message": telling("I moved to Lisbon in May.", "I moved to Porto in June."),
        "ingest_the_same_again": telling("I prefer oat milk over cream.", "I moved to Porto."),
        "ingest_two_messages": telling(
            "I work as a nurse.|I have two cats.", "I work as a doctor in Faro.|I have a dog."
        ),
    }


def over_http(http: Caller) -> dict[str, Act]:
    memory = Memory.objects.order_by("pk")[0].pk
    return {
        "http_search": lambda: http.post("/memories/search", {"query": QUERY, "userId": USER}),
        "http_memory": lambda: http.get(f"/memories/{memory}"),
        "http_profile": lambda: http.get("/memories/profile", userId="ada"),
    }


def test_the_statements_of_the_hot_paths_are_as_their_files_say(
    person: Person, settings: Any, request: pytest.FixtureRequest
) -> None:
    person.say(NewMessage("I prefer oat milk over cream.", name="Ada"), user_id="ada")
    update_now(person.scope, "user:ada")
    asked = searches(person)
    before = ingests(person) | asked | over_http(caller(person))
    pages = pages_of(before)
    settings.VECTOR_INDEX_FROM = 2_000
    assert hnsw_segments.rebuild_indexes() == 1
    segmented = {
        f"{name}_in_a_segment": act
        for name, act in asked.items()
        if name in {"search_hybrid_memories", "search_linea_memories", "search_linea_filtered"}
    }
    pages |= pages_of(segmented)
    if request.config.getoption("--write-statements"):
        write(pages)
    kept = {path.stem: path.read_text() for path in FOLDER.glob("*.sql")}
    assert sorted(kept) == sorted(pages)
    for name, page in pages.items():
        assert page == kept[name], f"{name}: pytest {__file__} --write-statements"


def write(pages: Mapping[str, str]) -> None:
    for path in FOLDER.glob("*.sql"):
        path.unlink()
    for name, page in pages.items():
        (FOLDER / f"{name}.sql").write_text(page)


def pages_of(acts: Mapping[str, Act]) -> dict[str, str]:
    """What each act sends. A statement is written out once, where it is sent first."""
    known: dict[str, str] = {}
    pages = {}
    for name, act in acts.items():
        act()  # rows that are made once, and types that are looked up once
        with sent() as statements:
            act()
        parts = []
        for part in map(written, statements):
            is_known = known.setdefault(part, name) != name or part in parts
            parts.append(f"-- as in {known[part]}: {part.splitlines()[0]}" if is_known else part)
        pages[name] = "\n\n".join(parts) + "\n"
    return pages


def written(one: Sent) -> str:
    # Before it is wrapped: a number's length must not move the words behind it.
    lines = [line for whole in without_literals(one.text).splitlines() for line in wrap(whole, 110, **AS_IT_IS)]
    text = indented(" ".join(line.split()) for line in lines)
    reads = [match for line in one.plan.splitlines() if (match := READS.match(line))]
    plan = "\n".join(f"--   {WAY.sub(INDEX, match['node'])}" for match in reads)
    return without_literals(f"{text};\n-- reads\n{plan}" if plan else f"{text};")


def without_literals(text: str) -> str:
    for pattern, literal in LITERALS.items():
        text = re.sub(pattern, literal, text)
    return text


def indented(lines: Iterable[str]) -> str:
    """By the brackets that are open."""
    depth, told = 0, []
    for line in lines:
        closed = len(line) - len(line.lstrip(")"))
        told.append("  " * max(0, depth - closed) + line)
        depth += line.count("(") - line.count(")")
    return "\n".join(told)


# ---- behind the walls -------------------------------------------------------------------------

WHOLE = re.compile(rf"Seq Scan on (memories_(?:{LARGE}))\b")


def test_behind_the_walls_no_hot_statement_reads_a_whole_table(person: Person) -> None:
    """A policy keeps operators that are not leakproof, as those of arrays, from their index."""
    found: dict[str, set[str]] = {}
    with ordinary_role(), visible.only(person.workspace.pk):
        for name, act in (ingests(person) | searches(person)).items():
            act()
            with sent() as statements:
                act()
            for one in statements:
                if tables := WHOLE.findall(one.plan):
                    found.setdefault(f"{name}: {one.text}", set()).update(tables)
    assert not found


# ---- what a pooler, a replica and a distributed server allow ---------------------------------

VOLATILE = re.compile(
    r"\b(?:nextval|setval|random|gen_random_uuid|clock_timestamp|timeofday|set_config"
    r"|pg_(?:try_)?advisory_\w+|txid_current|pg_current_xact_id)\s*\("
)
CHANGES = re.compile(r"\b(?:update|delete from)\s+(?:memories|workspaces)_\w+")
FORBIDDEN = {
    "sets something in a SELECT": re.compile(r"\bset_config\s*\("),
    "locks what is no row": re.compile(r"\bpg_(?:try_)?advisory_"),
    "makes what lasts as long as the session": re.compile(
        r"\bcreate temp|\bdeclare\s+\w+|\blisten\b|\A\s*(?:re)?set\s+(?!local\b)\w"
    ),
    "copies out of a table in an INSERT": re.compile(
        r"\binsert into\b[^;]*?\)\s*select\b[^;]*?\b(?:from|join)\s+(?:memories|workspaces)_"
    ),
}


def faults_of(statement: str) -> list[str]:
    """Which rules of a statement for any kind of server it breaks."""
    text = re.sub(r"--.*", "", statement.lower())
    broken = [why for why, pattern in FORBIDDEN.items() if pattern.search(text)]
    if CHANGES.search(text) and VOLATILE.search(text):
        broken.append("changes rows by a function that is volatile")
    return broken


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.sql")), ids=lambda path: path.stem)
def test_what_the_hot_paths_send_any_kind_of_server_takes(path: Path) -> None:
    for statement in path.read_text().split(";\n"):
        assert faults_of(statement) == [], statement


@pytest.mark.parametrize(
    "statement",
    [
        "update memories_entry set id = nextval('x') where id = 1",
        "with a as (update memories_entry set live = true) select array(select nextval('x'))",
        "select set_config('hnsw.ef_search', '40', true)",
        "select pg_advisory_xact_lock(1, 2)",
        "set hnsw.ef_search = 40",
        "insert into memories_duevector (entry_id) select id from unnest(%(ids)s) id"
        " where exists (select 1 from memories_workspaceindex)",
    ],
)
def test_a_statement_that_not_every_server_takes_is_found(statement: str) -> None:
    assert faults_of(statement)
