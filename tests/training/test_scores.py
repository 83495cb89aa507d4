"""The thresholds of the judge, and how its figures are counted."""

import pytest

from memories.judge.judge import Effect, Thresholds
from training.corpus import Example
from training.scores import Mark, calibration_error, dropped_from, kept_from, raised, thresholds_of


def pair(label: str, part: str = "") -> Example:
    return Example("change", "a", "a-1", "", "", "", "", label, "", "", part, "")


def said(over: float) -> Effect:
    return Effect(over, 0, 0, 0, 1 - over)


def test_it_acts_only_where_nearly_all_is_right():
    changes = [pair("ends")] * 20 + [pair("compatible")] * 20
    found = [said(0.9)] * 20 + [said(0.7)] * 20
    chosen = thresholds_of(changes, found, [said(0.1)] * 100, 0.8, 0.9)
    assert 0.7 < chosen.act <= 0.9
    assert 0.05 <= chosen.ask <= chosen.act


def test_where_it_is_never_right_it_never_acts():
    found = [said(0.99)] * 10
    assert thresholds_of([pair("compatible")] * 10, found, found, 0.8, 0.9).act == 0.99


def test_real_pairs_without_a_change_bound_what_is_asked():
    changes = [pair("compatible", "random")] * 50 + [pair("ends")] * 50
    chosen = thresholds_of(changes, [said(0.4)] * 50 + [said(0.95)] * 50, [said(0.1)] * 50, 0.8, 0.9)
    assert chosen.ask > 0.4


def test_few_messages_that_change_nothing_mark_anything_and_fewer_replace_it():
    changed = [Mark(0.99, 8, True, True)] * 20
    idle = [Mark(0.1, 8, False, False)] * 180 + [Mark(0.6, 8, False, False)] * 15 + [Mark(0.92, 8, False, False)] * 5
    chosen = raised(Thresholds(act=0.9, ask=0.2, far=0.2, keep=0.5, drop=0.8), changed + idle)
    assert 0.6 < chosen.far_among(8) <= 0.92 < chosen.act < 0.99
    assert chosen.ask <= chosen.far


def test_sentences_are_kept_from_where_most_are_facts():
    assert 0.6 < kept_from([0.6] * 10 + [0.8] * 20, [False] * 10 + [True] * 19 + [False]) <= 0.8


def test_so_little_that_is_meant_is_dropped():
    assert dropped_from([0.1] * 400) == 0.8
    assert 0.9 < dropped_from([0.1] * 400 + [0.9] * 10) <= 0.91
    assert dropped_from([1.0] * 10) == 0.99


def test_calibration_is_how_far_what_was_said_is_from_what_was():
    assert calibration_error([0.8] * 10, [True] * 8 + [False] * 2) == pytest.approx(0)
    assert calibration_error([0.9] * 10, [False] * 10) == pytest.approx(0.9)
