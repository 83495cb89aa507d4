"""How a migration changes a table: the column first, what binds it after."""

import pytest
from django.db import IntegrityError, connection, models, transaction

from memories.models import EmbeddingModel
from workspaces.models import ApiKey, Workspace

pytestmark = pytest.mark.django_db


def added(name: str, field: "models.Field[object, object]") -> list[str]:
    """The statements that add a column to the table of workspaces, which then has it."""
    field.set_attributes_from_name(name)
    field.model = Workspace
    with connection.schema_editor(collect_sql=True) as editor:
        editor.add_field(Workspace, field)
    told = [line for line in editor.collected_sql if not line.startswith("--")]
    with connection.cursor() as cursor:
        for line in told:
            cursor.execute(line)
    return told


def add_columns(statements: list[str]) -> list[str]:
    return [text for text in statements if "ADD COLUMN" in text]


def test_a_column_comes_first_and_what_must_hold_of_it_after() -> None:
    told = added("rank", models.PositiveIntegerField(null=True, unique=True))
    (column,) = add_columns(told)
    assert not {"CHECK", "UNIQUE"} & {*column.split()}
    workspace = Workspace.objects.create(slug="one", name="One")
    with connection.cursor() as cursor:
        cursor.execute("update workspaces_workspace set rank = 3 where id = %s", [workspace.pk])
        with pytest.raises(IntegrityError, match="rank"), transaction.atomic():
            cursor.execute("update workspaces_workspace set rank = -1")
        Workspace.objects.create(slug="two", name="Two")
        with pytest.raises(IntegrityError, match="rank"), transaction.atomic():
            cursor.execute("update workspaces_workspace set rank = 3")


def test_a_key_to_another_table_comes_after_its_column() -> None:
    field = models.ForeignKey(EmbeddingModel, models.CASCADE, null=True, related_name="+")
    told = added("spoken", field)
    (column,) = add_columns(told)
    assert "REFERENCES" not in column
    assert any("FOREIGN KEY" in text for text in told)


def test_many_to_many_is_a_table_of_its_own() -> None:
    with connection.schema_editor(collect_sql=True) as editor:
        editor.add_field(ApiKey, ApiKey._meta.get_field("subjects"))
    assert any("CREATE TABLE" in text for text in editor.collected_sql)
