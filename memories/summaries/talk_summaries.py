"""Summaries as a layer of search: of each conversation, of each stretch of it, of what a subject
says about a topic, and of what is known of a subject. Made by the worker, anew when what they were
made of has changed.

A summary is of what one agent has heard of one subject, so that it is found by whom each of its
messages is. What a thread or a workflow keeps to itself is in none.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from memories import leases
from memories.english import clauses, lexical
from memories.index import (
    due_summaries,
    due_vectors,
    entries,
    prepared_sql,
    rebuild,
    workspace_index,
)
from memories.index.due_summaries import FEWEST
from memories.models import (
    Citation,
    ConversationSummary,
    DueSummary,
    Episode,
    Layer,
    MemoryScope,
    TalkSummary,
    WorkspaceIndex,
)
from memories.summaries import choose_sentences, summarize
from memories.summaries.choose_sentences import Sentence
from memories.summaries.summary_before import UNSAID, Spans, citations
from memories.tokens import tokens_of

Kind = TalkSummary.Kind
Lines = list[dict[str, Any]]

OF_SUBJECTS = (Kind.TOPIC, Kind.SUBJECT)
RULE = "stretches-1"
ROOM = 400  # tokens of a conversation's summary, and of a subject's
LONGEST_MESSAGE = 600  # characters of a message in its stretch, in whole sentences
MOST = 2_000  # messages of a conversation, facts of a subject: the newest
STRETCH = 8  # messages of a stretch of a conversation
ON_TOPIC = 40  # lines about a topic, the newest
MAX_ATTEMPTS = 5
BATCH = 200

CLAIM = f"""
update memories_duesummary
set lease_until = %(until)s, attempts = attempts + 1, claims = claims + 1, updated_at = %(now)s
where id = %(id)s and due_at <= %(now)s and {leases.FREE}
returning *
"""
ALL_DUE = """
insert into memories_duesummary
  (id, workspace_id, conversation_id, due_at, claims, attempts, created_at, updated_at)
select gen_random_uuid(), c.workspace_id, c.id, %(now)s, 0, 0, %(now)s, %(now)s
from memories_conversation c
where c.workspace_id = %(workspace)s and (%(all)s or c.id = any(%(ids)s::uuid[]))
on conflict (conversation_id) do update
  set due_at = %(now)s, attempts = 0, claims = memories_duesummary.claims + 1, lease_until = null
"""


@dataclass(frozen=True, slots=True)
class TalkAudience:
    """Whose talk it is: of one agent with one subject."""

    subject_id: uuid.UUID | None
    agent_id: uuid.UUID | None


@dataclass(frozen=True, slots=True)
class NewTalkSummary:
    """A summary as it is to be; `text` is what its lines say."""

    row: TalkSummary
    text: str

    @property
    def key(self) -> tuple[Any, ...]:
        row = self.row
        return row.kind, row.subject_id, row.agent_id, row.conversation_id, row.name, row.ordinal


def due_rows() -> list[uuid.UUID]:
    """Conversations whose turn it is, and those whose worker died."""
    now = timezone.now()
    rows = DueSummary.objects.filter(leases.free(now), due_at__lte=now).order_by("due_at")
    return list(rows.values_list("pk", flat=True)[:BATCH])


def all_due(workspace_id: uuid.UUID) -> None:
    """Have all summaries of a workspace made, as after an import."""
    values = {"workspace": workspace_id, "all": True, "ids": [], "now": timezone.now()}
    prepared_sql.execute(ALL_DUE, values)
    alone = Episode.objects.filter(workspace=workspace_id, conversation=None)
    for subject_id in alone.order_by().values_list("subject_id", flat=True).distinct():
        if subject_id is not None:
            due_summaries.of_subject(workspace_id, subject_id)


def start_again(index: WorkspaceIndex, conversations: Iterable[uuid.UUID]) -> int:
    """What these conversations' summaries were made of has changed, in the caller's transaction:
    they go at once, with all that is told of their subjects, and are made anew. How many went."""
    ids = list(conversations)
    if not ids:
        return 0
    episodes = Episode.objects.filter(conversation__in=ids)
    subjects = set(episodes.values_list("subject_id", flat=True).distinct())
    about = Q(subject__in=subjects - {None})
    if None in subjects:
        about |= Q(subject=None)
    rows = TalkSummary.objects.filter(workspace_id=index.workspace_id)
    gone = list(
        rows.filter(Q(conversation__in=ids) | (Q(kind__in=OF_SUBJECTS) & about)).values_list(
            "pk", flat=True
        )
    )
    entries.remove(index, Layer.SUMMARIES, gone)
    TalkSummary.objects.filter(pk__in=gone).delete()
    values = {"workspace": index.workspace_id, "all": False, "ids": ids, "now": timezone.now()}
    prepared_sql.execute(ALL_DUE, values)
    return len(gone)


def make(due_id: uuid.UUID) -> DueSummary | None:
    """Make the summaries of a conversation that is due, and of its subjects, or of a subject; None
    where another worker has it, or nothing is due."""
    now = timezone.now()
    claimed = prepared_sql.rows(CLAIM, {"id": due_id, "now": now, "until": leases.end()})
    if not claimed:
        return None
    row = DueSummary(**claimed[0]._asdict())
    row._state.adding = False
    if row.attempts > MAX_ATTEMPTS:
        held(row).delete()
        return row
    with leases.renewed(partial(held, row)):
        index = workspace_index.index_of(row.workspace_id)
        made: list[NewTalkSummary] = []
        audiences = _audiences(row)
        for audience, episodes in audiences.items():
            if len(episodes) >= FEWEST:
                made += _of_conversation(row, audience, episodes)
            made += _of_subject(row.workspace_id, audience)
        write(index, row, list(audiences), made)
    return row


def _audiences(row: DueSummary) -> dict[TalkAudience, list[Episode]]:
    """Who told it to whom, with what they said in the conversation, if one is due."""
    found: dict[TalkAudience, list[Episode]] = defaultdict(list)
    told = Episode.objects.filter(scope=MemoryScope.USER)
    if row.conversation_id is None:
        agents = told.filter(subject=row.subject_id).order_by().values_list("agent_id", flat=True)
        return {TalkAudience(row.subject_id, agent_id): [] for agent_id in agents.distinct()}
    rows = told.filter(conversation=row.conversation_id).order_by("-occurred_at", "-position")
    for episode in reversed(rows[:MOST]):
        found[TalkAudience(episode.subject_id, episode.agent_id)].append(episode)
    return found


def held(row: DueSummary) -> Any:
    """The row, as long as this claim of it stands."""
    return DueSummary.objects.filter(pk=row.pk, claims=row.claims, lease_until__isnull=False)


def _of_conversation(
    row: DueSummary, audience: TalkAudience, episodes: Sequence[Episode]
) -> list[NewTalkSummary]:
    """Of the whole, by a model where one is configured; and of each stretch, in its own words."""
    assert row.conversation_id is not None
    whole = summarize.made(
        ConversationSummary(
            workspace_id=row.workspace_id,
            conversation_id=row.conversation_id,
            agent_id=audience.agent_id,
        ),
        episodes,
        room=ROOM,
    )
    new = partial(_new, row.workspace_id, audience, conversation_id=row.conversation_id)
    made = [new(Kind.CONVERSATION, whole.lines, {e.pk: e for e in episodes}, rule=whole.rule)]
    cited = citations(episode.pk for episode in episodes)
    for ordinal in range(0, len(episodes), STRETCH):
        stretch = episodes[ordinal : ordinal + STRETCH]
        lines = [line for one in stretch if (line := _message(one, cited.get(one.pk, ())))]
        of = {episode.pk: episode for episode in stretch}
        made.append(new(Kind.STRETCH, lines, of, ordinal=ordinal // STRETCH))
    return [one for one in made if one.row.lines]


def _message(episode: Episode, cited: Spans) -> dict[str, Any] | None:
    """The first sentences of a message; None where something in them is to be told no more."""
    end = 0
    for _, last in clauses.sentences(episode.content[: 2 * LONGEST_MESSAGE]):
        if end and last > LONGEST_MESSAGE:
            break
        end = last
    unsaid = any(weight == UNSAID and a < end for a, _, weight in cited)
    return None if unsaid or not end else _line(episode.pk, 0, end)


def _line(episode_id: uuid.UUID, start: int, end: int) -> dict[str, Any]:
    return {"episode": str(episode_id), "start": start, "end": end}


@dataclass(frozen=True, slots=True)
class BelievedWords:
    """Words that something stands on that is believed; `support`: how often that was told."""

    episode: Episode
    start: int
    end: int
    support: int

    @property
    def text(self) -> str:
        return self.episode.content[self.start : self.end]


def _of_subject(workspace_id: uuid.UUID, audience: TalkAudience) -> list[NewTalkSummary]:
    """What is believed of a subject about each topic, and what is known of it at all, in the words
    that it stands on, in their order."""
    quotes = _quotes_of(workspace_id, audience)
    new = partial(_new, workspace_id, audience)
    made = []
    for name, places in choose_sentences.topics([quote.text for quote in quotes]).items():
        chosen = [quotes[at] for at in places][-ON_TOPIC:]
        lines = {
            (one.episode.pk, one.start, one.end): _line(one.episode.pk, one.start, one.end)
            for one in chosen
        }
        of = {one.episode.pk: one.episode for one in chosen}
        made.append(new(Kind.TOPIC, list(lines.values()), of, name=name))
    if audience.subject_id is None or len(quotes) < FEWEST:
        return made
    sentences = [
        Sentence(place, 0, len(one.text), one.text, one.support, lexical.stem_set(one.text))
        for place, one in enumerate(quotes)
    ]
    chosen_lines, of = [], {}
    for each in choose_sentences.choose(sentences, lambda one: tokens_of(one.text), ROOM):
        own = quotes[each.index]
        chosen_lines.append(_line(own.episode.pk, own.start, own.end))
        of[own.episode.pk] = own.episode
    if chosen_lines:
        made.append(new(Kind.SUBJECT, chosen_lines, of))
    return made


def _quotes_of(workspace_id: uuid.UUID, audience: TalkAudience) -> list[BelievedWords]:
    """Of what is believed now, in the order in which it was said, without what is to be told no
    more."""
    rows = Citation.objects.filter(
        Q(fact__memory__valid_until=None) | Q(fact__memory__valid_until__gt=timezone.now()),
        workspace_id=workspace_id,
        fact__memory__is_head=True,
        fact__memory__forgotten_at=None,
        fact__memory__held_at=None,
        episode__subject=audience.subject_id,
        episode__agent=audience.agent_id,
        episode__scope=MemoryScope.USER,
    )
    newest = rows.select_related("episode", "fact__memory").order_by("-pk")[:MOST]
    quotes = [
        BelievedWords(row.episode, row.start, row.end, row.fact.memory.source_count)
        for row in newest
        if row.episode is not None and row.fact.memory is not None
    ]
    cited = citations({quote.episode.pk for quote in quotes})
    told = [
        one
        for one in quotes
        if not any(
            weight == UNSAID and first < one.end and one.start < last
            for first, last, weight in cited.get(one.episode.pk, ())
        )
    ]
    return sorted(told, key=lambda one: (one.episode.occurred_at, one.episode.position, one.start))


def _new(
    workspace_id: uuid.UUID,
    audience: TalkAudience,
    kind: str,
    lines: Lines,
    of: Mapping[uuid.UUID, Episode],
    *,
    conversation_id: uuid.UUID | None = None,
    name: str = "",
    ordinal: int = 0,
    rule: str = RULE,
) -> NewTalkSummary:
    """`of`: the episodes that the lines name, by id."""
    lines = [{name: line[name] for name in line if name != "score"} for line in lines]
    times = [episode.occurred_at for episode in of.values()]
    row = TalkSummary(
        workspace_id=workspace_id,
        subject_id=audience.subject_id,
        agent_id=audience.agent_id,
        conversation_id=conversation_id,
        kind=kind,
        name=name,
        ordinal=ordinal,
        lines=lines,
        rule=rule,
        first_at=min(times),
        last_at=max(times),
    )
    texts = [
        line["text"]
        if "text" in line
        else of[uuid.UUID(line["episode"])].content[line["start"] : line["end"]]
        for line in lines
    ]
    return NewTalkSummary(row, "\n".join(texts))


def write(
    index: WorkspaceIndex,
    row: DueSummary,
    audiences: Sequence[TalkAudience],
    made: Sequence[NewTalkSummary],
) -> bool:
    """In the place of what there was, unless the claim was lost: what says the same stays."""
    texts = {one.key: entries.texts_of(one.text) for one in made}
    known = {
        NewTalkSummary(old, "").key: old
        for old in _there(row, audiences)
    }  # fmt: skip
    new = [one for one in made if one.key not in known or known[one.key].lines != one.row.lines]
    vectors = due_vectors.embed_or_leave(index, [texts[one.key] for one in new])
    with transaction.atomic(durable=True):
        workspace_index.lock(index)
        if not held(row).select_for_update().exists():
            return False
        there = {NewTalkSummary(old, "").key: old for old in _there(row, audiences)}
        kept = {one.key for one in made} - {one.key for one in new}
        gone = [old.pk for key, old in there.items() if key not in kept]
        entries.remove(index, Layer.SUMMARIES, gone)
        TalkSummary.objects.filter(pk__in=gone).delete()
        TalkSummary.objects.bulk_create([one.row for one in new])
        items = {
            item.id: item
            for item in rebuild.items_of_truth(Layer.SUMMARIES, [one.row.pk for one in new])
        }
        entries.write(index, [items[one.row.pk] for one in new], vectors)
        held(row).delete()
    return True


def _there(row: DueSummary, audiences: Sequence[TalkAudience]) -> Iterable[TalkSummary]:
    own = Q(pk=None) if row.conversation_id is None else Q(conversation=row.conversation_id)
    for one in audiences:
        own |= Q(kind__in=OF_SUBJECTS, subject=one.subject_id, agent=one.agent_id)
    return TalkSummary.objects.filter(own, workspace_id=row.workspace_id)
