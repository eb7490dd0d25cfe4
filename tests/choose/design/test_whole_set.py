from __future__ import annotations

import gc
import weakref
from pathlib import Path

import numpy as np
import pytest

from sparingly.base.errors import UsageError
from sparingly.base.registry import parse_method
from sparingly.choose.design.selector import file_stamp, remembered
from sparingly.choose.select import select
from sparingly.data.evalset import EvalSet


def made() -> EvalSet:
    return EvalSet.from_arrays(
        ["a", "b", "c"], ["x", "y"], sources=["1", "2", "3"], metrics={"m": np.eye(3, 2)}
    )


def test_the_same_view_is_made_once() -> None:
    data, calls = made(), []

    def make() -> int:
        calls.append(1)
        return len(calls)

    assert [remembered(data, ("one",), make) for _ in range(3)] == [1, 1, 1]
    assert remembered(data.only(data.fields), ("one",), make) == 1, "another view of the same"
    assert remembered(data, ("two",), make) == 2
    assert remembered(data.at([0, 1]), ("one",), make) == 3
    assert remembered(data.take(models=["x"]), ("one",), make) == 4
    assert remembered(data.only(["sources"]), ("one",), make) == 5
    assert remembered(made(), ("one",), make) == 6


def test_only_the_last_are_kept() -> None:
    data = made()
    made_by = [remembered(data, (place,), object) for place in range(10)]
    assert remembered(data, (9,), object) is made_by[9]
    assert remembered(data, (0,), object) is not made_by[0]


def test_what_is_remembered_goes_with_the_set() -> None:
    class Result:
        pass

    data = made()
    result = weakref.ref(remembered(data, ("one",), Result))
    assert result() is not None
    del data
    gc.collect()
    assert result() is None


def test_a_changed_file_has_another_stamp(tmp_path: Path) -> None:
    path = tmp_path / "vectors.npy"
    assert file_stamp("tfidf") is None
    path.write_bytes(b"1")
    first = file_stamp(str(path))
    path.write_bytes(b"12")
    assert None not in (first, file_stamp(f"{path}#column"))
    assert first != file_stamp(str(path))


@pytest.mark.parametrize("method", ["kmeans", "search", "diffuse", "heuristic"])
def test_a_cost_is_refused_in_a_sentence(method: str) -> None:
    data = EvalSet.from_arrays(
        ["a", "b"],
        ["x", "y"],
        sources=["1", "2"],
        outputs=[["a", "b"]] * 2,
        metrics={"m": np.eye(2)},
        columns={"cost": [1, 2]},
    )
    sentence = (
        f"The method {method} chooses a number of items, so its budget is a count or a share, not cost:2"
    )
    with pytest.raises(UsageError, match=sentence):
        select(data, method, "cost:2")


def test_a_parameter_can_be_called_kind() -> None:
    method = parse_method("search:kind=beam")
    assert type(method).kind == "selector"
    assert getattr(method, "kind") == "beam"  # noqa: B009 - the class says selector
    assert parse_method("search") == parse_method("search:kind=greedy") != method
    assert str(parse_method("search:kind=greedy")) == "search"
    assert hash(parse_method(str(method))) == hash(method)
