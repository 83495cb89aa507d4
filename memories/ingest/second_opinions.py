"""A language model's verdicts on the changes that the judge is not sure of: gather, ask, apply.

The model moves a touch up or down. What it holds for compatible questions the belief no longer; what it holds for over,
and quotes out of the message, replaces the belief within the guards that the judge has. An answer that is none, or
quotes what was not said, is no verdict: all stays as the judge had it.
"""

import logging
import time
import uuid
from collections.abc import Sequence
from typing import NamedTuple

from django.db import transaction

from memories import metrics
from memories.belief import resolve, review, touches
from memories.belief.resolve.file_cases import QUESTIONED
from memories.belief.resolve.take_support_away import MODEL
from memories.belief.touches import NewTouch, UnsurePair
from memories.errors import Misconfigured, ProviderError, Unasked, UnreadableAnswer
from memories.index import workspace_index
from memories.ingest.keep_sentences import keep_sentences
from memories.judge.judge import SHIPPED, thresholds_in
from memories.language.english.touch_rules import is_plain
from memories.models import Case, CaseItem, Category, Episode, Touch, WorkspaceIndex
from memories.models.conversation import WITHOUT_JUDGE
from memories.providers import ModelQuestion, prompts
from memories.reading.extraction import find_quote
from memories.reading.extraction.fallback_chain import FallbackChain, chain_from, chain_of, server_model
from memories.settings.workspace_settings import settings_of
from workspaces.models import Workspace
from workspaces.scope import worker_scope

USE = "judge"  # the purpose of its calls
TURN = 60.0  # seconds
LONGEST = 500  # characters of a belief
# Probabilities of what a model is sure of, and of what it only says: a person is asked about both.
SURE, SAID = 0.95, 0.75

Relation = Touch.Relation
RELATIONS = {
    "replaces": Relation.REPLACES,
    "ends": Relation.ENDS,
    "exception": Relation.EXCEPTION,
    "restates": Relation.RESTATES,
    "compatible": Relation.ADDS,
}
OVER = (Relation.REPLACES, Relation.ENDS)
log = logging.getLogger(__name__)


class ModelVerdict(NamedTuple):
    """A verdict of the model of that name, which the message bears out."""

    touch: Touch
    relation: Relation
    probability: float
    model: str

    @property
    def is_over(self) -> bool:
        return self.relation in OVER

    @property
    def agrees(self) -> bool:
        """Tell whether the judge thought the same likelier."""
        return self.is_over is (self.touch.relation in OVER)

    @property
    def new_touch(self) -> NewTouch:
        """The touch as the verdict has it."""
        place = (self.touch.memory_id, self.touch.episode_id, self.touch.start, self.touch.end, self.touch.said_at)
        return NewTouch(*place, self.relation, self.probability, by=Touch.By.MODEL, model=self.model, is_sure=True)


def doubtful_workspaces() -> list[uuid.UUID]:
    """Return the workspaces that have a language model, and changes to ask it about."""
    if server_model() is None and not Workspace.objects.filter(settings__has_key="extractors").exists():
        return []
    rows = touches.unsure_touches().exclude(WITHOUT_JUDGE).order_by()
    named = rows.values_list("workspace_id", "workspace__settings__extractors").distinct()
    chains = [chain_from(workspace_id, raw) for workspace_id, raw in named]
    return sorted(chain.workspace_id for chain in chains if chain and not chain.fault)


def ask_models(workspace_id: uuid.UUID, seconds: float = TURN) -> int | None:
    """Ask about what waits in a workspace for about `seconds`; return the number of verdicts, None where no model can
    be asked."""
    end, number = time.monotonic() + min(seconds, TURN), 0
    chain = chain_of(workspace_id, USE)
    if chain is None:
        return None
    own = settings_of(Workspace.objects.only("settings").get(pk=workspace_id)).judge
    act = own.over(thresholds_in(SHIPPED)).act
    space = workspace_index.index_of(workspace_id)
    while time.monotonic() < end and (pairs := touches.claim_unsure(workspace_id, act)):
        verdicts = _verdicts(chain, pairs)
        if verdicts is None:
            break
        _apply(space, verdicts, act)
        metrics.add("judge_second_opinions", len(pairs) - len(verdicts), workspace=str(workspace_id), outcome="none")
        number += len(verdicts)
    return number


def _verdicts(chain: FallbackChain, pairs: Sequence[UnsurePair]) -> list[ModelVerdict] | None:
    """Return the verdicts of a model that the messages bear out; None where it could not be asked, or did not answer:
    then the pairs wait."""
    texts = [
        {
            "statement": pair.read.belief[:LONGEST],
            "said": pair.read.said[:LONGEST],
            "before": pair.read.before,
            "message": pair.read.message,
        }
        for pair in pairs
    ]
    try:
        reply = chain.ask(ModelQuestion(prompts.PAIRS_RULES, prompts.pairs_text(texts), prompts.VerdictsAnswer))
        answers = prompts.read_verdicts(reply.text)
    except ValueError:
        log.warning("workspace %s: of %d changes a model said nothing in JSON", chain.workspace_id, len(pairs))
        return []
    except ProviderError as error:
        log.warning("workspace %s: no model judged %d changes: %s", chain.workspace_id, len(pairs), error.own_words)
        is_barred = isinstance(error, Misconfigured | Unasked)
        if isinstance(error, UnreadableAnswer) or (error.permanent and not is_barred):
            return []  # it was there: asked the same again it would answer the same
        touches.give_back_unsure([pair.touch.pk for pair in pairs], at_once=isinstance(error, Unasked))
        return None
    borne_out = []
    for answer in answers:
        pair = pairs[answer.index] if 0 <= answer.index < len(pairs) else None
        relation = RELATIONS[answer.relation]
        if pair and (relation == Relation.ADDS or find_quote(pair.read.message, answer.quote)):
            name = reply.model[: Touch._meta.get_field("model").max_length]
            borne_out.append(ModelVerdict(pair.touch, relation, SURE if answer.sure else SAID, name))
    return borne_out


def _apply(space: WorkspaceIndex, verdicts: Sequence[ModelVerdict], act: float) -> None:
    """Write verdicts; what is surely over, in plain words, is replaced by what was read or is kept of these."""
    if not verdicts:
        return
    actor = f"{MODEL}{verdicts[0].model}"
    over = [one for one in verdicts if one.is_over and one.probability >= act]
    episodes = Episode.objects.filter(pk__in={one.touch.episode_id for one in over}).order_by("session_id", "pk")
    with_words = episodes.select_related("session__subject", "session__agent").prefetch_related("citations")
    said = {row.pk: row for row in with_words}
    ending = [
        one
        for one in over
        if (row := said.get(one.touch.episode_id)) and is_plain(row.content[one.touch.start : one.touch.end])
    ]
    # The sentences in which nothing was read take the place of what ends.
    unread = {
        (row.pk, (start, end)): str(Category.OTHER)
        for one in ending
        if (row := said[one.touch.episode_id])
        for start, end in touches.unread_places(row.content, [(each.start, each.end) for each in row.citations.all()])
        if start < one.touch.end and one.touch.start < end
    }
    keep_sentences(space, said.values(), unread, actor)
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        decided = [
            one for one in verdicts if touches.decide_unsure(one.touch, one.relation, one.probability, one.model)
        ]
        scope = worker_scope(space.workspace_id, actor)
        review.replace_judged(scope, space, [one.new_touch for one in decided if one in ending])
        asked_about = CaseItem.objects.filter(memory__in=[one.touch.memory_id for one in decided], why=QUESTIONED)
        open_cases = asked_about.filter(case__state__in=Case.UNDECIDED)
        resolve.settle(list(open_cases.values_list("case_id", flat=True)), actor)
    for one in decided:
        outcome = "agreed" if one.agrees else "differed"
        metrics.count("judge_second_opinions", workspace=str(space.workspace_id), outcome=outcome)
