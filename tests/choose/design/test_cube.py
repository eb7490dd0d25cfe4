from __future__ import annotations

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import MissingDataError, UnknownNameError, UsageError
from sparingly.choose.design.probability_design import Cube
from sparingly.data.evalset import EvalSet
from tests.choose.design.draws_data import made


def test_what_is_usually_balanced_is_settled_in_the_signature() -> None:
    data = made()
    chosen = sparingly.select(data, "cube", 30)
    assert "balance=[metric:" in chosen.signature.method
    assert "column:domain,source_length]" in chosen.signature.method
    assert sparingly.verify(chosen, data.with_metric("later", np.ones((60, 3)))).ok
    assert any(note == "balanced on 11 variables." for note in chosen.notes)


@pytest.mark.parametrize("seed", range(5))
def test_groups_get_their_share(seed: int) -> None:
    data = made()
    chosen = sparingly.select(data, "cube:balance=domain", 15, seed=seed)
    domains = data.columns["domain"][data.positions(chosen.items)].astype(str)
    assert np.unique(domains, return_counts=True)[1].tolist() == [5, 5, 5]


def test_weighted_totals_are_nearer_than_those_of_other_draws() -> None:
    data = made()
    scores = data.metrics["m"]

    def miss(text: str) -> float:
        errors = []
        for seed in range(30):
            chosen = sparingly.select(data, text, 30, seed=seed)
            assert chosen.weight is not None
            rows = data.positions(chosen.items)
            errors.append((scores[rows] * chosen.weight[:, None]).sum(axis=0) / scores.sum(axis=0) - 1)
        return float(np.sqrt(np.mean(np.square(errors))))

    utility = "utility=(metric_var:metric=m)"
    assert miss(f"cube:balance=m,{utility}") < 0.6 * miss(f"pivotal:{utility}")


def test_variables_are_one_groups_columns_and_scores() -> None:
    data = made()
    found = Cube(balance=("m", "domain", "mixed", "source_length")).balance_variables(data)
    assert found.shape == (60, 1 + 3 + 1 + 3 + 1)
    assert (found[:, 0] == 1).all()
    assert (found[:, 1:4].sum(axis=1) == 1).all()


def test_many_scores_are_balanced_by_their_means() -> None:
    models = [f"model {place}" for place in range(12)]
    drawn = np.random.default_rng(0)
    data = EvalSet.from_arrays(
        [f"i{place}" for place in range(40)],
        models,
        metrics={name: drawn.normal(size=(40, 12)) for name in ("a", "b")},
    )
    found = Cube(balance=("a", "b")).balance_variables(data)
    assert found.shape == (40, 3)
    np.testing.assert_allclose(found[:, 1], data.metrics["a"].mean(axis=1))


def test_many_variables_for_few_items_are_said() -> None:
    notes = sparingly.select(made(), "cube", 12).notes
    assert "balanced on 11 variables, loosely: they are many for 12 drawn units." in notes


def test_errors() -> None:
    data = made()
    with pytest.raises(UnknownNameError, match='no metric or column "domian"'):
        sparingly.select(data, "cube:balance=[domian]", 5)
    bare = EvalSet.from_arrays(["a", "b"], ["x"])
    with pytest.raises(MissingDataError, match="name columns with balance="):
        sparingly.select(bare, "cube", 1)
    many = data.with_column("name", [f"n{place}" for place in range(60)])
    with pytest.raises(UsageError, match='"column:name" has 60 groups, too many to balance on'):
        sparingly.select(many, "cube:balance=name", 5)
