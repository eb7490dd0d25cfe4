from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import sparingly
from benchmarks.method_studies import agreement
from sparingly.base.arrays import Floats
from sparingly.base.errors import DataError, UnknownNameError, UsageError
from sparingly.base.rng import keys_of
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import RANKING_ONLY
from sparingly.data.synthetic import load_invented
from sparingly.infer.rank.compare import default_shares

NAN = np.nan
HUMAN = np.array(
    [
        [3.0, 2.0, 1.0],
        [5.0, 1.0, 3.0],
        [2.0, 4.0, 0.0],
        [6.0, 5.0, 4.0],
    ]
)


def judged(human: Floats = HUMAN, **parts: Any) -> EvalSet:
    items = [f"i{place}" for place in range(len(human))]
    return EvalSet.from_arrays(items, ["ann", "bob", "cat"], aspects={"overall": human}, **parts)


@pytest.fixture(scope="module")
def demo() -> EvalSet:
    return load_invented()


# --- agree ------------------------------------------------------------------------------------------


def test_models_with_means_and_ranks_by_hand() -> None:
    compared = sparingly.agree(judged(), ["i0", "i2"], "overall")
    rows = [(one.model, one.full_mean, one.full_rank, one.mean, one.rank) for one in compared.models]
    assert rows == [("ann", 4.0, 1, 2.5, 2), ("bob", 3.0, 2, 3.0, 1), ("cat", 2.0, 3, 0.5, 3)]
    assert compared.truth == "overall"
    assert compared.notes == ()


def test_winners_of_pairs_by_hand() -> None:
    # Over all items ann beats bob 3:1 and cat 4:0, bob beats cat 3:1; on i0 and i2: 1:1, 2:0, 2:0.
    pairs = sparingly.agree(judged(), ["i0", "i2"], "overall").pairs
    assert pairs.success_rate == pytest.approx(2 / 3)
    assert pairs.distance == pytest.approx((0.5 + 1.0 + 0.5) / 3)
    assert pairs.estimated_distance == pytest.approx((0.0 + 1.0 + 1.0) / 3)
    assert pairs.tied == 0


def test_scores_within_the_tie_width_have_no_winner() -> None:
    pairs = sparingly.agree(judged(), ["i0"], "overall", tie=100.0).pairs
    assert np.isnan(pairs.success_rate)
    assert pairs.tied == 3
    held = sparingly.agree(judged(), ["i0"], "overall", tie=100.0).to_dict()
    assert held["pairs"] == {"success_rate": None, "distance": 0.0, "estimated_distance": None, "tied": 3}


def test_agreement_is_that_of_plain_matrices(demo: EvalSet) -> None:
    chosen = sparingly.select(demo, "random", 40, seed=2)
    compared = sparingly.agree(demo, chosen, "overall", seed=5, flips=300)
    plain = agreement(
        demo.aspects["overall"],
        demo.positions(chosen.items),
        keys=keys_of(list(demo.items)),
        seed=5,
        flips=300,
    )
    assert compared.agreement == plain


def test_everything_agrees_with_everything(demo: EvalSet) -> None:
    compared = sparingly.agree(demo, list(demo.items), "overall")
    assert compared.agreement.soft_pairwise_accuracy == 1.0
    assert compared.agreement.rank_changes == 0
    assert compared.pairs.success_rate == 1.0
    assert compared.pairs.estimated_distance == compared.pairs.distance
    assert [one.rank for one in compared.models] == [one.full_rank for one in compared.models]


def test_order_of_the_selection_does_not_matter(demo: EvalSet) -> None:
    ids = list(sparingly.select(demo, "random", 30).items)
    assert sparingly.agree(demo, ids, "overall") == sparingly.agree(demo, ids[::-1], "overall")


def test_truth_may_be_a_metric_or_a_combination(demo: EvalSet) -> None:
    ids = list(demo.items[:50])
    assert sparingly.agree(demo, ids, "learned").truth == "learned"
    both = sparingly.agree(demo, ids, "mean:of=[overall,fluency]").models[0]
    best = demo.models.index(both.model)
    parts = [demo.aspects[name][:, best] for name in ("overall", "fluency")]
    assert both.full_mean == pytest.approx(np.nanmean(np.mean(parts, axis=0)))
    with pytest.raises(UnknownNameError, match='no aspect or metric "overal"'):
        sparingly.agree(demo, ids, "overal")


def test_a_list_is_marked_and_a_draw_is_not(demo: EvalSet) -> None:
    listed = sparingly.select(demo, "metric_var:metric=learned", 20)
    drawn = sparingly.select(demo, "random", 20)
    assert RANKING_ONLY in sparingly.agree(demo, listed, "overall").notes
    assert RANKING_ONLY not in sparingly.agree(demo, drawn, "overall").notes


def test_importance_weights_enter_the_means() -> None:
    data = judged(columns={"weight": [1.0, 3.0, 0.0, 0.0]})
    best = sparingly.agree(data, ["i0", "i1"], "overall").models[0]
    assert (best.model, best.full_mean, best.mean) == ("ann", 4.5, 4.5)


def test_cluster_weights_weigh_the_selection_and_leave_the_whole_as_it_is() -> None:
    chosen = sparingly.select(judged(), "random", 2, never=["i1", "i3"])
    plain = sparingly.agree(judged(), chosen, "overall")
    weights = np.array([3.0 if name == "i0" else 1.0 for name in chosen.items])
    weighed = sparingly.agree(judged(), replace(chosen, cluster_weight=weights), "overall")
    assert (
        [one.full_mean for one in weighed.models]
        == [one.full_mean for one in plain.models]
        == [4.0, 3.0, 2.0]
    )
    # i0 three times and i2 once: ann (3·3 + 2)/4, bob (3·2 + 4)/4, cat (3·1 + 0)/4.
    assert {one.model: one.mean for one in weighed.models} == {"ann": 2.75, "bob": 2.5, "cat": 0.75}
    assert weighed.agreement.rank_changes == 0 < plain.agreement.rank_changes
    assert weighed.agreement.groups_full == plain.agreement.groups_full


# --- gaps -------------------------------------------------------------------------------------------


def test_items_without_a_score_are_left_out_and_counted() -> None:
    human = np.vstack([HUMAN, np.full(3, NAN)])
    compared = sparingly.agree(judged(human), ["i0", "i4"], "overall")
    assert compared.agreement.n == 1
    assert compared.agreement.n_full == 4
    assert compared.notes == (
        "1 of 5 items have no overall score and are left out.",
        "1 item of the selection without a score of overall.",
    )
    with pytest.raises(DataError, match="No chosen item has a score of overall"):
        sparingly.agree(judged(human), ["i4"], "overall")


def test_a_model_that_the_selection_does_not_judge_has_no_rank() -> None:
    human = HUMAN.copy()
    human[0, 0] = NAN
    compared = sparingly.agree(judged(human), ["i0"], "overall")
    ann = next(one for one in compared.models if one.model == "ann")
    assert np.isnan(ann.mean)
    assert ann.rank is None
    assert [one.rank for one in compared.models if one.model != "ann"] == [1, 2]
    # Two of the three pairs are not judged there; only bob against cat is found.
    assert compared.pairs.success_rate == pytest.approx(1 / 3)
    held = json.loads(json.dumps(compared.to_dict(), allow_nan=False))
    assert held["models"][0]["rank"] is None
    assert held["models"][0]["mean"] is None


def test_equal_means_share_a_rank_whatever_their_last_bits() -> None:
    human = np.array([[0.1, 0.3, 0.0], [0.2, 0.0, 0.0]])
    ranks = {one.model: one.full_rank for one in sparingly.agree(judged(human), ["i0"], "overall").models}
    assert ranks == {"ann": 1, "bob": 1, "cat": 3}


@pytest.mark.parametrize(
    ("human", "sentence"),
    [
        (np.full((4, 3), NAN), "No item has a score of overall"),
        (
            np.where([[True, False, False]], HUMAN, NAN),
            "Only ann has scores of overall, and comparing needs two",
        ),
    ],
)
def test_too_little_to_compare(human: Floats, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        sparingly.agree(judged(human), ["i0"], "overall")


def test_a_model_without_scores_is_left_out_and_named() -> None:
    human = np.where([[True, True, False]], HUMAN, NAN)
    compared = sparingly.agree(judged(human), ["i0", "i1"], "overall")
    assert [one.model for one in compared.models] == ["ann", "bob"]
    assert compared.notes == ("No overall score, and so left out: cat.",)


def test_missing_weights_are_said() -> None:
    with pytest.raises(DataError, match="1 of 4 items have no weight"):
        sparingly.agree(judged(columns={"weight": [1.0, NAN, 1.0, 1.0]}), ["i0"], "overall")


def test_items_must_be_there_and_once() -> None:
    with pytest.raises(UnknownNameError, match='no item "i9"'):
        sparingly.agree(judged(), ["i9"], "overall")
    with pytest.raises(UsageError, match="every row once at most"):
        sparingly.agree(judged(), ["i0", "i0"], "overall")
    with pytest.raises(DataError, match="No chosen item has a score of overall"):
        sparingly.agree(judged(), [], "overall")


# --- curves and parity ------------------------------------------------------------------------------


def test_shares_of_small_and_large_sets() -> None:
    assert (default_shares(100)[0], default_shares(100)[-1]) == (0.25, 0.75)
    assert (default_shares(101)[0], default_shares(101)[-1]) == (0.05, 0.5)


def test_curve_of_a_list_is_agreement_along_it(demo: EvalSet) -> None:
    method = "metric_var:metric=learned"
    drawn = sparingly.curve(demo, method, "overall", shares=[0.1, 0.5, 1.0], runs=3)
    assert drawn.curve.sizes.tolist() == [24, 120, 240]
    for size, value in zip((24, 120), drawn.curve.values, strict=False):
        chosen = sparingly.select(demo, method, size)
        assert value == pytest.approx(
            sparingly.agree(demo, chosen, "overall").agreement.soft_pairwise_accuracy
        )
    assert drawn.curve.values[-1] == drawn.random.values[-1] == 1.0
    assert drawn.method == method


def test_curve_of_documents_is_agreement_of_what_they_choose(demo: EvalSet) -> None:
    method = "metric_var:metric=learned,unit=document"
    drawn = sparingly.curve(demo, method, "overall", shares=[0.2], runs=2, measure="kendall_b")
    chosen = sparingly.select(demo, "metric_var:metric=learned", 48, unit="document")
    assert drawn.curve.values[0] == sparingly.agree(demo, chosen, "overall").agreement.kendall_b


def test_curve_without_an_interval_is_still_json(demo: EvalSet) -> None:
    held = sparingly.curve(demo, "random", "overall", shares=[0.1], runs=1).to_dict()
    assert held["random"]["low"] == held["random"]["high"] == [None]
    json.dumps(held, allow_nan=False)


def test_same_seed_same_curve(demo: EvalSet) -> None:
    first, again, other = (
        sparingly.curve(demo, "random", "overall", shares=[0.1], runs=2, seed=seed).to_dict()
        for seed in (1, 1, 2)
    )
    assert first == again != other


def test_curve_names_what_it_does_not_know(demo: EvalSet) -> None:
    with pytest.raises(UnknownNameError, match='no measure "kendal"'):
        sparingly.curve(demo, "random", "overall", measure="kendal")
    with pytest.raises(UnknownNameError, match='no method "rondom"'):
        sparingly.curve(demo, "rondom", "overall")
    with pytest.raises(UsageError, match="at least one random run, not -1"):
        sparingly.curve(demo, "random", "overall", runs=-1)


def test_parity_of_the_truth_itself_is_less_than_random(demo: EvalSet) -> None:
    known = demo.with_metric("truth", np.asarray(demo.aspects["overall"]))
    good = sparingly.parity(known, "metric_cons:metric=truth", "overall", measure="kendall_b", runs=3)
    random = sparingly.parity(known, "random", "overall", measure="kendall_b", runs=3)
    assert good.share < 1
    assert good.share < random.share
    json.dumps(good.to_dict(), allow_nan=False)


def test_parity_needs_one_list(demo: EvalSet) -> None:
    for method in ("random:balance=domain", "metric_var:metric=learned,unit=document"):
        with pytest.raises(UsageError, match="smaller choices lie inside its larger ones"):
            sparingly.parity(demo, method, "overall")


# --- as text and in a notebook ----------------------------------------------------------------------


def test_comparison_shows_itself(demo: EvalSet) -> None:
    data = EvalSet.from_arrays(["a"], ["<x>", "y"], aspects={"overall": [[1.0, 2.0]]})
    compared = sparingly.agree(data, ["a"], "overall")
    assert str(compared).startswith("1 of 1 items against all, by overall: soft pairwise accuracy 1.000")
    assert "&lt;x&gt;" in compared._repr_html_()
    assert "<x>" not in compared._repr_html_()
    drawn = sparingly.curve(demo, "random", "overall", shares=[0.1, 0.2], runs=2)
    assert drawn._repr_html_().count("<tr>") == 3


def test_unequal_probabilities_are_weighed() -> None:
    data = EvalSet.from_arrays(
        items=[f"a{place:02d}" for place in range(80)] + [f"b{place:02d}" for place in range(20)],
        models=["m", "n"],
        aspects={"y": np.repeat([[1.0, 2.0], [11.0, 10.0]], [80, 20], axis=0)},
        columns={"domain": ["A"] * 80 + ["B"] * 20},
    )
    chosen = sparingly.select(data, "random", 20, balance="domain")
    compared = sparingly.agree(data, chosen, "y")
    assert {one.model: one.mean for one in compared.models} == pytest.approx({"m": 3.0, "n": 3.6})
    assert compared.agreement.mean_absolute_error == pytest.approx(0.0, abs=1e-9)
    plain = sparingly.agree(data, list(chosen.items), "y")
    assert plain.agreement.mean_absolute_error > 1.0


# --- models with rows of their own ------------------------------------------------------------------


def own_rows(data: EvalSet, asked: dict[str, list[str]], **parts: Any) -> sparingly.Selection:
    """A selection in which each model is judged on items of its own."""
    rows = [(item, model) for model, items in asked.items() for item in items]
    chosen = sparingly.select(data, "uniform", 1)
    models = np.empty(len(rows), object)
    models[:] = [(model,) for _, model in rows]
    return replace(
        chosen, items=np.array([item for item, _ in rows], object), models=models, probability=None, **parts
    )


def test_every_model_counts_by_its_own_rows() -> None:
    chosen = own_rows(judged(), {"ann": ["i0", "i1"], "bob": ["i2"], "cat": ["i1", "i3", "i0"]})
    compared = sparingly.agree(judged(), chosen, "overall")
    assert {one.model: one.mean for one in compared.models} == {"ann": 4.0, "bob": 4.0, "cat": 8 / 3}
    assert {one.model: one.rank for one in compared.models} == {"ann": 1, "bob": 1, "cat": 3}
    assert compared.agreement.n == 4
    # Only ann and cat share items, 0 and 1, on both of which ann wins; the other pairs have no winner.
    assert compared.pairs.success_rate == pytest.approx(1 / 3)
    (note,) = [note for note in compared.notes if note.startswith("models are judged on items of their own")]
    assert "1 to 3 each" in note
    assert "0 to 2 items; 2 of 3 pairs share none" in note
    values = np.array([[3.0, NAN, 1.0], [5.0, NAN, 3.0], [NAN, 4.0, NAN], [NAN, NAN, 4.0]])
    by_hand = agreement(HUMAN, [0, 1, 2, 3], ids=["i0", "i1", "i2", "i3"], subset_values=values)
    assert by_hand.to_dict() == compared.agreement.to_dict()


def test_a_selection_that_names_all_models_is_as_one_that_names_none() -> None:
    names = ["i0", "i2"]
    chosen = own_rows(judged(), dict.fromkeys(["ann", "bob", "cat"], names))
    compared, plain = (sparingly.agree(judged(), one, "overall") for one in (chosen, names))
    assert compared.agreement.to_dict() == plain.agreement.to_dict()
    assert compared.models == plain.models
    assert compared.pairs == plain.pairs


def test_one_item_has_one_weight() -> None:
    asked = {"ann": ["i0", "i1"], "bob": ["i0", "i1"]}
    unequal = replace(own_rows(judged(), asked), probability=np.array([0.5, 0.25, 0.5, 0.25]))
    found = {one.model: one.mean for one in sparingly.agree(judged(), unequal, "overall").models}
    assert found["ann"] == pytest.approx((2 * 3 + 4 * 5) / 6)
    torn = replace(unequal, probability=np.array([0.5, 0.25, 0.25, 0.25]))
    with pytest.raises(UsageError, match='"i0" has other probabilities for one model than for another'):
        sparingly.agree(judged(), torn, "overall")


def test_curves_of_draws_for_every_model(demo: EvalSet) -> None:
    drawn = sparingly.curve(
        demo,
        "snippets:kind=segment,matching=false",
        "overall",
        shares=[0.25, 0.5],
        measure="kendall_b",
        runs=1,
    )
    assert drawn.curve.sizes.tolist() == [60, 120]
    assert (drawn.curve.values > 0.4).all()
