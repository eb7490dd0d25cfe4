"""Crowds in comparisons, curves, parity and draws, and the protocol of random crowds."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from scipy import stats

import sparingly
from benchmarks.method_studies import CrowdCurve, agreement, crowd
from sparingly.base.errors import DataError, UnknownNameError, UsageError
from sparingly.base.rng import seed_list
from sparingly.data.evalset import EvalSet
from sparingly.data.synthetic import load_invented
from sparingly.infer.rank import curve as curves
from sparingly.infer.rank.compare import full_set

METHOD = "metric_var:metric=learned"
CROWD = ("Birch", "Juniper", "Rowan")


@pytest.fixture(scope="module")
def demo() -> EvalSet:
    return load_invented()


@pytest.fixture(scope="module")
def rest(demo: EvalSet) -> EvalSet:
    return demo.take(models=[name for name in demo.models if name not in CROWD])


# --- one selection -----------------------------------------------------------------------------------------


def test_only_the_models_to_judge_are_compared(demo: EvalSet, rest: EvalSet) -> None:
    chosen = sparingly.select(demo, METHOD, 40, crowd=CROWD)
    compared = sparingly.agree(demo, chosen, "overall", seed=5)
    rows = demo.positions(chosen.items)
    assert compared.agreement == agreement(rest.aspects["overall"], rows, keys=demo.keys, seed=5)
    assert sorted(one.model for one in compared.models) == list(rest.models)
    assert compared.notes[0] == (
        "Only the 5 of 8 models that the selection judges are compared: "
        "Alder 70B, Alder 7B, Cedar-MT, Elm + rerank (beam = 4), Hazel-instruct."
    )


def test_when_all_are_judged_all_are_compared(demo: EvalSet) -> None:
    chosen = sparingly.select(demo, METHOD, 40, crowd=CROWD, judge="all")
    compared = sparingly.agree(demo, chosen, "overall")
    assert compared.agreement == sparingly.agree(demo, list(chosen.items), "overall").agreement
    assert not any("Only the" in note for note in compared.notes)
    everyone = sparingly.select(demo, METHOD, 40, judge=demo.models)
    assert not any("Only the" in note for note in sparingly.agree(demo, everyone, "overall").notes)


def test_a_model_to_judge_that_is_not_there_is_named(demo: EvalSet, rest: EvalSet) -> None:
    chosen = sparingly.select(demo, METHOD, 40, crowd=CROWD)
    with pytest.raises(UnknownNameError, match='no model "Alder 70B"'):
        sparingly.agree(rest.take(models=rest.models[1:]), chosen, "overall")


# --- replays -----------------------------------------------------------------------------------------------


def test_a_curve_is_chosen_on_the_crowd_and_drawn_on_the_rest(demo: EvalSet, rest: EvalSet) -> None:
    drawn = sparingly.curve(demo, METHOD, "overall", crowd=CROWD, runs=3)
    full = full_set(rest, "overall")
    order = demo.positions(sparingly.select(demo, METHOD, "100%", crowd=CROWD).items)
    np.testing.assert_array_equal(drawn.curve.values, curves.curve(full, order, drawn.curve.sizes).values)
    plain = sparingly.curve(rest, "random", "overall", runs=3)
    np.testing.assert_array_equal(drawn.random.values, plain.random.values)


def test_a_curve_of_a_method_that_starts_anew_for_every_budget(demo: EvalSet, rest: EvalSet) -> None:
    method = "kmeans:features=output_mean,weighted=true"
    drawn = sparingly.curve(demo, method, "overall", crowd=CROWD, shares=[0.1, 0.2], runs=2)
    for share, value in zip((24, 48), drawn.curve.values, strict=True):
        chosen = sparingly.select(demo, method, share, crowd=CROWD)
        assert sparingly.agree(demo, chosen, "overall").agreement.soft_pairwise_accuracy == value


def test_parity_on_the_rest(demo: EvalSet, rest: EvalSet) -> None:
    order = sparingly.select(demo, METHOD, "100%", crowd=CROWD).items
    crowd = sparingly.parity(demo, METHOD, "overall", crowd=CROWD, runs=3)
    # The same order, given as a metric of the rest that only the order decides.
    places = {name: place for place, name in enumerate(order)}
    ranked = np.array([[-float(places[name])] * 5 for name in rest.items])
    same = sparingly.parity(rest.with_metric("rank", ranked), "uncertainty:metric=rank", "overall", runs=3)
    assert crowd.to_dict() == same.to_dict()
    with pytest.raises(UsageError, match="Parity needs a method whose smaller choices"):
        sparingly.parity(demo, "kmeans", "overall", crowd=CROWD)


def test_draws_compare_the_rest(demo: EvalSet, rest: EvalSet) -> None:
    drawn = sparingly.draws(demo, "random", 20, "overall", crowd=CROWD, runs=4, seed=3)
    assert drawn == sparingly.draws(rest, "random", 20, "overall", runs=4, seed=3)
    by_crowd = sparingly.draws(demo, METHOD, 20, "overall", crowd=CROWD, runs=4)
    assert by_crowd != sparingly.draws(rest, METHOD, 20, "overall", runs=4)


def test_items_without_a_judged_score_are_left_out_of_what_is_chosen_from() -> None:
    drawn = np.random.default_rng(4)
    human = drawn.normal(size=(60, 5))
    human[:10, 2:] = np.nan
    data = EvalSet.from_arrays(
        [f"i{place:02d}" for place in range(60)],
        list("abcde"),
        metrics={"m": drawn.normal(size=(60, 5))},
        aspects={"overall": human},
    )
    result = sparingly.curve(data, "metric_var", "overall", crowd=["a", "b"], runs=2)
    assert result.curve.items == 50


def test_a_crowd_of_one_is_refused_in_replays_too(demo: EvalSet) -> None:
    with pytest.raises(UsageError, match="With the crowd of Birch alone"):
        sparingly.curve(demo, METHOD, "overall", crowd=["Birch"])


# --- random crowds -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tried(demo: EvalSet) -> CrowdCurve:
    return crowd(demo, METHOD, "overall", size=3, runs=4, draws=2, shares=[0.1, 0.3], seed=7)


def test_every_run_is_a_curve_of_its_crowd(demo: EvalSet, tried: CrowdCurve) -> None:
    assert len(set(tried.crowds)) > 1
    for run, (names, seed) in enumerate(zip(tried.crowds, seed_list(7, 4, "crowds"), strict=True)):
        assert len(names) == 3
        others = demo.take(models=[name for name in demo.models if name not in names])
        full = full_set(others, "overall", seed=7)
        order = demo.positions(sparingly.select(demo, METHOD, "100%", seed=seed, crowd=names).items)
        np.testing.assert_array_equal(tried.values[run], curves.curve(full, order, [24, 72]).values)
        seeds = seed_list(seed, 2, "random curve")
        np.testing.assert_array_equal(tried.random[run], curves.random_curve(full, [24, 72], seeds).values)
    assert tried.judged == 5
    assert tried.shares == (0.1, 0.3)
    assert tried.values.shape == tried.random.shape == (4, 2)


def test_means_and_intervals_are_those_of_scipy(tried: CrowdCurve) -> None:
    for result, runs in (
        (tried.average, tried.values.mean(axis=1)),
        (tried.random_average, tried.random.mean(axis=1)),
        (tried.gain, (tried.values - tried.random).mean(axis=1)),
    ):
        low, high = stats.t.interval(0.9, 3, runs.mean(), stats.sem(runs))
        assert (result.mean, result.low, result.high) == pytest.approx((runs.mean(), low, high))


def test_intervals_at_every_share_are_those_of_scipy(tried: CrowdCurve) -> None:
    saved = tried.to_dict()
    shown = tried._repr_html_()
    for name, runs in (("curve", tried.values), ("random", tried.random)):
        low, high = stats.t.interval(0.9, 3, runs.mean(axis=0), stats.sem(runs, axis=0))
        assert (low < high).all()
        assert saved[name]["values"] == pytest.approx(runs.mean(axis=0))
        assert saved[name]["low"] == pytest.approx(low)
        assert saved[name]["high"] == pytest.approx(high)
        for row in zip(runs.mean(axis=0), low, high, strict=True):
            assert "".join(f'<td class="numbers">{value:.4g}</td>' for value in row) in shown


def test_same_seed_same_answer_whatever_the_order(demo: EvalSet, tried: CrowdCurve) -> None:
    shuffled = EvalSet.from_arrays(
        list(demo.items[::-1]),
        list(demo.models[::-1]),
        metrics={"learned": demo.metrics["learned"][::-1, ::-1]},
        aspects={"overall": demo.aspects["overall"][::-1, ::-1]},
    )
    how: dict[str, Any] = {"size": 3, "runs": 4, "draws": 2, "shares": [0.1, 0.3]}
    again = crowd(shuffled, METHOD, "overall", seed=7, **how)
    assert again.to_dict() == tried.to_dict()
    other = crowd(demo, METHOD, "overall", seed=8, **how)
    assert other.crowds != tried.crowds


def test_models_without_a_truth_are_in_no_crowd() -> None:
    drawn = np.random.default_rng(4)
    human = drawn.normal(size=(120, 5))
    human[:, 4] = np.nan
    data = EvalSet.from_arrays(
        [f"i{place:03d}" for place in range(120)],
        list("abcde"),
        metrics={"m": drawn.normal(size=(120, 5))},
        aspects={"overall": human},
    )
    result = crowd(data, "metric_var", "overall", size=2, runs=8, draws=1)
    assert {name for names in result.crowds for name in names} <= set("abcd")
    assert result.judged == 2


def test_what_is_said_and_shown(tried: CrowdCurve) -> None:
    text = str(tried)
    assert text.startswith(
        "metric_var:metric=learned on 4 random crowds of 3, soft_pairwise_accuracy by overall on the other 5 "
    )
    assert f"{tried.average.mean:.3f} ({tried.average.low:.3f} to {tried.average.high:.3f}) against" in text
    assert text.endswith(f"gain {tried.gain}, 90 % intervals")
    assert repr(tried) == f"CrowdCurve({text})"
    shown = tried._repr_html_()
    assert shown.count("<tr>") == 3
    held = json.loads(json.dumps(tried.to_dict(), allow_nan=False))
    assert held["gain"]["mean"] == tried.gain.mean
    assert held["curve"]["values"] == pytest.approx(tried.values.mean(axis=0))
    assert [tuple(names) for names in held["crowds"]] == list(tried.crowds)


def test_one_crowd_has_no_interval(demo: EvalSet) -> None:
    alone = crowd(demo, METHOD, "overall", size=2, runs=1, draws=1)
    assert np.isnan(alone.gain.low)
    assert alone.to_dict()["gain"]["low"] is None
    assert alone.to_dict()["curve"]["low"] == [None] * 10
    assert "on 1 random crowd of 2" in str(alone)
    assert "nan" not in str(alone)
    assert "interval" not in str(alone)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"size": 0}, "A crowd of the 8 models has 1 to 6 of them, so that two are left to judge, not 0"),
        ({"size": 7}, "not 7"),
        ({"runs": 0}, "At least one crowd is needed, not 0"),
        ({"draws": 0}, "At least one random draw is needed, not 0"),
        ({"shares": [0.0]}, "The shares of a curve lie above 0"),
        ({"measure": "kendal"}, 'no measure "kendal"'),
    ],
)
def test_what_cannot_be_tried(demo: EvalSet, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        crowd(demo, METHOD, "overall", **options)


def test_two_models_are_too_few(demo: EvalSet) -> None:
    two = demo.take(models=["Birch", "Rowan"])
    with pytest.raises(DataError, match="need three models, and only 2 have scores by overall"):
        crowd(two, METHOD, "overall", size=1)
