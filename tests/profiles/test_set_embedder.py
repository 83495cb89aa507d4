"""A set with an embedder of its own: its features are embedded anew while search goes on."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone
from pytest_django import Settings
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from memories.errors import Invalid
from memories.index import check, reembedding, workspace_index
from memories.models import EmbeddingModel, FeatureSet, Vector
from memories.profiles.features import set_embedding, sets
from memories.profiles.features.consolidate import consolidate
from memories.profiles.features.set_embedding import SetEmbedding
from memories.profiles.features.set_queue import discover_sets
from memories.profiles.features.update import update_now
from memories.worker import sweep
from tests.api_fixtures import Caller, caller
from tests.people import Person
from tests.wire_servers import embeddings

pytestmark = pytest.mark.django_db(transaction=True)
KEY, LOCAL = "user:ada", {"provider": "local"}
OTHER = {"provider": "openai", "model": "nomic-embed-text"}


@pytest.fixture
def ada(alice: Person) -> Person:
    told(alice, "I live in Lisbon.", "I like hiking.")
    alice.tell("Bob likes tea", user_id="bob")
    return alice


def told(person: Person, *said: str) -> None:
    person.say(*said, user_id="ada", extract="patterns")
    discover_sets()
    update_now(person.scope, KEY)


def configure(person: Person, embedder: Any) -> None:
    sets.configure(person.scope, KEY, {"embedder": embedder})


def the_set() -> FeatureSet:
    return FeatureSet.objects.select_related("workspace").get(key=KEY)


def work() -> int:
    """What the worker does when the bell rings."""
    return set_embedding.embed(the_set().pk)


def finds(person: Person, query: str = "where is home?", **wish: Any) -> list[str]:
    return person.finds(query, layers=("features",), user_id="ada", **wish)


@pytest.fixture
def server(settings: Settings, httpserver: HTTPServer) -> Callable[..., list[str]]:
    """An embedding server; `then` happens at each request and may answer otherwise."""
    settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL = "key", httpserver.url_for("/v1")

    def serve(then: Callable[[], Response | None] = lambda: None) -> list[str]:
        asked: list[str] = []

        def answer(request: Request) -> Response:
            texts = json.loads(request.data)["input"]
            asked.extend(texts)
            try:
                other = then()
            finally:
                connections.close_all()
            vectors = [[1.0, len(text) / 99, *[0.0] * 766] for text in texts]
            body = json.dumps(embeddings(vectors, as_text=True))
            return other or Response(body, content_type="application/json")

        httpserver.expect_request("/v1/embeddings").respond_with_handler(answer)
        return asked

    return serve


def test_a_change_of_the_embedder_makes_vectors_and_then_changes_over(ada: Person) -> None:
    configure(ada, LOCAL)
    assert set_embedding.state_of(the_set()).state == "under way"
    assert work() == 2
    state = set_embedding.state_of(the_set())
    assert state == SetEmbedding(
        "local:wordllama-l2-supercat-256 (256)",
        "local:wordllama-l2-supercat-256 (256)",
        "ready",
        2,
        2,
    )
    assert "home (home): Lisbon" in " ".join(finds(ada))
    assert check.check_index(workspace_index.index_of(ada.workspace.pk), lambda _: None).broken == {}


def test_search_goes_on_while_the_vectors_are_made(ada: Person, server: Callable[..., list[str]]) -> None:
    meanwhile: list[list[str]] = []
    before = finds(ada)
    server(lambda: meanwhile.append(finds(ada)))
    configure(ada, OTHER)
    work()
    assert meanwhile[0] == before
    assert the_set().embedding_model == EmbeddingModel.objects.get(name="nomic-embed-text")


def test_the_query_is_asked_under_the_set_s_own_model(ada: Person, server: Callable[..., list[str]]) -> None:
    asked = server()
    configure(ada, OTHER)
    work()
    asked.clear()
    found = ada.ask("a place to stay", layers=("features",), ranking="vector")
    assert asked == ["search_query: a place to stay"]
    assert len(found) == 2


def test_a_model_that_fails_leaves_the_set_as_it_was_and_is_asked_again(
    ada: Person, server: Callable[..., list[str]]
) -> None:
    server(lambda: Response("down", 400))
    configure(ada, OTHER)
    assert work() == 0
    state = set_embedding.state_of(the_set())
    assert (state.state, state.spoken) == ("failing", None)
    assert finds(ada)
    assert the_set().embedding_due_at > timezone.now()
    configure(ada, None)
    assert set_embedding.state_of(the_set()).state == "under way"
    work()
    assert set_embedding.state_of(the_set()).state == "ready"


def test_what_is_folded_later_is_embedded_too(ada: Person) -> None:
    configure(ada, LOCAL)
    work()
    told(ada, "I have a dog named Bruno.")
    assert "Bruno" in finds(ada, "dog", ranking="keyword")[0]
    assert set_embedding.state_of(the_set()).state == "under way"
    assert work() == 1
    assert "Bruno" in finds(ada, "dog Bruno", ranking="vector")[0]


def test_taken_back_the_vectors_go_and_the_workspace_s_serve_again(ada: Person) -> None:
    before = finds(ada)
    configure(ada, LOCAL)
    work()
    configure(ada, None)
    work()
    assert not Vector.objects.filter(embedding_model_id=_local().pk).exists()
    assert (_local().state, finds(ada)) == ("retired", before)


def test_the_workspace_s_word_counts_for_all_sets_and_the_sweep_sees_it(ada: Person) -> None:
    ada.workspace.settings = {"featureSets": {"embedder": LOCAL}}
    ada.workspace.save()
    assert sweep.sweep().embeddings == FeatureSet.objects.count() == 2
    assert work() == 2
    assert set_embedding.enqueue_due() == 1


def test_a_type_s_word_counts_for_its_sets_alone(ada: Person) -> None:
    types = {"talk": {"embedder": LOCAL}}
    ada.workspace.settings = {"featureSetTypes": types, "featureSets": {"embedder": None}}
    ada.workspace.save()
    sets.configure(ada.scope, KEY, {"type": "talk"})
    assert work() == 2
    assert sweep.sweep().embeddings == 0
    ada.workspace.settings = {"featureSetTypes": {"talk": {}}}
    ada.workspace.save()
    assert sweep.sweep().embeddings == 1


def test_a_change_of_the_workspace_s_model_leaves_the_set_s_own(ada: Person) -> None:
    configure(ada, LOCAL)
    work()
    reembedding.drop_others(workspace_index.index_of(ada.workspace.pk))
    assert Vector.objects.filter(embedding_model_id=_local().pk).count() == 2


def test_likeness_is_measured_under_the_set_s_own_model(ada: Person) -> None:
    configure(ada, LOCAL)
    work()
    told(ada, "I like long hiking.")
    work()
    consolidate(ada.scope, KEY)
    assert the_set().changes.exclude(rule="rules").count() == 0


def test_erased_features_leave_no_vector_of_either_model(ada: Person) -> None:
    configure(ada, LOCAL)
    work()
    sets.delete(ada.scope, KEY)
    assert not Vector.objects.filter(layer=3).exists()


@pytest.mark.parametrize(
    ("embedder", "field"),
    [
        ("local", "config.embedder"),
        ({"provider": "acme"}, "config.embedder.provider"),
        ({"provider": "hash", "model": "other"}, "config.embedder.model"),
        ({"provider": "local", "dimensions": 3}, "config.embedder.dimensions"),
        ({"provider": "openai", "model": "unheard-of"}, "config.embedder.dimensions"),
        ({"provider": "hash", "url": "x"}, "config.embedder.url"),
    ],
)
def test_an_embedder_that_there_is_not_is_refused_by_its_field(ada: Person, embedder: Any, field: str) -> None:
    with pytest.raises(Invalid) as refused:
        configure(ada, embedder)
    assert refused.value.field == field


def test_the_api_tells_how_far_it_is(ada: Person) -> None:
    http: Caller = caller(ada)
    assert http.get(f"/sets/{KEY}/config").body["embedding"]["state"] == "ready"
    changed = http.patch(f"/sets/{KEY}/config", {"embedder": LOCAL}).body
    assert changed["settings"]["embedder"] == {"value": LOCAL, "source": "set"}
    assert changed["embedding"] == {
        "wanted": "local:wordllama-l2-supercat-256 (256)",
        "spoken": None,
        "state": "under way",
        "made": 0,
        "total": 2,
        "error": None,
    }
    work()
    assert http.get(f"/sets/{KEY}").body["embedding"]["state"] == "ready"


def _local() -> EmbeddingModel:
    return EmbeddingModel.objects.get(provider="local")
