"""Biases of a judge: found where they are, and not where they are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.infer.estimate.sample import sample_from
from sparingly.infer.judge.bias import JudgeBias, find_biases, worst_errors
from sparingly.infer.judge.labelled import LabelledOutputs, labelled_outputs
from tests.infer.judge.populations import from_arrays


def part_of(data: sparingly.EvalSet, aspect: str = "ok") -> LabelledOutputs:
    return labelled_outputs(data, sample_from(data, data.truth(aspect), None), aspect, "verdict")


def texts(lengths: Any) -> Any:
    return np.array([[" ".join(["word"] * int(count))] for count in lengths], object)


def test_a_judge_that_likes_long_outputs_is_caught() -> None:
    random = np.random.default_rng(1)
    lengths = random.integers(5, 200, 400)
    good = random.random(400) < 0.7
    passed = np.where(lengths > 100, random.random(400) < 0.95, good & (random.random(400) < 0.8))
    data = from_arrays(good, passed, random, outputs=texts(lengths))
    found = find_biases(part_of(data), 0.95, 0)
    assert [bias.factor for bias in found] == ["length"]
    assert found[0].corrected < 0.001
    assert 0.1 < found[0].low < found[0].effect < found[0].high < 0.6


def test_domains_are_compared_with_the_rest_and_corrected_together() -> None:
    random = np.random.default_rng(2)
    domain = np.repeat(np.array(["law", "news", "chat", "few"], object), [150, 150, 150, 5])
    good = random.random(455) < 0.7
    passed = np.where((domain == "law") & (random.random(455) < 0.5), False, good)
    data = from_arrays(good, passed, random, columns={"domain": domain})
    found = find_biases(part_of(data), 0.95, 0)
    assert {bias.level for bias in found} == {"law", "news", "chat"}
    assert found[0].level == "law"
    assert found[0].effect == pytest.approx(-0.35, abs=0.08)
    assert found[0].corrected == pytest.approx(3 * found[0].p)


def test_models_of_an_item_are_compared_within_it() -> None:
    random = np.random.default_rng(3)
    hard = random.normal(0, 20, (80, 1))
    people = 60 + hard + random.normal(0, 5, (80, 4))
    judge = people + 3 * hard + random.normal(0, 5, (80, 4))
    judge[:, 1] += 6
    data = sparingly.EvalSet.from_arrays(
        [f"i{row:03d}" for row in range(80)],
        ["gpt-4", "gpt-3.5", "llama-2", "llama-3"],
        aspects={"ok": people},
        metrics={"verdict": judge},
    )
    found = {(bias.factor, bias.level): bias for bias in find_biases(part_of(data), 0.95, 0)}
    assert set(found) == {
        *(("model", name) for name in data.models),
        ("model family", "gpt"),
        ("model family", "llama"),
    }
    assert max(found.values(), key=lambda bias: bias.effect).level == "gpt-3.5"


def test_position_is_read_from_pairs_judged_in_both_orders() -> None:
    count = 60
    random = np.random.default_rng(4)
    better = random.choice([-1.0, 1.0], count)
    # In half of the pairs what is shown first wins in both orders.
    first_wins = np.arange(count) % 2 == 0
    straight, turned = np.where(first_wins, 1.0, better), np.where(first_wins, 1.0, -better)
    votes = sparingly.Preferences(
        item=np.tile(np.arange(count), 2).astype(np.int32),
        rater=np.zeros(2 * count, np.int32),
        aspect=np.zeros(2 * count, np.int32),
        seconds=np.full(2 * count, np.nan),
        first=np.repeat([0, 1], count).astype(np.int32),
        second=np.repeat([1, 0], count).astype(np.int32),
        value=np.r_[straight, turned],
        raters=("verdict",),
        aspects=("ok",),
    )
    scores = random.normal(50, 10, (count, 2))
    data = sparingly.EvalSet.from_arrays(
        [f"i{row:03d}" for row in range(count)],
        ["a", "b"],
        aspects={"ok": scores},
        metrics={"verdict": scores},
        preferences=votes,
    )
    (bias,) = find_biases(part_of(data), 0.95, 0)
    assert (bias.factor, bias.labels, bias.effect) == ("position", 60, 0.25)
    assert bias.corrected < 0.001


def test_worst_errors_come_from_both_sides() -> None:
    random = np.random.default_rng(5)
    good = random.random(100) < 0.6
    passed = good.copy()
    passed[:10] = ~passed[:10]
    found = worst_errors(part_of(from_arrays(good, passed, random)))
    assert [error.judge_is_higher for error in found] == [True, True, False, False]
    assert all(error.judge != error.people for error in found)


@pytest.mark.statistics
@pytest.mark.parametrize("accuracy", [0.75, 0.95])
def test_a_judge_without_bias_is_seldom_accused(accuracy: float) -> None:
    """300 sets of 100 labels in 5 groups, errors rare or not: at most 5 % (+ 2.5) accuse any group."""
    accused = 0
    for seed in range(300):
        random = np.random.default_rng(seed)
        good = random.random(100) < 0.8
        passed = np.where(random.random(100) < accuracy, good, ~good)
        domain = np.repeat(np.array(list("abcde"), object), [10, 10, 20, 30, 30])
        data = from_arrays(
            good, passed, random, columns={"domain": domain}, outputs=texts(random.integers(5, 90, 100))
        )
        found: tuple[JudgeBias, ...] = find_biases(part_of(data), 0.95, seed)
        accused += any(bias.corrected < 0.05 for bias in found)
    assert accused <= 300 * 0.075
