from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparingly
from benchmarks.analyses.difference_map import difference_map
from sparingly.base.errors import UnknownNameError
from sparingly.data.synthetic import load_invented
from tests.benchmarks.analyses.made import ON_CIRCLE, chord, on_circle

PAIR = ("Elm + rerank (beam = 4)", "Rowan")


@given(st.lists(st.tuples(st.floats(0.0, 3.0), st.floats(0.0, 3.0)), min_size=1, max_size=20))
def test_the_distance_from_the_middle_is_the_norm(angles: list[tuple[float, float]]) -> None:
    found = difference_map(on_circle(angles), embedding=ON_CIRCLE, most=None)
    for point, (first, second) in zip(found.points, angles, strict=True):
        assert point.norm == pytest.approx(chord(first - second), abs=1e-9)
        assert np.hypot(point.x, point.y) == pytest.approx(point.norm, abs=1e-7)
    assert 0.0 <= found.explained <= 1.0 + 1e-9


def test_in_two_dimensions_all_directions_are_kept() -> None:
    rng = np.random.default_rng(0)
    data = on_circle(rng.uniform(0.0, 3.0, (30, 2)).tolist())
    found = difference_map(data, embedding=ON_CIRCLE)
    assert found.explained == pytest.approx(1.0)
    places = np.array([(point.x, point.y) for point in found.points])
    vectors = np.array([np.array(a) - np.array(b) for a, b in data.cells["place"]])
    # The map is a rotation (or reflection) of the vectors: products are the same.
    np.testing.assert_allclose(places @ places.T, vectors @ vectors.T, atol=1e-9)
    # The farthest item of each axis lies on its positive side.
    directions = places / np.linalg.norm(places, axis=1, keepdims=True)
    assert (directions[np.abs(directions).argmax(axis=0), [0, 1]] > 0.0).all()


def test_the_order_of_the_pair_swaps_preferences_not_places() -> None:
    data = load_invented()
    one = difference_map(data, PAIR, truth="overall")
    other = difference_map(data, PAIR[::-1], truth="overall")
    assert (one.first, one.second) == (other.second, other.first) == PAIR
    swap = {"first": "second", "second": "first", "tie": "tie", None: None}
    for point, turned in zip(one.points, other.points, strict=True):
        assert turned.preference == swap[point.preference]
        assert (turned.x, turned.y) == pytest.approx((point.x, point.y), abs=1e-9)


def test_preferences_and_what_is_missing() -> None:
    scores = np.array([[2.0, 1.0], [1.0, 2.0], [1.0, 1.2], [np.nan, 1.0], [2.0, 1.0]])
    data = on_circle([[0.0, 0.5], [0.0, 1.0], [0.0, 0.2], [0.1, 0.3], [0.0, None]], aspects={"mqm": scores})
    found = difference_map(data, truth="mqm", tie=0.5, embedding=ON_CIRCLE)
    assert [point.preference for point in found.points] == ["first", "second", "tie", None]
    assert found.notes == ("Left out: 1 of 5 items, which one of the two models has not.",)
    assert (found.items, found.by) == (4, "mqm")
    plain = difference_map(data, embedding=ON_CIRCLE)
    assert (plain.by, {point.preference for point in plain.points}) == (None, {None})


def test_chosen_items_stay_and_carry_their_weights() -> None:
    data = load_invented()
    view = data.take(models=PAIR)
    chosen = sparingly.select(view, "diffuse:weighted=true", 10)
    found = difference_map(data, PAIR, chosen, truth="overall", most=25, seed=1)
    assert len(found.points) == 25
    assert found.notes == ("Shown: 25 of 240 items, drawn at random.",)
    marked = {point.item: point.weight for point in found.points if point.chosen}
    assert chosen.cluster_weight is not None
    assert marked == dict(zip(chosen.items, chosen.cluster_weight.tolist(), strict=True))
    assert (found.chosen, found.weighted) == (10, True)
    named = difference_map(data, PAIR, list(chosen.items[:3]), most=2)
    assert (len(named.points), named.weighted) == (3, False)
    assert all(point.weight is None for point in named.points)


def test_equal_outputs_lie_in_the_middle() -> None:
    found = difference_map(on_circle([[0.5, 0.5], [1.0, 1.0]]), embedding=ON_CIRCLE)
    assert [(point.x, point.y, point.norm) for point in found.points] == [(0.0, 0.0, 0.0)] * 2
    assert found.explained == 0.0


def test_what_is_not_there() -> None:
    data = on_circle([[0.5, 0.5]])
    with pytest.raises(UnknownNameError, match='no item "z"'):
        difference_map(data, chosen=["z"], embedding=ON_CIRCLE)
    with pytest.raises(UnknownNameError, match='no aspect or metric "mqm"'):
        difference_map(data, truth="mqm", embedding=ON_CIRCLE)
