"""Keeping what a run measured, in the installation that the settings name."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import connection
from django.utils import timezone

from memories.models import EvaluationRun


def keep(
    kind: str, name: str, started: datetime, figures: Mapping[str, float], details: Any
) -> EvaluationRun | None:
    """The kept run; None where there is no installation yet: measuring does not make one."""
    home = settings.EMBEDDED_POSTGRES
    if home is not None and not (home.data / "PG_VERSION").exists():
        return None
    if EvaluationRun._meta.db_table not in connection.introspection.table_names():
        return None
    seconds = (timezone.now() - started).total_seconds()
    return EvaluationRun.objects.create(
        kind=kind,
        name=name,
        started_at=started,
        seconds=round(seconds, 1),
        figures=dict(figures),
        details=details,
    )
