"""The rights of the role that serves: for each table what its work needs, with the reason.

A new model's table with rows of a workspace has those of OF_A_WORKSPACE; any other is listed here,
or gets none. Numbers are identity columns, which need no right to their sequence, except where a
number is drawn before its row is written. Of functions it may call the crossings alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper
from psycopg import sql

from memoryproject.postgres import administrators, walls
from memoryproject.postgres.crossings import CROSSINGS

READ, ADD, CHANGE, REMOVE = "SELECT", "INSERT", "UPDATE", "DELETE"


@dataclass(frozen=True, slots=True)
class TableRights:
    """The rights of the role on a table's rows, and why no fewer. An act in `columns` is limited to
    those columns."""

    acts: tuple[str, ...]
    reason: str
    columns: dict[str, tuple[str, ...]] = field(default_factory=dict)


OF_A_WORKSPACE = TableRights(
    (READ, ADD, CHANGE, REMOVE),
    "work makes and changes rows of a workspace, and takes them away with it",
)
ADDED = TableRights((READ, ADD, REMOVE), "a row is as it was written until it goes")
KEPT = TableRights((READ, ADD), "lines of the audit are only added; functions take them away")
OF_THE_SERVER = TableRights((READ, ADD, CHANGE, REMOVE), "the server's own, which comes and goes")
PROVEN = TableRights((READ, ADD, CHANGE, REMOVE), "what proves is written, and never read")
NONE = TableRights((), "no process that serves has to do with it")
TABLES = {
    # Django's
    "auth_group": TableRights((READ,), "asked when an account is looked at; we have none"),
    "auth_group_permissions": NONE,
    "auth_permission": TableRights((READ,), "asked when an account is looked at"),
    "django_admin_log": TableRights(
        (READ, ADD, REMOVE), "a line for each act on rows of the server, which its account takes"
    ),
    "django_content_type": TableRights((READ,), "names of models"),
    "django_migrations": TableRights((READ,), "health tells a step that is missing"),
    "django_session": OF_THE_SERVER,
    "workspaces_user_groups": TableRights((READ, REMOVE), "asked when an account goes"),
    "workspaces_user_user_permissions": TableRights((READ, REMOVE), "asked when an account goes"),
    # The queue: its signed rows name jobs of a fixed list. The worker has no schedule in a table
    # and keeps nothing of what it did: rows there would name code, and hold pickles.
    "django_q_ormq": OF_THE_SERVER,
    "django_q_schedule": NONE,
    "django_q_task": NONE,
    "memories_postedjob": TableRights((READ, ADD, CHANGE), "one row, of each minute's sweep"),
    # How the server does
    "memories_breaker": OF_THE_SERVER,
    "memories_embeddingmodel": TableRights((READ, ADD, CHANGE), "vectors name it: it stays"),
    "memories_evaluationrun": TableRights((READ, ADD, REMOVE), "what was measured is not changed"),
    "memories_modelprice": OF_THE_SERVER,
    "memories_workerbeat": OF_THE_SERVER,
    # Who asks
    "workspaces_apikey": PROVEN,
    "workspaces_invitation": PROVEN,
    "workspaces_loginattempt": TableRights(
        (READ, ADD, CHANGE, REMOVE), "whose account goes is named no more", {CHANGE: ("user_id",)}
    ),
    "workspaces_loginpause": OF_THE_SERVER,
    "workspaces_oauthclient": TableRights(
        (READ, ADD, CHANGE, REMOVE), "an app registers, is used, and goes", {CHANGE: ("used_at", "updated_at")}
    ),
    "workspaces_recoverycode": ADDED,
    "workspaces_secondfactor": OF_THE_SERVER,
    "workspaces_serverkey": TableRights(
        (READ, CHANGE),
        "made and revoked by a command, which the owner runs; its use is noted",
        {CHANGE: ("last_used_at", "updated_at")},
    ),
    "workspaces_user": PROVEN,
    administrators.KEYS: TableRights((), "whoever reads it can vouch for administrators"),
    # Of a workspace, and less than the default
    "memories_changeevent": ADDED,
    "memories_documentspace": ADDED,
    "memories_featuremark": ADDED,
    "memories_goldenrun": ADDED,
    "memories_importedrow": ADDED,
    "memories_irrevocableact": TableRights(
        (READ, ADD), "what was erased or masked; an import reads it, and nothing takes a line away"
    ),
    "memories_mergedrows": ADDED,
    "memories_passage": ADDED,
    "memories_talksummary": ADDED,
    "memories_passagetext": TableRights((READ,), "a view"),
    "memories_summarytext": TableRights((READ,), "a view"),
    "workspaces_apikey_subjects": ADDED,
    "workspaces_auditentry": KEPT,
    "workspaces_auditmark": KEPT,
    "workspaces_auditseal": TableRights((READ,), "a function writes it, for a voucher"),
    "workspaces_workspaceremoval": TableRights((READ, ADD, CHANGE), "the certificate of a removal stays"),
    **dict.fromkeys(walls.BY_VIEW, TableRights((), "reached through the view of its name")),
}
SEQUENCES = {
    "memories_entry_id_seq": TableRights(("USAGE",), "ids of entries are drawn before their rows"),
}

RELATIONS = """
select c.relname, c.relkind, array(
  select a.privilege_type from aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
  where r.rolname = %(role)s
  union all
  select a.privilege_type || ' ' || t.attname
  from pg_attribute t, aclexplode(t.attacl) a join pg_roles r on r.oid = a.grantee
  where t.attrelid = c.oid and r.rolname = %(role)s)
from pg_class c where c.relnamespace = current_schema()::regnamespace
  and c.relkind in ('r', 'p', 'v', 'S') order by 1
"""
# Only the owner may call our functions, and a trigger's needs no right to be called; everybody may
# call those of an extension.
FUNCTIONS = """
select f.signature, case when f.is_ours and f.is_public then 'public, ' else '' end
from (
  select p.oid::regprocedure::text as signature,
         not exists (select 1 from pg_depend d
                     where d.objid = p.oid and d.deptype = 'e') as is_ours,
         a.is_public, a.is_given
  from pg_proc p, lateral (
    select coalesce(bool_or(x.grantee = 0), false) as is_public,
           coalesce(bool_or(r.rolname = %(role)s), false) as is_given
    from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) x
    left join pg_roles r on r.oid = x.grantee) a
  where p.pronamespace = current_schema()::regnamespace and p.proname <> all(%(crossings)s)
    and pg_has_role(p.proowner, 'usage')) f
where f.is_given or f.is_ours and f.is_public
"""
# A temporary table comes before ours of its name: one of the accounts would make a member of a
# workspace an administrator to every later request of that session.
TEMPORARY = "select has_database_privilege(%s, current_database(), 'temp'), current_database()"
NO_TEMPORARY = "revoke temporary on database {database} from public, {role}"
# Default rights that earlier versions gave for future tables.
NO_DEFAULTS = (
    "alter default privileges in schema {schema} revoke all on tables from {role}",
    "alter default privileges in schema {schema} revoke all on sequences from {role}",
    "alter default privileges in schema {schema} revoke all on functions from {role}",
)


def rights_of(table: str) -> TableRights | None:
    """The rights for a table; None if nobody defined any."""
    if table in TABLES:
        return TABLES[table]
    return OF_A_WORKSPACE if table in {wall.table for wall in walls.walls()} else None


def grant(connection: BaseDatabaseWrapper, role: str) -> None:
    """Give `role` its rights in the current schema, and no others. Run as the owner, after the
    walls were made. Rights that are correct already are not touched."""
    with connection.cursor() as cursor:
        cursor.execute("select current_schema()")
        names = {"schema": sql.Identifier(cursor.fetchone()[0]), "role": sql.Identifier(role)}
        for text in NO_DEFAULTS:
            cursor.execute(sql.SQL(text).format(**names))
        cursor.execute(TEMPORARY, [role])
        may_make, database = cursor.fetchone()
        if may_make:
            cursor.execute(sql.SQL(NO_TEMPORARY).format(database=sql.Identifier(database), **names))
        cursor.execute(RELATIONS, {"role": role})
        for name, kind, given in cursor.fetchall():
            rights = SEQUENCES.get(name) if kind == "S" else rights_of(name)
            wanted = set(_wanted(cursor, name, rights)) if rights else set()
            if wanted != set(given):
                _give(cursor, name, wanted, names, is_sequence=kind == "S")
        cursor.execute(FUNCTIONS, {"role": role, "crossings": [c.name for c in CROSSINGS]})
        for signature, public in cursor.fetchall():
            taken = sql.SQL("revoke all on function {function} from {public}{role}")
            whom = {"function": sql.SQL(signature), "public": sql.SQL(public)}
            cursor.execute(taken.format(**whom, **names))


def _wanted(cursor: CursorWrapper, table: str, rights: TableRights) -> Iterator[str]:
    """`UPDATE` for the whole table, `UPDATE name` for a column."""
    columns = dict(rights.columns)
    if table in walls.HIDDEN:
        columns[READ] = (*walls.readable(cursor, table), "ctid")
    for act in rights.acts:
        yield from (f"{act} {column}" for column in columns[act]) if act in columns else (act,)


def _give(
    cursor: CursorWrapper,
    table: str,
    wanted: set[str],
    names: dict[str, sql.Identifier],
    *,
    is_sequence: bool,
) -> None:
    kind = sql.SQL("sequence" if is_sequence else "table")
    named = {**names, "table": sql.Identifier(table), "kind": kind}
    cursor.execute(sql.SQL("revoke all on {kind} {schema}.{table} from {role}").format(**named))
    acts = [
        sql.SQL("{} ({})").format(sql.SQL(act), sql.Identifier(column)) if column else sql.SQL(act)
        for act, _, column in (each.partition(" ") for each in sorted(wanted))
    ]
    if acts:
        text = sql.SQL("grant {acts} on {kind} {schema}.{table} to {role}")
        cursor.execute(text.format(acts=sql.SQL(", ").join(acts), **named))


def unnamed(connection: BaseDatabaseWrapper) -> list[str]:
    """Tables and views of the current schema without defined rights: the role cannot reach them."""
    with connection.cursor() as cursor:
        cursor.execute(RELATIONS, {"role": ""})
        return [n for n, kind, _ in cursor.fetchall() if kind != "S" and rights_of(n) is None]
