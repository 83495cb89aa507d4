"""Attributes with one value, and words of change, that a workspace added to those that ship."""

import uuid
from typing import Any, Generic, TypeVar

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q

from memories.language.english.statements import OwnChange, OwnSlot
from memories.language.english.statements.workspace_word_faults import change_faults, slot_faults
from memories.language.english.workspace_patterns import OwnPattern, faults
from memories.language.expressions import LONGEST_REGEX, Fault
from memories.models.conversation import Visibility
from memories.models.memory import Category
from workspaces.models import Row, Workspace

NAME = r"^[a-z0-9][a-z0-9_-]*$"
OwnRow = TypeVar("OwnRow", bound=models.Model, covariant=True)
Value = TypeVar("Value")  # what a row is to its reader


class OwnWordsRow(Row):
    """The columns that both have: a name, whether it is in use, and examples that test it."""

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
        """Check that it can be used, and that its examples are as they say."""
        found: dict[str, list[str]] = {}
        for fault in self.faults():
            found.setdefault(fault.field, []).append(fault.message)
        if found:
            raise ValidationError(found)

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save it if it is good; raises ValidationError otherwise."""
        self.full_clean()
        super().save(*args, **kwargs)


class InUseQuerySet(models.QuerySet[OwnRow], Generic[OwnRow, Value]):
    def in_use(self, workspace_id: uuid.UUID) -> tuple[Value, ...]:
        """Return the enabled ones of a workspace, by name."""
        rows: models.QuerySet[Any] = self.filter(workspace_id=workspace_id, enabled=True)
        return tuple(row.value for row in rows.order_by("name"))


class WorkspaceSlotQuerySet(InUseQuerySet["WorkspaceSlot", OwnSlot]):
    pass


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


class WorkspaceChangeQuerySet(InUseQuerySet["WorkspaceChange", OwnChange]):
    pass


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


class WorkspacePatternQuerySet(InUseQuerySet["WorkspacePattern", OwnPattern]):
    pass


class WorkspacePattern(Row):
    """A form of words that makes a claim; facts it finds have the rule `workspace:<name>`."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+")
    name = models.CharField(
        max_length=80,
        validators=[RegexValidator(NAME, "Lower-case letters, digits, hyphens and underscores.")],
    )
    category = models.CharField(max_length=12, choices=Category, default=Category.OTHER)
    regex = models.TextField(
        max_length=LONGEST_REGEX,
        help_text="In RE2's syntax, searched in one sentence whatever its case; name the parts "
        "that the statement needs: (?P<tool>\\w+).",
    )
    template = models.CharField(
        max_length=500,
        blank=True,
        help_text="The statement, of {speaker} and the named parts. Empty: the sentence itself in the third person.",
    )
    confidence = models.FloatField(default=0.8, validators=[MinValueValidator(0), MaxValueValidator(1)])
    visibility = models.CharField(
        max_length=7, choices=Visibility, blank=True, help_text="Empty: as the category has it."
    )
    enabled = models.BooleanField(default=True)
    examples = ArrayField(models.TextField(), default=list)
    counter_examples = ArrayField(models.TextField(), default=list, blank=True)

    objects = WorkspacePatternQuerySet.as_manager()

    class Meta:
        verbose_name = "pattern"
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["workspace", "name"], name="pattern_name_once"),
            models.CheckConstraint(condition=Q(confidence__gte=0, confidence__lte=1), name="pattern_confidence_range"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def value(self) -> OwnPattern:
        return OwnPattern(self.name, self.category, self.regex, self.template, self.confidence, self.visibility)

    def clean(self) -> None:
        """Check that it compiles, that its template can be filled, and that its examples are as
        they say."""
        found: dict[str, list[str]] = {}
        for fault in faults(self.value, self.examples, self.counter_examples):
            found.setdefault(fault.field, []).append(fault.message)
        if found:
            raise ValidationError(found)

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save it if it is good; raises ValidationError otherwise."""
        self.full_clean()
        super().save(*args, **kwargs)
