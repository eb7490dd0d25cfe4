"""Probabilities for tests of draws."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from sparingly.choose.design.probability import inclusion_probabilities


@st.composite
def chances(draw: st.DrawFn, largest: int = 60) -> NDArray[np.float64]:
    """Return probabilities that add up to a whole number, some of them 1."""
    count = draw(st.integers(1, largest))
    seed, shape = draw(st.integers(0, 2**20)), draw(st.sampled_from([0.2, 1.0, 20.0]))
    sizes = np.random.default_rng(seed).gamma(shape, size=count)
    return inclusion_probabilities(sizes, draw(st.integers(1, count)), tau=draw(st.sampled_from([0.0, 0.9])))


SEEDS = st.integers(0, 2**20)
