"""Functions of the database that cross workspaces, few and named. They belong to a role that nobody
logs in as, and which the policies let through; each does one thing and returns ids, or yes or no.

`memoryproject/postgres/walls.py` makes them. Callers narrow what is visible by the answer
(`memoryproject/postgres/visible.py`), and only then read rows.
"""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import connection

from memoryproject.postgres import prepared, visible


@dataclass(frozen=True, slots=True)
class Crossing:
    """A function: its arguments and result, in SQL, and its query. `reads` are its tables, `rights`
    the further rights that it needs on the first of them; `how` is the rest of its definition."""

    name: str
    takes: str
    gives: str
    query: str
    reads: tuple[str, ...]
    rights: str = ""
    how: str = "stable"

    @property
    def signature(self) -> str:
        return f"{self.name}({self.takes})"


ALL_WORKSPACES = Crossing(
    "cross_all_workspaces",
    "",
    "uuid[]",
    "select array(select id from workspaces_workspace union select workspace_id from workspaces_workspaceremoval)",
    ("workspaces_workspace", "workspaces_workspaceremoval"),
)
WORKSPACE_OF_KEY = Crossing(
    "cross_workspace_of_key",
    "text",
    "uuid",
    "select workspace_id from workspaces_apikey where prefix = $1",
    ("workspaces_apikey",),
)
WORKSPACES_OF_USER = Crossing(
    "cross_workspaces_of_user",
    "uuid",
    "uuid[]",
    "select case when exists (select 1 from workspaces_user"
    "                         where id = $1 and is_superuser and is_active) then null"
    " else array(select workspace_id from workspaces_membership where user_id = $1) end",
    ("workspaces_user", "workspaces_membership"),
)
WORKSPACE_OF_INVITATION = Crossing(
    "cross_workspace_of_invitation",
    "uuid",
    "uuid",
    "select workspace_id from workspaces_invitation where id = $1",
    ("workspaces_invitation",),
)
WORKSPACES_INVITING = Crossing(
    "cross_workspaces_inviting",
    "text",
    "uuid[]",
    "select array(select distinct workspace_id from workspaces_invitation"
    " where upper(email) = upper($1) and accepted_at is null and revoked_at is null)",
    ("workspaces_invitation",),
)
# The kinds of rows that tasks work on.
OF_ROWS = (
    "memories_conversationsummary",
    "memories_document",
    "memories_duesummary",
    "memories_erasure",
    "memories_featureset",
    "memories_memorysession",
    "memories_syncrun",
    "workspaces_workspaceremoval",
)
WORKSPACE_OF_ROW = Crossing(
    "cross_workspace_of_row",
    "text, uuid",
    "uuid",
    "select case $1 "
    + " ".join(f"when '{name}' then (select workspace_id from {name} where id = $2)" for name in OF_ROWS)
    + " end",
    OF_ROWS,
)
# The sessions that a front waits for can be of any workspace.
WORKSPACES_OF_SESSIONS = Crossing(
    "cross_workspaces_of_sessions",
    "uuid[]",
    "uuid[]",
    "select array(select distinct workspace_id from memories_memorysession where id = any ($1))",
    ("memories_memorysession",),
)
# Tables whose digests prove a caller's secret. They are compared here, and given to nobody.
PROVEN = ("workspaces_apikey", "workspaces_invitation", "workspaces_serverkey")
PROVES = Crossing(
    "cross_proves",
    "text, uuid, bytea",
    "boolean",
    "select coalesce($3 = case $1 "
    + " ".join(f"when '{name}' then (select digest from {name} where id = $2)" for name in PROVEN)
    + " end, false)",
    PROVEN,
)
PASSWORD_OF = Crossing(
    "cross_password_of",
    "uuid",
    "text",
    "select password::text from workspaces_user where id = $1",
    ("workspaces_user",),
)
ANY_PASSWORD_BEGINS = Crossing(
    "cross_any_password_begins",
    "text",
    "boolean",
    "select exists (select 1 from workspaces_user where starts_with(password, $1))",
    ("workspaces_user",),
)
# Lines of the audit log are only added. These functions empty those of erased data, and delete them
# with their workspace.
VISIBLE = f"(select nullif(current_setting('{visible.SETTING}', true), '')::uuid[])::uuid[]"
ERASING = "select set_config('memoryproject.erasing', 'on', true); "
BLANK_AUDIT = Crossing(
    "cross_blank_audit",
    "uuid[]",
    "bigint",
    f"{ERASING}with done as ("
    "update workspaces_auditentry set before = null, after = null, reason = '',"
    " salt = null"
    f" where id = any ($1) and workspace_id = any ({VISIBLE}) returning 1)"
    " select count(*) from done",
    ("workspaces_auditentry",),
    rights="update (before, after, reason, salt)",
    how="volatile",
)
# Only where the server has signed that the log ends: `SEAL_AUDIT` asks for a voucher.
REMOVE_AUDIT = Crossing(
    "cross_remove_audit",
    "uuid, bigint",
    "bigint",
    f"{ERASING}with done as (delete from workspaces_auditentry where id = any (array("
    "   select a.id from workspaces_auditentry a join workspaces_auditseal s"
    "     on s.workspace_id = a.workspace_id and s.is_ended"
    "   where a.workspace_id = $1 limit $2)) returning 1)"
    " select count(*) from done",
    ("workspaces_auditentry", "workspaces_auditseal"),
    rights="delete",
    how="volatile",
)
REMOVE_MARKS = Crossing(
    "cross_remove_marks",
    "uuid, bigint",
    "bigint",
    f"{ERASING}with done as (delete from workspaces_auditmark where line_id = any (array("
    "   select m.line_id from workspaces_auditmark m join workspaces_auditseal s"
    "     on s.workspace_id = m.workspace_id and s.is_ended"
    "   where m.workspace_id = $1 limit $2)) returning 1)"
    " select count(*) from done",
    ("workspaces_auditmark", "workspaces_auditseal"),
    rights="delete",
    how="volatile",
)
# Forward only, and only by a holder of SECRET_KEY: the voucher covers everything that is written,
# and the signature of the previous seal. If another seal lies there by now, nothing is written: a
# seal that continues the log would undo one that ends it.
SEAL_AUDIT = Crossing(
    "cross_seal_audit",
    "uuid, bigint, bigint, bytea, boolean, text, text, text",
    "boolean",
    "with done as (insert into workspaces_auditseal as s"
    "   (workspace_id, number, position, mark, is_ended, signature)"
    "   select $1, $2, $3, $4, $5, $6 from memoryproject_voucher_key"
    "   where $8 = encode(sha256(key || sha256(key || convert_to(concat_ws(chr(31),"
    "     'audit seal', $1, $2, $3, encode($4, 'hex'), $5, $6, $7), 'UTF8'))), 'hex')"
    "   on conflict (workspace_id) do update set number = excluded.number,"
    "     position = excluded.position, mark = excluded.mark, is_ended = excluded.is_ended,"
    "     signature = excluded.signature"
    "     where s.number < excluded.number and s.signature = $7 returning 1)"
    " select exists (select 1 from done)",
    ("workspaces_auditseal", "memoryproject_voucher_key"),
    rights="insert, update",
    how="volatile",
)
# Array operators use no index behind a policy (`walls.py`): without this, a search by an attribute
# would read the memories of all workspaces. Gives none of a workspace that is not visible.
SETTING = f"current_setting('{visible.SETTING}', true)"
MEMORIES_OF_SLOTS = Crossing(
    "cross_memories_of_slots",
    "uuid, bigint[]",
    "uuid[]",
    "select array(select id from memories_memory where slots && $2 and is_head"
    f" and workspace_id = $1 and case when {SETTING} = '{visible.EVERYTHING}' then true"
    f" else $1 = any (nullif({SETTING}, '')::uuid[]) end)",
    ("memories_memory",),
)
VOUCHES = Crossing(
    "cross_vouches",
    "text, text",
    "boolean",
    "select coalesce($2 = encode(sha256(key || sha256(key || convert_to($1, 'UTF8'))), 'hex'),"
    " false) from memoryproject_voucher_key",
    ("memoryproject_voucher_key",),
)
CROSSINGS = (
    ALL_WORKSPACES,
    WORKSPACE_OF_ROW,
    WORKSPACES_OF_SESSIONS,
    WORKSPACE_OF_KEY,
    WORKSPACES_OF_USER,
    WORKSPACE_OF_INVITATION,
    WORKSPACES_INVITING,
    PROVES,
    PASSWORD_OF,
    ANY_PASSWORD_BEGINS,
    BLANK_AUDIT,
    REMOVE_AUDIT,
    REMOVE_MARKS,
    SEAL_AUDIT,
    MEMORIES_OF_SLOTS,
    VOUCHES,
)


def workspace_of_key(prefix: str) -> uuid.UUID | None:
    """The workspace of the key with this prefix, before the key is verified."""
    return _asked(WORKSPACE_OF_KEY, prefix)


def is_member_anywhere(user_id: uuid.UUID) -> bool:
    """Tell whether a person is a member of any workspace, or an administrator of the server."""
    return _asked(WORKSPACES_OF_USER, user_id) != []


def narrow_to_user(user_id: uuid.UUID) -> None:
    """Until the surrounding `visible.only` ends, show rows of the workspaces that a person is a
    member of; of all for an administrator of the server."""
    ids = _asked(WORKSPACES_OF_USER, user_id)
    if ids is None:
        visible.narrow_to(visible.EVERYTHING)
    else:
        visible.narrow(*ids)


def workspace_of_invitation(invitation_id: uuid.UUID) -> uuid.UUID | None:
    return _asked(WORKSPACE_OF_INVITATION, invitation_id)


def workspaces_inviting(email: str) -> list[uuid.UUID]:
    """Workspaces that have invited this address and have no answer yet."""
    return _asked(WORKSPACES_INVITING, email) or []


def workspaces_of_sessions(ids: Sequence[uuid.UUID]) -> list[uuid.UUID]:
    return _asked(WORKSPACES_OF_SESSIONS, list(ids)) or []


def proves(table: str, row_id: uuid.UUID, digest: bytes) -> bool:
    """Tell whether a row of one of the tables in PROVEN has this digest."""
    return bool(_asked(PROVES, table, row_id, digest))


def any_password_begins(start: str) -> bool:
    """Tell whether somebody's password hash starts like this."""
    return bool(_asked(ANY_PASSWORD_BEGINS, start))


def blank_audit(lines: Mapping[uuid.UUID, uuid.UUID]) -> int:
    """Remove the values from lines of the audit log, each given with its workspace; how many."""
    with visible.only(*set(lines.values())):
        return int(_asked(BLANK_AUDIT, list(lines)))


def remove_audit(workspace_id: uuid.UUID, limit: int) -> int:
    """Delete lines of a workspace whose log has ended; how many."""
    return int(_asked(REMOVE_AUDIT, workspace_id, limit))


def remove_marks(workspace_id: uuid.UUID, limit: int) -> int:
    """Delete the marks of such a log; how many."""
    return int(_asked(REMOVE_MARKS, workspace_id, limit))


def seal_audit(
    workspace_id: uuid.UUID,
    values: tuple[int, int, bytes, bool],
    signature: str,
    *,
    before: str,
    voucher: str,
) -> bool:
    """Write the seal of a log: number, place, mark and whether it ends; False where the stored one
    does not have the signature `before`, or has this number or a higher one."""
    return bool(_asked(SEAL_AUDIT, workspace_id, *values, signature, before, voucher))


@contextmanager
def of_row(table: str, row_id: uuid.UUID) -> Iterator[None]:
    """Inside, show rows of the workspace that a row belongs to; none where there is no such row.
    `table` is one of OF_ROWS."""
    workspace_id = _asked(WORKSPACE_OF_ROW, table, row_id)
    with visible.only(*([workspace_id] if workspace_id else [])):
        yield


def all_workspaces() -> list[uuid.UUID]:
    """The ids of all workspaces, including those being removed or already removed."""
    return _asked(ALL_WORKSPACES) or []


@contextmanager
def everywhere() -> Iterator[None]:
    """Inside, show rows of all workspaces: to look for due work, for sums and for administrators of
    the server. Work on the rows of one is then done under `visible.only`."""
    with visible.as_set(visible.EVERYTHING):
        yield


def are_made() -> bool:
    """Tell whether this database has the functions, and policies that fit them: one that was never
    migrated has none, one of an older release not all."""
    with connection.cursor() as cursor:
        text = "select bool_and(to_regprocedure(name) is not null) from unnest(%s::text[]) name"
        cursor.execute(text, [[each.signature for each in CROSSINGS]])
        return bool(cursor.fetchone()[0])


def _asked(crossing: Crossing, *values: Any) -> Any:
    wrapper = prepared.live_wrapper()
    names = [f"v{place}" for place in range(len(values))]
    text = f"select {crossing.name}({', '.join(f'%({name})s' for name in names)}) as answer"
    given = dict(zip(names, values, strict=True))
    return prepared.ask(wrapper, text, given).rows(tuple)[0][0]
