"""Rows that guard the login: wrong tries and the pauses after them, and the second factor."""

from django.db import models

from workspaces.models.workspace import Row, User


class LoginPause(models.Model):
    """The number of wrong tries of a secret in a row, and the earliest time of the next.

    `key` says what is counted: an account, an address, a browser that was let in before.
    """

    key = models.CharField(max_length=80, primary_key=True)
    failures = models.PositiveIntegerField(default=0)
    tried_at = models.DateTimeField(db_index=True)
    not_before = models.DateTimeField()


class LoginAttempt(Row):
    """A wrong password, code or link. `name` is a digest: people type passwords there, too."""

    class Kind(models.TextChoices):
        PASSWORD = "password"
        CODE = "code"
        LINK = "link"

    kind = models.CharField(max_length=10, choices=Kind)
    user = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    name = models.CharField(max_length=32)
    address = models.CharField(max_length=45)
    request_id = models.CharField(max_length=64)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["created_at"], name="login_attempt_age")]

    def __str__(self) -> str:
        return f"wrong {self.kind} from {self.address}"


class SecondFactor(models.Model):
    """Codes that change with time. The secret is made of `nonce`, the user and SECRET_KEY, so that
    the database alone gives nobody the codes. Secrets of release 0.1.0 were made without the user,
    which `seal` proves. `last_step` is that of the last accepted code."""

    user = models.OneToOneField(User, models.CASCADE, primary_key=True, related_name="second_factor")
    nonce = models.CharField(max_length=64)
    seal = models.CharField(max_length=64, default="", db_default="")
    confirmed_at = models.DateTimeField(null=True)
    last_step = models.BigIntegerField(default=0)


class RecoveryCode(models.Model):
    """An unused recovery code, as a digest."""

    user = models.ForeignKey(User, models.CASCADE, related_name="recovery_codes")
    digest = models.CharField(max_length=64)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "digest"], name="recovery_code_once")]
