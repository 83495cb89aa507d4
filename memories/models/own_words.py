"""Attributes with one value, and words of change, that a workspace added to those that ship."""

import uuid
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models

from memories.english.statements import OwnChange, OwnSlot
from memories.english.statements.workspace_word_faults import change_faults, slot_faults
from memories.expressions import LONGEST_REGEX, Fault
from workspaces.models import Row, Workspace

NAME = r"^[a-z0-9][a-z0-9_-]*$"


class OwnWordsRow(Row):
    """What both have: a name, whether it is in use, and examples that hold it to its word."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    name = models.CharField(
        max_length=30,
        validators=[RegexValidator(NAME, "Lower-case letters, digits, hyphens and underscores.")],
    )
    enabled = models.BooleanField(default=True)
    examples = ArrayField(models.TextField(), default=list)
    counter_examples = ArrayField(models.TextField(), default=list, blank=True)

    class Meta:
        abstract = True
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def faults(self) -> list[Fault]:
        raise NotImplementedError

    def clean(self) -> None:
        """It can be used, and its examples are as they say."""
        found: dict[str, list[str]] = {}
        for fault in self.faults():
            found.setdefault(fault.field, []).append(fault.message)
        if found:
            raise ValidationError(found)

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Raises ValidationError: one that is no good is never stored."""
        self.full_clean()
        super().save(*args, **kwargs)


class WorkspaceSlotQuerySet(models.QuerySet["WorkspaceSlot"]):
    def in_use(self, workspace_id: uuid.UUID) -> tuple[OwnSlot, ...]:
        """The enabled ones of a workspace, by name."""
        rows = self.filter(workspace_id=workspace_id, enabled=True).order_by("name")
        return tuple(row.value for row in rows)


class WorkspaceSlot(OwnWordsRow):
    """An attribute that has one value at a time: a newer value supersedes by `slot:own:<name>`."""

    regex = models.TextField(
        max_length=LONGEST_REGEX,
        help_text="In RE2's syntax, searched in a statement whatever its case. (?P<value>...) is "
        "the value; (?P<subject>...) whom it is about, and (?P<key>...) what tells two values "
        "apart, may be named too.",
    )

    objects = WorkspaceSlotQuerySet.as_manager()

    class Meta(OwnWordsRow.Meta):
        verbose_name = "slot"
        constraints = [
            models.UniqueConstraint(fields=["workspace", "name"], name="slot_name_once"),
        ]

    @property
    def value(self) -> OwnSlot:
        return OwnSlot(self.name, self.regex)

    def faults(self) -> list[Fault]:
        return slot_faults(self.value, self.examples, self.counter_examples)


class WorkspaceChangeQuerySet(models.QuerySet["WorkspaceChange"]):
    def in_use(self, workspace_id: uuid.UUID) -> tuple[OwnChange, ...]:
        """The enabled ones of a workspace, by name."""
        rows = self.filter(workspace_id=workspace_id, enabled=True).order_by("name")
        return tuple(row.value for row in rows)


class WorkspaceChange(OwnWordsRow):
    """Words that end what was said of the same thing: "mothballed", "sunset"."""

    verbs = models.CharField(max_length=500, help_text="Words that end something, with blanks.")
    ended = models.CharField(
        max_length=500,
        default="*",
        help_text="Of what they end, the words that say it (use run own). *: whatever was said.",
    )

    objects = WorkspaceChangeQuerySet.as_manager()

    class Meta(OwnWordsRow.Meta):
        verbose_name = "change word"
        constraints = [
            models.UniqueConstraint(fields=["workspace", "name"], name="change_name_once"),
        ]

    @property
    def value(self) -> OwnChange:
        return OwnChange(self.name, self.verbs, self.ended)

    def faults(self) -> list[Fault]:
        return change_faults(self.value, self.examples, self.counter_examples)
