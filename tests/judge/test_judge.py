"""The judge that is shipped, and one without its model: whoever asks goes on with rules alone."""

import os
import re
import subprocess
import sys
from pathlib import Path

from memories.judge.judge import JudgedPair, Line, TrainedJudge, shipped

TEA = JudgedPair("User drinks green tea every morning", "", "", "I gave up green tea last month, coffee it is now")


def test_where_there_is_no_model_every_answer_is_none(tmp_path: Path):
    none = TrainedJudge(tmp_path)
    assert none.changes([TEA]) is None
    assert none.worth([Line("", "x")]) is None
    assert none.orders([Line("", "x")]) is None
    assert none.name is None
    assert none.thresholds is None


def test_the_shipped_judge_tells_a_change_from_what_changes_nothing() -> None:
    rain = TEA._replace(message="It rained the whole afternoon and we stayed in")
    ended, unchanged = shipped.changes([TEA, rain]) or []
    assert ended.over > 0.5 > 0.2 > unchanged.over
    assert abs(sum(ended) - 1) < 0.01


def test_the_shipped_judge_tells_a_lasting_fact_from_chatter() -> None:
    fact, chatter = shipped.worth([Line("", "I work as a vet in Cork"), Line("", "haha yes exactly")]) or []
    assert fact.fact > 0.5 > 0.2 > chatter.fact


def test_answers_hardly_depend_on_what_else_is_asked() -> None:
    long = TEA._replace(message="We talked about the garden and the weather and the neighbours for a long while")
    alone, beside = shipped.changes([TEA]), shipped.changes([long, TEA, long])
    assert alone is not None
    assert beside is not None
    assert abs(alone[0].over - beside[1].over) < 0.1


def test_its_library_reports_to_nobody_and_leaves_nothing_at_home(tmp_path: Path) -> None:
    asking = "from memories.judge.judge import Line, shipped; assert shipped.worth([Line('', 'x')])"
    # Nothing else that would silence it: the library looks at CI, too.
    env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    subprocess.run([sys.executable, "-c", asking], env=env, check=True, cwd=Path(__file__).parents[2])
    assert list(tmp_path.iterdir()) == []


def test_the_shipped_judge_has_a_name_and_thresholds_in_their_order() -> None:
    assert re.fullmatch(r"judge-[0-9a-f]{12}", shipped.name or "")
    assert shipped.thresholds is not None
    assert 0 < shipped.thresholds.ask <= shipped.thresholds.far < 1
