"""Messages that wait for the judge, off the path of any request: gather, ask, apply.

Rules read first. What they did not read of a message, and the judge holds for a lasting fact, is kept as a quoted
statement of low confidence; then the message is compared with what is believed of its subject, and with earlier words
that nothing was read in: what it ends of them is kept, too, as questioned. The rows are the queue: a message waits
until its session is learned, and is given up after some attempts.
"""

import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.db import transaction
from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Right

from memories.belief import resolve, touches
from memories.belief.resolve import Claim, Quote
from memories.belief.touches import EarlierWords, HeardChange, NewTouch
from memories.belief.touches.judged import SHORT
from memories.index import due_vectors, entries, prepared_sql, workspace_index
from memories.ingest.process import messages_of, options_of, still_said
from memories.ingest.store import Kept
from memories.judge.judge import Line, Thresholds, TrainedJudge, Worth, shipped
from memories.models import Category, Citation, Episode, Fact, FactType, MemorySession, Source, WorkspaceIndex
from memories.models.conversation import JUDGE_ATTEMPTS, WITHOUT_JUDGE
from memories.reading.extraction import Extraction, ExtractOptions, Message
from memories.reading.extraction.trust import BELIEVE
from memories.settings.workspace_settings import settings_of
from workspaces.models import Workspace

AT_ONCE = 8  # messages that are asked about together
SENTENCES = 8  # of a message, that are asked about
CONFIDENCE = 0.5
PLAUSIBLE = 0.5  # probability that earlier words are a fact or of the moment, if they are kept because they ended
TURN = 20.0  # seconds

# What a statement is about decides who sees it and how it is served: that is taken from rules where it has a weight.
CATEGORIES = {
    name: Category(name) for name in ("preference", "identity", "relationship", "possession", "plan", "technology")
}
Place = tuple[int, int]
OPEN = [str(state) for state in (MemorySession.State.RECEIVED, MemorySession.State.EXTRACTING)]
OF_A_WORKSPACE = ("ask", "far", "keep")  # the thresholds that it may choose
MATCHING = (MemorySession.Extract.AUTO, MemorySession.Extract.PATTERNS)
CLAIM = f"""
update memories_episode set judge_attempts = judge_attempts + 1
where id = any(array(
  select e.id from memories_episode e
  where e.workspace_id = %(workspace)s and e.judge_attempts < {JUDGE_ATTEMPTS}
    and not exists (select 1 from memories_memorysession s
                    where s.id = e.session_id and s.state = any(%(open)s::text[]))
  order by e.judge_attempts, e.id limit {AT_ONCE}
  for update skip locked))
returning id
"""


def due_workspaces(judge: TrainedJudge = shipped) -> list[uuid.UUID]:
    """Return the workspaces of which something waits for the judge; none where there is no model."""
    found = {*touches.open_touches().values_list("workspace_id", flat=True).distinct()}
    messages = Episode.objects.filter(judge_attempts__lt=JUDGE_ATTEMPTS).exclude(WITHOUT_JUDGE)
    settled = messages.exclude(session__state__in=OPEN)
    found |= {*settled.values_list("workspace_id", flat=True).distinct()}
    # The model is loaded where something waits, and not before.
    return sorted(found) if found and judge.name else []


def run(workspace_id: uuid.UUID, seconds: float = TURN, judge: TrainedJudge = shipped) -> int:
    """Ask about what waits in a workspace for about `seconds`; return how many messages and touches were done."""
    end, done = time.monotonic() + min(seconds, TURN), 0
    if judge.name is None or judge.thresholds is None:
        return 0
    own = settings_of(Workspace.objects.only("settings").get(pk=workspace_id)).judge
    chosen = {name: value for name in OF_A_WORKSPACE if (value := getattr(own, name)) is not None}
    thresholds = judge.thresholds._replace(**chosen)
    space = workspace_index.index_of(workspace_id)
    for step in (_messages, touches.decide_open):
        while decided := step(space, judge, thresholds):
            done += decided
            if time.monotonic() >= end:
                return done
    return done


def _messages(space: WorkspaceIndex, judge: TrainedJudge, thresholds: Thresholds) -> int:
    """Ask about some messages; return how many, 0 where there are none or the judge fails."""
    with transaction.atomic(durable=True):
        # Counted first: a message that kills its worker is given up at last.
        rows = prepared_sql.rows(CLAIM, {"workspace": space.workspace_id, "open": OPEN})
    claimed = Episode.objects.filter(pk__in=[row.id for row in rows])
    episodes = _with_words(claimed)
    unread = {one.pk: _unread(one)[:SENTENCES] for one in episodes}
    if not _keep(space, episodes, unread, judge, lambda worth: worth.fact >= thresholds.keep):
        return 0
    heard = touches.compare(space, episodes, judge, thresholds)
    if heard is None or not _keep_ended(space, heard, judge):
        return 0
    with transaction.atomic(durable=True):
        touches.write_touches(space.workspace_id, _touches(heard))
        claimed.update(judge_attempts=None)
    return len(episodes)


def _with_words(episodes: QuerySet[Episode]) -> list[Any]:
    """Return messages by session, with what was read of them and the message `before` each."""
    earlier = Episode.objects.filter(conversation=OuterRef("conversation"), position__lt=OuterRef("position"))
    before = earlier.order_by("-position").annotate(end=Right("content", SHORT)).values("end")[:1]
    with_session = episodes.select_related("session__subject", "session__agent", "session__conversation")
    with_words = with_session.prefetch_related("citations").annotate(before=Subquery(before))
    return list(with_words.order_by("session_id", "pk"))


def _unread(episode: Episode) -> list[Place]:
    return touches.unread_places(episode.content, [(one.start, one.end) for one in episode.citations.all()])


def _keep_ended(space: WorkspaceIndex, heard: Sequence[HeardChange], judge: TrainedJudge) -> bool:
    """Keep the earlier words that messages end: what later changes was no small talk. Tell whether the judge
    answered."""
    places: defaultdict[uuid.UUID, list[Place]] = defaultdict(list)
    for words in {one.ended for one in heard if isinstance(one.ended, EarlierWords)}:
        places[words.episode].append((words.start, words.end))
    episodes = _with_words(Episode.objects.filter(pk__in=places)) if places else []
    return _keep(space, episodes, places, judge, lambda worth: worth.fact + worth.moment >= PLAUSIBLE)


def _touches(heard: Sequence[HeardChange]) -> list[NewTouch]:
    """Return the touches of what messages end: of earlier words only where a memory was made of them."""
    words = {one.ended for one in heard if isinstance(one.ended, EarlierWords)}
    cited = Citation.objects.filter(episode__in={each.episode for each in words}, fact__memory__isnull=False)
    rows = cited.values_list("episode_id", "start", "end", "fact__memory_id")
    made = {EarlierWords(episode, start, end): memory for episode, start, end, memory in rows}
    ended = [(one, made.get(one.ended) if isinstance(one.ended, EarlierWords) else one.ended) for one in heard]
    return [one.touch(memory) for one, memory in ended if memory]


def _keep(
    space: WorkspaceIndex,
    episodes: Iterable[Any],
    places: Mapping[uuid.UUID, Sequence[Place]],
    judge: TrainedJudge,
    is_kept: Callable[[Worth], bool],
) -> bool:
    """Keep sentences, at `places` of messages, that the judge finds worth it; tell whether it answered."""
    for session, own in groupby(episodes, key=attrgetter("session")):
        if session is None or session.extract not in MATCHING or session.pathway == MemorySession.Pathway.DOCUMENT:
            continue
        rows = tuple(own)
        kept = Kept(session, space, rows)
        options = options_of(kept)
        sentences = [
            (message, place, episode.before or "")
            for message, episode in zip(messages_of(kept), rows, strict=True)
            if options.trust_in(message) == BELIEVE
            for place in places[episode.pk]
        ]
        answers = judge.worth([Line(before, message.text[slice(*place)]) for message, place, before in sentences])
        if answers is None:
            return False
        found = Extraction()
        for (message, place, _), worth in zip(sentences, answers, strict=True):
            if is_kept(worth) and worth.category not in ("instruction", "policy"):
                found.add([_claim(message, place, worth, options, str(judge.name))])
        if found.claims:
            _write(space, session, found.claims)
    return True


def _claim(message: Message, place: tuple[int, int], worth: Worth, options: ExtractOptions, model: str) -> Claim:
    words = message.text[slice(*place)]
    return Claim(
        statement=f'{message.speaker} said: "{words}"',
        category=CATEGORIES.get(worth.category, Category.OTHER),
        fact_type=FactType.FACT,
        visibility=options.visibility_of(Category.OTHER, words, words),
        method=Fact.Method.JUDGE,
        rule=model,
        source=Source.EXTRACTED,
        occurred_at=message.occurred_at,
        confidence=CONFIDENCE,
        quotes=(Quote(message.id, *place, words),),
        speaker=message.speaker,
    )


def _write(space: WorkspaceIndex, session: MemorySession, found: Sequence[Claim]) -> None:
    """Write claims as an ingest does, without those that another judge wrote meanwhile."""
    rows = Episode.objects.filter(pk__in=[claim.quotes[0].text_id for claim in found])
    said = {row.pk: row.believed_at for row in rows}
    found = [replace(claim, occurred_at=said[claim.quotes[0].text_id]) for claim in found]
    made = due_vectors.embed_or_leave(space, [entries.texts_of(claim.statement) for claim in found])
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        claims, vectors = still_said(found, made)
        cited = set(Citation.objects.filter(episode__in=said).values_list("episode_id", "start", "end"))
        places = [(quote.text_id, quote.start, quote.end) for claim in claims for quote in claim.quotes]
        new = [number for number, place in enumerate(places) if place not in cited]
        claims = [claims[number] for number in new]
        vectors = None if vectors is None else [vectors[number] for number in new]
        placement = resolve.placement_of(session, claims)
        for place, numbers in resolve.places_of(session, placement, claims):
            own = None if vectors is None else [vectors[number] for number in numbers]
            chosen = [claims[number] for number in numbers]
            resolve.apply(space, place, chosen, own, actor=f"session:{session.pk}", session_id=session.pk)
