from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models.functions import Lower

from workspaces.ids import uuid7


class User(AbstractUser):
    """A person. What they may do in a workspace is said by their membership."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    email = models.EmailField("email address")

    class Meta(AbstractUser.Meta):
        constraints = [models.UniqueConstraint(Lower("email"), name="user_email_unique")]
