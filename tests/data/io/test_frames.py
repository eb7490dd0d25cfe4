from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
import pytest

from sparingly.base.errors import InputError, UsageError
from sparingly.data.io.table import from_frame

ODD = "GPT-4 (p = 0.3) + tools"


def columns() -> dict[str, list[Any]]:
    return {
        "item": [2, 2, 1],
        "model": ["tiny", ODD, ODD],
        "output": ["", None, "un"],
        "chrF": [1.5, None, 2.5],
        "ok": [True, False, True],
        "part": ["2024-01-02", "2024-01-03", "2024-01-03"],
    }


def frames() -> list[Any]:
    held = columns()
    categories = pl.DataFrame(held).with_columns(
        pl.col("model").cast(pl.Categorical), pl.col("part").str.to_date()
    )
    return [
        pl.DataFrame(held),
        pl.LazyFrame(held),
        categories,
        pa.table(held),
        pd.DataFrame(held),
        pd.DataFrame(held).convert_dtypes(),
        pd.DataFrame(held).astype({"model": "category", "part": "datetime64[s]"}).assign(part=held["part"]),
        pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in held.items()}),
    ]


@pytest.mark.parametrize("frame", frames(), ids=lambda frame: type(frame).__module__)
def test_frames_of_every_kind(frame: Any) -> None:
    data = from_frame(frame, roles={"chrF": "metric", "part": "column"})
    assert data.items.tolist() == ["1", "2"]
    assert data.models == (ODD, "tiny")
    assert data.outputs is not None
    assert data.outputs.tolist() == [["un", None], [None, ""]]
    np.testing.assert_array_equal(data.metrics["chrF"], [[2.5, np.nan], [np.nan, 1.5]])
    assert data.cells["ok"].tolist() == [[True, None], [False, True]]
    assert data.cells["part"].tolist() == [["2024-01-03", None], ["2024-01-03", "2024-01-02"]]


def test_texts_of_digits_in_a_frame_stay_texts() -> None:
    data = from_frame(pl.DataFrame({"item": ["01", "1"], "model": ["m", "m"], "code": ["007", "008"]}))
    assert data.items.tolist() == ["01", "1"]
    assert data.columns["code"].tolist() == ["007", "008"]


def test_nan_is_missing_everywhere() -> None:
    nan = float("nan")
    held = {"item": ["a", "a"], "model": ["m", "n"], "metric:x": [nan, 1.0], "cost": [nan, 2.0]}
    data = from_frame(pl.DataFrame({**held, "n": [nan, 3.0], "k": [nan, nan], "cell:z": [nan, 4.0]}))
    assert "k" not in data.columns
    np.testing.assert_array_equal(data.metrics["x"], [[nan, 1]])
    assert data.columns["cost"].tolist() == [2]
    assert data.aspects["n"][0, 1] == 3
    assert data.cells["z"].tolist() == [[None, 4]]


def test_two_columns_for_one_name() -> None:
    held = {
        "item": ["a", "a"],
        "model": ["m", "n"],
        "metric:x": [1.0, 2.0],
        "z": ["u", "v"],
        "cell:z": ["u", "v"],
    }
    with pytest.raises(UsageError, match='Two columns are to be "z"'):
        from_frame(pl.DataFrame(held))
    assert from_frame(pl.DataFrame(held), roles={"z": "ignored"}).cells["z"].tolist() == [["u", "v"]]


def test_truth_values_can_be_metrics() -> None:
    data = from_frame(pl.DataFrame(columns()), roles={"ok": "metric"})
    np.testing.assert_array_equal(data.metrics["ok"], [[1, np.nan], [0, 1]])


def test_a_number_and_the_same_text_are_not_one_id() -> None:
    frame = pd.DataFrame({"item": pd.Series([1, "1"], dtype=object), "model": ["m", "m"], "x": [1.0, 2.0]})
    with pytest.raises(InputError) as caught:
        from_frame(frame)
    assert str(caught.value) == (
        'the frame, field item: the item 1 is written as a number and as the text "1". Write ids in one way.'
    )


@pytest.mark.parametrize(
    ("frame", "sentence"),
    [
        (
            {"item": ["a", "b", "a"], "model": ["m"] * 3, "x": [1, 2, 3]},
            'the frame: the item "a" and the model "m" are there twice (rows 1 and 3). Keep one of them',
        ),
        (
            {"item": ["a", "b"], "model": ["m"] * 2, "metric:x": ["1", "b"]},
            'the frame, field metric:x: "b" is not a number (row 2). Leave it empty if missing.',
        ),
        (
            {"item": [1.5], "model": ["m"]},
            "the frame, field item: ids are texts or whole numbers, not Float64. Write the ids of the",
        ),
        (
            {"item": ["a"], "model": ["m"], "metric:x": [[3]]},
            "the frame, field metric:x: expected numbers, not List(Int64).",
        ),
    ],
)
def test_wrong_frames_get_one_sentence(frame: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        from_frame(pl.DataFrame(frame))
    assert str(caught.value).startswith(sentence)


def test_no_frame_at_all() -> None:
    with pytest.raises(UsageError, match="Expected a pandas, polars or Arrow table, not builtins"):
        from_frame([1])
    with pytest.raises(UsageError, match=r'There is no column "chr". Did you mean chrF\?'):
        from_frame(pl.DataFrame(columns()), roles={"chr": "metric"})


def test_a_polars_frame_needs_no_pandas() -> None:
    code = (
        "import sys, polars; from sparingly.data.io.table import from_frame, to_frame; "
        "to_frame(from_frame(polars.DataFrame({'item': ['a'], 'model': ['m'], 'x': [1.0]}))); "
        "print([name for name in ('pandas', 'pyarrow') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
