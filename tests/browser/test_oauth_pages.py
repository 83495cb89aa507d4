"""Pages on which somebody lets an app in and looks at those that are in, in both themes and on a phone."""

from typing import Any

import pytest
from django.core import signing
from playwright.sync_api import expect

from bench.story import Told
from tests.browser.conftest import faults
from workspaces.models import Membership, OAuthClient
from workspaces.oauth import grants
from workspaces.oauth.provider import WANTED

BACK = "http://localhost:9/back"


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)])
def test_a_person_reads_what_an_app_asks_for_and_ends_it(
    visit: Any, told: Told, axe: str, scheme: str, width: int
) -> None:
    client = OAuthClient.objects.create(name="Claude", redirect_uris=[BACK])
    member = Membership.objects.get(user=told.owner, workspace=told.workspace)
    grants.exchange(_grant(client, member))
    asked = {"client": str(client.pk), "redirect_uri": BACK, "scopes": None, "state": "s", "code_challenge": "c"}
    ada = visit(viewport={"width": width, "height": 900}, color_scheme=scheme)
    ada.opens(f"../oauth/consent?request={signing.dumps(asked, salt=WANTED)}")
    expect(ada.page.get_by_role("heading", name="Let “Claude” use your memory?")).to_be_visible()
    expect(ada.page.get_by_label("read, and tell it things", exact=True)).to_be_checked()
    assert ada.fits()
    assert faults(ada, axe) == []
    ada.opens("../oauth/apps")
    expect(ada.page.get_by_text("may read ·")).to_be_visible()
    assert ada.fits()
    assert faults(ada, axe) == []
    ada.follows(ada.page.get_by_role("button", name="Disconnect"))
    expect(ada.page.get_by_text("You have connected none.")).to_be_visible()


def _grant(client: OAuthClient, member: Membership) -> Any:
    given = grants.Consent(member, None, ("read",), "c", BACK, True, "")
    code = grants.consent(client, given)
    grant = grants.grant_of(grants.CODE, code, client.pk)
    assert grant is not None
    return grant
