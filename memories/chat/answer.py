"""One answer of the chat. `simple` is one search, and with a model one call; `agentic` lets the
model search as it likes; `deep` has it plan what to look up first. How often it is asked, and with
how many tokens, is bounded, and so is what the workspace may spend (`costs`).

No transaction is open while a model speaks. A model can only search, as the asker could, and only
where the asker said.
"""

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

from memories import breakers
from memories.breakers import ProviderLine
from memories.chat import chat_prompts
from memories.chat.chat_prompts import DATABASE, TOOLS
from memories.chat.sources import (
    ChatCitation,
    ChatSource,
    CitationMarks,
    SourceFilter,
    Sources,
    as_prompt,
)
from memories.errors import Conflict
from memories.extraction import configured_models
from memories.providers import network
from memories.providers.chat_model import (
    ChatMessage,
    ChatModel,
    ChatQuestion,
    ChatReply,
    ChatTool,
    ToolCall,
)
from memories.providers.extractor import ExtractorConfig
from memories.providers.registry import chat_model_from
from workspaces.scope import Scope

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

# Is told what happens, by its name and values: search, text, citation.
TellEvent = Callable[[str, dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """`messages` are the caller's, of which the last is a person's question."""

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
    """Which model the server's settings name for the chat, else for extraction; None: none."""
    provider = settings.CHAT_PROVIDER
    server = configured_models.server_model()
    if provider == "none" or (provider == "auto" and server is None):
        return None
    if provider == "auto" and server is not None:
        provider = server.provider
    is_openai = provider == "openai"
    is_same = server is not None and server.provider == provider
    model = settings.CHAT_MODEL or (server.model if server is not None and is_same else "")
    key = settings.OPENAI_API_KEY if is_openai else settings.ANTHROPIC_API_KEY
    address = settings.OPENAI_BASE_URL if is_openai else settings.ANTHROPIC_BASE_URL
    seconds = max(settings.PROVIDER_TIMEOUT, LONGEST_CALL)
    return ExtractorConfig(provider, model, key, address, seconds)


def tone_of(metadata: Mapping[str, Any]) -> str:
    return str(metadata.get(TONE_KEY) or "")[:100]


def check_mode(mode: str) -> None:
    """Raises Conflict where this way of answering needs a model, and there is none."""
    if mode != SIMPLE and chat_config() is None:
        error = Conflict("There is no language model for this: see CHAT_PROVIDER.", field="mode")
        error.code = "no_model"
        raise error


def answer(scope: Scope, request: ChatRequest, tell: TellEvent) -> ChatAnswer:
    """Answer a question. Raises Conflict without the model it needs, and ProviderError; whatever
    `tell` raises ends it."""
    check_mode(request.mode)
    config = chat_config()
    if config is None:
        return _quoted(scope, request, tell)
    if config.provider == "anthropic" or config.base_url or config.api_key:
        network.check_allowed("the chat's model")  # before anything is searched
    return _Conversation(scope, request, tell, chat_model_from(config), config).answer()


def _quoted(scope: Scope, request: ChatRequest, tell: TellEvent) -> ChatAnswer:
    """The best passages and memories in their own words."""
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
            lines.append(f"“{cited.quote}” [{source.n}]")
    result.message = "\n\n".join(lines) or NOTHING
    tell("text", {"delta": result.message})
    for cited in result.citations:
        tell("citation", as_event(cited))
    return result


def as_event(cited: ChatCitation) -> dict[str, Any]:
    return {
        "n": cited.n, "quote": cited.quote, "start": cited.start, "end": cited.end,
        "page": cited.page, "documentId": _text(cited.document_id),
        "chunkId": _text(cited.chunk_id), "memoryId": _text(cited.memory_id),
        "episodeId": _text(cited.episode_id),
    }  # fmt: skip


def _text(row: uuid.UUID | None) -> str | None:
    return None if row is None else str(row)


class _Conversation:
    """With a model, until it has answered."""

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
            PURPOSE, model.model, config.base_url, config.api_key, config.timeout,
            scope.workspace_id, PURPOSE,
        )  # fmt: skip

    def answer(self) -> ChatAnswer:
        request = self.request
        rules = chat_prompts.RULES
        if request.tone:
            rules += chat_prompts.TONE.format(tone=request.tone)
        queries = [request.question]
        if request.mode == DEEP:
            plan = self._ask(ChatQuestion(chat_prompts.PLAN, request.messages), is_shown=False)
            queries += chat_prompts.questions_in(plan.text)
        found: dict[int, ChatSource] = {}
        for query in queries if request.mode != AGENTIC else ():
            hits = self.sources.of_documents(query, PASSAGES)
            hits += self.sources.of_memories(query, REMEMBERED)
            self.tell("search", {"query": query, "hits": len(hits)})
            found |= {source.n: source for source in hits}
        last = chat_prompts.with_sources(request.question, as_prompt(list(found.values())))
        messages = [*request.messages[:-1]]
        messages.append(ChatMessage("user", last) if found else request.messages[-1])
        if request.mode == SIMPLE:
            self._ask(ChatQuestion(rules, messages, max_tokens=LONGEST_ANSWER))
        else:
            self._with_tools(rules + chat_prompts.SEARCHES, messages)
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
        """What a tool answers: a model's wish is a search as the asker's own."""
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
        # The quotes of marks that were shown; a mark whose quote stands nowhere any more is taken
        # out.
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
