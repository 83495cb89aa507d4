from typing import Any

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models.functions import Lower
from django.utils.crypto import salted_hmac

from workspaces.ids import uuid7


class User(AbstractUser):
    """A person. What they may do in a workspace is said by their membership."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    email = models.EmailField("email address")
    must_change_password = models.BooleanField(default=False, editable=False)
    # Sessions of an older number have ended.
    session_number = models.PositiveIntegerField(default=0, editable=False)

    class Meta(AbstractUser.Meta):
        constraints = [models.UniqueConstraint(Lower("email"), name="user_email_unique")]

    def set_password(self, raw_password: str | None) -> None:
        super().set_password(raw_password)
        self.must_change_password = False

    def _get_session_auth_hash(self, secret: Any = None) -> str:
        """What Django compares at every request, with our number beside the password."""
        return salted_hmac(
            "workspaces.models.User.session",
            f"{self.session_number}:{self.password}",
            secret=secret,
            algorithm="sha256",
        ).hexdigest()
