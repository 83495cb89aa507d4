"""What a start tells of itself."""

import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

from memoryproject.server import start_steps
from memoryproject.server.start_steps import StartStep, install
from tests.live_server import wait_for

PIP = """import sys
print("Ignoring pywin32: markers 'sys_platform == win32' don't match your environment")
print("Collecting django==5.2.19 (from -r base.txt)")
print("Collecting numpy==2.4.6 (from -r base.txt)")
print("Installing collected packages: django, numpy")
sys.exit(int(sys.argv[1]))
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    file = tmp_path / "base.txt"
    file.write_text("django==5.2.19 \\\n    --hash=a\nnumpy==2.4.6\nnumpy==2.5.5\npywin32==312\n")
    return file


def test_a_log_gets_a_line_for_a_step_and_one_for_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_steps, "BETWEEN_LINES", 0.0)
    monkeypatch.setattr(start_steps, "BETWEEN_LOOKS", 0.01)
    log = io.StringIO()
    with StartStep("Tables", log) as step:
        step.say("3 of 4")
        assert wait_for(lambda: "3 of 4" in log.getvalue())
    first, *_, last = log.getvalue().splitlines()
    assert first.startswith("  Tables")
    assert first.endswith(" s ...")
    assert last.startswith("  Tables, 3 of 4: ")
    assert last.endswith(" s")


def test_a_terminal_sees_one_line_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_steps, "BETWEEN_LOOKS", 60.0)  # a quarter of a second is soon over
    terminal = Terminal()
    step = StartStep("Tables", terminal, with_thread=False).__enter__()
    step.shown -= 60
    step.tick()
    step.tick()
    step.end()
    step.end()
    assert terminal.getvalue().count("\r") == 3
    assert terminal.getvalue().count("\n") == 1


def test_a_step_that_fails_says_so() -> None:
    log = io.StringIO()
    with pytest.raises(OSError, match="disk"), StartStep("Tables", log):
        raise OSError("disk")
    assert re.search(r"Tables: failed after \d+\.\d s$", log.getvalue(), re.MULTILINE)


def test_an_installation_counts_what_is_for_this_machine(lock: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install([sys.executable, "-c", PIP, "0"], lock)
    assert "Packages, 2 installed" in capsys.readouterr().err


def test_an_installation_that_fails_hands_over_what_was_written(lock: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError) as caught:
        install([sys.executable, "-c", PIP, "3"], lock)
    assert "Collecting numpy" in caught.value.output
