"""What is in every picture: marks, encodings, rows, titles and footnotes."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

import sparingly
from sparingly.base.errors import UsageError
from sparingly.show.figures import look
from tests.show.figures.made import (
    chart_title,
    curves,
    demo,
    footnote,
    marks,
    picture,
    rows,
    spec,
    subtitle,
    views,
)


def test_every_picture_says_what_it_is_and_of_how_much() -> None:
    whole = spec()
    assert chart_title(whole)
    assert subtitle(whole)
    assert whole["title"]["orient"] == "bottom"
    assert any(number in footnote(whole) for number in ("240", "24 items"))
    assert whole["background"] == "#FFFFFF"
    assert whole["description"].startswith(chart_title(whole))
    assert whole["config"]["font"] == look.FONT


def test_every_row_of_every_picture_can_be_written_and_no_colour_is_unknown() -> None:
    whole = spec()
    json.dumps(whole, allow_nan=False)
    allowed = {*look.COLOURS, look.GREY, look.PALE}
    for view in views(whole):
        assert rows(whole, view), view["mark"]
        colour = view.get("encoding", {}).get("color", {})
        assert set(colour.get("scale", {}).get("range", [])) <= allowed


def test_every_axis_has_a_title() -> None:
    whole = spec()
    for axis in ("x", "y"):
        titles = [view["encoding"][axis].get("title") for view in views(whole) if axis in view["encoding"]]
        assert any(titles), axis


def test_a_picture_is_the_same_twice() -> None:
    assert picture().to_dict() == spec()


def test_curves() -> None:
    whole, shown = spec(), curves()
    (line,) = marks(whole, "line")
    labels = line["encoding"]["color"]["scale"]["domain"]
    assert labels[-1].startswith("random, mean of 5 draws (")
    assert labels[0] == f"metric_var:metric=learned ({shown[0].curve.average:.3f})"
    held = rows(whole, line)
    assert [row["value"] for row in held if row["method"] == labels[1]] == pytest.approx(
        shown[1].curve.values.tolist(), rel=1e-5
    )
    (band,) = marks(whole, "area")
    assert [(row["low"], row["high"]) for row in rows(whole, band)] == [
        pytest.approx(ends, rel=1e-5) for ends in zip(shown[0].random.low, shown[0].random.high, strict=True)
    ]
    assert line["encoding"]["x"]["axis"]["values"] == [0.1, 0.3]


def test_one_curve_alone_and_one_random_draw() -> None:
    alone = sparingly.curve(demo(), "diversity", "overall", shares=[0.1, 0.3], runs=1)
    whole = dict(sparingly.figure(alone).to_dict())
    assert marks(whole, "area") == []
    assert "One random draw has no interval." in footnote(whole)


def test_what_cannot_be_drawn() -> None:
    first = curves()[0]
    other = sparingly.curve(demo(), "diversity", "fluency", shares=[0.1], runs=2)
    things: list[tuple[Any, str]] = [
        ([], "needs at least one"),
        ([first, other], "one set, one truth and one measure"),
        ([first, first], "A method is there twice"),
        (["text"], "no picture of list"),
    ]
    for thing, sentence in things:
        with pytest.raises(UsageError, match=sentence):
            sparingly.figure(thing)


# --- the look ---------------------------------------------------------------------------------------


def test_long_texts_are_wrapped() -> None:
    long = "a model (tuned) " * 20
    whole = look.framed(picture().vconcat[0], long, long, [long], width=300).to_dict()
    texts = [*whole["vconcat"][0]["title"]["text"], *whole["title"]["text"]]
    assert max(map(len, texts)) <= 64
    assert " ".join(whole["title"]["text"]) == long.strip()


def test_a_legend_has_as_many_columns_as_fit() -> None:
    assert look.legend_below(["a", "b"]).to_dict()["columns"] == 2
    assert look.legend_below(["x" * 90, "b"]).to_dict()["columns"] == 1
    assert "symbolType" not in look.legend_below(["a"], lines=False).to_dict()


def test_numbers_are_cut_and_missing_ones_are_none() -> None:
    values = look.inline([{"a": 1 / 3, "b": float("nan"), "c": 2.0, "d": 10**12}]).to_dict()["values"]
    assert values == [{"a": 0.333333, "b": None, "c": 2, "d": 10**12}]


def test_importing_the_package_loads_no_drawing_library() -> None:
    code = (
        "import sys, sparingly; sparingly.figure; sparingly.save_figure; sparingly.curve;"
        "print([name for name in ('altair', 'vl_convert') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
