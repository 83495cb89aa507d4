"""What `benchmark` and `evaluate` found, kept so that runs can be compared over time."""

from django.db import models
from django.utils import timezone


class EvaluationRun(models.Model):
    """One finished run of `benchmark` or `evaluate`, of this installation and of no workspace.

    `figures` is flat, for plotting: the figure's name to its value, like
    `{"hybrid, HTTP, 10k: p50 ms": 6.9, "hybrid, all: recall@10": 0.83}`. Names end in their unit or
    measure after the last ": ", and are the same from run to run; a run may lack some.
    `details` is what `--json` writes, in that command's own shape.
    """

    class Kind(models.TextChoices):
        BENCHMARK = "benchmark"
        RETRIEVAL = "retrieval"
        EXTRACTION = "extraction"
        CONFLICTS = "conflicts"

    kind = models.CharField(max_length=10, choices=Kind)
    name = models.CharField(max_length=200, help_text="What was measured: sizes, or the file.")
    started_at = models.DateTimeField(default=timezone.now)
    seconds = models.FloatField(help_text="How long the run took.")
    figures = models.JSONField(default=dict)
    details = models.JSONField(default=dict)

    class Meta:
        ordering = ["-started_at", "-id"]
        indexes = [models.Index(fields=["kind", "started_at"], name="evaluation_run_by_time")]

    def __str__(self) -> str:
        return f"{self.kind}: {self.name}"
