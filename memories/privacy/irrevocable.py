"""Signed records of everything erased, removed, forgotten, masked or unmasked: a restore of an
older backup does it again, for no backup takes these records back.

They lie in a table, which every machine of the installation writes and a restore fills again; a
copy lies in the data folder of one machine that acted, and beside the backups. They hold no words:
certificates, ids and places. The process that carries out the act signs them with SECRET_KEY: write
access to the database is not enough to forge one. Of two about one thing the later counts, by the
database's clock, so that lists may be joined in any order.
"""

import fcntl
import json
import os
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.utils.crypto import constant_time_compare, salted_hmac

from memories.errors import Conflict
from memories.models import IrrevocableAct, MaskedSpan, Memory, Rejection
from memoryproject.postgres.walls import UPKEEP
from workspaces.audit import audit_signature

NAME = "irrevocable.jsonl"
SALT = "memoryproject.irrevocable_acts"
ERASED, REMOVED, FORGOTTEN, RETURNED = "erased", "removed", "forgotten", "returned"
MASKED, UNMASKED = "masked", "unmasked"
MASKS, BELIEFS = (MASKED, UNMASKED), (FORGOTTEN, RETURNED)  # the second takes the first back
AT_ONCE = 1_000  # lines of one statement
Row = dict[str, Any]
# The same acts, from the tables of any version; the serving role may write these tables.
ROWS = {
    ERASED: "select to_jsonb(t) - 'probes' from memories_erasure t where t.state <> 'failed'",
    REMOVED: "select to_jsonb(t) from workspaces_workspaceremoval t where t.state <> 'failed'"
    " and not exists (select 1 from workspaces_workspace w"
    "  where w.id = t.workspace_id and t.state = 'done')",
    FORGOTTEN: "select jsonb_build_object("
    " 'id', t.id, 'workspace_id', t.workspace_id, 'reason', k.kind)"
    " from memories_memory t, btrim(lower(split_part(t.forget_reason, ':', 1))) k (kind)"
    " where t.forgotten_at is not null and k.kind in ('wrong', 'private')",
}
HAS_TABLE = "select to_regclass(%s) is not null"
WORKSPACES = "select id::text from workspaces_workspace"


@dataclass(frozen=True, slots=True)
class Noted:
    """A record: an act, the row that it was done to, and its time."""

    act: str
    row: Row
    at: str
    signature: str = ""

    @property
    def thing(self) -> str:
        """The key of the thing that it was done to."""
        if self.act in MASKS:
            return place_of(self.row)
        kind = FORGOTTEN if self.act in BELIEFS else self.act
        return f"{kind} {self.row['workspace_id' if self.act == REMOVED else 'id']}"

    @property
    def description(self) -> str:
        """A description for whoever restores."""
        row = self.row
        if self.act in MASKS:
            what = place_of(row)
        elif self.act in BELIEFS:
            what = f"memory {row['id']}"
        else:
            what = f"{row['kind']} {row['target_id']}" if self.act == ERASED else "all"
        state = f" ({row['state']})" if row.get("state", "done") != "done" else ""
        return f"{self.act}: {what} of workspace {row['workspace_id']}{state}"

    def signed(self, secret: str) -> "Noted":
        text = json.dumps([self.act, self.row, self.at], sort_keys=True)
        made = salted_hmac(SALT, text, secret, algorithm="sha256").hexdigest()
        return replace(self, signature=made)

    def is_signed(self, secrets: Iterable[str]) -> bool:
        return any(constant_time_compare(self.signature, self.signed(one).signature) for one in secrets)

    @property
    def line(self) -> str:
        row = {"act": self.act, "at": self.at, "row": self.row, "signature": self.signature}
        return f"{json.dumps(row)}\n"


@dataclass(slots=True)
class Acts:
    """The newest act on each thing. `unsigned` acts have no signature by one of the `secrets`:
    anybody who could write a row may have written them."""

    secrets: tuple[str, ...]
    signed: dict[str, Noted] = field(default_factory=dict)
    unsigned: dict[str, Noted] = field(default_factory=dict)

    def add(self, noted: Noted) -> None:
        known = self.signed if noted.is_signed(self.secrets) else self.unsigned
        before = known.get(noted.thing)
        if before is None or before.at <= noted.at:
            known[noted.thing] = noted
        if noted.thing in self.signed:
            self.unsigned.pop(noted.thing, None)

    def trust(self) -> None:
        """Count the unsigned acts as well."""
        for noted in [*self.unsigned.values()]:
            self.add(noted.signed(self.secrets[0]))

    def rows(self, act: str) -> list[Row]:
        return [one.row for one in self.signed.values() if one.act == act]

    @property
    def counts(self) -> dict[str, int]:
        """The number of signed acts of each kind."""
        return dict(Counter(one.act for one in self.signed.values()))

    @property
    def unsigned_told(self) -> list[str]:
        return sorted(one.description for one in self.unsigned.values())


def note(act: str, rows: Iterable[Row]) -> None:
    """Record an act in the caller's transaction, and in the data folder on commit. Rows are those
    of the tables, without words."""
    done = [*rows]
    if not done:
        return
    with connection.cursor() as cursor:
        cursor.execute("select clock_timestamp()")
        at = cursor.fetchone()[0].astimezone(UTC).isoformat(timespec="microseconds")
    made = [Noted(act, row, at).signed(settings.SECRET_KEY) for row in done]
    _store(made)
    transaction.on_commit(partial(_append, made), robust=True)


def note_masks(act: str, masks: Iterable[MaskedSpan]) -> None:
    """Record masks, without their words. Masks of new rows need none: a backup that has the row has
    them."""
    names = ("place", "start", "end", "kind", "reason")
    note(
        act,
        [
            {name: getattr(one, name) for name in names}
            | {f"{name}_id": _text(getattr(one, f"{name}_id")) for name in MaskedSpan.TARGETS}
            | {"workspace_id": str(one.workspace_id), "cause": _text(one.cause)}
            for one in masks
        ],
    )


def note_memories(
    act: str,
    memories: Iterable[Memory],
    *,
    reason: str = "",
    messages: str = "",
    agent: uuid.UUID | None = None,
) -> None:
    """Record memories that were forgotten, with the reason, what became of the messages they stand
    on, and the agents that alone it binds, where it does not bind everybody: this `agent`, and
    those before it; or that are restored."""
    why = {"reason": reason, "messages": messages}
    note(
        act,
        [{"id": str(one.pk), "workspace_id": str(one.workspace_id), **why, **_bound(one, agent)} for one in memories],
    )


def _bound(memory: Memory, agent: uuid.UUID | None) -> Row:
    if agent is None:
        return {}
    before = Rejection.objects.filter(memory=memory.pk).values_list("agent_id", flat=True)
    agents = {agent, *before}
    return {} if None in agents else {"agents": sorted(map(str, agents))}


def note_row(act: str, table: str, row_id: uuid.UUID) -> None:
    """Record a certificate, as its row is in the caller's transaction."""
    with connection.cursor() as cursor:
        cursor.execute(f"select to_jsonb(t) - 'probes' from {table} t where id = %s", [row_id])
        rows = cursor.fetchall()
    note(act, [_loaded(row) for (row,) in rows])


def written(*folders: Path, secrets: tuple[str, ...] = (), workspace_id: uuid.UUID | None = None) -> Acts:
    """Read all records, of one workspace or of all: from the table, these folders, and the data
    folder. Signatures by SECRET_KEY and by `secrets` count."""
    acts = Acts((settings.SECRET_KEY, *secrets))
    paths = [*(one / NAME for one in folders), _own()]
    for noted in chain(_stored(workspace_id), *map(_read, paths)):
        acts.add(noted)
    return acts


def known(beside: Path, secrets: tuple[str, ...] = ()) -> Acts:
    """Read the same, with the list beside the backups; and, unsigned, what the tables say beyond
    that, unless a restore was interrupted. A removal counts where the workspace's log has a signed
    end."""
    with connection.cursor() as cursor:
        cursor.execute(f"set {UPKEEP} = 'on'")
        acts = written(beside, secrets=secrets)
        if unfinished().exists() or not _has_table("memories_maskedspan"):
            return acts
        cursor.execute(WORKSPACES)
        here = {workspace for (workspace,) in cursor.fetchall()}
        for kept in (acts.signed, acts.unsigned):  # what came back since is not removed again
            for noted in [*kept.values()]:
                is_done = noted.act == REMOVED and noted.row["state"] == "done"
                if is_done and noted.row["workspace_id"] in here:
                    del kept[noted.thing]
        has_seals = _has_table("workspaces_auditseal")
        for act, text in ROWS.items():
            cursor.execute(text)
            for (row,) in cursor.fetchall():
                noted = Noted(act, _loaded(row), "")
                is_removal = act == REMOVED and has_seals
                if is_removal and audit_signature.has_ended(uuid.UUID(noted.row["workspace_id"])):
                    noted = noted.signed(settings.SECRET_KEY)
                if noted.thing not in acts.signed:
                    acts.add(noted)
    return acts


def add_stored(acts: Acts) -> None:
    """Add later records from the table of the backup; for removals the earlier list is right."""
    for noted in _stored():
        if noted.act != REMOVED:
            acts.add(noted)


def keep(acts: Acts, folder: Path | None = None, *, secret: str = "") -> None:
    """Write all records over what is there, signed anew: below the data folder, or beside
    backups."""
    path = folder / NAME if folder else _own()
    draft = path.with_name(f".{NAME}.{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        signed = (one.signed(secret or settings.SECRET_KEY) for one in acts.signed.values())
        file.writelines(one.line for one in chain(signed, acts.unsigned.values()))
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def keep_in_table(acts: Acts) -> None:
    """Add records that a restore has removed, or that only other lists had."""
    with connection.cursor() as cursor:
        cursor.execute(f"set {UPKEEP} = 'on'")
    _store([one.signed(settings.SECRET_KEY) for one in acts.signed.values()])


def unfinished() -> Path:
    """The file that marks a restore under way: until it is done, the data must not be served."""
    return Path(settings.DATA_DIR) / "restore_unfinished"


def refuse_unfinished() -> None:
    """Raise Conflict where a restore was killed, or could not do everything again."""
    if unfinished().exists():
        raise Conflict(
            "A restore was not finished: what was erased since the backup may be there again. Run"
            f" it again; or remove {unfinished()}, to serve what is there."
        )


def place_of(row: Mapping[str, Any]) -> str:
    """The place of a mask: its row, and the position there."""
    target = next(row[f"{name}_id"] for name in MaskedSpan.TARGETS if row.get(f"{name}_id"))
    return f"{target} {row['place']} {row['start']} {row['end']}"


def _own() -> Path:
    return Path(settings.DATA_DIR) / NAME


def _has_table(name: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(HAS_TABLE, [name])
        return bool(cursor.fetchone()[0])


def _store(lines: Iterable[Noted]) -> None:
    rows = (
        IrrevocableAct(
            signature=one.signature,
            workspace_id=one.row["workspace_id"],
            act=one.act,
            row=one.row,
            at=one.at,
        )
        for one in lines
    )
    IrrevocableAct.objects.bulk_create(rows, AT_ONCE, ignore_conflicts=True)


def _stored(workspace_id: uuid.UUID | None = None) -> Iterator[Noted]:
    if _has_table(IrrevocableAct._meta.db_table):
        rows = IrrevocableAct.objects.all()
        if workspace_id is not None:
            rows = rows.filter(workspace_id=workspace_id)
        for one in rows.iterator():
            yield Noted(one.act, one.row, one.at, one.signature)


def _append(lines: Iterable[Noted]) -> None:
    """Append to the file of the data folder, on the disk before this returns."""
    handle = os.open(_own(), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        with os.fdopen(os.dup(handle), "w") as file:
            file.write("\n")  # the last one of a machine that stood still may have no end
            file.writelines(one.line for one in lines)
        os.fsync(handle)
    finally:
        os.close(handle)


def _read(path: Path) -> Iterator[Noted]:
    """The lines of a file. A half-written one was confirmed to nobody: its act is repeated."""
    if not path.is_file():
        return
    for line in path.read_text().splitlines():
        with suppress(ValueError):
            row = json.loads(line)
            yield Noted(row["act"], row["row"], row.get("at", ""), row.get("signature", ""))


def _loaded(row: Any) -> Row:
    made: Row = json.loads(row) if isinstance(row, str) else row
    return made


def _text(value: object) -> str | None:
    return None if value is None else str(value)
