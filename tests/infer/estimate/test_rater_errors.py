"""What raters add to the errors of scores, against sums written down by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import UsageError
from sparingly.data.synthetic import load_invented
from sparingly.infer.estimate.rater_effects import OTHER_RATERS, Severity, rater_covariance, severity
from tests.infer.estimate.test_severity import Row, rated_set


def known(data: sparingly.EvalSet, **variances: float) -> Severity:
    """The severity of a set with variances put in."""
    names = {"rater": "rater", "taste": "rater × model", "noise": "noise", "output": "item × model"}
    return replace(severity(data), variances={names[name]: value for name, value in variances.items()})


def judged(hands: dict[int, str], models: int = 2, seed: int = 0) -> sparingly.EvalSet:
    """Every item goes to the raters whose letters are given for it; all models."""
    random = np.random.default_rng(seed)
    rows: list[Row] = [
        (item, model, rater, float(random.normal()))
        for item, raters in hands.items()
        for rater in raters
        for model in range(models)
    ]
    return rated_set(rows, models)


def test_whole_set_by_hand() -> None:
    # Twelve items: a judges 6, b 3, c 1, and two items are shared by a and b.
    hands = {item: "aaaaaabbbc"[item] for item in range(10)} | {10: "ab", 11: "ab"}
    data = judged(hands)
    found = sparingly.estimate(data, target="set", estimator="weighted_mean")
    shares = np.array([7 / 12, 4 / 12, 1 / 12])
    severe = known(data, rater=2.0, taste=0.5, noise=0.3, output=0.1)
    added = rater_covariance(found, data, severe)
    noise = 0.3 * (10 + 4 * 0.25) / 144
    assert added[0, 1] == pytest.approx(2.0 * (shares**2).sum())
    assert added[0, 0] == pytest.approx(2.5 * (shares**2).sum() + noise)
    wider = sparingly.with_rater_errors(found, data, severe)
    assert found.intervals == ("exact", "exact")
    assert wider.intervals == ("t", "t")
    assert wider.standard_errors == pytest.approx(np.sqrt(np.diag(added)))
    assert wider.scores == pytest.approx(found.scores)
    # Severity cancels from the difference; tastes and noise stay.
    apart = wider.difference("m0", "m1")
    assert apart.standard_error == pytest.approx(np.sqrt(2 * (0.5 * (shares**2).sum() + noise)))
    assert OTHER_RATERS in wider.notes
    assert wider.signature is None


def test_noise_counts_only_where_it_can_be_told_from_outputs() -> None:
    data = judged({item: "ab"[item % 2] for item in range(12)})
    found = sparingly.estimate(data, target="set", estimator="weighted_mean")
    added = rater_covariance(found, data, known(data, rater=0.0, noise=5.0))
    assert added == pytest.approx(np.zeros((2, 2)))


def test_what_the_draw_counts_already_is_left_out() -> None:
    """A rater of one item only looks like the item itself: for inputs like these nothing is added."""
    data = judged({item: f"{chr(97 + item)}" for item in range(20)} | {20: "ab"})
    found = sparingly.estimate(data, target="population", estimator="weighted_mean")
    added = rater_covariance(found, data, known(data, rater=1.0))
    # Only a and b judged two items: 2 raters × 2 cross terms, 1/21 · 1/42 each.
    assert added[0, 0] == pytest.approx(2 * 2 * (1 / 21) * (1 / 42))


def test_a_drawn_part_of_the_set() -> None:
    data = judged({item: "abcd"[item % 4] for item in range(40)})
    chosen = sparingly.select(data, "random", 20, seed=1)
    found = sparingly.estimate(data, chosen, target="set", estimator="weighted_mean")
    added = rater_covariance(found, data, known(data, rater=1.0))
    raters = np.array([int(item[1:]) % 4 for item in chosen.items])
    share = np.bincount(raters, minlength=4) / 20
    assert added[0, 0] == pytest.approx((share**2).sum() - 0.5 * 20 / 20**2)


def test_halves_of_intervals_add_up_as_squares() -> None:
    from scipy import stats

    data = judged({item: "abcdef"[item % 6] for item in range(240)})
    chosen = sparingly.select(data, "random", 120, seed=1)
    found = sparingly.estimate(data, chosen, target="set", estimator="weighted_mean")
    severe = known(data, rater=1.0)
    wider = sparingly.with_rater_errors(found, data, severe)
    added = np.diag(rater_covariance(found, data, severe))
    half = stats.t.ppf(0.975, 5) * np.sqrt(added)
    assert wider.high - wider.scores == pytest.approx(np.hypot(found.high - found.scores, half))
    assert (wider.low < found.low).all()
    assert 0 < wider.freedom < np.inf


@pytest.mark.parametrize("passes", [False, True])
@pytest.mark.parametrize("part", [False, True])
def test_p_values_say_what_intervals_say(passes: bool, part: bool) -> None:
    hands = {item: "abcd"[item % 4] for item in range(80)}
    wide = 0
    for seed in range(8):
        data = judged(hands, seed=seed)
        scores = data.aspects["overall"] + [0.0, 0.7]
        moved = data.with_parts(aspects={"overall": (scores > 0).astype(float) if passes else scores})
        chosen = sparingly.select(moved, "random", 40, seed=seed) if part else None
        found = sparingly.estimate(moved, chosen, "overall", target="set", estimator="weighted_mean")
        # Three degrees of freedom: what is significant for these raters is not for raters like these.
        severe = known(data, rater=0.5, taste=0.1, noise=0.0, output=0.0)
        wider = sparingly.with_rater_errors(found, moved, severe)
        apart, p = wider.difference("m0", "m1"), float(wider.pair_p_values()[0, 1])
        # Near the limit the two may differ: a test adds degrees of freedom up, an interval halves.
        if not 0.02 < p < 0.1:
            assert (p < 0.05) == (apart.low > 0 or apart.high < 0)
        wide += p > 0.1
    assert wide


def test_groups_are_widened_too() -> None:
    data = load_invented()
    chosen = sparingly.select(data, "random", 160, seed=1)
    found = sparingly.estimate(data, chosen, "overall", by="domain")
    wider = sparingly.with_rater_errors(found, data)
    for name, group in wider.groups.items():
        assert (group.standard_errors > found.groups[name].standard_errors).all()


def test_judgements_of_unknown_raters_are_said() -> None:
    random = np.random.default_rng(0)
    rows: list[Row] = [
        (item, model, "" if item < 5 else "ab"[item % 2], float(random.normal()))
        for item in range(20)
        for model in range(2)
    ]
    data = rated_set(rows)
    wider = sparingly.with_rater_errors(sparingly.estimate(data, estimator="weighted_mean"), data)
    assert any("25% of the judgements do not say who gave them" in note for note in wider.notes)


def test_one_rater_adds_nothing_and_says_so() -> None:
    data = judged(dict.fromkeys(range(12), "a"))
    found = sparingly.estimate(data, estimator="weighted_mean")
    wider = sparingly.with_rater_errors(found, data)
    assert wider.standard_errors == pytest.approx(found.standard_errors)
    assert any("only one rater" in note for note in wider.notes)


def test_errors_that_are_not_there_cannot_grow(tmp_path: Path) -> None:
    data = load_invented()
    top = sparingly.select(data, "metric_var:metric=learned", 40)
    with pytest.raises(UsageError, match="scores of the chosen items only"):
        sparingly.with_rater_errors(sparingly.estimate(data, top, "overall"), data)
    sparingly.estimate(data, aspect="overall").save(tmp_path / "scores.json")
    with pytest.raises(UsageError, match="read from a file"):
        rater_covariance(sparingly.Estimate.load(tmp_path / "scores.json"), data)
    few = sparingly.estimate(data.take(models=data.models[:3]), aspect="overall")
    with pytest.raises(UsageError, match="other models"):
        sparingly.with_rater_errors(few, data)
