"""A page of our own beside a model's list."""

from typing import TYPE_CHECKING, Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.views.generic import TemplateView
from unfold.views import UnfoldModelAdminViewMixin

from workspaces.adminbase.access import Access, access_of

if TYPE_CHECKING:
    from workspaces.adminbase.list_admin import ListAdmin


class AdminPage(UnfoldModelAdminViewMixin, TemplateView):
    """Unfold's page at `path` below the list of the admin that has it among its `pages`.

    Whoever may come into the admin may open it: it shows what `access` allows, or asks for more.
    """

    path: ClassVar[str]
    name: ClassVar[str]
    title: str
    model_admin: "ListAdmin"

    def has_permission(self) -> bool:
        return True

    @property
    def access(self) -> Access:
        return access_of(self.request)

    @property
    def is_sent(self) -> bool:
        return self.request.method == "POST"

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """A form that is sent is shown with what came of it."""
        return self.get(request, *args, **kwargs)
