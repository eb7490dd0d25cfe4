"""``sparingly figure``: a picture of how well methods do over budgets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts.validators import Number

from sparingly.base.errors import UsageError
from sparingly.base.syntax import command_with
from sparingly.cli.estimate import Aspect
from sparingly.cli.options import DEFAULT_READ_OPTIONS, Json, ReadOptions, Seed, emit, working
from sparingly.cli.parameters import about, several
from sparingly.cli.subject import Sources, subject_of


def figure(
    kind: Annotated[Literal["curve"], about("What to draw.")],
    sources: Sources,
    /,
    *,
    out: Annotated[
        Path | None, about("The file: .html, .svg, .png, .pdf, or .json (Vega-Lite).", "--out", "-o")
    ] = None,
    aspect: Aspect = None,
    method: Annotated[tuple[str, ...], several("A method", "--method", "-m")] = (),
    measure: Annotated[str | None, about("What a curve measures.")] = None,
    runs: Annotated[
        int | None, about("Random draws behind a curve; 20 unless given.", validator=Number(gte=1))
    ] = None,
    seed: Seed = 0,
    reading: ReadOptions = DEFAULT_READ_OPTIONS,
    json: Json = False,
) -> None:
    """Draw how well methods do over budgets.

    ```
    sparingly figure curve data.jsonl -a mqm -m metric_var:metric=COMET -m diversity -o curve.svg
    ```

    - curve: agreement with the full set over budgets, against random selection

    ```
    sparingly figure curve data.jsonl -a mqm -m diversity --measure kendall_b --json
    ```
    """
    from sparingly.infer.rank.compare import curve
    from sparingly.show.figures.charts import figure as draw
    from sparingly.show.figures.save import picture_kind, save_figure
    from sparingly.show.terminal.console import show_figure

    if not json:
        if out is None:
            raise UsageError("Say where the picture goes: --out FILE, or print its data with --json.")
        picture_kind(out)
    elif out is not None:
        raise UsageError("A picture is written with --out, or its data printed with --json, not both.")
    with subject_of(sources, reading) as subject:
        subject.check_answered()
        evalset = subject.data
        truth = subject.aspect(aspect)
        if not method:
            first = next((f"metric_var:metric={metric}" for metric in evalset.metrics), "diversity")
            raise UsageError(f"Name a method to compare with random items: {command_with('--method', first)}")
    options: dict[str, Any] = {"measure": measure, "runs": runs}
    options = {name: value for name, value in options.items() if value is not None}
    with working("computing"):
        curves = [curve(evalset, text, truth, seed=seed, **options) for text in dict.fromkeys(method)]
    if json or out is None:
        emit([comparison.to_dict() for comparison in curves])
        return
    with working("drawing"):
        save_figure(draw(curves), out)
    lines = (
        f"{found.method}: {found.curve.measure.replace('_', ' ')} {found.curve.average:.4f} on average, "
        f"random {found.random.average:.4f}"
        for found in curves
    )
    show_figure(lines, out, ())
