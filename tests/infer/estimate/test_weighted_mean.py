from __future__ import annotations

import pytest

from sparingly.infer.estimate.estimators import WeightedMean
from sparingly.infer.estimate.sample import sample_from_arrays
from tests.infer.estimate.sets import judged_set


def test_both_forms_by_hand() -> None:
    data, sample = judged_set(4), sample_from_arrays([10.0, 1.0], [0.5, 0.25], 10)
    assert WeightedMean().linear(sample, data, 0).scores(sample) == pytest.approx([4.0])
    exact = WeightedMean(form="horvitz_thompson").linear(sample, data, 0)
    assert exact.scores(sample) == pytest.approx([2.4])
