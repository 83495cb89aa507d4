"""The base of every list: its text when it is empty, its columns, lookups made once for all its
rows, its filters, and the views of it that people keep."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast
from urllib.parse import parse_qsl, urlencode

from django.contrib import messages
from django.contrib.admin import AdminSite, ShowFacets
from django.contrib.admin.views.main import ChangeList as DjangoChangeList
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.paginator import Paginator
from django.db import connection, transaction
from django.db.models import Field, Model, QuerySet
from django.db.models.expressions import Combinable
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils.functional import Promise, cached_property
from django.utils.translation import gettext
from django.utils.translation import gettext as _
from django.views.generic import TemplateView
from unfold import decorators
from unfold.admin import ModelAdmin
from unfold.views import ChangeList, UnfoldModelAdminViewMixin

from workspaces.adminbase.access import Access, access_of
from workspaces.adminbase.target_names import KINDS
from workspaces.models import Membership

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise as StrPromise


# The filters of a list as it shows them, and the views that people keep.

MOST_VIEWS = 30  # views that one person keeps of all lists
LONGEST_NAME, LONGEST_QUERY = 60, 500
# Parameters that are no filters: a page, an order; and words, which may be private.
NO_FILTERS = {"p", "o", "q", "all", "e", "_popup", "_to_field"}


MOST = 10_000
# A spreadsheet would take a cell that begins with one of these for a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class ListView:
    """A list with its filters set: `query` is the query string of its address."""

    name: "str | StrPromise"
    query: str = ""
    own: bool = False

    @property
    def filters(self) -> set[tuple[str, str]]:
        return filters_of(self.query)


@dataclass(frozen=True, slots=True)
class ShownFilter:
    """A filter of a list: `words` describe its present choice, "" where it leaves all rows.
    `choices` are set where they are few enough for a menu; `without` is the address without the
    filter."""

    label: str
    name: str
    value: str
    words: str
    choices: tuple[tuple[str, str], ...]
    without: str


def filters_of(query: str) -> set[tuple[str, str]]:
    return {(name, value) for name, value in parse_qsl(query) if name not in NO_FILTERS}


def shown_filters(request: HttpRequest, changelist: DjangoChangeList) -> list[ShownFilter]:
    """All filters of the list, in their order."""
    shown = []
    for spec in changelist.filter_specs:
        names = [name for name in spec.expected_parameters() if name is not None]
        name = names[0]
        value = str(request.GET.get(name, ""))
        given = getattr(spec, "field", None)
        field = given if isinstance(given, Field) else None
        offered = getattr(spec, "lookup_choices", ()) if field is None else field.flatchoices
        choices = tuple((str(key), str(text)) for key, text in offered)
        words = dict(choices).get(value, value)
        if value and field is not None and field.related_model is not None:
            admin = changelist.model_admin.admin_site.get_model_admin(field.related_model)
            try:
                row = admin.get_queryset(request).filter(pk=value).first()
            except ValidationError:
                row = None
            words = str(row) if row is not None else _("nobody")
        elif value and getattr(field, "get_internal_type", str)() == "BooleanField":
            words = _("yes") if value == "1" else _("no")
        default = getattr(spec, "first", "")
        without = changelist.get_query_string(remove=[*names, "p"])
        label = str(getattr(spec, "title", name))
        is_set = bool(value) and value != default
        shown.append(ShownFilter(label, name, value or default, words if is_set else "", choices, without))
    return shown


def kept_views(request: HttpRequest, page: str) -> list[ListView]:
    """The person's own views of the list `page`, by name."""
    kept = Membership.objects.filter(user=access_of(request).user).values_list("views", flat=True)
    own = (view for each in kept for view in each if view["page"] == page)
    views = [ListView(view["name"], view["query"], own=True) for view in own]
    return sorted(views, key=lambda view: str(view.name).lower())


@transaction.atomic
def keep_view(request: HttpRequest, page: str, view: ListView) -> None:
    """Keep a view, in place of one of the same name. Raises ValidationError for an invalid name, or
    for one view too many."""
    name = " ".join(str(view.name).split())
    if not name or len(name) > LONGEST_NAME:
        raise ValidationError(_("Give the view a name of at most 60 characters."))
    query = urlencode(sorted(view.filters))
    if len(query) > LONGEST_QUERY:
        raise ValidationError(_("These are too many filters to keep."))
    kept = next(iter(_memberships(request)), None)  # the first membership keeps the views
    if kept is None:
        raise ValidationError(_("Views are kept for members of a workspace."))
    others = [each for each in kept.views if (each["page"], each["name"]) != (page, name)]
    if len(others) >= MOST_VIEWS:
        raise ValidationError(_("You keep 30 views already: remove one first."))
    kept.views = [*others, {"page": page, "name": name, "query": query}]
    kept.save(update_fields=["views"])


@transaction.atomic
def drop_view(request: HttpRequest, page: str, name: str) -> None:
    """Delete a view; a view that does not exist is no error."""
    for kept in _memberships(request):
        left = [each for each in kept.views if (each["page"], each["name"]) != (page, name)]
        if len(left) < len(kept.views):
            kept.views = left
            kept.save(update_fields=["views"])


def _memberships(request: HttpRequest) -> Iterable[Membership]:
    rows = Membership.objects.filter(user=access_of(request).user).order_by("pk")
    return rows.select_for_update(of=("self",))


Column = TypeVar("Column", bound=Callable[..., Any])


def bounded_count(rows: QuerySet[Any], most: int = MOST) -> int:
    """Count the rows, but never to more than `most` + 1."""
    return rows.order_by().values("pk")[: most + 1].count()


def bounded_counts(*queries: QuerySet[Any], most: int = MOST) -> list[int]:
    """Count several lists like `bounded_count`, in one statement."""
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
    """Pages through the first 10,000 rows; rows beyond are reached by filter and search."""

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
    """Yield records as lines of CSV, the first with the names; values other than text become
    JSON."""
    writer = csv.writer(PassedOn())
    yield writer.writerow(columns)
    for record in records:
        values = ("" if record[name] is None else record[name] for name in columns)
        texts = (v if isinstance(v, str) else json.dumps(v, ensure_ascii=False) for v in values)
        yield writer.writerow(f"'{text}" if text.startswith(FORMULA) else text for text in texts)


class AdminPage(UnfoldModelAdminViewMixin, TemplateView):
    """Unfold's page at `path` below the list of the admin that has it among its `pages`.

    Everybody who may use the admin may open it: it shows what `access` allows, or checks for more.
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
        """Show the sent form with its result."""
        return self.get(request, *args, **kwargs)


def display(
    *,
    description: str | Promise,
    ordering: str | Combinable | None = None,
    label: bool | dict[str, str] | None = None,
) -> Callable[[Column], Column]:
    """Unfold's decorator with types; `label` makes a badge, in the colour that it gives a value."""
    decorated = decorators.display(description=description, ordering=ordering, label=label)
    return cast("Callable[[Column], Column]", decorated)


@dataclass(frozen=True, slots=True)
class Empty:
    """The text of a page where there is nothing yet, and how that changes."""

    title: str | Promise
    text: str | Promise = ""
    command: str = ""


class PreparedList(ChangeList):
    """A list whose rows `model_admin.prepare(request, rows)` may add to. `filters` are shown above
    it; those that its admin names in `quick_filters` are the `menus`."""

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
        """Prepare these rows and show them."""
        self.model_admin.prepare(request, rows)
        self.result_list = rows
        self.full_result_count = self.result_count  # otherwise the heading counts again
        self.empty = None if rows else self.model_admin.empty(request)
        admin = self.model_admin
        self.filters = shown_filters(request, self)
        self.menus = [each for each in self.filters if each.name in admin.quick_filters]
        if admin.views:
            self.views = (*admin.views, *kept_views(request, str(self.opts.label_lower)))
        self.filtered_by = filters_of(request.META.get("QUERY_STRING", ""))


class ListAdmin(ModelAdmin):
    """Lists that are counted up to a limit, with `pages` of our own beside them.

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
        """Name the rows as the navigation does, in all of Django's texts."""
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
        """Keep the list's filters as a view, or delete a view."""
        name, query = request.POST.get("name", ""), request.POST.get("query", "")
        here = reverse(f"{self.admin_site.name}:{self.opts.app_label}_{self.opts.model_name}_changelist")
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
        """Add to the rows of a list page what its columns need, in one query for all."""

    def whose(self, request: HttpRequest) -> str:
        """The name of the one person that the list is about, for its title."""
        return ""

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(gettext("No %(rows)s yet") % {"rows": self.opts.verbose_name_plural})


class ServerAdmin(ListAdmin):
    """Rows of the server, which belong to no workspace: for superusers, who can only read them."""

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return access_of(request).everywhere

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    has_module_permission = has_view_permission
    has_change_permission = has_delete_permission = has_add_permission
