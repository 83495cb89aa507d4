"""Protection of administrators: only the owner, or a web process that vouches, makes them.

A trigger keeps every other statement of the serving role from it. The voucher is a code over the
very row that is written, made with a key derived from SECRET_KEY: the database holds it in a table
which that role cannot read, so that no statement alone, however it came in, makes an administrator
or gives one another password.
"""

import hashlib
import hmac
from typing import Any

from django.conf import settings
from django.db.backends.utils import CursorWrapper
from psycopg import sql

from memoryproject.postgres.crossings import VOUCHES

SETTING = "memoryproject.voucher"
KEYS = "memoryproject_voucher_key"
TABLE, TRIGGER = "workspaces_user", "guard_administrators"
GUARDED = ("id", "username", "email", "password", "is_superuser", "is_staff", "is_active")
NEW, OLD = (", ".join(f"{row}.{name}" for name in GUARDED) for row in ("new", "old"))
GUARD = f"""
begin
  if (new.is_superuser or new.is_staff)
     and (tg_op = 'INSERT' or row({NEW}) is distinct from row({OLD}))
     and not (select pg_has_role(current_user, relowner, 'usage') from pg_class
              where oid = tg_relid)
     and not {VOUCHES.name}(concat_ws(chr(31), {NEW}), current_setting('{SETTING}', true))
  then
    raise exception 'nobody vouches for this administrator'
      using errcode = 'insufficient_privilege',
            hint = 'Accounts of administrators are saved by User.save, or by the owner.';
  end if;
  return new;
end
"""
LOOK = """
select t.tgenabled, p.prosrc, p.proconfig::text from pg_trigger t
join pg_proc p on p.oid = t.tgfoid
where t.tgrelid = to_regclass(%s) and t.tgname = %s
"""


def key() -> bytes:
    return hmac.digest(settings.SECRET_KEY.encode(), b"memoryproject.postgres.administrators", "sha256")


def voucher(row: Any) -> str:
    """The voucher for a row of the accounts as it is about to be written."""
    values = (getattr(row, name) for name in GUARDED)
    return voucher_for(*("ft"[value] if isinstance(value, bool) else str(value) for value in values))


def voucher_for(*texts: str) -> str:
    """The code that a function of the database asks for: over these texts, with the shared key."""
    inner = hashlib.sha256(key() + "\x1f".join(texts).encode()).digest()
    return hashlib.sha256(key() + inner).hexdigest()


def command(row: Any) -> str:
    """The SQL that gives the voucher to the open transaction."""
    return f"set local {SETTING} to '{voucher(row)}'"


def make_keys(cursor: CursorWrapper) -> None:
    """Make the table of the key, with today's. Run as the owner."""
    cursor.execute(f"create table if not exists {KEYS} (key bytea not null)")
    cursor.execute(f"select key from {KEYS}")
    if [bytes(row[0]) for row in cursor.fetchall()] != [key()]:
        cursor.execute(f"delete from {KEYS}")
        cursor.execute(f"insert into {KEYS} values (%s)", [key()])


def make(cursor: CursorWrapper) -> None:
    """Make the trigger. Run as the owner, after `make_keys`."""
    if not faults(cursor):
        return
    cursor.execute("select current_schema()")
    schema = cursor.fetchone()[0]
    cursor.execute(
        sql.SQL(
            "create or replace function {}() returns trigger language plpgsql"
            " set search_path = pg_catalog, {}, pg_temp as {}"
        ).format(sql.Identifier(TRIGGER), sql.Identifier(schema), sql.Literal(GUARD))
    )
    cursor.execute(
        f"create or replace trigger {TRIGGER} before insert or update on {TABLE}"
        f" for each row execute function {TRIGGER}()"
    )
    cursor.execute(f"alter table {TABLE} enable trigger {TRIGGER}")


def faults(cursor: CursorWrapper) -> list[str]:
    """Describe every difference from what `make` would leave."""
    cursor.execute(LOOK, [TABLE, TRIGGER])
    row = cursor.fetchone()
    if row is None:
        return [f"trigger {TRIGGER} is missing on {TABLE}"]
    if row[0] != "O":
        return [f"trigger {TRIGGER} is off on {TABLE}"]
    is_ours = row[1] == GUARD and "search_path=pg_catalog, " in (row[2] or "")
    return [] if is_ours else [f"function {TRIGGER} was changed"]
