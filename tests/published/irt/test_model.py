from __future__ import annotations

import numpy as np

from sparingly.published.irt.model import (
    BINARY,
    CONTINUOUS,
    IrtFit,
    Parameters,
    Priors,
    default_priors,
    expit,
)

NAN = np.nan


def made(*values: float) -> Parameters:
    return Parameters(*(np.array([value, NAN]) for value in values))


FIT = IrtFit(
    "continuous",
    "variational",
    made(2.0, 0.5, 0.0, 1.0),
    noise=0.1,
    objective=-3.0,
    priors=Priors(),
    sds=made(0.1, 0.1, 0.1, 0.1),
)


def test_curves_by_hand() -> None:
    curves = FIT.curves(np.array([0.5, 1.0, 99.0]))
    # c = 1/2: a quarter at the difficulty, a half of σ(1) one half above it, and a half at the top.
    np.testing.assert_allclose(curves[0], [0.25, 0.5 / (1 + np.exp(-1.0)), 0.5])
    assert np.isnan(curves[1]).all()
    assert FIT.predicted()[0, 0] == curves[0, 1]
    assert FIT.feasibility[0] == 0.5


def test_expit_of_any_number() -> None:
    np.testing.assert_allclose(expit(np.array([-1e4, 0.0, 1e4])), [0.0, 0.5, 1.0])


def test_priors_of_both_forms() -> None:
    assert default_priors("continuous") is CONTINUOUS
    assert default_priors("binary") is BINARY
    # The scale is that of difficulties in both, and curves rise unless scores say otherwise.
    for priors in (CONTINUOUS, BINARY):
        assert priors.difficulty == priors.ability == (0.0, 1.0)
        assert priors.discrimination[0] > 0
        np.testing.assert_array_equal(
            priors.item_means[:, 0],
            [priors.logit_feasibility[0], priors.discrimination[0], priors.difficulty[0]],
        )
        np.testing.assert_array_equal(
            priors.item_sds[:, 0],
            [priors.logit_feasibility[1], priors.discrimination[1], priors.difficulty[1]],
        )
