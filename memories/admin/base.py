"""The base of what is remembered: pages to read, changed only through the verbs."""

from django.db.models import Model
from django.http import HttpRequest

from memories.errors import Conflict, Forbidden, Invalid, NotFound
from workspaces.adminbase.access import access_of, workspace_id_of
from workspaces.adminbase.listing import Empty
from workspaces.adminbase.pages import PageAdmin
from workspaces.models import Capability
from workspaces.scope import Scope

TELL = """curl {url} \\
    -H 'Authorization: Bearer <key>' -H 'Content-Type: application/json' \\
    -d '{{"content": "I prefer tea to coffee.", "userId": "ada"}}'"""


class MemoryPage(PageAdmin):
    write_capability = Capability.CURATE
    refusals = (Conflict, Forbidden, Invalid, NotFound)

    def scope(self, request: HttpRequest, row: Model) -> Scope:
        return access_of(request).scope(workspace_id_of(row))


def tell_it(request: HttpRequest, title: str, text: str = "") -> Empty:
    """What to do where nothing has been told yet."""
    workspace = access_of(request).workspaces().order_by("name").first()
    slug = workspace.slug if workspace else "<workspace>"
    url = request.build_absolute_uri(f"/api/v1/workspaces/{slug}/memories/ingest")
    return Empty(title, text or "Tell it something with a key:", TELL.format(url=url))


def typed(text: str) -> str:
    """A text as it was meant: browsers send each line end as two characters."""
    return text.replace("\r\n", "\n").strip()


def said(text: str, most: int = 160) -> str:
    """A text as a list shows it: one line of it."""
    line = " ".join(text[: most * 2].split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
