from __future__ import annotations

from pathlib import Path

import pytest

from sparingly.bench.grid import grid_of
from sparingly.bench.play import PlayReport, headline, overview, play, show_overview


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> PlayReport:
    out = tmp_path_factory.mktemp("overview") / "table.parquet"
    grid = grid_of(
        ["random", "uniform|weighted_mean", "residual_size"],
        sets=["demo"],
        budgets=["20%"],
        seeds=2,
        resamples=0,
    )
    return play(grid, None, out)


def test_means_are_over_the_runs_of_a_set(report: PlayReport) -> None:
    rows = {row["entry"]: row for row in overview(report)}
    runs = report.table.filter(report.table["entry"] == "random")
    assert rows["random"]["soft_pairwise_accuracy"] == pytest.approx(runs["soft_pairwise_accuracy"].mean())
    assert rows["random"]["coverage"] is None
    drawn = report.table.filter(report.table["entry"] == "uniform|weighted_mean")
    assert rows["uniform|weighted_mean"]["coverage"] == pytest.approx(drawn["covered"].sum() / 12)
    assert rows["residual_size"]["sets"] == 0


def test_the_lowest_budgets_do_not_count(tmp_path: Path) -> None:
    both = play(
        grid_of(["random"], sets=["demo"], budgets=["2%", "20%"], seeds=2), None, tmp_path / "t.parquet"
    )
    wanted = both.table.filter(both.table["share"] == 0.2)["soft_pairwise_accuracy"].mean()
    assert overview(both)[0]["soft_pairwise_accuracy"] == pytest.approx(wanted)
    low = play(grid_of(["random"], sets=["demo"], budgets=["2%"], seeds=2), None, tmp_path / "t.parquet")
    assert overview(low)[0]["soft_pairwise_accuracy"] is not None


def test_what_is_printed(
    report: PlayReport, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    show_overview(PlayReport(report.table, 5, {"talks": "no truth."}), "table.parquet")
    printed = capsys.readouterr().out
    assert "uniform|weighted_mean" in printed
    assert "5 cells, 5 of them computed now, 1 not applicable: table.parquet" in printed
    assert "note: talks is left out: no truth." in printed
    assert headline(report, "x").endswith(": x")
