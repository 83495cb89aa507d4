"""Lists that show how they are filtered, and the views of them that people keep."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

from django.contrib.admin.views.main import ChangeList as DjangoChangeList
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Field
from django.http import HttpRequest
from django.utils.translation import gettext as _

from workspaces.adminbase.access import access_of
from workspaces.models import Membership

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise as StrPromise

MOST_VIEWS = 30  # that one person keeps of all lists
LONGEST_NAME, LONGEST_QUERY = 60, 500
# What is no filter: a page, an order; and words, which may be somebody's and are not kept.
NO_FILTERS = {"p", "o", "q", "all", "e", "_popup", "_to_field"}


@dataclass(frozen=True, slots=True)
class ListView:
    """A list with its filters set: `query` is what stands behind the `?` of its address."""

    name: "str | StrPromise"
    query: str = ""
    own: bool = False

    @property
    def filters(self) -> set[tuple[str, str]]:
        return filters_of(self.query)


@dataclass(frozen=True, slots=True)
class ShownFilter:
    """A filter of a list: `words` say what it leaves, "" where it leaves all. `choices` are there
    where it is short enough for a menu; `without` is the address without it."""

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
        shown.append(
            ShownFilter(label, name, value or default, words if is_set else "", choices, without)
        )
    return shown


def kept_views(request: HttpRequest, page: str) -> list[ListView]:
    """The person's own views of the list `page`, by name."""
    kept = Membership.objects.filter(user=access_of(request).user).values_list("views", flat=True)
    own = (view for each in kept for view in each if view["page"] == page)
    views = [ListView(view["name"], view["query"], own=True) for view in own]
    return sorted(views, key=lambda view: str(view.name).lower())


@transaction.atomic
def keep_view(request: HttpRequest, page: str, view: ListView) -> None:
    """Keep a view, in place of one of the same name. Raises ValidationError for what is no name, or
    for one too many."""
    name = " ".join(str(view.name).split())
    if not name or len(name) > LONGEST_NAME:
        raise ValidationError(_("Give the view a name of at most 60 characters."))
    query = urlencode(sorted(view.filters))
    if len(query) > LONGEST_QUERY:
        raise ValidationError(_("These are too many filters to keep."))
    kept = next(iter(_memberships(request)), None)  # views are kept with the first of them
    if kept is None:
        raise ValidationError(_("Views are kept for members of a workspace."))
    others = [each for each in kept.views if (each["page"], each["name"]) != (page, name)]
    if len(others) >= MOST_VIEWS:
        raise ValidationError(_("You keep 30 views already: remove one first."))
    kept.views = [*others, {"page": page, "name": name, "query": query}]
    kept.save(update_fields=["views"])


@transaction.atomic
def drop_view(request: HttpRequest, page: str, name: str) -> None:
    """Keep it no more; one that is not there is no fault."""
    for kept in _memberships(request):
        left = [each for each in kept.views if (each["page"], each["name"]) != (page, name)]
        if len(left) < len(kept.views):
            kept.views = left
            kept.save(update_fields=["views"])


def _memberships(request: HttpRequest) -> Iterable[Membership]:
    rows = Membership.objects.filter(user=access_of(request).user).order_by("pk")
    return rows.select_for_update(of=("self",))
