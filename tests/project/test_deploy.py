"""Dockerfile, compose file and units: what is in them exists, runs as it stands, and keeps to the
rules by which such files are judged."""

import re
import shlex
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import get_commands, load_command_class
from pytest_httpserver import HTTPServer

from bench.reference.setting_page import settings
from memoryproject.server.address import Address
from memoryproject.server.processes import Size, processes

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
DOCKERFILES = [ROOT / "Dockerfile", DEPLOY / "pooler.Dockerfile"]
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())
UNITS = sorted(DEPLOY.glob("*.service"))
SERVICES = COMPOSE["services"]
# Of the images of PostgreSQL and PgBouncer, and of Python.
OTHERS = {"POSTGRES_PASSWORD", "OWNER_PASSWORD", "APP_PASSWORD", "PYTHONDONTWRITEBYTECODE"}


def lines_of(dockerfile: Path) -> list[tuple[str, str]]:
    """Instruction and words of each line, as the builder joins them."""
    text = re.sub(r"^#.*\n", "", dockerfile.read_text(), flags=re.M).replace("\\\n", " ")
    return [(line.split()[0], line.split(maxsplit=1)[1]) for line in text.splitlines() if line]


def words_of(dockerfile: Path, instruction: str) -> list[str]:
    return [words for name, words in lines_of(dockerfile) if name == instruction]


def is_understood(words: list[str]) -> None:
    """`python manage.py <command> <options>`: there is such a command and it takes them."""
    assert words[0].rpartition("/")[2] == "python"
    assert words[1] == "manage.py"
    name = words[2]
    command = load_command_class(get_commands()[name], name)
    command.create_parser("manage.py", name).parse_args(words[3:])


@pytest.mark.parametrize("dockerfile", DOCKERFILES, ids=lambda path: path.name)
def test_a_dockerfile_keeps_to_the_rules(dockerfile: Path) -> None:
    for base in words_of(dockerfile, "FROM"):
        image = base.split()[0]
        assert "slim" in image
        assert not image.endswith(":latest")
    assert words_of(dockerfile, "USER")[-1] not in ("root", "0")
    assert words_of(dockerfile, "HEALTHCHECK")
    assert words_of(dockerfile, "CMD")[-1].startswith("[")  # signals reach the program itself
    for run in words_of(dockerfile, "RUN"):
        if "apt-get install" in run:
            assert "--no-install-recommends" in run
            assert "rm -rf /var/lib/apt/lists" in run
        if "pip install" in run:
            assert "--require-hashes" in run
    assert not words_of(dockerfile, "ADD")


def test_what_is_copied_is_there_and_is_sent_to_the_builder() -> None:
    sent = set(re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text(), re.M))
    for words in words_of(ROOT / "Dockerfile", "COPY"):
        *sources, _ = words.split()
        if not sources[0].startswith("--from"):
            assert [each for each in sources if not (ROOT / each).exists()] == []
            assert set(sources) <= sent
    for words in words_of(DEPLOY / "pooler.Dockerfile", "COPY"):
        assert [each for each in words.split()[:-1] if not (DEPLOY / each).is_file()] == []


def test_the_image_holds_all_that_settings_name() -> None:
    copied = {words.split()[0] for words in words_of(ROOT / "Dockerfile", "COPY")}
    assert {"memories", "memoryproject", "workspaces", "static", "templates"} <= copied


def test_the_commands_of_image_and_services_are_understood() -> None:
    is_understood(yaml.safe_load(words_of(ROOT / "Dockerfile", "CMD")[-1]))
    for name in ("web", "worker"):
        is_understood(SERVICES[name]["command"])


def test_the_healthcheck_tells_who_answers(httpserver: HTTPServer) -> None:
    [check] = words_of(ROOT / "Dockerfile", "HEALTHCHECK")
    words = yaml.safe_load(check.partition("CMD ")[2])
    assert words[0] == "python"
    here = [sys.executable, "-c", words[2].replace("127.0.0.1:8000", httpserver.url_for("")[7:])]
    assert "/health/live" in here[2]
    httpserver.expect_request("/health/live").respond_with_data("ok")
    assert subprocess.run(here, capture_output=True).returncode == 0
    httpserver.clear()
    assert subprocess.run(here, capture_output=True).returncode != 0


def test_the_settings_that_are_named_exist() -> None:
    known = {setting.name for setting in settings(ROOT)} | OTHERS
    named = {name for service in SERVICES.values() for name in service.get("environment", {})}
    for unit in UNITS:
        named |= {each.partition("=")[0] for each in values_of(unit, "Service", "Environment")}
    assert named - known == set()


def test_one_service_alone_has_an_address_outside() -> None:
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["web"]
    assert SERVICES["web"]["ports"] == ["${PUBLISH:-127.0.0.1:8000}:8000"]


def test_services_run_without_rights_and_wait_for_each_other() -> None:
    for name in ("web", "worker", "pooler"):
        service = SERVICES[name]
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        for other, condition in service["depends_on"].items():
            assert condition == {"condition": "service_healthy"}
            assert "healthcheck" in SERVICES[other] or other == "web"
    assert SERVICES["pooler"]["profiles"] == ["pooler"]
    named = {each.partition(":")[0] for s in SERVICES.values() for each in s.get("volumes", [])}
    assert {each for each in named if not each.startswith(".")} == set(COMPOSE["volumes"])


def test_no_secret_stands_in_the_files() -> None:
    for service in SERVICES.values():
        for name, value in service.get("environment", {}).items():
            if "PASSWORD" in name or "KEY" in name or "TOKEN" in name:
                assert value.startswith("${"), name


@pytest.mark.parametrize("script", sorted(DEPLOY.glob("*.sh")), ids=lambda path: path.name)
def test_a_script_can_be_read_by_a_shell(script: Path) -> None:
    assert "set -eu" in script.read_text()
    assert subprocess.run(["sh", "-n", str(script)]).returncode == 0


def test_the_pooler_is_one_that_the_server_takes() -> None:
    config = ConfigParser()
    config.read(DEPLOY / "pgbouncer.ini")
    assert config["pgbouncer"]["pool_mode"] == "transaction"
    assert int(config["pgbouncer"]["max_prepared_statements"]) >= 200
    assert config["pgbouncer"]["listen_port"] in SERVICES_TEXT


SERVICES_TEXT = (ROOT / "compose.yaml").read_text()


def values_of(unit: Path, section: str, name: str) -> list[str]:
    """All values of a name that may stand several times."""
    body = unit.read_text().partition(f"[{section}]")[2].partition("\n[")[0]
    return re.findall(rf"^{name}=(.*)$", body, re.M)


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_a_unit_runs_a_command_that_is_understood_as_an_ordinary_user(unit: Path) -> None:
    [command] = values_of(unit, "Service", "ExecStart")
    is_understood(shlex.split(command))
    assert values_of(unit, "Service", "User") == ["memoryproject"]
    assert values_of(unit, "Service", "ProtectSystem") == ["strict"]
    [state] = values_of(unit, "Service", "StateDirectory")
    folders = {f"/var/lib/{each}" for each in state.split()}
    data = [each for each in values_of(unit, "Service", "Environment") if "DATA_DIR" in each]
    assert [each.partition("=")[2] for each in data] == ["/var/lib/memoryproject"]
    written = {word for word in shlex.split(command) if word.startswith("/var")}
    assert written <= folders


def test_without_a_worker_the_rest_is_started(tmp_path: Path) -> None:
    def names(workers: int) -> list[str]:
        children: Any = processes(Address("127.0.0.1", 1), "app", Size(1, workers), tmp_path / "front.sock")
        return [child.name for child in children]

    assert names(2) == ["front", "web", "worker"]
    assert names(0) == ["front", "web", "models"]
