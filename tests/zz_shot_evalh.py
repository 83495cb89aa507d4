import pytest
from django.urls import reverse
from playwright.sync_api import sync_playwright
from tests.conftest import *  # noqa
from tests.desk import member
import os
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]="1"
@pytest.mark.django_db(transaction=True)
def test_shot(live_server, alice):
    for t in ("The orchard gate is painted green","Ducks sleep behind the cider press","Ada sells cider on Fridays"): m=alice.note(t)
    d=member(alice.workspace)
    c=d.client.cookies["sessionid"].value
    with sync_playwright() as p:
        b=p.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox","--disable-gpu"]); x=b.new_context(viewport={"width":1300,"height":1000}); x.add_cookies([{"name":"sessionid","value":c,"url":live_server.url}])
        g=x.new_page(); g.goto(live_server.url+reverse("admin:memories_why_not")+f"?query=orchard gate&memory={m.pk}&limit=1"); g.screenshot(path="/tmp/evalh/a.png", full_page=True); b.close()
