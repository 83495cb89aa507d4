"""Django's PostgreSQL backend, which also starts the embedded server when the first connection is
made.

So `--help`, type checkers and `collectstatic` never start one."""

from typing import Any

import psycopg
from django.conf import settings
from django.db.backends.postgresql import base

from memoryproject import embedded_postgres
from memoryproject.postgres.client import DatabaseClient
from memoryproject.postgres.features import DatabaseFeatures
from memoryproject.postgres.validation import DatabaseValidation


class DatabaseWrapper(base.DatabaseWrapper):
    client_class = DatabaseClient
    features_class = DatabaseFeatures
    validation_class = DatabaseValidation

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        home = settings.EMBEDDED_POSTGRES
        if home is None:
            return super().get_new_connection(conn_params)
        embedded_postgres.ensure_running(home)
        try:
            return super().get_new_connection(conn_params)
        except psycopg.OperationalError:
            # The server may have been killed since, or be recovering from a killed backend.
            embedded_postgres.ensure_running(home, recheck=True)
            return super().get_new_connection(conn_params)
