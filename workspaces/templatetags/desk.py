"""Filters for the templates of the admin."""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timesince import timesince
from django.utils.translation import gettext

from workspaces.time_zones import day_of

register = template.Library()


@register.filter
def named(actor: str, names: Mapping[str, str]) -> str:
    """The name that was looked up for an actor."""
    return names.get(actor, actor)


@register.filter
def when(at: datetime | None) -> SafeString | str:
    """Return an instant in the person's zone, as it sorts; desk.js writes it in the browser's
    locale."""
    if at is None:
        return ""
    here = timezone.localtime(at)
    return _time(here, f"{here:%Y-%m-%d %H:%M}")


@register.filter
def day(at: datetime | None) -> SafeString | str:
    if at is None:
        return ""
    found = day_of(at)
    return format_html('<time datetime="{0}">{0}</time>', found.isoformat())


@register.filter
def ago(at: datetime) -> SafeString:
    return _time(timezone.localtime(at), gettext("%(time)s ago") % {"time": timesince(at)})


def _time(here: datetime, text: str) -> SafeString:
    zone = timezone.get_current_timezone_name()
    told = f"{here:%Y-%m-%d %H:%M:%S} {zone}"
    return format_html('<time datetime="{}" title="{}">{}</time>', here.isoformat(), told, text)


@register.filter
def pretty(value: Any) -> str:
    """Format a JSON value for reading."""
    return json.dumps(value, indent=2, ensure_ascii=False)


@register.filter
def spaced(name: str) -> str:
    """Return `withoutEvidence` as `Without evidence`."""
    return re.sub(r"(?<=[a-z])([A-Z])", lambda found: f" {found[0].lower()}", name).capitalize()
