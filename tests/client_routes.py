"""The routes that other servers' clients ask, for tests that walk all of them."""

from collections.abc import Iterator

from django.urls import URLPattern

from memories.compat import urls
from memories.models import Memory


def client_routes() -> Iterator[tuple[str, str]]:
    """Each method of each route: method, pattern."""
    for route in urls.urlpatterns:
        assert isinstance(route, URLPattern)
        view = getattr(route.callback, "view_class", None)
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            if hasattr(view, method.lower()):
                yield method, str(route.pattern)


def address_of(pattern: str, memory: Memory, text: str | None = None) -> str:
    """From the root of the server; in the place of each id one that may be there, or `text`."""
    known = {
        "<str:row>": str(memory.pk),
        "<str:kind>": "user",
        "<str:organisation>": str(memory.workspace_id),
        "<str:project>": str(memory.workspace_id),
        "<str:name>": "a-document",
        "<path:name>": "ada",
        "<path:rest>": "nothing/",
    }
    for place, value in known.items():
        pattern = pattern.replace(place, value if text is None else text)
    return f"//{pattern}"
