"""``waves``: sizes, chances, estimates for both targets, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import UsageError
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.data.synthetic import load_invented
from sparingly.run.rounds.next_round import next_round, state_of
from sparingly.run.rounds.replay import replay
from sparingly.run.rounds.strategy import Finished


def rounds_of(data: EvalSet, text: str, budget: int | str, **more: int) -> list[Selection]:
    return list(list(replay(data, text, budget, truth="overall", seed=4, **more))[-1].state.rounds)


@pytest.fixture(scope="module")
def demo() -> EvalSet:
    return load_invented()


def test_pilot_and_waves_have_their_planned_sizes(demo: EvalSet) -> None:
    assert [len(one) for one in rounds_of(demo, "waves:regressor=none", 100)] == [30, 24, 23, 23]
    assert [len(one) for one in rounds_of(demo, "waves:regressor=none,waves=1", 60)] == [60]
    assert [len(one) for one in rounds_of(demo, "waves:regressor=none,pilot=0.25,waves=2", 80)] == [20, 60]
    assert [len(one) for one in rounds_of(demo, "waves:regressor=none", 50, size=20)] == [20, 20, 10]


def test_without_a_regressor_it_is_simple_random_sampling(demo: EvalSet) -> None:
    look = list(replay(demo, "waves:regressor=none", 100, truth="overall", seed=4))[-1]
    rows = look.state.asked.any(axis=1)
    found = look.strategy.estimate(look.state)
    np.testing.assert_allclose(found.scores, demo.aspects["overall"][rows].mean(axis=0), atol=1e-9)
    covariance = np.cov(demo.aspects["overall"][rows].T) * (1 / 100 - 1 / 240)
    np.testing.assert_allclose(np.diag(found.covariance), np.diag(covariance), rtol=0.25)
    for number, one in enumerate(look.state.rounds):
        asked = sum(len(earlier) for earlier in look.state.rounds[:number])
        assert one.probability == pytest.approx(np.full(len(one), len(one) / (240 - asked)))


def test_given_tau_draws_by_size_and_says_so(demo: EvalSet) -> None:
    rounds = rounds_of(demo, "waves:tau=0.6,waves=2", 120)
    assert not rounds[0].has_unequal_weights
    assert rounds[0].utility is None
    assert rounds[1].has_unequal_weights
    assert rounds[1].utility is not None
    order = np.argsort(rounds[1].utility)
    assert (np.diff(rounds[1].probability[order]) >= -1e-12).all()  # type: ignore[index]
    assert "wave 2" in rounds[1].reason
    assert any("among what no earlier wave drew" in note for note in rounds[1].notes)


def test_population_has_a_larger_error_than_the_set(demo: EvalSet) -> None:
    look = list(replay(demo, "waves", 120, truth="overall", seed=1))[-1]
    small, large = (look.strategy.estimate(look.state, target=target) for target in ("set", "population"))
    np.testing.assert_allclose(small.scores, large.scores)
    assert (large.standard_errors > small.standard_errors).all()
    assert large.target == "population"
    assert large.freedom <= len(set(demo.columns["document"])) - 1


def test_judging_everything_is_exact(demo: EvalSet) -> None:
    look = list(replay(demo, "waves:regressor=none", "100%", truth="overall", seed=1))[-1]
    found = look.strategy.estimate(look.state)
    np.testing.assert_allclose(found.scores, demo.aspects["overall"].mean(axis=0), rtol=1e-12)
    assert set(found.intervals) == {"exact"}
    beyond = look.strategy.estimate(look.state, target="population")
    assert (beyond.standard_errors > 0).all()


def test_population_errors_are_those_of_estimate_without_documents() -> None:
    draw = np.random.default_rng(2)
    data = EvalSet.from_arrays(
        [f"i{row:03d}" for row in range(200)], ["a", "b", "c"], aspects={"y": draw.normal(size=(200, 3))}
    )
    look = list(replay(data, "waves:regressor=none,waves=1", 80, truth="y", seed=5))[-1]
    ours = look.strategy.estimate(look.state, target="population")
    known = sparingly.estimate(
        data, look.state.rounds[0], "y", estimator="weighted_mean", target="population"
    )
    np.testing.assert_allclose(ours.covariance, known.covariance, rtol=1e-9)
    assert ours.freedom == known.freedom


def test_documents_and_weights_count_as_in_estimate() -> None:
    draw = np.random.default_rng(2)
    document = np.repeat(np.arange(40), 5)
    scores = draw.normal(size=(200, 2)) + draw.normal(size=(40, 2))[document]
    data = EvalSet.from_arrays(
        [f"i{row:03d}" for row in range(200)],
        ["a", "b"],
        aspects={"y": scores},
        columns={"document": [f"d{code}" for code in document], "weight": list(1.0 + document % 3)},
    )
    look = list(replay(data, "waves:regressor=none,waves=1", 120, truth="y", seed=5))[-1]
    ours = look.strategy.estimate(look.state, target="population")
    known = sparingly.estimate(
        data,
        look.state.rounds[0],
        "y",
        estimator="weighted_mean:form=horvitz_thompson",
        target="population",
    )
    np.testing.assert_allclose(ours.scores, known.scores, rtol=0.02)
    np.testing.assert_allclose(np.diag(ours.covariance), np.diag(known.covariance), rtol=0.3)


def test_differences_and_signature_are_there(demo: EvalSet) -> None:
    look = list(replay(demo, "waves", 100, truth="overall", seed=1))[-1]
    found = look.strategy.estimate(look.state)
    pair = found.difference("Rowan", "Birch")
    assert pair.standard_error > 0
    assert pair.low < pair.difference < pair.high
    assert found.full_set_p().shape == (28,)
    assert found.signature is not None
    assert "waves" in str(found.signature)
    assert found.n == 100


def test_missing_answers_are_said(demo: EvalSet) -> None:
    first = next_round(demo, "waves:regressor=none", 60, aspect="overall", seed=2)
    assert isinstance(first, Selection)
    seen = demo.aspects["overall"].copy()
    seen[demo.positions(first.items)[:4], 0] = np.nan
    gappy = demo.with_aspect("overall", seen)
    state, made = state_of(
        gappy, "waves:regressor=none", 60, aspect="overall", rounds=[first], seed=2, all_fields=True
    )
    found = made.estimate(state)
    assert any("4 outputs drawn but not judged" in note for note in found.notes)
    assert found.scores[0] == pytest.approx(np.nanmean(seen[demo.positions(first.items), 0]))


def test_finished_when_the_budget_is_spent(demo: EvalSet) -> None:
    look = list(replay(demo, "waves:regressor=none", 40, truth="overall", seed=1))[-1]
    assert look.finished == Finished("the budget is spent.")
    assert look.state.left == 0


@pytest.mark.parametrize(
    ("text", "budget", "message"),
    [
        ("waves:pilot=0", 20, "pilot is a share"),
        ("waves:tau=1", 20, "tau is a share"),
        ("waves", "cost:20", "counts items"),
    ],
)
def test_what_cannot_be_is_refused(demo: EvalSet, text: str, budget: int | str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        next_round(demo, text, budget, aspect="overall")


def test_own_estimators_are_refused(demo: EvalSet) -> None:
    look = next(iter(replay(demo, "waves:regressor=none", 60, truth="overall")))
    for more in ({"estimator": "greg"}, {"by": "domain"}):
        with pytest.raises(UsageError, match="in its own way"):
            look.strategy.estimate(look.state, **more)


def test_spread_draws_need_metrics(demo: EvalSet) -> None:
    bare = demo.only(name for name in demo.fields if not name.startswith("metric:"))
    with pytest.raises(UsageError, match="draw=pivotal"):
        next_round(bare, "waves:draw=local_pivotal", 30, aspect="overall")
