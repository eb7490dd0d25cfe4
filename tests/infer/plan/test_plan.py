from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import MissingDataError, UnknownNameError, UsageError
from sparingly.data.evalset import EvalSet
from sparingly.data.synthetic import load_invented
from sparingly.infer.plan.outlook import PlanGoals, PlanOutlook, PlanUnit
from sparingly.infer.plan.pilot import pilot_of
from sparingly.infer.plan.plan import SHARES, JudgeMix, Plan, items_with, plan
from sparingly.infer.plan.sample_size import round_width
from tests.infer.plan.sets import drawn_pilot, made_set, uneven_set

DATA = made_set()
PILOT = drawn_pilot(DATA, 80)
UNITS: tuple[PlanUnit, ...] = ("item", "document")


@pytest.fixture(scope="module")
def found() -> Plan:
    return plan(DATA, PILOT, "people", width=0.15)


def test_the_table_has_shares_and_the_needed_budget(found: Plan) -> None:
    shares = {round(share * 400) for share in SHARES}
    assert {row.n for row in found.table} == shares | {found.needed}
    assert [row.n for row in found.table] == sorted(row.n for row in found.table)
    for name, falls in (("half_width", True), ("detectable", True), ("right_pairs", False)):
        values = [getattr(row, name) for row in found.table]
        assert values == sorted(values, reverse=falls), name


def test_the_needed_budget_is_the_first_that_does(found: Plan) -> None:
    row = next(row for row in found.table if row.n == found.needed)
    assert row.half_width <= 0.15
    assert found.needed is not None
    before = PlanOutlook(pilot_of(DATA, PILOT, "people", for_differences=False, seed=0), PlanGoals())
    assert before.half_width(found.needed - 1) > 0.15


def test_a_prediction_that_saves_is_recommended(found: Plan) -> None:
    advice = found.advice
    assert (advice.method, advice.estimator, advice.budget) == ("auto", "greg", found.needed)
    assert f"Judge {found.needed} of the 400 items" in advice.sentences[0]
    assert "scores are known to ± 0.15" in advice.sentences[0]
    assert 2 <= len(advice.sentences) <= 4
    assert advice.commands("my data.jsonl") == (
        f"sparingly select 'my data.jsonl' --budget {found.needed} --out chosen.json",
        "sparingly estimate 'my data.jsonl' chosen.json --aspect people",
    )


def test_what_is_recommended_can_be_done(found: Plan) -> None:
    assert found.advice.method is not None
    chosen = sparingly.select(DATA, found.advice.method, found.advice.budget)
    scores = sparingly.estimate(DATA, chosen, "people")
    assert (scores.n, scores.estimator) == (found.needed, found.advice.estimator)


def test_metrics_that_explain_nothing_are_not_used() -> None:
    told = plan(made_set(noise=30.0), drawn_pilot(DATA, 80), "people", width=3.0, budgets=[100])
    assert (told.advice.method, told.advice.estimator) == ("auto", "weighted_mean")
    assert "too little to help" in told.advice.sentences[-1]


def test_a_handful_of_items_is_estimated_without_predictions() -> None:
    told = plan(DATA, PILOT, "people", width=0.8, budgets=[100])
    assert told.needed is not None
    assert told.needed < 30
    assert told.advice.estimator == "weighted_mean"
    assert "an estimate does not use them below 30 items" in told.advice.sentences[-1]


def test_the_table_of_a_large_set_begins_with_what_people_can_judge() -> None:
    large = made_set(items=2400)
    told = plan(large, drawn_pilot(large, 60), "people", width=0.3)
    assert {100, 120, 240} <= {row.n for row in told.table}


def test_probabilities_that_are_earned_can_be_pasted() -> None:
    data = uneven_set()
    fact = plan(data, drawn_pilot(data, 100), "people", width=0.2, budgets=[100]).facts()[0]
    assert fact.startswith("Unequal sampling would cut the variance to about ")
    method = fact.split('method="')[1].removesuffix('"')
    assert method.startswith("local_pivotal:utility=(metric_avg:metric=good),tau=0.")
    assert sparingly.select(data, method, 50).has_unequal_weights


def test_nothing_wanted_asks_for_the_winner() -> None:
    told = plan(DATA, PILOT, "people", budgets=[100])
    assert "the best model comes out best with a probability of about 90 %" in told.advice.sentences[0]
    row = next(row for row in told.table if row.n == told.needed)
    assert row.right_winner >= 0.9


def test_differences_on_other_inputs_may_be_out_of_reach() -> None:
    told = plan(DATA, PILOT, "people", detect=0.05, budgets=[100])
    assert told.needed is None
    assert told.advice.method is None
    assert "All 400 items are too few" in told.advice.sentences[0]
    assert "not of 0.05" in told.advice.sentences[0]
    assert told.advice.commands() == ("sparingly rank DATA --aspect people",)
    on_this_set = plan(DATA, PILOT, "people", detect=0.15, target="set", budgets=[100])
    assert on_this_set.needed is not None
    row = next(row for row in on_this_set.table if row.n == on_this_set.needed)
    assert row.detectable <= 0.15
    assert on_this_set.advice.commands()[-1] == "sparingly rank DATA chosen.json --aspect people --target set"


def test_both_a_width_and_a_difference_are_reached() -> None:
    both = plan(DATA, PILOT, "people", width=0.15, detect=0.5, budgets=[20])
    pilot = pilot_of(DATA, PILOT, "people", for_differences=False, seed=0)
    needed = [
        PlanOutlook(pilot, goal).items_needed() for goal in (PlanGoals(width=0.15), PlanGoals(detect=0.5))
    ]
    assert both.needed == max(n for n in needed if n is not None)
    assert None not in needed
    assert "scores are known to ± 0.15 and a difference of 0.5 is significant" in both.advice.sentences[0]


def test_nearly_everything_is_everything() -> None:
    told = plan(DATA, PILOT, "people", width=0.02, budgets=[100])
    assert told.advice.method is None
    assert "sampling saves too little" in told.advice.sentences[0]
    assert told.advice.budget == 400


def test_a_metric_in_the_place_of_people() -> None:
    told = plan(DATA.without_labels(), budgets=["50%"])
    assert told.stands_in
    assert (told.advice.method, told.advice.budget, told.advice.aspect) == ("uniform", 40, None)
    assert "pilot of 40 random items" in told.advice.sentences[0]
    first = plan(DATA.without_labels(), width=0.3, budgets=["50%"]).advice.sentences[0]
    without, few, many = map(
        int, re.findall(r"(\d+) items without the metrics, (\d+) to (\d+) with", first)[0]
    )
    assert (few, many) == tuple(items_with(share, without, 400) for share in (0.62, 0.04))
    assert "public sets" in told.advice.sentences[-1]
    assert told.advice.commands()[1] == "sparingly serve DATA chosen.json"
    assert told.headline.startswith("Planned from a metric, ")
    small = plan(DATA.without_labels().at(range(45)), budgets=[20])
    assert small.advice.sentences == ("Judge all 45 items: sampling would save too little.",)


def test_one_model_has_a_width_and_no_winner() -> None:
    alone = DATA.take(models=["model 1"])
    told = plan(alone, PILOT, "people", width=0.15, budgets=[100])
    assert not any("best model" in sentence for sentence in told.advice.sentences)
    # What was asked for is what is expected: said once, unless much more is reached.
    assert not any("Expect" in sentence for sentence in told.advice.sentences)
    assert told.advice.commands()[-1] == "sparingly estimate DATA chosen.json --aspect people"
    wide = plan(alone, PILOT, "people", width=3.0, budgets=[100])
    assert any(sentence.startswith("Expect ± ") for sentence in wide.advice.sentences)
    nothing = plan(alone, PILOT, "people", budgets=[100])
    # Without a goal it is a rounder interval, about half as wide as that of the pilot.
    half = PlanOutlook(
        pilot_of(alone, PILOT, "people", for_differences=False, seed=0), PlanGoals()
    ).half_width(len(PILOT))
    assert nothing.wanted.width == round_width(half / 2.0)
    assert nothing.needed is not None
    assert nothing.advice.sentences[0].startswith(f"Judge {nothing.needed} of the 400 items")
    with pytest.raises(UsageError, match="no difference to find"):
        plan(alone, PILOT, "people", detect=1.0)


def test_whole_documents_tell_less() -> None:
    document = [f"d{place // 8:02d}" for place in range(400)]
    shared = np.repeat(np.random.default_rng(5).normal(size=50), 8)[:, None]
    data = made_set(columns={"document": document})
    data = data.with_aspect("people", data.aspects["people"] + shared)
    pilot = drawn_pilot(data, 200)
    seen = pilot_of(data, pilot, "people", for_differences=False, seed=0)
    assert seen.documents is not None
    items, whole = (PlanOutlook(seen, PlanGoals(unit=unit)).half_width(160) for unit in UNITS)
    # 160 items are 20 documents: too few for a prediction, and alike within each.
    assert whole > 1.3 * items
    wide = plan(data, pilot, "people", unit="document", width=0.35, budgets=[160])
    assert "--unit document" in wide.advice.commands()[0]
    with pytest.raises(MissingDataError, match="several judged items in the same documents"):
        plan(DATA, PILOT, "people", unit="document")


def test_rates_may_be_given_in_percent() -> None:
    passed = DATA.with_aspect("people", (DATA.aspects["people"] > -1).astype(float))
    wide = plan(passed, PILOT, "people", width="8%", budgets=[100])
    assert wide.wanted.width == 0.08
    assert wide.needed is not None
    assert next(row for row in wide.table if row.n == wide.needed).half_width <= 0.08
    with pytest.raises(UsageError, match=r"8% is for rates between 0 and 1, and people goes from"):
        plan(DATA, PILOT, "people", width="8%")


# --- hours and prices ---------------------------------------------------------------------------------


def test_hours_come_from_what_there_is() -> None:
    costs = np.linspace(30, 90, 400)
    by_column = plan(made_set(columns={"cost": costs}), PILOT, "people", budgets=[100], width=0.3)
    assert next(row.hours for row in by_column.table if row.n == 100) == pytest.approx(100 * 60 / 3600)
    assert by_column.cost == "cost"
    texts = made_set(sources=["one two three four"] * 400)
    by_length = plan(texts, PILOT, "people", budgets=[100], width=0.3)
    seconds = 4 * (33.7 + 0.15 * 4)
    assert next(row.hours for row in by_length.table if row.n == 100) == pytest.approx(100 * seconds / 3600)
    assert "33.7 s" in by_length.notes[-1]
    unknown = plan(DATA, PILOT, "people", budgets=[100], width=0.3)
    assert (unknown.cost, unknown.table[0].hours) == (None, None)


def test_hours_by_the_sets_own_seconds() -> None:
    demo = load_invented()
    told = plan(demo, drawn_pilot(demo, 60), "overall", cost="fit", budgets=[100], width=5.0)
    line = sparingly.select(demo, "random", "2h", cost="fit").signature.method
    intercept, slope = (float(part) for part in line.split("line:")[1].split(",")[0].split(":"))
    lengths = np.array([len(text.split()) for text in demo.sources]) if demo.sources is not None else None
    assert lengths is not None
    expected = 100 * (intercept + slope * lengths.mean()) / 3600
    assert next(row.hours for row in told.table if row.n == 100) == pytest.approx(expected, rel=1e-3)
    assert "own ratings" in told.notes[-1]


def test_budgets_of_all_kinds() -> None:
    data = made_set(columns={"cost": np.full(400, 36.0)})
    told = plan(data, PILOT, "people", budgets=[50, "10%", "1h", "cost:720"], width=0.3)
    assert {row.n for row in told.table} == {50, 40, 100, 20, told.needed}
    with pytest.raises(UsageError, match="needs costs"):
        plan(DATA, PILOT, "people", budgets=["1h"])


def mix_of(**goal: Any) -> JudgeMix:
    mix = plan(DATA, PILOT, "people", budgets=[100], **goal).mix
    assert mix is not None
    return mix


def test_a_judge_is_weighed_by_what_it_adds() -> None:
    cheap = mix_of(width=0.15, prices={"human": 1.0, "good": 0.001})
    assert cheap.judges == ("good",)
    assert cheap.saving == pytest.approx(2 / 3, abs=0.1)
    assert cheap.cost == pytest.approx(4 * (cheap.items + 0.001 * cheap.judged))
    assert mix_of(width=0.15, prices={"human": 1.0, "weak": 0.1}).judges == ()
    differences = mix_of(detect=0.6, prices={"human": 1.0, "good": 0.001})
    assert differences.saving == pytest.approx(1 / 2, abs=0.12)


def test_of_several_judges_those_are_taken_that_save_their_price() -> None:
    both = mix_of(width=0.15, prices={"human": 1.0, "good": 0.001, "weak": 0.2})
    assert both.judges == ("good",)


def test_all_that_a_plan_says_follows_from_the_cheapest_mix() -> None:
    """Where the judge is not worth its price, nothing else in the plan counts on it."""
    for price, judges in ((0.001, ("good",)), (5.0, ())):
        planned = plan(DATA, PILOT, "people", width=0.15, prices={"human": 1.0, "good": price})
        assert planned.mix is not None
        assert planned.mix.judges == judges
        assert planned.needed == planned.mix.items
        assert planned.advice.sentences[0] == planned.mix.sentence("For ± 0.15")
        assert f"Judge {planned.mix.items} of the 400 items" in planned.advice.sentences[1]
        assert ("good" in [row.metric for row in planned.correlations]) is bool(judges)


def test_a_goal_out_of_reach_has_no_price() -> None:
    planned = plan(DATA, PILOT, "people", detect=0.01, prices={"human": 1.0, "good": 0.001}, budgets=[100])
    assert planned.mix is None
    assert planned.advice.sentences[0].startswith("All 400 items are too few")


def test_the_first_sentence_names_the_items_without_the_metrics() -> None:
    first = plan(DATA, PILOT, "people", width=0.15, budgets=[100]).advice.sentences[0]
    bare = DATA.only(name for name in DATA.fields if not name.startswith("metric:"))
    without = plan(bare, PILOT, "people", width=0.15, budgets=[100]).needed
    assert f"; {without} without the metrics)" in first


def test_what_cannot_be_weighed() -> None:
    for prices in ({"good": 0.1}, {"human": 1.0}):
        with pytest.raises(UsageError, match="Give two prices or more"):
            plan(DATA, PILOT, "people", prices=prices)
    with pytest.raises(UnknownNameError, match=r'no metric "judge".*METRIC=0\.01'):
        plan(DATA, PILOT, "people", prices={"human": 1.0, "judge": 0.1})
    with pytest.raises(UsageError, match="price of good is a number of zero or more, not -1"):
        plan(DATA, PILOT, "people", prices={"human": 1.0, "good": -1.0})
    with pytest.raises(MissingDataError, match="at least 30 judged items"):
        plan(DATA, drawn_pilot(DATA, 20), "people", prices={"human": 1.0, "good": 0.1})


# --- the result ---------------------------------------------------------------------------------------


def test_as_text_and_plain_values(found: Plan) -> None:
    text = str(found)
    assert text.startswith(f"Judge {found.needed} of the 400 items")
    assert "Planned from a pilot of 80 items: people, 400 items and 4 models." in text
    assert "The metrics explain" in text
    assert "Unequal sampling would help too little here; not recommended." in text
    assert "right winner" in text
    assert repr(found) == f"Plan({found.headline})"
    assert found._repr_html_().count("<tr>") == len(found.table) + 1
    held = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert held["needed"] == found.needed
    assert [row["n"] for row in held["table"]] == [row.n for row in found.table]
    assert held["advice"]["commands"] == list(found.advice.commands())
    assert held["unequal"]["trial"]["utility"].startswith("metric_")
    assert held["saving"]["scores"] == pytest.approx(2 / 3, abs=0.1)


def test_the_same_seed_gives_the_same_plan_and_the_order_of_the_file_does_not_matter(found: Plan) -> None:
    turned = np.random.default_rng(1).permutation(400)
    again = sparingly.EvalSet.from_arrays(
        [DATA.items[place] for place in turned],
        DATA.models[::-1],
        metrics={name: scores[turned][:, ::-1] for name, scores in DATA.metrics.items()},
        aspects={"people": DATA.aspects["people"][turned][:, ::-1]},
    )
    assert plan(again, PILOT, "people", width=0.15).to_dict() == found.to_dict()


def test_wrong_wishes() -> None:
    wishes: list[dict[str, Any]] = [{"width": 0.0}, {"detect": -1.0}, {"width": math.inf}]
    for wish in wishes:
        with pytest.raises(UsageError, match="a number above zero"):
            plan(DATA, PILOT, "people", **wish)
    with pytest.raises(UsageError, match="power is a"):
        plan(DATA, PILOT, "people", power=1.0)
    with pytest.raises(UsageError, match="level"):
        plan(DATA, PILOT, "people", level=1.5)
    with pytest.raises(UnknownNameError, match="unit"):
        plan(DATA, PILOT, "people", unit="word")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="target"):
        plan(DATA, PILOT, "people", target="world")  # type: ignore[arg-type]


def passes(models: int = 3) -> EvalSet:
    """Pass or fail, of a pilot of 60 of 300 items."""
    drawn = np.random.default_rng(0)
    scores = (drawn.random((300, models)) < 0.75 + 0.05 * np.arange(models)).astype(float)
    scores[60:] = np.nan
    names = [f"item {place:04d}" for place in range(300)]
    return EvalSet.from_arrays(names, [f"m{place}" for place in range(models)], aspects={"ok": scores})


def test_plans_for_pass_rates_are_in_points() -> None:
    told = plan(passes(), None, "ok", width="5%", detect="20%", budgets=[30, 300])
    assert told.is_rate
    assert told.to_dict()["is_rate"] is True
    first, second, *_ = told.advice.sentences
    assert "known to ± 5 points and a difference of 20 points is significant" in first
    row = next(row for row in told.table if row.n == told.needed)
    assert f"Expect scores to ± {100 * row.half_width:.1f} points" in second
    assert f"differences of {100 * row.detectable:.1f} points" in second
    assert f"{100 * row.half_width:.1f} points" in str(told)
    few = plan(passes(), None, "ok", detect="1%", budgets=[30])
    assert "points, not of 1 point. Add items" in few.advice.sentences[0]
    assert not plan(DATA, PILOT, "people", width=0.15, budgets=[100]).is_rate


@pytest.mark.parametrize(
    ("goal", "words"),
    [
        ({"width": 5}, "A half-width of 5 is too large for ok, .* between 0 and 1: write 5%[.]"),
        ({"width": "50%"}, "A half-width of 50% is too large .*: ask for less than 50%[.]"),
        ({"width": 60}, "A half-width of 60 is too large .*: ask for less than 50%[.]"),
        ({"detect": 10}, "A difference of 10 is too large .*: write 10%[.]"),
        ({"detect": "9sd"}, "A difference of 9sd is too large .*: ask for less than 100%[.]"),
        ({"width": 8, "scale": (-10, 10)}, None),
        ({"width": 10, "scale": (-10, 10)}, "between -10 and 10: ask for less than 10[.]"),
    ],
)
def test_goals_lie_inside_the_scale(goal: dict[str, Any], words: str | None) -> None:
    data, name = (DATA, "people") if "scale" in goal else (passes(), "ok")
    if words is None:
        assert plan(data, None, name, budgets=[30], **goal).needed is not None
        return
    with pytest.raises(UsageError, match=words):
        plan(data, None, name, budgets=[30], **goal)
