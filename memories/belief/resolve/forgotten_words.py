"""Statements that a subject asked to forget, or never to bring up, where others repeat them: in
words of an assistant, a tool or a document they are masked too. What the person has repeated since
stays. Reads only."""

import re
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from django.db.models import Exists, OuterRef, Q

from memories.index.people_by_name import names_of
from memories.language.english import clauses, exact_values, topics
from memories.language.english.same_thing import names_in
from memories.models import Document, MaskedSpan, Memory, Rejection, WorkspaceIndex
from memories.reading.guard.masked_text import is_masked
from workspaces.models import ApiKey, Subject

MOST_SAID, MOST_MEMORIES = 200, 1_000
SHORT = 2  # stems of a sentence that says one thing
SAME = 0.75  # of a statement's words, in one that says it again
LONGEST = 100_000  # characters of a text that is looked through
MOST_PRIVATE, MOST_PEOPLE = 2_000, 20  # statements and people that a text about nobody is held to
SHORTEST_NAME = 3
_person = re.compile(r"\b(?:you|your|yours|user|I|my)\b", re.IGNORECASE)
_third = re.compile(r"\b(?:she|her|hers|he|him|his)\b", re.IGNORECASE)
_line = re.compile(r"\S[^\n.!?]*(?:[.!?](?=\S)[^\n.!?]*)*[.!?]*")
_words = re.compile(r"\w[\w'’-]*(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class ForgottenWords:
    """A statement that was forgotten because of `cause`, an intent, or the words that the request
    used for it; compared by its stems. `names`: it is told again only by what is about whoever is
    called so."""

    words: str
    stems: tuple[str, ...]
    cause: uuid.UUID | None = None
    own_names: frozenset[str] = frozenset()  # stems of those that nothing else of the person has
    names: tuple[str, ...] = ()  # by which a document about nobody calls the person

    @classmethod
    def of(cls, words: str, cause: uuid.UUID | None = None) -> Self:
        return cls(words, tuple(topics.naming(words)), cause)

    @property
    def rarest(self) -> str:
        """The rarest word by guess: a number, or the longest word."""
        words: list[str] = _words.findall(self.words)
        return max(words, key=lambda word: (any(map(str.isdigit, word)), len(word)), default="")

    def is_named_by(self, sentence: str) -> bool:
        return bool(self.own_names) and not self.own_names.isdisjoint(topics.words_of(sentence))

    def is_said_by(self, sentence: str) -> bool:
        said = topics.words_of(sentence)
        if len(self.stems) > 1:
            return topics.coverage(self.stems, said) >= SAME
        is_short = len(topics.naming(sentence)) <= SHORT and len(self.words.split()) > SHORT
        return bool(self.stems) and is_short and topics.coverage(self.stems, said) == 1.0

    def is_of(self, sentence: str) -> bool:
        """Tell whether a sentence of a text that names this person may be about them."""
        is_spoken_of = _person.search(sentence) or _third.search(sentence)
        return bool(is_spoken_of) or bool(called_in(sentence, self.names))


_IS_PRIVATE = Exists(Memory.objects.filter(pk=OuterRef("cause"), forget_reason__istartswith="private"))


@dataclass(frozen=True, slots=True)
class ToldAgain:
    """A place where something forgotten is repeated."""

    start: int
    end: int
    cause: uuid.UUID | None


def forgotten_of(
    workspace_id: uuid.UUID,
    user: str,
    again: Sequence[str] = (),
    *,
    agent_id: uuid.UUID | None = None,
    only_private: bool = False,
) -> list[ForgottenWords]:
    """The statements that stay forgotten for the subject with this external id, except those the
    person has repeated since: in their memories, or in the texts `again`. For an agent's text, only
    statements that this agent itself had kept: else it could learn, by guessing, what others
    forgot. A request by an agent's key binds no other agent."""
    rows = MaskedSpan.objects.filter(
        Q(memory__subject__external_id=user) | Q(episode__subject__external_id=user),
        workspace=workspace_id,
        kind=MaskedSpan.Kind.FORGOTTEN,
        place="content",
    )
    if only_private:
        rows = rows.filter(_IS_PRIVATE)
    said_no = Rejection.objects.filter(workspace=workspace_id, memory=OuterRef("cause"))
    if agent_id is None:
        of_an_agent = said_no.exclude(agent=None)
        rows = rows.filter(~Exists(of_an_agent) | Exists(said_no.filter(agent=None)))
    else:
        rows = rows.filter(Q(memory__agent=agent_id) | Q(episode__agent=agent_id))
    said = {
        ForgottenWords.of(row.words, row.cause) for row in rows.order_by("-pk")[:MOST_SAID] if not is_masked(row.words)
    }
    if not said:
        return []
    live = Memory.objects.filter(workspace=workspace_id, subject__external_id=user).live()
    told = [*again, *live.order_by("-pk").values_list("content", flat=True)[:MOST_MEMORIES]]
    people = Subject.objects.filter(workspace=workspace_id, external_id=user)
    known = [*told, user, *people.values_list("name", flat=True)]
    kept = {stem for text in known for stem in topics.words_of(text)}
    return [
        replace(one, own_names=frozenset(names_in(one.words) - kept))
        for one in said
        if not any(map(one.is_said_by, told))
    ]


def for_document(space: WorkspaceIndex, document: Document, text: str) -> list[ForgottenWords]:
    """The statements that a document with this text must not tell again: those of whoever it is
    about; of one about nobody in particular what the people whom it names had forgotten as private,
    unless it is from a key limited to spaces, which could learn that by guessing."""
    agent_id = document.agent_id
    if document.subject is not None:
        user = document.subject.external_id
        return forgotten_of(space.workspace_id, user, agent_id=agent_id)
    rows = MaskedSpan.objects.filter(
        _IS_PRIVATE,
        workspace=space.workspace_id,
        kind=MaskedSpan.Kind.FORGOTTEN,
        place="content",
        memory__subject__isnull=False,
    )
    known = rows.order_by("-pk").values_list("words", "memory__subject__external_id")
    private = [(words, user) for words, user in known[:MOST_PRIVATE] if not is_masked(words)]
    if not private or _is_of_limited_key(document.requested_by):
        return []
    stems = topics.words_of(text[:LONGEST])
    near = {user: None for words, user in private if topics.coverage(tuple(topics.naming(words)), stems) >= SAME}
    forgotten: list[ForgottenWords] = []
    for user in list(near)[:MOST_PEOPLE]:
        names = ways_to_call(names_of(space, user))
        if called_in(text[:LONGEST], names):
            theirs = forgotten_of(space.workspace_id, user, agent_id=agent_id, only_private=True)
            forgotten += [replace(words, names=names) for words in theirs]
    return forgotten


def ways_to_call(names: Iterable[str]) -> tuple[str, ...]:
    """The names of a person and their first names."""
    ways = [way for name in names for way in (name, name.partition(" ")[0])]
    return tuple(dict.fromkeys(way for way in ways if len(way) >= SHORTEST_NAME))


def called_in(text: str, names: Iterable[str]) -> bool:
    low = text.casefold()
    return any(
        name.casefold() in low and re.search(rf"(?<!\w){re.escape(name.casefold())}(?!\w)", low) for name in names
    )


def _is_of_limited_key(actor: str) -> bool:
    kind, _, key_id = actor.partition(":")
    keys = ApiKey.objects.filter(container_tags__isnull=False)
    return kind == "key" and keys.filter(pk=key_id).exists()


def places_in(
    text: str, forgotten: Sequence[ForgottenWords], name: str = "", *, is_his: bool = False
) -> list[ToldAgain]:
    """The places where a text repeats them: whole sentences about the person (you, I, the user,
    `name`), which repeat them or have a name of theirs, or any sentence of a text that `is_his` and
    repeats them; of exact values these words alone."""
    found: list[ToldAgain] = []
    named = name.split()[0].casefold() if len(name) > 2 else ""
    for start, end in _sentences(text[:LONGEST]) if forgotten else ():
        sentence = text[start:end]
        is_of_him = is_his or _person.search(sentence) or (named and named in sentence.casefold())
        for each in forgotten:
            is_named = not is_his and each.is_named_by(sentence)
            is_about = each.is_of(sentence) if each.names else is_of_him
            if is_about and (is_named or each.is_said_by(sentence)):
                found.append(ToldAgain(start, end, each.cause))
                break
            if exact_values.exact_values(each.words) == [each.words]:
                places = exact_values.places_of(each.words, sentence)
                found += [ToldAgain(start + a, start + b, each.cause) for a, b in places]
    return found


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """All sentences, including those that the text quotes, which its own sentences leave out."""
    at = 0
    for start, end in [*clauses.sentences(text), (len(text), len(text))]:
        yield from (match.span() for match in _line.finditer(text, at, start))
        if start < end:
            yield start, end
        at = end
