from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

import sparingly
from sparingly.base.errors import DataError, UnknownNameError, UsageError
from sparingly.data.selection import RANKING_ONLY
from sparingly.data.synthetic import load_invented
from sparingly.infer.estimate.estimate import IMPORTANCE, WITHOUT_NEVER, estimate
from sparingly.infer.estimate.intervals import Interval
from sparingly.infer.estimate.sample import ASSUMED
from tests.infer.estimate.sets import judged_set

DATA = load_invented()
TRUTH = DATA.aspects["overall"]
PLAIN = "weighted_mean"
KINDS: tuple[Interval, ...] = ("auto", "betting")


def test_a_uniform_sample_by_hand() -> None:
    chosen = sparingly.select(DATA, "uniform", 120, seed=3)
    rows = DATA.positions(chosen.items)
    found = estimate(DATA, chosen, "overall", estimator=PLAIN)
    assert found.scores == pytest.approx(TRUTH[rows].mean(axis=0))
    assert found.covariance == pytest.approx(0.5 * np.cov(TRUTH[rows].T) / 120)
    assert found.target_text == "this set of 240 items"
    assert (found.n, found.size, found.freedom) == (120, 240, 119.0)


def test_everything_judged_is_the_mean_without_error_for_the_set_but_not_for_the_population() -> None:
    found = estimate(DATA, None, "overall", estimator=PLAIN)
    assert found.scores == pytest.approx(TRUTH.mean(axis=0))
    assert not found.covariance.any()
    assert set(found.intervals) == {"exact"}
    assert found.low.tolist() == found.scores.tolist()
    wider = estimate(DATA, None, "overall", estimator=PLAIN, target="population")
    assert (wider.standard_errors > 0).all()
    assert wider.target_text == "inputs like these"


def test_judged_items_without_a_selection_are_said_to_be_assumed_uniform() -> None:
    some = DATA.with_aspect("some", np.where(np.arange(240)[:, None] < 100, TRUTH, np.nan))
    assert ASSUMED in estimate(some, None, "some", estimator=PLAIN).notes


def test_the_top_of_a_list_gives_scores_of_the_chosen_items_only() -> None:
    chosen = sparingly.select(DATA, "metric_var:metric=learned", 50)
    found = estimate(DATA, chosen, "overall")
    assert found.scores == pytest.approx(TRUTH[DATA.positions(chosen.items)].mean(axis=0))
    assert found.notes == (RANKING_ONLY,)
    assert (found.target, found.target_text) == ("chosen", "the chosen items")
    assert "|target:chosen|level:0.95|interval:none|" in str(found.signature)
    assert found.outcome.withheld == 8
    assert np.isnan(found.low).all()
    assert np.isnan(found.covariance).all()
    assert np.isnan(found.differences()[0].low)
    with pytest.raises(UsageError, match="Without inclusion probabilities"):
        found.full_set_p()
    weighed = sparingly.select(DATA, "kmeans:weighted=true", 50)
    assert weighed.cluster_weight is not None
    by_cluster = estimate(DATA, weighed, "overall")
    rows = DATA.positions(weighed.items)
    expected = weighed.cluster_weight @ TRUTH[rows] / weighed.cluster_weight.sum()
    assert by_cluster.scores == pytest.approx(expected)


def test_combinations_of_aspects_are_aspects() -> None:
    chosen = sparingly.select(DATA, "uniform", 120, seed=3)
    found = estimate(DATA, chosen, "mean:of=[overall,fluency]", estimator=PLAIN)
    parts = [estimate(DATA, chosen, name, estimator=PLAIN).scores for name in ("overall", "fluency")]
    assert found.scores == pytest.approx(np.mean(parts, axis=0))
    assert found.aspect == "mean:of=[overall,fluency]"


def test_groups_of_a_column() -> None:
    chosen = sparingly.select(DATA, "uniform", 120, seed=3)
    found = estimate(DATA, chosen, "overall", estimator=PLAIN, by="domain")
    domains = DATA.columns["domain"]
    rows = DATA.positions(chosen.items)
    assert list(found.groups) == sorted(set(domains))
    for name, group in found.groups.items():
        inside = rows[domains[rows] == name]
        assert group.scores == pytest.approx(TRUTH[inside].mean(axis=0))
        assert (group.n, group.size) == (len(inside), int((domains == name).sum()))
    share = {name: group.size / 240 for name, group in found.groups.items()}
    everything = estimate(DATA, None, "overall", estimator=PLAIN, by="domain")
    total = sum(share[name] * group.scores for name, group in everything.groups.items())
    assert total == pytest.approx(TRUTH.mean(axis=0))
    with pytest.raises(UnknownNameError, match='no column "topic"'):
        estimate(DATA, chosen, "overall", by="topic")


def test_importance_and_items_never_chosen_are_said() -> None:
    data = judged_set(60, weight=np.arange(1.0, 61.0))
    found = estimate(data, None, "truth", estimator=PLAIN)
    weights = data.columns["weight"]
    assert found.scores == pytest.approx(weights @ data.aspects["truth"] / weights.sum())
    assert IMPORTANCE in found.notes
    chosen = sparingly.select(DATA, "uniform", 100, never=DATA.items[:40])
    without = estimate(DATA, chosen, "overall", estimator=PLAIN)
    assert WITHOUT_NEVER in without.notes
    assert without.size == 200


def test_the_aspect_may_be_left_out_when_there_is_one() -> None:
    assert estimate(judged_set(60), estimator=PLAIN).aspect == "truth"
    with pytest.raises(UsageError, match="There are 2 aspects: overall, fluency"):
        estimate(DATA, estimator=PLAIN)
    with pytest.raises(UnknownNameError, match="Did you mean overall"):
        estimate(DATA, None, "overal", estimator=PLAIN)


def test_methods_of_other_kinds_do_not_estimate() -> None:
    with pytest.raises(UsageError, match="The selector random does not estimate scores"):
        estimate(DATA, None, "overall", estimator="random")
    with pytest.raises(UnknownNameError, match="weighted_mean"):
        estimate(DATA, None, "overall", estimator="weigthed_mean")


def test_bounds_from_the_scale() -> None:
    chosen = sparingly.select(DATA, "uniform", 120, seed=3)
    ends = {}
    kinds: tuple[Interval, ...] = ("betting", "hoeffding", "bernstein")
    for kind in kinds:
        found = estimate(DATA, chosen, "overall", estimator=PLAIN, interval=kind, scale=(0.0, 100.0))
        assert set(found.intervals) == {kind}
        ends[kind] = (found.high - found.low).mean()
    assert ends["betting"] < ends["hoeffding"] < ends["bernstein"]
    few = estimate(DATA, sparingly.select(DATA, "uniform", 8), "overall", estimator=PLAIN, scale=(0.0, 100.0))
    assert set(few.intervals) == {"betting"}
    documents = sparingly.select(DATA, "uniform:unit=document", 60, seed=1)
    with pytest.raises(UsageError, match="uniform sample of single items"):
        estimate(DATA, documents, "overall", estimator=PLAIN, interval="betting", scale=(0.0, 100.0))


def test_signature_tells_everything_that_it_hangs_on() -> None:
    chosen = sparingly.select(DATA, "uniform", 120, seed=3)
    found = estimate(DATA, chosen, "overall", estimator=PLAIN)
    line = str(found.signature)
    assert line.startswith(
        "weighted_mean:form=hajek|aspect:overall|target:set|level:0.95|interval:auto|scale:none|by:none|seed:0"
    )
    assert f"selection:[{chosen.signature}]" in line
    again = estimate(DATA, chosen, "overall", estimator=PLAIN)
    assert again.signature == found.signature
    changed = DATA.with_aspect("overall", TRUTH + 1.0)
    other = estimate(changed, chosen, "overall", estimator=PLAIN).signature
    assert other is not None
    assert found.signature is not None
    assert other.labels != found.signature.labels
    assert other.inputs == found.signature.inputs


def test_what_the_top_of_a_list_cannot_have_is_named() -> None:
    chosen = sparingly.select(DATA, "metric_var:metric=learned", 50)
    found = estimate(DATA, chosen, "overall", estimator="greg", interval="t", by="domain")
    assert found.notes[1:] == (
        "ignored, because they need inclusion probabilities: estimator=greg, interval=t, by=domain.",
    )
    assert estimate(DATA, chosen, "overall", estimator="mean", interval="none").notes == (RANKING_ONLY,)
    with pytest.raises(UnknownNameError, match="weighted_mean"):
        estimate(DATA, chosen, "overall", estimator="weigthed_mean")


@pytest.mark.parametrize("aspect", ["good", "metric:good"])
@pytest.mark.parametrize("estimator", ["greg", "control_variate:variate=several"])
def test_a_metric_that_is_the_truth_does_not_predict_itself(aspect: str, estimator: str) -> None:
    data = judged_set(120)
    chosen = sparingly.select(data, "uniform", 60, seed=1)
    found = estimate(data, chosen, aspect, estimator=estimator)
    without = data.only(name for name in data.fields if name != "metric:good")
    aside = without.with_aspect("judged", data.metrics["good"])
    assert found.scores == pytest.approx(estimate(aside, chosen, "judged", estimator=estimator).scores)
    assert (found.standard_errors > 0.01).all()
    with pytest.raises(UnknownNameError, match="good"):
        estimate(data, chosen, aspect, estimator="control_variate:metric=good")


def test_below_ten_units_no_error_is_told_unless_one_insists() -> None:
    chosen = sparingly.select(DATA, "uniform", 9, seed=1)
    for interval in (*KINDS, "none"):
        found = estimate(DATA, chosen, "overall", estimator=PLAIN, interval=interval, scale=(0.0, 100.0))
        assert np.isnan(found.standard_errors).all()
        assert np.isnan(found.covariance).all()
        assert np.isnan(found.differences()[0].standard_error)
    assert found.notes == (
        "no standard errors: 9 drawn units are too few to learn an error from, 10 are needed.",
    )
    insisted = estimate(DATA, chosen, "overall", estimator=PLAIN, interval="t")
    assert np.isfinite(insisted.standard_errors).all()
    everything = estimate(DATA.at(np.arange(9)), None, "overall", estimator=PLAIN)
    assert not everything.standard_errors.any()


def test_notes_of_groups_are_kept_and_told() -> None:
    data = judged_set(120, part=["large"] * 105 + ["small"] * 15)
    chosen = sparingly.select(data, "uniform", 60, seed=1)
    found = estimate(data, chosen, "truth", estimator=PLAIN, by="part")
    small = found.groups["small"]
    assert small.n < 10
    assert small.outcome.withheld == 3
    assert any("too few to learn an error from" in note for note in small.notes)
    lines = str(found).splitlines()
    start = lines.index(f"small: {small.n} of 15 items judged")
    assert lines[start + 4] == f"note: {small.notes[0]}"


def test_full_set_p_of_groups_is_that_of_the_group_alone() -> None:
    chosen = sparingly.select(DATA, "uniform", 160, seed=3)
    domains = DATA.columns["domain"]
    rows = DATA.positions(chosen.items)
    name = max(set(domains), key=lambda label: int((domains[rows] == label).sum()))
    inside = rows[domains[rows] == name]
    assert len(inside) >= 30
    group = estimate(DATA, chosen, "overall", estimator=PLAIN, by="domain").groups[name]
    apart = TRUTH[inside, 0] - TRUTH[inside, 1]
    z = apart.mean() * np.sqrt((domains == name).sum()) / apart.std(ddof=1)
    assert group.full_set_p(shrink=False)[0] == pytest.approx(norm.sf(z))


def test_full_set_p_of_a_fully_judged_set_is_its_own_whatever_the_target() -> None:
    found = estimate(DATA, None, "overall", estimator=PLAIN, target="population")
    first, second = np.triu_indices(8, 1)
    apart = TRUTH[:, first] - TRUTH[:, second]
    z = apart.mean(axis=0) * np.sqrt(240) / apart.std(axis=0, ddof=1)
    assert np.abs(z).min() < 2.0
    assert found.full_set_p() == pytest.approx(norm.sf(z))


def test_full_set_p_needs_thirty_items_of_both_models() -> None:
    seen = TRUTH.copy()
    seen[29:, 0] = np.nan
    found = estimate(DATA.with_aspect("some", seen), None, "some", estimator=PLAIN).full_set_p(shrink=False)
    assert np.isnan(found[:7]).all()
    assert np.isfinite(found[7:]).all()


def test_a_model_that_nobody_judged_leaves_the_others_certain() -> None:
    seen = TRUTH.copy()
    seen[:, 1] = np.nan
    found = estimate(DATA.with_aspect("some", seen), None, "some", estimator=PLAIN)
    assert found.intervals == ("exact", "none", *("exact",) * 6)
    assert (found.outcome.printed, found.outcome.withheld) == (7, 1)
    assert not np.delete(found.standard_errors, 1).any()
    assert np.isnan(found.standard_errors[1])


def test_a_selection_from_another_set_is_refused() -> None:
    data = load_invented()
    part = data.take(items=data.items[:120])
    drawn = sparingly.select(part, "uniform", 60)
    with pytest.raises(DataError, match="drawn from 120 items, and this set has 240"):
        sparingly.estimate(data, drawn, "overall")
    twice = sparingly.select(data, "uniform", 40, pool=sparingly.select(data, "uniform", 80))
    assert sparingly.estimate(data, twice, "overall").n == 40
