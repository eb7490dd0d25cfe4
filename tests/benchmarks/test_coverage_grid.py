"""The coverage grid: what it counts, what it keeps, and the table that docs/research/coverage.md shows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import coverage_grid
from benchmarks.coverage_grid import DESIGNS, Tally, blocks, ring, run_cell
from benchmarks.coverage_sets import FAMILIES, SOURCES, real_families
from benchmarks.pages import block, marker


def counted() -> Tally:
    tally = Tally()
    nan = np.nan
    tally.add(
        np.array([1.0, -1.0, 0.0]),
        np.array([0.5, 0.5, 0.5]),
        np.array([0.2, -2.0, nan]),
        np.array([2.0, -0.5, nan]),
        np.array([0.9, 0.3, 0.0]),
        widened=1,
    )
    tally.add(np.array([0.0]), np.array([0.5]), np.array([-1.0]), np.array([1.0]), np.array([0.0]))
    return tally


def test_intervals_are_counted() -> None:
    tally = counted()
    assert (tally.asked, tally.told, tally.held) == (4, 3, 2)
    assert tally.coverage == pytest.approx(2 / 3)
    assert tally.withheld == pytest.approx(1 / 4)
    assert tally.widened == pytest.approx(1 / 4)
    # The second interval lies below 0, and the truth above it.
    assert tally.wrong == pytest.approx(1 / 4)
    errors = np.array([0.1, -1.3, 0.0, 0.0])
    assert tally.bias == pytest.approx(errors.mean() / errors.std())
    assert tally.ratio == pytest.approx(0.5 / errors.std())


def test_arrays_are_the_replicates() -> None:
    tally = counted()
    # Of the first array 1 of 2 is held, of the second 1 of 1; each less 2/3 of its intervals.
    assert tally.slack == pytest.approx(np.sqrt((1 - 4 / 3) ** 2 + (1 - 2 / 3) ** 2) / 3)


def test_the_better_model_of_a_pair_is_in_front() -> None:
    first, second = ring(np.array([1.0, 3.0, 2.0]))
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == [(1, 0), (1, 2), (2, 0)]


@pytest.mark.parametrize(
    ("low", "truth", "of_pairs", "said"),
    [
        (-1.0, 0.0, True, []),
        (0.5, 0.0, False, ["covers 0.000", "bias +0.30"]),
        (0.5, -1.0, True, ["covers 0.000", "bias +1.30", "wrong sign 1.000"]),
    ],
)
def test_bars(low: float, truth: float, of_pairs: bool, said: list[str]) -> None:
    tally, drawn = Tally(), np.random.default_rng(0)
    for _ in range(400):
        away = drawn.normal(size=5)
        centre = truth + (away - away.mean()) / away.std() + (low > 0) * (0.3 - truth)
        ends = np.full(5, low), np.full(5, low + 2.0)
        tally.add(centre, np.ones(5), *ends, np.full(5, truth))
    assert coverage_grid.missed_bars(100, tally, of_pairs=of_pairs) == said
    assert coverage_grid.missed_bars(30, tally, of_pairs=of_pairs) == []


@pytest.mark.parametrize("design", DESIGNS)
def test_every_design_runs_for_both_targets(design: str) -> None:
    cells = run_cell(design, FAMILIES["ties"], 30, 20)
    assert set(cells) == {"set", "population"}
    for cell in cells.values():
        assert cell.scores.asked >= 20
        assert cell.mild_scores.asked == cell.scores.asked
        assert cell.differences.told > 0


def test_public_sets_that_are_not_there_are_left_out_with_a_reason(tmp_path: Path) -> None:
    families, reasons = real_families(tmp_path)
    assert families == {}
    assert [reason.split(":")[0] for reason in reasons] == [source.name for source in SOURCES]


@pytest.mark.shared_data
@pytest.mark.parametrize("name", [source.name for source in SOURCES])
def test_a_public_set_is_a_population(name: str, shared_data: Path) -> None:
    family = real_families(shared_data)[0][name]
    drawn = np.random.default_rng(1)
    scores, means, skew = family.scores(4000, drawn)
    assert scores.shape == (4000, 40)
    # Over all models the mean is 0 and the variance 1; sets of 4000 are near their population.
    assert np.abs(scores.mean(axis=0) - means).max() < 6 * scores.std(axis=0).max() / np.sqrt(4000)
    assert np.isfinite(skew).all()
    many, few = (family.metrics(200, drawn, many) for many in (True, False))
    assert many.good.shape == many.drawn.scores.shape == (200, 40)
    assert few.weak.shape == few.drawn.scores.shape
    assert few.good.shape[1] <= 20


def test_command_writes_figures_and_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, results = tmp_path / "page.md", tmp_path / "coverage.json"
    page.write_text(f"# Page\n{marker('coverage')}\n<!-- end -->\n", encoding="utf-8")
    places = ["--page", str(page), "--results", str(results), "--kept", str(tmp_path / "kept")]
    few = ["--intervals", "20", "--only", "uniform", "--only", "ppi", "--n", "30", "--family", "ties"]
    coverage_grid.main([*few, *places, "--docs", "--data", str(tmp_path)])
    computed = json.loads(results.read_text(encoding="utf-8"))
    assert [row["design"] for row in computed["rows"]] == ["uniform", "ppi"]
    assert block(page.read_text(encoding="utf-8"), "coverage") == blocks(computed)["coverage"]
    assert "left out: wmt23_zhen" in capsys.readouterr().out


def test_page_shows_the_figures() -> None:
    computed = json.loads(coverage_grid.RESULTS.read_text(encoding="utf-8"))
    page = coverage_grid.PAGE.read_text(encoding="utf-8")
    assert block(page, "coverage") == blocks(computed)["coverage"]
    assert {"uniform", "pivotal", "greg"} <= {row["design"] for row in computed["rows"]} <= set(DESIGNS)
