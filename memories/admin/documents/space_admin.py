"""Spaces of documents."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextInputWidget

from memories.admin.memory_rows import MemoryRowAdmin, one_line
from memories.documents import document_store
from memories.models import Document, Space
from workspaces.adminbase.access import access_of
from workspaces.adminbase.list_admin import Empty, display
from workspaces.adminbase.row_admin import Verb, refusal_text
from workspaces.adminbase.scoped_admin import WorkspaceChoiceForm
from workspaces.models import Capability
from workspaces.models.key import CONTAINER_TAG

# Spaces: shelves of documents, with their names and contents.

NEWEST = 50  # documents on a space's page


class NameForm(forms.Form):
    name = forms.CharField(required=False, max_length=200, widget=UnfoldAdminTextInputWidget)


@admin.register(Space)
class SpaceAdmin(MemoryRowAdmin):
    write_capability = Capability.WRITE
    can_add = True
    add_label = _("Make a space")
    list_display = ("named", "tag", "count", "made")
    list_select_related = ("workspace",)
    search_fields = ("container_tag", "name")
    search_help_text = _("Words of the name, or a tag")
    page_template = "admin/memories/space.html"
    verbs = (Verb("rename", _("Rename"), "edit", form=NameForm, capability=Capability.WRITE),)

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).annotate(document_count=Count("shelves"))

    @display(description=_("space"))
    def named(self, space: Space) -> str:
        return one_line(str(space), 80)

    @display(description=_("tag"))
    def tag(self, space: Space) -> str:
        return space.container_tag

    @display(description=_("documents"))
    def count(self, space: Any) -> int:
        return space.document_count

    @display(description=_("made"))
    def made(self, space: Space) -> Any:
        return space.created_at

    def form_for(self, verb: Verb, row: Any, data: Any, *, prefix: str) -> forms.Form | None:
        form = super().form_for(verb, row, data, prefix=prefix)
        if form is not None:
            form.fields["name"].initial = row.name
        return form

    def do_rename(self, request: HttpRequest, row: Any, values: dict[str, Any]) -> str:
        document_store.change_space(self.scope(request, row), row, {"name": values["name"]})
        return gettext("It is called so now.")

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        there = Document.objects.visible_to(self.scope(request, row))
        there = there.in_spaces([row.container_tag]).with_all().order_by("-pk")
        return {"title": str(row), "documents": list(there[:NEWEST])}

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        self.require_add(request)
        form = WorkspaceChoiceForm(self, request)
        form.fields |= {
            "tag": forms.RegexField(
                CONTAINER_TAG,
                max_length=100,
                widget=UnfoldAdminTextInputWidget,
                help_text=gettext("By this, programs and keys name it: letters, digits, . : - _"),
            ),
            "name": forms.CharField(required=False, max_length=200, widget=UnfoldAdminTextInputWidget),
        }
        if request.method == "POST" and form.is_valid():
            values = form.cleaned_data
            try:
                space = document_store.make_space(
                    access_of(request).scope(values["workspace"].pk), values["tag"], values["name"]
                )
            except self.refusals as refusal:
                form.add_error("tag", refusal_text(refusal))
            else:
                return redirect(self.page_of(space))
        return self.form_page(request, form, title=gettext("Make a space"), submit=gettext("Make it"))

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(
            gettext("No spaces yet"),
            gettext("Documents are handed in with the tags of spaces, and searched by them."),
        )
