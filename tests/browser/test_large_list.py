"""A hundred thousand memories in the list: it opens, turns its pages and narrows all the same."""

from typing import Any

import pytest
from django.db import connection
from playwright.sync_api import expect

from bench.story import Told
from memories.models import Memory

MANY = 100_000
COPIES = """
insert into memories_memory ({columns})
select {values} from memories_memory m, generate_series(1, %(many)s) n where m.id = %(id)s
"""


@pytest.fixture
def many(told: Told) -> None:
    """Copies of one memory, so that the list has something to hold."""
    one = Memory.objects.live().get(content__contains="encrypt")
    fields = Memory._meta.concrete_fields
    columns = [field.column for field in fields if not field.generated]
    own = {"id": "gen_random_uuid()", "content": "'Crate ' || n || ' is sealed'"}
    values = ", ".join(own.get(column, f"m.{column}") for column in columns)
    with connection.cursor() as cursor:
        text = COPIES.format(columns=", ".join(columns), values=values)
        cursor.execute(text, {"many": MANY, "id": one.pk})
        cursor.execute("analyze memories_memory")


def test_the_list_of_100_000_opens_turns_and_narrows(visit: Any, many: None) -> None:
    assert Memory.objects.count() > MANY
    grace = visit("grace.hopper")
    grace.opens("memories/memory/")
    rows = grace.page.locator("#result_list tbody tr")
    expect(rows).to_have_count(50)
    expect(grace.page.get_by_text("more than 10,000")).to_be_visible()
    first = rows.first.inner_text()
    grace.opens("memories/memory/?p=2")
    expect(rows).to_have_count(50)
    assert rows.first.inner_text() != first

    grace.page.keyboard.press("/")
    expect(grace.page.locator("#searchbar")).to_be_focused()
    grace.page.keyboard.type("aisle")
    grace.page.keyboard.press("Enter")
    grace.page.wait_for_url("**q=aisle**")
    expect(rows).to_have_count(1)
    grace.follows(rows.first.get_by_role("link").first)
    expect(grace.page.get_by_role("heading", name="aisle seats").first).to_be_visible()
