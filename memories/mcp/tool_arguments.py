"""Arguments of tools."""

from dataclasses import dataclass
from typing import Annotated, Literal
from uuid import UUID

from pydantic import ConfigDict, Field, with_config

from memories.documents.search_documents import Tag
from memories.language.bounds import LONGEST_ID, LONGEST_QUERY, MOST_MESSAGES, WHOLE
from memories.search import context
from workspaces.request_fields import Flag, Moment, NullIs, OwnId, PastMoment, Text, ToldMoment, Whole

# Arguments of the tools. Names are written with underscores, as in other memory servers;
# those of `searchDatabase` are the knowledge base's own.

arguments = with_config(ConfigDict(extra="forbid"))

Query = Annotated[Text, Field(max_length=LONGEST_QUERY, description="The question, in plain words.")]
UserId = Annotated[
    OwnId,
    NullIs(""),
    Field(description="Whom it is about. Leave it out where the connection is of one user."),
]
MemoryId = Annotated[UUID, Field(description="A memory_id of another answer.")]
Limit = Annotated[Whole, Field(ge=1, le=50, description="At most so many results.")]


@arguments
@dataclass(frozen=True, slots=True)
class SearchDatabaseArguments:
    query: Annotated[Text, Field(max_length=LONGEST_QUERY, description="The search query.")]
    limit: Annotated[Whole, Field(ge=1, le=50, description="At most so many documents.")] = 20
    includeSummary: Annotated[Flag, Field(description="With each document's summary.")] = True  # noqa: N815
    includeFullDocs: Annotated[Flag, Field(description="With each document's text.")] = False  # noqa: N815
    containerTags: Annotated[  # noqa: N815
        tuple[Tag, ...] | None, Field(description="Only documents with one of these tags.")
    ] = None
    scopedDocumentIds: Annotated[  # noqa: N815
        tuple[OwnId, ...] | None,
        Field(max_length=1000, description="Only these documents, by their ids or your own."),
    ] = None


@arguments
@dataclass(frozen=True, slots=True)
class SearchMemoriesArguments:
    query: Query
    user_id: UserId = ""
    limit: Limit = 10
    valid_at: Annotated[Moment | None, Field(description="What was true then.")] = None
    known_at: Annotated[Moment | None, Field(description="What was believed then.")] = None
    said_before: Annotated[PastMoment | None, Field(description="Only what had been said by then counts.")] = None


@arguments
@dataclass(frozen=True, slots=True)
class GetContextArguments:
    query: Query
    user_id: UserId = ""
    tokens: Annotated[
        Whole,
        Field(ge=context.LEAST, le=context.MOST, description="How long the text may be."),
    ] = context.USUAL


@arguments
@dataclass(frozen=True, slots=True)
class GetProfileArguments:
    user_id: UserId = ""


@arguments
@dataclass(frozen=True, slots=True)
class MessageArguments:
    role: Literal["user", "assistant", "system"]
    content: Text
    name: Annotated[Text, Field(max_length=LONGEST_ID), NullIs("")] = ""
    id: Annotated[OwnId, NullIs(""), Field(description="Your own: the same id is the same message.")] = ""
    occurred_at: Annotated[ToldMoment | None, Field(description="When it was said.")] = None
    created_at: Annotated[ToldMoment | None, Field(description="The same as occurred_at.")] = None


@arguments
@dataclass(frozen=True, slots=True)
class AddMemoryArguments:
    text: Annotated[Text | None, Field(description="What should be remembered.")] = None
    messages: Annotated[
        tuple[MessageArguments, ...] | None,
        Field(min_length=1, max_length=MOST_MESSAGES, description="Or a conversation, oldest first."),
    ] = None
    user_id: UserId = ""
    thread_id: Annotated[OwnId, NullIs(""), Field(description="The conversation's own id.")] = ""


@arguments
@dataclass(frozen=True, slots=True)
class ExplainMemoryArguments:
    memory_id: MemoryId


@arguments
@dataclass(frozen=True, slots=True)
class CorrectMemoryArguments:
    memory_id: MemoryId
    content: Annotated[Text, Field(max_length=WHOLE, description="The right statement, whole and by itself.")]


@arguments
@dataclass(frozen=True, slots=True)
class ForgetMemoryArguments:
    memory_id: MemoryId
    reason: Annotated[
        Literal["wrong", "outdated", "private"],
        Field(
            description="wrong: it is not learned again; private: said again, it waits for a"
            " person; outdated: it was true."
        ),
    ] = "outdated"
    messages: Annotated[
        Literal["mask", "keep"] | None,
        Field(
            description="mask: its words leave the messages that it stands on, too; keep: they"
            " stay there. Without it, mask for wrong and private, keep for outdated."
        ),
    ] = None
