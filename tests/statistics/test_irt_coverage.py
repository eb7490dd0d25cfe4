"""90 % intervals of item response theory hold what scores were drawn from 80 to 97 % of the time.

Items, abilities and scores are drawn from the model with the priors that it is fitted with. Errors of
abilities are shared by all models of a simulation (their origin and unit are known from the priors only), so
every cell takes many simulations, and they are small. The full grid is in ``benchmarks/irt_coverage.py``.
"""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.irt_intervals import fit_intervals
from sparingly.published.irt import BINARY, CONTINUOUS, Priors
from sparingly.published.irt.model import Response
from tests.published.irt.simulated import simulate, with_gaps

pytestmark = pytest.mark.statistics
NAMES = ("discrimination", "difficulty", "ability")
GENTLE = Priors(discrimination=(1.5, 0.75))
WIDE = Priors(discrimination=(2.0, 1.0), logit_feasibility=(1.0, 1.5), ability=(0.5, 1.5))
# Response, priors, noise, items, models, share of missing cells, simulations.
CELLS: list[tuple[Response, Priors, float, int, int, float, int]] = [
    ("binary", BINARY, 0.0, 50, 14, 0.0, 15),
    ("binary", BINARY, 0.0, 300, 6, 0.0, 16),
    ("binary", BINARY, 0.0, 300, 6, 0.2, 10),
    ("binary", BINARY, 0.0, 1000, 6, 0.0, 10),
    ("binary", GENTLE, 0.0, 50, 30, 0.0, 10),
    ("binary", GENTLE, 0.0, 300, 14, 0.2, 6),
    ("continuous", CONTINUOUS, 0.01, 50, 14, 0.0, 20),
    ("continuous", CONTINUOUS, 0.03, 50, 6, 0.2, 24),
    ("continuous", CONTINUOUS, 0.03, 300, 6, 0.0, 18),
    ("continuous", CONTINUOUS, 0.1, 50, 30, 0.0, 12),
    ("continuous", CONTINUOUS, 0.1, 300, 6, 0.2, 10),
    ("continuous", CONTINUOUS, 0.25, 50, 14, 0.0, 20),
    ("continuous", WIDE, 0.1, 50, 14, 0.0, 16),
]


@pytest.mark.parametrize(("response", "priors", "noise", "items", "models", "missing", "simulations"), CELLS)
def test_intervals_hold_what_was_drawn(
    response: Response,
    priors: Priors,
    noise: float,
    items: int,
    models: int,
    missing: float,
    simulations: int,
) -> None:
    held: dict[str, list[float]] = {name: [] for name in NAMES}
    for seed in range(simulations):
        drawn = simulate(priors, items, models, 7000 + seed, response, noise)
        scores = with_gaps(drawn.scores, missing, seed) if missing else drawn.scores
        fit = fit_intervals(
            scores,
            response=response,
            priors=priors,
            threshold=0.5 if response == "binary" else None,
            scale=False,
        )
        low, high = fit.intervals(0.9)
        for name, shares in held.items():
            true, below, above = (getattr(part, name) for part in (drawn.truth, low, high))
            known = ~np.isnan(below)
            shares.append(float(np.mean((below <= true)[known] & (true <= above)[known])))
    means = {name: round(float(np.mean(shares)), 3) for name, shares in held.items()}
    assert all(0.80 <= mean <= 0.97 for mean in means.values()), means
