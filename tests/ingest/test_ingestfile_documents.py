"""`manage.py ingestfile --documents`: folders of files become documents, and go on where they were
stopped."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from memories.management.commands import ingestfile
from memories.models import Document
from memories.queue.long_jobs import Stopped
from tests.people import Person

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def folder(tmp_path: Path, settings: Any, alice: Person) -> Path:
    settings.BLOB_DIR = tmp_path / "blobs"
    folder = tmp_path / "reports"
    (folder / "2026").mkdir(parents=True)
    (folder / "a.md").write_text("The heron fishes at noon.")
    (folder / "2026" / "a.md").write_text("The heron sleeps at noon.")
    (folder / ".hidden.md").write_text("Hidden.")
    (folder / "noise.bin").write_bytes(b"\0")
    return folder


def hand_in(*paths: Path, **options: Any) -> dict[str, Any]:
    out = StringIO()
    call_command("ingestfile", *paths, documents=True, json=True, stdout=out, stderr=StringIO(), **options)
    return dict(json.loads(out.getvalue()))


def test_each_file_is_a_document_by_its_path(folder: Path) -> None:
    told = hand_in(folder, space=["reports"], user="ada", extract="none")
    assert (told["new"], told["unchanged"]) == (2, 0)
    names = set(Document.objects.values_list("custom_id", "filename", "extract", "state"))
    assert names == {
        ("reports/a.md", "a.md", "none", "queued"),
        ("reports/2026/a.md", "a.md", "none", "queued"),
    }
    document = Document.objects.get(custom_id="reports/a.md")
    assert document.container_tags == ["reports"]
    assert document.subject is not None
    assert document.subject.external_id == "ada"


def test_the_same_folder_again_adds_only_what_changed(folder: Path) -> None:
    hand_in(folder)
    (folder / "a.md").write_text("It flies.")
    (folder / "b.md").write_text("It comes.")
    told = hand_in(folder)
    assert (told["new"], told["unchanged"]) == (2, 1)
    assert Document.objects.count() == 3


def test_what_was_stopped_goes_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:

        def stops(*_: Any) -> None:
            raise Stopped

        patched.setattr("memories.management.progress.Steps.__call__", stops)
        with pytest.raises(CommandError) as stopped:
            hand_in(folder)
    assert stopped.value.returncode == 130
    assert Document.objects.count() == 1
    assert hand_in(folder)["new"] == 1


def test_what_cannot_be_handed_in_is_told_and_the_rest_is(folder: Path, settings: Any) -> None:
    settings.MAX_UPLOAD_BYTES = 30
    (folder / "empty.md").write_text("")
    (folder / "large.md").write_text("x" * 31)
    err = StringIO()
    with pytest.raises(CommandError):
        call_command("ingestfile", folder, folder / "none.md", documents=True, stdout=StringIO(), stderr=err)
    assert "reports/large.md: It is larger than 30 bytes." in err.getvalue()
    assert "reports/empty.md: There is nothing in it." in err.getvalue()
    assert "none.md: No such file" in err.getvalue()
    assert Document.objects.count() == 2


def test_a_dry_run_counts_and_an_empty_folder_is_told(folder: Path, tmp_path: Path) -> None:
    out = StringIO()
    call_command("ingestfile", folder, documents=True, dry_run=True, stdout=out)
    assert "2 files would be handed in." in out.getvalue()
    assert not Document.objects.exists()
    (tmp_path / "empty").mkdir()
    with pytest.raises(CommandError):
        hand_in(tmp_path / "empty")


def test_long_paths_are_told_apart() -> None:
    one, two = (ingestfile.DocumentFile(Path("x"), "d/" * 200 + name) for name in "ab")
    assert len(one.custom_id) <= ingestfile.LONGEST_ID
    assert one.custom_id != two.custom_id
