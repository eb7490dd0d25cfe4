from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.stats

from sparingly.base import rng
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.base.stats.sign_flip import FlipTest
from sparingly.infer.rank.agreement import FullSet, agreement_with
from sparingly.infer.rank.curve import (
    MEASURES,
    SHARES,
    curve,
    random_curve,
    random_order,
    sizes_of,
)
from sparingly.infer.rank.winners import pair_margins


def make(items: int = 60, models: int = 5, missing: float = 0.0, weighted: bool = False) -> FullSet:
    generator = np.random.default_rng(0)
    values = generator.normal(size=(items, models)) + 0.3 * np.arange(models)
    values[generator.random(values.shape) < missing] = np.nan
    weights = generator.uniform(0.5, 2.0, items) if weighted else None
    return FullSet(values, rng.keys_of([f"item {n}" for n in range(items)]), flips=200, weights=weights)


@pytest.mark.parametrize("name", [name for name in MEASURES if not name.startswith("winner_")])
@pytest.mark.parametrize(("missing", "weighted"), [(0.0, False), (0.2, True)])
def test_every_point_is_the_agreement_of_its_subset(name: str, missing: float, weighted: bool) -> None:
    full = make(missing=missing, weighted=weighted)
    order = random_order(full, 1)
    sizes = [40, 6, 13, 60]
    drawn = curve(full, order, sizes, name)
    alone = [float(getattr(agreement_with(full, order[:size]), name)) for size in sizes]
    assert drawn.values == pytest.approx(np.array(alone), abs=1e-12)
    assert drawn.measure == name


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_winners_and_their_leads_over_budgets(missing: float) -> None:
    full = make(missing=missing)
    order = random_order(full, 1)
    sizes = [40, 2, 13, 60]
    whole = pair_margins(full.values)
    found, exaggerated = [], []
    for size in sizes:
        part = np.nan_to_num(pair_margins(full.values[order[:size]]))
        found.append(np.mean(np.sign(part) == np.sign(whole)))
        exaggerated.append(np.mean(np.sign(whole) * part - np.abs(whole)))
    assert (whole != 0).all()
    assert curve(full, order, sizes, "winner_success").values == pytest.approx(found)
    assert curve(full, order, sizes, "winner_bias").values == pytest.approx(exaggerated)
    assert curve(full, order, [60], "winner_success").values.tolist() == [1.0]
    assert curve(full, order, [60], "winner_bias").values == pytest.approx([0.0])


def test_an_informative_order_exaggerates_the_lead_and_random_ones_do_not() -> None:
    full = make(400)
    informative = np.argsort(-(full.values @ (np.arange(5) - 2.0)), kind="stable")
    assert curve(full, informative, [40], "winner_bias").values[0] > 0.2
    fair = random_curve(full, [40], list(range(60)), "winner_bias")
    assert abs(fair.values[0]) < 0.02


def test_pairs_that_all_tie_have_no_winner_to_find() -> None:
    full = FullSet(np.ones((6, 3)), np.arange(6, dtype=np.uint64))
    assert np.isnan(curve(full, np.arange(6), [2, 6], "winner_success").values).all()


def test_the_full_sets_tests_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    full = make()
    full.p_values  # noqa: B018 - the outcome of judging everything
    calls = []
    original = FullSet.p_values_of

    def counted(self: FullSet, *given: Any) -> np.ndarray:
        calls.append(given)
        return original(self, *given)

    monkeypatch.setattr(FullSet, "p_values_of", counted)
    for seed in range(5):
        curve(full, random_order(full, seed), [5, 10, 20])
    assert not calls


@pytest.mark.parametrize("method", ["auto", "sampled"])
@pytest.mark.parametrize(("missing", "weighted"), [(0.0, False), (0.2, True)])
def test_a_complete_order_brings_the_full_sets_tests_along(
    method: FlipTest, missing: float, weighted: bool
) -> None:
    full = make(missing=missing, weighted=weighted)
    once, known = replace(full, method=method), replace(full, method=method)
    order = random_order(full, 2)
    expected = known.p_values
    untested = "p_values" not in vars(once)
    drawn = curve(once, order, [5, 20])
    assert untested
    assert "p_values" in vars(once)
    assert np.array_equal(once.p_values, expected)
    assert np.array_equal(drawn.values, curve(known, order, [5, 20]).values)


def test_other_scores_and_part_of_the_items_do_not_pass_for_the_full_set() -> None:
    expected = make().p_values
    turned, part = make(), make()
    curve(turned, random_order(turned, 2), [5, 20], subset_values=-turned.values)
    curve(part, random_order(part, 2)[:30], [5, 20])
    assert np.array_equal(turned.p_values, expected)
    assert np.array_equal(part.p_values, expected)


def test_the_whole_set_agrees_fully() -> None:
    full = make()
    assert curve(full, random_order(full, 3), [60]).values.tolist() == [1.0]


def test_other_scores_on_the_subset() -> None:
    full = make()
    order = np.arange(60)
    turned = curve(full, order, [60], "kendall_b", subset_values=-full.values)
    assert turned.values[0] == pytest.approx(-1.0)


def test_average_and_shares() -> None:
    full = make()
    drawn = curve(full, np.arange(60), [6, 30], "pearson")
    assert drawn.average == pytest.approx(drawn.values.mean())
    assert drawn.shares.tolist() == [0.1, 0.5]


def test_random_orders_depend_on_keys_and_seed_alone() -> None:
    full = make()
    turn = np.random.default_rng(5).permutation(60)
    turned = FullSet(full.values[turn], full.keys[turn], flips=200)
    assert full.keys[random_order(full, 8)].tolist() == turned.keys[random_order(turned, 8)].tolist()
    assert random_order(full, 8).tolist() != random_order(full, 9).tolist()
    assert sorted(random_order(full, 8)) == list(range(60))


def test_random_curve_is_a_mean_with_a_t_interval_of_the_mean() -> None:
    full = make()
    seeds = [3, 1, 4, 15, 9]
    runs = np.stack([curve(full, random_order(full, seed), [6, 30]).values for seed in seeds])
    drawn = random_curve(full, [6, 30], seeds)
    assert drawn.values == pytest.approx(runs.mean(axis=0))
    expected = scipy.stats.t.interval(0.9, 4, loc=runs.mean(axis=0), scale=scipy.stats.sem(runs, axis=0))
    assert drawn.low == pytest.approx(expected[0])
    assert drawn.high == pytest.approx(expected[1])
    assert drawn.runs == 5


def test_a_single_random_run_has_no_interval() -> None:
    drawn = random_curve(make(), [6], [1])
    assert np.isnan([drawn.low[0], drawn.high[0]]).all()


def test_sizes_of_shares_round_down_but_never_to_nothing() -> None:
    assert sizes_of(SHARES, 460).tolist() == [23, 46, 69, 92, 115, 138, 161, 184, 207, 230]
    assert sizes_of(SHARES, 7).tolist() == [1, 1, 1, 1, 1, 2, 2, 2, 3, 3]
    assert sizes_of([0.29], 100).tolist() == [29]
    assert sizes_of([1.0], 1).tolist() == [1]


@pytest.mark.parametrize("share", [0.0, -0.1, 1.01, 2.0, float("nan")])
def test_shares_that_are_none_are_refused(share: float) -> None:
    with pytest.raises(UsageError, match="above 0 and at most at 1"):
        sizes_of([0.5, share], 100)


def test_wrong_calls_get_one_sentence() -> None:
    full = make()
    with pytest.raises(UnknownNameError, match="kendal"):
        curve(full, np.arange(60), [5], "kendal")
    with pytest.raises(UsageError, match="between 1 and the 10 items"):
        curve(full, np.arange(10), [11])
    with pytest.raises(UsageError, match="between 1 and"):
        curve(full, np.arange(10), [0])
    with pytest.raises(UsageError, match="once"):
        curve(full, [1, 1, 2], [2])
    with pytest.raises(UsageError, match="at least one seed"):
        random_curve(full, [5], [])
