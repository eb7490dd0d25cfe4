"""The tables and figures of Ashury Tahan et al. 2024: what is counted, and that each can be computed."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.analyses.__main__ import options as analysis_options
from benchmarks.analyses.clusters import Cluster
from benchmarks.papers.ashury import analyses, curves, iterative, variants
from benchmarks.papers.ashury.sets import BUDGETS, DEMO_SOURCE, HUMAN, METHODS, RISKS, RULES, SOURCES
from benchmarks.papers.catalogue import HOMES, IMPOSSIBLE, paper_table
from benchmarks.papers.work import Work

NAMES = [name for name in HOMES if name.startswith("s4-")]


def ends(labels: float, ended: tuple[float, float, float]) -> dict[str, Any]:
    """Build how ten runs ended, the same at every risk."""
    return {
        "runs": 10,
        "labels": [10 * labels] * len(RISKS),
        "ended": [list(ended)] * len(RISKS),
        "distance": [[0.3 * ended[0], 0.1 * ended[1], 0.2 * ended[2]]] * len(RISKS),
    }


def row(text: str, start: str) -> list[str]:
    """Return the cells of the first row of a table that starts so."""
    line = next(line for line in text.splitlines() if line.startswith(f"| {start}"))
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.mark.parametrize("name", NAMES)
def test_every_table_and_figure_can_be_computed(name: str, small: Work) -> None:
    table = paper_table(name)
    text = table.text(json.loads(json.dumps(table.figures(small))))
    assert table.name == name
    assert table.title.startswith("Ashury Tahan et al. 2024, ")
    assert text.count("| ---") >= 1
    assert "nan" not in text


def test_all_figures_that_are_plots_are_here() -> None:
    assert {f"s4-fig{number}" for number in range(2, 17)} | {"s4-table2", "s4-table3"} == set(NAMES)
    assert "s4-fig1" in IMPOSSIBLE


def test_an_iterative_row() -> None:
    one = {"title": "X", "ends": {f"{RULES[0]} {HUMAN}": ends(20, (7, 2, 1))}}
    found = row(iterative.iterative_table([one], 0.2, HUMAN), "X")
    assert found == ["X", "DiffUse", "20.0", "20.0", "70.0", "10.0", "0.25", "0.10", "0.30", "0.20"]


def test_other_rules_are_shown_at_a_risk_that_errs_no_more() -> None:
    mixed = ends(30, (8, 3, 0))
    mixed["ended"] = [[7, 3, 0]] * 8 + [[6, 1, 3]] * (len(RISKS) - 8)
    rules = {f"{rule} {HUMAN}": ends(20, (7, 2, 1)) for rule in RULES}
    rules[f"{RULES[1]} {HUMAN}"] = mixed
    found = row(iterative.matched_table([{"title": "X", "ends": rules}], HUMAN), "X")
    assert found[1:4] == ["20.0", "20, 70 % (0.2: 20.0)", f"30, 60 % ({RISKS[8]:g}: 10.0)"]


def test_published_outcomes_add_up() -> None:
    for rows in iterative.BY_RISK.values():
        assert len(rows) == 12
        for one in rows.values():
            assert sum(one[1:4]) == pytest.approx(100.0, abs=0.02)


def test_a_budget_that_takes_all_items_is_not_shown() -> None:
    hits = [float(place) for place in range(len(BUDGETS))]
    method = {"runs": 100, "hits": hits, "bias": hits, "squares": [100.0] * len(BUDGETS)}
    one = {
        "title": "X",
        "items": 60,
        "pairs": 3,
        "of_pairs": 6,
        "curves": {HUMAN: dict.fromkeys(METHODS, method)},
    }
    computed = {"seeds": 2, "sets": [one]}
    assert row(curves.text_of_all(computed), "X")[3:9] == [
        "1.0 / 1.0 / 1.0",
        "3.0 / 3.0 / 3.0",
        "5.0 / 5.0 / 5.0",
        "9.0 / 9.0 / 9.0",
        "–",
        "–",
    ]
    assert row(curves.text_of_bias(computed), "X")[2] == "+0.000 ± 0.100"
    assert "3 of 6" in curves.text_of_all(computed)


def test_the_two_pairs_are_a_far_and_a_close_one(small: Work) -> None:
    far, close = curves.two_pairs_figures(small)["panels"]
    assert far["distance"] > close["distance"]
    assert far["seeds"] == 20


def test_variants_start_from_the_same_sample_as_the_curves(small: Work) -> None:
    found = variants.run_seed(small, DEMO_SOURCE, 0)["variants"]
    by_one = (*variants.CLUSTERED, variants.MAX_NORM, variants.INPUTS)
    assert set(found) == {variants.RANDOM, *by_one, *(f"{name}, MiniLM" for name in by_one)}
    tallied = curves.figures(small)["sets"][0]["curves"][HUMAN]
    every = [variants.run_seed(small, DEMO_SOURCE, seed)["variants"] for seed in (0, 1)]
    same = {"random": variants.RANDOM, "diffuse": variants.DIFFUSE, "diffuse minilm": variants.MINILM}
    for ours, theirs in same.items():
        for budget in (5, 10, 50):
            hits = sum(one[theirs]["human"][variants.BUDGETS.index(budget)] for one in every)
            assert hits == tallied[ours]["hits"][BUDGETS.index(budget)]


def test_the_largest_norms_lie_in_the_last_deciles(small: Work) -> None:
    found = variants.run_seed(small, DEMO_SOURCE, 0)["variants"]
    random, largest = (np.array(found[name]["deciles"]) for name in (variants.RANDOM, variants.MAX_NORM))
    assert random.sum() == largest.sum() == 6 * (5 + 10 + 20 + 30 + 50)
    assert largest[-1] > largest[0] == 0
    assert found[variants.MAX_NORM]["norms"] > found[variants.RANDOM]["norms"]


def test_large_clusters_are_told_from_small_ones() -> None:
    clusters = [
        Cluster("a", "b", 3, items, items / 20, norm) for items, norm in ((18, 0.2), (1, 0.9), (1, 0.7))
    ]
    found = analyses._cluster_figures(clusters)
    assert found["largest"] == 0.9
    assert found["single"] == pytest.approx(2 / 3, abs=1e-6)
    assert (found["norm_large"], found["norm_small"]) == (0.2, 0.8)
    assert found["rank_correlation"] < -0.8


def test_rings_hold_all_items(small: Work) -> None:
    found = analyses.map_figures(small)["maps"]
    assert len(found) == 2
    for by_encoder in found:
        assert sum(one["items"] for one in by_encoder["rings"]) == len(small.load("demo"))
        for one in by_encoder["rings"]:
            assert one["first"] + one["second"] + one["tie"] == one["items"]


@pytest.mark.parametrize("kind", ["distances", "map", "clusters", "success"])
def test_the_command_of_a_picture_can_be_typed(kind: str) -> None:
    drawn = analyses._drawn(kind, SOURCES[-1], '--pair "A b" C --truth {truth}')
    start, typed = shlex.split(drawn["command"])[:3], shlex.split(drawn["command"])[3:]
    assert start == ["python", "-m", "benchmarks.analyses"]
    chosen = analysis_options(typed)
    assert (chosen.kind, chosen.pair, chosen.truth) == (kind, ["A b", "C"], SOURCES[-1].truth)
    assert chosen.data == Path(f"{SOURCES[-1].file}.jsonl.gz")


def test_sets_are_those_of_the_collection(shared_data: Path) -> None:
    for one in SOURCES:
        assert (shared_data / f"{one.file}.jsonl.gz").is_file()


def test_every_table_of_the_page_has_its_place() -> None:
    page = (Path(__file__).parents[4] / "docs" / "research" / "results-diffuse-casf.md").read_text(
        encoding="utf-8"
    )
    rules = {f"{rule} {truth}": ends(20, (7, 2, 1)) for rule in RULES for truth in (HUMAN, "metrics")}
    made = iterative.blocks({"sets": [{"title": "X", "ends": rules}]})
    for name in ("pairs-curves", *made):
        assert f"<!-- table: {name} -->" in page
