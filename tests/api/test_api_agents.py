"""Agents and subjects: made when first named, listed, agents given a team."""

from tests.api_fixtures import caller
from tests.people import Person


def test_whoever_is_named_is_listed(alice: Person, mallory: Person) -> None:
    http = caller(alice)
    http.post("/memories/ingest", {"content": "Tea", "userId": "u1", "agentId": "bot"})
    assert http.get("/subjects", externalId="u1").body["results"][0]["externalId"] == "u1"
    assert http.get("/agents", externalId="bot").body["results"][0]["team"] == ""
    subject = http.get("/subjects").body["results"][0]["id"]
    assert http.get(f"/subjects/{subject}").status == 200
    assert caller(mallory).get(f"/subjects/{subject}").status == 404
    assert caller(mallory).get("/subjects").body["results"] == []


def test_a_team_is_given_to_an_agent(alice: Person, bob: Person, carol: Person) -> None:
    alice.note("We deploy on Mondays", agent_id="bob", visibility="team")
    http = caller(alice)
    assert caller(carol).get("/memories").contents() == []
    agent = http.get("/agents", externalId="carol").body["results"][0]["id"]
    assert http.patch(f"/agents/{agent}", {"team": ""}).body["team"] == ""
    assert caller(carol).get("/memories").contents() == ["We deploy on Mondays"]


def test_an_agent_is_made_once(alice: Person) -> None:
    http = caller(alice)
    made = http.post("/agents", {"externalId": "bot", "name": "Bot", "team": "ops"})
    assert (made.status, made.body["team"]) == (201, "ops")
    again = http.post("/agents", {"externalId": "bot"})
    assert (again.status, again.fields) == (409, ["externalId"])


def test_agents_are_changed_by_administrators_only(alice: Person, bob: Person) -> None:
    agent = caller(alice).get("/agents").body["results"][0]["id"]
    assert caller(bob).patch(f"/agents/{agent}", {"team": "ops"}).status == 403
    assert caller(bob).post("/agents", {"externalId": "x"}).status == 403
    assert caller(bob).get(f"/agents/{agent}").status == 200
