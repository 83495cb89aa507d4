"""The episodes that wait for a set, gathered for one update."""

import uuid
from dataclasses import dataclass, field

from django.db.models.functions import Length

from memories.models import Episode, FeatureSet
from memories.profiles.features.apply import known_features, live_features
from memories.profiles.features.commands import Command, KnownFeature, RefusedCommand
from memories.profiles.features.config import FeatureSetConfig, config_of
from memories.profiles.features.set_queue import ready
from memories.reading.extraction.fallback_chain import FallbackChain, chain_of, models_from

# A batch of what waits in a set: gathered as plain values, then asked of rules or a model for
# commands. Nothing is written here.

MOST_BY_RULES, MOST_BY_MODEL = 500, 40  # episodes at once
LONGEST_BATCH = 24_000  # characters of messages in one question


@dataclass(frozen=True, slots=True)
class EpisodeBatch:
    """A batch of one set: the next of what waits in it (all recorded by one agent), and what it
    holds.

    Episodes of two agents never meet in one batch, so that no feature tells one agent what only
    the other may know.
    """

    set: FeatureSet
    config: FeatureSetConfig
    models: FallbackChain | None
    agent_id: uuid.UUID | None
    episodes: tuple[Episode, ...]
    known: tuple[KnownFeature, ...]


@dataclass(frozen=True, slots=True)
class ProposedCommands:
    """Commands and who made them; `broken` are answers that are no command at all."""

    commands: list[Command]
    method: str
    rule: str
    broken: list[RefusedCommand] = field(default_factory=list)


def gather(feature_set: FeatureSet) -> EpisodeBatch | None:
    """Return the next batch of a claimed set; None where nothing in it is ready."""
    config = config_of(feature_set.workspace.settings, feature_set.config)
    models = models_of(feature_set)
    rows = ready(feature_set).order_by("occurred_at", "pk")
    first = rows.first()
    if first is None:
        return None
    rows = rows.filter(agent=first.agent_id)
    if models is None:  # rules read what is believed of them
        episodes = tuple(rows.defer("content")[:MOST_BY_RULES])
    else:
        ids: list[uuid.UUID] = []  # as many as go into one question; one at least
        total = 0
        sizes = rows.annotate(size=Length("content")).values_list("pk", "size")
        for pk, size in sizes[:MOST_BY_MODEL]:
            total += size
            if ids and total > LONGEST_BATCH:
                break
            ids.append(pk)
        episodes = tuple(rows.filter(pk__in=ids))
    known = known_features(live_features(feature_set, first.agent_id).values())
    return EpisodeBatch(feature_set, config, models, first.agent_id, episodes, tuple(known))


def models_of(feature_set: FeatureSet) -> FallbackChain | None:
    """Return the models that the set asks; None: rules."""
    model = config_of(feature_set.workspace.settings, feature_set.config).language_model
    if model == "none":
        return None
    if model is None:
        return chain_of(feature_set.workspace_id, "features")
    return FallbackChain(feature_set.workspace_id, models_from([model]), use="features")
