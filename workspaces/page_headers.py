"""What browsers may do with our pages: run our own scripts and ask nobody else for anything."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

ADMIN, REDOC = "/admin/", "/api/redoc"
# Styles stand in attributes and elements of unfold's, Swagger's and our own pages; no script does.
POLICY = (
    "default-src 'self'; script-src 'self'{script}; style-src 'self' 'unsafe-inline';"
    " img-src 'self' data:; worker-src 'self'{worker}; object-src 'none'; base-uri 'none';"
    " form-action 'self'; frame-ancestors 'none'"
)
PLAIN = POLICY.format(script="", worker="")
BY_PATH = {
    # unfold's pages are written for Alpine, which makes functions of the words in attributes; its
    # build without eval does not know what stands in them.
    ADMIN: POLICY.format(script=" 'unsafe-eval'", worker=""),
    REDOC: POLICY.format(script="", worker=" blob:"),
}
PERMISSIONS = ", ".join(
    f"{feature}=()"
    for feature in (
        "accelerometer", "autoplay", "browsing-topics", "camera", "display-capture",
        "encrypted-media", "geolocation", "gyroscope", "magnetometer", "microphone", "midi",
        "payment", "serial", "usb",
    )
)  # fmt: skip


class PageHeadersMiddleware:
    """For HTML only: programs do not read these headers."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if response.headers.get("Content-Type", "").startswith("text/html"):
            found = (policy for path, policy in BY_PATH.items() if request.path.startswith(path))
            response.headers["Content-Security-Policy"] = next(found, PLAIN)
            response.headers["Permissions-Policy"] = PERMISSIONS
        return response
