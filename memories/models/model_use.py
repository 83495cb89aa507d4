"""The ledger of model calls, what models cost, and how much is searched."""

from django.core.validators import MinValueValidator
from django.db import models

from memories.models.memory import Memory
from workspaces.models import Row, Subject, Workspace


class ModelUse(models.Model):
    """Calls of one model by one workspace for one purpose on one day, in UTC. `cached_tokens` of the
    input were found in the server's cache. `cost` is by the prices of the day: later ones do not change
    it."""

    PURPOSES = (
        "embedding",
        "extraction",
        "features",
        "query",
        "rerank",
        "summaries",
        "intents",
    )

    id = models.BigAutoField(primary_key=True)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    day = models.DateField()
    purpose = models.CharField(max_length=20)
    model = models.CharField(max_length=300)
    calls = models.BigIntegerField(default=0)
    failed = models.BigIntegerField(default=0)
    input_tokens = models.BigIntegerField(default=0)
    output_tokens = models.BigIntegerField(default=0)
    cached_tokens = models.BigIntegerField(default=0, db_default=0)
    cost = models.DecimalField(max_digits=24, decimal_places=10, default=0)

    class Meta:
        verbose_name_plural = "model use"
        constraints = [models.UniqueConstraint(fields=["workspace", "day", "purpose", "model"], name="model_use_once")]

    def __str__(self) -> str:
        return f"{self.model} {self.day}: {self.calls} for {self.purpose}"


class SearchUse(models.Model):
    """Searches of one day, in UTC, about one subject or nobody in particular, by one asker;
    `results` is the number of their hits, `empty` of searches without any."""

    id = models.BigAutoField(primary_key=True)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    day = models.DateField(db_index=True)
    subject = models.ForeignKey(Subject, models.CASCADE, null=True, related_name="+")
    actor = models.CharField(max_length=200, default="", db_default="")
    searches = models.BigIntegerField(default=0)
    results = models.BigIntegerField(default=0)
    empty = models.BigIntegerField(default=0)

    class Meta:
        verbose_name_plural = "search use"
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "day", "subject", "actor"],
                name="search_use_once",
                nulls_distinct=False,
            )
        ]

    def __str__(self) -> str:
        return f"{self.day}: {self.searches}"


class MemoryUse(models.Model):
    """The number of times that searches of one day, in UTC, served a memory to one asker."""

    id = models.BigAutoField(primary_key=True)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    day = models.DateField(db_index=True)
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="+", db_index=False)
    actor = models.CharField(max_length=200, default="", db_default="")
    times = models.BigIntegerField(default=0)

    class Meta:
        verbose_name_plural = "memory use"
        constraints = [models.UniqueConstraint(fields=["memory", "day", "actor"], name="memory_use_once")]

    def __str__(self) -> str:
        return f"{self.day}: {self.times}"


def _price(what: str) -> models.DecimalField:
    return models.DecimalField(
        max_digits=14,
        decimal_places=6,
        default=0,
        validators=[MinValueValidator(0)],
        help_text=what,
    )


class ModelPrice(Row):
    """The price of a model from now on, in the operator's currency."""

    model = models.CharField(
        max_length=300,
        unique=True,
        help_text="Its name as the settings give it, or “name at host” for one server of it.",
    )
    input_per_million = _price("For a million tokens that are sent.")
    output_per_million = _price("For a million tokens that are answered.")
    per_thousand_calls = _price("For a thousand calls, of what is paid so: rerankers.")

    class Meta:
        ordering = ["model"]

    def __str__(self) -> str:
        return self.model
