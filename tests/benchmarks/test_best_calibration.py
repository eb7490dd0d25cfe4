from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from benchmarks import best_calibration
from benchmarks.best_calibration import (
    BEST_SET,
    NEIGHBOURS,
    PRIORS,
    USED_PRIOR,
    Said,
    Sums,
    blocks,
    chosen_without,
    deviations,
    missed,
    tally,
)
from benchmarks.pages import block


def said(prior: str, chance: float, share: float, question: str = BEST_SET) -> dict[str, Any]:
    """Return a part with 400 cases of one chance."""
    was_so = (np.arange(400) < 400 * share).astype(np.float64)
    sums = tally([Said(question, prior, 20, np.full(400, chance), was_so)])
    return {key: held.tolist() for key, held in sums.items()}


def test_bands_hold_what_was_said_against_what_was_so() -> None:
    sums = Sums([{"family": "a", "sums": {"one": said(USED_PRIOR, 0.72, 0.75)}}])
    rows = deviations(sums.by_set(BEST_SET, USED_PRIOR))
    assert [row["cases"] for row in rows] == [0] * 7 + [400] + [0] * 2
    assert rows[7]["off"] == pytest.approx(0.03)
    assert missed({f"{BEST_SET}|left out": rows}) == []
    off = deviations({"one": np.array([[0, 0, 0]] * 6 + [[400, 260, 236]] + [[0, 0, 0]] * 3, np.float64)})
    assert missed({f"{NEIGHBOURS}|as it is": off, f"{NEIGHBOURS}|texts": off}) == [
        "full set, neighbours|as it is: 60–70 %, said 65.0, was so 59.0"
    ]


def test_a_prior_is_chosen_without_the_family_that_it_is_checked_on() -> None:
    other = list(PRIORS)[1]
    right, wrong = said(USED_PRIOR, 0.55, 0.55) | said(other, 0.55, 0.8), said(USED_PRIOR, 0.55, 0.9)
    rows = [
        {"family": "a", "sums": {"one": right}},
        {"family": "b", "sums": {"two": wrong | said(other, 0.55, 0.55)}},
    ]
    families = ["a", "b"]
    assert chosen_without(Sums(rows), (BEST_SET,), "b", families) == USED_PRIOR
    assert chosen_without(Sums(rows), (BEST_SET,), "a", families) == other


def test_page_shows_the_figures() -> None:
    computed = json.loads(best_calibration.RESULTS.read_text(encoding="utf-8"))
    page = best_calibration.PAGE.read_text(encoding="utf-8")
    assert block(page, "best calibration") == blocks(computed)["best calibration"]
