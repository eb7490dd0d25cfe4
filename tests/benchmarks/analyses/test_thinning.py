from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.analyses.base import left_out_note, thinned, thinning_note
from sparingly.base import rng


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 5), st.data())
def test_at_most_so_many_and_all_that_are_kept(count: int, most: int, seed: int, draw: st.DataObject) -> None:
    keys = rng.keys_of([str(place) for place in range(count)])
    keep = np.array(draw.draw(st.lists(st.booleans(), min_size=count, max_size=count)), np.bool_)
    rows = thinned(keys, most, seed, keep)
    assert len(rows) == min(count, max(most, int(keep.sum())))
    assert (np.diff(rows) > 0).all()
    assert np.isin(np.flatnonzero(keep), rows).all()


def test_what_is_drawn_hangs_on_the_keys_and_the_seed() -> None:
    names = [str(place) for place in range(100)]
    keys = rng.keys_of(names)
    drawn = {names[row] for row in thinned(keys, 10, 3)}
    backwards = {names[::-1][row] for row in thinned(rng.keys_of(names[::-1]), 10, 3)}
    assert drawn == backwards
    assert drawn != {names[row] for row in thinned(keys, 10, 4)}
    assert len(thinned(keys, None, 0)) == 100


def test_a_note_only_where_something_is_left_out() -> None:
    assert thinning_note(5, 5, "items") == ()
    assert left_out_note(0, 9, "items, which are odd") == ()
    assert left_out_note(1, 9, "items, which are odd") == ("Left out: 1 of 9 items, which are odd.",)
    assert thinning_note(5, 9, "items") == ("Shown: 5 of 9 items, drawn at random.",)
