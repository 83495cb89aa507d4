"""The command palette (Ctrl-K): pages, people, memories and acts by name."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Model
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.text import Truncator
from django.utils.translation import gettext as text
from django.utils.translation import gettext_lazy as _

from memories.admin.navigation import Tab, open_sections
from memories.models import Document, Memory
from workspaces.adminbase.list_admin import AdminPage
from workspaces.adminbase.scoped_admin import ScopedAdmin
from workspaces.models import Capability, Subject

# Ctrl-K: pages, acts, people, memories and documents by a few letters, as JSON for the dialog.

MOST = 6  # of each kind
LONGEST = 100  # characters of the typed words, and of a result
KINDS: tuple[tuple[Promise, type[Model]], ...] = (
    (_("Person"), Subject),
    (_("Memory"), Memory),
    (_("Document"), Document),
)
# Acts that can be started from anywhere.
ACTS = (
    Tab(_("Add a person"), "workspaces_subject_add", needs=Capability.WRITE),
    Tab(_("Add files"), "memories_upload"),
    Tab(_("Connect a source"), "memories_connection_add", needs=Capability.ADMIN),
    Tab(_("Connect an agent"), "workspaces_connect"),
    Tab(_("Invite somebody"), "workspaces_membership_add", needs=Capability.ADMIN),
    Tab(_("Issue an API key"), "workspaces_apikey_add", needs=Capability.ADMIN),
    Tab(_("Change your password"), "password_change"),
    Tab(_("Second factor"), "second_factor"),
)


@dataclass(frozen=True, slots=True)
class JumpTarget:
    """A destination of Ctrl-K."""

    kind: str
    title: str
    note: str
    url: str


class JumpPage(AdminPage):
    """The search of Ctrl-K, `?q=`: results have all of these words, and the person may open
    them."""

    path, name, title = "jump/", "memories_jump", "Jump"
    model_admin: ScopedAdmin

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        asked = " ".join(request.GET.get("q", "")[:LONGEST].replace("\0", "").split())
        targets = [*self.pages(asked.casefold().split())]
        if len(asked) > 1:
            targets = [*targets[:MOST], *self.rows(asked), *targets[MOST : 2 * MOST]]
        return JsonResponse({"results": [asdict(each) for each in targets]})

    def pages(self, words: list[str]) -> Iterator[JumpTarget]:
        """Yield pages and acts; those whose title begins with the typed words come first."""
        sections = open_sections(self.request)
        places = [
            (text("Page"), tab, section.title, link) for section, links in sections for tab, link in links.items()
        ]
        acts = [
            (text("Act"), act, "", reverse(f"admin:{act.page}"))
            for act in ACTS
            if not act.needs or self.access.may_somewhere(act.needs)
        ]
        fits = [
            each
            for each in [*places, *acts]
            if all(word in f"{each[2]} {each[1].title} {each[1].help}".casefold() for word in words)
        ]
        begin = " ".join(words)
        for kind, tab, section, link in sorted(
            fits, key=lambda each: not str(each[1].title).casefold().startswith(begin)
        ):
            note = "" if str(section) == str(tab.title) else str(section)
            yield JumpTarget(kind, str(tab.title), note, link)

    def rows(self, asked: str) -> Iterator[JumpTarget]:
        """Yield the rows that the list of each kind finds, the newest first."""
        for kind, model in KINDS:
            admin = self.model_admin.admin_site.get_model_admin(model)
            seen = admin.get_queryset(self.request).select_related("workspace").order_by("-pk")
            found, _is_many = admin.get_search_results(self.request, seen, asked)
            for row in found[:MOST]:
                note = row.workspace.name if self.access.is_of_many else ""
                title = Truncator(str(row)).chars(LONGEST)
                yield JumpTarget(str(kind), title, note, admin.page_of(row))
