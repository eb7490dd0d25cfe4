"""``judge``: the answer in one piece, and what it makes of odd judges."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import DataError, MissingDataError, UnknownNameError, UsageError
from sparingly.data import fields
from sparingly.infer.estimate.sample import sample_from
from sparingly.infer.judge.audit import LabelsNeeded, answer, labels_worth, percent_text
from sparingly.infer.judge.error_rates import corrected_score
from sparingly.infer.judge.labelled import labelled_outputs
from sparingly.infer.plan.plan import plan
from sparingly.infer.plan.sample_size import round_width
from tests.infer.judge.populations import from_arrays, judged_outputs


def test_the_true_rate_is_that_of_estimate() -> None:
    data = judged_outputs(1, labels=150)
    audit, found = sparingly.judge(data), sparingly.estimate(data)
    assert audit.estimate is not None
    assert audit.estimate.to_dict() == found.to_dict()
    first, second, third = answer(audit)
    assert first.startswith(f"True pass rate {percent_text(found.scores[0])} % [")
    assert second.startswith("It passes ")
    assert third.startswith("With it, 100 labels are worth about ")


def test_a_judge_that_saves_no_label_on_a_set_is_not_said_to_save_one() -> None:
    audit = sparingly.judge(judged_outputs(2, labels=200, sensitivity=0.95, specificity=0.8))
    assert audit.needed is not None
    assert "with the judge, " in answer(audit)[2]
    level = replace(audit, needed=LabelsNeeded(0.03, 208, 209))
    assert answer(level)[2].endswith(
        "; but for ±3 points on this set you need about 209 labels with or without it."
    )


def test_what_it_saves_is_what_plan_says() -> None:
    data = judged_outputs(2, labels=200, sensitivity=0.95, specificity=0.8)
    audit = sparingly.judge(data)
    assert audit.needed is not None
    assert audit.worth is not None
    width = audit.needed.width
    assert plan(data, width=width).needed == audit.needed.with_judge
    bare = data.only(name for name in data.fields if name != fields.metric("verdict"))
    assert plan(bare, width=width).needed == audit.needed.without
    saving = plan(data).saving
    assert saving is not None
    assert audit.worth.value == pytest.approx(100 / (1 - saving.scores))
    assert audit.worth.low < audit.worth.value < audit.worth.high


@pytest.mark.parametrize(
    ("width", "shown"), [(0.027, 0.03), (0.014, 0.01), (0.04, 0.05), (0.075, 0.1), (1.2, 1.0), (23.0, 20.0)]
)
def test_round_widths(width: float, shown: float) -> None:
    assert round_width(width) == shown


def test_judges_are_compared_and_copies_named() -> None:
    random = np.random.default_rng(3)
    good = random.random(800) < 0.7
    weak, strong = (np.where(random.random(800) < share, good, ~good) for share in (0.6, 0.95))
    data = from_arrays(good, strong, random, 200)
    data = data.with_metric("weak", weak[:, None].astype(float))
    data = data.with_metric("twin", data.metrics["verdict"])
    audit = sparingly.judge(data)
    assert [line.judge for line in audit.judges][-1] == "weak"
    assert audit.judge in ("twin", "verdict")
    worth = [line.worth.value for line in audit.judges if line.worth is not None]
    assert worth[0] == pytest.approx(worth[1])
    assert audit.worth is not None
    assert audit.worth.value == pytest.approx(worth[0], rel=0.2)
    assert any("is a copy of" in note for note in audit.notes)
    assert sparingly.judge(data, judge="weak").judge == "weak"


def test_odd_judges_get_the_right_answer() -> None:
    constant = sparingly.judge(judged_outputs(4, sensitivity=1.0, specificity=0.0))
    assert answer(constant)[1] == "It passes everything, so it cannot distinguish good answers from bad ones."
    assert "no more than without" in answer(constant)[2]
    only_good = sparingly.judge(judged_outputs(5, pass_rate=1.0))
    assert "No label is a fail" in answer(only_good)[1]
    equal = sparingly.judge(judged_outputs(6, sensitivity=1.0, specificity=1.0))
    assert any("check that it is not a copy" in note for note in equal.notes)
    assert "over 1,000" in answer(equal)[2]


def test_verdicts_that_are_missing_on_half_are_counted() -> None:
    data = judged_outputs(7, labels=200)
    half = np.where(np.arange(len(data))[:, None] % 2, np.nan, data.metrics["verdict"])
    audit = sparingly.judge(data.with_metric("half", half), judge="half")
    assert any("no score for 500 of 1,000 outputs" in note for note in audit.notes)
    assert audit.labels < 150


def test_few_labels_promise_nothing() -> None:
    audit = sparingly.judge(judged_outputs(8, labels=20))
    assert audit.worth is None
    assert len(answer(audit)) == 2


def test_labels_from_elsewhere_come_with_a_warning() -> None:
    here = judged_outputs(9, size=3000, pass_rate=0.6, sensitivity=0.9, specificity=0.8)
    there = judged_outputs(10, size=400, labels=None, pass_rate=0.8, sensitivity=0.9, specificity=0.8)
    bare = here.without_labels()
    audit = sparingly.judge(bare, labels_from=there)
    assert audit.estimate is None
    assert audit.corrected is not None
    low, high = audit.corrected.score[1:]
    assert low < 0.6 < high
    assert "if it errs here as it does elsewhere" in answer(audit)[0]
    assert audit.notes[0].startswith("the labels are not a random sample")
    with pytest.raises(UsageError, match="has labels of ok itself"):
        sparingly.judge(here, labels_from=there)


def test_labels_that_were_picked_are_from_elsewhere_too() -> None:
    data = judged_outputs(11, labels=None)
    picked = replace(sparingly.select(data, "uniform", 100), probability=None)
    audit = sparingly.judge(data, picked)
    assert audit.corrected is not None
    assert audit.labels == 100


def test_a_judge_elsewhere_that_is_a_coin_is_refused() -> None:
    there = judged_outputs(12, labels=None, sensitivity=0.5, specificity=0.5)
    with pytest.raises(DataError, match="says nothing about the true rate"):
        sparingly.judge(judged_outputs(13).without_labels(), labels_from=there)


def test_errors_name_what_to_do() -> None:
    data = judged_outputs(14)
    with pytest.raises(UnknownNameError, match="verdict"):
        sparingly.judge(data, judge="verdikt")
    with pytest.raises(MissingDataError, match="no scores of a judge"):
        sparingly.judge(data.only(name for name in data.fields if not name.startswith("metric")))
    blind = np.where(np.isnan(data.aspects["ok"]), data.metrics["verdict"], np.nan)
    with pytest.raises(DataError, match="run the judge on the labelled outputs"):
        sparingly.judge(data.with_metric("verdict", blind))


def test_an_audit_is_plain_values_text_and_a_frame() -> None:
    audit = sparingly.judge(judged_outputs(15))
    values = audit.to_dict()
    json.dumps(values, allow_nan=False)
    assert values["rates"]["table"] == [list(row) for row in audit.rates.table]  # type: ignore[union-attr]
    assert audit.to_polars()["judge"].to_list() == ["verdict"]
    assert str(audit).splitlines()[0] == answer(audit)[0]
    assert answer(audit)[0] in repr(audit)


@pytest.mark.statistics
def test_the_interval_of_what_labels_are_worth_holds() -> None:
    """200 draws of 150 labels: 1/(1 − φ²) of the whole set lies inside in 90 % or more."""
    hits = 0
    truth = judged_outputs(16, size=4000, labels=None, pass_rate=0.6, specificity=0.8)
    phi = np.corrcoef(truth.aspects["ok"][:, 0], truth.metrics["verdict"][:, 0])[0, 1]
    for seed in range(200):
        rows = np.random.default_rng(seed).permutation(4000)[:150]
        seen = np.full((4000, 1), np.nan)
        seen[rows] = truth.aspects["ok"][rows]
        data = truth.with_aspect("ok", seen)
        worth = labels_worth(data, sample_from(data, seen, None), 0.95, seed)
        assert worth is not None
        hits += worth.low <= 100 / (1 - phi**2) <= worth.high
    assert hits >= 180


@pytest.mark.statistics
@pytest.mark.parametrize(("pass_rate", "sensitivity", "specificity"), [(0.6, 0.9, 0.7), (0.9, 0.95, 0.5)])
def test_intervals_from_labels_elsewhere_hold_where_errors_are_the_same(
    pass_rate: float, sensitivity: float, specificity: float
) -> None:
    """400 draws of 100 labels there and 1,000 outputs here: 93 % or more."""
    hits = 0
    for seed in range(400):
        there = judged_outputs(
            seed, size=100, labels=None, pass_rate=0.5, sensitivity=sensitivity, specificity=specificity
        )
        part = labelled_outputs(there, sample_from(there, there.truth("ok"), None), "ok", "verdict")
        random = np.random.default_rng(10_000 + seed)
        passes = random.random(1000) < pass_rate * sensitivity + (1 - pass_rate) * (1 - specificity)
        score = corrected_score(part, passes.astype(float), 0.95).score
        hits += score.low <= pass_rate <= score.high
    assert hits >= 0.93 * 400


def test_labels_drawn_by_verdicts_without_their_selection_are_noticed() -> None:
    data = judged_outputs(3, size=600, labels=None)
    chosen = sparingly.select(data.without_labels(), question="judge", budget=120, seed=1)
    shown = np.zeros((len(data), 1), bool)
    shown[data.positions(chosen.items)] = True
    mixed = data.with_aspect("ok", np.where(shown, data.aspects["ok"], np.nan))
    random = judged_outputs(3, size=600, labels=120)
    said = [
        any("drawn by its verdicts" in note for note in sparingly.judge(*given).notes)
        for given in (
            (mixed,),
            (mixed, chosen),
            (random,),
        )
    ]
    assert said == [True, False, False]
    # The selection that is read, perhaps next.json, is not what the next one is written to.
    steps = [sparingly.judge(*given).summary().next_steps[0] for given in ((mixed,), (mixed, chosen))]
    assert [step.split()[-1] for step in steps] == ["next.json", f"next-after-{len(chosen)}.json"]
