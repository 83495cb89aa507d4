"""Messages that wait for the judge, off the path of any request: gather, ask, apply.

Rules read first. A sentence in which they read nothing, and which the judge takes for a lasting fact, is kept as a
quoted statement of low confidence; what they read in fiction is forgotten. Then the message is compared with what is
believed of its subject, and with earlier sentences in which nothing was read: of those that it ends a memory is made,
questioned from the start. The rows are the queue: a message waits until its session is learned, and is given up after
some attempts.
"""

import time
import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.db import transaction
from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Right

from memories import teaching
from memories.belief import resolve, review, touches
from memories.belief.resolve import Claim, Quote
from memories.belief.touches import EarlierWords, HeardChange, NewTouch
from memories.belief.touches.judged import SAME_TALK, Sentence
from memories.index import due_vectors, entries, prepared_sql, workspace_index
from memories.ingest.process import messages_of, options_of, still_said
from memories.ingest.store import Kept
from memories.judge.judge import Line, Thresholds, TrainedJudge, Worth, shipped
from memories.judge.pieces import SHORT
from memories.language.english.touch_rules import is_plain, places_of
from memories.models import Category, Citation, Episode, Fact, FactType, MemorySession, Source, WorkspaceIndex
from memories.models.conversation import JUDGE_ATTEMPTS, WITHOUT_JUDGE
from memories.reading.extraction import Extraction, ExtractOptions, Message
from memories.reading.extraction.trust import BELIEVE
from memories.reading.guard.masked_text import is_masked
from memories.settings.workspace_settings import settings_of
from workspaces.models import Workspace
from workspaces.scope import worker_scope

AT_ONCE = 8  # messages that are asked about together
SENTENCES = 8  # of a message, that are asked about
CONFIDENCE = 0.5
PLAUSIBLE = 0.5  # probability of a fact or of the moment from which earlier words that a message ended are kept
TURN = 20.0  # seconds

# What a statement is about decides who sees it and how it is served: that is taken from rules where it has a weight.
CATEGORIES = {
    name: Category(name) for name in ("preference", "identity", "relationship", "possession", "plan", "technology")
}
OF_A_WORKSPACE = ("act", "ask", "far", "keep", "drop")  # the thresholds that it may choose
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
    settled = messages.exclude(session__state__in=touches.OPEN)
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
    of_changes = teaching.taught(workspace_id, judge) if own.learn else judge
    steps = (
        lambda: _messages(space, judge, of_changes, thresholds),
        lambda: touches.decide_open(space, of_changes, thresholds, is_drawn=own.learn),
    )
    for step in steps:
        while decided := step():
            done += decided
            if time.monotonic() >= end:
                return done
    return done


def _messages(space: WorkspaceIndex, judge: TrainedJudge, of_changes: TrainedJudge, thresholds: Thresholds) -> int:
    """Ask about some messages, `of_changes` as the workspace taught it; return how many, 0 where there are none or the
    judge fails."""
    with transaction.atomic(durable=True):
        # Counted first: a message that kills its worker is given up at last.
        rows = prepared_sql.rows(CLAIM, {"workspace": space.workspace_id, "open": touches.OPEN})
    claimed = Episode.objects.filter(pk__in=[row.id for row in rows])
    episodes = _with_words(claimed)
    shown = {
        one.pk: [place for place in places_of(one.content)[:SENTENCES] if not is_masked(one.content[slice(*place)])]
        for one in episodes
    }
    worths = _worths(episodes, shown, judge)
    if worths is None:
        return 0
    unread = {
        (one.pk, place)
        for one in episodes
        for place in touches.unread_places(one.content, [(read.start, read.end) for read in one.citations.all()])
    }
    kept = {one: worth for one, worth in worths.items() if one in unread and worth.fact >= thresholds.keep}
    _keep(space, episodes, kept, str(judge.name))
    not_meant = {one for one, worth in worths.items() if worth.fiction >= thresholds.drop}
    _forget_misread(space, episodes, not_meant, str(judge.name))
    heard = touches.compare(space, episodes, of_changes, thresholds, not_meant)
    ended = None if heard is None else _keep_ended(space, heard, judge)
    if heard is None or ended is None:
        return 0
    said = {one.pk: one.content for one in episodes}
    sure = [
        one
        for one in ended
        if one.probability >= thresholds.act and is_plain(said[one.episode_id][one.start : one.end])
    ]
    _keep(space, episodes, _unread_in(sure, unread, worths), str(judge.name))
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        touches.write_touches(space.workspace_id, ended)
        touches.take_back(not_meant, str(judge.name))
        review.replace_judged(worker_scope(space.workspace_id, str(judge.name)), space, sure)
        claimed.update(judge_attempts=None)
    return len(episodes)


def _unread_in(
    sure: Iterable[NewTouch], unread: Collection[Sentence], worths: Mapping[Sentence, Worth]
) -> dict[Sentence, Worth]:
    """Return the sentences in which nothing was read and with which something surely ends: they take its place."""
    return {
        (pk, place): worths[pk, place]
        for pk, place in unread
        if (pk, place) in worths
        and any(one.episode_id == pk and place[0] < one.end and one.start < place[1] for one in sure)
    }


def _with_words(episodes: QuerySet[Episode]) -> list[Any]:
    """Return messages by session, with what was read of them and the message `before` each."""
    earlier = Episode.objects.filter(
        conversation=OuterRef("conversation"),
        position__lt=OuterRef("position"),
        occurred_at__gt=OuterRef("occurred_at") - SAME_TALK,
    )
    before = earlier.order_by("-position").annotate(end=Right("content", SHORT)).values("end")[:1]
    with_session = episodes.select_related("session__subject", "session__agent", "session__conversation")
    with_words = with_session.prefetch_related("citations__fact__memory").annotate(before=Subquery(before))
    return list(with_words.order_by("session_id", "pk"))


def _worths(
    episodes: Iterable[Any], places: Mapping[uuid.UUID, Sequence[tuple[int, int]]], judge: TrainedJudge
) -> dict[Sentence, Worth] | None:
    """Return what the judge says of sentences; None where it fails."""
    lines = {
        (one.pk, place): Line(one.before or "", one.content[slice(*place)])
        for one in episodes
        for place in places[one.pk]
    }
    answers = judge.worth([*lines.values()])
    return None if answers is None else dict(zip(lines, answers, strict=True))


def _forget_misread(
    space: WorkspaceIndex, episodes: Iterable[Any], not_meant: Collection[Sentence], model: str
) -> None:
    """Forget what rules read in sentences of people that are not meant."""
    misread = {
        citation.fact.memory_id
        for episode in episodes
        for citation in (episode.citations.all() if episode.kind == Episode.Kind.USER else ())
        if citation.fact.method == Fact.Method.PATTERN
        and any(pk == episode.pk and start <= citation.start < end for pk, (start, end) in not_meant)
    } - {None}
    if misread:
        review.forget_misread(worker_scope(space.workspace_id, model), misread)


def _keep_ended(space: WorkspaceIndex, heard: Sequence[HeardChange], judge: TrainedJudge) -> list[NewTouch] | None:
    """Keep the earlier words that messages end, unless they are small talk; return the touches of what ends. None
    where the judge fails."""
    words = {one.ended for one in heard if isinstance(one.ended, EarlierWords)}
    places: defaultdict[uuid.UUID, list[tuple[int, int]]] = defaultdict(list)
    for one in words:
        places[one.episode].append((one.start, one.end))
    episodes = _with_words(Episode.objects.filter(pk__in=places)) if places else []
    worths = _worths(episodes, places, judge)
    if worths is None:
        return None
    kept = {at: worth for at, worth in worths.items() if worth.fact + worth.moment >= PLAUSIBLE}
    _keep(space, episodes, kept, str(judge.name))
    cited = Citation.objects.filter(episode__in=places, fact__memory__isnull=False)
    rows = cited.values_list("episode_id", "start", "end", "fact__memory_id")
    made = {EarlierWords(episode, start, end): memory for episode, start, end, memory in rows}
    ended = [(one, made.get(one.ended) if isinstance(one.ended, EarlierWords) else one.ended) for one in heard]
    return [one.touch(memory) for one, memory in ended if memory]


def _keep(space: WorkspaceIndex, episodes: Iterable[Any], worths: Mapping[Sentence, Worth], model: str) -> None:
    """Keep sentences of messages as they were said, by session."""
    for session, own in groupby(episodes, key=attrgetter("session")):
        if (
            session is None
            or session.extract not in MemorySession.BY_RULES
            or session.pathway == MemorySession.Pathway.DOCUMENT
        ):
            continue
        kept = Kept(session, space, tuple(own))
        options, found = options_of(kept), Extraction()
        trusted = {message.id: message for message in messages_of(kept) if options.trust_in(message) == BELIEVE}
        for (episode, place), worth in worths.items():
            if episode in trusted and worth.category not in ("instruction", "policy"):
                found.add([_claim(trusted[episode], place, worth, options, model)])
        if found.claims:
            _write(space, session, found.claims)


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
