"""The caller over MCP: the key that is shown, and the user that address, header or key pin."""

from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.utils.http import is_same_domain

from memories.index import workspace_index
from memories.language.bounds import LONGEST_ID
from memories.models import Memory
from memoryproject.postgres import visible
from memoryproject.server.front.wire import TENANT
from workspaces.api.problems import Problem, invalid, not_found, refused
from workspaces.auth import UNKNOWN_KEY
from workspaces.keys import scope_for_key
from workspaces.login.throttle import is_of_this_machine
from workspaces.models import Subject
from workspaces.scope import OF_OTHERS, Scope, covers, subject_to_read, subject_to_write

PATH = "/mcp"
# Where clients of OAuth ask. The other address names none, for clients would then ignore their key.
OAUTH_PATH = "/mcp/oauth"


@dataclass(frozen=True, slots=True)
class McpAsker:
    """`user_id` is the pinned user, "" where none is. `environ` is that of the request, into which
    goes what the front has to know."""

    scope: Scope
    user_id: str
    environ: dict[str, Any]

    def user(self, named: str) -> str:
        """Return the user a call is about. Problem where another user is pinned, or the key does
        not cover the user."""
        if self.user_id and named and named != self.user_id:
            raise refused("This connection is of one user: leave user_id out.", "user_id")
        if named and not covers(self.scope, named):
            raise refused(OF_OTHERS, "user_id")
        return self.user_id or named

    def writing(self) -> Scope:
        """The scope for writing; for a pinned user, that of a key limited to them: nothing goes
        into threads of others, and no message of others is taken for the user's."""
        if not self.user_id:
            return self.scope
        subject = subject_to_write(self.scope, self.user_id)
        return replace(self.scope, subject_ids=(subject.pk,)) if subject else self.scope

    def memory(self, row: Any, *, to_change: bool = False) -> Memory:
        """Return the memory of that id: for a pinned user their own or, to read, one about nobody
        in particular. Problem where the asker may know of none."""
        memory = Memory.objects.visible_to(self.scope).with_names().filter(pk=row).first()
        if memory is None:
            raise not_found("This memory")
        if self.user_id:
            subject = subject_to_read(self.scope, self.user_id)
            if memory.subject_id != subject and (to_change or memory.subject_id is not None):
                raise not_found("This memory")
        return memory


def asker_of(environ: dict[str, Any]) -> McpAsker:
    """Authenticate the caller by API key. Problem without a valid key, for a page of another site,
    and for a user whom the key does not cover."""
    request = HttpRequest()
    request.META = environ
    request.get_host()  # raises for a name that is not ours: a page elsewhere may lead here by it
    if not is_own_origin(request):
        raise Problem(403, "Pages of other sites may not ask here.", code="origin")
    if settings.BEHIND_TLS_PROXY and not request.is_secure() and not is_of_this_machine(request):
        raise Problem(403, "Ask over https: this came in plain text.")
    scheme, _, key = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme.lower() != "bearer":
        raise Problem(401, "Show an API key: Authorization: Bearer <key>.")
    scope = scope_for_key(key.strip(), workspace_index.BESIDE_KEY)
    if scope is None:
        raise Problem(401, UNKNOWN_KEY)
    environ[TENANT] = str(scope.workspace_id)
    visible.narrow(scope.workspace_id)
    return McpAsker(scope, pinned_user(scope, environ), environ)


def is_of_oauth(environ: dict[str, Any]) -> bool:
    """Tell whether the address is that of clients of OAuth."""
    return f"{environ['PATH_INFO']}/".startswith(f"{OAUTH_PATH}/")


def is_own_origin(request: HttpRequest) -> bool:
    """Tell whether no page of another site asks, as Django decides it for its forms."""
    origin = request.META.get("HTTP_ORIGIN")
    if origin is None or origin == f"{request.scheme}://{request.get_host()}":
        return True
    asked = urlsplit(origin)
    for trusted in map(urlsplit, settings.CSRF_TRUSTED_ORIGINS):
        pattern = trusted.netloc.removeprefix("*")
        if asked.scheme == trusted.scheme and is_same_domain(asked.netloc, pattern):
            return True
    return False


def pinned_user(scope: Scope, environ: dict[str, Any]) -> str:
    """Return the user pinned by the address, the header X-User-Id, or a key of one subject; Problem
    where two disagree or the key is not for this user."""
    path = environ["PATH_INFO"].encode("latin-1").decode(errors="replace")
    by_path = path.removeprefix(OAUTH_PATH if is_of_oauth(environ) else PATH).strip("/")
    by_header = environ.get("HTTP_X_USER_ID", "").encode("latin-1", "replace").decode(errors="replace")
    if by_path and by_header and by_path != by_header:
        raise invalid("X-User-Id", "The address names another user.")
    user = by_path or by_header
    if "\0" in user or len(user) > LONGEST_ID:
        raise invalid("userId", f"Must be a name of at most {LONGEST_ID} characters.")
    if scope.subject_ids is None:
        return user
    if user and not covers(scope, user):
        raise refused(OF_OTHERS, "userId")
    if not user and len(scope.subject_ids) == 1:
        only = Subject.objects.filter(pk=scope.subject_ids[0])
        return only.values_list("external_id", flat=True).first() or ""
    return user
