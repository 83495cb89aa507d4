"""Summaries as a layer of search: of each conversation, of each stretch of it, of what a subject
says about a topic, and of what is known of a subject. Made by the worker, anew when what they were
made of has changed.

A summary is of what one agent has heard of one subject, so that it is found by whom each of its
messages is. What a thread or a workflow keeps to itself is in none.
"""

import logging
import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from memories.index import (
    due_summaries,
    due_vectors,
    entries,
    rebuild,
    workspace_index,
)
from memories.index.due_summaries import FEWEST
from memories.language.english import clauses
from memories.models import (
    ConversationSummary,
    DueSummary,
    Episode,
    Layer,
    MemoryScope,
    TalkSummary,
    WorkspaceIndex,
)
from memories.profiles.summaries import running_summary
from memories.profiles.summaries.running_summary import UNSAID, Spans, citations, is_unsaid
from memories.profiles.summaries.subject_summaries import (
    LONGEST,
    OF_SUBJECTS,
    Lines,
    ModelTurn,
    NewTalkSummary,
    TalkAudience,
    digest,
    digest_of,
    new_summary,
    of_subject,
    texts_now,
)
from memories.providers.prompts import SUMMARY_VERSION
from memories.queue.due_rows import DIED, Queue

log = logging.getLogger(__name__)
Kind = TalkSummary.Kind

ROOM = 400  # tokens of a conversation's summary
LONGEST_MESSAGE = 600  # characters of a message in its stretch, in whole sentences
MOST = 2_000  # messages of a conversation: the newest
STRETCH = 8  # messages of a stretch of a conversation
MAX_ATTEMPTS = 5
MUCH_LATER = timedelta(days=1)  # what has used up its attempts is tried again then
BATCH = 200
QUEUE = Queue(DueSummary, timedelta(seconds=30), most_attempts=MAX_ATTEMPTS)

# Summaries that a worker is making of them now are not written.
ALL_DUE = """
insert into memories_duesummary
  (id, workspace_id, {of}_id, due_at, claims, attempts, created_at, updated_at)
select gen_random_uuid(), t.workspace_id, t.id, %(now)s, 0, 0, %(now)s, %(now)s
from {table} t
where t.workspace_id = %(workspace)s and (%(all)s or t.id = any(%(ids)s::uuid[]))
order by t.id
on conflict ({of}_id) do update
  set due_at = %(now)s, attempts = 0, claims = memories_duesummary.claims + 1, lease_until = null
"""
OF_TALKS = ALL_DUE.format(of="conversation", table="memories_conversation")
OF_THEIR_SUBJECTS = ALL_DUE.format(of="subject", table="workspaces_subject")


def due_rows() -> list[uuid.UUID]:
    """Conversations whose turn it is, and those whose worker died."""
    return QUEUE.due(BATCH)


def all_due(workspace_id: uuid.UUID) -> None:
    """Have all summaries of a workspace made, as after an import."""
    _make_due(OF_TALKS, workspace_id)
    alone = Episode.objects.filter(workspace=workspace_id, conversation=None)
    for subject_id in alone.order_by().values_list("subject_id", flat=True).distinct():
        if subject_id is not None:
            due_summaries.of_subject(workspace_id, subject_id)


def start_again(index: WorkspaceIndex, episodes: QuerySet[Episode], beside: Iterable[uuid.UUID] = ()) -> int:
    """Drop the summaries that these episodes make out of date, in the caller's transaction: those
    of their conversations, of their subjects and of those `beside`. They are made anew. Return how
    many went."""
    told = set(episodes.order_by().values_list("conversation_id", "subject_id").distinct())
    talks = {talk for talk, _ in told} - {None}
    subjects = {subject for _, subject in told} | set(beside)
    about = Q(subject__in=subjects - {None})
    if None in subjects:
        about |= Q(subject=None)
    gone = drop(index, Q(conversation__in=talks) | Q(kind__in=OF_SUBJECTS) & about)
    for statement, ids in ((OF_TALKS, talks), (OF_THEIR_SUBJECTS, subjects - {None})):
        if ids:
            _make_due(statement, index.workspace_id, ids)
    return gone


def _make_due(statement: str, workspace_id: uuid.UUID, ids: Iterable[uuid.UUID | None] | None = None) -> None:
    values: dict[str, Any] = {
        "workspace": workspace_id,
        "all": ids is None,
        "ids": list(ids or ()),
        "now": timezone.now(),
    }
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def drop(index: WorkspaceIndex, which: Q) -> int:
    """Delete summaries with their index entries. Return how many."""
    rows = TalkSummary.objects.filter(which, workspace_id=index.workspace_id)
    gone = list(rows.values_list("pk", flat=True))
    entries.remove(index, Layer.SUMMARIES, gone)
    TalkSummary.objects.filter(pk__in=gone).delete()
    return len(gone)


def make(due_id: uuid.UUID, seconds: float = LONGEST) -> DueSummary | None:
    """Make the summaries of a conversation that is due, and of its subjects, or of a subject; None
    where another worker has it, or nothing is due. No model is asked after `seconds`."""
    row = QUEUE.claim(due_id)
    if row is None:
        return None
    if QUEUE.died_too_often(row):
        log.error("summaries of %s are put off for a day: %s", row, DIED)
        QUEUE.give_back(row, MUCH_LATER)
        return row
    with QUEUE.renewed(row):
        index = workspace_index.index_of(row.workspace_id)
        made: list[NewTalkSummary] = []
        turn = ModelTurn.of(row.workspace_id, seconds)
        audiences = _audiences(row)
        for audience, episodes in audiences.items():
            if len(episodes) >= FEWEST:
                made += _of_conversation(row, audience, episodes, turn)
            made += of_subject(row.workspace_id, audience, turn)
        write(index, row, list(audiences), made, _due_again(row, turn))
    return row


def _due_again(row: DueSummary, turn: ModelTurn) -> datetime | None:
    """Return when it is due again: where a model has more to tell, or failed for now."""
    if turn.error is not None and not turn.error.permanent:
        if (again_at := QUEUE.retry_at(row)) is not None:
            row.attempts = max(1, row.attempts - turn.error.is_outage)  # an outage costs none
            return again_at
        log.error("summaries of %s are put off for a day: %s", row, turn.error.own_words)
        row.attempts = 0
        return timezone.now() + MUCH_LATER
    if not turn.is_left or turn.error is not None:
        return None
    row.attempts = 0  # none has failed
    return timezone.now()


def _audiences(row: DueSummary) -> dict[TalkAudience, list[Episode]]:
    """Return the parties of the talk, each with the episodes of the conversation, if one is due."""
    found: dict[TalkAudience, list[Episode]] = defaultdict(list)
    told = Episode.objects.filter(scope=MemoryScope.USER)
    if row.conversation_id is None:
        agents = told.filter(subject=row.subject_id).order_by().values_list("agent_id", flat=True)
        return {TalkAudience(row.subject_id, agent_id): [] for agent_id in agents.distinct()}
    rows = told.filter(conversation=row.conversation_id).order_by("-occurred_at", "-position")
    for episode in reversed(rows[:MOST]):
        found[TalkAudience(episode.subject_id, episode.agent_id)].append(episode)
    return found


def _of_conversation(
    row: DueSummary, audience: TalkAudience, episodes: Sequence[Episode], turn: ModelTurn
) -> list[NewTalkSummary]:
    """Summarize the whole, by a model where one is configured, and each stretch in its own
    words."""
    assert row.conversation_id is not None
    cited = citations(episode.pk for episode in episodes)
    said = [one.pk for one in episodes if not is_unsaid(cited.get(one.pk, ()))]
    new = partial(new_summary, row.workspace_id, audience, conversation_id=row.conversation_id)
    lines, rule, stands_on = _whole(row, audience, episodes, digest(SUMMARY_VERSION, said), turn)
    of = {episode.pk: episode for episode in episodes}
    made = [new(Kind.CONVERSATION, lines, of, rule=rule, stands_on=stands_on)]
    for ordinal in range(0, len(episodes), STRETCH):
        stretch = episodes[ordinal : ordinal + STRETCH]
        lines = [line for one in stretch if (line := _message(one, cited.get(one.pk, ())))]
        of = {episode.pk: episode for episode in stretch}
        made.append(new(Kind.STRETCH, lines, of, ordinal=ordinal // STRETCH))
    return [one for one in made if one.row.lines]


def _whole(
    row: DueSummary,
    audience: TalkAudience,
    episodes: Sequence[Episode],
    stands_on: str,
    turn: ModelTurn,
) -> tuple[Lines, str, str]:
    """Return the lines of a conversation, by which rule, and what a model read for them, if one
    did: while that is unchanged, its answer stays."""
    known = TalkSummary.objects.filter(
        conversation=row.conversation_id,
        subject=audience.subject_id,
        agent=audience.agent_id,
        kind=Kind.CONVERSATION,
    ).first()
    if turn.ladder is not None and known is not None and known.stands_on == stands_on:
        return known.lines, known.rule, stands_on
    if turn.ladder is not None and turn.may_ask():
        asked = ConversationSummary(workspace_id=row.workspace_id, agent_id=audience.agent_id)
        whole = running_summary.made(asked, episodes, ROOM, in_one_go=True)
    else:
        whole = running_summary.chosen(episodes, ROOM)
    if whole.error is not None:
        turn.failed(whole.error)
    is_told = whole.method == ConversationSummary.Method.LLM
    return whole.lines, whole.rule, stands_on if is_told else ""


def _message(episode: Episode, cited: Spans) -> dict[str, Any] | None:
    """Return the first sentences of a message; None where something in them must no longer be
    told."""
    end = 0
    for _, last in clauses.sentences(episode.content[: 2 * LONGEST_MESSAGE]):
        if end and last > LONGEST_MESSAGE:
            break
        end = last
    unsaid = any(weight == UNSAID and a < end for a, _, weight in cited)
    if unsaid or not end:
        return None
    return {"episode": str(episode.pk), "start": 0, "end": end}


def write(
    index: WorkspaceIndex,
    row: DueSummary,
    audiences: Sequence[TalkAudience],
    made: Sequence[NewTalkSummary],
    again_at: datetime | None = None,
) -> bool:
    """Replace the summaries, unless the claim was lost; those that say the same stay. Return
    whether all was written.

    By the time that a model has answered, its sources may no longer be believed, or say something
    else: such a summary is not written, and the row is due again, as it is where something came
    meanwhile. `again_at`: when it is, for what a model has still to tell.
    """
    texts = {one.key: entries.texts_of(one.text) for one in made}
    known = {NewTalkSummary(old, "").key: old for old in _there(row, audiences)}
    new = [one for one in made if not _is_same(known.get(one.key), one)]
    vectors = due_vectors.embed_or_leave(index, [texts[one.key] for one in new])
    with transaction.atomic(durable=True):
        workspace_index.lock(index)
        current = QUEUE.held(row).select_for_update().first()
        if current is None:
            return False
        there = {NewTalkSummary(old, "").key: old for old in _there(row, audiences)}
        kept = {one.key for one in made} - {one.key for one in new}
        gone = [old.pk for key, old in there.items() if key not in kept]
        drop(index, Q(pk__in=gone))
        is_whole = _add(index, new, vectors)
        came = current.due_at != row.due_at
        times = [again_at, current.due_at if came else None, None if is_whole else timezone.now()]
        if any(times):
            attempts = 0 if came else row.attempts
            due_at = min(at for at in times if at is not None)
            QUEUE.leave(row, due_at, attempts=attempts)
        else:
            QUEUE.held(row).delete()
    return is_whole


def _add(
    index: WorkspaceIndex,
    new: Sequence[NewTalkSummary],
    vectors: Sequence[entries.Vectors] | None,
) -> bool:
    """Add the summaries whose sources are unchanged. Return whether those are all."""
    texts = texts_now(index.workspace_id, {pk for one in new for pk in one.read})
    vectors_of: Sequence[entries.Vectors | None] = vectors or [None] * len(new)
    told = [
        (one, own)
        for one, own in zip(new, vectors_of, strict=True)
        if not one.read or digest_of((pk, texts.get(pk, "")) for pk in one.read) == one.row.stands_on
    ]
    TalkSummary.objects.bulk_create([one.row for one, _ in told])
    ids = [one.row.pk for one, _ in told]
    items = {item.id: item for item in rebuild.items_of_truth(Layer.SUMMARIES, ids)}
    whole = [(one.row.pk, own) for one, own in told if items[one.row.pk].text == one.text]
    TalkSummary.objects.filter(pk__in=set(ids) - {pk for pk, _ in whole}).delete()
    entries.write(index, [items[pk] for pk, _ in whole], [own for _, own in whole])
    return len(whole) == len(new)


def _is_same(old: TalkSummary | None, new: NewTalkSummary) -> bool:
    row = new.row
    return old is not None and (old.lines, old.stands_on) == (row.lines, row.stands_on)


def _there(row: DueSummary, audiences: Sequence[TalkAudience]) -> Iterable[TalkSummary]:
    own = Q(pk=None) if row.conversation_id is None else Q(conversation=row.conversation_id)
    for one in audiences:
        own |= Q(kind__in=OF_SUBJECTS, subject=one.subject_id, agent=one.agent_id)
    return TalkSummary.objects.filter(own, workspace_id=row.workspace_id)
