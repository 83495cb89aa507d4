"""`manage.py dbshell`."""

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.db.backends.postgresql import client

from memoryproject import embedded_postgres
from memoryproject.postgres_programs import program


class DatabaseClient(client.DatabaseClient):
    @classmethod
    def settings_to_cmd_args_env(
        cls, settings_dict: dict[str, Any], parameters: Iterable[str]
    ) -> tuple[list[str], dict[str, str] | None]:
        """The embedded server comes with its own psql, and runs while the shell is open."""
        args, env = super().settings_to_cmd_args_env(settings_dict, parameters)
        if settings.EMBEDDED_POSTGRES is None:
            return args, env
        embedded_postgres.ensure_running(settings.EMBEDDED_POSTGRES)
        return [str(program("psql")), *args[1:]], env
