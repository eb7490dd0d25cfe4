from __future__ import annotations

import json

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.base.rng import seed_list
from sparingly.data.evalset import EvalSet
from sparingly.data.synthetic import load_invented
from sparingly.infer.rank.compare import stability


def test_random_draws_of_everything_change_nothing() -> None:
    result = sparingly.draws(load_invented(), "random", "100%", "overall", runs=3, share=1.0)
    assert result.stability.changed_share == 0.0
    assert result.success.rate == 1.0
    assert result.success.bias == pytest.approx(0.0)


def test_runs_differ_also_for_a_method_without_randomness() -> None:
    result = sparingly.draws(load_invented(), "metric_var:metric=learned", 12, "overall", runs=6)
    assert len(result.stability.changes) == 6
    assert result.stability.draws_differ
    assert result.method == "metric_var:metric=learned"


def test_small_random_draws_are_less_stable_than_large_ones() -> None:
    data = load_invented()
    small, large = (sparingly.draws(data, "random", n, "overall", runs=20, share=1.0) for n in (8, 160))
    assert small.success.rate < large.success.rate
    assert small.stability.median > large.stability.median


def test_same_seed_same_answer() -> None:
    data = load_invented()
    first, again, other = (
        sparingly.draws(data, "random", 20, "overall", runs=4, seed=seed) for seed in (1, 1, 2)
    )
    assert first.to_dict() == again.to_dict() != other.to_dict()
    assert json.loads(json.dumps(first.to_dict(), allow_nan=False))["budget"] == "20"


def test_unknown_truth_is_named() -> None:
    with pytest.raises(UnknownNameError, match=r'"overal"\. Did you mean overall'):
        sparingly.draws(load_invented(), "random", 20, "overal")


def test_models_with_draws_of_their_own_are_ranked_by_these() -> None:
    data = load_invented()
    method = "snippets:kind=document,matching={}"
    together, apart = (
        sparingly.draws(data, method.format(one), "30%", "overall", runs=13, share=1.0)
        for one in ("true", "false")
    )
    assert together.notes == ()
    assert apart.notes[0].startswith("models are judged on items of their own")
    # What all share cancels from differences only where all have the same documents.
    assert apart.stability.median > together.stability.median
    assert apart.success.rate < together.success.rate


def test_one_run_by_hand() -> None:
    data = load_invented()
    method = "snippets:kind=segment,matching=false"
    found = sparingly.draws(data, method, 60, "overall", runs=1, share=1.0, seed=3)
    chosen = sparingly.select(data, method, 60, seed=seed_list(3, 1, "draws")[0])
    assert chosen.models is not None
    scores = data.truth("overall")
    means = []
    for place, name in enumerate(data.models):
        own = [item for item, (model,) in zip(chosen.items, chosen.models, strict=True) if model == name]
        assert len(own) == 60
        means.append(scores[data.positions(own), place].mean())
    assert found.stability == stability(np.array([means]), scores.mean(axis=0))


def test_unequal_probabilities_are_weighed() -> None:
    data = EvalSet.from_arrays(
        [f"a{place:02d}" for place in range(80)] + [f"b{place:02d}" for place in range(20)],
        ["m", "n"],
        aspects={"y": np.repeat([[1.0, 2.0], [11.0, 10.0]], [80, 20], axis=0)},
        columns={"domain": ["A"] * 80 + ["B"] * 20},
    )
    found = sparingly.draws(data, "random:balance=domain", 20, "y", runs=3, share=1.0)
    # Unweighed the two halves would tie; the whole set prefers n.
    assert found.stability.changed_share == 0.0


def test_no_run_is_refused() -> None:
    with pytest.raises(UsageError, match="Draws need at least one run"):
        sparingly.draws(load_invented(), "random", 20, "overall", runs=0)
