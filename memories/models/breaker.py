from django.db import models
from django.utils import timezone


class Breaker(models.Model):
    """How one way to a model does, for all processes; a row from its first failure on.

    `failures` and `timeouts` in a row since it answered last. While it is open nobody waits for it,
    and after `next_try_at` one process tries again. `since` is when it came into this state.
    """

    class State(models.TextChoices):
        CLOSED = "closed"
        OPEN = "open"

    id = models.BigAutoField(primary_key=True)
    name = models.CharField(max_length=300, unique=True)
    purpose = models.CharField(max_length=20)
    state = models.CharField(max_length=10, choices=State, default=State.CLOSED)
    failures = models.PositiveIntegerField(default=0)
    timeouts = models.PositiveIntegerField(default=0)
    since = models.DateTimeField(default=timezone.now)
    next_try_at = models.DateTimeField(null=True, blank=True)
    detail = models.CharField(max_length=200, blank=True)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state="closed") | models.Q(next_try_at__isnull=False),
                name="breaker_open_tried_again",
            )
        ]

    def __str__(self) -> str:
        return f"{self.name}: {self.state}"

    @property
    def is_open(self) -> bool:
        return self.state == self.State.OPEN
