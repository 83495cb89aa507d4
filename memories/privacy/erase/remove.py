"""Removal of erased rows. A memory that stood on them is told in the words that are left, or the
version before is believed again."""

import uuid
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import TypeAlias

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from memories.belief import resolve
from memories.belief.resolve import state_changes
from memories.documents import blobs
from memories.index import entries, rebuild, row_marks, workspace_index
from memories.language.english import lexical
from memories.models import (
    Blob,
    Case,
    CaseItem,
    Citation,
    ConnectionItem,
    Document,
    Episode,
    Fact,
    Feature,
    FeatureChange,
    FeatureRefusal,
    FeatureSet,
    Intent,
    Layer,
    Memory,
    MemoryPeriod,
    MemorySession,
    Miss,
    Rejection,
    Revision,
    Speaker,
    Supersession,
    WorkspaceChange,
    WorkspaceIndex,
    WorkspacePattern,
    WorkspaceSlot,
)
from memories.privacy import masks
from memories.privacy.erase.erasure_plan import passages_of_documents, vectors_of, with_edits
from memories.profiles.features import follow_sources
from memories.profiles.features.set_queue import unmark
from memories.profiles.summaries import running_summary, talk_summaries
from memories.quality.golden_questions import drop_standing_on
from memories.teaching import unlearn
from workspaces.models import AuditEntry

Ids: TypeAlias = Collection[uuid.UUID]


QUOTABLE = 12  # characters; what is shorter stands in many examples by chance
TALLY: TypeAlias = Counter[str]


def recompute(space: WorkspaceIndex, ids: Ids) -> int:
    """Memories that stand on fewer facts now: counted anew, and told in words that are left.

    The one place where a memory's content changes: the words it had were erased.
    """
    for memory in Memory.objects.filter(pk__in=ids).order_by("pk"):
        facts = list(memory.facts.order_by("pk"))
        rows = Memory.objects.filter(pk=memory.pk)
        standing = sum(fact.withdrawn_at is None for fact in facts)
        rows.update(source_count=standing, updated_at=timezone.now())
        own = bytes(memory.fingerprint)
        if any(lexical.fingerprint(fact.statement) == own for fact in facts):
            continue
        fact = facts[-1]
        memory.content = fact.statement
        memory.fingerprint = lexical.fingerprint(fact.statement)
        memory.entities, memory.metadata = fact.entities, {}
        memory.event_date = fact.event_date
        memory.slots = row_marks.slots_of_memory(memory, row_marks.words_of(space))
        memory.save(update_fields=["content", "fingerprint", "entities", "metadata", "event_date", "slots"])
        entries.remove(space, Layer.MEMORIES, [memory.pk])
        entries.write(space, [entries.memory_item(memory)], None)
    return len(ids)


def unlink_all(space: WorkspaceIndex, gone: Ids) -> int:
    """Take memories out of their chains: the version before is replaced by the one after, or is
    the head again. The number of decisions that go with them."""
    before = Memory.objects.filter(superseded_by__in=gone).exclude(pk__in=gone)
    for old in before.order_by("pk"):
        removed = heir = old.superseded_by
        while heir is not None and heir.pk in gone:
            heir = heir.superseded_by
        if removed is not None:
            state_changes.unlink(old, removed, heir)
        if heir is not None:
            decisions = Supersession.objects.filter(old=old, state=Supersession.State.APPLIED)
            decisions.update(new=heir, similarity=None, note="")
        elif old.state.is_head:
            state_changes.restore(space, old, MemoryPeriod.Cause.UNDONE)
    of_both = Q(old__in=gone) | Q(new__in=gone)
    return Supersession.objects.filter(of_both).delete()[0]


def remove_episodes(space: WorkspaceIndex, ids: Ids) -> TALLY:
    """Remove episodes, with the facts read out of them; what also stands on others is made of
    those."""
    episodes = list(Episode.objects.filter(pk__in=ids).order_by("pk"))
    beside = rebuild.beside(ids)
    sessions = {e.session_id for e in episodes if e.session_id}
    # Facts that cite the episodes; and those that a session of theirs read without citing anything.
    cited = Fact.objects.filter(citations__episode__in=ids)
    bare = Fact.objects.filter(session__in=sessions, citations=None)
    facts_of = set(cited.values_list("pk", flat=True)) | set(bare.values_list("pk", flat=True))
    done = remove_facts(space, facts_of)
    misses = Miss.objects.filter(episode__in=ids)
    done += forget_traces(space, list(misses.values_list("pk", flat=True)))
    done["misses"] += misses.delete()[0]
    done += _unsay_features(space, ids)
    done["refusals"] += FeatureRefusal.objects.filter(episode_ids__overlap=list(ids)).delete()[0]
    _clean_examples(space, [episode.content for episode in episodes])
    # A provider's error may quote the request; a set that still fails says so again.
    subjects = {episode.subject_id for episode in episodes}
    about = Q(subject__in=subjects - {None}) | Q(subject=None)
    rows = FeatureSet.objects.filter(about, workspace_id=space.workspace_id)
    failed = rows.exclude(error="", embedding_error="")
    failed.update(error="", embedding_error="")
    heard = Counter((e.subject_id, e.author, workspace_index.is_assistant(e.kind)) for e in episodes)
    for (subject, author, assistant), number in sorted(heard.items(), key=str):
        speaker = Speaker.objects.filter(workspace=space.number, subject=subject, author=author, assistant=assistant)
        speaker.update(episodes=F("episodes") - number)
        speaker.filter(episodes__lte=0).delete()
    done += unindex(space, Layer.EPISODES, ids)
    conversations = {e.conversation_id for e in episodes if e.conversation_id}
    done["summaries"] += running_summary.start_again(conversations)
    done["summaries of talks"] += talk_summaries.start_again(space, Episode.objects.filter(pk__in=ids))
    asked = set(Intent.objects.filter(episode__in=ids).values_list("pk", flat=True))
    cases = _blank_cases(Q(items__intent__in=asked))
    CaseItem.objects.filter(intent__in=asked).delete()
    Episode.objects.filter(pk__in=ids).delete()
    done["heads of the judge"] += unlearn(space.workspace_id)
    done["cases"] += _close_cases(cases)
    texts = [episode.content for episode in episodes]
    done["golden questions"] += drop_standing_on(space.workspace_id, ids, texts)
    done["episodes"] += len(episodes)
    for item in rebuild.items_of_truth(Layer.EPISODES, beside):
        entries.reweigh(space, Layer.EPISODES, item.id, item.counts)
    done += _close_sessions(space, sessions, set(ids))
    return done + forget_traces(space, ids)


def remove_facts(space: WorkspaceIndex, ids: Ids) -> TALLY:
    facts = Fact.objects.filter(pk__in=ids)
    _clean_examples(space, list(facts.values_list("statement", flat=True)))
    touched = {one for one in facts.values_list("memory_id", flat=True) if one}
    standing = Fact.objects.standing().filter(memory__in=touched).exclude(pk__in=ids)
    stands = set(standing.values_list("memory_id", flat=True))
    done = remove_memories(space, touched - stands)
    done["citations"] += Citation.objects.filter(fact__in=ids).count()
    cases = _blank_cases(Q(items__fact__in=ids))
    done["facts"] += facts.delete()[1].get("memories.Fact", 0)
    done["cases"] += _close_cases(cases)
    done["memories recomputed"] += recompute(space, stands)
    return done + forget_traces(space, ids)


def remove_memories(space: WorkspaceIndex, ids: Ids) -> TALLY:
    """Remove memories with their edits, which say the same in a person's words."""
    gone = with_edits(set(ids))
    if not gone:
        return Counter()
    done: TALLY = Counter()
    done["supersessions"] += unlink_all(space, gone)
    rows = Memory.objects.filter(pk__in=gone)
    texts = list(rows.values_list("content", flat=True))
    done["golden questions"] += drop_standing_on(space.workspace_id, gone, texts)
    cases = _blank_cases(Q(items__memory__in=gone))
    same = Q(pk=None)
    for subject_id, fingerprint in rows.values_list("subject_id", "fingerprint"):
        same |= Q(subject_id=subject_id, fingerprint=bytes(fingerprint))
    rejections = Rejection.objects.filter(same | Q(memory__in=gone), workspace_id=space.workspace_id)
    done += forget_traces(space, list(rejections.values_list("pk", flat=True)))
    done["rejections"] += rejections.delete()[0]
    done += unindex(space, Layer.MEMORIES, gone)
    facts = list(Fact.objects.filter(memory__in=gone).values_list("pk", flat=True))
    done["citations"] += Citation.objects.filter(fact__in=facts).count()
    counts = rows.delete()[1]
    done["heads of the judge"] += unlearn(space.workspace_id)
    done["memories"] += counts.get("memories.Memory", 0)
    done["facts"] += counts.get("memories.Fact", 0)
    done["cases"] += _close_cases(cases)
    return done + forget_traces(space, [*gone, *facts, *cases])


def _blank_cases(about: Q) -> Ids:
    """Delete the notes that people made on these cases; return the cases' ids."""
    ids = set(Case.objects.filter(about).values_list("pk", flat=True))
    Case.objects.filter(pk__in=ids).exclude(note="").update(note="")
    return ids


def _close_cases(ids: Ids) -> int:
    """Delete cases of which nothing is left; close cases in which nothing waits any more."""
    cases = Case.objects.filter(pk__in=ids)
    gone = cases.filter(items=None).delete()[1].get("memories.Case", 0)
    resolve.settle(ids, "erasure")
    return gone


def remove_documents(space: WorkspaceIndex, ids: Ids) -> TALLY:
    """Documents with all that they ever said, what was read out of it, and their files where no
    other came as the same."""
    rows = Document.objects.filter(pk__in=ids)
    passages = passages_of_documents(rows)
    revisions = Revision.objects.filter(document__in=ids)
    named = Q(documents__in=ids) | Q(revisions__document__in=ids)
    # The item's digest is kept, so that its source does not bring it again.
    ConnectionItem.objects.filter(document__in=ids).update(external_id="", version="", marks={})
    ConnectionItem.objects.bulk_create(  # of a connection that went before
        ConnectionItem(workspace_id=space.workspace_id, digest=origin, listing=0)
        for origin in rows.exclude(origin="").values_list("origin", flat=True)
    )
    digests = set(Blob.objects.filter(named).values_list("digest", flat=True))
    sessions = set(revisions.exclude(session=None).values_list("session", flat=True))
    read = Q(citations__revision__in=revisions) | Q(session__in=sessions, citations=None)
    done = remove_facts(space, set(Fact.objects.filter(read).values_list("pk", flat=True)))
    done += unindex(space, Layer.CHUNKS, passages)
    done += forget_traces(space, list(sessions))
    done["sessions"] += MemorySession.objects.filter(pk__in=sessions).delete()[1].get("memories.MemorySession", 0)
    done["revisions"] += revisions.count()
    done["documents"] += rows.delete()[1].get("memories.Document", 0)
    done["files"] += blobs.drop_unused(space.workspace_id, digests)
    return done + forget_traces(space, ids)


def remove_features(space: WorkspaceIndex, ids: Ids) -> TALLY:
    """Remove features with their history. What else they stood on is taken in again."""
    if not ids:
        return Counter()
    rows = Feature.objects.filter(pk__in=ids)
    others = rows.values_list("citations__episode", flat=True).distinct()
    unmark(space.workspace_id, {one for one in others if one})
    done = unindex(space, Layer.FEATURES, ids)
    changes = list(FeatureChange.objects.filter(feature__in=ids).values_list("pk", flat=True))
    counts = rows.delete()[1]
    done["features"] += counts.get("memories.Feature", 0)
    done["feature changes"] += counts.get("memories.FeatureChange", 0)
    done["feature citations"] += counts.get("memories.FeatureCitation", 0)
    return done + forget_traces(space, [*ids, *changes])


def _unsay_features(space: WorkspaceIndex, episodes: Ids) -> TALLY:
    """Remove the features that stand on these words alone; the others keep what other words
    carry."""
    left = follow_sources.redactions(episodes)
    done = remove_features(space, [each.feature.pk for each in left if each.is_gone])
    for each in left:
        if not each.is_gone:
            done += follow_sources.redact(space, each, episodes)
            changes = [change.pk for change in each.fallen]
            done += forget_traces(space, [each.feature.pk, *changes])
    return done


def forget_traces(space: WorkspaceIndex, ids: Ids) -> TALLY:
    """Values in the audit log and kept answers that are about these rows.

    That somebody did something stays in the log; what it was about does not.
    """
    if not ids:
        return Counter()
    lines = AuditEntry.objects.filter(workspace_id=space.workspace_id, target_id__in=ids)
    done = blank(lines)
    done["kept answers"] += masks.answers_with(space.workspace_id, ids).delete()[0]
    return done


def unindex(space: WorkspaceIndex, layer: int, ids: Ids) -> TALLY:
    vectors = vectors_of(layer, ids).count()
    gone = entries.remove(space, layer, ids)
    return Counter({"index entries": gone, "vectors": vectors})


def blank(lines: QuerySet[AuditEntry]) -> TALLY:
    return Counter({"audit values": masks.blank(lines)})


def _clean_examples(space: WorkspaceIndex, texts: Sequence[str]) -> None:
    """Examples of the workspace's patterns, slots and changes that were taken from these texts."""
    for model in (WorkspacePattern, WorkspaceSlot, WorkspaceChange):
        for row in model._default_manager.filter(workspace_id=space.workspace_id):
            examples = _not_in(texts, row.examples)
            counter = _not_in(texts, row.counter_examples)
            if (examples, counter) != (row.examples, row.counter_examples):
                same = model._default_manager.filter(pk=row.pk)
                same.update(examples=examples, counter_examples=counter)


def _not_in(texts: Sequence[str], examples: Sequence[str]) -> list[str]:
    """The examples that neither stand in one of the texts nor quote one."""
    said = [" ".join(text.split()) for text in texts]
    quotable = [text for text in said if len(text) >= QUOTABLE]
    plain = {one: " ".join(one.split()) for one in examples}
    return [
        one
        for one in examples
        if not any(plain[one] in text for text in said) and not any(text in plain[one] for text in quotable)
    ]


def _close_sessions(space: WorkspaceIndex, sessions: Iterable[uuid.UUID], gone: set[uuid.UUID]) -> TALLY:
    """A session whose episodes are gone goes; another keeps its numbers and loses its words."""
    done: TALLY = Counter()
    for session in MemorySession.objects.filter(pk__in=sessions):
        left = [one for one in session.episode_ids if one not in gone]
        rows = MemorySession.objects.filter(pk=session.pk)
        if left:
            rows.update(episode_ids=left, reason="", error="", steps=[], instructions={})
            done += blank(AuditEntry.objects.filter(target_id=session.pk))
        else:
            done += forget_traces(space, [session.pk])
            rows.delete()
            done["sessions"] += 1
    return done
