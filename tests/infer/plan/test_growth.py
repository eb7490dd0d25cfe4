from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import Literal

import numpy as np
import pytest

import sparingly
from sparingly.data.synthetic import load_invented
from sparingly.infer.plan.outlook import growth

DATA = load_invented()


def scores(n: int, target: Literal["set", "population"]) -> sparingly.Estimate:
    return sparingly.estimate(DATA, sparingly.select(DATA, "uniform", n, seed=3), "overall", target=target)


def test_precision_goes_on_from_what_was_found() -> None:
    held = scores(80, "population")
    found = growth([held])
    assert found is not None
    width = float(np.mean((held.high - held.low) / 2))
    assert [point.n for point in found.seen] == [80]
    assert found.seen[0].half_width == pytest.approx(width)
    for point in found.ahead:
        assert point.half_width == pytest.approx(width * sqrt(80 / point.n))
    assert (found.ahead[0].n, found.ahead[-1].n) == (20, 240)


def test_judging_the_whole_set_leaves_no_error_of_the_set() -> None:
    found = growth([scores(60, "set"), scores(120, "set")])
    assert found is not None
    assert [point.n for point in found.seen] == [60, 120]
    assert found.ahead[-1] == (240, 0.0)
    assert found.to_dict()["seen"][0]["n"] == 60


def test_scores_without_intervals_say_nothing_of_precision() -> None:
    chosen = sparingly.select(DATA, "metric_var:metric=learned", 30)
    held = sparingly.estimate(DATA, chosen, "overall")
    assert growth([held]) is None
    nothing = np.full(8, np.nan)
    assert growth([replace(scores(60, "set"), low=nothing, high=nothing)]) is None
    assert growth([]) is None
