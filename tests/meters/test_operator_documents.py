"""What the operator's documents name is there: commands, tests, settings, counts."""

import json
import re
from pathlib import Path

import pytest
import yaml
from django.core.management import get_commands, load_command_class
from django.test import Client

from memories import metrics
from tests.people import Person

ROOT = Path(__file__).parents[2]
OPERATING = (ROOT / "docs" / "guides" / "operating.md").read_text()
SECURITY = (ROOT / "docs" / "explanation" / "security.md").read_text()
DASHBOARD = (ROOT / "docs" / "grafana.json").read_text()
ALERTS = (ROOT / "docs" / "alerts.yaml").read_text()
# Counted as they happen: here they are made to.
HAPPENED = {
    "requests": 0.01,
    "searches": 0.01,
    "logins": 0.0,
    "model_calls": 0.0,
    "model_tokens": 0.0,
    "model_cost_micros": 0.0,
    "model_budgets_spent": 0.0,
    "search_results": 0.0,
    "searches_empty": 0.0,
    "query_vectors": 0.0,
}  # seconds


def test_commands_that_are_named_exist() -> None:
    named = set(re.findall(r"manage\.py (\w+)", OPERATING + SECURITY))
    assert named - set(get_commands()) == set()
    assert {"backup", "restore", "exportworkspace", "prune", "keys"} <= named


def test_options_that_are_named_exist(capsys: pytest.CaptureFixture[str]) -> None:
    for name, words in re.findall(r"manage\.py (\w+)(.*)", OPERATING):
        if options := re.findall(r"--[a-z-]+", words):
            with pytest.raises(SystemExit):
                from_help(name)
            told = capsys.readouterr().out
            assert [option for option in options if option not in told] == []


def from_help(name: str) -> None:
    load_command_class(get_commands()[name], name).run_from_argv(["manage.py", name, "--help"])


def test_each_promise_names_a_test_that_is_there() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)`", SECURITY)
    assert len(named) > 10
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_each_count_of_the_dashboard_and_the_alerts_is_in_the_metrics(alice: Person) -> None:
    metrics.clear()
    for name, seconds in HAPPENED.items():
        metrics.count(name, seconds)
    text = Client().get("/metrics").content.decode()
    named = set(re.findall(r"\bmemory_[a-z_]+", DASHBOARD + ALERTS))
    assert len(named) > 10
    shown = {re.split(r"[{ ]", line)[0] for line in text.splitlines()}
    # Ages and breakers are told where something waits, has failed, or was taken.
    sometimes = {"oldest_session_seconds", "breakers_open", "backup_age_seconds"}
    assert named - shown <= {f"memory_{name}" for name in sometimes}


def test_the_files_are_well_formed() -> None:
    assert len(json.loads(DASHBOARD)["panels"]) == 18
    rules = yaml.safe_load(ALERTS)["groups"][0]["rules"]
    assert [rule["alert"] for rule in rules if not rule["annotations"]["summary"]] == []
