"""Where pages hang: few entries in plain words, everything reachable, titles that say what is
shown."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db.models import Model
from django.urls import reverse

from memories.admin.navigation import MENU
from memories.models import Memory
from tests.admin_pages import pages, rows_of
from tests.desk import Desk, list_of, member, page_of, superuser
from tests.factories import MemoryFactory, SubjectFactory
from workspaces.models import Role, Workspace

ENTRIES = [
    "Home",
    "Inbox",
    "Memories",
    "People",
    "Documents",
    "Conversations",
    "Search",
    "Rules",
    "Activity",
    "Settings",
]
OWN = (
    "/admin/second-factor/",
    "/admin/password_change/",
    "/admin/time-zone/",
)  # of the person's account


def entries(desk: Desk, page: str) -> list[dict[str, Any]]:
    [group] = desk.client.get(page).context["sidebar_navigation"]
    return list(group["items"])


def title(html: str) -> str:
    found = re.search(r"<title>(.*?)</title>", html, re.DOTALL)
    return " ".join(found[1].split()) if found else ""


def read(desk: Desk, rows: list[Model]) -> Iterator[tuple[str, Any]]:
    """Every page of the admin but those of the person's own account, with its answer; a part of a
    page that a script fetches is none."""
    for page in pages(rows):
        answer = desk.client.get(page)
        if not page.startswith(OWN) and b"<html" in answer.content:
            yield page, answer


def walked(desk: Desk) -> set[str]:
    """Every page that a click on an entry, and then one on a tab, opens; twice, for tabs that lead
    to more tabs."""
    seen: set[str] = set()
    to_see = [item["link"] for item in entries(desk, reverse("admin:index"))]
    while to_see:
        page = to_see.pop()
        if page in seen:
            continue
        answer = desk.client.get(page)
        assert answer.status_code == 200, page
        seen.add(page)
        to_see += [i["link"] for row in answer.context["tab_list"] for i in row["items"]]
    return seen


@pytest.mark.parametrize("role", [Role.OWNER, Role.EDITOR, Role.VIEWER])
def test_every_role_has_the_same_ten_entries_and_each_opens(workspace: Workspace, role: str) -> None:
    desk = member(workspace, role)

    assert [str(item["title"]) for item in entries(desk, reverse("admin:index"))] == ENTRIES
    walked(desk)


def test_every_page_is_reached_by_an_entry_and_a_tab(workspace: Workspace) -> None:
    desk = superuser()
    lists = {tab.page for section in MENU for tab in section.tabs}

    assert walked(desk) == {reverse(f"admin:{page}") for page in lists}


def test_every_page_marks_the_one_entry_that_it_belongs_to(workspace: Workspace) -> None:
    desk = superuser()
    unmarked = []
    for page, answer in read(desk, rows_of(workspace)):
        [group] = answer.context["sidebar_navigation"]
        if sum(item["active"] for item in group["items"]) != 1:
            unmarked.append(page)

    assert unmarked == []


def test_a_list_says_whose_memories_it_shows(workspace: Workspace) -> None:
    ada = SubjectFactory(workspace=workspace, name="Ada")
    MemoryFactory(workspace=workspace, subject=ada)
    alice = member(workspace)

    assert title(alice.sees(list_of(Memory))) == "Memories | memoryproject"
    html = alice.sees(list_of(Memory), subject__id__exact=str(ada.pk))
    assert title(html) == "Ada's memories | memoryproject"


def test_a_title_names_nobody_of_another_workspace(workspace: Workspace) -> None:
    ada = SubjectFactory(workspace=workspace, name="Ada")
    mallory = member(Workspace.objects.create(slug="swamp", name="Swamp"))

    assert "Ada" not in title(mallory.sees(list_of(Memory), subject__id__exact=str(ada.pk)))


def test_no_title_tells_to_select_something(workspace: Workspace) -> None:
    desk = superuser()
    titles = {p: title(a.content.decode()) for p, a in read(desk, rows_of(workspace))}

    assert [p for p, told in titles.items() if not told.removesuffix("| memoryproject")] == []
    assert [told for told in titles.values() if re.search(r"Select |object \(", told)] == []


def test_breadcrumbs_lead_from_a_row_to_its_list(workspace: Workspace) -> None:
    memory = MemoryFactory(workspace=workspace)
    html = member(workspace).sees(page_of(memory))
    crumbs = html.split('aria-label="Breadcrumbs"')[1].split("</nav>")[0]

    assert f'href="{list_of(Memory)}"' in crumbs
    assert memory.content in crumbs
