from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparingly.base.errors import InputError
from sparingly.data import io
from sparingly.data.io.format import Head

ODD = "out/big + (beam=5).txt"


def segment(src: str, mt: str, score: float | None, **more: Any) -> dict[str, Any]:
    return {"src": src, "mt": mt, "ref": src.upper(), "COMET": score, **more}


SPANS = [{"text": "eins", "confidence": 0.4, "severity": "minor", "start": 0, "end": 4}]


def held() -> dict[str, list[dict[str, Any]]]:
    """What comet-score --to_json writes for two files of translations."""
    return {
        "out/hyp1.txt": [segment("one", "eins", 0.81, errors=SPANS), segment("two", "", None)],
        ODD: [segment("one", "Eins", 0.9), segment("two", "Zwei", 0.85)],
    }


def put(path: Path, value: Any, indent: int | None = 4) -> Path:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=indent), encoding="utf-8")
    return path


@pytest.mark.parametrize("indent", [4, None])
def test_every_file_is_a_model(tmp_path: Path, indent: int | None) -> None:
    data = io.load(put(tmp_path / "out.json", held(), indent))
    assert list(data.items) == ["line-000001", "line-000002"]
    assert data.models == ("big + (beam=5)", "hyp1")
    np.testing.assert_array_equal(data.metrics["COMET"], [[0.9, 0.81], [0.85, np.nan]])
    assert data.outputs is not None
    assert data.outputs.tolist() == [["Eins", "eins"], ["Zwei", ""]]
    assert data.sources is not None
    assert data.sources.tolist() == ["one", "two"]
    assert data.references == ("ref",)
    assert data.cells["errors"].tolist() == [[None, SPANS], [None, None]]


def test_the_score_can_be_given_its_name(tmp_path: Path) -> None:
    data = io.load(put(tmp_path / "out.json", held()), metric="XCOMET-XL")
    assert list(data.metrics) == ["XCOMET-XL"]


def test_one_list_is_one_model(tmp_path: Path) -> None:
    segments = [{"src": "one", "mt": "eins", "COMET": 0.5, "variance": 0.01}]
    data = io.load(put(tmp_path / "hyp.json", segments))
    assert data.models == ("hyp",)
    assert data.references == ()
    assert data.cells["variance"].tolist() == [[0.01]]


def test_files_of_one_name_keep_their_folders(tmp_path: Path) -> None:
    value = {"a/hyp.txt": held()[ODD], "b/hyp.txt": held()[ODD], "GPT-4.1": held()[ODD]}
    assert io.load(put(tmp_path / "o.json", value)).models == ("GPT-4.1", "a/hyp.txt", "b/hyp.txt")


def test_other_sources_are_refused(tmp_path: Path) -> None:
    value = held()
    value[ODD][1]["src"] = "three"
    path = put(tmp_path / "o.json", value)
    with pytest.raises(InputError) as caught:
        io.load(path)
    assert str(caught.value) == (
        f'{path}, field {ODD}[1].src: the source is "three", but out/hyp1.txt has "two" there. '
        "Score the same sources in the same order for every model."
    )


def test_another_number_of_segments_is_refused(tmp_path: Path) -> None:
    value = held()
    value[ODD].pop()
    path = put(tmp_path / "o.json", value)
    with pytest.raises(InputError) as caught:
        io.load(path)
    assert str(caught.value) == (
        f"{path}, field {ODD}: there are 1 segments, but out/hyp1.txt has 2. "
        "Score the same sources for every model."
    )


@pytest.mark.parametrize(
    ("key", "value", "wrong"),
    [
        ("COMET", "high", 'field out/hyp1.txt[1].COMET: "high" is text, not a number'),
        ("mt", 3, "field out/hyp1.txt[1].mt: 3 is not text"),
    ],
)
def test_a_bad_value_is_named(tmp_path: Path, key: str, value: Any, wrong: str) -> None:
    whole = held()
    whole["out/hyp1.txt"][1][key] = value
    with pytest.raises(InputError) as caught:
        io.load(put(tmp_path / "o.json", whole))
    assert wrong in str(caught.value)


@pytest.mark.parametrize("value", [{}, {"a": 3}, {"a": [{"mt": "x"}]}, 3])
def test_what_is_something_else_is_not_taken_for_it(tmp_path: Path, value: Any) -> None:
    assert not io.format_named("comet").recognises(Head(put(tmp_path / "o.json", value)))


def test_an_empty_object_holds_no_item(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no item in it"):
        io.load(put(tmp_path / "o.json", {}), "comet")
    with pytest.raises(InputError, match="expected an object of lists by file"):
        io.load(put(tmp_path / "o.json", 3), "comet")
