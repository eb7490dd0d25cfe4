from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from benchmarks.irt_intervals.integral import around_zero, feasibility_rule, stretched
from sparingly.published.irt.model import expit


@pytest.mark.parametrize("rule", [(13, 3.5, 0.7), (11, 3.5, 1.0), (11, 4.0, 0.5)])
@pytest.mark.parametrize(("mean", "sd"), [(0.0, 1.0), (0.5, 1.0), (0.0, 1.4), (0.5, 0.8)])
def test_a_normal_density_is_integrated_though_it_is_not_quite_where_expected(
    rule: tuple[int, float, float], mean: float, sd: float
) -> None:
    nodes, weights = stretched(*rule)
    shares = weights * stats.norm.pdf(nodes, mean, sd)
    assert shares.sum() == pytest.approx(1.0, abs=5e-3)
    assert shares @ nodes == pytest.approx(mean, abs=1e-2)
    assert shares @ (nodes - mean) ** 2 == pytest.approx(sd * sd, rel=2e-2)


def test_nodes_around_zero_are_dense_there_and_reach_both_ends() -> None:
    nodes, weights = around_zero(-8.0, 20.0, 2.0, 0.2, 5)
    assert nodes[[0, -1]] == pytest.approx([-8.0, 20.0])
    steps = np.diff(nodes)
    assert steps[np.abs(nodes[:-1]).argmin()] < 0.45
    assert steps[-1] > 2.0
    assert weights @ stats.norm.pdf(nodes, 5.0, 3.0) == pytest.approx(1.0, abs=1e-3)
    assert len(around_zero(-1.0, 1.0, 2.0, 0.2, 15)[0]) == 15


@pytest.mark.parametrize("prior", [(2.0, 5.0), (2.5, 1.0), (0.0, 1.0)])
def test_polynomials_in_feasibility_have_their_exact_means(prior: tuple[float, float]) -> None:
    nodes, weights, _ = feasibility_rule(prior, 5)
    assert ((nodes > 0.0) & (nodes < 1.0)).all()

    def wanted(power: int) -> float:
        def density(away: float) -> float:
            return float(expit(np.array(prior[0] + prior[1] * away)) ** power * stats.norm.pdf(away))

        return float(integrate.quad(density, -8, 8, points=[-prior[0] / prior[1]], limit=200)[0])

    for power in range(10):
        assert weights @ nodes**power == pytest.approx(wanted(power), rel=1e-5), power


@pytest.mark.parametrize("prior", [(2.0, 5.0), (2.5, 1.0)])
def test_the_logit_has_its_prior_moments_and_nearly_those_of_a_posterior(prior: tuple[float, float]) -> None:
    nodes, weights, values = feasibility_rule(prior, 5)
    assert weights @ values[0] == pytest.approx(prior[0], rel=1e-6)
    assert weights @ values[1] == pytest.approx(prior[0] ** 2 + prior[1] ** 2, rel=1e-6)
    # Three successes and one failure at a curve of 0.8.
    places = prior[0] + prior[1] * np.linspace(-8, 8, 4001)
    fine = stats.norm.pdf(places, *prior) * expit(places) ** 3 * (1 - 0.8 * expit(places))
    shares = weights * nodes**3 * (1 - 0.8 * nodes)
    mean = float(fine @ places / fine.sum())
    assert values[0] @ shares / shares.sum() == pytest.approx(mean, rel=1e-2)
    second = float(fine @ places**2 / fine.sum())
    assert values[1] @ shares / shares.sum() == pytest.approx(second, rel=2e-2)
