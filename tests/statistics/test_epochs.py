"""Intervals of this set hold the mean over all epochs that could be run, also where few were."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import sparingly
from sparingly.base.arrays import Floats
from sparingly.data.tables import Repeats

pytestmark = pytest.mark.statistics
# Three binomial standard errors of a rate of 95 % over so many runs are 4.6 points.
LEVEL, RUNS = 0.95, 200


def repeated(values: Floats) -> sparingly.EvalSet:
    """Return a set of items × models × epochs of the metric ``score``."""
    items, models, epochs = values.shape
    item, model, epoch = (part.ravel().astype(np.int32) for part in np.indices(values.shape))
    table = Repeats(
        item=item,
        model=model,
        epoch=epoch,
        epochs=tuple(f"{place:02}" for place in range(epochs)),
        scores={"metric:score": values.ravel()},
    )
    names = [f"i{place:04}" for place in range(items)], [f"m{place}" for place in range(models)]
    return sparingly.EvalSet.from_arrays(*names, repeats=table, scales={"metric:score": (0.0, 1.0)})


def passes(rate: Floats, epochs: int, random: np.random.Generator) -> Floats:
    return (random.random((*rate.shape, epochs)) < rate[:, :, None]).astype(np.float64)


def marks(mean: Floats, epochs: int, random: np.random.Generator) -> Floats:
    noise = random.normal(0.0, 0.1, (*mean.shape, epochs))
    return np.asarray(np.clip(mean[:, :, None] + noise, mean[:, :, None] - 0.05, mean[:, :, None] + 0.05))


KINDS: dict[str, tuple[Callable[..., Floats], tuple[float, float]]] = {
    "passes, unsure": (passes, (1.0, 1.0)),
    "passes, mostly sure": (passes, (0.3, 0.1)),
    "passes, nearly always": (passes, (20.0, 0.6)),
    "marks": (marks, (2.0, 2.0)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("items", "epochs", "judged"), [(20, 2, 20), (60, 5, 60), (100, 3, 40)])
def test_intervals_of_this_set_hold_the_mean_over_all_epochs(
    kind: str, items: int, epochs: int, judged: int
) -> None:
    draw, shape = KINDS[kind]
    random = np.random.default_rng([items, epochs, judged, len(kind)])
    held = np.zeros(2)
    for run in range(RUNS):
        expected = (
            0.05 + 0.9 * random.beta(*shape, (items, 2)) if draw is marks else random.beta(*shape, (items, 2))
        )
        data = repeated(draw(expected, epochs, random))
        chosen = None if judged == items else sparingly.select(data, "random", judged, seed=run)
        found = sparingly.estimate(data, chosen, "score", estimator="weighted_mean")
        truth = expected.mean(axis=0)
        held += (found.low <= truth + 1e-12) & (truth <= found.high + 1e-12)
    assert held.min() / RUNS >= LEVEL - 3 * np.sqrt(LEVEL * (1 - LEVEL) / RUNS), held / RUNS
