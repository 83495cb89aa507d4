"""Pages on long work and backups."""

import shlex
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext as text
from django.utils.translation import gettext_lazy as _
from django_q.models import OrmQ
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from memories.admin.memory_rows import MemoryRowAdmin, one_line, text_column
from memories.admin.server.queue_admin import RepairAdmin, TaskAdmin, WorkerAdmin
from memories.models import IndexRepair, LongJob, WorkerBeat
from memories.queue import long_jobs
from workspaces.adminbase.access import Access, access_of
from workspaces.adminbase.list_admin import AdminPage, Empty, ServerAdmin, display
from workspaces.adminbase.row_admin import Verb
from workspaces.adminbase.scoped_admin import DayFilter
from workspaces.adminbase.target_names import name_of
from workspaces.auth import as_uuid
from workspaces.models import Capability

SERVER_ADMINS: dict[Any, type[ServerAdmin]] = {
    OrmQ: TaskAdmin,
    IndexRepair: RepairAdmin,
    WorkerBeat: WorkerAdmin,
}

# Long work in the browser: its progress, a way to stop it where that is safe, and its result; and
# backups.

MOST_SHOWN = 50
LATELY = timedelta(seconds=20)  # how long an open page shows that a job has ended
BACKUP_EACH = timedelta(days=2)  # an older newest backup is reported, here and by the alert
EXAMPLE = "/srv/backups"  # a folder to show as long as there is no backup
MINUTE, HOUR = 60, 3600  # seconds
CANCEL = Verb(
    "cancel",
    _("Stop"),
    "stop_circle",
    "danger",
    _("It ends after what it is at just now. What is done until then stays."),
    capability=Capability.ADMIN,
)


def jobs_of(access: Access) -> QuerySet[LongJob]:
    """Return the jobs that a person may know of. Erasures, like their certificates, are for
    administrators."""
    rows = LongJob.objects.all()
    others = access.limit(rows.exclude(kind=LongJob.Kind.ERASURE), "workspace")
    return others | access.limit(rows.filter(kind=LongJob.Kind.ERASURE), "workspace", Capability.ADMIN)


def pace(job: LongJob) -> str:
    """Return a job's progress, speed and time left: `120 of 300 rows, 4 a second, 45 s left`; of a
    finished job, the number of rows and the time taken."""
    total = job.total if job.total != job.done else None
    far = f"{job.done:,}" if total is None else f"{job.done:,} {text('of')} {total:,}"
    parts = [f"{far} {text(job.unit)}"]
    if job.is_live and job.rate:
        number, span = (job.rate, text("a second"))
        if job.rate < 1:
            number, span = (job.rate * MINUTE, text("a minute"))
        parts.append(f"{number:,.0f} {span}")
        if job.seconds_left is not None:
            parts.append(text("%(time)s left") % {"time": span_text(job.seconds_left)})
    elif job.finished_at and job.seconds >= 1:
        parts.append(text("in %(time)s") % {"time": span_text(job.seconds)})
    return ", ".join(parts)


def span_text(seconds: float) -> str:
    if seconds < 2 * MINUTE:
        return f"{seconds:.0f} s"
    if seconds < 2 * HOUR:
        return f"{seconds / MINUTE:.0f} min"
    return f"{seconds / HOUR:.0f} h"


def state_text(job: LongJob) -> str:
    if job.state != LongJob.State.RUNNING:
        return str(job.get_state_display())
    if not job.is_live:
        return text("silent")
    return text("ending") if job.cancelled_by else text("running")


class RunningPage(AdminPage):
    """The person's jobs that run now or have just ended, as JSON for the corner of every page. A
    page names the jobs that it shows as running (`shown`): it learns of their end, however late it
    asks."""

    path, name, title = "running/", "memories_running", "Work"
    model_admin: "LongJobAdmin"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        ended = Q(finished_at__gt=timezone.now() - LATELY)
        live = Q(pk__in=LongJob.objects.running().values("pk"))
        ids = map(as_uuid, request.GET.getlist("shown")[:MOST_SHOWN])
        shown = Q(pk__in=[row_id for row_id in ids if row_id])
        rows = jobs_of(self.access).filter(live | ended | shown).select_related("workspace")
        jobs = [
            {
                "id": str(job.pk),
                "title": f"{job} ({job.workspace})" if self.names_workspace(job) else str(job),
                "running": job.is_live,
                "state": state_text(job),
                "share": job.share,
                "note": pace(job) if job.is_live else one_line(job.error or pace(job)),
                "url": self.model_admin.page_of(job),
            }
            for job in rows.order_by("-id")[: 2 * MOST_SHOWN]
        ]
        return JsonResponse({"jobs": jobs}, headers={"Cache-Control": "no-store"})

    def names_workspace(self, job: LongJob) -> bool:
        return self.access.is_of_many and job.workspace is not None


class BackupsPage(AdminPage):
    """The backups of the server, for its administrators. Taking one needs the owner of the tables,
    whom no process that serves may be: so it is a command, which this page shows."""

    path, name, title = "backups/", "memories_backups", "Backups"
    template_name = "admin/memories/backups.html"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not self.access.everywhere:
            raise PermissionDenied
        rows = LongJob.objects.filter(kind=LongJob.Kind.BACKUP).order_by("-id")
        newest = rows.filter(state=LongJob.State.DONE).first()
        jobs = [
            {
                "row": job,
                "state": state_text(job),
                "folder": "/".join(job.result[k] for k in ("in", "folder") if k in job.result),
                "error": job.error,
                "bytes": filesizeformat(job.result["bytes"]) if "bytes" in job.result else "",
                "pace": pace(job),
                "url": reverse("admin:memories_longjob_change", args=[job.pk]),
            }
            for job in rows[:MOST_SHOWN]
        ]
        is_old = newest is None or timezone.now() - newest.created_at > BACKUP_EACH
        return self.render_to_response(
            self.get_context_data(
                jobs=jobs,
                newest=newest,
                is_old=is_old,
                data=settings.DATA_DIR,
                command=shlex.join(settings.COMMAND),
                where=newest.result.get("in", EXAMPLE) if newest else EXAMPLE,
                folder=newest.result.get("folder", "memory-…") if newest else "memory-…",
                days=BACKUP_EACH.days,
            )
        )


@admin.register(LongJob)
class LongJobAdmin(MemoryRowAdmin):
    write_capability = Capability.ADMIN
    pages = (RunningPage, BackupsPage)
    list_display = ("work", "state_label", "far", "by", "created_at", "outcome")
    list_select_related = ("workspace",)
    list_filter = (("state", ChoicesDropdownFilter), ("kind", ChoicesDropdownFilter), DayFilter)
    actor_field = "requested_by"
    page_template = "admin/memories/long_job.html"
    verbs = (CANCEL,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return jobs_of(access_of(request)).order_by(*self.ordering)

    @display(description=_("work"))
    def work(self, job: LongJob) -> str:
        return str(job)

    @display(
        description=_("state"),
        label={"done": "success", "running": "info", "failed": "danger", "silent": "warning", "ending": "warning"},
    )
    def state_label(self, job: LongJob) -> str:
        return state_text(job)

    @display(description=_("how far"))
    def far(self, job: LongJob) -> str:
        if not job.is_live:
            return pace(job)
        value = "" if job.share is None else f"{job.share}"
        return format_html(
            '<span class="desk-work-far" data-job="{}"><progress max="100" aria-label="{}"{}>'
            '</progress> <span class="desk-small" data-note>{}</span></span>',
            job.pk,
            str(job),
            format_html(' value="{}"', value) if value else "",
            pace(job),
        )

    @display(description=_("what came of it"))
    def outcome(self, job: LongJob) -> str:
        return text_column(job.error or counts_text(job) or "-", 60)

    def offers(self, row: Any, verb: Verb) -> bool:
        return row.is_live and row.may_be_cancelled

    def do_cancel(self, request: HttpRequest, row: Model, values: dict[str, Any]) -> str:
        assert isinstance(row, LongJob)
        long_jobs.cancel(self.scope(request, row), row)
        return text("It ends after what it is at just now.")

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        return {
            "by": name_of(row.requested_by),
            "cancelled_by": name_of(row.cancelled_by) if row.cancelled_by else "",
            "state": state_text(row),
            "pace": pace(row),
            "took": span_text(row.seconds),
        }

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(
            text("Nothing long was done yet"),
            text(
                "Imports, exports, backups, new vectors, repairs and erasures are shown here while"
                " they run, and 90 days longer."
            ),
        )


def counts_text(job: LongJob) -> str:
    """Return the counts in words: `2 known, 48 stored`."""
    return ", ".join(
        f"{number:,} {name}" if isinstance(number, int) else f"{name}: {number}"
        for name, number in job.result.items()
        if number
    )
