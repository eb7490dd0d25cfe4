from __future__ import annotations

import numpy as np
import pytest

import sparingly
from sparingly.data.evalset import EvalSet
from sparingly.data.tables import Preferences
from sparingly.infer.compare.strengths import WinMatrix, judged_strengths
from sparingly.infer.compare.votes import people_votes
from sparingly.infer.compare.wins import position_bias

MODELS = 4


def made(seed: int, votes: int, noise: float, items: int = 300) -> tuple[EvalSet, np.ndarray]:
    """Return votes between four models by their quality on each item, a judge that sees it, and all leads."""
    random = np.random.default_rng(seed)
    quality = random.normal(size=(items, MODELS)) * 1.5 + np.array([0.6, 0.2, -0.2, -0.6])
    first, second = np.triu_indices(MODELS, 1)
    item, pair = random.integers(items, size=votes), random.integers(len(first), size=votes)
    gap = quality[item, first[pair]] - quality[item, second[pair]]
    none = np.full(votes, -1, np.int32)
    table = Preferences(
        item=item.astype(np.int32),
        first=first[pair].astype(np.int32),
        second=second[pair].astype(np.int32),
        value=np.where(random.random(votes) < 1.0 / (1.0 + np.exp(-gap)), 1.0, -1.0),
        rater=none,
        aspect=none,
        seconds=np.full(votes, np.nan),
    )
    metric = quality + noise * random.normal(size=quality.shape)
    names = [f"i{place:04d}" for place in range(items)]
    return EvalSet.from_arrays(names, list("abcd"), preferences=table, metrics={"judge": metric}), quality


def test_a_judge_narrows_strengths_and_noise_does_not() -> None:
    data, _ = made(1, 400, 0.3)
    plain = sparingly.bradley_terry(data)
    helped = judged_strengths(data)
    assert helped.worth > 1.2
    assert (helped.strengths.standard_errors < plain.standard_errors).all()
    assert helped.strengths.strengths.sum() == pytest.approx(0.0, abs=1e-9)
    noise, _ = made(1, 400, 100.0)
    assert judged_strengths(noise).worth < 1.05
    # Picked items are not like the others: a judge is of no use.
    assert np.allclose(judged_strengths(data, sampled=False).strengths.strengths, plain.strengths)


def test_the_matrix_counts_who_won() -> None:
    data, _ = made(2, 200, 1.0)
    found = sparingly.compare(data)
    assert isinstance(found, WinMatrix)
    assert found.wins.sum() == 200
    assert found.models[0] == "a"
    one = sparingly.compare(data, "a", "d")
    assert not isinstance(one, WinMatrix)
    assert one.tally is not None
    row, column = found.models.index("a"), found.models.index("d")
    assert (found.wins[row, column], found.wins[column, row]) == (one.tally.wins, one.tally.losses)
    assert "4 models, 200 comparisons, of them 0 ties." in found.sentences
    assert len(found.to_dict()["rows"]) == 6


def test_counting_first_changes_nothing() -> None:
    data, _ = made(3, 300, 1.0)
    table = data.preferences
    with_covariate = sparingly.bradley_terry(
        data.with_metric("zero", np.zeros(data.shape)), covariates=["zero"]
    )
    assert np.allclose(sparingly.bradley_terry(data).covariance, with_covariate.covariance)
    turned = {**vars(table), "first": table.second, "second": table.first, "value": -table.value, "extra": {}}
    other = data.with_parts(preferences=Preferences(**turned))
    assert np.allclose(sparingly.bradley_terry(data).strengths, sparingly.bradley_terry(other).strengths)


def test_the_pull_of_the_left_is_found() -> None:
    random = np.random.default_rng(4)
    data, _ = made(5, 300, 1.0)
    table, swap = data.preferences, random.random(300) < 0.5
    won = np.where(random.random(300) < 0.7, 1.0, -1.0)
    columns = {
        **vars(table),
        "first": np.where(swap, table.second, table.first),
        "second": np.where(swap, table.first, table.second),
        "value": won,
        "extra": {},
    }
    votes = people_votes(data.with_parts(preferences=Preferences(**columns)), None, None)
    found = position_bias(votes, 0.05)
    assert found is not None
    assert found.rate == pytest.approx((won > 0).mean(), abs=0.02)
    assert str(found).endswith("people prefer what is shown first.")
    # Always named in one order: nothing is known of the place.
    assert position_bias(people_votes(data, None, None), 0.05) is None


@pytest.mark.statistics
@pytest.mark.parametrize("noise", [0.5, 5.0])
def test_intervals_of_strengths_with_a_judge_hold(noise: float) -> None:
    """The strengths that all votes on very many items like these would give are in 92 % or more."""
    data, _ = made(99, 200_000, noise, items=100_000)
    truth = sparingly.bradley_terry(data).strengths
    held = []
    for seed in range(120):
        found = judged_strengths(made(seed, 150, noise)[0]).strengths
        held.append((found.low <= truth) & (truth <= found.high))
    assert np.mean(held) >= 0.92
