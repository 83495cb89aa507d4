"""Answers from documents and memories; each of their quotes stands at the place it names."""

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.conf import settings

from memories import ingest
from memories.chat.questions import DATABASE, PLAN, RULES, SEARCHES, TONE, TOOLS, questions_in, with_sources
from memories.chat.sources import ChatCitation, ChatSource, CitationMarks, SourceFilter, Sources, as_prompt
from memories.errors import Conflict, Forbidden, Invalid, needed
from memories.ingest import NewMessage
from memories.meters import breakers
from memories.meters.breakers import ProviderLine
from memories.models import Conversation
from memories.providers import chat_model_from, network
from memories.providers.chat_model import ChatMessage, ChatModel, ChatQuestion, ChatReply, ChatTool, ToolCall
from memories.providers.extractor import ExtractorConfig
from memories.reading.extraction import fallback_chain
from memories.reading.guard import served_line
from workspaces.scope import OF_OTHERS, NotAllowed, Scope, agent_to_write, covers, subject_to_write

# One answer of the chat. `simple` is one search, and with a model one call; `agentic` lets the
# model search as it likes; `deep` has it plan the searches first. The number of calls and of tokens
# is limited, and so is the workspace's spending (`costs`).
#
# No transaction is open while a model answers. A model can only search, with the rights of the user
# who asks, and only in the sources that the user named.

TONE_KEY = "preferredTone"  # of a question's metadata: how to answer

SIMPLE, AGENTIC, DEEP = MODES = ("simple", "agentic", "deep")
TURNS = {SIMPLE: 1, AGENTIC: 6, DEEP: 20}
TOKENS = {SIMPLE: 30_000, AGENTIC: 60_000, DEEP: 200_000}  # of all calls; then it has to write
PASSAGES, REMEMBERED = 8, 5  # that are looked for at once
QUOTED = 3  # without a model
MOST_WANTED = 20  # by one call of a tool
LONGEST_ANSWER = 2_000  # tokens
LONGEST_CALL = 120.0  # seconds of one call
NOTHING = "Nothing was found that answers this."
PURPOSE = "chat"

# Is called with each event, by name and values: search, text, citation.
TellEvent = Callable[[str, dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """`messages` are the caller's; the last is a person's question."""

    messages: tuple[ChatMessage, ...]
    mode: str = SIMPLE
    only: SourceFilter = SourceFilter()
    tone: str = ""

    @property
    def question(self) -> str:
        return self.messages[-1].text


@dataclass
class ChatAnswer:
    """`model` None: no model was asked. `struck` counts marks that named no source."""

    message: str = ""
    model: str | None = None
    citations: list[ChatCitation] = field(default_factory=list)
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    struck: int = 0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


def chat_config() -> ExtractorConfig | None:
    """Return the model that the settings name for chat, else for extraction; None: none."""
    provider = settings.CHAT_PROVIDER
    server = fallback_chain.server_model()
    if provider == "none" or (provider == "auto" and server is None):
        return None
    if provider == "auto" and server is not None:
        provider = server.provider
    is_same = server is not None and server.provider == provider
    model = settings.CHAT_MODEL or (server.model if server is not None and is_same else "")
    address, key = fallback_chain.own_line(provider)
    seconds = max(settings.PROVIDER_TIMEOUT, LONGEST_CALL)
    return ExtractorConfig(provider, model, key, address, seconds)


def tone_of(metadata: Mapping[str, Any]) -> str:
    return str(metadata.get(TONE_KEY) or "")[:100]


def check_mode(mode: str) -> None:
    """Raise Conflict where this way of answering needs a model, and there is none."""
    if mode != SIMPLE and chat_config() is None:
        error = Conflict("There is no language model for this: see CHAT_PROVIDER.", field="mode")
        error.code = "no_model"
        raise error


def answer(scope: Scope, request: ChatRequest, tell: TellEvent) -> ChatAnswer:
    """Answer a question. Raises Conflict where a model is needed and missing, and ProviderError;
    any exception of `tell` ends it."""
    check_mode(request.mode)
    config = chat_config()
    if config is None:
        return _quoted(scope, request, tell)
    if config.provider != "openai" or config.base_url or config.api_key:
        network.check_allowed("the chat's model")  # before anything is searched
    return _Conversation(scope, request, tell, chat_model_from(config), config).answer()


def _quoted(scope: Scope, request: ChatRequest, tell: TellEvent) -> ChatAnswer:
    """Answer with the best passages and memories in their own words."""
    sources = Sources(scope, request.only)
    query = request.question
    found = sources.of_documents(query, PASSAGES) + sources.of_memories(query, REMEMBERED)
    tell("search", {"query": query, "hits": len(found)})
    result = ChatAnswer()
    lines: list[str] = []
    for source in sorted(found, key=lambda one: -one.similarity):
        if len(lines) == QUOTED:
            break
        if cited := sources.citation(source.n, query):
            result.citations.append(cited)
            lines.append(f"“{served_line.source(cited.quote)}” [{source.n}]")
    result.message = "\n\n".join(lines) or NOTHING
    tell("text", {"delta": result.message})
    for cited in result.citations:
        tell("citation", as_event(cited))
    return result


def as_event(cited: ChatCitation) -> dict[str, Any]:
    return {
        "n": cited.n,
        "quote": cited.quote,
        "start": cited.start,
        "end": cited.end,
        "page": cited.page,
        "documentId": _text(cited.document_id),
        "chunkId": _text(cited.chunk_id),
        "memoryId": _text(cited.memory_id),
        "episodeId": _text(cited.episode_id),
    }


def _text(row: uuid.UUID | None) -> str | None:
    return None if row is None else str(row)


class _Conversation:
    """A conversation with a model, until it has answered."""

    def __init__(
        self,
        scope: Scope,
        request: ChatRequest,
        tell: TellEvent,
        model: ChatModel,
        config: ExtractorConfig,
    ) -> None:
        self.scope, self.request, self.tell, self.model = scope, request, tell, model
        self.sources = Sources(scope, request.only)
        self.marks = CitationMarks(self.sources.by_number)
        self.cited = 0  # of the marks that were shown
        self.result = ChatAnswer(model=model.model)
        self.line = ProviderLine(
            PURPOSE,
            model.model,
            config.base_url,
            config.api_key,
            config.timeout,
            scope.workspace_id,
            PURPOSE,
        )

    def answer(self) -> ChatAnswer:
        request = self.request
        rules = RULES
        if request.tone:
            rules += TONE.format(tone=request.tone)
        queries = [request.question]
        if request.mode == DEEP:
            plan = self._ask(ChatQuestion(PLAN, request.messages), is_shown=False)
            queries += questions_in(plan.text)
        found: dict[int, ChatSource] = {}
        for query in queries if request.mode != AGENTIC else ():
            hits = self.sources.of_documents(query, PASSAGES)
            hits += self.sources.of_memories(query, REMEMBERED)
            self.tell("search", {"query": query, "hits": len(hits)})
            found |= {source.n: source for source in hits}
        last = with_sources(request.question, as_prompt(list(found.values())))
        messages = [*request.messages[:-1]]
        messages.append(ChatMessage("user", last) if found else request.messages[-1])
        if request.mode == SIMPLE:
            self._ask(ChatQuestion(rules, messages, max_tokens=LONGEST_ANSWER))
        else:
            self._with_tools(rules + SEARCHES, messages)
        self._show(self.marks.end())
        self.result.struck += self.marks.struck
        return self.result

    def _with_tools(self, rules: str, messages: list[ChatMessage]) -> None:
        for left in range(TURNS[self.request.mode] - self.result.calls - 1, -1, -1):
            must_write = left == 0 or self.result.tokens >= TOKENS[self.request.mode]
            tools: Sequence[ChatTool] = () if must_write else TOOLS
            reply = self._ask(ChatQuestion(rules, messages, tools, LONGEST_ANSWER))
            if must_write or not reply.calls:
                return
            messages.append(ChatMessage("assistant", reply.text, reply.calls))
            messages += [self._look_up(call) for call in reply.calls]

    def _look_up(self, call: ToolCall) -> ChatMessage:
        """Answer a tool call: the model's search runs with the rights of the user who asks."""
        query = str(call.arguments.get("query") or "").replace("\0", " ").strip()
        known = {tool.name for tool in TOOLS}
        if not query or call.name not in known:
            told = {"error": f"Name a query. There are these tools: {', '.join(sorted(known))}."}
            return ChatMessage("tool", json.dumps(told), call_id=call.id)
        limit = call.arguments.get("limit")
        number = min(max(limit, 1), MOST_WANTED) if isinstance(limit, int) else PASSAGES
        is_database = call.name == DATABASE
        look = self.sources.of_documents if is_database else self.sources.of_memories
        found = look(query, number)
        self.tell("search", {"query": query, "hits": len(found)})
        text = json.dumps({"sources": as_prompt(found)}, ensure_ascii=False)
        return ChatMessage("tool", text, call_id=call.id)

    def _ask(self, question: ChatQuestion, *, is_shown: bool = True) -> ChatReply:
        def words(delta: str) -> None:
            if is_shown:
                self._show(self.marks.feed(delta))

        reply = breakers.call(self.line, lambda: self.model.ask(question, words))
        self.result.calls += 1
        self.result.model = reply.model
        self.result.input_tokens += reply.input_tokens
        self.result.output_tokens += reply.output_tokens
        if not is_shown:
            return reply
        # The quotes of marks that were shown; a mark whose quote no longer stands anywhere is
        # removed.
        for number in self.marks.used[self.cited :]:
            if cited := self.sources.citation(number, self.request.question):
                self.result.citations.append(cited)
                self.tell("citation", as_event(cited))
            else:
                self.result.struck += 1
                self.result.message = self.result.message.replace(f"[{number}]", "")
        self.cited = len(self.marks.used)
        return reply

    def _show(self, text: str) -> None:
        if not text:
            return
        self.result.message += text
        self.tell("text", {"delta": text})


# Questions and answers, kept as messages of a conversation without learning from them; and the
# handling of one question, from its words to the messages kept.


@dataclass(frozen=True, slots=True)
class AskedChat:
    """A question and the conversation to keep it in; without `conversation_id` a new one."""

    request: ChatRequest
    conversation_id: uuid.UUID | None = None
    user_id: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


def ask(scope: Scope, asked: AskedChat, tell: TellEvent) -> tuple[ChatAnswer, Conversation]:
    """Answer and keep the answer. Raises NotFound, Forbidden, Invalid, and the errors of `answer`;
    then nothing is kept."""
    conversation = _conversation(scope, asked)
    request = _about_its_subject(conversation, asked.request)
    config = chat_config()
    tell(
        "conversation",
        {
            "conversationId": str(conversation.pk),
            "mode": asked.request.mode,
            "model": config.model if config else None,
        },
    )
    searches: list[dict[str, Any]] = []

    def noted(name: str, values: dict[str, Any]) -> None:
        if name == "search":
            searches.append(values)
        tell(name, values)

    result = answer(scope, request, noted)
    if conversation._state.adding:
        conversation.save(force_insert=True)
    served = {
        "mode": request.mode,
        "model": result.model,
        "searches": searches,
        "citations": [as_event(each) | {"quote": ""} for each in result.citations],
    }
    ingest.append(
        scope,
        conversation,
        [
            NewMessage(request.question, role="user", metadata=dict(asked.metadata)),
            NewMessage(result.message, role="assistant", metadata={"chat": served}),
        ],
    )
    usage = {
        "inputTokens": result.input_tokens,
        "outputTokens": result.output_tokens,
        "calls": result.calls,
    }
    tell("usage", usage)
    return result, conversation


def as_answer(result: ChatAnswer, conversation: Conversation) -> dict[str, Any]:
    """The whole answer, as it is sent at the end."""
    return {
        "message": result.message,
        "model": result.model,
        "citations": [as_event(each) for each in result.citations],
        "conversationId": str(conversation.pk),
        "struckOut": result.struck,
        "usage": {
            "inputTokens": result.input_tokens,
            "outputTokens": result.output_tokens,
            "calls": result.calls,
        },
    }


def _about_its_subject(conversation: Conversation, request: ChatRequest) -> ChatRequest:
    """Narrow a question to the subject of its conversation: the answer is kept there, where that
    person's keys and contexts find it."""
    if conversation.subject is None:
        return request
    name = conversation.subject.external_id
    if request.only.user_id not in ("", name):
        raise Invalid("userId", "This conversation is another user's.")
    return replace(request, only=replace(request.only, user_id=name))


def _conversation(scope: Scope, asked: AskedChat) -> Conversation:
    if asked.user_id and not covers(scope, asked.user_id):
        raise Forbidden(OF_OTHERS, "userId")
    if asked.conversation_id is not None:
        rows = Conversation.objects.visible_to(scope).select_related("subject")
        return needed(rows.filter(pk=asked.conversation_id).first(), "Conversation")
    try:
        made = Conversation(
            workspace_id=scope.workspace_id,
            subject=subject_to_write(scope, asked.user_id),
            agent=agent_to_write(scope, ""),
            title=asked.request.question[:100],
        )
    except NotAllowed as error:
        raise Forbidden(error.message, "userId") from None
    made.external_id = f"chat:{made.pk}"
    return made
