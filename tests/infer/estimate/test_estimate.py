from __future__ import annotations

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.data.selection import RANKING_ONLY
from sparingly.infer.estimate.drawn import ASSUMED
from sparingly.infer.estimate.estimate import IMPORTANCE, NEVER, estimate
from sparingly.infer.estimate.intervals import Interval
from tests.infer.estimate.sets import judged_set

DATA = sparingly.load_demo()
TRUTH = DATA.aspects["overall"]
PLAIN = "weighted_mean"


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
    assert NEVER in without.notes
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
        "weighted_mean:form=hajek|aspect:overall|target:set|level:0.95|interval:auto|seed:0"
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
