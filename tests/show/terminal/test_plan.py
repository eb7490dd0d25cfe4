"""What the terminal shows of a plan."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.data.evalset import EvalSet
from sparingly.data.synthetic import load_invented
from sparingly.show.terminal.results import show_plan


@pytest.fixture(scope="module")
def demo() -> EvalSet:
    return load_invented()


def words(text: str) -> str:
    """Return a text without its line breaks, which depend on the width of the terminal."""
    return " ".join(text.split())


def shown(data: EvalSet, **wishes: Any) -> str:
    pilot = sparingly.select(data, "uniform", 60, seed=1)
    with redirect_stdout(StringIO()) as kept:
        show_plan(sparingly.plan(data, pilot, "overall", **wishes), "data.jsonl", verbose=True)
    return kept.getvalue()


def test_a_plan(demo: EvalSet) -> None:
    text = shown(demo, width=2.5)
    assert text.startswith("Judge ")
    assert "Planned from a pilot of 60 items: overall, 240 items and 8 models." in text
    assert "Correlation with overall" in text
    assert "metrics explain " in text
    marked = next(line for line in text.splitlines() if " *" in line)
    assert marked.split()[0] == str(sparingly.plan(
        demo, sparingly.select(demo, "uniform", 60, seed=1), "overall", width=2.5
    ).needed)  # fmt: skip
    assert "Next: sparingly select data.jsonl --budget " in text
    assert "significant with a probability of 80 % on inputs like these, corrected for all pairs" in words(
        text
    )
    assert 'note: time estimate: the column "cost", read as seconds per item.\n' in text


def test_differences_on_this_set(demo: EvalSet) -> None:
    assert "with a probability of 90 % on this set" in words(shown(demo, detect=3.0, target="set", power=0.9))


def test_the_weakest_metrics_are_left_out(demo: EvalSet, capsys: pytest.CaptureFixture[str]) -> None:
    pilot = sparingly.select(demo, "uniform", 60, seed=1)
    show_plan(sparingly.plan(demo, pilot, "overall"), limit=2, verbose=True)
    printed = capsys.readouterr().out
    assert "… and 2 weaker ones (--json shows all)" in printed
    assert "noisy" not in printed


def test_pass_rates_are_in_points(capsys: pytest.CaptureFixture[str]) -> None:
    drawn = np.random.default_rng(1)
    scores = (drawn.random((100, 2)) < 0.8).astype(float)
    data = EvalSet.from_arrays([f"i{at}" for at in range(100)], ["a", "b"], aspects={"ok": scores})
    found = sparingly.plan(data, None, "ok", width="5%", budgets=[50])
    show_plan(found, "data.csv", verbose=True)
    printed = capsys.readouterr().out
    row = next(row for row in found.table if row.n == 50)
    sizes = rf"{100 * row.half_width:.1f} +{100 * row.detectable:.1f} "
    assert re.search(sizes, printed)
    assert "on this set, in points" in words(printed)
