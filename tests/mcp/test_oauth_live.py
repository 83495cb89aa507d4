"""The official client's own OAuth, end to end over real HTTP: it finds the server's metadata, registers, sends a
person's browser to the page of consent, changes the code, and calls a tool."""

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

from tests.live_server import Server

PASSWORD = "a much longer password than before"
BACK = "http://localhost:3030/callback"


class Browser:
    """A person's browser, without scripts."""

    def __init__(self, server: Server) -> None:
        self.server, self.code, self.state, self.iss = server, "", "", ""
        self.http = httpx2.Client(base_url=server.info["url"], follow_redirects=True, timeout=120)

    def sends(self, page: str, **fields: str) -> httpx2.Response:
        html = self.http.get(page).text
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', html)
        assert token, html[:2_000]
        chosen = re.search(r'<option value="([^"]+)" selected', html)
        more = {"workspace": chosen.group(1)} if chosen else {}
        sent = {"csrfmiddlewaretoken": token.group(1), **more, **fields}
        headers = {"Referer": str(self.http.base_url)}
        return self.http.post(page, data=sent, headers=headers, follow_redirects=False)

    def logs_in(self) -> None:
        info = self.server.info
        self.sends("/admin/login/", username=info["adminUser"], password=info["adminPassword"])
        old = {"old_password": info["adminPassword"], "new_password1": PASSWORD, "new_password2": PASSWORD}
        assert self.sends("/admin/password_change/", **old).status_code == 302

    async def lets_in(self, address: str) -> None:
        page = str(self.http.get(address).url)
        answer = self.sends(page, answer="allow", may="write", person="")
        assert answer.status_code == 302, answer.text
        given = parse_qs(urlsplit(answer.headers["Location"]).query)
        self.code, self.state, self.iss = given["code"][0], given["state"][0], given["iss"][0]

    async def comes_back(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult(code=self.code, state=self.state, iss=self.iss)


class Kept:
    """What the client keeps."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def test_the_official_client_connects_by_itself_and_its_token_is_a_key(server: Server) -> None:
    address, browser, kept = f"{server.info['url']}/mcp/oauth", Browser(server), Kept()
    browser.logs_in()
    wanted = OAuthClientMetadata(redirect_uris=[BACK], client_name="Desk helper")  # type: ignore[list-item]
    auth = OAuthClientProvider(address, wanted, kept, browser.lets_in, browser.comes_back)

    async def run() -> Any:
        async with httpx2.AsyncClient(auth=auth, timeout=120) as http:
            transport = streamable_http_client(address, http_client=http)
            async with Client(transport) as client:
                await client.call_tool("add_memory", {"text": "I moved to Lisbon in May.", "user_id": "ada"})
                return await client.call_tool("search_memories", {"query": "Lisbon", "user_id": "ada"})

    found = anyio.run(run)
    assert "Lisbon" in str(found.structured_content)
    assert kept.tokens is not None
    assert kept.tokens.scope == "read write"
    place = f"{server.info['url']}/api/v1/workspaces/{server.info['workspace']}"
    shown = {"Authorization": f"Bearer {kept.tokens.access_token}"}
    assert httpx2.get(place, headers=shown, timeout=60).status_code == 200
    assert "Desk helper" in browser.http.get("/oauth/apps").text
