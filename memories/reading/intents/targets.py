"""Targets of an order: the memories it means, and the places in messages that say it. Reads only.

First what was said in this conversation, then what is believed about the subject: by words that
name the same, then by meaning. What is not surely meant is a guess, for a person to decide.
"""

import logging
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, takewhile

import numpy as np
from django.db.models import QuerySet

from memories.errors import ProviderError
from memories.index import configured_embedder, due_vectors, workspace_index
from memories.language.english import clauses, corrections, spoken_intents, topics
from memories.language.english.exact_values import places_of
from memories.language.english.order_evidence import OrderEvidence, evidence_of
from memories.language.english.spoken_intents import CORRECT, FORGET, NEVER, RETRACT, SpokenIntent, is_regret
from memories.models import (
    Citation,
    Episode,
    Intent,
    MaskedSpan,
    Memory,
    Supersession,
    WorkspaceIndex,
)
from memories.providers import ModelQuestion, prompts
from memories.providers.prompts import PromptMessage
from memories.reading.extraction.fallback_chain import FallbackChain
from memories.reading.guard.masked_text import is_masked
from workspaces.scope import Scope

Span = tuple[int, int]
MOST_MESSAGES, MOST_EPISODES, MOST_MEMORIES = 40, 1_000, 1_000
MOST_CHOSEN = 5  # statements that a model may take to be meant without a person deciding
MOST_OF_LAST = 3  # statements that "that" may mean at once
TELLS_OF_YOU = re.compile(r"\byou(?:r|rs)?\b", re.IGNORECASE)
OF_ANOTHER = re.compile(r"[\w .-]{1,60}['’]s\b")  # "User's sister is ..."
REPEATED = 0.6  # of a statement's words, in an answer to it
LIKELY = 0.6  # of a topic's words, in the conversation at hand
NEAR, CLOSE = (
    0.35,
    0.55,
)  # cosines of a topic and a statement: worth asking; in the conversation, meant


CORRECTED_SENTENCES = 12  # of this conversation, that a correction may reach back
NAMED = 0.5  # of the words for what is corrected, in the memory
LIKE = 0.6  # of a statement's words, in another that says it with another value


@dataclass(frozen=True, slots=True)
class SaidSentence:
    """A sentence of a message; `is_here`: of the conversation in which the order was given."""

    episode: Episode
    start: int
    end: int
    is_here: bool = True

    @property
    def text(self) -> str:
        return self.episode.content[self.start : self.end]

    @property
    def is_own(self) -> bool:
        return self.episode.kind in Episode.OF_PEOPLE


@dataclass(slots=True)
class Target:
    """`memories` are heads; `spans` the places that say it, by episode. `is_sure`: nobody has to be
    asked; `is_of_asker`: the giver of the order told it first, or it is told of the giver by name;
    `is_named`: all of it has a name that the order has."""

    memories: list[Memory] = field(default_factory=list)
    spans: dict[uuid.UUID, list[Span]] = field(default_factory=dict)
    is_sure: bool = True
    is_of_asker: bool = False
    is_named: bool = False

    def __bool__(self) -> bool:
        return bool(self.memories or self.spans)

    def add_span(self, episode: uuid.UUID, start: int, end: int) -> None:
        if (start, end) not in self.spans.setdefault(episode, []):
            self.spans[episode].append((start, end))


@dataclass(slots=True)
class OrderReach:
    """Everything that an order may be about, as its giver's agent sees it."""

    scope: Scope
    intent: Intent
    space: WorkspaceIndex
    sentences: list[SaidSentence]
    memories: dict[uuid.UUID, Memory]
    cited: dict[uuid.UUID, list[Citation]]

    @classmethod
    def of(cls, scope: Scope, intent: Intent) -> "OrderReach":
        space = workspace_index.index_of(intent.workspace_id)
        here = list(_conversation(scope, intent)[:MOST_MESSAGES])
        known = {row.pk for row in here}
        seen = Episode.objects.visible_to(scope).filter(pk__lt=intent.episode_id)
        of_subject = seen.filter(subject=intent.subject).order_by("-pk")[:MOST_EPISODES]
        more = [row for row in of_subject if row.pk not in known] if intent.subject_id else []
        own = _sentences(intent.episode, len(intent.episode.content), is_here=True)
        orders = spoken_intents.find_intents(intent.episode.content)
        sentences = [
            one
            for one in own
            if one.end <= intent.start and not any(each.start < one.end and one.start < each.end for each in orders)
        ]
        for rows, is_here in ((here, True), (more, False)):
            for row in rows:
                sentences += _sentences(row, len(row.content), is_here=is_here)
        # What is believed about the subject, newest first; of nobody, what this session made.
        of_session = {"pk__in": intent.session.created_ids}
        about = {"subject": intent.subject_id} if intent.subject_id else of_session
        live = Memory.objects.visible_to(scope).live().filter(**about).order_by("-pk")
        # What came of words that were said after the order is not meant by it.
        later = Episode.objects.filter(session=intent.session_id, position__gt=intent.episode.position)
        live = live.exclude(facts__citations__episode__in=later.values("pk"))
        if intent.state == Intent.State.NOTHING_FOUND:  # looked for once more, some time later
            live = live.exclude(facts__citations__episode__gt=intent.episode_id)
        memories = {row.pk: row for row in live.distinct()[:MOST_MEMORIES]}
        cited: dict[uuid.UUID, list[Citation]] = {}
        of_memories = Citation.objects.filter(fact__memory__in=memories)
        related = of_memories.select_related("fact", "episode", "revision__document")
        for one in related.defer("revision__text"):
            if one.fact.memory_id:
                cited.setdefault(one.fact.memory_id, []).append(one)
        return cls(scope, intent, space, sentences, memories, cited)

    def citing(self, sentence: SaidSentence) -> list[Memory]:
        """Return the memories that stand on words of this sentence."""
        return [
            self.memories[pk]
            for pk, own in self.cited.items()
            if any(
                one.episode_id == sentence.episode.pk and one.start < sentence.end and sentence.start < one.end
                for one in own
            )
        ]

    def told_first(self, target: Target) -> bool:
        """Tell whether the giver of the order was the first to say what is in these places."""
        said = {one.episode.pk: one.episode for one in self.sentences if one.is_own}
        first = next((said[pk] for pk in sorted(target.spans) if pk in said), None)
        return first is not None and first.author == self.intent.episode.author

    def tells(self, sentence: SaidSentence) -> bool:
        """Tell whether the sentence tells something, rather than asks for it."""
        return bool(self.citing(sentence)) or not spoken_intents.asks(sentence.text)

    def standing_on_order(self) -> list[Memory]:
        """Return the memories that stand on words of the order alone."""
        start, end, order = self.intent.start, self.intent.end, self.intent.episode_id
        return [
            self.memories[pk]
            for pk, own in self.cited.items()
            if all(one.episode_id == order and one.start < end and start < one.end for one in own)
        ]

    def is_of_others(self, target: Target) -> bool:
        """Tell whether a memory stands on somebody else's words, or on a document about another
        subject, or somebody else was the first to say what is in these places."""
        author = self.intent.episode.author
        cited = [one for memory in target.memories for one in self.cited.get(memory.pk, ())]
        documents = [one.revision.document for one in cited if one.revision is not None]
        if any(each.subject_id != self.intent.subject_id for each in documents):
            return True
        told = [one.episode for one in cited if one.episode is not None]
        said = {one.episode.pk: one.episode for one in self.sentences if one.is_own}
        told += [said[pk] for pk in sorted(target.spans) if pk in said][:1]
        return any(one.kind not in Episode.OF_PEOPLE or one.author != author for one in told)

    def spans_of(self, memories: Iterable[Memory]) -> dict[uuid.UUID, list[Span]]:
        spans: dict[uuid.UUID, list[Span]] = {}
        for memory in memories:
            for one in self.cited.get(memory.pk, ()):
                if one.episode_id is not None:
                    spans.setdefault(one.episode_id, []).append((one.start, one.end))
        return spans


def target_of(reach: OrderReach, spoken: SpokenIntent) -> Target:
    """Return what an order to forget, or to retract, means."""
    if spoken.is_everything:
        return Target(list(reach.memories.values()), reach.spans_of(reach.memories.values()))
    if spoken.values and ((target := _by_letter(reach, spoken)) or spoken.is_weak):
        return target
    if spoken.topic is None:
        return _last_said(reach, spoken)
    topic = reach.intent.episode.content[slice(*spoken.topic)]
    target = _by_words(reach, topic) or _by_meaning(reach, topic)
    if spoken.is_own:
        target.memories = [one for one in target.memories if not OF_ANOTHER.match(one.content)]
    return target


def weighed(reach: OrderReach, spoken: SpokenIntent, target: Target) -> Target:
    """Return the target, as sure as the order's words make it: empty where these are about
    something other than the memory; a guess where they may be."""
    if spoken.kind not in (FORGET, NEVER) or not target:
        return target
    signs = evidence_of(reach.intent.episode.content, spoken)
    is_of_that = spoken.topic is None and not spoken.is_everything
    is_about_work = is_of_that and signs.is_deleting and not (signs.is_private or signs.is_alone)
    is_of_talk = spoken.kind == NEVER and not signs.is_lasting
    if not signs.names_told and (is_about_work or (is_of_talk and (is_of_that or signs.is_passing))):
        return Target()
    # "Remove the part about Ben" may be said of any text.
    names_it = signs.names_memory or (signs.names_told and not signs.is_deleting)
    return replace(
        target,
        is_sure=target.is_sure and _is_sure(reach, spoken, target, signs),
        is_named=target.is_named and names_it,
    )


def _is_sure(reach: OrderReach, spoken: SpokenIntent, target: Target, signs: OrderEvidence) -> bool:
    if signs.is_deleting and not signs.names_memory and _is_in_answer(reach, spoken):
        return False
    if signs.names_told or spoken.is_weak or (signs.is_asked and signs.is_private):
        return True
    if spoken.kind == NEVER:
        return signs.is_lasting and not signs.is_passing
    if spoken.is_everything or spoken.values or signs.is_passing or not _is_one(reach, target):
        return False
    if spoken.topic is None:
        return signs.is_private or (not signs.is_deleting and (signs.is_asked or signs.is_alone))
    if signs.is_deleting:
        return signs.is_of_himself and signs.is_alone
    if signs.is_asked or (signs.is_of_himself and signs.is_alone):
        return True
    # "Forget that Ana lives in Berlin": it says all of what is believed, and nothing else.
    topic = topics.meaningful(reach.intent.episode.content[slice(*spoken.topic)])
    believed = [topics.meaningful(memory.content) for memory in target.memories]
    return signs.is_alone and len(topic) > 1 and any(set(topic) == set(own) for own in believed)


def _is_one(reach: OrderReach, target: Target) -> bool:
    """Tell whether it is one thing: one memory, or without memories at most one sentence of a
    person."""
    own = {one.episode.pk for one in reach.sentences if one.is_own}
    said = sum(len(spans) for episode, spans in target.spans.items() if episode in own)
    return len(target.memories) == 1 or (not target.memories and said <= 1)


def _is_in_answer(reach: OrderReach, spoken: SpokenIntent) -> bool:
    """Tell whether what is named is in the text last written for the person, and is not about them
    there: then that text is to be changed."""
    if spoken.topic is None:
        return False
    topic = topics.meaningful(reach.intent.episode.content[slice(*spoken.topic)])
    order = reach.intent.episode_id
    here = (one for one in reach.sentences if one.is_here and one.episode.pk != order)
    answer = takewhile(lambda one: not one.is_own, here)
    return any(
        topics.coverage(topic, topics.words_of(one.text)) >= 1.0 and not TELLS_OF_YOU.search(one.text) for one in answer
    )


def _last_said(reach: OrderReach, spoken: SpokenIntent) -> Target:
    """Return what "that" means: the statements of the same message before the order, or of the
    person's last message. A guess where a request came in between, which may be meant instead."""
    here = [one for one in reach.sentences if one.is_here]
    if spoken.is_weak and here and not here[0].is_own:
        return Target()  # the answer of the other one is meant
    own = [one for one in here if one.is_own and not is_regret(one.text)]
    beside = [one for one in own if one.episode.pk == reach.intent.episode_id]
    last = [one for one in beside if not spoken_intents.asks(one.text)]
    is_sure = True
    if not last:
        told = [one for one in own if one not in beside]
        talk = list(takewhile(lambda one: spoken_intents.is_talk(one.text), told))
        told = told[len(talk) :]
        last = list(takewhile(lambda one: one.episode.pk == told[0].episode.pk, told))
        is_sure = not (beside or talk)
        if last and spoken_intents.asks(last[0].text):
            if spoken.kind == RETRACT:
                return Target()
            is_sure = False
        last = [one for one in last if not spoken_intents.asks(one.text)]
    order = reach.intent.episode.content[spoken.start : spoken.end]
    if last and spoken_intents.is_of_work(last[0].text) and spoken_intents.deletes(order):
        return Target()
    target = Target(is_sure=is_sure and len(last) <= MOST_OF_LAST)
    for sentence in last:
        target.add_span(sentence.episode.pk, sentence.start, sentence.end)
        target.memories += [m for m in reach.citing(sentence) if m not in target.memories]
    if last:
        _add_repeats(reach, target)
    return target


def _by_words(reach: OrderReach, topic: str) -> Target:
    wanted = topics.meaningful(topic)
    if not wanted:
        return Target()
    scores = {}
    for pk, memory in reach.memories.items():
        words = set(topics.words_of(memory.content))
        words.update(*(topics.words_of(one.quote) for one in reach.cited.get(pk, ())))
        scores[pk] = topics.coverage(wanted, words)
    target = Target([reach.memories[pk] for pk, score in scores.items() if score >= 1.0])
    for sentence in reach.sentences:
        if topics.coverage(wanted, topics.words_of(sentence.text)) < 1.0:
            continue
        if sentence.is_own and not reach.tells(sentence):
            continue
        stands = reach.citing(sentence)
        direct = [memory for memory in stands if memory in target.memories]
        if not direct:
            target.add_span(sentence.episode.pk, sentence.start, sentence.end)
            target.memories += [memory for memory in stands if sentence.is_own]
    for episode, spans in reach.spans_of(target.memories).items():
        for start, end in spans:
            target.add_span(episode, start, end)
    own = {one.episode.pk for one in reach.sentences if one.is_own}
    if not target.memories and own.isdisjoint(target.spans):
        return _likely(reach, scores)  # nobody said it but a machine
    _add_repeats(reach, target)
    return target


def _by_letter(reach: OrderReach, spoken: SpokenIntent) -> Target:
    """Return what is named exactly, wherever it is; in messages only these words."""
    intent = reach.intent
    target = Target(is_of_asker=True)
    for value in spoken.values:
        rows = _said_before(reach.scope, intent).filter(content__icontains=value).order_by("pk")
        said = [(row, start, end) for row in rows[:MOST_EPISODES] for start, end in places_of(value, row.content)]
        named = [memory for memory in reach.memories.values() if places_of(value, memory.content)]
        if not said and not named and spoken.is_weak and not _was_forgotten(intent, value):
            return Target()
        target.is_of_asker &= not said or _is_of_asker(intent.episode, said)
        target.memories += [memory for memory in named if memory not in target.memories]
        own = [(intent.episode, *span) for span in places_of(value, intent.episode.content)]
        for row, start, end in [*said, *own]:
            target.add_span(row.pk, start, end)
    return target


def _is_of_asker(order: Episode, said: Sequence[tuple[Episode, int, int]]) -> bool:
    """Tell whether the order's giver told a value first, or it is told of the giver by name."""
    first = said[0][0]
    if first.kind in Episode.OF_PEOPLE and first.author == order.author:
        return True
    name = order.author.split()[0] if order.author else ""
    return len(name) > 2 and any(
        re.search(rf"\b{re.escape(name)}\b['’]s\b|^{re.escape(name)}\b", row.content[at:end])
        for row, start, end in said
        for at in [max(row.content.rfind(". ", 0, start), 0)]
    )


def _was_forgotten(intent: Intent, value: str) -> bool:
    """Tell whether the value was forgotten, and so masked, for this subject before."""
    rows = MaskedSpan.objects.filter(workspace=intent.workspace_id, kind=MaskedSpan.Kind.FORGOTTEN, words__iexact=value)
    return rows.filter(episode__subject=intent.subject_id).exists()


def _likely(reach: OrderReach, scores: Mapping[uuid.UUID, float]) -> Target:
    """Return what has most of the words, if nothing else has as many: meant in this conversation, a
    guess elsewhere."""
    best = max(scores.values(), default=0.0)
    if best < LIKELY - 0.1:
        return Target()
    chosen = [reach.memories[pk] for pk, score in scores.items() if score == best]
    here = {one.episode.pk for one in reach.sentences if one.is_here}
    spans = reach.spans_of(chosen)
    is_here = any(episode in here for episode in spans)
    return Target(chosen, spans, is_sure=best >= LIKELY and is_here and len(chosen) == 1)


def _add_repeats(reach: OrderReach, target: Target) -> None:
    """Add the sentences of this conversation in which others repeat most of its words, or anybody
    its figures."""
    meant = [topics.meaningful(memory.content) for memory in target.memories]
    meant += [
        topics.meaningful(one.text)
        for one in reach.sentences
        if (one.start, one.end) in target.spans.get(one.episode.pk, ())
    ]
    figures = {stem for own in meant for stem in own if len(stem) > 1 and any(map(str.isdigit, stem))}
    for sentence in reach.sentences:
        if not sentence.is_here or (sentence.is_own and sentence.episode.pk in target.spans):
            continue
        words = set(topics.words_of(sentence.text))
        repeats = not sentence.is_own and any(len(own) > 1 and topics.coverage(own, words) >= REPEATED for own in meant)
        if repeats or figures & words:
            target.add_span(sentence.episode.pk, sentence.start, sentence.end)


def _by_meaning(reach: OrderReach, topic: str) -> Target:
    """Return what is nearest in meaning, as a guess for a person to decide."""
    embedder = configured_embedder.embedder_of(reach.space)
    said = [
        one
        for one in reach.sentences
        if one.is_here and one.is_own and not is_masked(one.text) and not one.text.endswith("?")
    ][:MOST_MESSAGES]
    memories = list(reach.memories.values())[:MOST_MESSAGES]
    if embedder.is_remote or not (said or memories):
        return Target()
    texts = [[topic], *([one.text] for one in said), *([one.content] for one in memories)]
    (asked,), *others = due_vectors.embed_or_leave(reach.space, texts) or [[None]]
    if asked is None:
        return Target()
    near = [0.0 if own[0] is None else float(np.dot(asked, own[0])) for own in others]
    of_said, of_memories = near[: len(said)], near[len(said) :]
    if of_said and max(of_said) >= CLOSE and sorted(of_said)[-2:-1] < [max(of_said) - 0.1]:
        sentence = said[of_said.index(max(of_said))]
        # None of its words need be the order's: that is a guess.
        target = Target(reach.citing(sentence), is_sure=False)
        target.add_span(sentence.episode.pk, sentence.start, sentence.end)
        return target
    if of_memories and max(of_memories) >= NEAR:
        memory = memories[of_memories.index(max(of_memories))]
        return Target([memory], reach.spans_of([memory]), is_sure=False)
    return Target()


def _said_before(scope: Scope, intent: Intent) -> QuerySet[Episode]:
    """Return what the agent heard before: of the subject, or without one in this conversation."""
    if not intent.subject_id:
        return _conversation(scope, intent)
    rows = Episode.objects.visible_to(scope).filter(subject=intent.subject)
    return rows.filter(pk__lt=intent.episode_id)


def _conversation(scope: Scope, intent: Intent) -> QuerySet[Episode]:
    """Return what was said before in this conversation, or without one of this subject, newest
    first."""
    episode = intent.episode
    rows = Episode.objects.visible_to(scope).filter(subject=intent.subject)
    if episode.conversation_id:
        rows = rows.filter(conversation=episode.conversation_id, position__lt=episode.position)
        return rows.order_by("-position")
    same = rows.filter(session=episode.session_id, position__lt=episode.position)
    if not intent.subject_id:
        return same.order_by("-position")
    before = rows.filter(conversation=None, pk__lt=episode.pk)
    return before.order_by("-pk")


def _sentences(episode: Episode, end: int, *, is_here: bool) -> list[SaidSentence]:
    """Return the sentences of a message up to `end`, the last one first."""
    found = [SaidSentence(episode, start, stop, is_here) for start, stop in clauses.sentences(episode.content[:end])]
    return found[::-1]


# Where an order's words leave open which statements it means, a model of the workspace chooses
# among those that its giver's agent sees. The model does not decide who may give the order.

log = logging.getLogger(__name__)
ASKED_MEMORIES, ASKED_SENTENCES, BEFORE = 60, 30, 6  # that one question holds


def choose(reach: OrderReach, chain: FallbackChain) -> Target | None:
    """Return what a model takes the order to mean, which may be nothing; None where no model gave a
    valid answer. Asks with no transaction open."""
    intent = reach.intent
    # Those of this conversation first: they are meant most often.
    said = [one for one in reach.sentences if one.is_here and one.is_own and not is_masked(one.text)]
    near = dict.fromkeys(memory for one in said for memory in reach.citing(one))
    memories = list(near | dict.fromkeys(reach.memories.values()))[:ASKED_MEMORIES]
    sentences = [one for one in said if not reach.citing(one)][:ASKED_SENTENCES]
    statements = [memory.content for memory in memories] + [one.text for one in sentences]
    if not statements:
        return Target()
    episodes = dict.fromkeys(one.episode for one in reach.sentences if one.is_here)
    before = [
        PromptMessage(index, row.role, row.content, row.author, row.occurred_at)
        for index, row in enumerate(list(episodes)[:BEFORE][::-1])
    ]
    text = prompts.intent_text(intent.quote, before, statements)
    try:
        question = ModelQuestion(prompts.INTENT_RULES, text, prompts.MeantAnswer)
        reply = replace(chain, use="intents").ask(question)
        answer = prompts.read_meant(reply.text)
    except (ProviderError, ValueError) as error:
        why = error.own_words if isinstance(error, ProviderError) else "it did not answer in JSON"
        log.warning(
            "workspace %s: of intent %s no model said what is meant: %s",
            intent.workspace_id,
            intent.pk,
            why,
        )
        return None
    named = [index for index in dict.fromkeys(answer.meant) if 0 <= index < len(statements)]
    told = [
        " ".join([statements[index], *(one.quote for one in reach.cited.get(memories[index].pk, ()))])
        if index < len(memories)
        else statements[index]
        for index in named
    ]
    target = Target(is_sure=answer.sure and len(named) <= MOST_CHOSEN and _is_about(reach, told))
    for index in named:
        if index < len(memories):
            target.memories.append(memories[index])
        else:
            sentence = sentences[index - len(memories)]
            target.add_span(sentence.episode.pk, sentence.start, sentence.end)
    for episode, spans in reach.spans_of(target.memories).items():
        for start, end in spans:
            target.add_span(episode, start, end)
    return target


def _is_about(reach: OrderReach, told: Sequence[str]) -> bool:
    """Tell whether the order shares a word with each of what a model takes it to mean; an order about "that"
    shares them through what was said before it."""
    wanted = set(topics.meaningful(reach.intent.quote))
    if not wanted:
        here = (one.text for one in reach.sentences if one.is_here and one.is_own)
        wanted = {word for text in islice(here, MOST_OF_LAST) for word in topics.meaningful(text)}
    return all(wanted & {*topics.words_of(text)} for text in told)


# Which memory a correction means, and what it says then. Reads only.

_of_last = re.compile(r"(?:it|that|he|she|they)(?:['’](?:s|re)| is| was| are| were)\b", re.IGNORECASE)


def by(reach: OrderReach, spoken: SpokenIntent) -> tuple[Memory, str] | None:
    """Return the newest memory in which the value can stand, and its corrected content: of this
    conversation, or with all the words. Never what the correction's own words made, but for what it
    says it is not."""
    if spoken.is_clause and not spoken.old:
        return anew(reach, spoken)
    wanted, told = _named(reach, spoken)
    of_itself = reach.standing_on_order()
    is_bare = not (spoken.old or spoken.topic)
    own = [one for one in reach.sentences if one.is_here and one.is_own]
    here = _since_request(reach) if is_bare else own[:CORRECTED_SENTENCES]
    recent = [memory for one in here for memory in reach.citing(one)]
    others = () if is_bare else reach.memories.values()
    for memory in dict.fromkeys([*recent, *others]):
        if memory in of_itself:
            # "Not Olga" is left out where it came in the place of one that said Olga.
            rows = Supersession.objects.filter(new=memory, old__content__icontains=spoken.old)
            is_denied = spoken.old and rows.exists()
            content = corrections.without_denied(memory.content, spoken.old) if is_denied else ""
        elif wanted and topics.coverage(wanted, topics.words_of(memory.content)) < NAMED:
            continue
        elif spoken.is_clause and topics.coverage(topics.meaningful(memory.content), told) < LIKE:
            continue  # it says more, or something else
        else:
            content = corrections.with_value(memory.content, spoken.old, spoken.new, is_named=bool(wanted))
        if content and content != memory.content:
            return memory, content
    return None


def anew(reach: OrderReach, spoken: SpokenIntent) -> tuple[Memory, str] | None:
    """Return the memory of this conversation that is restated with another value, and its new
    content; where the statement names nothing of it, it can only be what was said last."""
    text = reach.intent.episode.content
    said = text[slice(*spoken.clause)] if spoken.clause else spoken.new
    here = _since_request(reach)
    rest = SaidSentence(reach.intent.episode, reach.intent.end, len(text))
    asked = next((one for one in reach.sentences if one.is_here), None)
    is_answer = asked is not None and not asked.is_own and asked.text.endswith("?")
    if not here or reach.citing(rest) or (is_answer and spoken.kind == CORRECT):
        return None  # nothing is said anew, or it was learned already
    may_be_open = spoken.kind != CORRECT or _of_last.match(said)
    last, of_itself = reach.citing(here[0]), reach.standing_on_order()
    for memory in dict.fromkeys(each for one in here for each in reach.citing(one)):
        content, others = corrections.anew(memory.content, said)
        wanted = topics.naming(_of_last.sub("", others.strip()))
        if wanted:
            is_meant = topics.coverage(wanted, topics.words_of(memory.content)) >= LIKE
        else:
            is_meant = bool(may_be_open) and memory in last
        if content and is_meant and memory not in of_itself:
            return memory, content
    return None


def _since_request(reach: OrderReach) -> list[SaidSentence]:
    """Return the person's sentences since their last request, the newest first; a bare value after
    a request is about that request."""
    own = [one for one in reach.sentences if one.is_here and one.is_own]
    order = reach.intent.episode_id
    since = takewhile(lambda one: one.episode.pk == order or not spoken_intents.asks(one.text), own)
    return list(since)[:CORRECTED_SENTENCES]


def _named(reach: OrderReach, spoken: SpokenIntent) -> tuple[list[str], list[str]]:
    """Return the stems of what is corrected, and all stems of a whole statement."""
    if spoken.topic is None:
        return [], []
    topic = reach.intent.episode.content[slice(*spoken.topic)]
    told = topics.words_of(f"{topic} {spoken.old}")
    if spoken.is_clause:
        topic = topic.replace(spoken.new, "")
    return topics.meaningful(topic), told
