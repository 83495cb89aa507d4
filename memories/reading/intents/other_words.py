"""Other words about the same thing, in any conversation: an assistant's are forgotten with it;
about the person's own, somebody is asked. Reads only."""

import uuid
from collections.abc import Collection
from dataclasses import dataclass, field

from memories.language.english import topics
from memories.language.english.same_thing import ToldThing, names_in
from memories.models import Episode, Memory
from memories.reading.guard.masked_text import is_masked
from memories.reading.intents.targets import TELLS_OF_YOU, OrderReach, SaidSentence, Span, Target

MOST_KEPT_BACK = 5  # sentences of the giver that are kept from everybody on a guess
MOST_ECHOES = 20  # sentences of machines that go without a question


@dataclass(slots=True)
class OtherWords:
    """Sentences of the person, by episode, with the memories that stand on them, which may tell of
    it; and those of machines, which do. `is_named`: the order names what was told to the memory,
    so all of these are hidden from everybody until somebody decides."""

    own: dict[uuid.UUID, list[Span]] = field(default_factory=dict)
    memories: list[Memory] = field(default_factory=list)
    of_machines: dict[uuid.UUID, list[Span]] = field(default_factory=dict)
    is_named: bool = False

    @property
    def are_few(self) -> bool:
        return sum(map(len, self.own.values())) <= MOST_KEPT_BACK

    @property
    def question(self) -> str:
        """Return the reason to ask a person; "" where nothing is left to ask."""
        if len(self.own) == 1:
            return "another message may tell of it"
        return f"{len(self.own)} more messages may tell of it" if self.own else ""

    def join(self, target: Target) -> None:
        """Add all of it to what is meant."""
        target.memories += [one for one in self.memories if one not in target.memories]
        for spans in (self.own, self.of_machines):
            for episode, places in spans.items():
                for start, end in places:
                    target.add_span(episode, start, end)


def other_words(reach: OrderReach, thing: ToldThing, target: Target) -> OtherWords:
    """Find what else tells of the thing, beside what is meant already."""
    found = OtherWords()
    for sentence in reach.sentences:
        text = sentence.text
        if is_masked(text) or _is_in(target, sentence) or not thing.may_be_told_by(text):
            continue
        of_machine = sentence.episode.kind in Episode.OF_MACHINES
        if not (of_machine or reach.tells(sentence)):
            continue
        spans = found.of_machines if of_machine else found.own
        spans.setdefault(sentence.episode.pk, []).append((sentence.start, sentence.end))
        if not of_machine:
            found.memories += [m for m in reach.citing(sentence) if m not in target.memories]
    if sum(map(len, found.of_machines.values())) > MOST_ECHOES:
        found.of_machines = {}  # its name is that of much else
    return found


def echoes(reach: OrderReach, told: Collection[str], target: Target) -> dict[uuid.UUID, list[Span]]:
    """Find the sentences of machines that repeat no more of what is meant than its name: one that
    nothing else of this person has, or of the talks in which it was told all that they say."""
    thing = ToldThing.of("", told)
    names = {stem for text in told for stem in names_in(text)}
    subject = reach.intent.subject
    known = [subject.external_id, subject.name] if subject else []
    known.append(reach.intent.episode.author)
    known += [one.content for one in reach.memories.values() if one not in target.memories]
    here = {reach.intent.episode.conversation_id}
    for sentence in reach.sentences:
        if _is_in(target, sentence):
            here.add(sentence.episode.conversation_id)
        elif sentence.is_own and sentence.episode.pk != reach.intent.episode_id:
            known.append(sentence.text)
    names -= {stem for text in known for stem in topics.words_of(text)}
    found: dict[uuid.UUID, list[Span]] = {}
    for sentence in reach.sentences:
        text, row = sentence.text, sentence.episode
        if row.kind not in Episode.OF_MACHINES or is_masked(text) or _is_in(target, sentence):
            continue
        is_of_talk = row.conversation_id in here
        is_named = bool(names.intersection(topics.words_of(text)))
        if (is_named and (is_of_talk or TELLS_OF_YOU.search(text))) or (is_of_talk and thing.is_all_of(text)):
            found.setdefault(row.pk, []).append((sentence.start, sentence.end))
    return found if sum(map(len, found.values())) <= MOST_ECHOES else {}


def of_that_name(reach: OrderReach, topic: str) -> Target:
    """Return a guess, where nothing tells all that the order names: what has a name from it."""
    thing = ToldThing.of(topic, ())
    target = Target(is_sure=False)
    for memory in reach.memories.values():
        if thing.is_named_by(topics.naming(memory.content)):
            target.memories.append(memory)
    for sentence in reach.sentences:
        if sentence.is_own and thing.is_named_by(topics.naming(sentence.text)):
            target.add_span(sentence.episode.pk, sentence.start, sentence.end)
    for episode, spans in reach.spans_of(target.memories).items():
        for start, end in spans:
            target.add_span(episode, start, end)
    few = sum(map(len, target.spans.values())) <= MOST_KEPT_BACK
    target.is_named = few and not reach.is_of_others(target)
    return target


def _is_in(target: Target, sentence: SaidSentence) -> bool:
    spans = target.spans.get(sentence.episode.pk, ())
    return any(start < sentence.end and sentence.start < end for start, end in spans)
