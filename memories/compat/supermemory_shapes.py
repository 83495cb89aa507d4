"""Bodies that supermemory's clients send, and the shapes of documents and memories for them."""

import json
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from django.db.models import F, Q
from django.db.models.fields.json import KeyTextTransform
from django.db.models.lookups import Exact, IContains
from pydantic import BeforeValidator, ConfigDict, Field, with_config
from pydantic.alias_generators import to_camel

from memories.chat.replies import MODES, SIMPLE
from memories.compat.client_view import later_said, metadata_of, roots_of
from memories.documents import blobs
from memories.documents.search_documents import DocumentHit, Tag
from memories.errors import Invalid
from memories.ingest.ingest_request import AT_ONCE
from memories.language.bounds import LONGEST_QUERY, MOST_HITS
from memories.models import Chunk, Document, Memory
from memories.reading import guard
from memories.search import Hit
from workspaces.request_fields import (
    AnyText,
    Flag,
    Free,
    Metadata,
    Moment,
    NullIs,
    Number,
    OneOf,
    OwnId,
    Text,
    ToldMoment,
    Words,
)
from workspaces.scope import Scope

# What supermemory's clients send. They send more than is used here, and that is no fault of their
# caller.

sent = with_config(ConfigDict(extra="ignore", alias_generator=to_camel))

DEEPEST = 10
NUMERIC = {">": "gt", ">=": "gte", "<": "lt", "<=": "lte", "=": "eq"}
Score = Annotated[Number, Field(ge=0, le=1)]
CustomId = Annotated[Text, Field(max_length=150), NullIs("")]


TYPES = {
    "repository": "github_markdown",
    **dict.fromkeys(("document", "spreadsheet", "presentation", "email", "ebook", "archive"), "text"),
}
SHOWN_OF_A_HIT = ("title", "type", "metadata", "url", "customId", "createdAt", "updatedAt")


def _tags(given: Any) -> Any:
    """Read the tags of a form: one tag, or a list of them as JSON."""
    if isinstance(given, str):
        return json.loads(given) if given.startswith("[") else [given]
    return given


def _object(given: Any) -> Any:
    """Read an object that a form has as JSON."""
    return json.loads(given) if isinstance(given, str) else given


def _day(given: Any) -> Any:
    """Turn a day into its first moment, in UTC."""
    is_day = isinstance(given, str) and len(given) == len("2026-05-01")
    return f"{given}T00:00:00Z" if is_day else given


@sent
@dataclass(frozen=True, slots=True)
class ContainerTags:
    """The containers of a request, given under either of two names."""

    container_tag: Annotated[Tag, NullIs("")] = ""
    container_tags: Annotated[tuple[Tag, ...], BeforeValidator(_tags), Field(max_length=100), NullIs(())] = ()

    @property
    def tags(self) -> tuple[str, ...]:
        given = (self.container_tag, *self.container_tags) if self.container_tag else ()
        return tuple(dict.fromkeys(given or self.container_tags))


@sent
@dataclass(frozen=True, slots=True)
class SupermemoryDocument(ContainerTags):
    """A document, or changes of one, which may lack content. Where content is an address, or there
    is only a `url`, it is fetched from there."""

    content: Text | None = None
    title: Annotated[AnyText, Field(max_length=500), NullIs("")] = ""
    url: Annotated[AnyText, Field(max_length=2000), NullIs("")] = ""
    type: Annotated[str, OneOf(Document.Type), NullIs("")] = ""
    custom_id: CustomId = ""
    metadata: Annotated[Metadata, BeforeValidator(_object)] | None = None
    document_date: Annotated[ToldMoment, BeforeValidator(_day)] | None = None
    filepath: Annotated[Text, Field(max_length=255), NullIs("")] = ""

    @property
    def address(self) -> str:
        """The address to fetch; "" where the content is a text."""
        words = (self.content or self.url).strip()
        is_one = words.startswith(("http://", "https://")) and not any(map(str.isspace, words))
        return words if is_one else ""


@sent
@dataclass(frozen=True, slots=True)
class SaidInChat:
    role: Annotated[str, OneOf(("user", "assistant"))]
    content: Annotated[Words, Field(max_length=50_000)]


@sent
@dataclass(frozen=True, slots=True, kw_only=True)
class AskedInChat(ContainerTags):
    messages: Annotated[tuple[SaidInChat, ...], Field(min_length=1, max_length=100)]
    conversation_id: uuid.UUID | None = None
    mode: Annotated[str, OneOf(MODES)] = SIMPLE
    metadata: Metadata = field(default_factory=dict)
    scoped_document_ids: Annotated[tuple[OwnId, ...], Field(max_length=200)] = ()


@sent
@dataclass(frozen=True, slots=True)
class SupermemoryBatch(SupermemoryDocument):
    """A batch; fields beside the documents count for each document that does not set its own."""

    documents: Annotated[tuple[str | Free, ...], Field(max_length=600)] = ()


@sent
@dataclass(frozen=True, slots=True)
class SupermemoryList(ContainerTags):
    include_content: Flag = False
    limit: Annotated[int, Field(ge=1)] = 10
    page: Annotated[int, Field(ge=1, le=100_000)] = 1
    order: Literal["asc", "desc"] = "desc"
    sort: Literal["createdAt", "updatedAt"] = "createdAt"
    filters: Annotated[Free, BeforeValidator(_object), NullIs({})] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return min(self.limit, MOST_HITS)


@sent
@dataclass(frozen=True, slots=True)
class SupermemoryBulk(ContainerTags):
    ids: Annotated[tuple[Text, ...], Field(max_length=100), NullIs(())] = ()


@sent
@dataclass(frozen=True, slots=True)
class DocumentQuestion(ContainerTags):
    q: Annotated[Text, Field(max_length=LONGEST_QUERY)] = ""
    limit: Annotated[int, Field(ge=1)] = 10
    chunk_threshold: Score = 0.0
    doc_id: Annotated[OwnId, NullIs("")] = ""
    include_full_docs: Flag = False
    include_summary: Flag = False
    only_matching_chunks: Flag = False
    rerank: Flag = False
    filters: Annotated[Free, BeforeValidator(_object), NullIs({})] = field(default_factory=dict)


@sent
@dataclass(frozen=True, slots=True)
class MemoryQuestion(ContainerTags):
    q: Annotated[Text, Field(max_length=LONGEST_QUERY)] = ""
    limit: Annotated[int, Field(ge=1)] = 10
    threshold: Score = 0.0
    rerank: Flag = False
    search_mode: Literal["memories", "hybrid", "documents"] = "memories"
    filters: Annotated[Free, BeforeValidator(_object), NullIs({})] = field(default_factory=dict)


@sent
@dataclass(frozen=True, slots=True)
class ProfileQuestion:
    container_tag: Tag
    q: Annotated[Text, Field(max_length=LONGEST_QUERY), NullIs("")] = ""
    threshold: Score = 0.0
    include: tuple[str, ...] | None = None
    filters: Annotated[Free, NullIs({})] = field(default_factory=dict)


@sent
@dataclass(frozen=True, slots=True)
class NamedMemory:
    """A memory of a container, by its id or by its exact words."""

    container_tag: Tag
    id: Annotated[Text, NullIs("")] = ""
    content: Annotated[Text, NullIs("")] = ""


@sent
@dataclass(frozen=True, slots=True)
class MemoryUpdate(NamedMemory):
    new_content: Text = ""
    metadata: Metadata | None = None
    forget_after: Moment | None = None
    forget_reason: Annotated[Text, NullIs("")] = ""


@sent
@dataclass(frozen=True, slots=True)
class MemoryForget(NamedMemory):
    reason: Annotated[Text, Field(max_length=500), NullIs("")] = ""


def filter_of(given: Free, path: str = "filters", depth: int = 0) -> Free:
    """Return conditions over metadata as our own filter. Raises Invalid."""
    if depth > DEEPEST:
        raise Invalid(path, f"Nested deeper than {DEEPEST}.")
    for joint in ("AND", "OR"):
        if joint in given:
            parts = given[joint]
            if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
                raise Invalid(f"{path}.{joint}", "Must be a list of conditions.")
            within = [filter_of(part, f"{path}.{joint}", depth + 1) for part in parts]
            return {joint.lower(): within}
    return _condition(given, path)


def _condition(given: Free, path: str) -> Free:
    key, value, kind = given.get("key"), given.get("value"), given.get("filterType", "metadata")
    if not isinstance(key, str) or not key or not isinstance(value, str | int | float):
        raise Invalid(path, "Needs AND, OR, or a key and a value.")
    name = f"metadata.{key}"
    if kind == "numeric":
        try:
            number = float(value)
        except (ValueError, OverflowError):
            raise Invalid(f"{path}.value", "Must be a number.") from None
        op = NUMERIC.get(str(given.get("numericOperator", "=")))
        if op is None:
            raise Invalid(f"{path}.numericOperator", f"Known: {', '.join(NUMERIC)}.")
        condition: Free = {"field": name, "op": op, "value": number}
    elif kind in ("string_contains", "array_contains"):
        condition = {"field": name, "op": "contains", "value": value}
    elif kind == "metadata":
        # What a value that is always sent as text may have been when it was kept.
        readings: list[Any] = [value]
        if value in ("true", "false"):
            readings.append(value == "true")
        elif isinstance(value, str) and value.replace(".", "", 1).removeprefix("-").isdecimal():
            readings.append(float(value))
        condition = {"or": [{"field": name, "op": "eq", "value": one} for one in readings]}
    else:
        raise Invalid(f"{path}.filterType", "Known: metadata, numeric, array_contains, string_contains.")
    return {"not": condition} if given.get("negate") in (True, "true") else condition


def rows_condition(given: Free) -> Any:
    """Return the same as a condition over rows that have metadata. Raises Invalid."""
    return _over_rows(filter_of(given))


def _over_rows(tree: Free) -> Any:
    if "and" in tree or "or" in tree:
        joint = "and" if "and" in tree else "or"
        condition = Q()
        for part in tree[joint]:
            own = Q(_over_rows(part))
            condition = condition & own if joint == "and" else condition | own
        return condition
    if "not" in tree:
        return ~Q(_over_rows(tree["not"]))
    compare: dict[str, Callable[..., Any]] = {"eq": Exact, "contains": IContains}
    if tree["op"] not in compare:
        raise Invalid("filters", "Lists are narrowed by equal and by contained values alone.")
    value = tree["value"]
    text = f"{value:g}" if isinstance(value, float) else str(value)
    text = text.lower() if isinstance(value, bool) else text
    key = tree["field"].removeprefix("metadata.")
    return compare[tree["op"]](KeyTextTransform(key, F("metadata")), text)


def owner_of(document: Any) -> str:
    """Return the container it was put into first: its subject. Takes a row `with_all`."""
    return document.user_external or ""


def tags_of(document: Document) -> list[str]:
    own = owner_of(document)
    return sorted(document.container_tags, key=lambda tag: (tag != own, tag))


def kept_custom_id(tags: Sequence[str], custom_id: str) -> str:
    """Return our customId: theirs is unique in its container, ours in the workspace."""
    return f"{tags[0]}/{custom_id}" if tags and custom_id else custom_id


def custom_id_of(document: Document) -> str | None:
    return document.custom_id and document.custom_id.removeprefix(f"{owner_of(document)}/")


def text_of(document: Document) -> str:
    """Return the text of a document; of a short text that was never read yet, the text as sent,
    unless a secret is in it."""
    revision, blob = document.revision, document.blob
    if revision:
        return revision.text
    if not blob or document.filename or blob.size > AT_ONCE:
        return ""
    text = blobs.path_of(blob.workspace_id, blob.digest).read_text()
    return "" if guard.findings(text, guard.OTHER, ()) else text


def listed_document(document: Document, *, content: bool) -> dict[str, Any]:
    words = {"content": text_of(document)} if content else {}
    return {
        "id": document.pk,
        "customId": custom_id_of(document),
        "connectionId": None,
        "title": document.title or None,
        "summary": document.summary or None,
        "type": TYPES.get(document.type, document.type),
        "status": document.state,
        "metadata": document.metadata,
        "containerTags": tags_of(document),
        "url": document.url or None,
        "createdAt": document.created_at,
        "updatedAt": document.updated_at,
        **words,
    }


def whole_document(scope: Scope, document: Document, memories: Sequence[Memory]) -> dict[str, Any]:
    """Return a document with its text, and with what was learned from it."""
    revision, ids = document.revision, [row.pk for row in memories]
    roots, metadata = roots_of(scope, ids), metadata_of(scope, ids)
    return {
        **listed_document(document, content=True),
        "source": document.source or None,
        "raw": None,
        "ogImage": None,
        "latestRevision": revision.number if revision else 0,
        "dreamingStatus": "done",
        "taskType": "memory",
        "errorCode": document.error_code or None,
        "errorMessage": document.reason or None,
        "memories": [
            {
                "id": row.pk,
                "memory": row.content,
                "metadata": {**metadata.get(row.pk, {}), **row.metadata},
                "version": row.version,
                "rootMemoryId": roots[row.pk].id,
                "parentMemoryId": None,
                "isLatest": True,
                "isForgotten": False,
                "isInference": row.is_inference,
                "isStatic": row.fact_type in ("profile", "preference"),
                "sourceCount": row.source_count,
                "createdAt": row.created_at,
                "updatedAt": row.updated_at,
            }
            for row in memories
        ],
    }


def found_document(
    hit: DocumentHit,
    ordinals: Mapping[uuid.UUID, int],
    threshold: float,
    *,
    summary: bool,
    content: bool,
) -> dict[str, Any] | None:
    """Return a document with its chunks that are near enough; None where there are none."""
    near = [each for each in hit.passages if each.similarity >= threshold]
    if not near:
        return None
    document = hit.document
    whole = listed_document(document, content=content)
    return {
        "documentId": document.pk,
        "score": round(max(each.similarity for each in near), 4),
        "chunks": [
            {
                "content": each.row.content,
                "position": ordinals.get(each.row.chunk_id, 0),
                "isRelevant": each.is_relevant,
                "score": round(each.similarity, 4),
            }
            for each in near
        ],
        **{name: whole[name] for name in SHOWN_OF_A_HIT},
        **({"summary": whole["summary"]} if summary else {}),
        **({"content": whole["content"]} if content else {}),
    }


def ordinals_of(hits: Iterable[DocumentHit]) -> dict[uuid.UUID, int]:
    """Return the numbers of the chunks in their documents, from 0."""
    ids = {each.row.chunk_id for hit in hits for each in hit.passages}
    return dict(Chunk.objects.filter(pk__in=ids).values_list("pk", "ordinal"))


def found_memories(scope: Scope, hits: Sequence[Hit]) -> list[dict[str, Any]]:
    ids = [hit.row.id for hit in hits if hit.memory]
    roots, metadata = roots_of(scope, ids), metadata_of(scope, ids)
    return [
        {
            "id": hit.row.id,
            "memory": hit.row.content,
            "similarity": round(hit.similarity, 4),
            "metadata": {**metadata.get(hit.row.id, {}), **hit.row.metadata, **later_said(hit)},
            "updatedAt": hit.row.updated_at if hit.memory else hit.row.created_at,
            "version": hit.row.version if hit.memory else 1,
            "rootMemoryId": roots[hit.row.id].id if hit.memory else hit.row.id,
        }
        for hit in hits
    ]


def found_chunks(hits: Iterable[DocumentHit]) -> list[dict[str, Any]]:
    return [
        {
            "id": each.row.chunk_id,
            "chunk": each.row.content,
            "similarity": round(each.similarity, 4),
            "metadata": hit.document.metadata,
            "updatedAt": hit.document.updated_at,
            "documents": [
                {name: whole[name] for name in ("id", "title", "type", "metadata", "createdAt", "updatedAt")}
            ],
        }
        for hit in hits
        for whole in [listed_document(hit.document, content=False)]
        for each in hit.passages
    ]
