"""The readers of environment variables refuse nonsense and say which variable holds it."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from memoryproject.env import (
    env_bool,
    env_float,
    env_int,
    env_list,
    env_secret,
    env_str,
    kept_secret,
)


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch):
    return lambda value: monkeypatch.setenv("X", value)


@pytest.mark.parametrize("text", ["1", "true", "YES", " on "])
def test_words_for_true_are_true(given, text: str):
    given(text)
    assert env_bool("X") is True


@pytest.mark.parametrize("text", ["0", "False", "no", "off"])
def test_words_for_false_are_false(given, text: str):
    given(text)
    assert env_bool("X", True) is False


@pytest.mark.parametrize("text", ["", "  "])
def test_an_empty_variable_counts_as_not_set(given, text: str):
    given(text)
    assert env_bool("X", True) is True
    assert env_int("X", 7) == 7
    assert env_str("X", "default") == "default"
    assert env_list("X", ("a",)) == ["a"]


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        (env_bool, "maybe"),
        (lambda name: env_int(name, 1), "1.5"),
        (lambda name: env_int(name, 1, minimum=1), "0"),
        (lambda name: env_int(name, 1, maximum=9), "10"),
        (lambda name: env_float(name, 1.0), "nan"),
        (lambda name: env_float(name, 1.0), "soon"),
        (lambda name: env_str(name, choices=("a", "b")), "c"),
    ],
)
def test_nonsense_is_refused_with_the_name_of_the_variable(given, reader, text: str):
    given(text)
    with pytest.raises(ImproperlyConfigured, match="^X="):
        reader("X")


def test_a_list_drops_blanks_and_empty_parts(given):
    given(" a, b ,,c,")
    assert env_list("X") == ["a", "b", "c"]


def test_a_secret_may_be_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "secret").write_text("hidden\n")
    monkeypatch.setenv("X_FILE", str(tmp_path / "secret"))
    assert env_secret("X") == "hidden"


def test_a_secret_given_twice_is_refused(given, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    given("one")
    monkeypatch.setenv("X_FILE", str(tmp_path / "secret"))
    with pytest.raises(ImproperlyConfigured, match="both set"):
        env_secret("X")


def test_a_missing_secret_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("X_FILE", str(tmp_path / "nothing"))
    with pytest.raises(ImproperlyConfigured, match="X_FILE"):
        env_secret("X")


def test_a_kept_secret_stays_the_same_and_private(tmp_path: Path):
    file = tmp_path / "deep" / "secret_key"
    first = kept_secret(file)
    assert len(first) > 50
    assert kept_secret(file) == first
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [found.name for found in file.parent.iterdir()] == ["secret_key"]


def test_many_processes_at_once_keep_one_secret(tmp_path: Path):
    code = """if True:
        import pathlib, sys
        from memoryproject.env import kept_secret
        print(kept_secret(pathlib.Path(sys.argv[1])))"""
    command = [sys.executable, "-c", code, str(tmp_path / "new" / "key")]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    assert len({process.communicate()[0] for process in running}) == 1


def test_settings_name_the_variable_that_is_wrong(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("MEMORY_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("DATABASE_URL", "sqlite:///x")
    done = subprocess.run([sys.executable, "-c", "import memoryproject.settings"], capture_output=True, text=True)
    assert "DATABASE_URL must begin with postgresql://" in done.stderr
    done = subprocess.run(
        [sys.executable, "manage.py", "stats"],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 1
    assert done.stderr == "CommandError: DATABASE_URL must begin with postgresql://\n"
