"""What is in the picture of every analysis: marks, encodings, rows, titles and footnotes."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparingly
from benchmarks.analyses.base import Analysis, name_list, short
from benchmarks.analyses.clusters import _ticks, cluster_norms
from benchmarks.analyses.difference_map import DifferenceMap, difference_map
from benchmarks.analyses.distances import winning_distances
from benchmarks.analyses.irt import irt_check, item_curves
from benchmarks.analyses.norms import ChosenNorms, chosen_norms
from benchmarks.analyses.success import success_by_norm
from sparingly.show.figures import look
from sparingly.show.figures.save import save_figure
from tests.show.figures.made import (
    Spec,
    chart_title,
    demo,
    footnote,
    marks,
    rows,
    subtitle,
    titles_of_axes,
    views,
)
from tests.show.figures.test_save import texts

PAIR = ("Elm + rerank (beam = 4)", "Rowan")


def norms() -> ChosenNorms:
    chosen = {method: sparingly.select(demo(), method, 24) for method in ("diffuse", "random")}
    return chosen_norms(demo(), chosen)


def map_of_pair() -> DifferenceMap:
    chosen = sparingly.select(demo().take(models=PAIR), "diffuse:weighted=true", 12)
    return difference_map(demo(), PAIR, chosen, truth="overall")


FOUND: dict[str, Callable[[], Analysis]] = {
    "norms": norms,
    "clusters": lambda: cluster_norms(demo(), [10, 25], most=50),
    "success": lambda: success_by_norm(demo(), truth="overall"),
    "distances": lambda: winning_distances(demo(), truth="overall"),
    "map": map_of_pair,
    "item-curves": lambda: item_curves(demo(), "irt:metric=learned"),
    "irt-fit": lambda: irt_check(demo(), "irt:metric=learned", most=40),
}


@cache
def found(kind: str) -> Any:
    return FOUND[kind]()


@cache
def spec(kind: str) -> Spec:
    return dict(found(kind).draw().to_dict())


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


def test_long_names_are_shortened() -> None:
    assert len(short("a model (tuned) " * 20)) <= 43
    assert short("Elm + rerank (beam = 4)") == "Elm + rerank (beam = 4)"
    assert name_list(["a", "b", "c"]) == "3 models"


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
    assert found(kind).draw().to_dict() == spec(kind)


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
    whole = dict(cluster_norms(demo(), [10], pair=PAIR).draw().to_dict())
    assert subtitle(whole).startswith("Elm + rerank (beam = 4) against Rowan")


def test_ticks_of_large_sets_are_decades() -> None:
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
    whole = dict(shown.draw().to_dict())
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
    whole = dict(difference_map(demo(), PAIR).draw().to_dict())
    (points,) = marks(whole, "circle")
    assert points["encoding"]["color"]["scale"]["domain"] == ["not judged"]
    assert marks(whole, "point") == []
    unweighted = difference_map(demo(), PAIR, ["item-001"])
    (rings,) = marks(dict(unweighted.draw().to_dict()), "point")
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
    (line,) = marks(dict(shown.draw().to_dict()), "line")
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
    whole = dict(shown.draw().to_dict())
    assert len(marks(whole, "rule")) == 1, "those of the bins"
    assert marks(whole, "circle") == []
    assert "intervals" not in subtitle(whole)


@pytest.mark.parametrize("kind", FOUND)
def test_every_picture_is_valid_xml_with_its_axes(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"{kind}.svg"
    save_figure(found(kind).draw(), path)
    shown = texts(path)
    for part in titles_of_axes(spec(kind)):
        assert part in shown
    assert chart_title(spec(kind)) in shown


def test_names_cannot_break_out_of_the_page(tmp_path: Path) -> None:
    evil = '</script><script>alert("&")</script>'
    scores = np.array([[1.0, 2.0], [3.0, 1.0]])
    data = sparingly.EvalSet.from_arrays(
        ["x", "y"], ["a", evil], outputs=[["one", "two"], ["same", "same"]], aspects={"mqm": scores}
    )
    chart = difference_map(data, truth="mqm").draw()
    for suffix in (".html", ".svg"):
        save_figure(chart, tmp_path / f"map{suffix}")
    assert evil not in (tmp_path / "map.html").read_text(encoding="utf-8")
    assert (tmp_path / "map.html").read_text(encoding="utf-8").count("<script>") == 2
    assert any("alert" in text for text in texts(tmp_path / "map.svg"))
