"""Bring a summary up to date: gather what its audience heard, ask or choose, write it down."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from memories import leases, prompts
from memories.bounds import runs
from memories.errors import ProviderError, UnreadableAnswer
from memories.extraction.fallback import FallbackChain, chain_of
from memories.index import prepared_sql
from memories.message_pieces import PIECE
from memories.models import ConversationSummary, Episode
from memories.prompts import PromptMessage, SummaryAnswer, SummaryLineAnswer, SummaryRequest
from memories.providers import ModelQuestion
from memories.summaries import choose_sentences
from memories.summaries.summary_before import (
    EpisodePlace,
    audience,
    citations,
    is_unsaid,
    place_of,
    speaker,
    texts_with_citations,
)
from memories.tokens import tokens_of

Method = ConversationSummary.Method
KEEP = 10  # newest messages that no summary covers: the shortest window tells them
MOST = 20_000  # messages that sentences are chosen from, the newest ones
ROOM = 4_000  # tokens of sentences that are kept to choose from, for whatever room is asked
BATCH = 200  # summaries between two looks at what is due
PIECES = 4  # requests to a model in one go; what is left is due again
MAX_ATTEMPTS = 5
BACK_OFF = timedelta(seconds=30)

CLAIM = f"""
update memories_conversationsummary
set lease_until = %(until)s, attempts = attempts + 1, claims = claims + 1, updated_at = %(now)s
where id = %(id)s and due_at <= %(now)s and {leases.FREE}
returning *
"""


@dataclass(frozen=True, slots=True)
class NewSummary:
    """What a summary is to say from now on, and up to where; `left`: the model has more to read."""

    method: str
    rule: str
    lines: list[dict[str, Any]]
    tokens: int
    upto: EpisodePlace
    left: bool = False
    error: ProviderError | None = None
    seen: int = -1
    episodes: int = 0


def due() -> list[uuid.UUID]:
    """Summaries whose turn it is, and those whose worker died."""
    now = timezone.now()
    rows = ConversationSummary.objects.filter(leases.free(now), due_at__lte=now).order_by("due_at")
    return list(rows.values_list("pk", flat=True)[:BATCH])


def summarize(summary_id: uuid.UUID) -> ConversationSummary | None:
    """Make a summary that is due; None where another worker has it, or nothing is due."""
    now = timezone.now()
    values = {"id": summary_id, "now": now, "until": leases.end()}
    claimed = prepared_sql.rows(CLAIM, values)
    if not claimed:
        return None
    row = ConversationSummary(**claimed[0]._asdict())
    row._state.adding = False
    if row.attempts > MAX_ATTEMPTS:
        write(row, None)
        return row
    with leases.renewed(partial(held, row)):
        heard = list(audience(row).order_by("-occurred_at", "-position")[KEEP : KEEP + MOST])[::-1]
        new = made(row, heard) if heard else None
        write(row, new)
    return row


def held(row: ConversationSummary) -> QuerySet[ConversationSummary]:
    """The summary, as long as this claim of it stands."""
    return ConversationSummary.objects.filter(
        pk=row.pk, claims=row.claims, lease_until__isnull=False
    )


def made(
    row: ConversationSummary,
    heard: Sequence[Episode],
    room: int = ROOM,
    *,
    in_one_go: bool = False,
) -> NewSummary:
    """A model's, where one is configured; where it fails, its last one or chosen sentences, of
    `room` tokens. `in_one_go`: of what is too long for it the newest, and nothing is left."""
    ladder, error = chain_of(row.workspace_id, "summaries"), None
    seen = max(episode.position for episode in heard)
    if ladder is not None:
        try:
            if new := _by_model(row, heard, ladder, in_one_go=in_one_go):
                return replace(new, seen=seen, episodes=len(heard))
        except ProviderError as failed:
            error = failed
    if error is not None and row.method == Method.LLM and row.lines and row.upto_at:
        upto = EpisodePlace(row.upto_at, row.upto_position)
        return NewSummary(
            Method.LLM, row.rule, row.lines, row.tokens, upto,
            error=error, seen=row.seen, episodes=row.episodes,
        )  # fmt: skip
    return replace(chosen(heard, room), error=error, seen=seen, episodes=len(heard))


def chosen(heard: Sequence[Episode], room: int = ROOM) -> NewSummary:
    """By choosing sentences: their places, with their scores."""
    cited = citations(episode.pk for episode in heard)
    found = choose_sentences.weighed(texts_with_citations(heard, cited))
    kept = choose_sentences.choose(found, lambda one: tokens_of(one.text), room)
    lines = [
        {
            "episode": str(heard[one.index].pk),
            "start": one.start,
            "end": one.end,
            "score": one.score,
        }
        for one in kept
    ]
    tokens = sum(tokens_of(one.text) for one in kept)
    return NewSummary(Method.EXTRACTIVE, choose_sentences.RULE, lines, tokens, place_of(heard[-1]))


def _by_model(
    row: ConversationSummary, heard: Sequence[Episode], ladder: FallbackChain, *, in_one_go: bool
) -> NewSummary | None:
    """The lines so far and what came after them, told anew piece by piece."""
    lines = row.lines if row.method == Method.LLM else []
    named = {uuid.UUID(one) for line in lines for one in line["episodes"]}
    cited = citations(named | {episode.pk for episode in heard})
    unsaid = {pk for pk, spans in cited.items() if is_unsaid(spans)}
    if named & unsaid:  # what was forgotten is told to no model: all is read anew without it
        lines = []
    known = EpisodePlace(row.upto_at, row.upto_position) if lines and row.upto_at else None
    fresh = [
        e
        for e in heard
        if e.pk not in unsaid and (known is None or place_of(e) > known or e.position > row.seen)
    ]
    rule, pieces = row.rule, list(runs(((e, len(e.content)) for e in fresh), PIECE))
    left = len(pieces) > PIECES and not in_one_go
    read = [known] if known else []
    for piece in pieces[-PIECES:] if in_one_go else pieces[:PIECES]:
        messages = tuple(
            PromptMessage(index, e.role, e.content[:PIECE], speaker(e), e.occurred_at)
            for index, e in enumerate(piece)
        )
        request = SummaryRequest(tuple(line["text"] for line in lines), messages)
        rules, text = prompts.summary_rules(request), prompts.summary_text(request)
        answer, model = answered(ladder, rules, text)
        told = [_line(each, lines, piece) for each in answer.lines[: request.lines]]
        kept = [line for line in told if line["episodes"] and line["text"]]
        if not kept:
            raise UnreadableAnswer("no line of the summary says what it stands on", permanent=False)
        lines, rule = kept, f"{model} {prompts.SUMMARY_VERSION}"
        read += [place_of(episode) for episode in piece]
    if not lines:
        return None
    tokens = sum(tokens_of(line["text"]) for line in lines)
    return NewSummary(Method.LLM, rule, lines, tokens, max(read), left)


def answered(ladder: FallbackChain, rules: str, text: str) -> tuple[SummaryAnswer, str]:
    """The lines of a model, and which one it was. Raises ProviderError."""
    reply = ladder.ask(ModelQuestion(rules, text, SummaryAnswer))
    try:
        return prompts.read_summary(reply.text), reply.model
    except ValueError as error:
        fault = "the summary was not the JSON asked for"
        raise UnreadableAnswer(fault, permanent=False) from error


def _line(
    answer: SummaryLineAnswer, lines: Sequence[dict[str, Any]], piece: Sequence[Episode]
) -> dict[str, Any]:
    """A line with the episodes that it, and the earlier lines it keeps, were read from."""
    kept = [one for at in answer.earlier if 0 <= at < len(lines) for one in lines[at]["episodes"]]
    read = [str(piece[at].pk) for at in answer.messages if 0 <= at < len(piece)]
    text = " ".join(answer.text.replace("\x00", "").split())
    return {"text": text, "episodes": list(dict.fromkeys([*kept, *read]))}


def write(row: ConversationSummary, made: NewSummary | None) -> bool:
    """Unless the lease was lost: another worker has it, or what it stood on was erased."""
    own = held(row)
    if made is None:
        return bool(own.update(due_at=None, lease_until=None))
    now = timezone.now()
    # Again, where a model failed for now or has more to read; else when it falls behind.
    due_at = now if made.left else None
    fails_for_now = made.error is not None and not made.error.permanent
    if not made.left and fails_for_now and row.attempts < MAX_ATTEMPTS:
        due_at = now + BACK_OFF * 2**row.attempts
    return bool(
        own.update(
            method=made.method, rule=made.rule, lines=made.lines, tokens=made.tokens,
            episodes=made.episodes, upto_at=made.upto.at, upto_position=made.upto.position,
            seen=made.seen, due_at=due_at, lease_until=None, updated_at=now,
            error=made.error.message if made.error else "",
        )
    )  # fmt: skip
