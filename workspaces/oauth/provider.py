"""The SDK's protocol of an authorization server, over the grants of this server. Scopes are the capabilities of
keys."""

import re
import uuid
from urllib.parse import urlsplit

from asgiref.sync import sync_to_async
from django.core import signing
from django.urls import reverse
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    RegistrationError,
    TokenError,
)
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyUrl

from workspaces.auth import as_uuid
from workspaces.models import Capability, OAuthClient, OAuthGrant
from workspaces.oauth import grants

SCOPES = (Capability.READ, Capability.WRITE, Capability.CURATE)
WANTED = "workspaces.oauth.wanted"
MOST_ADDRESSES = 20
LONGEST_ADDRESS = 2_000
LOCAL = ("localhost", "127.0.0.1", "[::1]", "::1")
_place = re.compile(r"[A-Za-z0-9.:\[\]-]*")  # of which nobody reads another one: no "claude.ai@evil.example"
BARRED = ("javascript", "data", "file", "vbscript", "blob", "about")


class GrantCode(AuthorizationCode):
    grant: uuid.UUID


class GrantRefresh(RefreshToken):
    grant: uuid.UUID


class Provider(OAuthAuthorizationServerProvider[GrantCode, GrantRefresh, AccessToken]):
    """The authorization server for one request; `network` is where it comes from, as a digest."""

    def __init__(self, network: str = "") -> None:
        self.network = network

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        row = await sync_to_async(client_of)(client_id)
        if row is None:
            return None
        return OAuthClientInformationFull.model_validate(
            {**row.details, "client_id": str(row.pk), "client_name": row.name, "redirect_uris": row.redirect_uris}
        )

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        addresses = [str(each) for each in client_info.redirect_uris or ()]
        if len(addresses) > MOST_ADDRESSES or any(not is_safe(each) for each in addresses):
            raise RegistrationError(
                "invalid_redirect_uri",
                f"At most {MOST_ADDRESSES} addresses, each https, of this machine, or of an app's own scheme.",
            )
        details = client_info.model_dump(mode="json", exclude_none=True, exclude={"client_id", "redirect_uris"})
        name = (client_info.client_name or "").strip()[:200] or urlsplit(addresses[0]).netloc or "App"
        row = OAuthClient(
            pk=uuid.UUID(client_info.client_id),
            name=name,
            redirect_uris=addresses,
            details=details,
            registered_by=self.network,
        )
        try:
            await sync_to_async(grants.register)(row)
        except grants.TooManyApps:
            raise RegistrationError(
                "invalid_client_metadata", "Too many apps registered today that nobody let in: come back tomorrow."
            ) from None

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        wanted = {"client": client.client_id, **params.model_dump(mode="json")}
        return f"{reverse('oauth_consent')}?request={signing.dumps(wanted, salt=WANTED, compress=True)}"

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> GrantCode | None:
        grant = await self._grant(grants.CODE, authorization_code, client)
        return (
            None
            if grant is None
            else GrantCode(
                grant=grant.pk,
                code=authorization_code,
                scopes=grant.capabilities,
                expires_at=grant.expires_at.timestamp(),
                client_id=client.client_id,
                code_challenge=grant.code_challenge,
                redirect_uri=AnyUrl(grant.redirect_uri),
                redirect_uri_provided_explicitly=grant.is_redirect_named,
                resource=grant.resource or None,
            )
        )

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: GrantCode
    ) -> OAuthToken:
        return await self._exchange(grants.CODE, authorization_code.code, client)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> GrantRefresh | None:
        grant = await self._grant(grants.REFRESH, refresh_token, client)
        return (
            None
            if grant is None
            else GrantRefresh(
                grant=grant.pk,
                token=refresh_token,
                client_id=client.client_id,
                scopes=grant.capabilities,
                expires_at=int(grant.expires_at.timestamp()),
            )
        )

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: GrantRefresh, scopes: list[str]
    ) -> OAuthToken:
        return await self._exchange(grants.REFRESH, refresh_token.token, client)

    async def load_access_token(self, token: str) -> AccessToken | None:
        raise NotImplementedError("access tokens are keys, and proven as such")

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        raise NotImplementedError("the page of revocation ends the grant itself")

    async def _grant(self, kind: str, text: str, client: OAuthClientInformationFull) -> OAuthGrant | None:
        return await sync_to_async(grants.grant_of)(kind, text, uuid.UUID(client.client_id))

    async def _exchange(self, kind: str, text: str, client: OAuthClientInformationFull) -> OAuthToken:
        grant = await self._grant(kind, text, client)
        try:
            if grant is None:
                raise grants.NoGrant
            tokens = await sync_to_async(grants.exchange)(grant)
        except grants.NoGrant:
            raise TokenError("invalid_grant", "It is used up, or was taken back.") from None
        return OAuthToken(
            access_token=tokens.access,
            expires_in=tokens.seconds,
            scope=" ".join(tokens.capabilities),
            refresh_token=tokens.refresh,
        )


def client_of(client_id: str) -> OAuthClient | None:
    row_id = as_uuid(client_id)
    return OAuthClient.objects.filter(pk=row_id).first() if row_id else None


def is_safe(address: str) -> bool:
    """Tell whether an answer may be sent there: over https, to this machine, or to an app by a scheme of its own."""
    parts = urlsplit(address)
    if len(address) > LONGEST_ADDRESS or parts.fragment or not _place.fullmatch(parts.netloc):
        return False
    if parts.scheme in ("http", "https"):
        return bool(parts.netloc) and (parts.scheme == "https" or parts.hostname in LOCAL)
    return parts.scheme not in BARRED
