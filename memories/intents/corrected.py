"""Which memory a correction means, and what it says then. Reads only."""

import re
from itertools import takewhile

from memories.english import antecedents, corrections, topics
from memories.english.spoken_intents import CORRECT, SpokenIntent
from memories.intents.targets import OrderReach, SaidSentence
from memories.models import Memory, Supersession

MOST_SENTENCES = 12  # of this conversation, that a correction may reach back
NAMED = 0.5  # of the words for what is corrected, in the memory
LIKE = 0.6  # of a statement's words, in another that says it with another value
_of_last = re.compile(
    r"(?:it|that|he|she|they)(?:['’](?:s|re)| is| was| are| were)\b", re.IGNORECASE
)


def by(reach: OrderReach, spoken: SpokenIntent) -> tuple[Memory, str] | None:
    """The newest memory in which the value can stand: of this conversation, or with all the words.
    Never what the correction's own words made, but for what it says it is not."""
    if spoken.is_clause and not spoken.old:
        return anew(reach, spoken)
    wanted, told = _named(reach, spoken)
    of_itself = reach.standing_on_order()
    is_bare = not (spoken.old or spoken.topic)
    own = [one for one in reach.sentences if one.is_here and one.is_own]
    here = _since_request(reach) if is_bare else own[:MOST_SENTENCES]
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
            content = corrections.with_value(
                memory.content, spoken.old, spoken.new, is_named=bool(wanted)
            )
        if content and content != memory.content:
            return memory, content
    return None


def anew(reach: OrderReach, spoken: SpokenIntent) -> tuple[Memory, str] | None:
    """The memory of this conversation that is said anew with another value, and what it says then;
    where what is said names nothing of it, it can only be what was said last."""
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
    """What the person told last. A request in between is what a bare value is about."""
    own = [one for one in reach.sentences if one.is_here and one.is_own]
    order = reach.intent.episode_id
    since = takewhile(lambda one: one.episode.pk == order or not antecedents.asks(one.text), own)
    return list(since)[:MOST_SENTENCES]


def _named(reach: OrderReach, spoken: SpokenIntent) -> tuple[list[str], list[str]]:
    """The stems of what is corrected, and all that a whole statement has."""
    if spoken.topic is None:
        return [], []
    topic = reach.intent.episode.content[slice(*spoken.topic)]
    told = topics.words_of(f"{topic} {spoken.old}")
    if spoken.is_clause:
        topic = topic.replace(spoken.new, "")
    return topics.meaningful(topic), told
