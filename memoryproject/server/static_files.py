"""Addresses of files for pages: below the path at which a proxy serves this server, if there is one."""

from collections.abc import Callable

from django.contrib.staticfiles.storage import StaticFilesStorage
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import get_script_prefix


class PrefixedStaticFiles(StaticFilesStorage):
    def url(self, name: str | None) -> str:
        return get_script_prefix().rstrip("/") + super().url(name)


def own_file(name: str) -> Callable[[HttpRequest], str]:
    """Return what tells the address of a file of ours, when a page asks for it."""
    return lambda request: static(f"memoryproject/{name}")
