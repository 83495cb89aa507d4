"""Run Django's own migrate, with the walls between workspaces down while tables change, then up
again around all there are."""

from typing import Any

from django.core.management.commands import migrate
from django.db import connections

from memoryproject.postgres import database_roles, walls
from memoryproject.postgres.base import one_line_refusals


class Command(migrate.Command):
    def execute(self, *args: Any, **options: Any) -> str | None:
        with one_line_refusals(is_migrating=True):
            return super().execute(*args, **options)

    def handle(self, *args: Any, **options: Any) -> None:
        connection = connections[options["database"]]
        with connection.cursor() as cursor:
            # A step that changes rows sees those of all workspaces.
            cursor.execute(f"set {walls.UPKEEP} = 'on'")
        walls.drop_views(connection)
        super().handle(*args, **options)
        granted = database_roles.prepare(connection)
        if granted.why and options["verbosity"]:
            self.stderr.write(granted.warning)
