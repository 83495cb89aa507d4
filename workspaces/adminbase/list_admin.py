"""The base of every list: what it shows when it is empty, its columns, and what is looked up once
for all its rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from django.http import HttpRequest
from django.urls import URLPattern, path
from unfold import decorators
from unfold.admin import ModelAdmin
from unfold.views import ChangeList

from workspaces.adminbase.access import access_of
from workspaces.adminbase.admin_page import AdminPage
from workspaces.adminbase.counting import BoundedPaginator

Column = TypeVar("Column", bound=Callable[..., Any])


def display(
    *, description: str, ordering: str | None = None, label: bool | dict[str, str] | None = None
) -> Callable[[Column], Column]:
    """Unfold's decorator, typed; `label` makes a badge, in the colour that it gives a value."""
    decorated = decorators.display(description=description, ordering=ordering, label=label)
    return cast("Callable[[Column], Column]", decorated)


@dataclass(frozen=True, slots=True)
class Empty:
    """What a page says where there is nothing yet, and how that changes."""

    title: str
    text: str = ""
    command: str = ""


class PreparedList(ChangeList):
    """`model_admin.prepare(request, rows)` may hang things on the rows of the page."""

    result_list: Any

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        rows: list[Any] = list(self.result_list)
        self.model_admin.prepare(request, rows)
        self.result_list = rows
        self.full_result_count = self.result_count  # else the heading counts once more
        self.empty = None if rows else self.model_admin.empty(request)


class ListAdmin(ModelAdmin):
    """Lists that are counted to a limit, with `pages` of our own beside them."""

    pages: tuple[type[AdminPage], ...] = ()
    paginator: type = BoundedPaginator
    show_full_result_count = False
    actions: Any = None

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        own = [path(p.path, view(p.as_view(model_admin=self)), name=p.name) for p in self.pages]
        return [*own, *super().get_urls()]

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[PreparedList]:
        return PreparedList

    def prepare(self, request: HttpRequest, rows: list[Any]) -> None:
        """Hang on the rows of a list page what its columns need, in one query for all."""

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(f"No {self.opts.verbose_name_plural} yet")


class ServerAdmin(ListAdmin):
    """What is of the server and of no workspace: for superusers, and to be read."""

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return access_of(request).everywhere

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    has_module_permission = has_view_permission
    has_change_permission = has_delete_permission = has_add_permission
