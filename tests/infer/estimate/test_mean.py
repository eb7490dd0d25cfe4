from __future__ import annotations

import numpy as np
import pytest

from sparingly.infer.estimate.estimators import UNEQUAL, Mean
from sparingly.infer.estimate.sample import difference_form, sample_from_arrays
from sparingly.infer.estimate.variance import set_errors
from tests.infer.estimate.samples import population, uniform_sample
from tests.infer.estimate.sets import judged_set

DATA = judged_set(4)


def test_on_a_uniform_sample_it_is_the_weighted_mean() -> None:
    sample = uniform_sample(population(20), list(range(8)))
    plain, weighted = Mean().linear(sample, DATA, 0), difference_form(sample)
    assert plain.scores(sample) == pytest.approx(weighted.scores(sample))
    assert set_errors(sample, plain).covariance == pytest.approx(set_errors(sample, weighted).covariance)
    assert plain.notes == ()


def test_unequal_chances_are_said_to_make_it_something_else() -> None:
    sample = sample_from_arrays([1.0, 4.0], [0.5, 0.25], 10)
    linear = Mean().linear(sample, DATA, 0)
    assert linear.scores(sample) == pytest.approx([2.5])
    assert linear.notes == (UNEQUAL,)


def test_missing_cells_and_importance() -> None:
    sample = sample_from_arrays([[1.0, np.nan], [4.0, 2.0], [4.0, np.nan]], 1.0, weights=[3.0, 1.0, 2.0])
    scores = Mean().linear(sample, DATA, 0).scores(sample)
    assert scores == pytest.approx([(3 + 4 + 8) / 6, 2.0])
