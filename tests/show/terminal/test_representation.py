"""What the terminal shows of whom a selection over-represents."""

from __future__ import annotations

import os
from contextlib import redirect_stdout
from io import StringIO
from unittest.mock import patch

import numpy as np
import pytest

import sparingly
from sparingly.data.describe import Representation, representation
from sparingly.data.evalset import EvalSet
from sparingly.data.synthetic import load_invented
from sparingly.show.terminal.describe import show_representation


def shown(found: Representation) -> str:
    with patch.dict(os.environ, COLUMNS="160"), redirect_stdout(StringIO()) as kept:
        show_representation(found)
    return kept.getvalue()


@pytest.fixture(scope="module")
def demo() -> EvalSet:
    return load_invented()


def test_a_selection_by_a_metric_is_warned_of(demo: EvalSet) -> None:
    found = representation(demo, sparingly.select(demo, "metric_avg:metric=learned", 48))
    text = shown(found)
    assert "coverage: 48 of 240 items (20.0 %), 22 of 36 documents (61.1 %), 4 of 4 domains (100.0 %)" in text
    assert "blind spots (overall): no metric flags 0 of the 60 items that people find bad; among" in text
    assert "note: metric learned, lowest quarter (up to 41.8): badly over-represented, 100.0 % of" in text
    assert "nothing is badly" not in text
    # One note a kind, and the metrics that differ most.
    assert text.count("note: metric learned") == 1
    assert len({line.split()[1] for line in text.splitlines() if line.startswith(" metric ")}) == 2 + 1
    notes = text.count("badly over-represented, ") + text.count("badly under-represented, ")
    assert f"note: {len(found.leanings) - notes} more groups are badly represented" in text


def test_a_random_draw_is_not(demo: EvalSet) -> None:
    text = shown(representation(demo, sparingly.select(demo, "uniform", 48, seed=1)))
    assert text.partition("\n")[0].endswith("of the set: no group is badly over- or under-represented.")
    assert "note: " not in text


def test_kinds_other_than_metrics_are_warned_of_first() -> None:
    numbers = np.arange(200.0)
    data = EvalSet.from_arrays(
        [f"{place:03d}" for place in range(200)],
        ["m"],
        metrics={"x": numbers[:, None]},
        columns={"domain": ["a"] * 100 + ["b"] * 100},
    )
    text = shown(representation(data, data.items[:40]))
    assert text.index("note: domain, b") < text.index("note: metric x")
