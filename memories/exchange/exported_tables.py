"""The tables that an export of a workspace holds, and those that it does not, with the reason."""

from dataclasses import dataclass
from functools import cache

from django.apps import apps

# Referenced before those that refer to it.
EXPORTED = (
    "workspaces.Workspace",
    "workspaces.Team",
    "workspaces.Agent",
    "workspaces.Subject",
    "memories.WorkspacePattern",
    "memories.WorkspaceSlot",
    "memories.WorkspaceChange",
    "memories.Conversation",
    "memories.MemorySession",
    "memories.Episode",
    "memories.Space",
    "memories.Document",
    "memories.DocumentSpace",
    "memories.Revision",
    "memories.DocumentPart",
    "memories.Chunk",
    "memories.Passage",
    "memories.Memory",
    "memories.MemoryPeriod",
    "memories.Ground",
    "memories.Rejection",
    "memories.Fact",
    "memories.Citation",
    "memories.Touch",
    "memories.Miss",
    "memories.Case",
    "memories.Supersession",
    "memories.CaseItem",
    "memories.Intent",
    "memories.MaskedSpan",
    "memories.ConversationSummary",
    "memories.FeatureSet",
    "memories.SetDiscovery",
    "memories.Feature",
    "memories.FeatureChange",
    "memories.FeatureCitation",
    "memories.FeatureMark",
    "memories.FeatureRefusal",
    "memories.SubjectMerge",
    "memories.MergedRows",
    "memories.ExtractorUse",
    "memories.Erasure",
    "memories.LegalHold",
    "memories.GoldenQuestion",
    "memories.GoldenRun",
    "memories.ModelUse",
    "workspaces.AuditEntry",
    "workspaces.AuditMark",
)

OF_THE_INDEX = "derived: made anew from what is exported, by the rules and models of the server"
FILES_STAY = "files stay behind, what was read of them goes: a backup has both"
SOURCES_STAY = "a source is opened by credentials that this server sealed: connect it anew there"
OF_THE_SERVER = "the server's own, and of no workspace"
NOT_EXPORTED = {
    "memories.WorkspaceIndex": OF_THE_INDEX,
    "memories.Entry": OF_THE_INDEX,
    "memories.Vector": OF_THE_INDEX,
    "memories.DueVector": OF_THE_INDEX,
    "memories.TalkSummary": "derived: made anew of what is exported",
    "memories.DueSummary": "what waits to be made; all is due where it comes to",
    "memories.Speaker": OF_THE_INDEX,
    "memories.CommonTerm": OF_THE_INDEX,
    "memories.LargeLayer": OF_THE_INDEX,
    "memories.IndexRepair": OF_THE_INDEX,
    "memories.JudgeRehearsal": "what the judge of this server makes of a week",
    "memories.EmbeddingModel": OF_THE_SERVER,
    "memories.EvaluationRun": OF_THE_SERVER,
    "memories.SearchUse": "counts of what this server did",
    "memories.MemoryUse": "counts of what this server did",
    "memories.ModelPrice": OF_THE_SERVER,
    "memories.Blob": FILES_STAY,
    "memories.Connection": SOURCES_STAY,
    "memories.ConnectionItem": SOURCES_STAY,
    "memories.SyncRun": SOURCES_STAY,
    "memories.Breaker": OF_THE_SERVER,
    "memories.PostedJob": OF_THE_SERVER,
    "memories.IrrevocableAct": "what this server did, signed with its key",
    "memories.JudgeHead": "learned anew there, from the decisions that are exported",
    "memories.WorkerBeat": OF_THE_SERVER,
    "memories.ChangeEvent": "what changed here within a day, for who listens here",
    "memories.Webhook": "its secret is made of this server's: make others there",
    "memories.WebhookDelivery": "what this server sent",
    "memories.FailureMark": "what members said of failures, and members stay behind",
    "memories.LongJob": "how far work of this server was",
    "memories.Figure": "counts of what this server did",
    "memories.IdempotentAnswer": "answers to repeated requests of this server, kept for a day",
    "memories.WorkspaceImport": "how far an import has come",
    "memories.ImportedRow": "how far an import has come",
    "workspaces.User": OF_THE_SERVER,
    "workspaces.User_groups": OF_THE_SERVER,
    "workspaces.User_user_permissions": OF_THE_SERVER,
    "workspaces.Membership": "people have accounts of each server: invite them there",
    "workspaces.Invitation": "people have accounts of each server: invite them there",
    "workspaces.ApiKey": "a key opens the server that issued it: issue others there",
    "workspaces.ApiKey_subjects": "a key opens the server that issued it: issue others there",
    "workspaces.OAuthClient": OF_THE_SERVER,
    "workspaces.OAuthGrant": "an app holds a key of the server that let it in: let it in there",
    "workspaces.ServerKey": OF_THE_SERVER,
    "workspaces.LoginAttempt": OF_THE_SERVER,
    "workspaces.LoginPause": OF_THE_SERVER,
    "workspaces.RecoveryCode": OF_THE_SERVER,
    "workspaces.SecondFactor": OF_THE_SERVER,
    "workspaces.AuditSeal": "signed with this server's key: that of an import is made anew",
    "workspaces.WorkspaceRemoval": "the certificate of a workspace that is no more",
}

CLAIMED = "a worker's claim: nobody works on it there"
COUNTED_HERE = "numbered by the database that it comes to"
# Columns of exported tables that are not; each is null or the database's own there.
LEFT_OUT = {
    "memories.MemorySession.lease_until": CLAIMED,
    "memories.MemorySession.answer": "kept answers stay behind",
    "memories.Document.blob": FILES_STAY,
    "memories.Document.lease_until": CLAIMED,
    "memories.Revision.blob": FILES_STAY,
    "memories.FeatureSet.lease_until": CLAIMED,
    "memories.FeatureSet.rung_at": CLAIMED,
    "memories.FeatureSet.embedding_lease_until": CLAIMED,
    "memories.FeatureSet.embedder": OF_THE_INDEX,
    "memories.FeatureSet.embedding_model": OF_THE_INDEX,
    "memories.FeatureSet.embedding_due_at": OF_THE_INDEX,
    "memories.ConversationSummary.lease_until": CLAIMED,
    "memories.Erasure.lease_until": CLAIMED,
    "memories.Case.assignee": "a member, and members stay behind",
    "memories.Memory.is_head": "derived: the database makes it of other columns",
    **{
        f"memories.{name}.id": COUNTED_HERE
        for name in (
            "MemoryPeriod",
            "Ground",
            "Citation",
            "Touch",
            "CaseItem",
            "FeatureCitation",
            "ExtractorUse",
            "ModelUse",
            "DocumentPart",
            "DocumentSpace",
        )
    },
}


@dataclass(frozen=True, slots=True)
class ExportedTable:
    """`owner` is the column with the workspace's id; `order` are columns that give the order in
    which rows came."""

    label: str
    name: str
    columns: tuple[str, ...]
    owner: str
    order: str

    @property
    def listed(self) -> str:
        return ", ".join(f'"{column}"' for column in self.columns)


@cache
def exported_tables() -> tuple[ExportedTable, ...]:
    """Return the tables in the order in which they are read and written."""
    tables = []
    for label in EXPORTED:
        meta = apps.get_model(label)._meta
        columns = tuple(str(f.column) for f in meta.concrete_fields if f"{label}.{f.name}" not in LEFT_OUT)
        parts = [*getattr(meta.pk, "columns", ())] or [meta.pk.column]
        owner = "id" if label == "workspaces.Workspace" else "workspace_id"
        tables.append(ExportedTable(label, meta.db_table, columns, owner, ", ".join(parts)))
    return tuple(tables)
