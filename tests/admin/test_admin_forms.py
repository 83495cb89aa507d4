"""Every form of the admin with its own fields, sent by those whose page does not show it: a viewer,
an editor and an outsider change nothing by it."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from django.db import connection

from memoryproject.postgres.backups import TABLES
from tests.admin_pages import pages, rows_of
from tests.desk import Desk, member
from workspaces.models import Role, Workspace

# They change with whatever is asked, or are a person's own.
OWN = {
    "django_session",
    "memories_figure",
    "memories_searchuse",
    "workspaces_user",
    "workspaces_secondfactor",
    "workspaces_loginattempt",
    "workspaces_loginpause",
}
AWAY = ("/logout/", "/login", "/password", "/account", "/i18n/")  # what is one's own
ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|/\d+/")
LINK = re.compile(r'href="(/admin/[^"?#]+)')

Form = dict[str, Any]


class Forms(HTMLParser):
    """The forms of a page that are posted: where to, with which fields, by which buttons."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.page = page
        self.found: list[Form] = []
        self.form: Form | None = None
        self.select = self.area = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        name, value = values.get("name", ""), values.get("value", "")
        if tag == "form" and values.get("method", "").lower() == "post":
            self.form = {"to": values.get("action") or self.page, "fields": {}, "buttons": []}
            self.found.append(self.form)
        elif self.form is None:
            return
        elif tag == "button" or (tag == "input" and values.get("type") == "submit"):
            self.form["buttons"] += [{name: value}] if name else []
        elif tag == "input" and name:
            is_chosen = values.get("type") in ("checkbox", "radio")
            self.form["fields"][name] = value or ("on" if is_chosen else "changed")
        elif tag == "textarea":
            self.area = name
            self.form["fields"][name] = "changed"
        elif tag == "select":
            self.select = name
        elif tag == "option" and self.select and value:
            self.form["fields"][self.select] = value

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.form = None
        elif tag == "select":
            self.select = ""


def forms_of(desk: Desk, addresses: list[str]) -> Iterator[Form]:
    """Each once, of these pages and of those that they lead to; of many rows' that of one."""
    waiting, seen, known = list(addresses), set(), set()
    while waiting:
        page = waiting.pop(0)
        if ID.sub("", page) in seen or any(part in page for part in AWAY):
            continue
        seen.add(ID.sub("", page))
        answer = desk.client.get(page)
        if answer.status_code != 200 or "html" not in answer["Content-Type"]:
            continue
        html = answer.content.decode()
        waiting += LINK.findall(html)
        reader = Forms(page)
        reader.feed(html)
        for form in reader.found:
            key = (ID.sub("", form["to"]), *sorted(form["fields"]))
            if key not in known and not any(part in form["to"] for part in AWAY):
                known.add(key)
                yield {**form, "key": key}


def all_rows() -> set[tuple[str, str]]:
    """Each row of each table."""
    found = set()
    with connection.cursor() as cursor:
        cursor.execute(TABLES)
        for (table,) in cursor.fetchall():
            if table not in OWN:
                cursor.execute(f'select t::text from "{table}" t')
                found |= {(table, row) for (row,) in cursor.fetchall()}
    return found


def sends_all(desk: Desk, forms: list[Form]) -> None:
    for form in forms:
        for button in form["buttons"] or [{}]:
            answer = desk.client.post(form["to"], {**form["fields"], **button})
            assert answer.status_code < 500, form


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR])
def test_no_form_of_any_page_changes_a_row_for_who_does_not_see_it(workspace: Workspace, role: str) -> None:
    addresses = pages(rows_of(workspace))
    forms, desk = list(forms_of(member(workspace), addresses)), member(workspace, role)
    assert len(forms) > 40
    # What an editor's own pages show is the editor's to do. A viewer sends whatever is there.
    shown = {form["key"] for form in forms_of(desk, addresses)} if role == Role.EDITOR else set()
    before = all_rows()
    sends_all(desk, [form for form in forms if form["key"] not in shown])
    assert before ^ all_rows() == set()


def test_no_form_of_any_page_changes_a_row_of_another_workspace(workspace: Workspace) -> None:
    addresses = pages(rows_of(workspace))
    forms = list(forms_of(member(workspace), addresses))
    swamp = Workspace.objects.create(slug="swamp", name="Swamp")
    mallory = member(swamp)
    before = all_rows()
    sends_all(mallory, forms)
    changed = before ^ all_rows()
    of_others = {(table, row) for table, row in changed if str(workspace.pk) in row}
    gone = {(table, row) for table, row in changed & before if str(swamp.pk) not in row}
    assert of_others | gone == set()
