"""What a played grid prints: the means of each method over sets, budgets and runs, and the failures."""

from __future__ import annotations

from typing import Any

from sparingly.bench.grid import first_share
from sparingly.bench.play import PlayReport
from sparingly.bench.replay import COMPLETED, FAILED, NOT_APPLICABLE
from sparingly.show.terminal.console import fixed, line, notes, percent, show_table

_MEANS = ("soft_pairwise_accuracy", "pairwise_accuracy", "kendall_b", "top1_match", "seconds")


def overview(report: PlayReport) -> list[dict[str, Any]]:
    """Return one row per entry: on how many sets it was played, and its means, every set counting the same.

    Within a set, budgets and runs count the same; the lowest budgets, which are there for parity alone, are
    left out unless only they were played. Sets that are too small to count are in it, too: they are left out
    where methods are compared with each other (see the leaderboard).
    """
    import polars as pl

    completed = report.table.filter(pl.col("status") == COMPLETED)
    # A resample has the budgets of the whole set.
    items = dict(completed.group_by("set").agg(pl.col("items").max()).iter_rows())
    if items:
        first = completed["set"].replace_strict({name: first_share(count) for name, count in items.items()})
        usual = completed.filter(completed["share"] >= first)
        completed = usual if usual.height else completed
    # Of the printed intervals, those that hold the full set's score; of significant pairs, the wrong ones.
    coverage = (pl.col("covered").sum() / pl.col("intervals").sum()).fill_nan(None)
    wrong_sign = (pl.col("wrong_sign").sum() / pl.col("significant").sum()).fill_nan(None)
    by_set = completed.group_by("entry", "set").agg(
        pl.col(_MEANS).mean(), coverage.alias("coverage"), wrong_sign.alias("wrong_sign")
    )
    means = by_set.group_by("entry").agg(
        pl.len().alias("sets"), pl.col(*_MEANS, "coverage", "wrong_sign").mean()
    )
    order = report.table.select("entry").unique(maintain_order=True)
    summary = order.join(means, on="entry", how="left").with_columns(pl.col("sets").fill_null(0))
    columns = ("soft_pairwise_accuracy", "entry")
    return summary.sort(*columns, descending=[True, False], nulls_last=True).to_dicts()


def show_overview(report: PlayReport, path: str) -> None:
    """Print the overview of a run, and where its table is."""
    columns = ("method", "sets", "soft accuracy", "accuracy", "Kendall b", "best", "coverage", "wrong")
    rows = [
        (
            row["entry"],
            str(row["sets"]),
            fixed(row["soft_pairwise_accuracy"], 4),
            fixed(row["pairwise_accuracy"], 4),
            fixed(row["kendall_b"], 3),
            percent(row["top1_match"]),
            percent(row["coverage"]),
            percent(row["wrong_sign"]),
        )
        for row in overview(report)
    ]
    show_table(columns, rows, numbers=7)
    line(headline(report, path))
    notes((f"{name} is left out: {reason}" for name, reason in report.left_out.items()))


def headline(report: PlayReport, path: str) -> str:
    """Return in one line how many cells there are, and how they ended."""
    parts = [f"{report.table.height} cells, {report.computed} of them computed now"]
    for status, words in ((NOT_APPLICABLE, "not applicable"), (FAILED, "failed")):
        if count := report.count(status):
            parts.append(f"{count} {words}")
    return f"{', '.join(parts)}: {path}"
