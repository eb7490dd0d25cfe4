from __future__ import annotations

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.data.evalset import EvalSet
from sparingly.data.synthetic import load_invented
from sparingly.infer.estimate.intervals import why_withheld
from sparingly.infer.rank.measures import significance_groups
from sparingly.infer.rank.pair_tests import least_p, wilcoxon_tests
from sparingly.infer.rank.rank import SAME_DIFFERENCES, TOO_SURE, rank, rank_scores
from sparingly.show.report.markup import code


@pytest.fixture(scope="module")
def demo() -> EvalSet:
    return load_invented()


def _plain(models: int = 4, items: int = 80, seed: int = 1) -> EvalSet:
    """A fully judged set without documents, whose models differ by a point each."""
    drawn = np.random.default_rng(seed)
    hardness = drawn.normal(0, 10, (items, 1))
    scores = 70 + hardness + drawn.normal(0, 3, (items, models)) - np.arange(models)
    return EvalSet.from_arrays(
        [f"i{place:03d}" for place in range(items)],
        [f"m{place}" for place in range(models)],
        aspects={"overall": scores},
    )


def test_a_fully_judged_set_is_ranked_by_the_p_values_of_its_intervals() -> None:
    from scipy.stats import ttest_rel

    data = _plain()
    found = rank(data, aspect="overall", estimator="weighted_mean")
    scores = data.aspects["overall"]
    assert [one.model for one in found.models] == [f"m{place}" for place in np.argsort(-scores.mean(axis=0))]
    order = [data.models.index(one.model) for one in found.models]
    wider = sparingly.estimate(data, None, "overall", estimator="weighted_mean", target="population")
    np.testing.assert_allclose(found.p_values, wider.pair_p_values()[np.ix_(order, order)])
    paired = ttest_rel(scores[:, order[0]], scores[:, order[1]]).pvalue
    assert paired < found.p_values[0, 1] < 1.5 * paired
    assert found.target == "population"
    assert (found.corrected >= found.p_values - 1e-12)[~np.eye(4, dtype=bool)].all()


def test_on_the_set_itself_a_fully_judged_order_is_certain() -> None:
    found = rank(_plain(), aspect="overall", estimator="weighted_mean", target="set")
    assert [one.ranks for one in found.models] == ["1", "2", "3", "4"]
    assert found.groups == tuple((one.model,) for one in found.models)
    assert found.models[0].chance_of_best == 1.0


def test_possible_ranks_widen_as_judgements_become_few() -> None:
    data = _plain(items=200)
    widths = []
    for budget in (20, 80, 200):
        chosen = sparingly.select(data, "random", budget, seed=3)
        found = rank(data, chosen, "overall", estimator="weighted_mean")
        widths.append(sum(one.worst_rank - one.best_rank for one in found.models))
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > widths[-1]


def test_the_top_of_a_list_is_ranked_on_its_own_items_and_says_so(demo: EvalSet) -> None:
    chosen = sparingly.select(demo, "metric_var:metric=learned", 60)
    found = rank(demo, chosen, "overall")
    assert found.target == "chosen"
    assert TOO_SURE in found.notes
    assert found.would_be_significant is None
    means = demo.aspects["overall"][demo.positions(chosen.items)].mean(axis=0)
    assert found.models[0].score == pytest.approx(means.max())


def test_cluster_weights_count_in_the_ranking(demo: EvalSet) -> None:
    chosen = sparingly.select(demo, "kmeans:weighted=true", 30)
    found = rank(demo, chosen, "overall")
    scores = demo.aspects["overall"][demo.positions(chosen.items)]
    assert chosen.cluster_weight is not None
    weighted = chosen.cluster_weight @ scores / chosen.cluster_weight.sum()
    by_name = {one.model: one.score for one in found.models}
    assert by_name == pytest.approx(dict(zip(demo.models, weighted.tolist(), strict=True)))


def test_published_rules_by_name() -> None:
    data = _plain()
    found = rank(data, aspect="overall", estimator="weighted_mean", groups_by="algorithm1")
    expected = significance_groups(data.aspects["overall"])
    assert found.groups == tuple(tuple(data.models[place] for place in group) for group in expected)
    other = rank(data, aspect="overall", estimator="weighted_mean", groups_by="mt_metrics_eval")
    assert len(other.groups) >= len(found.groups)
    tested = rank(data, aspect="overall", estimator="weighted_mean", test="wilcoxon")
    order = [data.models.index(one.model) for one in tested.models]
    two_sided = wilcoxon_tests(data.aspects["overall"]).two_sided
    np.testing.assert_allclose(tested.p_values, two_sided[np.ix_(order, order)])


def test_tests_without_weights_are_refused_where_chances_differ(demo: EvalSet) -> None:
    chosen = sparingly.select(demo, "pivotal:utility=(metric_var:metric=learned),tau=0.5", 80)
    with pytest.raises(UsageError, match="knows nothing of weights"):
        rank(demo, chosen, "overall", test="permutation")
    with pytest.raises(UsageError, match="algorithm1 knows nothing of weights"):
        rank(demo, chosen, "overall", groups_by="algorithm1")


def test_neither_the_order_of_items_nor_of_models_matters() -> None:
    data = _plain()
    scores = data.aspects["overall"]
    items, models = np.random.default_rng(2).permutation(80), [2, 0, 3, 1]
    shuffled = EvalSet.from_arrays(
        list(data.items[items]),
        [data.models[place] for place in models],
        aspects={"overall": scores[items][:, models]},
    )
    first, second = (rank(one, aspect="overall", estimator="weighted_mean") for one in (data, shuffled))
    assert first.to_dict()["models"] == second.to_dict()["models"]


def test_margins_from_a_ranking() -> None:
    data = _plain()
    found = rank(data, aspect="overall", estimator="weighted_mean")
    best, worst = found.models[0], found.models[-1]
    assert best.score is not None
    assert worst.score is not None
    answer = found.margin_test("superior", best.model, worst.model, 0.1)
    assert answer.shown
    assert answer.difference == pytest.approx(best.score - worst.score)
    assert not found.margin_test("non-inferior", worst.model, best.model, 0.1).shown
    with pytest.raises(UnknownNameError, match="m0"):
        found.margin_test("superior", "m00", "m1", 1.0)


def test_plain_arrays() -> None:
    found = rank_scores(np.array([70.0, 80.0, np.nan]), np.diag([1.0, 1.0, np.nan]), models=("a", "b", "c"))
    assert [one.model for one in found.models] == ["b", "a", "c"]
    assert found.models[2].score is None
    assert found.models[2].group is None
    assert found.headline == "3 models compared on score, from given scores"
    assert str(found).startswith("b has the highest score, but ") is False
    assert ">b</td>" in found._repr_html_()
    with pytest.raises(UsageError, match="2 names"):
        rank_scores(np.ones(3), np.eye(3), models=("a", "b"))


def test_wrong_choices_are_named() -> None:
    data = _plain()
    with pytest.raises(UnknownNameError, match="wilcoxon"):
        rank(data, aspect="overall", test="wilcoxn")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="decisions"):
        rank(data, aspect="overall", groups_by="decision")  # type: ignore[arg-type]


def test_a_constant_difference_of_few_items_is_no_proof() -> None:
    scores = np.random.default_rng(0).normal(size=(1000, 1)) + np.array([1.0, 0.0])
    data = EvalSet.from_arrays(
        [f"i{place:04d}" for place in range(1000)], ["a", "b"], aspects={"overall": scores}
    )
    drawn = sparingly.select(data, "uniform", 40)
    found = rank(data, drawn, "overall", estimator="weighted_mean")
    assert SAME_DIFFERENCES in found.notes
    assert [one.ranks for one in found.models] == ["1-2", "1-2"]
    assert found.p_values[0, 1] == 1.0
    assert found.models[0].chance_of_best is None
    assert not found.margin_test("superior", "a", "b", 0.5).shown
    whole = rank(data, None, "overall", estimator="weighted_mean", target="set")
    assert [one.ranks for one in whole.models] == ["1", "2"]


def test_only_the_models_that_a_selection_asks_for_are_ranked(demo: EvalSet) -> None:
    crowd = ["Rowan", "Birch"]
    chosen = sparingly.select(demo, "metric_var:metric=learned", 60, crowd=crowd)
    found = rank(demo, chosen, "overall")
    assert {one.model for one in found.models} == set(demo.models) - set(crowd)


def test_a_model_that_nobody_judged_is_named_and_spoils_nothing() -> None:
    data = _plain()
    scores = np.array(data.aspects["overall"])
    scores[:, 1] = np.nan
    part = EvalSet.from_arrays(list(data.items), list(data.models), aspects={"overall": scores})
    found = rank(part, None, "overall", estimator="weighted_mean", target="set")
    assert len(found.models) == 3
    assert found.notes[-1] == "not judged, so not ranked: m1."


def test_standardised_scores_have_mean_zero_under_unequal_chances(demo: EvalSet) -> None:
    drawn = sparingly.select(demo, "pivotal:utility=(metric_avg:metric=learned),tau=0.9", 100)
    found = rank(demo, drawn, "overall", estimator="weighted_mean")
    assert np.mean([one.standardised for one in found.models]) == pytest.approx(0.0, abs=1e-6)


def test_paired_tests_are_refused_for_separate_draws_and_importance(demo: EvalSet) -> None:
    apart = sparingly.select(demo, "snippets:kind=segment,matching=false", 60)
    with pytest.raises(UsageError, match="Every model has its own sample"):
        rank(demo, apart, "overall", test="wilcoxon")
    weighted = _plain().with_column("weight", np.arange(1.0, 81.0))
    with pytest.raises(UsageError, match="do not all count the same"):
        rank(weighted, None, "overall", groups_by="mt_metrics_eval")


def test_claims_are_about_two_models_drawn_by_chance(demo: EvalSet) -> None:
    found = rank(_plain(), aspect="overall", estimator="weighted_mean")
    with pytest.raises(UsageError, match="m1 and itself"):
        found.margin_test("superior", "m1", "m1", 1.0)
    top = rank(demo, sparingly.select(demo, "metric_var:metric=learned", 40), "overall")
    with pytest.raises(UsageError, match="known probabilities"):
        top.margin_test("non-inferior", "Rowan", "Birch", 1.0)


def test_units_are_whole_numbers_in_sentences() -> None:
    found = rank_scores(np.arange(3.0), np.eye(3), degrees=3.7)
    (note,) = found.notes
    assert note.startswith("with 4 judged units no difference among 3 models can be significant")
    pair = rank_scores(np.arange(2.0), np.eye(2), degrees=2.2)
    assert pair.notes[0].endswith("1 pair needs at least 6.")
    assert why_withheld(9.6, "judged items").startswith("9 judged items are too few")


def test_constant_models_with_rounding_as_their_error_are_not_decided() -> None:
    """Two constant models on 12 of 40 items once gave p = 1.9e-184, from the rounding of means."""
    raters = np.array([[0.1, 0.2, 0.3], [0.7, 0.1, 0.2]])
    scores = np.full((40, 2), np.nan)
    for row in range(12):
        # The order of the raters changes the last bits of their mean.
        scores[row] = np.roll(raters, row, axis=1).sum(axis=1) / 3
    assert scores[:12, 0].std() > 0
    data = EvalSet.from_arrays([f"i{row:02}" for row in range(40)], ["a", "b"], aspects={"q": scores})
    for target in ("set", "population", None):
        found = rank(data, target=target)
        assert np.nanmin(found.p_values) >= 2 * least_p(11)
        assert found.decisions.decided == 0
        assert all(one.chance_of_best is None for one in found.models)
    shown = sparingly.estimate(data)
    assert np.isnan(shown.low).all()
    assert sparingly.report(data, figures=False, curve=False).lead[0] == f"{rank(data).answer(code)}"
