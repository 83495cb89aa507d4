"""The page of errors: statuses, and the codes that the source gives to them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from bench.reference.markdown import cell, table
from memoryproject.postgres import base
from workspaces.api.json_requests import FAULTS
from workspaces.api.schema import ALWAYS, WITH_BODY

HEAD = """# Errors and status codes

Errors are `application/problem+json` (RFC 9457), on every route of the API:

```json
{"type": "about:blank", "title": "Bad Request", "status": 400, "code": "unknown_field",
 "detail": "limitt is not right: see errors.", "requestId": "5f0c...",
 "errors": [{"field": "limitt", "message": "There is no such field.", "code": "unknown_field"}]}
```

`code` is for programs and does not change; `detail` is for people. `errors` names each field that is
wrong by its path in the request; `also` holds further places with the same fault. `requestId` is in the
header `X-Request-Id`, too, and finds the request in the server's log. Routes of other servers' clients
answer in those clients' own form.
"""
MORE = {
    "405": "The route has no such method.",
    "408": "The body did not arrive in time (`BODY_TIMEOUT`).",
    "411": "A body in chunks without a Content-Length.",
    "412": "`If-Match` names another version than the current one.",
    "500": "The server failed; its log has the cause under the `requestId`.",
    "503": "The database, or a model that the request cannot do without, is not available; see `Retry-After`.",
    "504": "Its process was stuck, and was ended.",
    "507": "The server's disk has too little room; see `Retry-After`. Or the workspace keeps as many files as it may"
    " (`workspace_full`).",
}
# Constructors of errors: the status, and the places of message and code among the arguments.
MAKERS = {
    "Conflict": ("409", 0, 1),
    "conflict": ("409", 0, None),
    "Invalid": ("400", 1, 2),
    "invalid": ("400", 1, 2),
    "Problem": ("", 1, None),
    "Refusal": ("", 1, 2),  # of the front
    "FileRefused": ("", 1, 0),
    "FetchError": ("", 1, 0),
}
PLACEHOLDER = re.compile(r"\{[^{}]+\}")
CUSTOM = "PydanticCustomError"  # of a field of a request
# Of documents and of runs of connections: their codes are no problems of HTTP.
REFUSALS = ("FileRefused", "FetchError")
# Codes whose message is made elsewhere.
WORDS = {
    "budget": "What the workspace may spend on models is spent.",
    "database": "The database cannot be reached.",
    "fetch_failed": "The address did not answer as it should.",
    "fetch_refused": "The address may not be fetched, or answered with a refusal.",
    "attempts": "Its worker died too often.",
    "git_unavailable": "The program git is not installed, or too old.",
    "forbidden": "This key sees no other user.",
    "in_progress": "A request with this Idempotency-Key is still under way.",
    "masked": "The document is not read yet, or words in it are masked.",
    "legal_hold": "A legal hold keeps it.",
    "not_head": "It is not the newest version of its chain.",
    "ocr_unavailable": "Reading pictures needs the extra `ocr`.",
    "provider": "A model's provider failed. Try again later.",
    "process_ended": "The process that served it ended.",
    "rate_limited": "Its source wants a pause.",
    "secret": "It holds a password or a key.",
    "share": "Others wait: more than its share of the server is asked.",
    "stale": "Somebody decided meanwhile.",
    "too_few": "Too little was decided to learn from.",
    "stuck": "It took too long, and its process was ended.",
    "too_large": "It is larger than the server takes.",
    "workspace_full": "With this file the workspace would keep more than its share.",
    "worse_answers": "Golden questions would be answered worse; send `anyway` where that is meant.",
    "unknown_field": "There is no such field.",
}
FOLDERS = ("memories", "workspaces", "memoryproject")
FORMS = "memories/admin", "workspaces/admin", "workspaces/login"  # pages of people have no codes


def page(root: Path) -> str:
    statuses = {**ALWAYS, **WITH_BODY, **MORE}
    del statuses["default"]
    codes: dict[tuple[str, str], str] = {("400", "invalid"): "A value is not right."}
    refusals: dict[str, str] = {}
    for message, code in FAULTS.values():
        codes.setdefault(("400", code), PLACEHOLDER.sub("…", message))
    for status, code, message in made(root):
        if code in FAULTS:  # known by another code to who asks
            continue
        if status:
            codes.setdefault((status, code), message)
        else:
            refusals.setdefault(code, message)
    for code, message in (base.FULL, base.IS_READ_ONLY, base.NO_CONNECTION):
        codes["503", code] = message
    return "\n".join(
        [
            HEAD,
            "## Status codes\n",
            table(("status", "meaning"), [(f"`{s}`", cell(statuses[s])) for s in sorted(statuses)]),
            "## Codes\n\nA problem without a code of its own has its status as code (`not_found`).\n",
            table(
                ("status", "code", "for example"),
                [(f"`{s}`", f"`{code}`", cell(codes[s, code])) for s, code in sorted(codes)],
            ),
            "## Codes of documents\n\nA document that cannot be read, and a run of a connection that fails, end as `failed` with one of these as"
            " its `errorCode`.\n",
            table(
                ("errorCode", "for example"),
                [(f"`{code}`", cell(refusals[code])) for code in sorted(refusals)],
            ),
        ]
    )


def made(root: Path) -> Iterator[tuple[str, str, str]]:
    """Status, code and words of each error that the source makes with a code."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.py")):
            if not path.relative_to(root).as_posix().startswith(FORMS):
                yield from made_in(ast.parse(path.read_text()))


def made_in(tree: ast.Module) -> Iterator[tuple[str, str, str]]:
    texts: dict[str, ast.expr] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            texts.setdefault(node.targets[0].id, node.value)

    def words_at(call: ast.Call, place: int | None, keyword: str = "") -> str:
        nodes = [word.value for word in call.keywords if word.arg == keyword]
        nodes += call.args[place : place + 1] if place is not None else []
        node = nodes[0] if nodes else None
        node = texts.get(node.id) if isinstance(node, ast.Name) else node
        return text_of(node) if node else ""

    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        match call.func:
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in MAKERS or name == CUSTOM:
                status, message_at, code_at = MAKERS.get(name, ("400", 1, 0))
                code = words_at(call, code_at, "code")
                if name in ("Problem", "Refusal"):
                    status = words_at(call, 0)
                if code and (status or name in REFUSALS):
                    words = WORDS.get(code) or words_at(call, message_at)
                    yield status, code, PLACEHOLDER.sub("…", words)


def text_of(node: ast.expr) -> str:
    """Plain words, with an ellipsis where a value stands in them; of other expressions none."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) if isinstance(part, ast.Constant) else "…" for part in node.values)
    return ""
