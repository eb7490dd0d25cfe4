"""``sparingly figure``: the pictures that people share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts.validators import Number

from sparingly.base.errors import UsageError
from sparingly.base.format import error_text
from sparingly.base.syntax import command_with
from sparingly.cli.estimate import Aspect
from sparingly.cli.options import Json, Seed, emit, working
from sparingly.cli.parameters import about, several
from sparingly.cli.subject import DEFAULT_SOURCE, SourceOptions, Sources, Subject
from sparingly.infer.rank.ranking import Ranking

if TYPE_CHECKING:
    from sparingly.infer.plan.plan import Plan

Kind = Literal["scores", "wins", "budget", "judge", "raters", "curve"]
# Budgets of a picture of what more labels buy: steps of so many, so many of them at most.
_STEP, _STEPS = 50, 8


def figure(
    kind: Annotated[Kind, about("What to draw.")],
    sources: Sources,
    /,
    *,
    out: Annotated[
        Path | None, about("The file: .html, .svg, .png, .pdf, or .json (Vega-Lite).", "--out", "-o")
    ] = None,
    aspect: Aspect = None,
    method: Annotated[tuple[str, ...], several("Of curve: a method", "--method", "-m")] = (),
    measure: Annotated[str | None, about("Of curve: what it measures.")] = None,
    runs: Annotated[
        int | None, about("Of curve: random draws behind it; default: 20.", validator=Number(gte=1))
    ] = None,
    seed: Seed = 0,
    source: SourceOptions = DEFAULT_SOURCE,
    json: Json = False,
) -> None:
    """Draw a result as a picture to share.

    ```
    sparingly figure scores judged.jsonl chosen.json -o scores.png
    ```

    - scores: every model's score with its interval
    - wins: who wins against whom, all pairs of models
    - budget: what more labels buy, the interval's half-width against judged items
    - judge: the judge against people
    - raters: how raters agree, and how severe they are
    - curve: on past data with all labels, agreement over budgets beside random selection

    ```
    sparingly figure budget judged.jsonl chosen.json -a mqm -o budget.svg
    sparingly figure wins campaign.db -o wins.png
    sparingly figure curve data.jsonl -a mqm -m metric_var:metric=COMET -m diversity -o curve.svg
    sparingly figure curve data.jsonl -a mqm -m diversity --measure kendall_b --json
    ```
    """
    from sparingly.infer.rank.compare import CurveComparison
    from sparingly.show.figures.charts import draw_decisions
    from sparingly.show.figures.charts import figure as draw
    from sparingly.show.figures.save import picture_kind, save_figure
    from sparingly.show.terminal.console import line, show_path

    if kind != "curve":
        for name, value in (("method", method), ("measure", measure), ("runs", runs)):
            if value:
                raise UsageError(f"--{name} is for sparingly figure curve: leave it out.")
    if not json:
        if out is None:
            raise UsageError("Say where the picture goes: --out FILE, or print its data with --json.")
        picture_kind(out)
    elif out is not None:
        raise UsageError("A picture is written with --out, or its data printed with --json, not both.")
    with source.open(sources) as subject:
        subject.check_answered()
        options: dict[str, Any] = {"measure": measure, "runs": runs, "seed": seed}
        options = {name: value for name, value in options.items() if value is not None}
        with working("computing"):
            if kind == "curve":
                results = _curves(subject, aspect, method, options)
            else:
                results = [_result(kind, subject, aspect, seed)]
    if json or out is None:
        emit([found.to_dict() for found in results] if kind == "curve" else results[0].to_dict())
        return
    with working("drawing"):
        is_ranking = kind == "wins" and isinstance(results[0], Ranking)
        save_figure(
            draw_decisions(results[0]) if is_ranking else draw(results if kind == "curve" else results[0]),
            out,
        )
    lines = [
        f"{found.method}: {found.curve.measure.replace('_', ' ')} {found.curve.average:.3f} on average, "
        f"random {found.random.average:.3f}"
        if isinstance(found, CurveComparison)
        else _next_labels(found)
        if kind == "budget"
        else found.summary().sentences[0]
        for found in results
    ]
    for text in lines:
        line(text)
    show_path(out)


def _next_labels(found: Plan) -> str:
    """Say what the next labels buy."""
    line, *more = [row for row in found.table if row.n >= found.n] or list(found.table)
    if not more:
        return found.advice.sentences[0]
    widths = [error_text(row.half_width, is_rate=found.is_rate) for row in (line, more[0])]
    return (
        f"With {more[0].n} judged items instead of {line.n}, intervals of scores shrink from ± {widths[0]} "
        f"to ± {widths[1]}."
    )


def _curves(
    subject: Subject, aspect: str | None, method: tuple[str, ...], options: dict[str, Any]
) -> list[Any]:
    """Return curves of the methods that were named, or of the one that made the selection."""
    from sparingly.infer.rank.compare import curve

    if not method and subject.selection is not None:
        method = (subject.selection.signature.method,)
    if not method:
        first = next((f"metric_var:metric={metric}" for metric in subject.data.metrics), "diversity")
        raise UsageError(f"Name a method to compare with random items: {command_with('--method', first)}")
    data, truth = subject.data, subject.aspect(aspect)
    return [curve(data, text, truth, **options) for text in dict.fromkeys(method)]


def _result(kind: Kind, subject: Subject, aspect: str | None, seed: int) -> Any:
    """Return what the picture is of, with the same numbers as the command of that name prints."""
    running, data = subject.campaign, subject.data
    name = subject.part.data
    if kind == "judge":
        from sparingly.infer.judge.audit import judge

        return judge(data, subject.selection, subject.aspect(aspect), seed=seed)
    if kind == "raters":
        from sparingly.run.raters.report import rater_report

        return rater_report(data, subject.aspect(aspect), seed=seed)
    if subject.compares or (running is not None and running.compares(running.settings.data_named(name))):
        from sparingly.infer.compare.strengths import win_matrix

        matrix = win_matrix(data, aspect)
        return matrix.strengths if kind == "scores" else matrix
    if kind == "budget":
        from sparingly.infer.plan.plan import plan

        truth = subject.aspect(aspect)
        size, chosen = len(data), subject.selection
        judged = int(data.judged(truth).any(axis=1).sum()) if chosen is None else len(chosen)
        step = max(_STEP, -(-(size - judged) // (_STEP * _STEPS)) * _STEP)
        budgets = [*range(judged, size, step), size] if judged < size else None
        return plan(data, subject.selection, truth, budgets=budgets, target="population", seed=seed)
    if running is not None:
        at = subject.part.at
        measure = running.estimate if kind == "scores" else running.rank
        return measure(running.settings.data_named(name), at=at, seed=seed)
    truth, data = subject.scores(aspect)
    if kind == "scores":
        from sparingly.infer.estimate.estimate import estimate

        return estimate(data, subject.selection, truth, seed=seed)
    from sparingly.infer.rank.rank import rank

    return rank(data, subject.selection, truth, seed=seed)
