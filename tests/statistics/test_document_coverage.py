"""Documents and snippets of unequal lengths: standard errors are right with few units, and intervals hold."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import pytest

import sparingly
from sparingly.base.arrays import Floats
from sparingly.infer.estimate.estimate import estimate

pytestmark = pytest.mark.statistics

Target = Literal["set", "population"]
MODELS = 20


class Tally(NamedTuple):
    """Errors and standard errors (runs × models), of scores and of differences, and intervals that hold."""

    missed: Floats
    errors: Floats
    apart: Floats
    apart_errors: Floats
    held: Floats


def made(seed: int, documents: int) -> sparingly.EvalSet:
    """Documents of 1 to 40 segments, whose segments are alike: a share of 0.3 of the variance is theirs."""
    drawn = np.random.default_rng([7, seed])
    sizes = np.clip(drawn.geometric(0.1, documents), 1, 40)
    level = np.repeat(drawn.normal(scale=np.sqrt(3 / 7), size=(documents, MODELS)), sizes, axis=0)
    names = np.repeat([f"d{place:03d}" for place in range(documents)], sizes)
    return sparingly.EvalSet.from_arrays(
        [f"i{place:04d}" for place in range(len(names))],
        [f"m{place:02d}" for place in range(MODELS)],
        aspects={"truth": level + drawn.normal(size=level.shape)},
        columns={
            "document": names.tolist(),
            "position": np.concatenate([np.arange(size, dtype=float) for size in sizes]),
        },
    )


def run(method: str, share: float, documents: int, target: Target, runs: int, interval: str) -> Tally:
    first, second = np.arange(0, MODELS, 2), np.arange(1, MODELS, 2)
    rows: list[tuple[Floats, ...]] = []
    for seed in range(runs):
        data = made(seed, documents)
        truth = data.aspects["truth"].mean(axis=0) if target == "set" else np.zeros(MODELS)
        chosen = sparingly.select(data, method, share, seed=seed)
        found = estimate(data, chosen, "truth", target=target, seed=seed, interval=interval)  # type: ignore[arg-type]
        own = np.diag(found.covariance)
        apart = own[first] + own[second] - 2 * found.covariance[first, second]
        missed = found.scores - truth
        held = (found.low <= truth) & (truth <= found.high)
        rows.append(
            (
                missed,
                found.standard_errors,
                missed[first] - missed[second],
                np.sqrt(apart),
                held.astype(float),
            )
        )
    return Tally(*(np.array(part) for part in zip(*rows, strict=True)))


@pytest.mark.parametrize("target", ["set", "population"])
@pytest.mark.parametrize("method", ["documents", "snippets:kind=fixed"])
def test_standard_errors_of_twelve_to_eighteen_unequal_units(method: str, target: Target) -> None:
    found = run(method, 0.2, 60, target, 120, "none")
    for missed, errors in ((found.missed, found.errors), (found.apart, found.apart_errors)):
        ratio = np.sqrt(np.mean(errors**2) / np.mean(missed**2))
        # 2400 scores, of which those of one run are not independent: good to about 0.03.
        assert 0.94 < ratio < 1.1


@pytest.mark.parametrize("target", ["set", "population"])
def test_intervals_of_documents_drawn_by_size_hold(target: Target) -> None:
    found = run("documents:chance=size", 0.25, 100, target, 40, "auto")
    assert found.held.mean() > 0.93


@pytest.mark.parametrize(("documents", "share"), [(10, 0.15), (10, 0.6), (20, 0.15), (60, 0.2)])
def test_intervals_of_the_population_hold_where_single_items_of_documents_are_drawn(
    documents: int, share: float
) -> None:
    """Ten documents of 1 to 40 segments have about four degrees of freedom, not nine."""
    found = run("uniform", share, documents, "population", 60, "t")
    # 1200 scores of independent models: good to 0.007.
    assert found.held.mean() > 0.935
    for missed, errors in ((found.missed, found.errors), (found.apart, found.apart_errors)):
        # Good to 0.05; a part that is floored at 0 is a little too large where it is hard to see.
        assert 0.9 < np.sqrt(np.mean(errors**2) / np.mean(missed**2)) < 1.2


def test_fewer_than_ten_documents_have_no_interval() -> None:
    data = made(0, 60)
    chosen = sparingly.select(data, "documents:chance=size", 0.2, seed=1)
    assert chosen.unit is not None
    assert len(set(chosen.unit)) < 10
    found = estimate(data, chosen, "truth")
    assert found.outcome.withheld == MODELS
    assert any("too few to learn an error from" in note for note in found.notes)
