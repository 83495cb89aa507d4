"""The sources of a chat answer: passages and memories that were found, and the marks by which the
model cites them."""

import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q

from memories import search
from memories.documents.search_documents import DocumentSearch, search_documents
from memories.language.english import lexical
from memories.models import Document, Episode, Memory, Passage
from memories.reading.guard import served_line
from memories.search import SearchRequest
from memories.search.context import all_asked
from workspaces.auth import as_uuid
from workspaces.scope import NOBODY, Scope

# The sources of an answer: passages of documents and memories, numbered as they are found; and
# quotes from them, each checked at its place before it is shown.

LONGEST_QUOTE = 300
LONGEST_QUERY = 2_000
SENTENCE = re.compile(r"[^\n.!?。！？]+[.!?。！？]*")


MARK = re.compile(r"\[ ?[0-9]{1,4}(?: ?, ?[0-9]{1,4}){0,20} ?\]")
OPENED = re.compile(r"\[[0-9, ]{0,130}")


@dataclass(frozen=True, slots=True)
class SourceFilter:
    """The sources to search: with `document_ids` these documents alone, and no memories."""

    user_id: str = ""
    container_tags: tuple[str, ...] = ()
    document_ids: tuple[uuid.UUID, ...] = ()


def documents_named(scope: Scope, names: Sequence[str]) -> tuple[uuid.UUID, ...]:
    """The documents with these ids, ours or the caller's own. If there are none, an id that no
    document has: then nothing shall be found, rather than everything."""
    if not names:
        return ()
    ids = {own for name in names if (own := as_uuid(name))}
    rows = Document.objects.visible_to(scope).filter(Q(pk__in=ids) | Q(custom_id__in=names))
    return tuple(rows.values_list("pk", flat=True)) or (NOBODY,)


@dataclass(frozen=True, slots=True)
class ChatSource:
    """`start` and `end` are the place of `text` in the document or the message; `row` is the
    passage or the memory."""

    n: int
    row: uuid.UUID
    title: str
    text: str
    similarity: float
    start: int = 0
    end: int = 0
    place: str = ""
    document_id: uuid.UUID | None = None
    chunk_id: uuid.UUID | None = None
    memory_id: uuid.UUID | None = None
    episode_id: uuid.UUID | None = None

    @property
    def as_data(self) -> dict[str, Any]:
        """The source as a model gets it."""
        words = {"title": self.title, "place": self.place, "text": self.text}
        told = {name: served_line.source(text) for name, text in words.items() if text}
        return {"n": self.n, **told}


@dataclass(frozen=True, slots=True)
class ChatCitation:
    """A quote: the text of the document or message from `start` to `end`; for a memory that no
    message supports, its own words."""

    n: int
    quote: str
    start: int
    end: int
    page: str
    document_id: uuid.UUID | None
    chunk_id: uuid.UUID | None
    memory_id: uuid.UUID | None
    episode_id: uuid.UUID | None


@dataclass
class Sources:
    """The numbered sources of one answer. A passage keeps its number however often it is found."""

    scope: Scope
    only: SourceFilter
    by_number: dict[int, ChatSource] = field(default_factory=dict)
    _numbers: dict[uuid.UUID, int] = field(default_factory=dict)

    def of_documents(self, query: str, limit: int) -> list[ChatSource]:
        request = DocumentSearch(
            query[:LONGEST_QUERY],
            limit=limit,
            chunk_limit=3,
            user_id=self.only.user_id,
            container_tags=self.only.container_tags,
            document_ids=self.only.document_ids,
        )
        found = []
        for hit in search_documents(self.scope, request).hits:
            for passage in hit.passages:
                row = passage.row
                places = [part["label"] for part in row.parts if part["kind"] != "heading"]
                found.append(
                    self._numbered(
                        row.id,
                        title=str(hit.document),
                        text=row.content,
                        start=row.start,
                        end=row.end,
                        similarity=passage.similarity,
                        place=", ".join(places),
                        document_id=row.document_id,
                        chunk_id=row.chunk_id,
                    )
                )
        return sorted(found, key=lambda one: -one.similarity)[:limit]

    def of_memories(self, query: str, limit: int) -> list[ChatSource]:
        if self.only.document_ids:
            return []
        request = SearchRequest(
            query[:LONGEST_QUERY],
            limit=limit,
            user_id=self.only.user_id,
            include=frozenset({"citations"}),
            newest_first=True,
        )
        found = []
        hits = all_asked(self.scope, request)[:limit] or search.with_news(search.search(self.scope, request).hits)
        for hit in hits:
            if hit.episode:  # said after the memories that follow, and against them
                start, end = nearest(hit.row.content, query)
                found.append(
                    self._numbered(
                        hit.row.id,
                        title=f"message, {hit.row.occurred_at:%Y-%m-%d}",
                        text=hit.row.content[start:end],
                        similarity=hit.similarity,
                        episode_id=hit.row.id,
                        start=start,
                        end=end,
                    )
                )
                continue
            cited = hit.citations[-1] if hit.citations else None
            found.append(
                self._numbered(
                    hit.row.id,
                    title="memory",
                    text=hit.row.content,
                    similarity=hit.similarity,
                    memory_id=hit.row.id,
                    episode_id=cited.episode_id if cited else None,
                    start=cited.start if cited else 0,
                    end=cited.end if cited else len(hit.row.content),
                )
            )
        return found

    def _numbered(self, row: uuid.UUID, **given: Any) -> ChatSource:
        number = self._numbers.setdefault(row, len(self._numbers) + 1)
        source = ChatSource(number, row, **given)
        return self.by_number.setdefault(number, source)

    def citation(self, number: int, query: str) -> ChatCitation | None:
        """The quote of a source that is nearest to a question; None where it no longer stands
        there."""
        source = self.by_number.get(number)
        if source is None:
            return None
        if source.document_id is not None:
            seen = Document.objects.visible_to(self.scope).filter(pk=source.document_id)
            passage = Passage.objects.filter(
                pk=source.row, revision__superseded_at=None, revision__document__in=seen
            ).first()
            if passage is None:
                return None
            start, end = nearest(passage.content, query)
            text = passage.content[start:end]
            start, end = passage.start + start, passage.start + end
        elif source.episode_id is not None:
            episode = Episode.objects.visible_to(self.scope).filter(pk=source.episode_id).first()
            if episode is None or source.end > len(episode.content):
                return None
            start, end = source.start, source.end
            text = episode.content[start:end]
        else:
            memory = Memory.objects.visible_to(self.scope).live().filter(pk=source.row).first()
            if memory is None:
                return None
            text, start, end = memory.content, 0, len(memory.content)
        return ChatCitation(
            number,
            text,
            start,
            end,
            source.place,
            source.document_id,
            source.chunk_id,
            source.memory_id,
            source.episode_id,
        )


def nearest(text: str, query: str) -> tuple[int, int]:
    """The start and end of the sentences of a text that share most words with a question."""
    wanted = set(lexical.stems(query))
    spans = [match.span() for match in SENTENCE.finditer(text) if match[0].strip()]
    if not spans:
        return 0, min(len(text), LONGEST_QUOTE)
    best = max(spans, key=lambda span: len(wanted & set(lexical.stems(text[slice(*span)]))))
    start, end = best
    for _, last in spans[spans.index(best) + 1 :]:
        if last - start > LONGEST_QUOTE:
            break
        end = max(end, last)
    lead = len(text[start:end]) - len(text[start:end].lstrip())
    end = min(end, start + lead + LONGEST_QUOTE)
    return start + lead, start + len(text[start:end].rstrip())


class CitationMarks:
    """The words of a model as they arrive, without the marks [n] that name no source it was given.

    `used` are the numbers in the words passed on, in order; `struck` counts the marks removed.
    """

    def __init__(self, known: "dict[int, ChatSource]") -> None:
        self.known = known
        self.used: list[int] = []
        self.struck = 0
        self._open = ""

    def feed(self, words: str) -> str:
        """Add words and return the text that may be shown by now."""
        text, self._open = self._open + words, ""
        at = text.rfind("[")
        if at >= 0 and OPENED.fullmatch(text, at):
            text, self._open = text[:at], text[at:]
        return MARK.sub(self._checked, text)

    def end(self) -> str:
        rest, self._open = self._open, ""
        return rest

    def _checked(self, mark: re.Match[str]) -> str:
        numbers = [int(each) for each in re.findall(r"[0-9]+", mark[0])]
        good = [number for number in numbers if number in self.known]
        self.struck += len(numbers) - len(good)
        self.used += [number for number in good if number not in self.used]
        return "".join(f"[{number}]" for number in good)


def as_prompt(sources: Sequence[ChatSource]) -> list[dict[str, Any]]:
    return [source.as_data for source in sources]
