"""Rejections: what people said must not be learned again."""

from typing import Any

from django.db import transaction
from django.http import HttpRequest

from memories.admin.memory_rows import MemoryRowAdmin, text_column
from memories.admin.state_filters import PickFilter
from memories.models import Rejection
from workspaces.adminbase.access import actor_of
from workspaces.adminbase.actors import names_of
from workspaces.adminbase.list_admin import Empty, display
from workspaces.adminbase.row_admin import Verb
from workspaces.models import AuditEntry


class RejectionAdmin(MemoryRowAdmin):
    searched = "content"
    list_display = ("text", "subject", "reason", "by", "created_at")
    list_select_related = ("workspace", "subject")
    list_filter = (("subject", PickFilter),)
    search_fields = ("content",)
    search_help_text = "Words of the claim (newest 20,000)"
    page_template = "admin/memories/rejection.html"
    verbs = (
        Verb(
            "allow", "Allow again", "undo", "primary",
            "When somebody says it again, it is learned again.", bulk=True,
        ),
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).select_related("workspace", "subject")

    @display(description="never learned again")
    def text(self, rejection: Rejection) -> str:
        return text_column(rejection.content)

    @display(description="by")
    def by(self, rejection: Any) -> str:
        return getattr(rejection, "by_name", rejection.rejected_by)

    def prepare(self, request: HttpRequest, rows: list[Any]) -> None:
        names = names_of(row.rejected_by for row in rows)
        for row in rows:
            row.by_name = names.get(row.rejected_by, row.rejected_by)

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        return {"by": names_of([row.rejected_by]).get(row.rejected_by, row.rejected_by)}

    @transaction.atomic
    def do_allow(self, request: HttpRequest, row: Rejection, values: dict[str, Any]) -> str:
        AuditEntry.line(
            row.workspace_id,
            actor_of(request.user),
            "allow_again",
            row,
            subject_id=row.subject_id,
            before={"content": row.content, "reason": row.reason},
        ).save()
        row.delete()
        return "It may be learned again."

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(
            "Nothing was rejected yet",
            "Forget a memory as wrong, and what it says is not learned again.",
        )
