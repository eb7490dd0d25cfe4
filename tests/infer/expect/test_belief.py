"""What is believed of pairs: labels speak when they are many, metrics only while they are trusted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sparingly.base.arrays import Floats
from sparingly.base.errors import UsageError
from sparingly.infer.expect.expect import Belief, BeliefPrior, believe

MODELS = 6
# What six models let the metrics count for at most.
SHARE = 5 / 9
ABILITY = np.array([-9.0, -5.0, -1.0, 2.0, 4.0, 9.0])
FIRST, SECOND = np.triu_indices(MODELS, 1)
TRUE = ABILITY[FIRST] - ABILITY[SECOND]
NOTHING = np.zeros(len(TRUE))


def belief(seen: Floats, told: Floats, noise: float, **more: Any) -> Belief:
    return believe(
        seen, told, np.full(len(seen), noise), models=MODELS, **{"within": 0.0, "scale": 1.0, **more}
    )


@pytest.mark.parametrize("told", [NOTHING, TRUE, -TRUE])
def test_without_noise_the_labels_alone_speak(told: Floats) -> None:
    found = belief(TRUE, told, 1e-9)
    np.testing.assert_allclose(found.z, TRUE, atol=1e-5)
    assert found.sd.max() < 1e-3
    assert found.label_weight == pytest.approx(1.0, abs=1e-5)


def test_without_metrics_there_is_no_trust_and_differences_shrink_alike() -> None:
    found = belief(TRUE, NOTHING, 40.0, within=0.9)
    assert found.trust == 0.0
    ratio = found.z / TRUE
    np.testing.assert_allclose(ratio, ratio[0])
    assert 0.0 < ratio[0] < 1.0


def test_metrics_fill_in_for_labels_that_are_few() -> None:
    good, none = (belief(NOTHING, told, 400.0, within=0.6) for told in (TRUE, NOTHING))
    assert np.abs(none.z).max() < 1e-9
    assert np.corrcoef(good.z, TRUE)[0, 1] > 0.99
    assert good.trust > 0.8 * SHARE


@pytest.mark.parametrize(("models", "share"), [(2, 0.2), (5, 0.5), (13, 0.75)])
def test_few_models_count_little_for_the_metrics(models: int, share: float) -> None:
    """Of M models, the belief with metrics has the share (M − 1)/(M + 3) beside the one without."""
    draw = np.random.default_rng(models)
    pairs = models * (models - 1) // 2
    seen, said, noise = draw.normal(0.0, 9.0, pairs), draw.normal(0.0, 3.0, pairs), np.full(pairs, 30.0)
    options: dict[str, Any] = {"models": models, "within": 0.4, "scale": 1.0}
    without = believe(seen, 0.0 * said, noise, **options)
    free = believe(seen, said, noise, **options, prior=BeliefPrior(doubt=0.0))
    mixed = believe(seen, said, noise, **options)
    np.testing.assert_allclose(mixed.z, share * free.z + (1.0 - share) * without.z)
    assert mixed.trust == pytest.approx(share * free.trust)
    second = share * (free.z**2 + free.sd**2) + (1.0 - share) * (without.z**2 + without.sd**2)
    np.testing.assert_allclose(mixed.sd, np.sqrt(second - mixed.z**2))


def test_a_hint_within_items_raises_the_trust() -> None:
    trusts = [belief(NOTHING, TRUE, 400.0, within=within).trust for within in (-0.5, 0.0, 0.3, 0.6)]
    assert trusts[0] == trusts[1] < trusts[2] < trusts[3]


def test_misleading_metrics_lose_trust_as_labels_come() -> None:
    """The metrics order the models the wrong way round, and within items they looked good."""
    found = [belief(TRUE, -TRUE, noise, within=0.5) for noise in (1000.0, 100.0, 20.0, 1.0)]
    trusts = [one.trust for one in found]
    assert trusts == sorted(trusts, reverse=True)
    assert trusts[0] > 0.7 * SHARE
    assert trusts[-1] < 0.0
    assert [one.label_weight for one in found] == sorted(one.label_weight for one in found)
    assert np.abs(found[-1].z - TRUE).max() < 1.0


def test_a_model_that_metrics_misjudge_is_believed_by_its_labels_and_the_others_by_metrics_too() -> None:
    """Metrics order twelve models nearly rightly, but see the best one, a person say, as the worst."""
    ability = np.linspace(-16.0, 17.0, 12)
    said_ability = ability + np.random.default_rng(3).normal(0.0, 1.0, 12)
    said_ability[11] = -16.0
    first, second = np.triu_indices(12, 1)
    true, said = (values[first] - values[second] for values in (ability, said_ability))
    noise = np.full(len(true), 50.0)

    def errors(tails: float) -> tuple[float, float]:
        found = believe(
            true, said, noise, models=12, within=0.5, scale=1.0, prior=BeliefPrior(tails=tails, doubt=0.0)
        )
        size = np.abs(found.z - true)
        return float(size[second == 11].mean()), float(size[second != 11].mean())

    heavy, light = errors(1.0), errors(np.inf)
    assert heavy[0] < 0.6 * light[0]
    assert heavy[1] < light[1]


def test_heavy_tails_help_where_metrics_misjudge_some_models_and_cost_little_elsewhere() -> None:
    """Errors of the belief over 150 draws, with an outlier among ten models and without."""
    draw, errors = np.random.default_rng(11), {}
    first, second = np.triu_indices(10, 1)
    for outlier in (0.0, 25.0):
        both = np.zeros(2)
        for _ in range(150):
            said = draw.normal(0.0, 8.0, 10)
            ability = said + draw.normal(0.0, 3.0, 10) + outlier * (np.arange(10) == 4)
            # Labels of a model have noise of variance 8, so that a pair's has 16.
            seen = ability + draw.normal(0.0, np.sqrt(8.0), 10)
            apart, told, true = (values[first] - values[second] for values in (seen, said, ability))
            for place, tails in enumerate((1.0, np.inf)):
                prior = BeliefPrior(tails=tails, doubt=0.0)
                options: dict[str, Any] = {"models": 10, "within": 0.5, "scale": 1.0, "prior": prior}
                found = believe(apart, told, np.full(45, 16.0), **options)
                both[place] += np.abs(found.z - true).mean()
        errors[outlier] = both[0] / both[1]
    assert errors[25.0] < 0.95
    assert errors[0.0] < 1.03


def test_the_size_of_what_metrics_say_does_not_matter() -> None:
    one, other = (belief(0.3 * TRUE, factor * TRUE, 50.0, within=0.2) for factor in (1.0, 70.0))
    np.testing.assert_allclose(one.z, other.z)
    assert one.trust == pytest.approx(other.trust)


def test_it_is_the_posterior_of_its_own_prior() -> None:
    """On pairs drawn from the belief itself, 90 % intervals hold in about 90 % (± 3 by 600 draws)."""
    draw, inside = np.random.default_rng(5), []
    noise = 30.0
    for _ in range(600):
        true = np.exp(draw.normal(np.log(8.0), 0.7)) * draw.normal(size=400)
        seen = true + np.sqrt(noise) * draw.normal(size=400)
        found = believe(seen, np.zeros(400), np.full(400, noise), models=400, within=0.0, scale=1.0)
        inside.append((np.abs(found.z - true) < 1.645 * found.sd).mean())
    assert np.mean(inside) == pytest.approx(0.9, abs=0.03)


def test_another_prior_can_be_given() -> None:
    usual = belief(TRUE, NOTHING, 50.0)
    narrow = belief(TRUE, NOTHING, 50.0, prior=BeliefPrior(distance=1.0, distance_sd=0.1))
    assert np.abs(narrow.z).max() < 0.2 * np.abs(usual.z).max()


def test_tails_are_checked() -> None:
    with pytest.raises(UsageError, match=r"greater than 0, not -1\.0"):
        BeliefPrior(tails=-1.0)
