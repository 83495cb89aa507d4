"""What the admin's templates cannot say by themselves."""

import json
import re
from collections.abc import Mapping
from typing import Any

from django import template

register = template.Library()


@register.filter
def named(actor: str, names: Mapping[str, str]) -> str:
    """The name that was looked up for an actor."""
    return names.get(actor, actor)


@register.filter
def pretty(value: Any) -> str:
    """A JSON value, to be read."""
    return json.dumps(value, indent=2, ensure_ascii=False)


@register.filter
def spaced(name: str) -> str:
    """`withoutEvidence` as `Without evidence`."""
    return re.sub(r"(?<=[a-z])([A-Z])", lambda found: f" {found[0].lower()}", name).capitalize()
