"""The callers' own names of a row's subject, agent and thread."""

from typing import Any, Self, TypeVar

from django.db import models
from django.db.models import F

from workspaces.scope import Scope

# The names of a row: the callers' own ids of its subject, its agent and its thread.

NAMES = {
    "user_external": "subject",
    "agent_external": "agent",
    "thread_external": "conversation",
}
# In SQL, of a row whose subject, agent and thread are s, a and c: see `name_joins`.
NAME_COLUMNS = """s.external_id as user_external, a.external_id as agent_external,
       c.external_id as thread_external"""
NamedRow = TypeVar("NamedRow", bound=models.Model, covariant=True)


def name_joins(row: str) -> str:
    """Return the joins for names; `row` is the alias of a table with a subject, an agent and a
    conversation."""
    return f"""left join workspaces_subject s on s.id = {row}.subject_id
left join workspaces_agent a on a.id = {row}.agent_id
left join memories_conversation c on c.id = {row}.conversation_id"""


class NamedQuerySet(models.QuerySet[NamedRow]):
    def with_names(self) -> Self:
        """Add `user_external`, `agent_external` and `thread_external`, those that the model has."""
        fields: set[Any] = {field.name for field in self.model._meta.fields}
        own = {name: to for name, to in NAMES.items() if to in fields}
        return self.annotate(**{name: F(f"{to}__external_id") for name, to in own.items()})


class AllOrNoneQuerySet(NamedQuerySet[NamedRow]):
    def visible_to(self, scope: Scope) -> Self:
        """Narrow to what `scope` sees: all of the workspace, since a row may be about anybody in
        it; none for a key of an agent, or one limited to subjects or spaces."""
        if scope.is_narrow:
            return self.none()
        return self.filter(workspace_id=scope.workspace_id)
