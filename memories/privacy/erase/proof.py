"""Proof that it is gone: searching for what was said, and reading every table that could hold it.

Every copy of content has a name here: which columns hold what was said, or was made of it. A test
walks all models: a column of text, JSON, a list or bytes that is named neither here nor among those
that hold none fails it."""

import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from django.db.models import CharField, F, Q, TextField
from django.db.models.functions import Cast

from memories.documents import blobs
from memories.language.english import clauses
from memories.models import (
    Case,
    Chunk,
    Citation,
    ConnectionItem,
    Conversation,
    ConversationSummary,
    Document,
    DocumentPart,
    DueVector,
    Entry,
    Episode,
    Fact,
    Feature,
    FeatureChange,
    FeatureCitation,
    FeatureRefusal,
    FeatureSet,
    GoldenQuestion,
    IdempotentAnswer,
    LegalHold,
    MaskedSpan,
    Memory,
    MemorySession,
    Miss,
    Rejection,
    Revision,
    Speaker,
    Supersession,
    TalkSummary,
    WorkspaceChange,
    WorkspaceIndex,
    WorkspacePattern,
    WorkspaceSlot,
)
from memories.privacy.erase.erasure_plan import ErasureTarget
from memories.reading.guard.masked_text import BLOCK
from memories.search import SearchRequest, search
from memories.search.request import LAYERS
from workspaces.models import AuditEntry, Subject
from workspaces.scope import worker_scope

# Columns that go, are blanked or are made again when their origin is erased.
CONTENT: dict[Any, tuple[str, ...]] = {
    Episode: ("content", "payload", "metadata", "author", "external_id"),
    Conversation: ("external_id", "title", "metadata"),
    MemorySession: ("metadata", "instructions", "reason", "error", "steps", "counts", "timings"),
    Fact: ("statement", "entities", "quarantine_reason"),
    Citation: ("quote",),
    MaskedSpan: ("words",),
    Memory: ("content", "entities", "metadata", "forget_reason", "fingerprint", "slots"),
    Supersession: ("note",),
    Case: ("note",),
    Rejection: ("content", "reason", "fingerprint"),
    Miss: ("text", "statements", "shape", "note"),
    Feature: (
        "value",
        "content",
        "feature",
        "category",
        "tag",
        "about",
        "slot",
        "metadata",
        "fingerprint",
    ),
    FeatureChange: ("before", "after", "reason"),
    FeatureCitation: ("quote",),
    FeatureRefusal: ("command", "reason"),
    FeatureSet: ("key", "metadata", "error", "embedding_error"),
    ConversationSummary: ("lines", "error"),
    IdempotentAnswer: ("body", "request_digest"),
    WorkspacePattern: ("examples", "counter_examples"),
    WorkspaceSlot: ("examples", "counter_examples"),
    WorkspaceChange: ("examples", "counter_examples"),
    AuditEntry: ("before", "after", "reason"),
    Subject: ("external_id", "name", "metadata"),
    Entry: ("author", "terms", "trigrams", "weights"),
    Speaker: ("author",),
    DueVector: ("error",),
    Document: (
        "title",
        "given_title",
        "summary",
        "metadata",
        "url",
        "filename",
        "custom_id",
        "reason",
        "steps",
        "warnings",
    ),
    ConnectionItem: ("external_id",),
    Revision: ("text", "title", "author"),
    DocumentPart: ("label",),
    Chunk: ("heading",),
    LegalHold: ("reason",),
    GoldenQuestion: ("query", "answer"),
    TalkSummary: ("name", "lines"),
}
# Columns that are keys, numbers or vectors: they go with their row and cannot be read for words.
UNREADABLE = {
    "fingerprint",
    "slots",
    "request_digest",
    "terms",
    "trigrams",
    "weights",
    "embedding",
}
FREE = {
    "PostedJob": None,  # the name of a job
    "IrrevocableAct": None,  # ids and places, and certificates
    # ids, names of rules and actors, states, counts
    "MemorySession": {
        "workflow",
        "requested_by",
        "episode_ids",
        "created_ids",
        "updated_ids",
        "reinforced_ids",
    },
    "Episode": {"role", "workflow"},
    "Conversation": {"workflow"},
    "Memory": {"workflow"},
    "Fact": {"rule"},
    "MemoryPeriod": {"ended_by"},
    "MaskedSpan": {"place", "reason"},
    "Ground": {"words"},
    "Touch": {"model", "decided_by"},
    "Intent": {"memory_ids", "reason", "decided_by"},
    "Supersession": {"model", "rule", "method", "decided_by"},
    "Case": {"attribute", "decided_by", "steps"},
    "CaseItem": {"why"},
    "Rejection": {"rejected_by"},
    "FeatureSet": {"role", "config", "embedder"},
    "FeatureChange": {"by", "rule"},
    "FeatureRefusal": {"rule", "episode_ids"},
    "Subject": {"time_zone"},
    "SubjectMerge": {"merged_by"},
    "MergedRows": {"kind", "ids"},
    "ConversationSummary": {"rule"},
    "TalkSummary": {"rule", "stands_on"},
    "IdempotentAnswer": {"asker", "key"},
    "WorkspacePattern": {"name", "regex", "template"},
    "WorkspaceSlot": {"name", "regex"},
    "WorkspaceChange": {"name", "verbs", "ended"},
    "AuditEntry": {"actor", "action", "target_kind"},
    "AuditMark": {"values_hash", "mark"},
    "Entry": {"role"},
    # A vector goes with its entry.
    "Vector": {"embedding"},
    "Erasure": {"requested_by", "plan", "removed", "proof", "probes", "error"},
    "Space": {"container_tag", "name", "metadata"},  # the caller's own shelves, as agents are
    "Document": {"source", "error_code", "requested_by", "origin"},
    # Sources of a subject go with it; others are of the workspace.
    "Connection": {
        "name",
        "options",
        "credentials",
        "container_tags",
        "cursor",
        "error_code",
        "error",
        "requested_by",
    },
    "ConnectionItem": {"digest", "version", "marks"},
    "SyncRun": {"counts", "answer", "error_code", "error", "requested_by"},
    "Revision": {"text_sha256", "media_type", "extractor", "language"},
    "Blob": {"digest", "media_type"},
    "LegalHold": {"placed_by", "lifted_by"},
    "ChangeEvent": {"state"},
    "LongJob": {"unit", "requested_by", "result", "error", "cancelled_by"},
    "Webhook": {"url", "events", "name", "nonce", "previous_nonce", "created_by"},
    "WebhookDelivery": {"kind", "item_state", "error"},
    "GoldenQuestion": {"layers", "memory_ids", "episode_ids", "created_by"},
    "GoldenRun": {"changed", "requested_by", "results"},
    # Its weights go with what it learned from; figures are numbers.
    "JudgeHead": {"base", "version", "weights", "touches", "figures", "fell", "requested_by"},
    "JudgeRehearsal": {"requested_by", "model", "scores"},
    # Rows that wait until a workspace is complete; `--abandon` or its loading deletes them.
    "WorkspaceImport": None,
    "ImportedRow": None,
    # of the server and its people, not of what is remembered
    "Figure": None,
    "EvaluationRun": None,
    "Team": None,
    "EmbeddingModel": None,
    "ModelUse": None,
    "ModelPrice": None,
    "SearchUse": None,
    "MemoryUse": None,
    "ExtractorUse": None,
    "LargeLayer": None,
    "Breaker": None,
    "User": None,
    "Workspace": None,
    "Agent": None,
    "ApiKey": None,
    "IndexRepair": None,
    "WorkerBeat": None,
    "Membership": None,
    "Invitation": None,
    "OAuthClient": None,
    "OAuthGrant": None,
    "ServerKey": None,
    "WorkspaceRemoval": None,
    "LoginPause": None,
    "LoginAttempt": None,
    "SecondFactor": None,
    "RecoveryCode": None,
    "AuditSeal": None,
}


RANKINGS = ("hybrid", "keyword")
MOST = 12  # texts that are looked for
LOOKED_AT = 200  # of the newest rows
READ = 20_000  # characters of a document
SHORTEST = 16  # characters
# Characters that JSON escapes could not be found in it; blocks are nobody's words.
_plain = re.compile(rf"[^\"\\\n\r\t{BLOCK}]+")


def probes(target: ErasureTarget) -> tuple[list[str], int]:
    """Words that nothing else of the workspace says, and how many others say too."""
    said = list(target.episodes.order_by("-pk").values_list("content", flat=True)[:LOOKED_AT])
    believed = list(target.memories.order_by("-pk").values_list("content", flat=True)[:LOOKED_AT])
    own = Q(episode__in=target.episodes.values("pk")) | Q(memory__in=target.memories.values("pk"))
    own |= Q(revision__document__in=target.documents.values("pk"))
    own |= Q(document__in=target.documents.values("pk"))
    told = Revision.objects.filter(document__in=target.documents.values("pk")).order_by("-pk")
    written = [text[:READ] for text in told.values_list("text", flat=True)[:LOOKED_AT]]
    kept = MaskedSpan.objects.filter(own).order_by("-pk").values_list("words", flat=True)
    found: set[str] = set()
    for text in [*said, *believed, *written, *kept[:LOOKED_AT]]:
        for start, end in clauses.sentences(text):
            piece = max(_plain.findall(text[start:end]), key=len, default="").strip()
            found |= {piece[:200]} if len(piece) >= SHORTEST else set()
    longest = sorted(found, key=lambda text: (-len(text), text))
    chosen: list[str] = []
    shared = 0
    for text in longest:
        if len(chosen) == MOST:
            break
        if _is_shared(target, text):
            shared += 1
        else:
            chosen.append(text)
    return chosen, shared


def _is_shared(target: ErasureTarget, text: str) -> bool:
    others = Episode.objects.filter(workspace_id=target.workspace_id, content__contains=text)
    if others.exclude(pk__in=target.episodes.values("pk")).exists():
        return True
    masks = MaskedSpan.objects.filter(workspace_id=target.workspace_id, words__contains=text)
    if (
        masks.exclude(episode__in=target.episodes.values("pk"))
        .exclude(memory__in=target.memories.values("pk"))
        .exclude(revision__document__in=target.documents.values("pk"))
        .exclude(document__in=target.documents.values("pk"))
        .exists()
    ):
        return True
    texts = Revision.objects.filter(workspace_id=target.workspace_id, text__contains=text)
    if texts.exclude(document__in=target.documents.values("pk")).exists():
        return True
    own = Memory.objects.filter(workspace_id=target.workspace_id, content__contains=text)
    rest = own.exclude(facts__in=target.facts).exclude(pk__in=target.memories.values("pk"))
    return rest.exists()


def prove(target: ErasureTarget, texts: Sequence[str], digests: Sequence[str] = ()) -> dict[str, Any]:
    """Look for these texts in all tables and searches. Return the counts; `clean`: nothing was
    found. `digests` are those of files that went."""
    tables = {name: n for name, n in _counted(target, texts) if n}
    hits = 0  # results that say it, in all layers and rankings, by nobody's restrictions
    for text, ranking in product(texts, RANKINGS):
        wish = SearchRequest(text, limit=20, ranking=ranking, layers=tuple(LAYERS))
        for hit in search(worker_scope(target.workspace_id), wish).hits:
            row = hit.memory or hit.episode or hit.chunk or hit.summary
            hits += row is not None and text in row.content
    left = target.episodes.count() + target.memories.count() + target.documents.count()
    files = blobs.left_of(target.workspace_id, digests)
    return {
        "texts": len(texts),
        "searches": len(texts) * len(RANKINGS),
        "hits": hits,
        "columns": sum(1 for _ in _columns()),
        "found": tables,
        "rowsLeft": left,
        "filesLeft": files,
        "clean": not (tables or hits or left or files),
    }


def _columns() -> Iterator[tuple[Any, str]]:
    for model, names in CONTENT.items():
        for name in names:
            if name not in UNREADABLE:
                yield model, name


def _counted(target: ErasureTarget, texts: Sequence[str]) -> Iterator[tuple[str, int]]:
    number = WorkspaceIndex.objects.filter(workspace=target.workspace_id).values("number")
    for model, name in _columns():
        own = Q(workspace_id=target.workspace_id)
        if model in (Entry, Speaker, DueVector):
            own = Q(workspace__in=number)
        column = Cast(F(name), TextField()) if name else CharField()
        says = Q(pk__in=[])
        for text in texts:
            says |= Q(_text__contains=text)
        rows = model.objects.filter(own).annotate(_text=column)
        yield f"{model._meta.db_table}.{name}", rows.filter(says).count()
