"""Runs of CASF and of what it is compared with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.papers.ruan.sets import (
    CASES,
    DEMO_CASE,
    LARGER,
    Case,
    cases,
    chosen_rows,
    measured,
    over_aspects,
    runs_of,
    set_figures,
    summed_up,
)
from benchmarks.papers.work import Work
from sparingly.data.synthetic import load_invented


def test_a_full_set_agrees_with_itself() -> None:
    data = load_invented()
    found = measured(data, DEMO_CASE, np.arange(len(data)))
    assert found == {"kendall": [1.0], "top1": [1.0], "retained_05": [1.0], "retained_001": [1.0]}


@pytest.mark.parametrize(("budget", "items"), [("25%", 60), (50, 50)])
def test_casf_and_selectors_choose_the_same_number_of_items(budget: str | int, items: int) -> None:
    data = load_invented()
    method = DEMO_CASE.method("phases=2,controller=false,regressor=linear")
    for one in ("random", method):
        assert len(chosen_rows(data, DEMO_CASE, one, budget)) == items


def test_changes_take_the_place_of_what_a_case_says() -> None:
    case = Case("x", "X", "SUM", ("a", "b"), "m", ("m", "n"))
    assert case.method() == 'casf:metric=m,metrics=["m","n"],aspects=[a,b]'
    assert case.method("phases=2") == 'casf:metric=m,metrics=["m","n"],aspects=[a,b],phases=2'
    assert case.method("metric=n") == 'casf:metrics=["m","n"],aspects=[a,b],metric=n'


def test_runs_are_averaged_aspect_by_aspect() -> None:
    runs = [
        {name: [value, 1.0] for name in ("kendall", "top1", "retained_05", "retained_001")}
        for value in (0.0, 1.0)
    ]
    found = summed_up(runs)
    assert found["kendall"] == [0.5, 1.0]
    assert found["kendall_sd"] == pytest.approx([np.sqrt(0.5), 0.0], abs=1e-6)
    assert found["first_runs"] == [0.5, 1.0]
    assert summed_up(runs[:1])["kendall_sd"] is None


def test_drawn_methods_are_repeated_and_casf_is_not(small: Work) -> None:
    drawn, casf = runs_of(small, DEMO_CASE, {"random": "random", "SM": "phases=1"})
    assert (drawn.method, drawn.seeds) == ("random", 3)
    assert (casf.method, casf.seeds) == ("casf:metric=learned,phases=1", 1)


def test_cells_come_back_to_the_set_and_the_method_they_are_of(small: Work) -> None:
    two = (DEMO_CASE, replace(DEMO_CASE, aspects=("overall", "fluency")))
    methods = {"random": "random", "SM": "phases=1"}
    first, second = set_figures(small, two, lambda case: runs_of(small, case, methods))
    assert (len(first["methods"]["SM"]["kendall"]), len(second["methods"]["SM"]["kendall"])) == (1, 2)
    assert first["methods"]["random"]["runs"] == 3
    data = DEMO_CASE.data(small)
    alone = measured(data, DEMO_CASE, chosen_rows(data, DEMO_CASE, DEMO_CASE.method("phases=1"), "50%"))
    assert first["methods"]["SM"]["kendall"] == pytest.approx(alone["kendall"], abs=1e-6)
    assert len(over_aspects([first, second], "SM")) == 3


def test_cases_are_those_of_the_collection(shared_data: object) -> None:
    work = Work(shared_data)  # type: ignore[arg-type]
    for case in (*CASES, *LARGER):
        data = case.data(work)
        assert set(case.aspects) <= set(data.aspects)
        assert {case.first, *case.metrics, *dict(case.orderings).values()} <= set(data.metrics)


def test_the_demo_set_stands_for_all(small: Work) -> None:
    assert cases(small) == (DEMO_CASE,)
    assert cases(replace(small, is_demo=False)) == CASES
