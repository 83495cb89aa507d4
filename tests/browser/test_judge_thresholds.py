"""How sure the judge must be is tried on the last week, then saved, in a browser."""

from typing import Any

import pytest
from playwright.sync_api import expect

from bench.story import Told
from memories.ingest import rehearse_judge
from memories.models import JudgeRehearsal
from memoryproject.postgres import visible
from workspaces.models import Workspace

PAGE = "memories/supersession/judge-thresholds/"


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_thresholds_are_tried_and_saved(visit: Any, told: Told, width: int, scheme: str, tmp_path: Any) -> None:
    ada = visit(viewport={"width": width, "height": 1000}, color_scheme=scheme)
    ada.opens(PAGE)
    ada.presses("Look through the last week")
    expect(ada.page.get_by_text("wait for the judge.")).to_be_visible()
    row = JudgeRehearsal.objects.get()
    with visible.only(told.workspace.pk):
        while row.state == "waiting":
            rehearse_judge.go_on(row.pk)
            row.refresh_from_db()
    expect(ada.page.get_by_text("Nothing was changed.")).to_be_visible()
    ada.page.get_by_label("Keep from").fill("0.1")
    ada.presses("Try")
    expect(ada.page.get_by_text("with these values")).to_be_visible()
    assert ada.fits()
    ada.page.screenshot(path=str(tmp_path / "thresholds.png"), full_page=True)
    ada.presses("Save")
    expect(ada.page.get_by_text("Saved: it holds from the next message on.")).to_be_visible()
    expect(ada.page.get_by_label("Keep from")).to_have_value("0.1")
    assert Workspace.objects.get(pk=told.workspace.pk).settings["judge"] == {"keep": 0.1}
