"""A note on how much was kept but not read, with the next step: for Home, for a person, and for the
page of what was not understood."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext, ngettext

from memories.meters.skip_counts import MOST_READ, Unread, count_unread
from memories.models import MemorySession
from memories.reading.extraction.fallback_chain import server_model
from workspaces.adminbase.access import Access, access_of
from workspaces.models import Capability

KEPT = "_unread"


@dataclass(frozen=True, slots=True)
class UnreadNote:
    """The note. `settings_url` leads to where a model is configured, "" for people who may not do
    that."""

    found: Unread
    has_model: bool
    search_url: str
    settings_url: str = ""

    @property
    def says_unread(self) -> bool:
        return self.found.without_model > 0

    def __bool__(self) -> bool:
        return self.says_unread or self.found.waiting + self.found.failed > 0

    @property
    def text(self) -> str:
        """The numbers in a sentence, "" where there is nothing to say."""
        found = self.found
        told = []
        if self.says_unread:
            told.append(
                gettext("No model is configured: %(gave)s %(memories)s; %(unread)s.")
                % {
                    "gave": ngettext("%(n)s message gave", "%(n)s messages gave", found.messages)
                    % {"n": f"{found.messages:,}"},
                    "memories": ngettext("%(n)s memory", "%(n)s memories", found.memories)
                    % {"n": f"{found.memories:,}"},
                    "unread": ngettext(
                        "%(n)s was kept and not read",
                        "%(n)s were kept and not read",
                        found.without_model,
                    )
                    % {"n": f"{found.without_model:,}"},
                }
            )
        if found.waiting:
            one, more = "%(n)s message waits to be read.", "%(n)s messages wait to be read."
            told.append(ngettext(one, more, found.waiting) % {"n": f"{found.waiting:,}"})
        if found.failed:
            one, more = "%(n)s message could not be read.", "%(n)s messages could not be read."
            told.append(ngettext(one, more, found.failed) % {"n": f"{found.failed:,}"})
        if told and found.is_cut:
            told.append(gettext("Counted in the newest %(n)s intakes.") % {"n": f"{MOST_READ:,}"})
        return " ".join(told)


def note_on(request: HttpRequest) -> UnreadNote:
    """Return the note on all that the person sees, made once for a request."""
    kept = vars(request)
    if KEPT not in kept:
        access = access_of(request)
        sessions = access.limit(MemorySession.objects.all(), "workspace")
        kept[KEPT] = _note(access, sessions, reverse("admin:memories_search"))
    note: UnreadNote = kept[KEPT]
    return note


def note_on_person(request: HttpRequest, subject: Any) -> UnreadNote:
    """Return the note on what was said by or about one person."""
    access, asked = access_of(request), urlencode({"user": subject.external_id})
    sessions = MemorySession.objects.filter(subject=subject, workspace=subject.workspace_id)
    return _note(access, sessions, f"{reverse('admin:memories_search')}?{asked}")


def _note(access: Access, sessions: QuerySet[MemorySession], search_url: str) -> UnreadNote:
    is_there = server_model() is not None
    found = count_unread(sessions, has_server_model=is_there)
    own, url = [pk for pk in access.roles if access.may(Capability.ADMIN, pk)], ""
    if len(own) == 1:
        url = reverse("admin:workspaces_workspace_change", args=own)
    elif own or access.everywhere:
        url = reverse("admin:workspaces_workspace_changelist")
    has_model = found.with_model > 0 if found.sessions else is_there
    return UnreadNote(found, has_model, search_url, url)
