"""Which statements an order means, where its words leave that open: a model of the workspace
chooses among those that its giver's agent sees. Who may order it is decided without it."""

import logging
from dataclasses import replace

from memories import prompts
from memories.errors import ProviderError
from memories.extraction.fallback import FallbackChain
from memories.intents.targets import OrderReach, Target
from memories.masked_text import is_masked
from memories.prompts import PromptMessage
from memories.providers import ModelQuestion

log = logging.getLogger(__name__)
MOST_MEMORIES, MOST_SENTENCES, BEFORE = 60, 30, 6  # that one question holds


def choose(reach: OrderReach, chain: FallbackChain) -> Target | None:
    """What a model takes the order to mean, which may be nothing; None where no model answered as
    it was asked to. Asks with no transaction open."""
    intent = reach.intent
    # Those of this conversation first: they are meant most often.
    said = [
        one for one in reach.sentences if one.is_here and one.is_own and not is_masked(one.text)
    ]
    near = dict.fromkeys(memory for one in said for memory in reach.citing(one))
    memories = list(near | dict.fromkeys(reach.memories.values()))[:MOST_MEMORIES]
    sentences = [one for one in said if not reach.citing(one)][:MOST_SENTENCES]
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
            intent.workspace_id, intent.pk, why,
        )  # fmt: skip
        return None
    target = Target(is_sure=answer.sure)
    for index in dict.fromkeys(answer.meant):
        if 0 <= index < len(memories):
            target.memories.append(memories[index])
        elif len(memories) <= index < len(statements):
            sentence = sentences[index - len(memories)]
            target.add_span(sentence.episode.pk, sentence.start, sentence.end)
    for episode, spans in reach.spans_of(target.memories).items():
        for start, end in spans:
            target.add_span(episode, start, end)
    return target
