"""First places, and the test over sets."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from benchmarks.leaderboard.board import first_shares, over_sets, scores
from sparingly.base.stats.pairs import holm
from tests.benchmarks.leaderboard.arrays import results_of, runs_of

FOUND = {
    "random": {"a": 0.0, "b": 0.0, "c": 0.0, "d": 0.0},
    "one": {"a": 0.1, "b": 0.2, "c": -0.1, "d": 0.2},
    "two": {"a": 0.2, "b": 0.2, "c": -0.2, "d": 0.3},
    "some": {"a": 0.3},
}


def test_first_places_are_counted_over_the_sets_of_an_entry() -> None:
    found = first_shares(FOUND)
    # a: some, two; b: one = two; c: random, one; d: two, one.
    assert (found["two"].sets, found["some"].sets) == (4, 1)
    assert found["two"].first == pytest.approx(1.5 / 4)
    assert found["one"].first == pytest.approx(0.5 / 4)
    assert found["random"].first == pytest.approx(1 / 4)
    assert found["some"].first == 1.0
    assert found["two"].first_or_second == pytest.approx(3 / 4)
    assert found["one"].first_or_second == pytest.approx(3 / 4)


def test_equal_entries_share_their_places() -> None:
    found = first_shares({name: {"a": 0.5} for name in ("x", "y", "z")} | {"low": {"a": 0.1}})
    assert found["x"].first == pytest.approx(1 / 3)
    assert found["x"].first_or_second == pytest.approx(2 / 3)
    assert found["low"].first_or_second == 0.0


def test_places_of_a_set_add_up() -> None:
    found = first_shares(FOUND)
    assert sum(one.first * one.sets for one in found.values()) == pytest.approx(4.0)
    assert sum(one.first_or_second * one.sets for one in found.values()) == pytest.approx(8.0)


def test_the_test_over_sets_is_wilcoxons_with_holms_correction() -> None:
    generator = np.random.default_rng(0)
    found = {
        "random": dict.fromkeys(map(str, range(20)), 0.0),
        **{
            f"m{k}": {str(s): float(v) for s, v in enumerate(generator.normal(0.3 * k, 1, 20))}
            for k in range(4)
        },
    }
    tested = over_sets(found)
    assert "random" not in tested
    p = [float(stats.wilcoxon([*found[f"m{k}"].values()]).pvalue) for k in range(4)]
    for k, (plain, adjusted) in enumerate(zip(p, holm(np.array(p)), strict=True)):
        one = tested[f"m{k}"]
        assert one.p == pytest.approx(plain)
        assert one.p_holm == pytest.approx(float(adjusted))
        assert one.better == sum(value > 0 for value in found[f"m{k}"].values())
        assert one.sets == 20
        assert one.mean == pytest.approx(np.mean([*found[f"m{k}"].values()]))


def test_an_entry_without_sets_has_no_share_and_no_test() -> None:
    found = {**FOUND, "none": {}}
    assert np.isnan(first_shares(found)["none"].first)
    assert "none" not in over_sets(found)


def test_scores_are_differences_from_random_on_counting_sets() -> None:
    runs = {(name, "random"): runs_of([[0.5, 0.7], [0.5, 0.7]]) for name in "ab"}
    runs |= {(name, "made"): runs_of([[0.6, 0.8], [0.6, 0.8]]) for name in "ab"}
    found = scores(results_of(runs, apart=("b",)))
    assert found["random"] == {"a": 0.0}
    assert found["made"] == {"a": pytest.approx(0.1)}
