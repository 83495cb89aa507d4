"""What was asked and answered, kept as messages of a conversation without learning from them; and
the whole of one question, from its words to what is kept."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memories import ingest
from memories.chat.answer import ChatAnswer, ChatRequest, TellEvent, answer, as_event, chat_config
from memories.errors import Forbidden, needed
from memories.ingest import NewMessage
from memories.models import Conversation
from workspaces.scope import NotAllowed, Scope, agent_to_write, subject_to_write


@dataclass(frozen=True, slots=True)
class AskedChat:
    """A question and where it is kept; without `conversation_id` in a conversation of its own."""

    request: ChatRequest
    conversation_id: uuid.UUID | None = None
    user_id: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


def ask(scope: Scope, asked: AskedChat, tell: TellEvent) -> tuple[ChatAnswer, Conversation]:
    """Answer and keep. Raises NotFound, Forbidden, and what `answer` raises; then nothing is
    kept."""
    conversation = _conversation(scope, asked)
    config = chat_config()
    tell(
        "conversation",
        {
            "conversationId": str(conversation.pk), "mode": asked.request.mode,
            "model": config.model if config else None,
        },
    )  # fmt: skip
    searches: list[dict[str, Any]] = []

    def noted(name: str, values: dict[str, Any]) -> None:
        if name == "search":
            searches.append(values)
        tell(name, values)

    result = answer(scope, asked.request, noted)
    if conversation._state.adding:
        conversation.save(force_insert=True)
    served = {
        "mode": asked.request.mode, "model": result.model, "searches": searches,
        "citations": [as_event(each) | {"quote": ""} for each in result.citations],
    }  # fmt: skip
    ingest.append(
        scope,
        conversation,
        [
            NewMessage(asked.request.question, role="user", metadata=dict(asked.metadata)),
            NewMessage(result.message, role="assistant", metadata={"chat": served}),
        ],
    )
    usage = {
        "inputTokens": result.input_tokens, "outputTokens": result.output_tokens,
        "calls": result.calls,
    }  # fmt: skip
    tell("usage", usage)
    return result, conversation


def as_answer(result: ChatAnswer, conversation: Conversation) -> dict[str, Any]:
    """The whole of it, as it is told at the end."""
    return {
        "message": result.message, "model": result.model,
        "citations": [as_event(each) for each in result.citations],
        "conversationId": str(conversation.pk), "struckOut": result.struck,
        "usage": {
            "inputTokens": result.input_tokens, "outputTokens": result.output_tokens,
            "calls": result.calls,
        },
    }  # fmt: skip


def _conversation(scope: Scope, asked: AskedChat) -> Conversation:
    if asked.conversation_id is not None:
        rows = Conversation.objects.visible_to(scope).select_related("subject")
        return needed(rows.filter(pk=asked.conversation_id).first(), "Conversation")
    try:
        made = Conversation(
            workspace_id=scope.workspace_id, subject=subject_to_write(scope, asked.user_id),
            agent=agent_to_write(scope, ""), title=asked.request.question[:100],
        )  # fmt: skip
    except NotAllowed as error:
        raise Forbidden(error.message, "userId") from None
    made.external_id = f"chat:{made.pk}"
    return made
