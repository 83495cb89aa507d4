"""The tools: what each is called, what it needs and promises, and the verb that it calls."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from msgspec import Struct

from memories import search
from memories.belief import review
from memories.documents.search_documents import DocumentSearch, search_documents
from memories.index import workspace_index
from memories.ingest import IngestRequest, NewMessage
from memories.ingest.waited_ingest import USUAL_WAIT, session_waited_for, wait_for_ingest
from memories.mcp.asker import McpAsker
from memories.mcp.tool_answers import (
    AddedAnswer,
    ContextAnswer,
    CorrectedAnswer,
    DatabaseAnswer,
    DocumentResult,
    ExplainedAnswer,
    ForgottenAnswer,
    LearnedMemory,
    MemoriesAnswer,
    MemoryResult,
    ProfileAnswer,
    ProfileMemory,
    VersionResult,
)
from memories.mcp.tool_arguments import (
    AddMemoryArguments,
    CorrectMemoryArguments,
    ExplainMemoryArguments,
    ForgetMemoryArguments,
    GetContextArguments,
    GetProfileArguments,
    MessageArguments,
    SearchDatabaseArguments,
    SearchMemoriesArguments,
)
from memories.models import AsOf, Document, Fact, chain
from memories.profiles.profile import ProfileOptions, profile
from memories.profiles.profile_lines import markdown
from memories.search import SearchRequest, context, context_floor
from memories.search.confidence import is_noise
from memories.search.context_floor import Nearest
from workspaces.api.problems import invalid
from workspaces.auth import as_uuid
from workspaces.models import Capability, Subject
from workspaces.scope import NOBODY, subject_to_read

MOST_FACTS = 5  # of each version that is explained


@dataclass(frozen=True, slots=True)
class Tool:
    """`act` takes the asker and a value of `arguments`, and gives one of `answer`."""

    name: str
    title: str
    description: str
    arguments: type[Any]
    answer: type[Struct]
    needs: str
    act: Callable[[McpAsker, Any], Struct]
    destroys: bool = False
    is_idempotent: bool = True
    makes_block: bool = False  # a text with marks of its own, in which stored words have none

    @property
    def only_reads(self) -> bool:
        return self.needs == Capability.READ


def search_database(asker: McpAsker, asked: SearchDatabaseArguments) -> DatabaseAnswer:
    names = asked.scopedDocumentIds or ()  # ours, or the callers' own
    ids: tuple[uuid.UUID, ...] = ()
    if names:
        rows = Document.objects.visible_to(asker.scope).filter(
            Q(pk__in={own for name in names if (own := as_uuid(name))}) | Q(custom_id__in=names)
        )
        # Without any, the search finds nothing, and not everything.
        ids = tuple(rows.values_list("pk", flat=True)) or (NOBODY,)
    answer = search_documents(
        asker.scope,
        DocumentSearch(
            asked.query,
            limit=asked.limit,
            container_tags=asked.containerTags or (),
            document_ids=ids,
            user_id=asker.user(""),
            include_full_docs=asked.includeFullDocs,
        ),
    )
    results = [
        DocumentResult.of_hit(hit, summary=asked.includeSummary, content=asked.includeFullDocs) for hit in answer.hits
    ]
    return DatabaseAnswer(len(results), results)


def search_memories(asker: McpAsker, asked: SearchMemoriesArguments) -> MemoriesAnswer:
    request = SearchRequest(
        asked.query,
        limit=asked.limit,
        user_id=asker.user(asked.user_id),
        at=AsOf(asked.valid_at, asked.known_at, asked.said_before),
        include=frozenset({"citations"}),
        newest_first=True,
    )
    answer = search.search(asker.scope, request)
    told = [hit for hit in answer.hits if not is_noise(asked.query, hit)]
    reason = None
    if answer.hits and not told:
        nearest = Nearest(answer.hits[0].row.content, answer.confidence)
        reason = context_floor.reason_of(
            nearest, context_floor.floor_of(workspace_index.index_for(asker.scope), request, answer)
        )
    results = [MemoryResult.of_hit(hit) for hit in search.with_news(told)]
    return MemoriesAnswer(len(results), round(answer.confidence, 3), results, reason)


def get_context(asker: McpAsker, asked: GetContextArguments) -> ContextAnswer:
    request = SearchRequest(asked.query, limit=50, user_id=asker.user(asked.user_id), layers=context.PACKED)
    packed = context.context(asker.scope, request, asked.tokens)
    return ContextAnswer(
        packed.text,
        packed.tokens,
        round(packed.confidence, 3),
        packed.truncated,
        packed.reason or None,
    )


def get_profile(asker: McpAsker, asked: GetProfileArguments) -> ProfileAnswer:
    user_id = asker.user(asked.user_id)
    if not user_id:
        raise invalid("user_id", "Say whose profile.")
    subject = subject_to_read(asker.scope, user_id)
    known = profile(asker.scope, ProfileOptions(subject))
    name = Subject.objects.filter(pk=subject).values_list("name", flat=True).first()
    memories = [ProfileMemory(row.pk, row.content, group) for group, rows in known.groups.items() for row in rows]
    return ProfileAnswer(user_id, markdown(name or user_id, known), memories)


def add_memory(asker: McpAsker, asked: AddMemoryArguments) -> AddedAnswer:
    """Add text or messages, and return what was learned. The front waits for the worker, and then
    sends the request again."""
    if (asked.text is None) == (asked.messages is None):
        raise invalid("text", "Give exactly one of text and messages.")
    session = session_waited_for(asker.scope, asker.environ)
    if session is None:
        messages = [new_message(m, at) for at, m in enumerate(asked.messages or ())]
        request = IngestRequest(
            content=asked.text,
            messages=tuple(messages),
            user_id=asker.user(asked.user_id),
            thread_id=asked.thread_id,
        )
        session = wait_for_ingest(asker.writing(), asker.environ, request, USUAL_WAIT)
    ids = session.created_ids
    rows = search.rows_of(asker.scope, "memories", ids) if ids else []
    return AddedAnswer.of_session(session, [LearnedMemory(row.id, row.content) for row in rows])


def new_message(said: MessageArguments, index: int) -> NewMessage:
    times = {said.occurred_at, said.created_at} - {None}
    if len(times) > 1:
        place = f"messages[{index}].created_at"
        raise invalid(place, "Says another time than occurred_at: give one of them.")
    at = next(iter(times), None)
    return NewMessage(said.content, role=said.role, name=said.name, id=said.id, created_at=at)


def explain_memory(asker: McpAsker, asked: ExplainMemoryArguments) -> ExplainedAnswer:
    links = chain(asker.scope, asker.memory(asked.memory_id).pk)
    facts: dict[uuid.UUID | None, list[Fact]] = {}
    seen = Fact.objects.visible_to(asker.scope)
    newest = seen.newest_of([link.memory.pk for link in links], MOST_FACTS)
    for fact in newest.with_citations():
        facts.setdefault(fact.memory_id, []).append(fact)
    live = [link.memory.pk for link in links if link.memory.is_live]
    return ExplainedAnswer(
        live[-1] if live else None,
        [VersionResult.of_link(link, facts.get(link.memory.pk, ())) for link in links],
    )


def correct_memory(asker: McpAsker, asked: CorrectMemoryArguments) -> CorrectedAnswer:
    memory = asker.memory(asked.memory_id, to_change=True)
    new = review.edit(asker.scope, memory.pk, {"content": asked.content})
    return CorrectedAnswer(new.pk, new.content, new.version, new.held_at is not None)


def forget_memory(asker: McpAsker, asked: ForgetMemoryArguments) -> ForgottenAnswer:
    memory = asker.memory(asked.memory_id, to_change=True)
    review.forget(asker.scope, memory.pk, asked.reason, asked.messages or "")
    return ForgottenAnswer(memory.pk, True, asked.reason)


TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            "searchDatabase",
            "Search the knowledge base",
            "Search documents and memories in the user's knowledge base.",
            SearchDatabaseArguments,
            DatabaseAnswer,
            Capability.READ,
            search_database,
        ),
        Tool(
            "search_memories",
            "Search memories",
            "Find what is remembered about a question, with the words each memory stands on, and"
            " what was said of it later. A message that speaks against memories stands before them:"
            " go by what was said last. Ask before you answer about people, their wishes or past"
            " decisions.",
            SearchMemoriesArguments,
            MemoriesAnswer,
            Capability.READ,
            search_memories,
        ),
        Tool(
            "get_context",
            "Get context",
            "What is known that answers a question, packed as one text for a prompt. Empty where"
            " nothing has to do with it, with the reason.",
            GetContextArguments,
            ContextAnswer,
            Capability.READ,
            get_context,
            makes_block=True,
        ),
        Tool(
            "get_profile",
            "Get a user's profile",
            "All that is known of one user: who they are, what they like, what they plan.",
            GetProfileArguments,
            ProfileAnswer,
            Capability.READ,
            get_profile,
        ),
        Tool(
            "add_memory",
            "Add to memory",
            "Remember something: a statement as text, or a conversation as messages. What is said"
            " newly takes the place of what it contradicts; nothing is lost.",
            AddMemoryArguments,
            AddedAnswer,
            Capability.WRITE,
            add_memory,
        ),
        Tool(
            "explain_memory",
            "Explain a memory",
            "Why something is believed: all versions of a memory, what replaced what and why, and"
            " the quotes that they stand on.",
            ExplainMemoryArguments,
            ExplainedAnswer,
            Capability.READ,
            explain_memory,
        ),
        Tool(
            "correct_memory",
            "Correct a memory",
            "Put the right statement in the place of a memory. The old version stays in its chain.",
            CorrectMemoryArguments,
            CorrectedAnswer,
            Capability.CURATE,
            correct_memory,
            is_idempotent=False,
        ),
        Tool(
            "forget_memory",
            "Forget a memory",
            "Forget a memory. What is wrong or private is told by nothing any more, its words in"
            " messages neither; what is outdated is believed no more, and its message can still"
            " be found by a search. A person can restore it. Ask the user first.",
            ForgetMemoryArguments,
            ForgottenAnswer,
            Capability.CURATE,
            forget_memory,
            destroys=True,
        ),
    )
}
