"""The list page: what it shows when it is empty, and what is looked up once for all its rows."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from unfold.views import ChangeList


@dataclass(frozen=True, slots=True)
class Empty:
    """What a page says where there is nothing yet, and how that changes."""

    title: str
    text: str = ""
    command: str = ""


class Listing(ChangeList):
    """`model_admin.prepare(request, rows)` may hang things on the rows of the page."""

    result_list: Any

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        rows: list[Any] = list(self.result_list)
        self.model_admin.prepare(request, rows)
        self.result_list = rows
        self.full_result_count = self.result_count  # else the heading counts once more
        self.empty = None if rows else self.model_admin.empty(request)


class Listed:
    """For a ModelAdmin whose list is a Listing."""

    opts: Any

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[Listing]:
        return Listing

    def prepare(self, request: HttpRequest, rows: list[Any]) -> None:
        """Hang on the rows of a list page what its columns need, in one query for all."""

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(f"No {self.opts.verbose_name_plural} yet")
