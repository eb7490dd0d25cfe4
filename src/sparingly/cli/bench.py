"""``sparingly bench``: every method on every set, replayed on answers that are known."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from sparingly.base.errors import AnswerIsNo, UsageError, listing
from sparingly.cli.options import Json, emit, working, write_text
from sparingly.cli.progress import progress

if TYPE_CHECKING:
    from sparingly.bench.grid import Grid
    from sparingly.bench.work import Report

_ONE_OR_MORE = Number(gte=1)


@Parameter(name="*")
@dataclass(frozen=True)
class Asked:
    """A grid without a file."""

    sets: Annotated[
        str | None, Parameter(help="The data sets, a,b,c; all of the folder unless given. demo needs none.")
    ] = None
    methods: Annotated[
        str | None, Parameter(help="The methods, 'METHOD;METHOD|ESTIMATOR'; {metric} is the set's metric.")
    ] = None
    budgets: Annotated[str | None, Parameter(help="Shares of the items, 10%,20%.")] = None
    seeds: Annotated[int | None, Parameter(validator=_ONE_OR_MORE, help="Runs of methods that draw.")] = None
    resamples: Annotated[
        int | None, Parameter(validator=Number(gte=0), help="80 % resamples for methods that do not draw.")
    ] = None

    def grid(self, file: Path | None) -> Grid:
        """Return the grid of a file, of these options, or the standard one."""
        from dataclasses import replace

        from sparingly.bench.grid import grid_of, read_grid, shares_of, standard_grid

        sets, budgets = _parts(self.sets, ","), _parts(self.budgets, ",")
        if self.methods is not None:
            if file is not None:
                raise UsageError("Methods are those of the grid's file, or --methods, not both.")
            return grid_of(
                _parts(self.methods, ";"),
                sets=sets,
                budgets=budgets,
                seeds=self.seeds,
                resamples=self.resamples,
            )
        given = standard_grid() if file is None else read_grid(file)
        asked = {"random": self.seeds, "stochastic": self.seeds, "resamples": self.resamples}
        runs = replace(given.runs, **{name: count for name, count in asked.items() if count is not None})
        return replace(given, sets=sets or given.sets, shares=shares_of(budgets) or given.shares, runs=runs)


@Parameter(name="*")
@dataclass(frozen=True)
class Working:
    """How the work is done."""

    jobs: Annotated[int, Parameter(validator=_ONE_OR_MORE, help="The number of processes.")] = 1
    cluster: Annotated[
        str | None, Parameter(help="A Dask scheduler, tcp://…, or local. Needs the extra `cluster`.")
    ] = None
    fresh: Annotated[bool, Parameter(negative="", show_default=False, help="Compute all cells again.")] = (
        False
    )


DEFAULT_ASKED, DEFAULT_WORKING = Asked(), Working()


def bench(
    grid: Annotated[
        Path | None, Parameter(help="The grid, a TOML file; the standard one unless given.")
    ] = None,
    /,
    *,
    data: Annotated[
        Path | None, Parameter(name=["--data", "-d"], help="The folder of the fully judged data sets.")
    ] = None,
    out: Annotated[
        Path | None, Parameter(name=["--out", "-o"], help="The table, a Parquet file; or a paper's figures.")
    ] = None,
    asked: Asked = DEFAULT_ASKED,
    work: Working = DEFAULT_WORKING,
    leaderboard: Annotated[Path | None, Parameter(help="A folder: write the leaderboard's pages.")] = None,
    paper: Annotated[
        str | None, Parameter(help="A paper's table, such as s0-table5; list names all.")
    ] = None,
    effort: Annotated[
        Literal["quick", "usual", "full"], Parameter(help="How often a paper's runs are repeated.")
    ] = "usual",
    json: Json = False,
) -> None:
    """Play methods on fully judged data, and measure what they save; or compute a paper's tables again.

    A table that is there is filled up: only cells that it lacks are computed, also after an interruption.

    ```
    sparingly bench grid.toml --data folder --out table.parquet --jobs 2
    sparingly bench --sets demo --methods "random;metric_var:metric={metric};random|greg" -o table.parquet
    sparingly bench --data folder --leaderboard pages --jobs 2
    sparingly bench --paper list
    sparingly bench --paper s0-table5 --data folder
    ```
    """
    if paper is not None:
        _refuse_with_paper(grid, asked, work, leaderboard)
        _paper(paper, data, out, work, effort, json)
        return
    report, where = _played(asked.grid(grid), data, out, work, leaderboard)
    if json:
        _emit_report(report, where)
    else:
        from sparingly.bench.overview import show_overview

        show_overview(report, str(where))
    if report.failures:
        count = len(report.failures)
        raise AnswerIsNo(f"{count} method{'s' * (count > 1)} failed: {listing(report.failures, 3)}")


def _played(
    grid: Grid, data: Path | None, out: Path | None, work: Working, leaderboard: Path | None
) -> tuple[Report, Path]:
    """Play the grid, write its table and the leaderboard where one is wanted."""
    from sparingly.bench.work import play

    table = out if out is not None else None if leaderboard is None else leaderboard / "table.parquet"
    if table is None:
        raise UsageError("Say where the table goes: --out FILE.parquet.")
    if leaderboard is not None:
        leaderboard.mkdir(parents=True, exist_ok=True)
    with progress("starting") as told:
        report = play(
            grid, data, table, jobs=work.jobs, cluster=work.cluster, fresh=work.fresh, progress=told
        )
    if leaderboard is not None:
        from sparingly.bench import leaderboard as pages

        with working("writing the leaderboard"):
            pages.write(table, leaderboard, grid_text=grid.text)
    return report, table


def _emit_report(report: Report, where: Path) -> None:
    from sparingly.bench.overview import overview

    emit(
        {
            "table": str(where),
            "cells": report.table.height,
            "computed": report.computed,
            "statuses": {name: report.count(name) for name in ("done", "not_applicable", "failed")},
            "left_out": report.left_out,
            "failures": report.failures,
            "entries": overview(report),
        }
    )


def _refuse_with_paper(grid: Path | None, asked: Asked, work: Working, leaderboard: Path | None) -> None:
    """Refuse what a paper's table does not heed: its sets, methods and runs are the paper's own."""
    given = {
        "GRID": grid,
        **{f"--{name}": value for name, value in vars(asked).items()},
        "--cluster": work.cluster,
        "--fresh": work.fresh or None,
        "--leaderboard": leaderboard,
    }
    if named := [name for name, value in given.items() if value is not None]:
        raise UsageError(
            f"A paper's table has its own sets, methods and runs: leave out {listing(named)}, or --paper."
        )


def _paper(name: str, data: Path | None, out: Path | None, work: Working, effort: str, json: bool) -> None:
    """Print a table of a paper next to the published figures."""
    from json import dumps

    from sparingly.bench.papers.catalogue import names, paper_table
    from sparingly.bench.papers.work import EFFORTS, Work

    if name == "list":
        found = [(one, paper_table(one).title) for one in names()]
        emit(dict(found)) if json else sys.stdout.write("".join(f"{one}  {title}\n" for one, title in found))
        return
    table = paper_table(name)
    if data is None:
        raise UsageError(f"The table {name} is computed on data sets: name their folder with --data.")
    kept = None if out is None else out.with_name(f"{out.name}.kept")
    with working(f"computing {name}"):
        figures = table.figures(Work(data, kept, EFFORTS[effort], jobs=work.jobs))
    if out is not None:
        write_text(out, dumps(figures, ensure_ascii=False, indent=2) + "\n")
    emit(figures) if json else sys.stdout.write(f"{table.title}\n\n{table.text(figures).rstrip()}\n")


def _parts(text: str | None, sign: str) -> tuple[str, ...]:
    return () if text is None else tuple(part.strip() for part in text.split(sign) if part.strip())
