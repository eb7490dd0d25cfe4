"""``sparingly bench``: every method on every set, replayed on answers that are known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts.validators import Number

from sparingly.base.errors import AnswerIsNo, UsageError, listing
from sparingly.cli.options import Json, emit, parts_of, working
from sparingly.cli.parameters import about, flag

_ONE_OR_MORE = Number(gte=1)


def bench(
    grid: Annotated[Path | None, about("The grid, a TOML file; default: the standard one.")] = None,
    /,
    *,
    folder: Annotated[Path | None, about("The folder of the fully judged data sets.")] = None,
    out: Annotated[Path | None, about("The table, a Parquet file.", "--out", "-o")] = None,
    sets: Annotated[
        str | None, about("The data sets, a,b,c; default: all of the folder. demo needs none.")
    ] = None,
    methods: Annotated[
        str | None, about("The methods, 'METHOD;METHOD|ESTIMATOR'; {metric} is the set's metric.")
    ] = None,
    budgets: Annotated[str | None, about("Shares of the items, 10%,20%.")] = None,
    seeds: Annotated[int | None, about("Runs of random methods.", validator=_ONE_OR_MORE)] = None,
    resamples: Annotated[
        int | None, about("80 % resamples for deterministic methods.", validator=Number(gte=0))
    ] = None,
    jobs: Annotated[int, about("The number of processes.", validator=_ONE_OR_MORE)] = 1,
    cluster: Annotated[
        str | None, about("A Dask scheduler, tcp://…, or local. Needs the extra `cluster`.")
    ] = None,
    fresh: Annotated[bool, flag("Compute all cells again.", show_default=False)] = False,
    json: Json = False,
) -> None:
    """Compare methods on fully judged data.

    ```
    sparingly bench grid.toml --folder data --out table.parquet --jobs 2
    ```

    Only cells missing from the table are computed; an interrupted run continues.

    ```
    sparingly bench --sets demo --methods "random;metric_var:metric={metric};random|greg" -o table.parquet
    ```
    """
    from sparingly.bench.grid import grid_of, read_grid, shares_of, standard_grid
    from sparingly.bench.play import overview, play, show_overview

    if out is None:
        raise UsageError("Say where the table goes: --out FILE.parquet.")
    names, shares = tuple(parts_of(sets)), parts_of(budgets)
    with working("starting") as report_progress:
        if methods is None:
            base = standard_grid() if grid is None else read_grid(grid)
            counts = {"random": seeds, "stochastic": seeds, "resamples": resamples}
            runs = replace(base.runs, **{name: count for name, count in counts.items() if count is not None})
            replay_grid = replace(
                base, sets=names or base.sets, shares=shares_of(shares) or base.shares, runs=runs
            )
        elif grid is None:
            texts = parts_of(methods, ";")
            replay_grid = grid_of(texts, sets=names, budgets=shares, seeds=seeds, resamples=resamples)
        else:
            raise UsageError("Methods are those of the grid's file, or --methods, not both.")
        report = play(
            replay_grid, folder, out, jobs=jobs, cluster=cluster, fresh=fresh, progress=report_progress
        )
    if json:
        emit(
            {
                "table": str(out),
                "cells": report.table.height,
                "computed": report.computed,
                "statuses": {name: report.count(name) for name in ("done", "not_applicable", "failed")},
                "left_out": report.left_out,
                "failures": report.failures,
                "entries": overview(report),
            }
        )
    else:
        show_overview(report, str(out))
    if report.failures:
        count = len(report.failures)
        raise AnswerIsNo(f"{count} method{'s' * (count > 1)} failed: {listing(report.failures, 3)}")
