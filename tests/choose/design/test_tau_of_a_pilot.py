"""``tau=pilot``: unequal probabilities as far as a pilot's ratings earn them."""

from __future__ import annotations

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import MissingDataError, UsageError
from sparingly.base.registry import describe_method, parse_method, registered
from sparingly.choose.design.probability import inclusion_probabilities, sizes_of
from sparingly.choose.design.probability_design import Pivotal
from sparingly.choose.utility.residual_size import ResidualSize
from sparingly.data.evalset import EvalSet
from sparingly.run.verify import Verification
from tests.choose.pilot_data import ITEMS, piloted

HONEST = "pivotal:utility=(residual_size),tau=pilot"


def tau_of(chosen: sparingly.Selection) -> float:
    method = parse_method(chosen.signature.method)
    assert isinstance(method, Pivotal)
    assert isinstance(method.tau, float | int)
    return float(method.tau)


def judged(data: EvalSet) -> list[str]:
    return list(data.items[~np.isnan(data.aspects["human"]).all(axis=1)])


def test_the_grammar() -> None:
    assert str(parse_method(HONEST)) == HONEST
    told = {part["name"]: part for part in describe_method(registered()["pivotal"])["parameters"]}
    assert told["tau"]["type"] == "number or pilot or none"
    with pytest.raises(UsageError, match="is a number, not"):
        parse_method("pivotal:utility=(metric_var),tau=pilots")


def test_probabilities_are_exactly_those_of_the_number_it_comes_to() -> None:
    data = piloted()
    chosen = sparingly.select(data, HONEST, 40, seed=2)
    tau = tau_of(chosen)
    assert tau >= 0.4
    utility = ResidualSize().resolve(data).values(data)
    expected = inclusion_probabilities(sizes_of(utility), 40, tau=tau)
    assert expected.sum() == pytest.approx(40)
    assert chosen.probability is not None
    np.testing.assert_allclose(chosen.probability, expected[data.positions(chosen.items)], rtol=1e-12)
    assert any(f"tau {tau:g} is what the pilot earned: on 80 judged items" in note for note in chosen.notes)
    assert chosen.notes[0].startswith(f"tau {tau:g}: inclusion probabilities lie between")


def test_items_are_drawn_as_often_as_their_probabilities_say() -> None:
    data = piloted(60)
    settled = sparingly.select(data, HONEST, 30).signature.method
    runs, count = 400, np.zeros(ITEMS)
    expected = np.zeros(ITEMS)
    for seed in range(runs):
        chosen = sparingly.select(data, settled, 30, seed=seed)
        rows = data.positions(chosen.items)
        count[rows] += 1
        expected[rows] = chosen.probability
    seen = expected > 0
    away = (count / runs - expected)[seen] / np.sqrt(expected * (1 - expected) / runs)[seen]
    assert np.abs(away).max() < 4.5
    assert np.mean(away**2) == pytest.approx(1.0, abs=0.35)


def test_it_can_be_verified_and_is_about_the_ratings() -> None:
    data = piloted()
    chosen = sparingly.select(data, HONEST, 40, never=judged(data))
    assert not set(chosen.items) & set(judged(data))
    assert sparingly.verify(chosen, data) == Verification(())
    other = piloted(81)
    assert sparingly.verify(chosen, other) != Verification(())


@pytest.mark.parametrize("design", ["systematic", "local_pivotal", "cube"])
def test_every_design_by_utility_takes_it(design: str) -> None:
    chosen = sparingly.select(piloted(), f"{design}:utility=(residual_size),tau=pilot", 40)
    assert chosen.has_unequal_weights
    assert any("is what the pilot earned" in note for note in chosen.notes)


def test_another_utility_is_judged_by_the_same_residuals() -> None:
    data = piloted()
    good = sparingly.select(data, "pivotal:utility=(metric_avg:metric=doubt),tau=pilot", 40)
    assert tau_of(good) == 0.0, "it prefers low scores, and here high ones are far off"
    bad = sparingly.select(data, "pivotal:utility=(metric_var:metric=quality),tau=pilot", 40)
    assert tau_of(bad) == 0.0
    assert "pilot=(residual_size:aspect=human" in bad.signature.method
    assert any("earns no unequal probabilities" in note for note in bad.notes)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (piloted(39), "too small to earn unequal probabilities: 39 judged items, not 40"),
        (piloted(telling=False), "within items, predictions and scores correlate by"),
        (piloted(known=False), "earns no unequal probabilities"),
    ],
)
def test_without_evidence_the_draw_is_uniform_and_says_so(data: EvalSet, said: str) -> None:
    chosen = sparingly.select(data, HONEST, 30)
    assert tau_of(chosen) == 0.0
    assert chosen.probability == pytest.approx([30 / ITEMS] * 30)
    assert any(said in note for note in chosen.notes)


def test_the_goal_and_importance_count() -> None:
    data = piloted()
    text = "pivotal:utility=(residual_size:goal=ranking),tau=pilot,weights=weight"
    chosen = sparingly.select(data, text, 40)
    assert "pilot=(residual_size:aspect=human,goal=ranking" in chosen.signature.method
    own = sparingly.select(data, f"{HONEST},pilot=(residual_size:goal=ranking)", 40)
    assert "utility=(residual_size:aspect=human,goal=scores" in own.signature.method
    assert "pilot=(residual_size:aspect=human,goal=ranking" in own.signature.method


def test_a_number_beside_a_pilot_is_kept_and_looked_at() -> None:
    chosen = sparingly.select(piloted(), "pivotal:utility=(residual_size),tau=0.2,pilot=(residual_size)", 40)
    assert tau_of(chosen) == 0.2
    assert any("tau 0.2 was given: on 80 judged items" in note for note in chosen.notes)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pivotal:tau=pilot", "tau=pilot has no effect"),
        ("pivotal:utility=(metric_var:metric=quality),pilot=(residual_size)", "only with tau=pilot: add it"),
        ("pivotal:utility=(residual_size),tau=pilot,pilot=(metric_var)", "is a residual_size"),
    ],
)
def test_what_makes_no_sense_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        sparingly.select(piloted(), text, 40)


def test_ratings_are_needed() -> None:
    with pytest.raises(MissingDataError):
        sparingly.select(piloted().without_labels(), HONEST, 40)
