"""The OpenAPI schema as it is served: made once for all processes of a version and all callers."""

import hashlib
import logging
import os
import tempfile
from functools import cache
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.http.response import HttpResponse
from django.urls import get_script_prefix
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer

from workspaces.api.problems import Problem, not_found, page

log = logging.getLogger(__name__)

# Formats of `?format=`; without it the first whose type is accepted.
TYPES = {
    "openapi": "application/vnd.oai.openapi",
    "yaml": "application/yaml",
    "openapi-json": "application/vnd.oai.openapi+json",
    "json": "application/json",
}
RENDERERS = {"yaml": OpenApiYamlRenderer, "json": OpenApiJsonRenderer}
# Where a schema says at which address its paths begin.
OWN_SERVER = {"yaml": b"\n- url: %s\n", "json": b'"url": "%s"'}
SOURCES = ("memories", "memoryproject", "workspaces")


@csrf_exempt
def view(request: HttpRequest) -> HttpResponseBase:
    if request.method not in ("GET", "HEAD"):
        response = page(Problem(405, "The schema is read with GET."), request)
        response.headers["Allow"] = "GET, HEAD"
        return response
    name = request.GET.get("format")
    if name is None:
        accepted = request.get_preferred_type([*TYPES.values()])
        name = next((each for each, kind in TYPES.items() if kind == accepted), None)
        if name is None:
            return page(Problem(406, f"There is: {', '.join(TYPES.values())}."), request)
    elif name not in TYPES:
        return page(not_found(f"This format (there is {', '.join(TYPES)})"), request)
    language = "json" if name.endswith("json") else "yaml"
    text, etag = schema(language)
    if (prefix := get_script_prefix()) != "/":  # behind a proxy at a sub-path
        root, own = (OWN_SERVER[language] % path for path in (b"/", prefix.encode()))
        text, etag = text.replace(root, own), f'{etag[:-1]}{prefix}"'
    response = HttpResponse(text, content_type=TYPES[name])
    response.headers["Content-Disposition"] = f'inline; filename="memoryproject.{language}"'
    response.headers["ETag"] = etag
    patch_vary_headers(response, ("Accept",))
    return get_conditional_response(request, etag=etag, response=response) or response


@cache
def schema(language: str) -> tuple[bytes, str]:
    """The text and its ETag: from the file, if another process of this version has made it."""
    file = Path(settings.SCHEMA_DIR, f"{version()}.{language}")
    text = file.read_bytes() if file.exists() else made()[language]
    return text, f'"{hashlib.sha256(text).hexdigest()[:32]}"'


@cache
def made() -> dict[str, bytes]:
    """Make and keep the schema by language, once in a process: a second answer differs."""
    answer = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    texts: dict[str, bytes] = {}
    for language, renderer in RENDERERS.items():
        text = renderer().render(answer, renderer_context={})
        texts[language] = text.encode() if isinstance(text, str) else text
    try:
        keep(texts)
    except OSError as error:  # a full disk, say: each process makes its own
        log.warning("the OpenAPI schema is not kept in %s: %s", settings.SCHEMA_DIR, error)
    return texts


def keep(texts: dict[str, bytes]) -> None:
    """Write each file whole or not at all; files of older versions are removed."""
    folder = Path(settings.SCHEMA_DIR)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for language, text in texts.items():
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as part:
            part.write(text)
        os.replace(part.name, folder / f"{version()}.{language}")
    for other in folder.iterdir():
        if other.stem != version() and other.suffix[1:] in texts:
            other.unlink(missing_ok=True)


@cache
def version() -> str:
    """A digest that changes with the source."""
    mark = hashlib.sha256(str(settings.SPECTACULAR_SETTINGS["VERSION"]).encode())
    for folder in SOURCES:
        for source in sorted(Path(settings.BASE_DIR, folder).rglob("*.py")):
            about = source.stat()
            mark.update(f"{source} {about.st_mtime_ns} {about.st_size}\n".encode())
    return mark.hexdigest()[:32]
