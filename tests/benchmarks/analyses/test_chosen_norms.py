from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparingly
from benchmarks.analyses.norms import chosen_norms
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.data.synthetic import load_invented
from tests.benchmarks.analyses.made import ON_CIRCLE, chord, on_circle

ANGLES = [0.1, 0.2, 0.3, 1.0, 1.1, 1.2]


def test_norms_of_a_pair_by_hand() -> None:
    data = on_circle([[0.0, angle] for angle in ANGLES] + [[0.0, None]])
    found = chosen_norms(data, ["i003", "i005", "i006"], embedding=ON_CIRCLE, bins=2)
    everything, chosen = found.groups
    norms = [chord(angle) for angle in ANGLES]
    assert (everything.name, everything.items, chosen.name, chosen.items) == (
        "all items",
        6,
        "chosen items",
        2,
    )
    assert everything.mean == pytest.approx(np.mean(norms))
    assert everything.median == pytest.approx(np.median(norms))
    assert chosen.mean == pytest.approx(np.mean([chord(1.0), chord(1.2)]))
    assert everything.shares == (0.5, 0.5)
    assert chosen.shares == (0.0, 1.0)
    assert found.edges == pytest.approx([min(norms), (min(norms) + max(norms)) / 2, max(norms)])
    assert found.notes == ("Left out: 1 of 7 items, which have no outputs of two of the models.",)
    assert found.table()["share"] == [0.5, 0.5, 0.0, 1.0]


@given(st.lists(st.floats(0.0, 3.0), min_size=2, max_size=30), st.integers(1, 12))
def test_shares_sum_to_one_whatever_the_bins(angles: list[float], bins: int) -> None:
    data = on_circle([[0.0, angle] for angle in angles])
    found = chosen_norms(data, list(data.items[: len(angles) // 2 + 1]), embedding=ON_CIRCLE, bins=bins)
    for group in found.groups:
        assert sum(group.shares) == pytest.approx(1.0)
        assert len(group.shares) == len(found.edges) - 1 == bins


def test_several_selections_and_their_names() -> None:
    data = load_invented()
    far, drawn = (sparingly.select(data, method, 24) for method in ("max_norm", "random"))
    found = chosen_norms(data, {"far": far, "drawn": list(drawn.items)})
    assert [one.name for one in found.groups] == ["all items", "far", "drawn"]
    assert found.groups[1].mean > found.groups[2].mean
    assert chosen_norms(data, far).groups[1].name == "max_norm"
    # The largest norms are exactly those that max_norm takes.
    assert far.utility is not None
    assert found.groups[1].mean == pytest.approx(float(far.utility.mean()))


def test_a_pair_sees_two_models_only() -> None:
    data = load_invented()
    pair = ("Elm + rerank (beam = 4)", "Rowan")
    chosen = sparingly.select(data.take(models=pair), "max_norm", 24)
    found = chosen_norms(data, chosen, pair=pair)
    assert found.models == pair
    assert chosen.utility is not None
    assert found.groups[1].mean == pytest.approx(float(chosen.utility.mean()))


def test_what_cannot_be_asked() -> None:
    data = on_circle([[0.0, 1.0], [0.0, None]])
    with pytest.raises(UsageError, match="need at least one selection"):
        chosen_norms(data, {}, embedding=ON_CIRCLE)
    with pytest.raises(UsageError, match='cannot be named "all items"'):
        chosen_norms(data, {"all items": ["i000"]}, embedding=ON_CIRCLE)
    with pytest.raises(UsageError, match="No item of chosen items has outputs"):
        chosen_norms(data, ["i001"], embedding=ON_CIRCLE)
    with pytest.raises(UsageError, match="at least one bin, not 0"):
        chosen_norms(data, ["i000"], embedding=ON_CIRCLE, bins=0)
    with pytest.raises(UnknownNameError, match='no item "i9"'):
        chosen_norms(data, ["i9"], embedding=ON_CIRCLE)
