from __future__ import annotations

import numpy as np
import pytest

from sparingly.base.arrays import Floats
from sparingly.choose.design.variables import (
    has_documents,
    metric_points,
    principal,
    text_points,
    with_documents,
)
from sparingly.data.evalset import EvalSet


def test_principal_directions_keep_distances_as_well_as_they_can() -> None:
    drawn = np.random.default_rng(0)
    flat = drawn.normal(size=(50, 2)) @ drawn.normal(size=(2, 6)) + 3.0
    found = principal(flat, 2)
    gaps = np.linalg.norm(flat[:, None] - flat, axis=2)
    np.testing.assert_allclose(np.linalg.norm(found[:, None] - found, axis=2), gaps, atol=1e-9)
    assert principal(flat, 6) is flat


def test_many_columns_are_reduced_to_the_same_points_as_few() -> None:
    drawn = np.random.default_rng(1)
    wide = drawn.normal(size=(80, 4)) @ drawn.normal(size=(4, 1200)) + drawn.normal(size=(80, 1200))
    centred = wide - wide.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    found = principal(wide, 3)
    # Axes may point either way, so the points are compared by their products.
    expected = left[:, :3] * sizes[:3]
    products = expected @ expected.T
    np.testing.assert_allclose(found @ found.T, products, rtol=0, atol=1e-8 * np.abs(products).max())
    # The last digits of a file decide nothing, not even which way an axis points.
    np.testing.assert_allclose(principal(wide + 1e-13, 3), found, atol=1e-6)
    assert not principal(np.ones((80, 1200)), 3).any()
    few = wide[:3, :]
    np.testing.assert_allclose(principal(few, 3) @ principal(few, 3).T, _products(few), atol=1e-8)


def _products(points: Floats) -> Floats:
    centred = points - points.mean(axis=0)
    return np.asarray(centred @ centred.T)


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


def test_items_of_a_document_lie_together_and_documents_apart() -> None:
    drawn = np.random.default_rng(0)
    points = drawn.normal(size=(60, 3))
    document = np.repeat(np.array([f"d{place}" for place in range(12)], object), 5)
    near = with_documents(points, document)
    np.testing.assert_array_equal(near[:, :3], points)
    further = near[:, 3:]
    assert np.ptp(further.reshape(12, 5, -1), axis=1).max() < 1e-12
    # Documents are spread as widely as the points.
    assert _width(further) == pytest.approx(_width(points))


def test_the_place_of_a_document_is_by_its_name() -> None:
    points = np.random.default_rng(1).normal(size=(6, 2))
    document = np.array(["a", "b", "a", "c", "b", "c"], object)
    order = [3, 0, 5, 1, 2, 4]
    turned = with_documents(points[order], document[order])
    np.testing.assert_allclose(turned, with_documents(points, document)[order])


def test_an_item_in_no_document_lies_in_the_middle() -> None:
    points = np.random.default_rng(2).normal(size=(5, 2))
    near = with_documents(points, np.array(["a", None, "b", "a", "b"], object))
    np.testing.assert_array_equal(near[1, 2:], 0.0)


@pytest.mark.parametrize(
    ("document", "shared"),
    [(["a", "a", "b"], True), (["a", "b", "c"], False), (["a", "a"], False), ([None, None, "a"], False)],
)
def test_documents_matter_where_several_have_several_items(document: list[str | None], shared: bool) -> None:
    items = [str(place) for place in range(len(document))]
    data = EvalSet.from_arrays(items, ["A"], columns={"document": document})
    assert has_documents(data) is shared
    assert not has_documents(EvalSet.from_arrays(items, ["A"]))


def _width(points: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    return float(np.sqrt(((points - points.mean(axis=0)) ** 2).sum(axis=1).mean()))
