"""From a batch of episodes to commands: by a model where there is one, else by rules.

Asks only: rows are read before, and written after.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memories.errors import ProviderError
from memories.extraction import find_quote
from memories.extraction.fallback import FallbackChain
from memories.features import feature_prompts, rules
from memories.features.batch import LONGEST, Batch, told_in
from memories.features.commands import ACTIONS, ADD, LONGEST_VALUE, Cited, Command, Known, Refused
from memories.features.feature_prompts import CommandAnswer, CommandsAnswer, Line
from memories.models import Episode
from memories.prompts import PromptMessage
from memories.providers import ModelQuestion


@dataclass(frozen=True, slots=True)
class Asked:
    """Commands and who made them; `broken` are answers that are no command at all."""

    commands: list[Command]
    method: str
    rule: str
    broken: list[Refused] = field(default_factory=list)


def ask(batch: Batch) -> Asked:
    """Raises ProviderError where a model was asked and gave no whole answer."""
    if batch.ladder is None:
        return Asked(rules.commands(told_in(batch), batch.known), "rule", "rules")
    return _ask_model(batch, batch.ladder)


def _ask_model(batch: Batch, ladder: FallbackChain) -> Asked:
    named = {f"f{number}": each for number, each in enumerate(batch.known, start=1)}
    messages = [_message(n, episode) for n, episode in enumerate(batch.episodes)]
    question = ModelQuestion(
        feature_prompts.update_rules(
            batch.config.categories, batch.config.update_prompt, LONGEST_VALUE
        ),
        feature_prompts.update_text([line(name, each) for name, each in named.items()], messages),
        CommandsAnswer,
    )
    reply = ladder.ask(question)
    try:
        read = feature_prompts.read_commands(reply.text)
    except ValueError as error:
        raise ProviderError(f"{reply.model}: {error}", permanent=False) from error
    rule = f"{reply.model} {feature_prompts.UPDATE_VERSION}"
    broken = [Refused("it is no command", raw=raw) for raw in read.broken]
    commands = []
    for part in read.parts:
        if part.action != ADD and part.action in ACTIONS and (part.id or "") not in named:
            broken.append(Refused(f"there is no feature {part.id!r}", raw=part.model_dump()))
        else:
            commands.append(_command(part, named, batch.episodes))
    return Asked(commands, "llm", rule, broken)


def line(name: str, known: Known) -> Line:
    """A feature as a model sees it."""
    return Line(name, known.category, known.tag, known.feature, known.value, known.about)


def _message(number: int, episode: Episode) -> PromptMessage:
    text = episode.content[:LONGEST]
    return PromptMessage(number, episode.role, text, episode.author, episode.occurred_at)


def _command(
    part: CommandAnswer, named: Mapping[str, Known], episodes: Sequence[Episode]
) -> Command:
    """With the quotes that really stand in the episodes; what has none left is refused later."""
    old = named.get(part.id or "") if part.action != ADD else None
    cited = tuple(_cited(part, episodes))
    return Command(
        action=part.action,
        category=part.category or (old.category if old else ""),
        tag=part.tag or (old.tag if old else ""),
        feature=_clean(part.feature or (old.feature if old else "")),
        value=_clean(part.value),
        about=old.about if old else _speaker(cited, episodes),
        slot=old.slot if old else "",
        target=old.id if old else None,
        cited=cited,
        occurred_at=max((each.occurred_at for each in cited), default=None),
    )


def _speaker(cited: Sequence[Cited], episodes: Sequence[Episode]) -> str:
    """Who said all of it, as rules tell whose a feature is; "" where that is not one person."""
    quoted = {each.episode_id for each in cited}
    said = [each for each in episodes if each.pk in quoted]
    names = {each.author for each in said if each.role == Episode.Kind.USER}
    return names.pop() if len(names) == 1 else ""


def _cited(part: CommandAnswer, episodes: Sequence[Episode]) -> list[Cited]:
    found: dict[tuple[uuid.UUID, int], Cited] = {}
    for quote in part.quotes:
        if not 0 <= quote.message < len(episodes):
            continue
        episode = episodes[quote.message]
        if span := find_quote(episode.content, quote.text):
            words = episode.content[slice(*span)]
            found[episode.pk, span[0]] = Cited(episode.pk, *span, words, episode.believed_at)
    return list(found.values())


def _clean(text: str) -> str:
    return " ".join(text.replace("\x00", "").split())
