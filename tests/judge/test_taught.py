"""A head corrects the judge's answers about changes, within limits, and few decisions move it little."""

import numpy as np
import pytest

from memories.judge.fit_head import OF_ONE_PERSON, Lesson, fit, try_head, weights_of
from memories.judge.fixed_pairs import NOT_OVER, OVER
from memories.judge.judge import SeenPairs, shipped
from memories.judge.taught import FARTHEST, Head, TaughtJudge, features_of, over_of, probabilities

WIDTH = 8


def seen(over: list[float], *, with_vectors: bool = True) -> SeenPairs:
    """Pairs of two sorts in turn, which vectors and logits tell apart."""
    changes = np.array(
        [[share, 0.0, 0.0, *((1 - share, 0.0) if at % 2 else (0.0, 1 - share))] for at, share in enumerate(over)],
        np.float32,
    )
    vectors = np.zeros((len(over), WIDTH), np.float32)
    for at in range(len(over)):
        vectors[at, at % 2] = 5.0
    return SeenPairs(changes, vectors if with_vectors else None)


def lessons(number: int, people: int = 3) -> list[Lesson]:
    """Every second pair holds, though the judge takes all for over."""
    return [Lesson(at % 2 == 0, f"user:{at // 2 % people}", str(at)) for at in range(number)]


@pytest.mark.parametrize("with_vectors", [True, False])
def test_a_head_learns_what_the_judge_is_wrong_about(with_vectors: bool) -> None:
    tried = try_head(seen([0.7] * 60, with_vectors=with_vectors), lessons(60))
    assert (tried.right(tried.before, 0.5), tried.right(tried.after, 0.5)) == (30, 60)
    assert tried.loss(tried.after) < tried.loss(tried.before)
    both = seen([0.7, 0.7], with_vectors=with_vectors)
    over, holds = Head("judge-1", tried.weights).over(both)
    assert over > 0.7 > 0.5 > holds


def test_few_decisions_move_it_little() -> None:
    moved = []
    for number in (2, 10, 60):
        both = seen([0.7] * number)
        weights = fit(over_of(both), features_of(both), np.array([False] * number), np.ones(number))
        moved.append(0.7 - float(probabilities(over_of(both), features_of(both), weights)[0]))
    assert moved == sorted(moved)
    assert moved[0] < 0.2
    assert moved[2] > 0.3


def test_however_much_one_person_decides_it_counts_as_so_many() -> None:
    alone = [Lesson(False, "user:1", str(at), is_sampled=at < 5) for at in range(300)]
    beside = [*alone, *(Lesson(True, f"user:{at}", str(1000 + at)) for at in range(2, 62))]
    assert weights_of(alone).sum() == pytest.approx(OF_ONE_PERSON)
    own = weights_of(beside)
    assert own[:300].sum() == pytest.approx(OF_ONE_PERSON)
    assert own[300:].sum() == 60
    many = seen([0.7] * 360)
    weights = fit(over_of(many), features_of(many), np.array([one.is_over for one in beside]), own)
    # Sixty people who each decided once outweigh one who decided three hundred times.
    assert probabilities(over_of(many), features_of(many), weights).mean() > 0.5


def test_a_head_moves_no_answer_further_than_so_far_and_keeps_the_rest_in_proportion() -> None:
    pairs = seen([0.5, 0.5])
    corrected = Head("judge-1", np.array([-100.0, *[0.0] * WIDTH], np.float32)).corrected(pairs)
    assert over_of(SeenPairs(corrected, None)) == pytest.approx([1 / (1 + np.exp(FARTHEST))] * 2, abs=0.001)
    assert corrected.sum(1) == pytest.approx([1.0, 1.0])
    assert corrected.argmax(1).tolist() == [4, 3]


def test_a_pair_of_one_memory_is_judged_by_a_head_that_saw_none_of_that_memory() -> None:
    same = [Lesson(at % 2 == 0, f"user:{at}", "one memory") for at in range(20)]
    tried = try_head(seen([0.7] * 20), same)
    assert tried.after.tolist() == tried.before.tolist()


def test_the_name_of_a_head_is_that_of_its_judge_and_a_hash_of_its_weights() -> None:
    one, other = (Head("judge-1", np.array([value], np.float32)) for value in (1.0, 2.0))
    assert one.name.startswith("judge-1+")
    assert one.name != other.name
    assert Head.of_bytes("judge-1", one.weights.tobytes()).name == one.name


def test_a_head_of_no_weight_answers_as_the_shipped_judge() -> None:
    pairs = [*OVER[:4], *NOT_OVER[:4]]
    found = shipped.see(pairs)
    assert found is not None
    width = features_of(found).shape[1]
    taught = TaughtJudge(shipped, Head(str(shipped.name), np.zeros(width, np.float32)))
    for one, other in zip(taught.changes(pairs) or [], shipped.changes(pairs) or [], strict=True):
        assert one == pytest.approx(other, abs=0.002)
    assert taught.name == f"{shipped.name}+{Head('', np.zeros(width, np.float32)).version}"


def test_the_shipped_judge_is_right_about_most_of_the_fixed_pairs() -> None:
    assert shipped.thresholds is not None
    over, others = shipped.changes(OVER) or [], shipped.changes(NOT_OVER) or []
    assert sum(one.over >= shipped.thresholds.ask for one in over) >= 0.7 * len(OVER)
    assert sum(one.over < shipped.thresholds.ask for one in others) >= 0.8 * len(NOT_OVER)
    assert not {*OVER} & {*NOT_OVER}
