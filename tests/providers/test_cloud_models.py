"""Models of clouds, asked by the official SDKs' own classes: against a server that speaks their wires."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from memories.errors import Misconfigured
from memories.management.checks import extraction
from memories.providers import ExtractionRequest, ExtractorConfig, PromptMessage, cloud_models, extractor_from, network
from memories.providers.extractor import Extractor
from tests.wire_servers import FACT, Json, chat_completion, claude_message, facts_json, serve_in_turn

REQUEST = ExtractionRequest((PromptMessage(0, "user", "I live in Lisbon", "Ana", datetime(2024, 5, 1, 9, tzinfo=UTC)),))
VARIABLES = (
    "AZURE_OPENAI_API_KEY AZURE_OPENAI_ENDPOINT AZURE_OPENAI_AD_TOKEN OPENAI_API_VERSION OPENAI_BASE_URL OPENAI_API_KEY"
    " AWS_REGION AWS_DEFAULT_REGION AWS_PROFILE AWS_BEARER_TOKEN_BEDROCK AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY"
    " ANTHROPIC_BEDROCK_BASE_URL CLOUD_ML_REGION ANTHROPIC_VERTEX_PROJECT_ID ANTHROPIC_VERTEX_BASE_URL"
).split()


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    network._connected.cache_clear()
    extractor_from.cache_clear()


def model(provider: str, name: str = "a-model") -> Extractor:
    return extractor_from(ExtractorConfig(provider, name))


def test_azure_is_asked_at_its_deployment_with_its_key(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", httpserver.url_for("").rstrip("/"))
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "azure-key")
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
    path = "/openai/deployments/a-model/chat/completions"
    bodies = serve_in_turn(httpserver, path, chat_completion(facts_json(FACT)))
    assert model("azure").extract(REQUEST).facts
    sent = httpserver.log[-1][0]
    assert (sent.headers["api-key"], sent.args["api-version"]) == ("azure-key", "2024-10-21")
    assert bodies[0]["response_format"]["type"] == "json_schema"


def test_bedrock_is_asked_for_its_model_with_its_key(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BEDROCK_BASE_URL", httpserver.url_for("").rstrip("/"))
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "bedrock-key")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    name = "anthropic.claude-haiku-4-5-20251001-v1:0"
    bodies = serve_in_turn(httpserver, f"/model/{name}/invoke", claude_message(facts_json(FACT)))
    assert model("bedrock", name).extract(REQUEST).facts
    assert httpserver.log[-1][0].headers["Authorization"] == "Bearer bedrock-key"
    assert bodies[0]["anthropic_version"]
    assert bodies[0]["system"][0]["cache_control"]


def test_vertex_is_asked_in_its_project(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_VERTEX_BASE_URL", httpserver.url_for("").rstrip("/"))
    monkeypatch.setenv("ANTHROPIC_VERTEX_PROJECT_ID", "orchard")
    monkeypatch.setenv("CLOUD_ML_REGION", "europe-west1")

    def client(**more: Any) -> Any:  # in the place of what Google's library would find on a machine of theirs
        return cloud_models.anthropic.AnthropicVertex(
            access_token="vertex-token", **{name: more[name] for name in more if name not in ("api_key", "base_url")}
        )

    monkeypatch.setattr(cloud_models.VertexExtractor, "client", client)
    answered: list[Json] = []

    def answer(request: Request) -> Response:
        answered.append({"path": request.path, "key": request.headers["Authorization"]})
        return Response(json.dumps(claude_message(facts_json(FACT))), content_type="application/json")

    httpserver.expect_request(
        "/projects/orchard/locations/europe-west1/publishers/anthropic/models/a-model:rawPredict"
    ).respond_with_handler(answer)
    assert model("vertex").extract(REQUEST).facts
    assert answered[0]["key"] == "Bearer vertex-token"


@pytest.mark.parametrize("provider", ["azure", "bedrock", "vertex"])
def test_what_is_not_set_up_is_told_and_nothing_is_sent(provider: str) -> None:
    with pytest.raises(Misconfigured, match="cannot be asked"):
        model(provider).extract(REQUEST)


@pytest.mark.parametrize("provider", ["azure", "bedrock", "vertex"])
def test_a_model_of_a_cloud_has_to_be_named(provider: str, settings: Any) -> None:
    with pytest.raises(Misconfigured, match="name the model"):
        model(provider, "").extract(REQUEST)
    settings.EXTRACTION_PROVIDER, settings.EXTRACTION_MODEL = provider, ""
    assert [each.id for each in extraction(None)] == ["memories.E013"]
