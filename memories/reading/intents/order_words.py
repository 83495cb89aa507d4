"""Words of an order, taken out of all that tells what it means, and given back: in steps, each of
which holds the workspace's lock for a few texts.

They are looked for without the lock. Those of many texts go before the order is done, or before
the case is opened in which it waits: so nothing is said to be done while its words are served. Once
it is done they are looked for again, for what was told meanwhile; a `LongJob` that commits with it
says that this is due, and is how whoever comes after a dead process goes on.
"""

import uuid
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from django.db import transaction
from django.db.models import QuerySet

from memories.belief.resolve.forgotten_words import ForgottenWords
from memories.belief.review import taken_words
from memories.belief.review.taken_words import Places
from memories.index import due_vectors, entries, workspace_index
from memories.models import (
    Citation,
    Episode,
    Intent,
    LongJob,
    MaskedSpan,
    Revision,
    WorkspaceIndex,
    versions_of,
)
from memories.privacy import masks
from memories.privacy.masks import MaskReason
from memories.reading.intents.other_words import OtherWords
from memories.reading.intents.targets import Target
from workspaces.scope import Scope

HIDING = (Intent.Kind.FORGET, Intent.Kind.NEVER)
UNDECIDED = "to be decided"  # ends the reason of masks that hide what a waiting order names


@dataclass(frozen=True, slots=True)
class OrderPlan:
    """The effect of an order: memories and the places that say it, with the words that it names
    exactly, and the `others` that may tell of it; or, of a correction, the one memory and its new
    content, with their vectors. `said` and `written` are all places in messages and in documents
    whose words go, `told` the statements by which they were found."""

    intent: Intent
    space: WorkspaceIndex
    target: Target
    content: str = ""
    vectors: list[entries.Vectors] | None = None
    values: tuple[str, ...] = ()
    others: OtherWords = field(default_factory=OtherWords)
    said: Places = field(default_factory=dict)
    written: Places = field(default_factory=dict)
    told: tuple[ForgottenWords, ...] = ()

    @property
    def is_hiding(self) -> bool:
        return not self.content and self.intent.kind in HIDING

    @property
    def is_short(self) -> bool:
        """Tell whether its words can go in one transaction, with the memories."""
        few = len(self.said) <= taken_words.BATCH
        return few and len(self.written) <= taken_words.DOCUMENTS

    @property
    def texts(self) -> int:
        """The number of messages and documents whose words go."""
        return len(self.said) + len(self.written)

    @property
    def versions(self) -> set[uuid.UUID]:
        """The ids of its memories with all their versions."""
        return {version for row in self.target.memories for version in versions_of(row.pk)}


def why_of(intent: Intent) -> MaskReason:
    return MaskReason(MaskedSpan.Kind.FORGOTTEN, str(intent.kind), intent.pk)


def why_withheld(intent: Intent) -> MaskReason:
    return replace(why_of(intent), reason=f"{intent.kind}, {UNDECIDED}")


def masks_of(intent: Intent) -> QuerySet[MaskedSpan]:
    """Return the masks that hide words from everybody because of this order."""
    return MaskedSpan.objects.filter(workspace_id=intent.workspace_id, cause=intent.pk)


def withheld_of(intent: Intent) -> QuerySet[MaskedSpan]:
    """Return those that hide what it names, since it waited for a person."""
    return masks_of(intent).filter(reason=why_withheld(intent).reason)


def not_withheld_of(intent: Intent) -> QuerySet[MaskedSpan]:
    """Return those that were made to carry it out."""
    return masks_of(intent).exclude(reason=why_withheld(intent).reason)


def looked_for(scope: Scope, plan: OrderPlan) -> OrderPlan:
    """Look for the places in messages and in documents that tell what is meant, and what its
    memories say, as far as they belong to the subject of the order."""
    intent, every = plan.intent, plan.versions
    if not plan.is_hiding:
        return plan
    said: Places = {pk: list(own) for pk, own in plan.target.spans.items()}
    if intent.topic_start is not None and intent.topic_end is not None:
        own = (intent.topic_start, intent.topic_end)
        said.setdefault(intent.episode_id, []).append(own)
    told = tuple(taken_words.what_is_forgotten(said, every, _gone(intent)))
    again, written = restated(scope, intent, told)
    for episode, places in again.items():
        known = said.setdefault(episode, [])
        known.extend(place for place in places if place not in known)
    # A document that is about somebody else, or about nobody, is not theirs to change.
    cited = Citation.objects.filter(
        fact__memory__in=every,
        revision__document__subject__isnull=False,
        revision__document__subject=intent.subject_id,
    )
    for one in cited:
        if one.revision_id is not None:
            written.setdefault(one.revision_id, []).append((one.start, one.end))
    written = taken_words.of_asker(scope, {}, written)[1]
    return replace(plan, said=said, written=written, told=told)


def _gone(intent: Intent) -> list[str]:
    """The words of people that the order has taken already."""
    own = masks_of(intent).filter(place="content", episode__kind__in=Episode.OF_PEOPLE)
    return list(own.order_by("pk").values_list("words", flat=True))


def restated(scope: Scope, intent: Intent, told: Sequence[ForgottenWords]) -> tuple[Places, Places]:
    """Return the places in messages and in documents that tell the same of its subject."""
    said: Places = {}
    if intent.subject is not None:
        # An assistant or a tool tells it before the order and since, in whichever talk.
        rows = Episode.objects.visible_to(scope).filter(subject=intent.subject_id, kind__in=Episode.OF_MACHINES)
        said = taken_words.told_in(rows, told, intent.subject)
    # Who is nobody has no document.
    about = Revision.objects.filter(document__workspace=intent.workspace_id)
    about = about.filter(document__subject=intent.subject_id, document__subject__isnull=False)
    written = taken_words.in_documents(about, told)
    return said, taken_words.of_asker(scope, {}, written)[1]


def mask_ahead(plan: OrderPlan, why: MaskReason, is_due: Callable[[int], bool]) -> OrderPlan | None:
    """Mask the words of many texts in steps, as long as `is_due` says so in each, and return the
    plan without them; None where it did not. A few are left for the transaction that does it."""
    if plan.is_short:
        return plan
    if not taken_words.mask_in_steps(plan.space, plan.said, plan.written, why, is_due):
        return None
    return replace(plan, said={}, written={})


def mask_rest_locked(
    plan: OrderPlan, every: Collection[uuid.UUID], why: MaskReason, words: Sequence[str] = ()
) -> list[MaskedSpan]:
    """Mask the words that a plan has left, and these memories, or only these `words` of them."""
    made = masks.mask_episodes(plan.space, plan.said, why)
    made += masks.mask_documents(plan.space, plan.written, why)
    return made + masks.mask_memories(plan.space, every, why, words)


def take_again(scope: Scope, intent: Intent, told: Sequence[ForgottenWords] | None = None) -> None:
    """Take the words that were told while the order was carried out, in steps, as long as nobody
    takes it back; `told`, or what it has taken."""
    own = taken_words.job_of(LongJob.Kind.MASKING, intent.pk)
    if not own.exists():
        return
    if told is None:
        forgotten = masks_of(intent).filter(place="content", memory__isnull=False)
        words = [*_gone(intent), *forgotten.order_by("pk").values_list("words", flat=True)]
        told = taken_words.what_is_forgotten({}, (), words)
    space = workspace_index.index_of(intent.workspace_id)
    said, written = restated(scope, intent, told)
    is_due = partial(taken_words.advanced, own)
    if taken_words.mask_in_steps(space, said, written, why_of(intent), is_due):
        own.delete()


def give_back(scope: Scope, taken: QuerySet[MaskedSpan]) -> None:
    """Put masked words back, messages' in batches. Raises Forbidden as `masks.unmask` does."""
    space = workspace_index.index_of(scope.workspace_id)
    taken_words.give_back_in_steps(scope, space, taken, lambda _: True)
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        touched = masks.unmask(scope, space, taken)
    due_vectors.fill(space, touched)


def give_back_due(scope: Scope, intent: Intent) -> None:
    """Give back the words of messages that are due back with an order: all that it took, or, where
    it waits again, those that it does not withhold."""
    space = workspace_index.index_of(intent.workspace_id)
    is_waiting = intent.state == Intent.State.CASE
    taken = not_withheld_of(intent) if is_waiting else masks_of(intent)
    taken_words.give_back_words(scope, space, taken, intent.pk)
