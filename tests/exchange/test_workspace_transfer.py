"""A workspace goes into a file and comes out of it elsewhere: nothing is lost, nothing doubles."""

import json
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db.models import UUIDField
from django.urls import reverse

from memories.errors import Invalid
from memories.exchange import export_workspace as exporting
from memories.exchange import import_workspace, load_workspace
from memories.exchange.exported_tables import EXPORTED, LEFT_OUT, NOT_EXPORTED, exported_tables
from memories.exchange.load_workspace import NAMING
from memories.models import (
    Fact,
    FeatureSet,
    ImportedRow,
    Memory,
    MemoryPeriod,
    WorkspaceImport,
    WorkspacePattern,
    chain,
)
from memories.privacy.erase import workspace_removal
from memoryproject.postgres import crossings
from tests.api_fixtures import caller
from tests.api_operations import furnish
from tests.desk import member, page_of
from tests.management.test_commands import run
from tests.people import Person, backend_of
from workspaces.audit import audit_chain
from workspaces.models import AuditEntry, Role, Workspace
from workspaces.scope import worker_scope

QUERIES = ("tabs or spaces", "horse", "where does she live", "prefer", "kidding", "nothing of it")


def own_models() -> Iterator[Any]:
    for app in ("memories", "workspaces"):
        yield from apps.get_app_config(app).get_models(include_auto_created=True)


def test_each_table_is_exported_or_left_out_with_its_reason() -> None:
    named = [*EXPORTED, *NOT_EXPORTED]
    assert len(named) == len(set(named))
    assert {model._meta.label for model in own_models()} == set(named)


def test_each_column_of_an_exported_table_is_exported_or_left_out_with_its_reason() -> None:
    every = {f"{model._meta.label}.{field.name}" for model in own_models() for field in model._meta.concrete_fields}
    assert set(LEFT_OUT) - every == set()
    for table in exported_tables():
        fields = apps.get_model(table.label)._meta.concrete_fields
        left = [f for f in fields if f.column not in table.columns]
        assert {f"{table.label}.{f.name}" for f in left} <= set(LEFT_OUT)
        # What is left out is null there, or made by the database.
        assert [f.name for f in left if not (f.null or f.generated or f.primary_key)] == []


def test_what_is_referred_to_comes_first() -> None:
    seen: set[Any] = set()
    for table in exported_tables():
        model = apps.get_model(table.label)
        seen.add(model)
        for field in model._meta.concrete_fields:
            if field.related_model and field.column in table.columns:
                assert field.related_model in seen, f"{table.label}.{field.name}"


def filled(alice: Person) -> None:
    """Messages, a chain, an order to forget, a case, features, settings, a pattern."""
    furnish(alice)
    alice.say("I live in Oslo.", user_id="u1")
    alice.say("I moved to Cork, I live in Cork now.", user_id="u1")
    Workspace.objects.filter(pk=alice.workspace.pk).update(settings={"llm": "always"})
    WorkspacePattern.objects.create(
        workspace=alice.workspace,
        name="deploys",
        category="policy",
        regex=r"we ship on (?P<day>\w+)",
        template="Ships on {day}",
        examples=["We ship on Mondays."],
    )


def answers(workspace: Workspace) -> dict[str, list[Any]]:
    """What searches find, in their order and with their scores. A message's weight by words is
    that of the average length when it came, and of all of them when the index is made anew."""
    person, found = backend_of(workspace), {}
    for query in QUERIES:
        for ranking in ("hybrid", "linea", "vector", "keyword"):
            for layer in ("memories", "episodes", "features"):
                hits = person.ask(query, ranking=ranking, layers=(layer,))
                told = [(str(hit.row.id), round(hit.score, 5)) for hit in hits]
                found[f"{query}, {ranking}, {layer}"] = told
    return found


def chains(workspace: Workspace) -> dict[str, list[Any]]:
    scope = worker_scope(workspace.pk)
    return {
        str(memory.pk): [
            (link.memory.content, link.supersession and link.supersession.rule) for link in chain(scope, memory.pk)
        ]
        for memory in Memory.objects.filter(workspace=workspace)
    }


def rows_of(workspace: Workspace) -> dict[str, int]:
    return {
        table.label: apps.get_model(table.label)._base_manager.filter(**{table.owner: workspace.pk}).count()
        for table in exported_tables()
    }


def remove(workspace: Workspace) -> None:
    asked = workspace_removal.request(workspace, "test")
    workspace_removal.run(asked.pk)
    assert not Workspace.objects.filter(pk=workspace.pk).exists()


@pytest.fixture
def exported(transactional_db: None, alice: Person, tmp_path: Path) -> Path:
    filled(alice)
    path = tmp_path / "orchard.jsonl"
    run("exportworkspace", str(path))
    return path


def test_the_same_answers_and_chains_come_out_elsewhere(exported: Path, alice: Person, tmp_path: Path) -> None:
    before = answers(alice.workspace), chains(alice.workspace), rows_of(alice.workspace)
    run("exportworkspace", str(exported), "--force")
    before_rows = rows_of(alice.workspace)
    assert sum(len(hits) for hits in before[0].values()) > 50
    remove(alice.workspace)
    told = json.loads(run("importworkspace", str(exported), "--json"))
    assert told["rows"] == sum(before_rows.values())
    workspace = Workspace.objects.get(pk=alice.workspace.pk)
    assert (workspace.slug, workspace.settings) == ("orchard", {"llm": "always"})
    after_rows = rows_of(workspace)
    after_rows["workspaces.AuditEntry"] -= 1  # of the import itself
    assert after_rows == before_rows
    after = answers(workspace)
    assert {q: (before[0][q], hits) for q, hits in after.items() if hits != before[0][q]} == {}
    assert chains(workspace) == before[1]
    call_command("checkindex")
    assert not ImportedRow.objects.exists()

    # Twice doubles nothing.
    again = rows_of(workspace)
    assert "here already" in run("importworkspace", str(exported))
    assert rows_of(workspace) == again
    # Another export of it is not what is here, and does not say so.
    run("exportworkspace", str(exported), "--force")
    with pytest.raises(CommandError, match="another export, and an import adds nothing"):
        run("importworkspace", str(exported))
    assert rows_of(workspace) == again

    # Its log goes on, and has not ended as that of the removed one has.
    call_command("checkaudit")
    assert crossings.remove_audit(workspace.pk, 1000) == 0
    # And what came out goes on living.
    person = backend_of(workspace)
    person.say("I moved to Bergen, I live in Bergen now.", user_id="u1")
    live = Memory.objects.filter(subject__external_id="u1").live()
    homes = [m.content for m in live if any(city in m.content for city in ("Cork", "Bergen"))]
    assert homes == ["User moved to Bergen"]
    assert FeatureSet.objects.filter(workspace=workspace).exists()
    remove(workspace)  # though one of this id was removed before


def test_an_export_is_one_file_for_its_owner_alone_and_whole(exported: Path, alice: Person) -> None:
    assert exported.stat().st_mode & 0o777 == 0o600
    with pytest.raises(CommandError, match="is there already"):
        run("exportworkspace", str(exported))
    lines = [json.loads(line) for line in exported.read_text().splitlines()]
    assert (lines[0]["format"], lines[-1]["end"]) == ("memoryproject workspace", True)
    assert sum(lines[-1]["counts"].values()) == len(lines) - 2
    text = exported.read_text()
    assert "digest" not in text
    assert "mp_" not in text
    told = json.loads(run("exportworkspace", "-", "--dry-run", "--json"))
    assert told["rows"] == len(lines) - 2
    packed = exported.with_suffix(".jsonl.gz")
    run("exportworkspace", str(packed))
    assert packed.stat().st_size < exported.stat().st_size / 3
    assert "would be read" in _refused_or_told(packed)


def _refused_or_told(path: Path) -> str:
    """Of the workspace that is still there a dry run is refused; elsewhere it says what it would
    do."""
    remove(Workspace.objects.get(slug="orchard"))
    return run("importworkspace", str(path), "--dry-run")


def test_what_was_stopped_goes_on(exported: Path, alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    remove(alice.workspace)
    monkeypatch.setattr(import_workspace, "IMPORTED_AT_ONCE", 20)
    whole = exported.read_text()
    lines = whole.splitlines(keepends=True)
    exported.write_text("".join(lines[:51]))
    with pytest.raises(CommandError, match="cut off"):
        run("importworkspace", str(exported))
    assert WorkspaceImport.objects.get().lines == 50
    assert not Workspace.objects.filter(slug="orchard").exists()
    exported.write_text(whole)
    assert "50 of them were kept" in run("importworkspace", str(exported), "--dry-run")
    kept: list[int] = []
    row = import_workspace.begin(lines[0])
    with exported.open() as opened:
        opened.readline()
        import_workspace.keep(row, opened, kept.append)
    assert kept[:2] == [50, 20]
    assert WorkspaceImport.objects.get().lines == len(lines) - 2
    run("importworkspace", str(exported))
    assert Fact.objects.filter(workspace=alice.workspace.pk).count() == sum(
        '"memories.Fact"' in line[:30] for line in lines
    )
    assert MemoryPeriod.objects.filter(workspace=alice.workspace.pk).exists()


def test_a_stopped_import_is_let_go_of(exported: Path, alice: Person) -> None:
    remove(alice.workspace)
    text = exported.read_text()
    exported.write_text(text[: len(text) // 2].rpartition("\n")[0] + "\n")
    with pytest.raises(CommandError, match="cut off"):
        run("importworkspace", str(exported))
    assert "let go of" in run("importworkspace", str(exported), "--abandon")
    assert not ImportedRow.objects.exists()
    with pytest.raises(CommandError, match="Nothing of this file"):
        run("importworkspace", str(exported), "--abandon")


def test_what_this_server_cannot_take_is_refused_in_a_line(exported: Path, alice: Person, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="'orchard' is on this server already"):
        run("importworkspace", str(exported))
    remove(alice.workspace)
    Workspace.objects.create(slug="orchard", name="Another")
    with pytest.raises(CommandError, match="give another slug"):
        run("importworkspace", str(exported))
    head, *rest = exported.read_text().splitlines(keepends=True)
    told = json.loads(head)
    wrong = {
        "another version": told | {"migrations": {"memories": "0027_split_subjects"}},
        "upgrade it": told | {"version": 9},
        "no export": told | {"format": "something"},
    }
    other = tmp_path / "other.jsonl"
    for said, changed in wrong.items():
        other.write_text(json.dumps(changed) + "\n" + "".join(rest))
        with pytest.raises(CommandError, match=said):
            run("importworkspace", str(other), "--slug", "other")
    broken = {
        "Line 2 is broken": ["{", *rest[1:]],
        "Line 2 is not what": ['{"table": "auth.Group", "row": {}}\n', *rest[1:]],
        "Line 3 is not what": [rest[0], "[]\n", *rest[2:]],
        "the rows that its end counts": rest[1:],
        "do not fit": [line for line in rest if '"memories.Episode"' not in line[:30]][:-1]
        + [json.dumps({"end": True, "counts": _counts_without(rest, "memories.Episode")}) + "\n"],
    }
    for said, lines in broken.items():
        other.write_text(head + "".join(lines))
        with pytest.raises(CommandError, match=said):
            run("importworkspace", str(other), "--slug", "other")
        WorkspaceImport.objects.all().delete()
        ImportedRow.objects.all().delete()
    with pytest.raises(CommandError, match="cannot be read"):
        run("importworkspace", str(tmp_path / "none.jsonl"))
    with pytest.raises(CommandError, match="There is no folder"):
        run("exportworkspace", str(tmp_path / "none" / "x.jsonl"), "--workspace", "orchard")


def _file_of(head: str, *rows: tuple[str, dict[str, Any]]) -> Iterator[str]:
    """The lines of an export that says of itself that it is whole."""
    yield head
    for label, row in rows:
        yield json.dumps({"table": label, "row": row})
    yield json.dumps({"end": True, "counts": Counter(label for label, _ in rows)})


def _refusal(lines: Iterator[str]) -> str:
    row = import_workspace.begin(next(lines))
    import_workspace.keep(row, lines, lambda rows: None)
    with pytest.raises(Invalid) as caught:
        load_workspace.load(row, "test")
    import_workspace.abandon(row)
    return caught.value.message


def _row_of(workspace: Workspace, label: str) -> str:
    """The id of one of its rows, or one of none."""
    owner = "pk" if label == "workspaces.Workspace" else "workspace_id"
    rows = apps.get_model(label)._base_manager.filter(**{owner: workspace.pk})
    return str(rows.values_list("pk", flat=True).first() or uuid.uuid4())


@pytest.mark.parametrize(
    ("label", "column", "value"),
    [
        ("workspaces.AuditEntry", "id", str(uuid.UUID(int=2**128 - 1))),
        ("workspaces.AuditMark", "line_id", str(uuid.UUID(int=2**128 - 1))),
        ("workspaces.AuditMark", "position", 2**63 - 1),
    ],
)
def test_a_line_of_the_audit_that_is_of_the_future_is_not_taken(
    exported: Path, alice: Person, label: str, column: str, value: object
) -> None:
    head, first = exported.read_text().splitlines()[:2]
    own = json.loads(first)
    remove(alice.workspace)
    row = {"workspace_id": str(alice.workspace.pk), "id": str(uuid.uuid4()), column: value}
    told = _refusal(_file_of(head, (own["table"], own["row"]), (label, row)))
    assert "is of a time that has not come" in told


def test_rows_of_a_file_reach_into_no_other_workspace_whatever_table_they_are_of(
    exported: Path, alice: Person, mallory: Person
) -> None:
    furnish(mallory)
    victim, before = mallory.workspace, rows_of(mallory.workspace)
    head, first = exported.read_text().splitlines()[:2]
    own = json.loads(first)
    assert own["table"] == "workspaces.Workspace"
    remove(alice.workspace)
    refused, tried = set(), set()
    for table in exported_tables():
        mine = [] if table.label == own["table"] else [(own["table"], own["row"])]
        owned = {table.owner: str(alice.workspace.pk)}
        forged = [(table.owner, str(victim.pk))]
        forged += [(name, _row_of(victim, to)) for name, to, _ in load_workspace.references(table)]
        named = [name for name in table.columns if f"{table.label}.{name}" in NAMING]
        for name in named:
            targets = NAMING[f"{table.label}.{name}"]
            forged.append((name, next(_row_of(victim, each) for each in targets)))
        for column, value in forged:
            bad = [value] if column.endswith("ids") else value
            told = _refusal(_file_of(head, *mine, (table.label, {**owned, column: bad})))
            tried.add(f"{table.label}.{column}")
            refused |= {f"{table.label}.{column}"} if f"{table.label}.{column} " in told else set()
    assert tried - refused == set()
    assert len(tried) > 100
    two = (own["table"], own["row"])
    for rows in ([], [two, two], [two, (own["table"], {**own["row"], "id": str(victim.pk)})]):
        assert "one row of workspaces.Workspace" in _refusal(_file_of(head, *rows))
    assert rows_of(victim) == before
    assert sum(rows_of(alice.workspace).values()) == 0


def test_each_column_with_an_id_is_a_key_or_looked_at_or_names_no_row() -> None:
    free = {
        # Where somebody was, by the ids of that time.
        "memories.FeatureSet.cursor",
        "memories.SetDiscovery.seen",
        # What belongs together.
        "memories.Case.topic",
        "memories.FeatureChange.batch",
        "memories.FeatureMark.batch",
        "memories.FeatureRefusal.batch",
        "memories.SubjectMerge.batch",
        # What a line tells, and by which it is undone within its workspace.
        "memories.Memory.ended_by",
        "memories.MaskedSpan.cause",
        "workspaces.AuditEntry.target_id",
        "workspaces.AuditEntry.subject_id",
        "workspaces.AuditEntry.salt",
    }
    found = set()
    for table in exported_tables():
        for field in apps.get_model(table.label)._meta.concrete_fields:
            kind = getattr(field, "base_field", field)
            is_id = isinstance(kind, UUIDField) and not field.primary_key
            if is_id and field.column in table.columns:
                found.add(f"{table.label}.{field.column}")
    assert found == free | set(NAMING)


def test_a_file_that_is_no_export_within_is_refused_in_a_line(exported: Path, alice: Person, tmp_path: Path) -> None:
    remove(alice.workspace)
    head, first, *_ = exported.read_text().splitlines()
    told, other = json.loads(head), tmp_path / "other.jsonl"
    named, row = told["workspace"], json.loads(first)["row"]
    for said, lines in {
        "Line 1 is not": [json.dumps(told | {"workspace": named | {"id": "../x"}})],
        "can be no slug": [json.dumps(told | {"workspace": named | {"slug": "removed-x"}})],
        "Line 2 is not": [head, json.dumps({"table": "memories.Fact"})],
        "last line": [head, first, json.dumps({"end": True})],
        "a character that no export": [
            head,
            json.dumps({"table": "memories.Fact", "row": {"a": chr(0)}}),
            '{"end": true}',
        ],
        "do not fit": _file_of(head, ("workspaces.Workspace", {**row, "created_at": "never"})),
    }.items():
        other.write_text("\n".join(lines) + "\n")
        with pytest.raises(CommandError, match=said):
            run("importworkspace", str(other))
        WorkspaceImport.objects.all().delete()
        ImportedRow.objects.all().delete()
    assert not Workspace.objects.filter(pk=alice.workspace.pk).exists()


def _counts_without(lines: list[str], label: str) -> dict[str, int]:
    counts: dict[str, int] = json.loads(lines[-1])["counts"]
    return {name: count for name, count in counts.items() if name != label}


def test_another_slug_and_a_newer_export(exported: Path, alice: Person) -> None:
    """Of an older export of the same workspace nothing is kept."""
    head, *rest = exported.read_text().splitlines(keepends=True)
    newer = exported.with_name("newer.jsonl")
    alice.say("I have a dog called Rex.", user_id="u1")
    run("exportworkspace", str(newer))
    remove(alice.workspace)
    exported.write_text(head + "".join(rest[:10]))
    with pytest.raises(CommandError, match="cut off"):
        run("importworkspace", str(exported))
    run("importworkspace", str(newer), "--slug", "meadow")
    workspace = Workspace.objects.get(pk=alice.workspace.pk)
    assert workspace.slug == "meadow"
    assert AuditEntry.objects.filter(workspace=workspace, action="import_workspace").count() == 1
    assert any("Rex" in content for content in backend_of(workspace).finds("dog"))


@pytest.mark.django_db(transaction=True)
def test_admins_have_an_export_over_http_and_in_the_browser_and_the_audit_keeps_who(
    alice: Person, mallory: Person
) -> None:
    alice.note("Prefers tea")
    audit_chain.extend(alice.workspace.pk)
    http = caller(alice)
    address = f"/api/v1/workspaces/{alice.workspace.slug}/export"
    answer: Any = http.client.get(address, headers=http.headers)
    lines = [json.loads(line) for line in b"".join(answer.streaming_content).splitlines()]
    assert lines[-1]["end"]
    assert any(row.get("row", {}).get("content") == "Prefers tea" for row in lines)
    assert "workspaces.AuditMark" in lines[-1]["counts"]
    assert AuditEntry.objects.filter(action="export").count() == 1
    page = reverse("admin:workspaces_workspace_export", args=[alice.workspace.pk])
    admin, viewer = member(alice.workspace, Role.ADMIN), member(alice.workspace, Role.VIEWER)
    sent: Any = admin.client.get(page)
    parts = b"".join(sent.streaming_content)
    assert b"Prefers tea" in parts
    assert AuditEntry.objects.filter(action="export").count() == 2
    assert viewer.client.get(page).status_code == 403
    assert member(mallory.workspace, Role.OWNER).client.get(page).status_code == 404
    assert page in admin.sees(page_of(alice.workspace))


@pytest.mark.django_db(transaction=True)
def test_what_is_too_large_for_a_request_is_the_operators(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "MOST_OVER_HTTP", 1)
    answer = caller(alice).get("/export")
    assert (answer.status, answer.body["code"]) == (409, "too_large")
    assert "exportworkspace" in answer.body["detail"]
    page = reverse("admin:workspaces_workspace_export", args=[alice.workspace.pk])
    assert member(alice.workspace, Role.ADMIN).client.get(page).status_code == 409
    assert not AuditEntry.objects.filter(action="export").exists()
