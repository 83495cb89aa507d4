from django.contrib.postgres.fields import ArrayField
from django.db import models

from workspaces.models.key import ApiKey
from workspaces.models.workspace import Row, Subject, User, Workspace


class OAuthClient(Row):
    """An app as it registered itself. Its id is its `client_id`; it holds no secret, for each code is bound to its
    asker by PKCE."""

    name = models.CharField(max_length=200)
    redirect_uris = ArrayField(models.CharField(max_length=2000))
    details = models.JSONField(default=dict)  # the rest of what it registered, as RFC 7591 has it
    used_at = models.DateTimeField(null=True, editable=False)  # by the first consent
    registered_by = models.CharField(max_length=64, editable=False)  # a digest of the network it came from

    class Meta:
        verbose_name = "OAuth app"
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name


class OAuthGrant(Row):
    """The consent of a person that an app acts in a workspace. Its access token is `key`; `turn` counts the tokens
    given out, so that one of an earlier turn is known for used up."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    client = models.ForeignKey(OAuthClient, models.CASCADE, related_name="grants")
    user = models.ForeignKey(User, models.CASCADE, related_name="+")
    subject = models.ForeignKey(Subject, models.CASCADE, null=True, blank=True, related_name="+")
    key = models.OneToOneField(ApiKey, models.CASCADE, null=True, related_name="grant")  # none before the first turn
    capabilities = ArrayField(models.CharField(max_length=10))
    code_challenge = models.CharField(max_length=128)
    redirect_uri = models.CharField(max_length=2000)
    is_redirect_named = models.BooleanField(default=True)
    resource = models.CharField(max_length=2000, blank=True)
    turn = models.PositiveIntegerField(default=0)
    expires_at = models.DateTimeField()  # of the code, then of the refresh token
    revoked_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        verbose_name = "connected app"
        ordering = ["-id"]
        indexes = [models.Index("user", "workspace", name="oauth_grant_of_user")]
