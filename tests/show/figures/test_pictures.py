"""What is in every picture: marks, encodings, rows, titles and footnotes."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import UsageError
from sparingly.infer.analysis.cluster_norms import cluster_norms
from sparingly.infer.analysis.difference_map import difference_map
from sparingly.infer.analysis.irt_check import irt_check
from sparingly.infer.analysis.item_curves import item_curves
from sparingly.infer.analysis.success_by_norm import success_by_norm
from sparingly.show.figures import look
from tests.show.figures.made import FOUND, PAIR, Spec, demo, found, marks, rows, spec, views


def chart_title(whole: Spec) -> str:
    return " ".join(whole["vconcat"][0]["title"]["text"])


def subtitle(whole: Spec) -> str:
    return " ".join(whole["vconcat"][0]["title"]["subtitle"])


def footnote(whole: Spec) -> str:
    return " ".join(whole["title"]["text"])


@pytest.mark.parametrize("kind", FOUND)
def test_every_picture_says_what_it_is_and_of_how_much(kind: str) -> None:
    whole = spec(kind)
    assert chart_title(whole)
    assert subtitle(whole)
    assert whole["title"]["orient"] == "bottom"
    assert any(number in footnote(whole) for number in ("240", "24 items"))
    assert whole["background"] == "#FFFFFF"
    assert whole["description"].startswith(chart_title(whole))
    assert whole["config"]["font"] == look.FONT


@pytest.mark.parametrize("kind", FOUND)
def test_every_row_of_every_picture_can_be_written_and_no_colour_is_unknown(kind: str) -> None:
    whole = spec(kind)
    json.dumps(whole, allow_nan=False)
    allowed = {*look.COLOURS, look.GREY, look.PALE}
    for view in views(whole):
        assert rows(whole, view), view["mark"]
        colour = view.get("encoding", {}).get("color", {})
        assert set(colour.get("scale", {}).get("range", [])) <= allowed


@pytest.mark.parametrize("kind", [kind for kind in FOUND if kind != "map"])
def test_every_axis_has_a_title(kind: str) -> None:
    whole = spec(kind)
    for axis in ("x", "y"):
        titles = [view["encoding"][axis].get("title") for view in views(whole) if axis in view["encoding"]]
        assert any(titles), axis


@pytest.mark.parametrize("kind", FOUND)
def test_a_picture_is_the_same_twice(kind: str) -> None:
    assert sparingly.figure(found(kind)).to_dict() == spec(kind)


def test_norms() -> None:
    whole, shown = spec("norms"), found("norms")
    (bars,) = marks(whole, "bar")
    assert [row["share"] for row in rows(whole, bars)] == pytest.approx(
        list(shown.groups[0].shares), rel=1e-5
    )
    (line,) = marks(whole, "line")
    assert line["mark"]["interpolate"] == "step-after"
    steps = [row for row in rows(whole, line) if row["group"].startswith("diffuse (mean ")]
    assert steps[0]["share"] == steps[-1]["share"] == 0
    assert len(steps) == len(shown.edges) + 1
    (rule,) = marks(whole, "rule")
    assert [row["mean"] for row in rows(whole, rule)] == pytest.approx(
        [one.mean for one in shown.groups], rel=1e-5
    )
    assert "diffuse 24" in footnote(whole)


def test_clusters_have_a_panel_for_every_number() -> None:
    whole, shown = spec("clusters"), found("clusters")
    panels = marks(whole, "circle")
    assert len(panels) == 2
    assert sum(len(rows(whole, panel)) for panel in panels) == len(shown.clusters) == 50
    for panel in panels:
        scale = panel["encoding"]["x"]["scale"]
        assert scale["type"] == "log"
        assert all(scale["domain"][0] <= row["share"] <= 1 for row in rows(whole, panel))
    titles = [panel["title"]["text"] for panel in whole["vconcat"][0]["concat"]]
    assert titles[0].startswith("10 clusters: the largest holds ")
    assert "Shown: 50 of" in footnote(whole)


def test_clusters_of_one_pair_are_named() -> None:
    whole = dict(sparingly.figure(cluster_norms(demo(), [10], pair=PAIR)).to_dict())
    assert subtitle(whole).startswith("Elm + rerank (beam = 4) against Rowan")


def test_ticks_of_large_sets_are_decades() -> None:
    from sparingly.show.figures.clusters import _ticks

    assert _ticks(0.15) == [0.2, 0.5, 1.0]
    assert _ticks(0.00005) == pytest.approx([1e-4, 1e-3, 1e-2, 0.1, 1.0])


def test_success_of_all_pairs_has_a_line_for_random_bins() -> None:
    whole, shown = spec("success"), found("success")
    (line,) = marks(whole, "line")
    by_name: dict[str, list[float]] = {}
    for row in rows(whole, line):
        by_name.setdefault(row["what"], []).append(row["share"])
    assert by_name["the same for random bins"] == pytest.approx([shown.random] * 10, rel=1e-5)
    assert by_name["items that prefer the winner"] == pytest.approx(
        [one.winner for one in shown.bins], rel=1e-5
    )
    assert by_name["pairs whose winner the bin names"] == pytest.approx(
        [one.success for one in shown.bins], rel=1e-5
    )
    assert set(line["encoding"]["color"]["scale"]["domain"]) == set(by_name)


def test_success_of_one_pair_names_the_winner_and_has_no_share_of_pairs() -> None:
    shown = success_by_norm(demo(), truth="overall", pair=PAIR)
    whole = dict(sparingly.figure(shown).to_dict())
    (line,) = marks(whole, "line")
    assert {row["what"] for row in rows(whole, line)} == {
        "items that prefer the winner",
        "items that prefer the loser",
        "ties",
    }
    assert f"won by {shown.winner}" in subtitle(whole)


def test_distances() -> None:
    whole, shown = spec("distances"), found("distances")
    (bars,) = marks(whole, "bar")
    assert [row["pairs"] for row in rows(whole, bars)] == list(shown.counts)
    assert bars["encoding"]["x"]["bin"] == "binned"
    (text,) = marks(whole, "text")
    assert rows(whole, text)[0]["text"] == f"median {shown.median:.1%}"


def test_map_has_points_rings_and_circles() -> None:
    whole, shown = spec("map"), found("map")
    (points,) = marks(whole, "circle")
    held = rows(whole, points)
    assert len(held) == 240
    names = points["encoding"]["color"]["scale"]["domain"]
    assert names[:2] == ["preferred: Elm + rerank (beam = 4)", "preferred: Rowan"]
    assert {row["preference"] for row in held} == set(names)
    (rings,) = marks(whole, "point")
    assert rings["encoding"]["size"]["field"] == "stands for"
    assert sorted(row["stands for"] for row in held if row["chosen"]) == sorted(
        point.weight for point in shown.points if point.chosen
    )
    (circles,) = marks(whole, "line")
    for row in rows(whole, circles):
        assert np.hypot(row["x"], row["y"]) == pytest.approx(row["radius"], rel=1e-4)
    assert "In the middle: 36 items with the same output from both." in footnote(whole)


def test_map_without_preferences_and_choices() -> None:
    whole = dict(sparingly.figure(difference_map(demo(), PAIR)).to_dict())
    (points,) = marks(whole, "circle")
    assert points["encoding"]["color"]["scale"]["domain"] == ["not judged"]
    assert marks(whole, "point") == []
    unweighted = difference_map(demo(), PAIR, ["item-001"])
    (rings,) = marks(dict(sparingly.figure(unweighted).to_dict()), "point")
    assert rings["encoding"]["size"] == {"value": 90}


def test_item_curves() -> None:
    whole, shown = spec("item-curves"), found("item-curves")
    (line,) = marks(whole, "line")
    assert len(rows(whole, line)) == len(shown.curves) * len(shown.grid)
    (observed,) = marks(whole, "circle")
    assert len(rows(whole, observed)) == len(shown.curves) * 8
    (ticks,) = marks(whole, "tick")
    assert {row["model"] for row in rows(whole, ticks)} == set(demo().models)
    labels = line["encoding"]["color"]["scale"]["domain"]
    assert len(set(labels)) == 6
    assert all(label.endswith(one.item) for label, one in zip(labels, shown.curves, strict=True))


def test_many_curves_are_told_apart() -> None:
    shown = item_curves(demo(), "irt:metric=learned,fit=map", count=20)
    (line,) = marks(dict(sparingly.figure(shown).to_dict()), "line")
    colours, dashes = (line["encoding"][name]["scale"]["range"] for name in ("color", "strokeDash"))
    assert len({(colour, tuple(dash)) for colour, dash in zip(colours, dashes, strict=True)}) == 20


def test_irt_fit() -> None:
    whole, shown = spec("irt-fit"), found("irt-fit")
    (single,) = marks(whole, "circle")
    assert len(rows(whole, single)) == 40
    bins, abilities = marks(whole, "point")
    assert [row["observed"] for row in rows(whole, bins)] == pytest.approx(
        [one.observed for one in shown.bins], rel=1e-5
    )
    assert abilities["encoding"]["y"]["sort"] == [one.model for one in shown.abilities]
    assert len(marks(whole, "rule")) == 2, "intervals of bins and of abilities"


def test_irt_fit_without_intervals_draws_none() -> None:
    shown = irt_check(demo(), "irt:metric=learned,response=binary,fit=map")
    whole = dict(sparingly.figure(shown).to_dict())
    assert len(marks(whole, "rule")) == 1, "those of the bins"
    assert marks(whole, "circle") == []
    assert "intervals" not in subtitle(whole)


def test_curves() -> None:
    whole, shown = spec("curve"), found("curve")
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
    first = found("curve")[0]
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


def test_long_texts_are_wrapped_and_names_shortened() -> None:
    long = "a model (tuned) " * 20
    whole = look.framed(
        sparingly.figure(found("distances")).vconcat[0], long, long, [long], width=300
    ).to_dict()
    texts = [*whole["vconcat"][0]["title"]["text"], *whole["title"]["text"]]
    assert max(map(len, texts)) <= 64
    assert " ".join(whole["title"]["text"]) == long.strip()
    assert len(look.short(long)) <= 43
    assert look.short("Elm + rerank (beam = 4)") == "Elm + rerank (beam = 4)"
    assert look.named(["a", "b", "c"]) == "3 models"


def test_a_legend_has_as_many_columns_as_fit() -> None:
    assert look.legend_below(["a", "b"]).to_dict()["columns"] == 2
    assert look.legend_below(["x" * 90, "b"]).to_dict()["columns"] == 1
    assert "symbolType" not in look.legend_below(["a"], lines=False).to_dict()


def test_numbers_are_cut_and_missing_ones_are_none() -> None:
    values = look.inline([{"a": 1 / 3, "b": float("nan"), "c": 2.0, "d": 10**12}]).to_dict()["values"]
    assert values == [{"a": 0.333333, "b": None, "c": 2, "d": 10**12}]


def test_importing_the_package_and_the_analyses_loads_no_drawing_library() -> None:
    code = (
        "import sys, sparingly; sparingly.figure; sparingly.save_figure; sparingly.chosen_norms;"
        "print([name for name in ('altair', 'vl_convert') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
