"""One word on whether a memory is live, held or past: the row, the queryset and SQL say the
same."""

import logging
from datetime import timedelta
from itertools import product

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from memories.belief import review
from memories.belief.resolve import claims
from memories.models import LIVE_SQL, Fact, Memory, MemoryState, Supersession
from tests.factories import MemoryFactory
from tests.people import Person
from workspaces.models import Workspace

ENDINGS = ("superseded", "forgotten", "held", "expired")


def memory_of(workspace: Workspace, endings: set[str]) -> Memory:
    now = timezone.now()
    memory: Memory = MemoryFactory(workspace=workspace)
    if "superseded" in endings:
        memory.superseded_by = MemoryFactory(workspace=workspace)
    memory.forgotten_at = now if "forgotten" in endings else None
    memory.held_at = now if "held" in endings else None
    memory.forget_after = now + timedelta(hours=-1 if "expired" in endings else 1)
    memory.save()
    return memory


@pytest.mark.parametrize("chosen", list(product((False, True), repeat=4)))
def test_row_queryset_and_sql_agree_on_what_is_live(workspace: Workspace, chosen: tuple[bool, ...]) -> None:
    endings = {name for name, is_chosen in zip(ENDINGS, chosen, strict=True) if is_chosen}
    memory = memory_of(workspace, endings)
    rows = Memory.objects.filter(pk=memory.pk)
    with connection.cursor() as cursor:
        cursor.execute(f"select {LIVE_SQL} from memories_memory m where m.id = %s", [memory.pk])
        [in_sql] = cursor.fetchone()
    assert memory.is_live == rows.live().exists() == in_sql == (not endings)
    assert rows.ended().exists() == bool(endings)
    assert rows.get().is_head == memory.state.is_head == (endings <= {"expired"})


@pytest.mark.parametrize(
    ("endings", "state"),
    [
        (set(), MemoryState.LIVE),
        ({"expired"}, MemoryState.EXPIRED),
        ({"held", "expired"}, MemoryState.HELD),
        ({"superseded", "expired"}, MemoryState.SUPERSEDED),
        ({"superseded", "forgotten"}, MemoryState.FORGOTTEN),
    ],
)
def test_a_row_says_the_state_that_weighs_most(workspace: Workspace, endings: set[str], state: MemoryState) -> None:
    assert memory_of(workspace, endings).state == state


def test_the_log_says_what_was_decided_and_no_word_of_it(
    alice: Person,
    caplog: pytest.LogCaptureFixture,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    with caplog.at_level(logging.INFO), django_capture_on_commit_callbacks(execute=True):
        alice.say("Ann lives in Oslo.")
        alice.say("Ann moved to Bergen.")
        decision = Supersession.objects.get()
        review.undo(alice.scope, decision.pk)
    lines = [record.getMessage() for record in caplog.records]
    assert any(str(decision.pk) in line and "applied" in line for line in lines)
    assert any("undo" in line and str(decision.new_id) in line for line in lines)
    assert all(str(alice.workspace.pk) in line for line in lines if "undo" in line)
    assert not any(word in line for line in lines for word in ("Oslo", "Bergen", "Ann "))


def test_the_log_says_why_claims_are_in_quarantine(
    alice: Person,
    caplog: pytest.LogCaptureFixture,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    session = alice.say("Ann lives in Oslo.")
    claim = claims.Claim(
        statement="Ann lives in Rome",
        category="other",
        fact_type="fact",
        visibility="private",
        method=Fact.Method.LLM,
        rule="",
        source="extracted",
        occurred_at=timezone.now(),
    )
    placement = claims.placement_of(session, [claim])
    with caplog.at_level(logging.INFO), django_capture_on_commit_callbacks(execute=True):
        claims.quarantine(placement, [(claim, "not said")], session.pk)
    [line] = [r.getMessage() for r in caplog.records if "quarantine" in r.getMessage()]
    assert str(session.pk) in line
    assert "not said" in line
    assert "Rome" not in line
