"""Scores of items that are not in the data: those of a pool that models never answered."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import DataError, UsageError
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.data.synthetic import load_invented

FIRST = "pivotal:utility=(uncertainty:metric=source_length),tau=0.5"
SECOND = "pivotal:utility=(metric_var:metric=learned),tau=0.5"


@pytest.fixture(scope="module")
def demo() -> EvalSet:
    return load_invented()


@pytest.fixture(scope="module")
def first(demo: EvalSet) -> Selection:
    return sparingly.select(demo, FIRST, 120, seed=3)


@pytest.fixture(scope="module")
def answered(demo: EvalSet, first: Selection) -> EvalSet:
    return demo.take(items=first.items)


@pytest.mark.parametrize("target", ["set", "population"])
def test_a_weighted_mean_needs_nothing_of_the_items_that_were_not_drawn(
    demo: EvalSet, first: Selection, answered: EvalSet, target: str
) -> None:
    second = sparingly.select(answered, SECOND, 40, pool=first, seed=4)
    small = sparingly.estimate(answered, second, "overall", target=target)  # type: ignore[arg-type]
    whole = sparingly.estimate(
        demo,
        second,
        "overall",
        estimator="weighted_mean",
        target=target,  # type: ignore[arg-type]
    )
    assert small.estimator == "weighted_mean"
    assert small.size == len(demo) == whole.size
    np.testing.assert_allclose(small.scores, whole.scores, rtol=1e-12)
    np.testing.assert_allclose(small.covariance, whole.covariance, rtol=1e-9)
    assert any("are in the data" in note for note in small.notes)
    assert not any("are in the data" in note for note in whole.notes)


def test_one_draw_may_leave_the_rest_out_of_the_data(
    demo: EvalSet, first: Selection, answered: EvalSet
) -> None:
    small = sparingly.estimate(answered, first, "overall")
    whole = sparingly.estimate(demo, first, "overall", estimator="weighted_mean")
    np.testing.assert_allclose(small.scores, whole.scores, rtol=1e-12)
    np.testing.assert_allclose(small.standard_errors, whole.standard_errors, rtol=1e-9)


@pytest.mark.parametrize("estimator", ["greg", "control_variate:metric=learned", "stratified_mean"])
def test_what_needs_the_others_says_so(first: Selection, answered: EvalSet, estimator: str) -> None:
    with pytest.raises(UsageError, match="120 of them are not in the data: use weighted_mean"):
        sparingly.estimate(answered, first, "overall", estimator=estimator)


def test_groups_need_the_others(first: Selection, answered: EvalSet) -> None:
    column = next(iter(answered.columns))
    with pytest.raises(UsageError, match="Groups cannot be estimated: 120"):
        sparingly.estimate(answered, first, "overall", by=column)


def test_more_items_than_were_drawn_from_are_refused(demo: EvalSet, answered: EvalSet) -> None:
    chosen = sparingly.select(answered, "uniform", 20)
    with pytest.raises(DataError, match="drawn from 120 items, and this set has 240"):
        sparingly.estimate(demo, chosen, "overall")


def test_weights_of_items_need_the_others(demo: EvalSet) -> None:
    weighed = demo.with_column("weight", np.linspace(0.5, 1.5, len(demo)))
    chosen = sparingly.select(weighed, "uniform", 60, seed=1)
    with pytest.raises(UsageError, match="Items count by their weights, and 180"):
        sparingly.estimate(weighed.take(items=chosen.items), chosen, "overall")


def test_a_later_round_does_not_speak_for_the_set_on_its_own(demo: EvalSet, first: Selection) -> None:
    signature = replace(first.signature, round=2, earlier="0", aspect="overall")
    with pytest.raises(UsageError, match="This is round 2 of several"):
        sparingly.estimate(demo, replace(first, signature=signature), "overall")
    one = replace(first, signature=replace(signature, round=1))
    assert sparingly.estimate(demo, one, "overall").n == len(first)
