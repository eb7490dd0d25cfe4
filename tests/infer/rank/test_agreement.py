from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import wilcoxon

from benchmarks.method_studies import agreement
from sparingly.base import rng
from sparingly.infer.rank.agreement import Agreement, FullSet, agreement_with


def simulated(items: int = 120, models: int = 6, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    values = (
        generator.normal(size=(items, 1)) + generator.normal(size=(items, models)) + 0.15 * np.arange(models)
    )
    return values, rng.keys_of([f"item {number}" for number in range(items)])


def test_everything_agrees_with_itself() -> None:
    values, keys = simulated()
    result = agreement(values, np.arange(120), keys=keys)
    assert result.n == result.n_full == 120
    for name in (
        "soft_pairwise_accuracy",
        "pairwise_accuracy",
        "pearson",
        "spearman",
        "kendall_b",
        "kendall_c",
    ):
        assert getattr(result, name) == pytest.approx(1.0), name
    assert result.top1_match == result.top1_percentile == result.top_group_dice == 1.0
    assert result.mean_absolute_error == result.root_mean_squared_error == 0.0
    assert result.groups == result.groups_full
    assert (result.rank_changes, result.ranking_changed) == (0, False)
    assert result.significance_retained_05 == result.significance_retained_001 == 1.0


def test_order_of_items_rows_and_models_does_not_matter() -> None:
    values, keys = simulated()
    rows = np.random.default_rng(1).permutation(120)[:40]
    straight = agreement(values, rows, keys=keys).to_dict()
    turn = np.random.default_rng(2).permutation(120)
    places = np.argsort(turn)[rows][::-1]
    turned = agreement(values[turn], places, keys=keys[turn]).to_dict()
    other_models = agreement(values[:, ::-1], rows, keys=keys).to_dict()
    for name, value in straight.items():
        assert turned[name] == pytest.approx(value, abs=1e-12), name
        assert other_models[name] == pytest.approx(value, abs=1e-12), name


def test_significance_retained_by_scipy() -> None:
    values, keys = simulated(items=200)
    rows = np.arange(60)
    kept = significant = 0
    for i in range(6):
        for j in range(i):
            difference = values[:, i] - values[:, j]
            if wilcoxon(difference).pvalue < 0.05:
                significant += 1
                same = np.sign(np.median(difference)) == np.sign(np.median(difference[rows]))
                kept += int(wilcoxon(difference[rows]).pvalue < 0.05 and same)
    assert significant > 3
    assert agreement(values, rows, keys=keys).significance_retained_05 == pytest.approx(kept / significant)


def test_nothing_significant_is_none_in_json() -> None:
    values = np.random.default_rng(0).normal(size=(20, 2))
    values[:, 1] = values[:, 0] + np.tile([0.1, -0.1], 10)
    result = agreement(values, [0, 1, 2])
    assert np.isnan(result.significance_retained_05)
    told = result.to_dict()
    assert told["significance_retained_05"] is None
    assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_missing_cells_are_left_out() -> None:
    values, keys = simulated()
    values[np.random.default_rng(3).random(values.shape) < 0.2] = np.nan
    rows = np.arange(50)
    result = agreement(values, rows, keys=keys)
    expected = np.abs(np.nanmean(values[rows], axis=0) - np.nanmean(values, axis=0)).mean()
    assert result.mean_absolute_error == pytest.approx(expected)
    assert 0.5 < result.soft_pairwise_accuracy <= 1.0


def test_a_model_that_the_subset_never_judged() -> None:
    values, keys = simulated()
    values[:30, 5] = np.nan
    result = agreement(values, np.arange(30), keys=keys)
    assert result.rank_changes >= 1
    assert result.top1_match == 0.0
    assert np.isfinite([result.soft_pairwise_accuracy, result.kendall_b, result.mean_absolute_error]).all()


def test_the_subset_may_be_scored_by_something_else() -> None:
    values, keys = simulated()
    rows = np.arange(40)
    flipped = agreement(values, rows, keys=keys, subset_values=-values)
    straight = agreement(values, rows, keys=keys)
    assert flipped.kendall_b == pytest.approx(-straight.kendall_b)
    assert flipped.significance_retained_05 == 0.0
    assert flipped.groups_full == straight.groups_full


def test_weights_make_another_truth() -> None:
    values, keys = simulated()
    weights = np.random.default_rng(5).uniform(0.0, 3.0, 120)
    weights[60:] = 0.0
    half = agreement(values[:60], np.arange(20), keys=keys[:60], weights=weights[:60])
    weighted = agreement(values, np.arange(20), keys=keys, weights=weights)
    for name in ("soft_pairwise_accuracy", "pearson", "kendall_b", "mean_absolute_error", "groups"):
        assert getattr(weighted, name) == pytest.approx(getattr(half, name), abs=1e-12), name


def test_row_numbers_stand_in_for_keys() -> None:
    values, _ = simulated()
    rows = np.arange(0, 120, 3)
    numbered = agreement(values, rows, keys=np.arange(120, dtype=np.uint64), seed=4)
    assert agreement(values, rows, seed=4) == numbered


def test_one_item_and_two_models() -> None:
    result = agreement(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 3.0]]), [1])
    assert result.kendall_b == -1.0
    assert result.pairwise_accuracy == 0.0
    assert result.soft_pairwise_accuracy == 0.5  # p = ¾ for one item won, ¼ for 1 and 2 lost, −1 won


# Names there → names here. What differs: soft pairwise accuracy, see the test.
EXACT = {
    "pairwise_accuracy": "pairwise_accuracy",
    "kendall": "kendall_b",
    "spearman": "spearman",
    "pearson": "pearson",
    "top_percentile": "top1_percentile",
    "groups": "groups",
    "groups_full": "groups_full",
    "mean_absolute_error": "mean_absolute_error",
}


@pytest.mark.shared_data
@pytest.mark.parametrize("name", ["wmt23_ende", "summeval_llm12"])
def test_as_subset2evaluate_on_real_data(name: str, shared_data: Path, shared_checks: Path) -> None:
    """Exact where there is no chance in it; soft pairwise accuracy within the noise of 1000 flips.

    Its sign flips are drawn by position and in single precision, ours by item id; both are draws of the
    same test, so that the two values differ by chance only (0.015 is some three standard errors).
    """
    check = json.loads((shared_checks / "subset2evaluate_1.0.27.json").read_text())[name]
    full = _full_set(shared_data / f"{name}.jsonl.gz", check["items"], check["aspect"])
    for label, theirs in check["agreement"].items():
        ours = agreement_with(full, _chosen(check, label))
        assert ours.n == theirs["n"]
        for there, here in EXACT.items():
            assert getattr(ours, here) == pytest.approx(theirs[there], abs=1e-6), (label, here)
        assert ours.soft_pairwise_accuracy == pytest.approx(theirs["soft_pairwise_accuracy"], abs=0.015), (
            label
        )


def _full_set(file: Path, items: list[str], aspect: str) -> FullSet:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        human: dict[str, dict[str, dict[str, float]]] = {
            entry["item"]: entry["human"] for entry in map(json.loads, lines)
        }
    models = sorted(human[items[0]])
    values = np.array([[human[item][model][aspect] for model in models] for item in items])
    return FullSet(values, rng.keys_of(items))


def _chosen(check: dict[str, Any], label: str) -> list[int]:
    """Return the rows it chose: the list it gives, or the top of its utilities with ties in file order."""
    utilities = np.array(check["utilities"][label.split("@")[0]])
    top = [int(row) for row in np.argsort(-utilities, kind="stable")[: check["agreement"][label]["n"]]]
    listed = check["agreement"][label]["items"]
    if listed is not None:
        assert [check["items"][row] for row in top] == listed
    return top


def test_the_result_is_a_plain_value() -> None:
    values, keys = simulated()
    first, second = agreement(values, [1, 2, 3], keys=keys), agreement(values, [3, 1, 2], keys=keys)
    assert isinstance(first, Agreement)
    assert first.soft_pairwise_accuracy == second.soft_pairwise_accuracy


def test_ids_stand_for_keys() -> None:
    values = np.random.default_rng(5).normal(size=(40, 4))
    ids = [f"item {number}" for number in range(40)]
    by_ids = agreement(values, list(range(20)), ids=ids)
    by_keys = agreement(values, list(range(20)), keys=rng.keys_of(ids))
    assert by_ids.to_dict() == by_keys.to_dict()
    turned = agreement(values[::-1], list(range(20, 40)), ids=ids[::-1])
    assert turned.soft_pairwise_accuracy == pytest.approx(by_ids.soft_pairwise_accuracy, abs=1e-12)
