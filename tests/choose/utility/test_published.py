"""Utilities of every item against those of the published package, on data sets beside the checkout."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.choose import MetricAvg, MetricCons, MetricVar
from sparingly.data.evalset import EvalSet

pytestmark = pytest.mark.shared_data

UTILITIES = {
    "metric_avg": MetricAvg(),
    "metric_var": MetricVar(),
    "metric_cons_kendall_c": MetricCons(correlation="kendall"),
}


@pytest.fixture(params=["wmt23_ende", "summeval_llm12"])
def published(
    request: pytest.FixtureRequest, shared_data: Path, shared_checks: Path
) -> tuple[EvalSet, dict[str, Any]]:
    """A data set with its published metric alone, and the other package's answers on it."""
    text = (shared_checks / "subset2evaluate_1.0.27.json").read_text(encoding="utf-8")
    answers = json.loads(text)[request.param]
    whole = sparingly.load(shared_data / f"{request.param}.jsonl.gz")
    # The answers are of the items on which no model lacks a score.
    return whole.take(items=answers["items"]).only({f"metric:{answers['metric']}"}), answers


@pytest.mark.parametrize("name", UTILITIES)
def test_utilities_are_the_published_ones(name: str, published: tuple[EvalSet, dict[str, Any]]) -> None:
    data, answers = published
    found = UTILITIES[name].resolve(data).values(data)[data.positions(answers["items"])]
    np.testing.assert_allclose(found, answers["utilities"][name], rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", UTILITIES)
def test_top_of_the_list_is_as_good_as_the_published_one(
    name: str, published: tuple[EvalSet, dict[str, Any]]
) -> None:
    data, answers = published
    theirs = answers["agreement"][f"{name}@0.1"]["items"]
    ours = sparingly.select(data, UTILITIES[name], "10%")
    utility = dict(zip(answers["items"], answers["utilities"][name], strict=True))
    # Ties are settled differently, so the utilities are compared and not the ids.
    np.testing.assert_allclose(
        [utility[item] for item in ours.items], [utility[item] for item in theirs], rtol=0, atol=1e-6
    )
