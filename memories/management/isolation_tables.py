"""Every table, tried by the serving role for the rows of another tenant."""

from typing import Any

from django.db import DatabaseError, connection, transaction

from memories.management.isolation_doors import ProofTally
from memories.management.isolation_tenants import Tenant
from memoryproject.postgres import administrators, visible, walls

# The same in SQL: what the role that serves reads and writes of another's rows, table by table.

# Its own work goes on in these while others ask: they are not compared.
OF_THE_SERVER = {
    "memories_featureset",
    "memories_setdiscovery",
    "memories_figure",
    "memories_indexrepair",
    "memories_workspaceindex",
    "memories_memorysession",
    "memories_conversationsummary",
    "memories_talksummary",
    "memories_duesummary",
    "memories_erasure",
    "memories_longjob",
    "workspaces_apikey",
    "memories_duevector",
    "memories_entry",
    "memories_vector",
    "memories_searchuse",
    "memories_memoryuse",
    "workspaces_auditmark",
}
FORBIDDEN = (
    "create table isolation (id int)",
    "create function isolation() returns int language sql as 'select 1'",
    "alter table memories_memory disable row level security",
    "drop policy workspace on memories_memory",
    "select * from public.memories_entry",
    "select * from public.memories_vector",
    "copy memories_memory to program 'cat'",
    "select pg_read_file('postgresql.conf')",
    "update workspaces_auditentry set actor = actor",
    "delete from workspaces_auditentry",
    "update workspaces_auditmark set position = position",
    "delete from workspaces_auditmark",
    "update workspaces_user set is_superuser = true",
    "update workspaces_serverkey set digest = digest",
    "delete from workspaces_serverkey",
    f"select key from {administrators.KEYS}",
    *(f"select {column} from {table}" for table, column in walls.HIDDEN.items()),
)

# Each tenant has rows of these: not seeing another's proves nothing without seeing one's own.
FILLED = {
    "memories_entry",
    "memories_episode",
    "memories_fact",
    "memories_memory",
    "memories_vector",
}


def fingerprint(tenant: Tenant) -> dict[str, str]:
    """Return a digest of all rows of a tenant, by table."""
    found = {}
    with visible.only(tenant.workspace.pk), connection.cursor() as cursor:
        for wall in walls.walls():
            if wall.table in OF_THE_SERVER:
                continue
            columns = ", ".join(f't."{name}"' for name in walls.readable(cursor, wall.table))
            cursor.execute(
                "select md5(coalesce(string_agg(row::text, '' order by row::text), ''))"
                f" from (select row({columns}) from {walls.name_of(wall.table)} t) r(row)"
            )
            found[wall.table] = cursor.fetchone()[0]
    return found


def try_tables(owner: Tenant, other: Tenant, tally: ProofTally) -> None:
    with connection.cursor() as cursor:
        cursor.execute("select rolsuper or rolbypassrls from pg_roles where rolname = current_user")
        if cursor.fetchone()[0]:
            tally.leaks.append("the role that serves may pass all walls")
    tally.leaks += [f"{table} has no wall and no reason" for table in walls.unnamed()]
    tally.leaks += walls.faults(connection)
    for wall in walls.walls():
        tally.tried("tables")
        own = f"where t.{wall.nobodys} is not null" if wall.nobodys else ""
        with visible.only(owner.workspace.pk), connection.cursor() as cursor:
            name = walls.name_of(wall.table)
            cursor.execute(f"select t.ctid::text from {name} t {own} limit 500")
            rows = [row[0] for row in cursor.fetchall()]
        if wall.table in FILLED and not rows:
            tally.leaks.append(f"nothing is proven of {wall.table}: a wall hides its own rows")
        for ids in ((), (other.workspace.pk,)):
            with visible.only(*ids):
                _try_table(wall, rows, tally)
    # Only a real login shows what a login may become: a session that was let in as somebody else
    # may become whatever that one may.
    with connection.cursor() as cursor:
        cursor.execute("select session_user = current_user")
        others = [f"set role {walls.CROSSING_ROLE}"] if cursor.fetchone()[0] else []
    for text in (*FORBIDDEN, *others):
        tally.tried("statements")
        if _does(text) is not None:
            tally.leaks.append(f"the role that serves may: {text}")


def _try_table(wall: walls.Wall, rows: list[str], tally: ProofTally) -> None:
    """Try to read, change and delete rows by their physical place in the table. Nothing of it is
    kept."""
    name = walls.name_of(wall.table)
    where = "ctid = any(%s::tid[])"
    for text in (
        f"select 1 from {name} where {where}",
        f"update {name} set {_some_column(wall)} = {_some_column(wall)} where {where}",
        f"delete from {name} where {where}",
    ):
        tally.tried("statements")
        if _does(text, rows):
            tally.leaks.append(f"{wall.table}: {text.split(' ', 1)[0]} reaches another's rows")


def _some_column(wall: walls.Wall) -> str:
    with connection.cursor() as cursor:
        return f'"{walls.readable(cursor, wall.table)[0]}"'


def _does(text: str, rows: list[str] | None = None) -> int | None:
    """Run the statement and roll it back. Return the number of its rows; None where it is
    refused."""

    class Undo(Exception):
        pass

    number: int | None = None
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(text, None if rows is None else [rows])
                number = cursor.rowcount
            raise Undo
    except Undo:
        return number
    except DatabaseError:
        return None


def compare(before: dict[str, Any], after: dict[str, Any], tally: ProofTally) -> None:
    """Report a leak for each table in which others changed rows of the tenant."""
    for table, digest in before.items():
        tally.tried("fingerprints")
        if after[table] != digest:
            tally.leaks.append(f"{table}: another's rows were changed")
