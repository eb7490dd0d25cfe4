from __future__ import annotations

import numpy as np
import pytest

from sparingly.choose.design.space import metric_points, principal, text_points
from sparingly.data.evalset import EvalSet


def test_principal_directions_keep_distances_as_well_as_they_can() -> None:
    drawn = np.random.default_rng(0)
    flat = drawn.normal(size=(50, 2)) @ drawn.normal(size=(2, 6)) + 3.0
    found = principal(flat, 2)
    gaps = np.linalg.norm(flat[:, None] - flat, axis=2)
    np.testing.assert_allclose(np.linalg.norm(found[:, None] - found, axis=2), gaps, atol=1e-9)
    assert principal(flat, 6) is flat


def test_a_metric_without_spread_or_scores_tells_nothing_apart() -> None:
    scores = np.array([[1.0, 2.0, np.nan], [1.0, 4.0, np.nan]])
    data = EvalSet.from_arrays(["a", "b"], ["x", "y", "z"], metrics={"m": scores})
    np.testing.assert_allclose(metric_points(data, ("m",)), [[0, -1, 0], [0, 1, 0]])


def test_an_item_without_texts_lies_in_the_middle() -> None:
    data = EvalSet.from_arrays(
        ["a", "b", "c"],
        ["x", "y"],
        sources=["one two", None, "three four"],
        outputs=np.array([["p q", "r s"], [None, None], ["t u", None]], object),
    )
    for space in ("source", "output_mean"):
        points = text_points(data, space, "tfidf")
        np.testing.assert_allclose(points[1], points[[0, 2]].mean(axis=0), atol=1e-12)
    apart = text_points(data, "difference", "tfidf")
    assert apart.shape == (3, 1)
    assert apart[0, 0] == apart[1, 0] == apart[2, 0] == pytest.approx(np.sqrt(2), abs=0.01)
