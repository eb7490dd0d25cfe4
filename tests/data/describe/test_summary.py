"""One line and one small table."""

from __future__ import annotations

import numpy as np

from sparingly.data.describe import describe, representation
from sparingly.data.evalset import EvalSet
from sparingly.data.tables import derive_preferences

SCORES = [[1.0, 2.0], [3.0, 4.0]]


def test_metrics_alone() -> None:
    data = EvalSet.from_arrays(["a", "b"], ["tiny", "large"], metrics={"chrF": SCORES})
    assert data.__repr__() == "EvalSet(2 items x 2 models; metrics: chrF)"
    assert repr(data) == data.__repr__()


def test_everything() -> None:
    data = EvalSet.from_arrays(
        ["a", "b"],
        ["m", "n"],
        metrics=dict.fromkeys(("AlphaScore", "BLEU", "c", "d"), SCORES),
        aspects=dict.fromkeys(("mqm", "da"), SCORES),
        sources=["s", "t"],
        outputs=[["x", "y"], ["z", "w"]],
        references={"ref": ["r", None]},
        columns={"document": ["d", None]},
        preferences=derive_preferences(np.array(SCORES), "mqm"),
    )
    assert data.__repr__() == (
        "EvalSet(2 items x 2 models; metrics: AlphaScore, BLEU … (4); aspects: mqm, da; "
        "outputs, sources, references; documents: 1; preferences: 2)"
    )


def test_one_of_each_and_a_long_name() -> None:
    line = EvalSet.from_arrays(["a"], ["m"], metrics={"x" * 90: [[1.0]]}).__repr__()
    assert line == f"EvalSet(1 item x 1 model; metrics: {'x' * 31}…)"


def test_html_is_escaped() -> None:
    data = EvalSet.from_arrays(["a"], ["<b>m</b>"], metrics={"<script>": [[1.0]]}, name="a & b")
    page = data._repr_html_()
    assert "<script>" not in page
    assert "<b>m</b>" not in page
    assert "&lt;script&gt;" in page
    assert "a &amp; b" in page


def test_descriptions_show_themselves_in_notebooks() -> None:
    data = EvalSet.from_arrays(
        ["a", "b"],
        ["m", "n"],
        metrics={"<x>": SCORES},
        aspects={"y": [[2.0, 1.0], [1.0, 0.0]]},
        columns={"domain": ["<news>", "talk"]},
    )
    assert "&lt;x&gt;" in describe(data)._repr_html_()
    assert "&lt;news&gt;" in representation(data, ["a"])._repr_html_()
