"""Rehearsals of other instructions on messages of the last week: a model reads some talks with those in use, and with
the others. Nothing is stored; somebody waits for it, and it is paid for, so it is bounded and its cost told before."""

import uuid
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import timedelta

from django.utils import timezone

from memories.belief.resolve import Claim
from memories.errors import Conflict
from memories.index import workspace_index
from memories.ingest.rehearse_patterns import StatementChange, messages_of_talk, only_in
from memories.models import Episode, MemorySession
from memories.providers import network
from memories.reading.extraction import ExtractionRun, ExtractOptions, Message
from memories.reading.extraction.cost_ahead import CostAhead, TalkSize, cost_ahead
from memories.reading.extraction.fallback_chain import FallbackChain, chain_of
from memories.reading.extraction.workspace_instructions import Instructions
from workspaces.models.workspace import first_uuid7
from workspaces.scope import Scope

WEEK = timedelta(days=7)
MOST_TALKS, MOST_MESSAGES = 2, 20  # the newest, and of each
ASKING = 20.0  # seconds for all calls of models together


@dataclass(frozen=True, slots=True)
class PlannedRehearsal:
    """The talks that are read twice, and what that costs at most."""

    chain: FallbackChain
    talks: list[list[Message]]
    cost: CostAhead


@dataclass(slots=True)
class InstructionsRehearsal:
    """The statements that only the other instructions made of the messages `read`, and those that they lost; `error`
    where a model failed."""

    read: int = 0
    made: list[StatementChange] = field(default_factory=list)
    lost: list[StatementChange] = field(default_factory=list)
    error: str = ""


def plan_rehearsal(scope: Scope) -> PlannedRehearsal:
    """Choose talks of the last week that `scope` may see. Raises Conflict where no model is configured."""
    chain = chain_of(scope.workspace_id)
    if chain is None:
        raise Conflict("No model is configured that would read the instructions.")
    kinds = (*Episode.OF_PEOPLE, Episode.Kind.ASSISTANT)
    rows = Episode.objects.visible_to(scope).filter(pk__gte=first_uuid7(timezone.now() - WEEK), kind__in=kinds)
    talks: dict[uuid.UUID, list[Episode]] = defaultdict(list)
    for episode in rows.select_related("subject").order_by("-pk")[: 10 * MOST_TALKS * MOST_MESSAGES]:
        talk = talks[episode.conversation_id or episode.session_id or episode.pk]
        if len(talk) < MOST_MESSAGES:
            talk.append(episode)
    chosen = [messages_of_talk(talk) for talk in list(talks.values())[:MOST_TALKS]]
    sizes = [TalkSize(len(talk), sum(len(one.text.encode()) for one in talk)) for talk in chosen]
    return PlannedRehearsal(chain, chosen, cost_ahead(chain, 2 * sizes, MOST_MESSAGES))


def rehearse_instructions(
    scope: Scope, plan: PlannedRehearsal, before: Instructions, after: Instructions
) -> InstructionsRehearsal:
    """Read the talks of a plan with either instructions, until a model fails."""
    space, told = workspace_index.index_of(scope.workspace_id), InstructionsRehearsal()

    def claims(talk: list[Message], instructions: Instructions) -> list[Claim]:
        options = ExtractOptions(
            MemorySession.Extract.LLM, trust=space.guard, date_order=space.date_order, instructions=instructions
        )
        run = ExtractionRun(options)
        run.read(*talk)
        run.finish(plan.chain)
        told.error = told.error or (run.found.error.own_words if run.found.error else "")
        return run.found.claims

    with network.patience(ASKING):
        for talk in plan.talks:
            was, would = claims(talk, before), claims(talk, after)
            if told.error:
                break
            told.read += len(talk)
            told.made += only_in(would, was, talk)
            told.lost += only_in(was, would, talk)
    return told
