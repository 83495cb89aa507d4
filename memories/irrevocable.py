"""What was erased, removed, masked or unmasked, as lines of a file of the data folder: a restore of
an older backup does it again, for no backup takes this list back.

`backup` lays what its database knows beside the backups as well, under the same name. Lines hold no
words: certificates, ids and places. They may be joined from several machines in any order but that
of masks.
"""

import fcntl
import json
import os
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection

from memories.errors import Conflict
from memories.models import MaskedSpan
from memoryproject.walls import UPKEEP

NAME = "irrevocable.jsonl"
ERASED, REMOVED, FORGOTTEN = "erased", "removed", "forgotten"
MASKED, UNMASKED = "masked", "unmasked"
Row = dict[str, Any]
# As the tables of any version have them; what is asked for and not done yet is done again as well.
ROWS = {
    ERASED: "select to_jsonb(t) - 'probes' from memories_erasure t where t.state <> 'failed'",
    REMOVED: "select to_jsonb(t) from workspaces_workspaceremoval t where t.state <> 'failed'"
    " and not exists (select 1 from workspaces_workspace w"
    "  where w.id = t.workspace_id and t.state = 'done')",
    MASKED: "select to_jsonb(t) - 'words' from memories_maskedspan t order by id",
    FORGOTTEN: "select jsonb_build_object('id', t.id, 'workspace_id', t.workspace_id,"
    " 'reason', case when k.kind in ('wrong', 'private') then k.kind else '' end)"
    " from memories_memory t, btrim(lower(split_part(t.forget_reason, ':', 1))) k (kind)"
    " where t.forgotten_at is not null"
    " and (k.kind in ('wrong', 'private') or exists (select 1 from memories_maskedspan m"
    "  where m.memory_id = t.id and m.place = 'content' and m.start = 0"
    '  and m."end" = length(t.content)))',
}
TABLES = "select to_regclass('memories_maskedspan') is not null"
WORKSPACES = "select id::text from workspaces_workspace"


@dataclass(slots=True)
class Acts:
    """By kind, and there by what they were done to."""

    rows: dict[str, dict[str, Row]] = field(
        default_factory=lambda: {ERASED: {}, REMOVED: {}, MASKED: {}, UNMASKED: {}, FORGOTTEN: {}}
    )

    def add(self, act: str, row: Row) -> None:
        key = _key(act, row)
        self.rows[act][key] = row
        if act in (MASKED, UNMASKED):
            self.rows[UNMASKED if act == MASKED else MASKED].pop(key, None)

    def drop_of(self, workspaces: Collection[str]) -> None:
        """Of those that are there their tables say what is masked, and they are not removed."""
        for act in (REMOVED, MASKED, FORGOTTEN):
            rows = self.rows[act].items()
            self.rows[act] = {key: r for key, r in rows if r["workspace_id"] not in workspaces}

    def lines(self) -> Iterator[str]:
        for act, rows in self.rows.items():
            yield from (_line(act, row) for row in rows.values())


def note(act: str, rows: Iterable[Row]) -> None:
    """Write it down, on the disk when this is back. Rows are those of the tables, without words."""
    lines = "".join(f"{_line(act, row)}\n" for row in rows)
    if not lines:
        return
    path = _own()
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        with os.fdopen(os.dup(handle), "w") as file:
            file.write(f"\n{lines}")  # the last one of a machine that stood still may have no end
        os.fsync(handle)
    finally:
        os.close(handle)


def note_masks(act: str, masks: Iterable[MaskedSpan]) -> None:
    """The same of masks, whose words stay out of it."""
    names = ("place", "start", "end", "kind", "reason")
    note(act, [
        {name: getattr(each, name) for name in names}
        | {f"{name}_id": _text(getattr(each, f"{name}_id")) for name in MaskedSpan.TARGETS}
        | {"workspace_id": str(each.workspace_id), "cause": _text(each.cause)}
        for each in masks
    ])  # fmt: skip


def note_row(act: str, table: str, row_id: uuid.UUID) -> None:
    """A certificate, as its row is in the caller's transaction."""
    with connection.cursor() as cursor:
        cursor.execute(f"select to_jsonb(t) - 'probes' from {table} t where id = %s", [row_id])
        note(act, [_loaded(row) for (row,) in cursor.fetchall()])


def written(*folders: Path) -> Acts:
    """What was written down in these folders, and in the data folder."""
    acts = Acts()
    for path in [*(each / NAME for each in folders), _own()]:
        for act, row in _read(path):
            acts.add(act, row)
    return acts


def known(beside: Path) -> Acts:
    """All that is known of it: by the folder of backups, the data folder, and the database, which
    knows best; but for one that a restore has left in the middle."""
    acts = written(beside)
    if unfinished().exists():
        return acts
    with connection.cursor() as cursor:
        cursor.execute(TABLES)
        if not cursor.fetchone()[0]:
            return acts
        cursor.execute(f"set {UPKEEP} = 'on'")
        cursor.execute(WORKSPACES)
        acts.drop_of({row for (row,) in cursor.fetchall()})
        for act, text in ROWS.items():
            cursor.execute(text)
            for (row,) in cursor.fetchall():
                acts.add(act, _loaded(row))
    return acts


def keep(acts: Acts, folder: Path | None = None) -> None:
    """Write all of it down, in place of what is there; below the data folder, or beside backups."""
    path = folder / NAME if folder else _own()
    draft = path.with_name(f".{NAME}.{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.writelines(f"{line}\n" for line in acts.lines())
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def unfinished() -> Path:
    """The file that stands while a restore is under way: what it brought back may not be served."""
    return Path(settings.DATA_DIR) / "restore_unfinished"


def refuse_unfinished() -> None:
    """Raises Conflict where a restore was killed, or could not do everything again."""
    if unfinished().exists():
        raise Conflict(
            "A restore was not finished: what was erased since the backup may be there again. Run"
            f" it again; or remove {unfinished()}, to serve what is there."
        )


def place_of(row: Mapping[str, Any]) -> str:
    """Of a mask: the row that it is of, and where there."""
    target = next(row[f"{name}_id"] for name in MaskedSpan.TARGETS if row.get(f"{name}_id"))
    return f"{target} {row['place']} {row['start']} {row['end']}"


def _own() -> Path:
    return Path(settings.DATA_DIR) / NAME


def _key(act: str, row: Row) -> str:
    if act in (MASKED, UNMASKED):
        return place_of(row)
    return str(row["workspace_id" if act == REMOVED else "id"])


def _line(act: str, row: Row) -> str:
    return json.dumps({"act": act, "row": row})


def _read(path: Path) -> Iterator[tuple[str, Row]]:
    """Its lines. One that is half written was answered to nobody: it is begun again."""
    if not path.is_file():
        return
    for line in path.read_text().splitlines():
        with suppress(ValueError):
            told = json.loads(line)
            yield told["act"], told["row"]


def _loaded(row: Any) -> Row:
    made: Row = json.loads(row) if isinstance(row, str) else row
    return made


def _text(value: object) -> str | None:
    return None if value is None else str(value)
