"""How the others predict each rater: the errors are the package's own, next to the published ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.papers.catalogue import paper_table
from benchmarks.papers.saldias.published import TABLE_12, TABLE_12_MEANS
from benchmarks.papers.saldias.raters import number, share
from benchmarks.papers.work import Work
from sparingly.data.synthetic import load_invented
from sparingly.run.raters.agreement import predictability


def test_the_table_is_computed_and_shown() -> None:
    table = paper_table("s1-table12")
    computed = table.figures(Work(Path(), is_demo=True))
    expected = predictability(load_invented(), "overall")
    assert computed["sets"]["demo"]["error"] == pytest.approx(expected.error)
    text = table.text(computed)
    assert "| WMT20 English–German (paper) | 6 | 0.27 | 0.13 | 0.47 | 3.6 |" in text
    for rater in expected.raters:
        assert f"| demo | {rater.rater} | {rater.n} | {number(rater.error)} | {share(rater.share)} |" in text


def test_published_means_are_those_of_the_raters() -> None:
    for direction, errors in TABLE_12.items():
        assert np.mean(errors) == pytest.approx(TABLE_12_MEANS[direction], abs=0.006)


def test_numbers() -> None:
    assert number(float("nan")) == share(float("nan")) == "–"
    assert number(-1.234) == "−1.23"
    assert share(0.256) == "26 %"
