"""Summaries of a subject, by topic and as a whole, of what is believed: by a model where one is
configured, else in the words that it stands on.

The model reads those words alone, and each of its lines is checked against the words that it cites.
A line that says something else is replaced by the words themselves.
"""

import hashlib
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.db.models import F, Q, QuerySet
from django.db.models.functions import Substr
from django.utils import timezone

from memories.errors import ProviderError, UnreadableAnswer
from memories.index.due_summaries import FEWEST
from memories.language.bounds import runs
from memories.language.english import lexical
from memories.models import Citation, Episode, MemoryScope, TalkSummary
from memories.profiles.summaries import choose_sentences, running_summary
from memories.profiles.summaries.choose_sentences import Sentence
from memories.profiles.summaries.running_summary import UNSAID, Spans, citations
from memories.providers import ModelQuestion, prompts
from memories.providers.count_tokens import tokens_of
from memories.providers.message_pieces import PIECE
from memories.providers.prompts import PromptMessage, SummaryAnswer, SummaryLineAnswer, SummaryRequest
from memories.reading.extraction.evidence import Evidence, unsupported
from memories.reading.extraction.fallback_chain import FallbackChain, chain_of

# A summary as it is to be written: whose it is, its lines and what they say.

Lines = list[dict[str, Any]]

RULE = "stretches-1"


Kind = TalkSummary.Kind
OF_SUBJECTS = (Kind.TOPIC, Kind.SUBJECT)
ROOM = 400  # tokens of what is known of a subject
TOPIC_ROOM = 200  # tokens about a topic from which on a model sums them up
MOST = 2_000  # facts of a subject: the newest
ON_TOPIC = 40  # lines about a topic, the newest
ASKED = 12  # summaries that a model is asked for in one go; the next go asks for more
LONGEST = 240.0  # seconds in which it is


@dataclass(frozen=True, slots=True)
class TalkAudience:
    """The parties of a talk: one agent with one subject."""

    subject_id: uuid.UUID | None
    agent_id: uuid.UUID | None


@dataclass(frozen=True, slots=True)
class NewTalkSummary:
    """A summary as it is to be; `text` is what its lines say, `read` the citations that a model
    read for it, in their order."""

    row: TalkSummary
    text: str
    read: tuple[int, ...] = ()

    @property
    def key(self) -> tuple[Any, ...]:
        row = self.row
        return row.kind, row.subject_id, row.agent_id, row.conversation_id, row.name, row.ordinal


def digest(version: str, told: Iterable[object]) -> str:
    """Return a digest of what a model is given, and by which prompt."""
    return hashlib.sha256("\n".join([version, *map(str, told)]).encode()).hexdigest()


def new_summary(
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
    stands_on: str = "",
    read: tuple[int, ...] = (),
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
        stands_on=stands_on,
        first_at=min(times),
        last_at=max(times),
    )
    texts = [
        line["text"] if "text" in line else of[uuid.UUID(line["episode"])].content[line["start"] : line["end"]]
        for line in lines
    ]
    return NewTalkSummary(row, "\n".join(texts), read)


LINES, TOPIC_LINES = 12, 6  # of a model


@dataclass(frozen=True, slots=True)
class BelievedWords:
    """Words that something stands on that is believed; `support`: how often that was told."""

    citation_id: int
    episode: Episode
    start: int
    end: int
    support: int

    @property
    def text(self) -> str:
        return self.episode.content[self.start : self.end]

    @property
    def speaker(self) -> str:
        return self.episode.author or self.episode.role or "user"

    @property
    def line(self) -> dict[str, Any]:
        return {"episode": str(self.episode.pk), "start": self.start, "end": self.end}


@dataclass(slots=True)
class ModelTurn:
    """The model, for the summaries of one go, until `ends_at` by the monotonic clock. Where it
    could not be asked it is asked no more; `is_left`: more is to be asked than one go may ask."""

    ladder: FallbackChain | None
    ends_at: float
    error: ProviderError | None = None
    asked: int = 0
    is_left: bool = False

    @classmethod
    def of(cls, workspace_id: uuid.UUID, seconds: float = LONGEST) -> "ModelTurn":
        return cls(chain_of(workspace_id, "summaries"), time.monotonic() + seconds)

    def may_ask(self) -> bool:
        is_over = self.asked == ASKED or time.monotonic() >= self.ends_at
        self.is_left = self.is_left or is_over
        if is_over or self._is_out:
            return False
        self.asked += 1
        return True

    def failed(self, error: ProviderError) -> None:
        if not self._is_out:
            self.error = error

    @property
    def _is_out(self) -> bool:
        """Tell whether the model is unavailable: an unusable answer says nothing about the next
        one."""
        return self.error is not None and not isinstance(self.error, UnreadableAnswer)

    def by_model(self, words: Sequence[BelievedWords], topic: str, known: TalkSummary | None) -> "ToldByModel | None":
        """Return the model's lines; those of `known` where it stands on the same words; None
        without an answer."""
        if self.ladder is None:
            return None
        stands_on = digest_of((one.citation_id, one.text) for one in words)
        if known is not None and known.stands_on == stands_on:
            return ToldByModel(known.lines, known.rule, stands_on)
        if not self.may_ask():
            return None
        try:
            lines, rule = _ask(self.ladder, words, topic)
        except ProviderError as error:
            self.failed(error)
            return None
        return ToldByModel(lines, rule, stands_on)


@dataclass(frozen=True, slots=True)
class ToldByModel:
    lines: Lines
    rule: str
    stands_on: str


@dataclass(frozen=True, slots=True)
class ModelLine:
    """A line with the words that it was read from."""

    text: str
    words: tuple[BelievedWords, ...]
    is_own: bool = field(default=False, compare=False)  # those words themselves

    @property
    def kept(self) -> dict[str, Any]:
        if self.is_own:
            return self.words[0].line
        return {"text": self.text, "cites": [word.line for word in self.words]}


def of_subject(workspace_id: uuid.UUID, audience: TalkAudience, turn: ModelTurn) -> list[NewTalkSummary]:
    """Make the summaries of what is believed now of the subject, as one agent has heard it."""
    words = words_of(workspace_id, audience)
    rows = TalkSummary.objects.filter(
        workspace_id=workspace_id,
        kind__in=OF_SUBJECTS,
        subject=audience.subject_id,
        agent=audience.agent_id,
    )
    known = {(row.kind, row.name): row for row in rows}
    made = []
    new = partial(_new, workspace_id, audience)
    if audience.subject_id is not None and len(words) >= FEWEST:
        told = turn.by_model(words, "", known.get((Kind.SUBJECT, "")))
        made.append(new(Kind.SUBJECT, "", words, _or_words(told, partial(_chosen, words))))
    for name, places in choose_sentences.topics([one.text for one in words]).items():
        own = [words[at] for at in places][-ON_TOPIC:]
        is_long = sum(tokens_of(one.text) for one in own) > TOPIC_ROOM
        told = turn.by_model(own, name, known.get((Kind.TOPIC, name))) if is_long else None
        made.append(new(Kind.TOPIC, name, own, _or_words(told, partial(_all, own))))
    return [one for one in made if one is not None]


def _or_words(told: ToldByModel | None, lines: Callable[[], Lines]) -> ToldByModel:
    """Use the words where the model gave no lines that fit; it is not asked about them again."""
    if told is not None and told.lines:
        return told
    return ToldByModel(lines(), RULE, told.stands_on if told is not None else "")


def _new(
    workspace_id: uuid.UUID,
    audience: TalkAudience,
    kind: str,
    name: str,
    words: Sequence[BelievedWords],
    told: ToldByModel,
) -> NewTalkSummary | None:
    cited = {line["episode"] for each in told.lines for line in each.get("cites", [each])}
    of = {one.episode.pk: one.episode for one in words if str(one.episode.pk) in cited}
    if not of:
        return None
    read = tuple(one.citation_id for one in words) if told.stands_on else ()
    return new_summary(
        workspace_id,
        audience,
        kind,
        told.lines,
        of,
        name=name,
        rule=told.rule,
        stands_on=told.stands_on,
        read=read,
    )


def _all(words: Sequence[BelievedWords]) -> Lines:
    return list({tuple(one.line.values()): one.line for one in words}.values())


def _chosen(words: Sequence[BelievedWords]) -> Lines:
    """Choose the words told most often, in their order."""
    sentences = [
        Sentence(place, 0, len(one.text), one.text, one.support, lexical.stem_set(one.text))
        for place, one in enumerate(words)
    ]
    best = choose_sentences.choose(sentences, lambda one: tokens_of(one.text), ROOM)
    return [words[each.index].line for each in best]


def words_of(workspace_id: uuid.UUID, audience: TalkAudience) -> list[BelievedWords]:
    """Return the words of what is believed now, in the order in which they were said, without those
    that must no longer be told."""
    rows = _believed(workspace_id).filter(episode__subject=audience.subject_id, episode__agent=audience.agent_id)
    newest = rows.select_related("episode", "fact__memory").order_by("-pk")[:MOST]
    found = [
        BelievedWords(row.pk, row.episode, row.start, row.end, row.fact.memory.source_count)
        for row in newest
        if row.episode is not None and row.fact.memory is not None
    ]
    cited = citations({one.episode.pk for one in found})
    told = [one for one in found if _is_told(cited.get(one.episode.pk, ()), one.start, one.end)]
    return sorted(told, key=lambda one: (one.episode.occurred_at, one.episode.position, one.start))


def texts_now(workspace_id: uuid.UUID, ids: Collection[int]) -> dict[int, str]:
    """Return the text of these citations, without those no longer believed or no longer to be
    told."""
    text = Substr("episode__content", F("start") + 1, F("end") - F("start"))
    rows = _believed(workspace_id).filter(pk__in=ids).annotate(text=text)
    found = list(rows.values_list("pk", "episode_id", "start", "end", "text"))
    cited = citations({episode_id for _, episode_id, *_ in found})
    return {pk: text for pk, episode_id, start, end, text in found if _is_told(cited.get(episode_id, ()), start, end)}


def digest_of(words: Iterable[tuple[int, str]]) -> str:
    """Return a digest of citations with their text, as a model is given them."""
    return digest(prompts.BELIEFS_VERSION, (f"{pk}:{text}" for pk, text in words))


def _believed(workspace_id: uuid.UUID) -> QuerySet[Citation]:
    return Citation.objects.filter(
        Q(fact__memory__valid_until=None) | Q(fact__memory__valid_until__gt=timezone.now()),
        workspace_id=workspace_id,
        fact__memory__is_head=True,
        fact__memory__forgotten_at=None,
        fact__memory__held_at=None,
        episode__scope=MemoryScope.USER,
    )


def _is_told(cited: Spans, start: int, end: int) -> bool:
    return not any(weight == UNSAID and first < end and start < last for first, last, weight in cited)


# ---- by a model


def _ask(ladder: FallbackChain, words: Sequence[BelievedWords], topic: str) -> tuple[Lines, str]:
    """Summarize the words, piece by piece. Raises ProviderError."""
    most = TOPIC_LINES if topic else LINES
    told: list[ModelLine] = []
    rule = ""
    pieces = list(runs(((one, len(one.text)) for one in words), PIECE))[-running_summary.PIECES :]
    for piece in pieces:
        messages = tuple(
            PromptMessage(at, one.episode.role, one.text, one.speaker, one.episode.occurred_at)
            for at, one in enumerate(piece)
        )
        request = SummaryRequest(tuple(line.text for line in told), messages, most)
        rules, text = prompts.beliefs_rules(request), prompts.beliefs_text(request, topic)
        kept_of = partial(_kept_lines, told, piece, most)
        told, model = running_summary.answered(ladder, ModelQuestion(rules, text, SummaryAnswer), kept_of)
        rule = f"{model} {prompts.BELIEFS_VERSION}"
    kept: dict[ModelLine, dict[str, Any]] = {}
    room = ROOM
    for line in told:
        cost = tokens_of(line.text)
        if line not in kept and cost <= room:
            room -= cost
            kept[line] = line.kept
    return list(kept.values()), rule


def _kept_lines(
    told: Sequence[ModelLine], piece: Sequence[BelievedWords], most: int, answer: SummaryAnswer
) -> list[ModelLine]:
    lines = [_line(each, told, piece) for each in answer.lines[:most]]
    return [kept for line in lines for kept in _in_its_words(line)]


def _line(answer: SummaryLineAnswer, told: Sequence[ModelLine], piece: Sequence[BelievedWords]) -> ModelLine:
    earlier = [one for at in answer.earlier if 0 <= at < len(told) for one in told[at].words]
    read = [piece[at] for at in answer.messages if 0 <= at < len(piece)]
    words = {one.citation_id: one for one in (*earlier, *read)}
    return ModelLine(" ".join(answer.text.replace("\x00", "").split()), tuple(words.values()))


def _in_its_words(line: ModelLine) -> list[ModelLine]:
    """Return the line, where the words that it cites say so; else those words. Words that it has
    from others would stay when they are forgotten."""
    if not line.text or not line.words:
        return []
    evidence = Evidence(
        quotes=tuple(one.text for one in line.words),
        around="",
        asked="",
        speakers=tuple(dict.fromkeys(one.speaker for one in line.words)),
        said_at=max(one.episode.occurred_at for one in line.words),
    )
    if not unsupported(line.text, evidence):
        return [line]
    return [ModelLine(one.text, (one,), is_own=True) for one in line.words]
