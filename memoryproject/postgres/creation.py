from django.db.backends.postgresql import creation


class DatabaseCreation(creation.DatabaseCreation):
    """Test databases go also while a thread or a process of a test is still letting go of one."""

    def _destroy_test_db(self, test_database_name: str, verbosity: int) -> None:
        name = self.connection.ops.quote_name(test_database_name)
        with self._nodb_cursor() as cursor:  # type: ignore[attr-defined]  # the stubs lack it
            cursor.execute(f"DROP DATABASE {name} WITH (FORCE)")
