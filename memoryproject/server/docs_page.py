"""The documentation built by `mkdocs build`, at /docs/; if there is none, how to build it."""

import base64
import hashlib
import mimetypes
import re
from pathlib import Path

from django.conf import settings
from django.core.exceptions import SuspiciousFileOperation
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils._os import safe_join
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_safe

from workspaces.middleware import POLICY

KEPT = "public, max-age=300"  # a page may look old so long after it was built anew
TYPES = {".yaml": "application/yaml", ".woff2": "font/woff2"}  # not known everywhere
SCRIPT = re.compile(rb"<script>(.*?)</script>", re.DOTALL)


@require_safe
def view(request: HttpRequest, path: str = "") -> HttpResponseBase:
    """Serve a file of the site; for a folder its index.html."""
    site = Path(settings.DOCS_SITE)
    if not (site / "index.html").is_file():
        return render(request, "registration/docs_missing.html", status=404)
    try:
        file = Path(safe_join(site, path))
    except SuspiciousFileOperation:
        raise Http404 from None
    if (file / "index.html").is_file():
        if path and not path.endswith("/"):
            return redirect(f"{request.path}/")  # addresses in a page begin at its folder
        file = file / "index.html"
    if not file.is_file():
        raise Http404
    content = file.read_bytes()
    kind = TYPES.get(file.suffix) or mimetypes.guess_type(file.name)[0]
    is_text = kind is not None and kind.startswith("text/")
    response = HttpResponse(
        content,
        content_type=f"{kind}; charset=utf-8" if is_text else kind or "application/octet-stream",
    )
    etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    response.headers["ETag"], response.headers["Cache-Control"] = etag, KEPT
    if file.suffix == ".html":
        # Inline scripts of a page are allowed by their digests: no others run.
        digests = {hashlib.sha256(script).digest() for script in SCRIPT.findall(content)}
        named = sorted(f" 'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
        policy = POLICY.format(script="".join(named), worker="")
        response.headers["Content-Security-Policy"] = policy
    return get_conditional_response(request, etag=etag, response=response) or response
