"""The base of every list: what it shows when it is empty, its columns, what is looked up once for
all its rows, how it is filtered, and the views of it that people keep."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, cast

from django.contrib import messages
from django.contrib.admin import AdminSite, ShowFacets
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.paginator import Paginator
from django.db import connection
from django.db.models import Model, QuerySet
from django.db.models.expressions import Combinable
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils.functional import Promise, cached_property
from django.utils.translation import gettext
from django.views.generic import TemplateView
from unfold import decorators
from unfold.admin import ModelAdmin
from unfold.views import ChangeList, UnfoldModelAdminViewMixin

from workspaces.adminbase.access import Access, access_of
from workspaces.adminbase.actors import KINDS
from workspaces.adminbase.list_views import (
    ListView,
    drop_view,
    filters_of,
    keep_view,
    kept_views,
    shown_filters,
)

MOST = 10_000
# A spreadsheet would take a cell that begins so for a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")

Column = TypeVar("Column", bound=Callable[..., Any])


def bounded_count(rows: QuerySet[Any], most: int = MOST) -> int:
    """How many rows there are, but never more than `most` + 1."""
    return rows.order_by().values("pk")[: most + 1].count()


def bounded_counts(*queries: QuerySet[Any], most: int = MOST) -> list[int]:
    """The same of several lists, in one statement."""
    parts: list[str] = []
    values: list[Any] = []
    for rows in queries:
        text, given = rows.order_by().values("pk")[: most + 1].query.sql_with_params()
        parts.append(f"(select count(*) from ({text}) as counted)")
        values += given
    with connection.cursor() as cursor:
        cursor.execute(f"select {', '.join(parts)}", values)
        return list(cursor.fetchone())


def count_text(count: int, most: int = MOST) -> str:
    """A bounded count in words: `1,234`, or `10,000+`."""
    return f"{most:,}+" if count > most else f"{count:,}"


class BoundedPaginator(Paginator):
    """Pages through the first 10,000 rows; what lies beyond is found by filter and search."""

    template_name = "admin/bounded_pagination.html"

    @cached_property
    def count(self) -> int:
        rows = self.object_list
        return bounded_count(rows) if isinstance(rows, QuerySet) else len(rows)

    @property
    def is_cut(self) -> bool:
        return self.count > MOST

    @property
    def count_text(self) -> str:
        return count_text(self.count)


class PassedOn:
    """A file that hands back what is written to it."""

    def write(self, text: str) -> str:
        return text


def csv_lines(columns: Sequence[str], records: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Records as lines of CSV, the first with the names; what is no text is written as JSON."""
    writer = csv.writer(PassedOn())
    yield writer.writerow(columns)
    for record in records:
        values = ("" if record[name] is None else record[name] for name in columns)
        texts = (v if isinstance(v, str) else json.dumps(v, ensure_ascii=False) for v in values)
        yield writer.writerow(f"'{text}" if text.startswith(FORMULA) else text for text in texts)


class AdminPage(UnfoldModelAdminViewMixin, TemplateView):
    """Unfold's page at `path` below the list of the admin that has it among its `pages`.

    Whoever may come into the admin may open it: it shows what `access` allows, or asks for more.
    """

    path: ClassVar[str]
    name: ClassVar[str]
    title: str | Promise
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


def display(
    *,
    description: str | Promise,
    ordering: str | Combinable | None = None,
    label: bool | dict[str, str] | None = None,
) -> Callable[[Column], Column]:
    """Unfold's decorator, typed; `label` makes a badge, in the colour that it gives a value."""
    decorated = decorators.display(description=description, ordering=ordering, label=label)
    return cast("Callable[[Column], Column]", decorated)


@dataclass(frozen=True, slots=True)
class Empty:
    """What a page says where there is nothing yet, and how that changes."""

    title: str | Promise
    text: str | Promise = ""
    command: str = ""


class PreparedList(ChangeList):
    """`model_admin.prepare(request, rows)` may hang things on the rows of the page. `filters` are
    shown above it, with those of them that its admin names as `menus` to choose from."""

    result_list: Sequence[Model]
    views: tuple[ListView, ...] = ()
    whose: str  # the name of the person that the list is about, if it is about one

    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        super().__init__(request, *args, **kwargs)
        self.whose = self.model_admin.whose(request)

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.take(request, list(self.result_list))

    def take(self, request: HttpRequest, rows: list[Any]) -> None:
        """Show these rows, made ready."""
        self.model_admin.prepare(request, rows)
        self.result_list = rows
        self.full_result_count = self.result_count  # else the heading counts once more
        self.empty = None if rows else self.model_admin.empty(request)
        admin = self.model_admin
        self.filters = shown_filters(request, self)
        self.menus = [each for each in self.filters if each.name in admin.quick_filters]
        if admin.views:
            self.views = (*admin.views, *kept_views(request, str(self.opts.label_lower)))
        self.filtered_by = filters_of(request.META.get("QUERY_STRING", ""))


class ListAdmin(ModelAdmin):
    """Lists that are counted to a limit, with `pages` of our own beside them.

    `quick_filters` are parameters of filters that stand above the list as menus. Where `views` of
    the list are given, people keep their own beside them.
    """

    pages: tuple[type[AdminPage], ...] = ()
    views: tuple[ListView, ...] = ()
    quick_filters: tuple[str, ...] = ()
    list_before_template = "admin/list_views.html"
    paginator: type = BoundedPaginator
    show_full_result_count = False
    show_facets = ShowFacets.NEVER
    list_per_page = 50
    list_max_show_all = 0
    list_disable_select_all = True
    list_filter_submit = True
    actions: Sequence[str] | None = None

    def __init__(self, model: type[Model], admin_site: AdminSite) -> None:
        """Its rows are called as the navigation does, in all that Django says of them."""
        super().__init__(model, admin_site)
        self.opts = copy(model._meta)
        self.opts.verbose_name, self.opts.verbose_name_plural = KINDS[str(self.opts.model_name)]

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        own = [path(p.path, view(p.as_view(model_admin=self)), name=p.name) for p in self.pages]
        if self.views:
            name = f"{self.opts.app_label}_{self.opts.model_name}_views"
            own.append(path("views/", view(self.views_view), name=name))
        return [*own, *super().get_urls()]

    def views_view(self, request: HttpRequest) -> HttpResponse:
        """Keep the filters that the list has as a view, or one of them no more."""
        name, query = request.POST.get("name", ""), request.POST.get("query", "")
        here = reverse(
            f"{self.admin_site.name}:{self.opts.app_label}_{self.opts.model_name}_changelist"
        )
        if not self.has_view_permission(request):
            raise PermissionDenied
        if request.method == "POST" and "drop" in request.POST:
            drop_view(request, str(self.opts.label_lower), request.POST["drop"])
        elif request.method == "POST":
            try:
                keep_view(request, str(self.opts.label_lower), ListView(name, query))
            except ValidationError as refusal:
                messages.error(request, " ".join(refusal.messages))
        return redirect(f"{here}?{query}")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[PreparedList]:
        return PreparedList

    def prepare(self, request: HttpRequest, rows: list[Any]) -> None:
        """Hang on the rows of a list page what its columns need, in one query for all."""

    def whose(self, request: HttpRequest) -> str:
        """The name of the one person that the list is about, for its title."""
        return ""

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(gettext("No %(rows)s yet") % {"rows": self.opts.verbose_name_plural})


class ServerAdmin(ListAdmin):
    """What is of the server and of no workspace: for superusers, and to be read."""

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return access_of(request).everywhere

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    has_module_permission = has_view_permission
    has_change_permission = has_delete_permission = has_add_permission
