"""Messages that wait for the judge, off the path of any request: gather, ask, apply.

Rules read first. A sentence in which they read nothing, and which the judge takes for a lasting fact, is kept as a
quoted statement of low confidence; what they read in fiction, chatter or words of others is forgotten. Then the
message is compared with what is believed of its subject, and with earlier sentences in which nothing was read: of those
that it ends a memory is made, questioned from the start. The rows are the queue: a message waits until its session is
learned, and is given up after some attempts.
"""

import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Case, OuterRef, QuerySet, Subquery, Value, When
from django.db.models.functions import Concat, Right

from memories import teaching
from memories.belief import review, touches
from memories.belief.touches import EarlierWords, HeardChange, NewTouch
from memories.belief.touches.judged import SAME_TALK, Sentence
from memories.index import prepared_sql, workspace_index
from memories.ingest.keep_sentences import BINDING, keep_sentences
from memories.judge.judge import Line, Thresholds, TrainedJudge, Worth, shipped
from memories.judge.pieces import SHORT
from memories.language.english.frames import RETURNS
from memories.language.english.speaker_labels import FIRST_PERSON, INTRODUCTION, OF_ONESELF
from memories.language.english.touch_rules import is_plain, places_of
from memories.models import Citation, Episode, Fact, MemorySession, WorkspaceIndex
from memories.models.conversation import JUDGE_ATTEMPTS, WITHOUT_JUDGE
from memories.reading.guard.masked_text import is_masked
from memories.settings.workspace_settings import settings_of
from workspaces.models import Workspace
from workspaces.scope import worker_scope

AT_ONCE = 8  # messages that are asked about together
SENTENCES = 8  # of a message, that are asked about
IDLE = 0.1  # probability of a fact or an order below which what rules read in a sentence is forgotten
# Words of such a sentence. Of shorter ones ("I like tea.") the judge has learned from few.
LEAST_IDLE = 7
UNMEANT = 0.7  # probability of others' words or fiction from which what stands before a sentence speaks against it
MAYBE_OWN = 0.05  # what is taken for others' words or fiction, and not for fiction alone, must be so much surer
PLAUSIBLE = 0.5  # probability of a fact or of the moment from which earlier words that a message ended are kept
MISREAD = "forgotten again, for the judge finds that it is not said in earnest, or not by its sender"
TURN = 20.0  # seconds

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
    thresholds = own.over(judge.thresholds)
    space = workspace_index.index_of(workspace_id)
    of_changes = teaching.taught(workspace_id, judge) if own.learn else judge
    steps: tuple[Callable[[], int], ...] = (
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
    episodes = with_words(claimed)
    worths = worths_of(episodes, {one.pk: shown_places(one.content) for one in episodes}, judge)
    if worths is None:
        return 0
    unread = {
        (one.pk, place)
        for one in episodes
        for place in touches.unread_places(one.content, [(read.start, read.end) for read in one.citations.all()])
    }
    kept = {one: worth.category for one, worth in worths.items() if one in unread and worth.fact >= thresholds.keep}
    keep_sentences(space, episodes, kept, str(judge.name))
    not_meant = {one for one, worth in worths.items() if worth.fiction >= thresholds.drop}
    # What may be somebody else's words is left to the other threshold.
    doubted = {one for one, worth in worths.items() if worth.fiction >= UNMEANT - MAYBE_OWN}
    said = {one.pk: one.content for one in episodes}
    idle = {
        (pk, place)
        for (pk, place), worth in worths.items()
        if worth.fact + worth.order < IDLE and len(said[pk][slice(*place)].split()) >= LEAST_IDLE
    }
    _forget_misread(space, episodes, not_meant, str(judge.name), review.NOT_MEANT)
    _forget_misread(space, episodes, idle - doubted - not_meant, str(judge.name), review.NOT_WORTH_IT)
    heard = touches.compare(space, episodes, of_changes, thresholds, not_meant)
    ended = None if heard is None else _keep_ended(space, heard, judge)
    if heard is None or ended is None:
        return 0
    sure = [
        one
        for one in ended
        if one.probability >= thresholds.act and is_plain(said[one.episode_id][one.start : one.end])
    ]
    keep_sentences(space, episodes, _unread_in(sure, unread, worths), str(judge.name))
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        touches.write_touches(space.workspace_id, ended)
        touches.take_back(not_meant, str(judge.name))
        review.replace_judged(worker_scope(space.workspace_id, str(judge.name)), space, sure)
        claimed.update(judge_attempts=None)
    return len(episodes)


def _unread_in(
    sure: Iterable[NewTouch], unread: Collection[Sentence], worths: Mapping[Sentence, Worth]
) -> dict[Sentence, str]:
    """Return the categories of the sentences in which nothing was read and with which something surely ends: they take
    its place."""
    return {
        (pk, place): worths[pk, place].category
        for pk, place in unread
        if (pk, place) in worths
        and any(one.episode_id == pk and place[0] < one.end and one.start < place[1] for one in sure)
    }


def shown_places(text: str) -> list[tuple[int, int]]:
    """Return the places of the sentences of a message of which the judge is asked what they are worth."""
    return [place for place in places_of(text)[:SENTENCES] if not is_masked(text[slice(*place)])]


def with_words(episodes: QuerySet[Episode]) -> list[Any]:
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


def worths_of(
    episodes: Iterable[Any], places: Mapping[uuid.UUID, Sequence[tuple[int, int]]], judge: TrainedJudge
) -> dict[Sentence, Worth] | None:
    """Return what the judge says of sentences; None where it fails.

    A sentence with the first person in it is shown a second time behind what its message says before it: whose words
    it is, and whether in earnest, may stand there alone.
    """
    lines = {
        (one.pk, place): Line(one.before or "", _own_words(one.content[slice(*place)]))
        for one in episodes
        for place in places[one.pk]
    }
    framed = {
        (one.pk, place): Line(before, _own_words(one.content[slice(*place)]))
        for one in episodes
        for place in places[one.pk]
        if FIRST_PERSON.search(one.content, *place) and (before := _said_before(one.content, place)).strip()
    }
    # Asked apart: what stands beside a text moves the answer about it a little.
    answers, again = judge.worth([*lines.values()]), judge.worth([*framed.values()])
    if answers is None or again is None:
        return None
    worths = dict(zip(lines, answers, strict=True))
    seen = [*worths.items(), *zip(framed, again, strict=True)]
    for sentence, worth in seen:
        if FIRST_PERSON.search(lines[sentence].text):
            worths[sentence] = _as_framed(worths[sentence], worth)
    return worths


def _said_before(text: str, place: tuple[int, int]) -> str:
    """Return what a message says before a sentence, since its speaker returned to what is so."""
    returned = [found.start() for found in RETURNS.finditer(text, 0, place[1])]
    return text[returned[-1] if returned else 0 : place[0]]


def _own_words(sentence: str) -> str:
    """Return a sentence without "here's my situation:" before it, which the judge takes for somebody else's."""
    opening = INTRODUCTION.match(sentence)
    is_own = opening and OF_ONESELF.issuperset(opening["words"].casefold().split())
    return sentence[opening.end() :] if opening and is_own else sentence


def _as_framed(worth: Worth, framed: Worth) -> Worth:
    """Return the answer about a sentence, with a fiction's probability where it is not its speaker's either."""
    unmeant = framed.fiction + framed.others
    if unmeant < UNMEANT:
        return worth
    return worth._replace(fact=min(worth.fact, framed.fact), fiction=max(worth.fiction, unmeant - MAYBE_OWN))


def _forget_misread(
    space: WorkspaceIndex, episodes: Iterable[Any], sentences: Collection[Sentence], model: str, why: str
) -> None:
    """Forget what rules read in these sentences of people. Of those that are not meant their sessions say so; of
    others a wish, a rule and what has an end stay."""
    misread = {
        citation.fact.memory_id
        for episode in episodes
        for citation in (episode.citations.all() if episode.kind == Episode.Kind.USER else ())
        if citation.fact.method == Fact.Method.PATTERN
        and (why == review.NOT_MEANT or not _stays(citation.fact))
        and any(pk == episode.pk and start <= citation.start < end for pk, (start, end) in sentences)
    } - {None}
    if misread:
        review.forget_misread(worker_scope(space.workspace_id, model), misread, why)
    if misread and why == review.NOT_MEANT:
        sessions = {episode.session_id for episode in episodes if any(pk == episode.pk for pk, _ in sentences)}
        rows = MemorySession.objects.filter(pk__in=sessions).exclude(reason__contains=MISREAD)
        between = Case(When(reason="", then=Value("")), default=Value("; "))
        rows.update(reason=Concat("reason", between, Value(MISREAD)))


def _stays(fact: Fact) -> bool:
    """Tell whether a fact is a wish or a rule, or ends by itself."""
    memory = fact.memory
    return fact.category in BINDING or bool(memory and (memory.forget_after or memory.valid_until))


def _keep_ended(space: WorkspaceIndex, heard: Sequence[HeardChange], judge: TrainedJudge) -> list[NewTouch] | None:
    """Keep the earlier words that messages end, unless they are small talk; return the touches of what ends. None
    where the judge fails."""
    words = {one.ended for one in heard if isinstance(one.ended, EarlierWords)}
    places: defaultdict[uuid.UUID, list[tuple[int, int]]] = defaultdict(list)
    for one in words:
        places[one.episode].append((one.start, one.end))
    episodes = with_words(Episode.objects.filter(pk__in=places)) if places else []
    worths = worths_of(episodes, places, judge)
    if worths is None:
        return None
    kept = {at: worth.category for at, worth in worths.items() if worth.fact + worth.moment >= PLAUSIBLE}
    keep_sentences(space, episodes, kept, str(judge.name))
    cited = Citation.objects.filter(episode__in=places, fact__memory__isnull=False)
    rows = cited.values_list("episode_id", "start", "end", "fact__memory_id")
    made = {EarlierWords(episode, start, end): memory for episode, start, end, memory in rows}
    ended = [(one, made.get(one.ended) if isinstance(one.ended, EarlierWords) else one.ended) for one in heard]
    return [one.touch(memory) for one, memory in ended if memory]
