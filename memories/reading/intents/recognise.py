"""The orders in the messages of a session, recorded before anything is done about them."""

from collections.abc import Sequence
from dataclasses import replace

from django.db.models import QuerySet

from memories.belief.resolve import Claim, Quote
from memories.language import bounds
from memories.language.english import spoken_intents as english
from memories.language.english.spoken_intents import SpokenIntent
from memories.models import (
    Category,
    Episode,
    Fact,
    FactType,
    Intent,
    MemorySession,
    Source,
    Visibility,
)
from memories.reading.extraction import Message

ORDER_KINDS = (Episode.Kind.USER, Episode.Kind.TEXT)
LONGEST_TEXT = 600  # characters of a text that was not sent as a person's message
# Nobody read what is kept in its own words; nor does one know whom its "she" means.
KEPT_CONFIDENCE, OPEN_CONFIDENCE = 0.8, 0.5
UNREAD = (english.FORGET, english.NEVER, english.RETRACT)


def hear(session: MemorySession, messages: Sequence[Message]) -> list[Message]:
    """Record the orders to the memory in a session's messages; return the messages, with the places
    of orders that are no claim. Repeating it changes nothing."""
    rows: list[Intent] = []
    read = []
    for message in messages:
        spoken = _spoken(message)
        rows += [_row(session, message, each) for each in spoken]
        orders = [(one.start, one.end) for one in spoken if one.kind in UNREAD]
        orders += [
            (one.start, one.end)
            for one in spoken
            if one.kind == english.CORRECT and (not one.is_clause or _is_known(messages, message, one))
        ]
        read.append(replace(message, served=(*message.served, *orders)) if orders else message)
    if rows:
        Intent.objects.bulk_create(rows, ignore_conflicts=True)
        session.counts = {**session.counts, "intents": len(rows)}
    return read


def remember(session: MemorySession, marked: Sequence[tuple[Episode, int]]) -> None:
    """Record that these messages, each with its place in the request, are to be remembered; in the
    transaction that keeps them."""
    Intent.objects.bulk_create(
        Intent(
            workspace_id=session.workspace_id,
            session=session,
            episode=episode,
            subject_id=session.subject_id,
            agent_id=session.agent_id,
            kind=Intent.Kind.REMEMBER,
            message_index=index,
            start=0,
            end=len(episode.content),
        )
        for episode, index in marked
        if episode.content.strip()
    )
    rows = MemorySession.objects.filter(pk=session.pk)
    session.counts = {**session.counts, "intents": len(marked)}
    rows.update(counts=session.counts)


def claims_to_keep(session: MemorySession, messages: Sequence[Message], claims: Sequence[Claim]) -> list[Claim]:
    """Return claims for what is to be remembered though nothing was read from it: its own words."""
    by_id = {message.id: message for message in messages}
    rows = Intent.objects.filter(session=session, kind=Intent.Kind.REMEMBER)
    kept = []
    for row in rows.filter(state=Intent.State.HEARD):
        message = by_id.get(row.episode_id)
        if message is None or any(
            quote.text_id == row.episode_id and quote.start < row.end and row.start < quote.end
            for claim in claims
            for quote in claim.quotes
        ):
            continue
        start = row.start if row.topic_start is None else row.topic_start
        end = row.end if row.topic_end is None else row.topic_end
        words = message.text[start:end]
        statement = words.strip()
        if not statement or len(statement) > bounds.WHOLE:
            continue
        start += len(words) - len(words.lstrip())
        kept.append(
            Claim(
                statement=statement[:1].upper() + statement[1:],
                category=Category.OTHER,
                fact_type=FactType.FACT,
                visibility=session.visibility or Visibility.PRIVATE,
                method=Fact.Method.WHOLE,
                rule="remember",
                confidence=OPEN_CONFIDENCE if english.is_open(statement) else KEPT_CONFIDENCE,
                source=Source.INGESTED,
                occurred_at=message.occurred_at,
                quotes=(Quote(message.id, start, start + len(statement), statement),),
            )
        )
    return kept


def waiting_of(session: MemorySession) -> list[Intent]:
    """Return the orders of a session that are not handled yet, in their order."""
    rows = Intent.objects.filter(session=session, state=Intent.State.HEARD)
    return list(rows.select_related("episode", "session", "subject").order_by("episode", "start"))


def unmet_before(session: MemorySession) -> QuerySet[Intent]:
    """Return orders about what the session read that came before and found nothing."""
    if not session.episode_ids:  # all that was sent is known already
        return Intent.objects.none()
    rows = Intent.objects.filter(
        workspace=session.workspace_id, subject=session.subject_id, state=Intent.State.NOTHING_FOUND
    )
    if not session.subject_id:
        rows = rows.filter(episode__conversation=session.conversation_id)
    later = rows.filter(episode__gt=min(session.episode_ids)).exclude(session=session)
    return later.select_related("episode", "session", "subject").order_by("episode", "start")


def spoken_in(intent: Intent) -> SpokenIntent | None:
    """Return the order as its sentence says it; None where the sentence has been masked since."""
    found = english.find_intents(intent.episode.content)
    return next((one for one in found if (one.kind, one.start) == (intent.kind, intent.start)), None)


def _spoken(message: Message) -> list[SpokenIntent]:
    if message.kind not in ORDER_KINDS:
        return []
    if message.kind == Episode.Kind.TEXT and len(message.text) > LONGEST_TEXT:
        return []
    text = bounds.start_of(message.text)
    if not english.may_hold_intents(text):
        return []
    return [
        one
        for one in english.find_intents(text)
        if not any(start < one.end and one.start < end for start, end in message.not_own)
    ]


def _is_known(messages: Sequence[Message], message: Message, one: SpokenIntent) -> bool:
    """Tell whether an earlier message says the value that a whole statement corrects."""
    return bool(one.old) and any(
        one.old.casefold() in each.text.casefold()
        for each in messages
        if each.index < message.index and each.kind in ORDER_KINDS
    )


def _row(session: MemorySession, message: Message, one: SpokenIntent) -> Intent:
    start, end = one.topic or one.clause or (None, None)
    places = session.counts.get("places", {})  # where some messages were known, by episode
    return Intent(
        workspace_id=session.workspace_id,
        session=session,
        episode_id=message.id,
        subject_id=session.subject_id,
        agent_id=session.agent_id,
        kind=one.kind,
        message_index=places.get(str(message.id), message.index),
        start=one.start,
        end=one.end,
        topic_start=start,
        topic_end=end,
    )
