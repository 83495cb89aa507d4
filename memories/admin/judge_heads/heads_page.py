"""The page of what the judge learned here: the examples, the comparison, and what to do with it."""

import uuid
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext, gettext_lazy

from memories import teaching
from memories.errors import Conflict, Invalid, NotFound
from memories.models import DOUBTS, SAMPLED, JudgeHead
from memories.settings import workspace_settings
from memories.settings.workspace_settings import settings_of
from memories.teaching.compared_figures import ComparedFigure, compared_figures
from memories.teaching.decided_pairs import decided_touches
from memories.teaching.learn_head import FEWEST, FEWEST_OF_KIND
from workspaces.adminbase.one_workspace_page import OneWorkspacePage
from workspaces.auth import as_uuid
from workspaces.models import Capability, Workspace
from workspaces.scope import Scope

STATES = {
    JudgeHead.State.WAITING: gettext_lazy("being learned"),
    JudgeHead.State.READY: gettext_lazy("may take over"),
    JudgeHead.State.REFUSED: gettext_lazy("worse: it cannot take over"),
    JudgeHead.State.FAILED: gettext_lazy("could not be learned"),
    JudgeHead.State.SERVING: gettext_lazy("serves"),
    JudgeHead.State.ENDED: gettext_lazy("served before"),
    JudgeHead.State.ERASED: gettext_lazy("erased with what it learned from"),
}
Line = tuple[JudgeHead, Any, list[ComparedFigure], bool]


class HeadsPage(OneWorkspacePage):
    """A page of counts and figures, without words that anybody said, for all who read the workspace; its admins let a
    head take over, go back and switch the learning off."""

    path, name, title = "learned/", "memories_learned", "What the judge learned"
    template_name = "admin/memories/judge_heads.html"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        workspace = self.workspace
        scope = self.access.scope(workspace.pk)
        may_admin = self.access.may(Capability.ADMIN, workspace.pk)
        if self.is_sent:
            if not may_admin:
                raise PermissionDenied
            try:
                messages.success(request, self.act(scope, workspace))
            except (Conflict, Invalid, NotFound) as error:
                messages.error(request, str(error))
            return self.back(workspace)
        rows = decided_touches(workspace.pk)
        heads = list(JudgeHead.objects.visible_to(scope).defer("weights"))
        return self.render_to_response(
            self.get_context_data(
                **self.about(workspace),
                decided=rows.count(),
                over=rows.filter(relation__in=DOUBTS).count(),
                sampled=rows.filter(draw__lt=SAMPLED).count(),
                people=rows.order_by().values("decided_by").distinct().count(),
                fewest=FEWEST,
                fewest_of_kind=FEWEST_OF_KIND,
                lines=[self.line_of(row) for row in heads],
                serving=next((row for row in heads if row.state == JudgeHead.State.SERVING), None),
                waits=any(row.state == JudgeHead.State.WAITING for row in heads),
                learns=settings_of(workspace).judge.learn,
                may_admin=may_admin,
            )
        )

    @staticmethod
    def line_of(row: JudgeHead) -> Line:
        """Return a head with its state in words, its figures, and whether it may take over."""
        state = JudgeHead.State(row.state)
        may_serve = state in (JudgeHead.State.READY, JudgeHead.State.ENDED) and not row.fell and bool(row.version)
        return row, STATES[state], compared_figures(row.figures), may_serve

    def act(self, scope: Scope, workspace: Workspace) -> str:
        """Carry out a form; return what was done. Raises Conflict, Invalid, NotFound."""
        sent = self.request.POST
        if "take" in sent:
            made = teaching.take_over(scope, as_uuid(sent["take"]) or uuid.UUID(int=0))
            return gettext("%(name)s serves from now on.") % {"name": made.name}
        if "back" in sent:
            before = teaching.go_back(scope)
            if before is None:
                return gettext("The judge is as it came.")
            return gettext("%(name)s serves again.") % {"name": before.name}
        if "learns" in sent:
            learns = sent["learns"] == "on"
            own = {**(workspace.settings.get("judge") or {}), "learn": learns}
            workspace_settings.change_workspace(scope, changes={"judge": own})
            return (
                gettext("The judge learns here.") if learns else gettext("The judge is as it came, and learns no more.")
            )
        teaching.ask_to_learn(scope)
        return gettext("A head is being learned: look again in a minute.")
