from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.infer.plan.outlook import growth
from sparingly.show.figures.charts import draw_decisions
from tests.show.figures.made import demo, marks, rows

DRAWN = sparingly.select(demo(), "uniform", 60, seed=1)
RANKING = sparingly.rank(demo(), DRAWN, "overall")
SCORES = sparingly.estimate(demo(), DRAWN, "overall")


def spec(found: Any) -> dict[str, Any]:
    return dict(sparingly.figure(found).to_dict())


def test_scores_are_points_on_their_intervals() -> None:
    drawn = spec(SCORES)
    (lines,) = marks(drawn, "rule")
    told = {row["name"]: row for row in rows(drawn, lines)}
    for place, model in enumerate(SCORES.models):
        assert told[model]["value"] == pytest.approx(SCORES.scores[place], rel=1e-5)
        assert told[model]["low"] == pytest.approx(SCORES.low[place], rel=1e-5)
    assert lines["encoding"]["y"]["sort"][0] == SCORES.models[SCORES.order[0]]


def test_withheld_intervals_are_counted() -> None:
    chosen = sparingly.select(demo(), "metric_var:metric=learned", 20)
    drawn = spec(sparingly.estimate(demo(), chosen, "overall"))
    assert all(row["low"] is None for row in rows(drawn, marks(drawn, "rule")[0]))
    assert drawn["title"]["text"] == ["8 intervals could not be told."]


def test_ranks_reach_from_the_best_to_the_worst() -> None:
    drawn = spec(RANKING)
    told = {row["model"]: (row["best"], row["worst"]) for row in rows(drawn, marks(drawn, "rule")[0])}
    assert told == {one.model: (one.best_rank, one.worst_rank) for one in RANKING.models}


def test_every_pair_is_a_cell_with_its_decision() -> None:
    drawn = dict(draw_decisions(RANKING).to_dict())
    (cells,) = marks(drawn, "rect")
    told = rows(drawn, cells)
    assert len(told) == 8 * 7
    better = RANKING.decisions.better
    names = [one.model for one in RANKING.models]
    for row in told:
        pair = names.index(row["model"]), row["other"] - 1
        assert row["value"] == (1.0 if better[pair] else 0.0 if better[pair[::-1]] else 0.5)
    assert "<.001" in {row["text"] for row in told}


def test_shares_of_the_set_and_the_selection() -> None:
    found = sparingly.representation(demo(), DRAWN)
    drawn = spec(found)
    told = rows(drawn, marks(drawn, "point")[0])
    social = {row["of"]: row["share"] for row in told if row["group"] == "domain: social"}
    assert social["the set"] == pytest.approx(100 / 240, rel=1e-5)
    assert social["the selection"] == pytest.approx(found.domains[0].selected_share, rel=1e-5)


def test_what_leans_is_in_the_picture_however_many_metrics_there_are() -> None:
    chosen = sparingly.select(demo(), "metric_avg:metric=noisy", 30)
    found = sparingly.representation(demo(), chosen)
    assert any(one.by == "metric noisy" for one in found.leanings)
    groups = {row["group"] for row in rows(spec(found), marks(spec(found), "point")[0])}
    assert any(group.startswith("metric noisy") for group in groups)


def test_growth_has_what_was_found_and_what_may_come() -> None:
    found = growth([SCORES])
    assert found is not None
    told = rows(spec(found), marks(spec(found), "line")[0])
    assert [row["n"] for row in told if row["of"] == "as found"] == [60]
    assert sum(row["of"] != "as found" for row in told) == len(found.ahead)


@pytest.mark.parametrize("name", ["bell \x07", "\x1b[31mred", "zero \x00", "no letter \uffff", "half \ud800"])
def test_letters_that_no_picture_can_hold_end_no_process(name: str, tmp_path: Path) -> None:
    found = sparingly.rank_scores(np.array([1.0, 2.0]), np.eye(2), models=(name, "plain"))
    sparingly.save_figure(sparingly.figure(found), tmp_path / "ranks.svg")
    assert "plain" in (tmp_path / "ranks.svg").read_text(encoding="utf-8")


def test_names_that_differ_at_their_ends_stay_apart(tmp_path: Path) -> None:
    names = tuple(
        f"a model whose name is longer than there is room for, version {place}" for place in range(8)
    )
    sparingly.save_figure(sparingly.figure(replace(SCORES, models=names)), tmp_path / "scores.svg")
    drawn = (tmp_path / "scores.svg").read_text(encoding="utf-8")
    for place in range(8):
        assert f", version {place}</text>" in drawn
