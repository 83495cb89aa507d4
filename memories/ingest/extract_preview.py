"""A preview of what an ingest would read, storing nothing. Somebody waits for it, so its whole time
is bounded."""

import time
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.utils import timezone

from memories.index import workspace_index
from memories.ingest import whose_words
from memories.ingest.ingest_request import IngestRequest, known_episodes
from memories.ingest.mask_messages import GUARD, screen_each, without_secrets
from memories.ingest.process import ConversationPlace, said_before
from memories.ingest.store import last_words
from memories.language.bounds import READ_WORDS
from memories.models import Conversation, WorkspacePattern
from memories.models.conversation import check_thread, is_shared_by_default
from memories.providers import network
from memories.reading import guard
from memories.reading.extraction import Extraction, ExtractionRun, ExtractOptions, Message, Skip, speaker_of
from memories.reading.extraction.fallback_chain import ALWAYS, chain_from
from workspaces.models import Agent, Subject
from workspaces.scope import NOBODY, Scope, agent_to_read, subject_to_write

READING = 5.0  # seconds of processor time for all messages together
ASKING = 20.0  # seconds for all calls of models together


@dataclass(frozen=True, slots=True)
class Preview:
    """The messages of a request as they would be read, and what would come of them."""

    messages: tuple[Message, ...]
    found: Extraction


def preview(scope: Scope, request: IngestRequest) -> Preview:
    """Preview an ingest of this request. Raises what the ingest would raise, but records nobody."""
    request.check()
    asker = agent_to_read(scope, request.agent_id)
    if scope.subject_ids is not None:
        subject_to_write(scope, request.user_id)
    own = {"workspace_id": scope.workspace_id, "external_id": request.thread_id}
    thread = Conversation.objects.filter(**own).first() if request.thread_id else None
    if thread is not None:
        check_thread(scope, thread)
    if thread is not None or not request.thread_id:
        known_episodes(scope, thread, request.messages)
    space = workspace_index.index_of(scope.workspace_id)
    sent, held = _messages(scope, request, space.guard.get("allowed", ()))
    messages = whose_words.mark_own_output(_first(sent), lambda: asker)
    before = _before(asker, request, messages)
    messages, _ = whose_words.mark_others(space, messages, before)
    options = ExtractOptions(
        request.extract,
        request.content is not None,
        request.visibility,
        WorkspacePattern.objects.in_use(scope.workspace_id) if space.has_patterns else (),
        before,
        space.llm == ALWAYS,
        subject=request.user_id,
        shares=_is_shared(scope, request, str(space.guard.get("audience") or "")),
        trust=space.guard,
        date_order=space.date_order,
        patterns_off=space.patterns_off,
    )
    chain = chain_from(scope.workspace_id, space.extractors)
    run, end = ExtractionRun(options), time.thread_time() + READING
    for message in messages:
        if run.messages and time.thread_time() >= end:
            break
        run.read(message)
    read = len(run.messages)
    with network.patience(ASKING):
        run.finish(chain)
    if read < len(sent):
        run.found.notes.append(
            f"the preview read the first {read} of {len(sent)} messages:"
            f" it reads {READ_WORDS} words"
            f" and for {READING:g} s; an ingest reads them all"
        )
    run.found.skipped += held
    return Preview(tuple(messages), run.found)


def _is_shared(scope: Scope, request: IngestRequest, default: str) -> bool:
    own = {"workspace_id": scope.workspace_id}
    agent = Agent.objects.present().filter(**own, external_id=request.agent_id).first()
    if scope.agent_id is not None:
        agent = Agent.objects.filter(**own, pk=scope.agent_id).first()
    thread = Conversation.objects.filter(**own, external_id=request.thread_id).first()
    return is_shared_by_default(
        NOBODY if request.user_id else None,
        agent,
        thread if request.thread_id else None,
        default,
    )


def _first(messages: Sequence[Message]) -> list[Message]:
    """Return the first messages that have up to READ_WORDS words together, but at least one."""
    chosen: list[Message] = []
    words = 0
    for message in messages:
        words += len(message.text.split(maxsplit=READ_WORDS))
        if chosen and words > READ_WORDS:
            break
        chosen.append(message)
    return chosen


def _messages(scope: Scope, request: IngestRequest, allowed: Collection[str]) -> tuple[list[Message], list[Skip]]:
    """Return the messages as they would be kept, and those that would be held, with the reason."""
    messages, held = [], []
    each_screened = screen_each(
        request.all_messages,
        allowed,
        before=last_words(scope, request),
        is_whole_text=request.content is not None,
    )
    for index, message in enumerate(request.all_messages):
        screened = each_screened[index]
        if screened.places:
            held.append(Skip(index, guard.reason_of(screened.places), GUARD))
        messages.append(
            Message(
                index=index,
                id=uuid.uuid4(),
                kind=message.kind or message.role,
                role=message.role,
                speaker=speaker_of(message.kind or message.role, "", message.name),
                text=without_secrets(message, screened),
                occurred_at=message.created_at or request.occurred_at or timezone.now(),
            )
        )
    return messages, held


def _before(asker: Scope, request: IngestRequest, messages: list[Message]) -> tuple[Message, ...]:
    """Return what the request's thread had said before, as far as the asker may read it."""
    if not request.thread_id or not messages:
        return ()
    thread = Conversation.objects.visible_to(asker).filter(external_id=request.thread_id).first()
    if thread is None:
        return ()
    own = {"workspace_id": asker.workspace_id}
    agent = Agent.objects.present().filter(**own, external_id=request.agent_id).first()
    subject = Subject.objects.filter(**own, external_id=request.user_id).first()
    place = ConversationPlace(
        thread.pk,
        subject.pk if subject else None,
        asker.agent_id or (agent.pk if agent else None),
        messages[0].occurred_at,
    )
    return said_before(place, subject.name if subject else "")
