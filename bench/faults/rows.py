"""Answers that clients got beside what the rows say."""

import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import psycopg

from bench.faults.acts import APPEND, ASYNC, CLAIMS, ERASE, LARGE, NOTE, SYNC, Act
from bench.faults.outcome import Finding
from bench.server import TrialServer

LOST, DOUBLED, STUCK, DIFFERS, DISAGREES = "lost", "doubled", "stuck", "differs", "disagrees"
KINDS = (LOST, DOUBLED, STUCK, DIFFERS, DISAGREES)
ONE_EACH = (SYNC, ASYNC, LARGE, NOTE)  # each message is one memory

EPISODES = "select coalesce(external_id, ''), id::text, content from memories_episode"
FACTS = """
select c.episode_id::text, count(*)
from memories_citation c join memories_fact f on f.id = c.fact_id
group by 1"""
CONTENTS = "select content from memories_memory"
REPEATED = """
select f.statement from memories_fact f join memories_citation c on c.fact_id = f.id
group by c.episode_id, c.start, c.end, f.statement having count(*) > 1"""
SUPPORT = """
select m.id::text, m.source_count, count(f.id) from memories_memory m
left join memories_fact f on f.memory_id = m.id
group by m.id having m.source_count <> count(f.id)"""
FEATURES = """
select set_id::text, category, tag, feature, value from memories_feature where ended_at is null
group by 1, 2, 3, 4, 5 having count(*) > 1"""
SESSIONS = """
select id::text, state, error, cardinality(created_ids), cardinality(updated_ids),
       cardinality(reinforced_ids), coalesce((counts ->> 'facts')::int, 0)
from memories_memorysession"""
TAKEN_OVER = "select count(*) from memories_memorysession where attempts > 1"
ERASURES = "select id::text, target_id::text, state, proof ->> 'clean', error from memories_erasure"
WAITING = {
    "sessions that are not final": """
        select count(*) from memories_memorysession
        where state in ('received', 'extracting', 'resolving')""",
    "erasures that are not over": """
        select count(*) from memories_erasure where state in ('waiting', 'running')""",
    "entries without vectors": "select count(*) from memories_duevector",
    "messages that wait for a feature set": """
        select count(*) from memories_episode e
        join memories_featureset s
          on s.subject_id = e.subject_id and s.workspace_id = e.workspace_id
        where s.conversation_id is null and s.role = '' and e.scope = 'user'
          and not exists (select 1 from memories_featuremark m
                          where m.set_id = s.id and m.episode_id = e.id)""",
}


def still_due(server: TrialServer, seconds: float) -> list[Finding]:
    """Return the work not done after `seconds` though nobody asks any more: the worker does it all."""
    began, waiting = time.monotonic(), {"answers of the database": 1}
    while time.monotonic() - began < seconds:
        with suppress(psycopg.Error):
            counted = {name: int(server.rows(text)[0][0]) for name, text in WAITING.items()}
            waiting = {name: number for name, number in counted.items() if number}
            if not waiting:
                return []
            _fold(server)
        time.sleep(2.0)
    after = f"after {seconds:.0f} s"
    return [Finding(STUCK, f"{number} {name} {after}") for name, number in waiting.items()]


def _fold(server: TrialServer) -> None:
    """Ask for what waits to be taken in: by itself it would wait for more."""
    with server.client(60.0) as client:
        for row in client.ask("GET", f"{server.path}/sets?limit=100").json.get("results") or []:
            if row.get("waiting"):
                client.ask("POST", f"{server.path}/sets/{row['key']}/fold", {})


def findings(server: TrialServer, acts: Sequence[Act]) -> Iterator[Finding]:
    """All that is not as the clients were told. Raises psycopg.Error."""
    answered = [act for act in acts if act.answer is not None]
    kept = [act for act in answered if not act.erased and act.kind != ERASE]
    episodes = defaultdict(list)
    for external, row, content in server.rows(EPISODES):
        episodes[external or content].append((row, content))
    yield from _kept(kept, episodes, dict(server.rows(FACTS)))
    yield from _once(server, kept)
    yield from _final(server)
    yield from _answers(kept, {row[0]: row[1:] for row in server.rows(SESSIONS)})
    yield from _erased(server, [act for act in answered if act.kind == ERASE])
    for act in acts:
        if act.statuses and act.answer is None:
            told = f"{act.kind} of {act.user}: {act.statuses[-8:]}"
            is_refused = act.is_over
            yield Finding(DIFFERS if is_refused else STUCK, f"never answered with success: {told}")


def _kept(
    acts: Sequence[Act],
    episodes: Mapping[str, Sequence[tuple[str, str]]],
    facts: Mapping[str, int],
) -> Iterator[Finding]:
    """Each message is an episode with its words, and was learned from once."""
    for act in acts:
        for mark, text in act.texts.items():
            found = episodes.get(text if act.kind == NOTE else mark, [])
            if not any(content == text for _, content in found):
                yield Finding(LOST, f"message {mark} ({act.kind})")
                continue
            if len(found) > 1:
                yield Finding(DOUBLED, f"{len(found)} episodes of message {mark} ({act.kind})")
            learned = facts.get(found[0][0], 0)
            if act.kind in ONE_EACH and learned != 1:
                kind = DOUBLED if learned else LOST
                yield Finding(kind, f"{learned} facts of message {mark} ({act.kind})")
            if act.kind == CLAIMS and not learned:
                yield Finding(LOST, f"nothing read out of message {mark}")


def _once(server: TrialServer, acts: Sequence[Act]) -> Iterator[Finding]:
    contents = Counter(row[0] for row in server.rows(CONTENTS))
    for act in acts:
        if act.kind in ONE_EACH:
            for mark, text in act.texts.items():
                if contents[text] != 1:
                    kind = DOUBLED if contents[text] else LOST
                    yield Finding(kind, f"{contents[text]} memories of message {mark}")
    for row in server.rows(REPEATED):
        yield Finding(DOUBLED, f"a fact of the same words: {row[0][:80]}")
    for row in server.rows(SUPPORT):
        yield Finding(DOUBLED, f"memory {row[0]} counts {row[1]} facts and has {row[2]}")
    for row in server.rows(FEATURES):
        yield Finding(DOUBLED, f"a feature of the same value: {row}")


def _final(server: TrialServer) -> Iterator[Finding]:
    for row, state, error, *_ in server.rows(SESSIONS):
        if state != "done" and error != "erased":
            yield Finding(STUCK, f"session {row} is {state}: {error}")


def _answers(acts: Sequence[Act], sessions: Mapping[str, Sequence[Any]]) -> Iterator[Finding]:
    for act in acts:
        assert act.answer is not None
        told = act.answer.json
        if act.kind == APPEND:
            marks = {str(row.get("externalId")) for row in told.get("results") or []}
            if marks != set(act.texts):
                yield Finding(DIFFERS, f"append answered {sorted(marks)}, not {list(act.texts)}")
            continue
        session = sessions.get(str(told.get("sessionId")))
        if session is None:
            yield Finding(DIFFERS, f"{act.answer.status} names no session: {_short(told)}")
        elif act.answer.status == 201:
            names = ("memoriesCreated", "memoriesUpdated", "memoriesReinforced", "factsExtracted")
            said = tuple(told.get(name) for name in names)
            if said != tuple(session[2:]) or told.get("status") != session[0]:
                row = f"{session[0]} {tuple(session[2:])}"
                yield Finding(DIFFERS, f"201 said {told.get('status')} {said}, the row {row}")
            elif len(told.get("memories") or []) != told.get("memoriesCreated"):
                yield Finding(DIFFERS, f"201 lists other memories than it counts: {_short(told)}")


def _erased(server: TrialServer, acts: Sequence[Act]) -> Iterator[Finding]:
    erasures = {row[1]: row for row in server.rows(ERASURES)}
    for row in erasures.values():
        if row[2] == "failed" or (row[2] == "done" and row[3] != "true"):
            yield Finding(STUCK, f"erasure {row[0]} is {row[2]}, clean {row[3]}: {row[4]}")
    for act in acts:
        assert act.answer is not None
        subject = act.path.rpartition("/")[2]
        if subject not in erasures:
            yield Finding(DIFFERS, f"{act.answer.status} names no erasure of {act.user}")
        for mark, text in act.texts.items():
            for table, column in (
                ("memories_episode", "content"),
                ("memories_memory", "content"),
                ("memories_fact", "statement"),
            ):
                statement = f"select count(*) from {table} where {column} = %s"
                if number := server.rows(statement, [text])[0][0]:
                    yield Finding(LOST, f"erased message {mark} is in {number} rows of {table}")


def index_agrees(server: TrialServer, seconds: float) -> Iterator[Finding]:
    """Return the faults that `checkindex` finds."""
    code, out, errors = server.run("checkindex", "--json", timeout=seconds)
    try:
        workspaces = json.loads(out[out.index("{") : out.rindex("}") + 1])
    except ValueError:
        yield Finding(DISAGREES, f"checkindex ended with {code}: {errors[-500:]}")
        return
    for slug, found in workspaces.items():
        for broken in found["disagreements"]:
            yield Finding(DISAGREES, f"{slug}: {broken['number']} {broken['rule']}")


def _short(told: Mapping[str, Any]) -> str:
    return str({name: value for name, value in told.items() if name != "memories"})[:200]
