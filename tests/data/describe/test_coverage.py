"""What is there and what is missing."""

from __future__ import annotations

from sparingly.data.describe.description import Coverage, coverage
from sparingly.data.evalset import EvalSet

NAN = float("nan")


def test_metrics_and_texts_by_hand() -> None:
    data = EvalSet.from_arrays(
        ["a", "b", "c"],
        ["m", "n"],
        metrics={"x": [[1.0, NAN], [NAN, NAN], [3.0, 4.0]]},
        outputs=[["", None], ["t", "u"], ["v", "w"]],
        sources=["s", None, "t"],
        references={"ref": [None, None, "r"]},
        columns={"domain": ["news", None, "news"], "position": [0, None, 1]},
    )
    found = {part.field: part for part in coverage(data)}
    assert found["metric:x"] == Coverage("metric:x", 3, 6, 0.5, {"m": 1, "n": 2}, 2, ("a", "b"))
    assert found["outputs"] == Coverage("outputs", 5, 6, 5 / 6, {"n": 1}, 1, ("a",))
    assert found["sources"] == Coverage("sources", 2, 3, 2 / 3, {}, 1, ("b",))
    assert found["reference:ref"] == Coverage("reference:ref", 1, 3, 1 / 3, {}, 2, ("a", "b"))
    assert (found["column:domain"].present, found["column:position"].present) == (2, 2)


def test_a_full_field_lacks_nothing() -> None:
    (found,) = coverage(EvalSet.from_arrays(["a"], ["m"], aspects={"y": [[1.0]]}))
    assert found == Coverage("aspect:y", 1, 1, 1.0, {}, 0, ())


def test_examples_are_few() -> None:
    ids = [f"item-{place:02d}" for place in range(20)]
    (found,) = coverage(EvalSet.from_arrays(ids, ["m"], metrics={"x": [[NAN]] * 20}))
    assert (found.items, found.examples) == (20, tuple(ids[:5]))
