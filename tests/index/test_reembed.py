"""Missing vectors are made; another embedding model takes over while search goes on."""

import json
from collections.abc import Callable
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connections, transaction
from pytest_django import Settings
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from memories.index import (
    configured_embedder,
    due_vectors,
    entries,
    rebuild,
    reembedding,
    workspace_index,
)
from memories.models import DueVector, EmbeddingModel, Entry, Layer, Memory, Vector, WorkspaceIndex
from memories.worker import sweep
from memoryproject.postgres import crossings
from tests.people import Person
from tests.wire_servers import embeddings, failing, openai_error, serve_embeddings

pytestmark = pytest.mark.django_db(transaction=True)
LONG = "The press in the barn squeezes apples and pears all through October. " * 12
PATH = "/v1/embeddings"


@pytest.fixture
def filled(alice: Person) -> Person:
    alice.tell("The orchard gate is painted green", user_id="ada")
    alice.tell("The orchard gate is no longer painted green", user_id="ada")
    alice.tell(LONG)
    alice.say("Apples are ripe.", "So they are.", thread_id="t")
    return alice


@pytest.fixture
def small(settings: Settings, httpserver: HTTPServer, filled: Person) -> HTTPServer:
    """The settings name a model of 1536 dimensions now; the server of it answers nothing yet."""
    settings.EMBEDDING_PROVIDER = "openai"
    settings.OPENAI_API_KEY = "key"
    settings.OPENAI_BASE_URL = httpserver.url_for("/v1")
    return httpserver


def reembed(**options: object) -> str:
    out = StringIO()
    call_command("reembed", stdout=out, stderr=StringIO(), **options)
    return out.getvalue()


def spoken(person: Person) -> str:
    model = WorkspaceIndex.objects.get(workspace=person.workspace).embedding_model
    return model.name if model else "none"


def agrees() -> bool:
    call_command("checkindex", stdout=StringIO(), stderr=StringIO())
    return True


def answer_and(server: HTTPServer, then: Callable[[int], Response | None]) -> None:
    """Serve embeddings; `then` hears the number of each request and may answer otherwise."""
    asked: list[int] = []

    def answer(request: Request) -> Response:
        asked.append(len(asked) + 1)
        try:
            # The command's connections look through the views, as those of a server's process.
            with crossings.everywhere():
                other = then(asked[-1])
        finally:
            connections.close_all()
        texts = json.loads(request.data)["input"]
        vectors = [[len(text), 1.0, *[0.0] * 1534] for text in texts]
        body = json.dumps(embeddings(vectors, as_text=True))
        return other or Response(body, content_type="application/json")

    server.expect_request(PATH, method="POST").respond_with_handler(answer)


# ---- missing vectors ------------------------------------------------------------------------


def test_missing_vectors_are_made(filled: Person) -> None:
    Vector.objects.filter(layer=Layer.MEMORIES).delete()
    told = reembed()
    assert f"{Memory.objects.count()} entries embedded" in told
    assert agrees()


def test_what_is_there_is_not_made_again(filled: Person) -> None:
    assert "0 entries embedded" in reembed()


def test_what_is_due_is_no_longer_due_afterwards(filled: Person) -> None:
    Vector.objects.all().delete()
    DueVector.objects.bulk_create([DueVector(entry=entry, workspace=entry.workspace) for entry in Entry.objects.all()])
    assert "0 entries still due" in reembed()
    assert agrees()


def test_a_vector_has_the_scope_of_its_entry(filled: Person) -> None:
    Vector.objects.all().delete()
    reembed()
    superseded = Memory.objects.exclude(superseded_by=None).get()
    entry = Entry.objects.get(item=superseded.pk)
    assert list(Vector.objects.filter(entry_id=entry.pk).values_list("live", flat=True)) == [False]


def test_only_the_workspace_that_is_named_is_done(filled: Person, mallory: Person) -> None:
    mallory.tell("The swamp is deep.")
    Vector.objects.all().delete()
    reembed(workspace="swamp")
    assert set(Vector.objects.values_list("workspace", flat=True)) == {
        workspace_index.index_of(mallory.workspace.pk).number
    }


def test_several_workspaces_must_be_named(filled: Person, mallory: Person) -> None:
    with pytest.raises(CommandError, match="orchard, swamp"):
        reembed()
    assert reembed(all=True).count("entries embedded") == 2


# ---- another model --------------------------------------------------------------------------


def test_another_model_takes_over(filled: Person, small: HTTPServer) -> None:
    serve_embeddings(small, 1536)
    parts = Vector.objects.count()
    told = reembed()
    assert spoken(filled) == "text-embedding-3-small"
    assert f"{parts} vectors of other models dropped" in told
    assert Vector.objects.count() == parts  # also of what is superseded
    assert agrees()
    assert EmbeddingModel.objects.get(provider="hash").state == "retired"


def test_old_vectors_stay_where_that_is_wanted(filled: Person, small: HTTPServer) -> None:
    serve_embeddings(small, 1536)
    parts = Vector.objects.count()
    reembed(drop_old=False)
    assert Vector.objects.count() == 2 * parts
    assert agrees()


def test_search_goes_on_with_the_old_model_meanwhile(filled: Person, small: HTTPServer) -> None:
    found = []
    answer_and(small, lambda n: found.append(filled.finds("orchard gate", ranking="vector")))
    reembed()
    assert found[0] == ["The orchard gate is no longer painted green", LONG.strip()]


def test_what_is_told_meanwhile_is_caught_up(filled: Person, small: HTTPServer) -> None:
    def tell(number: int) -> None:
        if number < 3:
            filled.tell(f"Meanwhile {number} more apples fell", user_id=f"u{number}")

    answer_and(small, tell)
    told = reembed()
    assert Memory.objects.filter(content__startswith="Meanwhile").count() == 2
    assert "0 entries still due" in told
    assert agrees()


def test_a_failure_leaves_the_old_model_and_what_is_done(
    filled: Person, small: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reembedding, "BATCH", 2)
    refused = failing(401, openai_error("no such key"))
    answer_and(small, lambda number: refused if number == 3 else None)
    with pytest.raises(CommandError, match="goes on from here") as caught:
        reembed()
    assert caught.value.returncode == 1
    assert spoken(filled) != "text-embedding-3-small"
    done = Vector.objects.filter(embedding_model_id=configured_embedder.configured_model().pk)  # type: ignore[union-attr]
    assert set(done.values_list("part", flat=True)) >= {0}
    number = len(set(done.values_list("entry_id", flat=True)))
    told = reembed()
    assert f"{Entry.objects.count() - number} entries embedded" in told
    assert agrees()


def test_a_writer_that_began_under_the_old_model_is_made_due(filled: Person, small: HTTPServer) -> None:
    serve_embeddings(small, 1536)
    before = workspace_index.index_of(filled.workspace.pk)
    [item] = rebuild.items_of_truth(Layer.MEMORIES, [Memory.objects.filter(superseded_by=None)[0].pk])
    vectors = due_vectors.embed(before, [item.texts])
    reembed()
    with transaction.atomic():
        entries.remove(before, Layer.MEMORIES, [item.id])
        entries.write(before, [item], vectors)
    assert DueVector.objects.count() == 1
    sweep.sweep()
    assert DueVector.objects.count() == 0
    assert agrees()


def test_a_sweep_that_began_under_the_old_model_leaves_it_due(filled: Person, small: HTTPServer) -> None:
    serve_embeddings(small, 1536)
    before = workspace_index.index_of(filled.workspace.pk)
    reembed()
    entry = Entry.objects.filter(layer=Layer.MEMORIES, live=True)[0]
    Vector.objects.filter(entry_id=entry.pk).delete()
    DueVector.objects.create(entry=entry, workspace=entry.workspace)
    due_vectors.fill_entries(before, [entry.pk])
    assert DueVector.objects.filter(entry=entry).exists()
    sweep.sweep()
    assert "dropped" in reembed()
    assert agrees()


def test_no_model_at_all_drops_the_vectors(filled: Person, settings: Settings) -> None:
    settings.EMBEDDING_PROVIDER = "none"
    reembed()
    assert (spoken(filled), Vector.objects.count(), DueVector.objects.count()) == ("none", 0, 0)
    assert filled.finds("orchard gate")[0] == "The orchard gate is no longer painted green"
    assert agrees()


def test_a_model_after_none_embeds_everything(filled: Person, settings: Settings) -> None:
    settings.EMBEDDING_PROVIDER = "none"
    reembed()
    settings.EMBEDDING_PROVIDER = "hash"
    reembed()
    assert "orchard gate" in filled.finds("green gate", ranking="vector")[0]
    assert agrees()


def test_a_model_whose_dimensions_are_not_known_is_refused(
    filled: Person, small: HTTPServer, settings: Settings
) -> None:
    settings.EMBEDDING_MODEL = "own-model"
    with pytest.raises(CommandError, match="EMBEDDING_DIMENSIONS"):
        reembed()


def test_checkindex_tells_that_the_settings_name_another_model(filled: Person, small: HTTPServer) -> None:
    out = StringIO()
    call_command("checkindex", stdout=out, stderr=StringIO())
    assert "reembed" in out.getvalue()
