from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.data.selection import Selection
from sparingly.data.synthetic import load_invented
from sparingly.infer.estimate.sample import (
    UNKNOWN,
    JudgedSample,
    frame_of,
    method_of,
    sample_from,
    stratum_codes,
)

DATA = load_invented()


def sample(selection: Selection) -> JudgedSample:
    return sample_from(DATA, DATA.aspects["overall"], selection)


def test_a_balanced_random_draw_has_strata() -> None:
    found = sample(sparingly.select(DATA, "random:balance=domain", 60, seed=1))
    domains = DATA.columns["domain"][found.rows]
    assert len(np.unique(found.stratum)) == len(set(domains))
    for code in np.unique(found.stratum):
        assert len(set(domains[found.stratum == code])) == 1
    assert found.stratum_of is not None
    assert (found.stratum_of[found.rows] == found.stratum).all()


@pytest.mark.parametrize("design", ["uniform:unit=document", "pivotal:unit=document"])
def test_documents_are_units(design: str) -> None:
    found = sample(sparingly.select(DATA, design, 60, seed=1))
    documents = DATA.columns["document"][found.rows]
    assert len(np.unique(found.unit)) == len(set(documents))
    for code in np.unique(found.unit):
        assert len(set(documents[found.unit == code])) == 1


def test_what_a_draw_was_spread_over_or_balanced_on() -> None:
    spread = sample(sparingly.select(DATA, "local_pivotal:dimensions=3", 60, seed=1))
    assert spread.coordinates is not None
    # Three for the metrics, and three in which documents lie apart.
    assert spread.coordinates.shape == (60, 6)
    listed = sample(sparingly.select(DATA, "systematic:order=learned", 60, seed=1))
    assert listed.coordinates is not None
    assert listed.coordinates.shape == (60, 1)
    assert sample(sparingly.select(DATA, "systematic", 60, seed=1)).coordinates is None
    balanced = sample(sparingly.select(DATA, "cube:balance=[learned]", 60, seed=1))
    assert balanced.balance is not None
    assert len(balanced.balance) == 60


def test_which_draws_are_uniform() -> None:
    assert sample(sparingly.select(DATA, "random", 60)).is_uniform
    assert sample(sparingly.select(DATA, "uniform", 60)).is_uniform
    assert not sample(sparingly.select(DATA, "uniform:cost=length", "1h")).is_uniform
    assert not sample(sparingly.select(DATA, "pivotal:utility=(metric_var:metric=learned)", 60)).is_uniform


def test_a_method_of_somebody_else_is_taken_for_a_plain_draw() -> None:
    selection = sparingly.select(DATA, "uniform", 60)
    foreign = replace(selection, signature=replace(selection.signature, method="dowsing:rod=2"))
    assert method_of(foreign) is None
    assert sample(foreign).notes == (UNKNOWN,)


def test_the_strata_of_all_items_are_told_by_the_design() -> None:
    chosen = sparingly.select(DATA, "stratified:by=metrics,size=40", 61, seed=1)
    found = sample(chosen)
    assert found.stratum_of is not None
    assert np.bincount(found.stratum_of).tolist() == [40] * 6
    assert (found.stratum_of[found.rows] == found.stratum).all()
    # 61 of 240 are 10.17 of each 40: given how many each bin gave, its items had that chance.
    given = np.bincount(found.stratum)[found.stratum] / 40
    assert found.draw == pytest.approx(given)
    assert chosen.probability == pytest.approx(np.full(61, 61 / 240))


@pytest.mark.parametrize("by", ["document", "domain", "metrics", "learned", "source_length"])
@pytest.mark.parametrize(
    ("rest", "budget"),
    [("", 30), (",rounding=published", "10%"), (",allocation=optimal", "10%"), (",cost=length", "40min")],
)
@pytest.mark.parametrize("how", [{}, {"never": list(DATA.items[:37])}, {"crowd": ["Birch", "Juniper"]}])
def test_the_strata_of_all_items_are_those_of_the_draw(
    by: str, rest: str, budget: int | str, how: dict[str, Any]
) -> None:
    chosen = sparingly.select(DATA, f"stratified:by={by},size=25{rest}", budget, seed=3, **how)
    assert chosen.stratum is not None
    frame = frame_of(DATA, chosen)
    codes, every = stratum_codes(frame, chosen)
    pairs = set(zip(codes.tolist(), chosen.stratum.tolist(), strict=True))
    assert len(pairs) == len(set(codes.tolist())) == len(set(chosen.stratum.tolist()))
    assert every is not None
    assert len(every) == len(frame)


def test_strata_that_gave_nothing_leave_the_chances_as_they_were_drawn() -> None:
    found = sample(sparingly.select(DATA, "stratified:by=document", 30, seed=1))
    assert found.draw == pytest.approx(np.full(30, 30 / 240))


def test_models_with_draws_of_their_own() -> None:
    found = sample(sparingly.select(DATA, "snippets:matching=false", 60, seed=1))
    assert found.separate
    assert found.unit_by_model is not None
    assert len(found.rows) > 60


def test_items_shut_out_leave_the_set() -> None:
    chosen = sparingly.select(DATA, "snippets:max_length=7", 60, seed=1)
    assert 0 < len(chosen.never) < 240
    frame = frame_of(DATA, chosen)
    assert sample_from(frame, frame.aspects["overall"], chosen).size == 240 - len(chosen.never)
