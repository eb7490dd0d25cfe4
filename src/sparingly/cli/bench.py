"""``sparingly bench``: every method on every set, replayed on answers that are known."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from sparingly.base.errors import AnswerIsNo, UsageError, listing
from sparingly.cli.options import Json, emit, progress

if TYPE_CHECKING:
    from sparingly.bench.grid import ReplayGrid
    from sparingly.bench.play import PlayReport

_ONE_OR_MORE = Number(gte=1)


@Parameter(name="*")
@dataclass(frozen=True)
class GridOptions:
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

    def grid(self, file: Path | None) -> ReplayGrid:
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
        base = standard_grid() if file is None else read_grid(file)
        counts = {"random": self.seeds, "stochastic": self.seeds, "resamples": self.resamples}
        runs = replace(base.runs, **{name: count for name, count in counts.items() if count is not None})
        return replace(base, sets=sets or base.sets, shares=shares_of(budgets) or base.shares, runs=runs)


@Parameter(name="*")
@dataclass(frozen=True)
class JobOptions:
    """How the work is done."""

    jobs: Annotated[int, Parameter(validator=_ONE_OR_MORE, help="The number of processes.")] = 1
    cluster: Annotated[
        str | None, Parameter(help="A Dask scheduler, tcp://…, or local. Needs the extra `cluster`.")
    ] = None
    fresh: Annotated[bool, Parameter(negative="", show_default=False, help="Compute all cells again.")] = (
        False
    )


DEFAULT_GRID, DEFAULT_JOBS = GridOptions(), JobOptions()


def bench(
    grid: Annotated[
        Path | None, Parameter(help="The grid, a TOML file; the standard one unless given.")
    ] = None,
    /,
    *,
    data: Annotated[
        Path | None, Parameter(name=["--data", "-d"], help="The folder of the fully judged data sets.")
    ] = None,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"], help="The table, a Parquet file.")] = None,
    options: GridOptions = DEFAULT_GRID,
    work: JobOptions = DEFAULT_JOBS,
    json: Json = False,
) -> None:
    """Play methods on fully judged data, and measure what they save.

    A table that is there is filled up: only cells that it lacks are computed, also after an interruption.

    ```
    sparingly bench grid.toml --data folder --out table.parquet --jobs 2
    sparingly bench --sets demo --methods "random;metric_var:metric={metric};random|greg" -o table.parquet
    ```
    """
    from sparingly.bench.overview import show_overview
    from sparingly.bench.play import play

    if out is None:
        raise UsageError("Say where the table goes: --out FILE.parquet.")
    with progress("starting") as report_progress:
        report = play(
            options.grid(grid),
            data,
            out,
            jobs=work.jobs,
            cluster=work.cluster,
            fresh=work.fresh,
            progress=report_progress,
        )
    if json:
        _emit_report(report, out)
    else:
        show_overview(report, str(out))
    if report.failures:
        count = len(report.failures)
        raise AnswerIsNo(f"{count} method{'s' * (count > 1)} failed: {listing(report.failures, 3)}")


def _emit_report(report: PlayReport, where: Path) -> None:
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


def _parts(text: str | None, sign: str) -> tuple[str, ...]:
    return () if text is None else tuple(part.strip() for part in text.split(sign) if part.strip())
