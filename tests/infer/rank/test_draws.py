from __future__ import annotations

import json

import pytest

import sparingly
from sparingly.base.errors import UnknownNameError


def test_random_draws_of_everything_change_nothing() -> None:
    result = sparingly.draws(sparingly.load_demo(), "random", "100%", "overall", runs=3, share=1.0)
    assert result.stability.changed_share == 0.0
    assert result.success.rate == 1.0
    assert result.success.bias == pytest.approx(0.0)


def test_runs_differ_also_for_a_method_without_randomness() -> None:
    result = sparingly.draws(sparingly.load_demo(), "metric_var:metric=learned", 12, "overall", runs=6)
    assert len(result.stability.changes) == 6
    assert result.stability.draws_differ
    assert result.method == "metric_var:metric=learned"


def test_small_random_draws_are_less_stable_than_large_ones() -> None:
    data = sparingly.load_demo()
    small, large = (sparingly.draws(data, "random", n, "overall", runs=20, share=1.0) for n in (8, 160))
    assert small.success.rate < large.success.rate
    assert small.stability.median > large.stability.median


def test_same_seed_same_answer() -> None:
    data = sparingly.load_demo()
    first, again, other = (
        sparingly.draws(data, "random", 20, "overall", runs=4, seed=seed) for seed in (1, 1, 2)
    )
    assert first.to_dict() == again.to_dict() != other.to_dict()
    assert json.loads(json.dumps(first.to_dict(), allow_nan=False))["budget"] == "20"


def test_unknown_truth_is_named() -> None:
    with pytest.raises(UnknownNameError, match=r'"overal"\. Did you mean overall'):
        sparingly.draws(sparingly.load_demo(), "random", 20, "overal")
