from __future__ import annotations

from math import comb

import numpy as np
import pytest

from sparingly.base.stats.pairs import chance_of_lead


def test_the_published_example() -> None:
    assert chance_of_lead(500, np.array(10), np.array(8)) == pytest.approx(0.0529, abs=5e-5)


@pytest.mark.parametrize(("items", "judged", "votes"), [(10, 4, 3), (11, 5, 5), (8, 8, 4), (30, 12, 0)])
def test_it_is_the_sum_over_all_ways_to_draw(items: int, judged: int, votes: int) -> None:
    half = -(-items // 2)
    ways = sum(comb(half, k) * comb(items - half, judged - k) for k in range(votes, judged + 1))
    found = chance_of_lead(items, np.array(judged), np.array(votes))
    assert found == pytest.approx(ways / comb(items, judged))
