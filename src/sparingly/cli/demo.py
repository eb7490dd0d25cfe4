"""``sparingly demo``: the main job from end to end, on data that comes with the package."""

from __future__ import annotations

import json as text
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from rich.console import Console

from sparingly.cli.options import Json, Seed, emit, working, write_text

if TYPE_CHECKING:
    from sparingly.data.evalset import EvalSet
    from sparingly.data.selection import Selection
    from sparingly.infer.rank.compare import Comparison, CurveComparison

METHOD, BUDGET, TRUTH = "metric_var:metric=learned", "20%", "overall"


def demo(
    *,
    out: Annotated[Path, Parameter(name=["--out", "-o"], help="The folder to leave the files in.")] = Path(
        "sparingly-demo"
    ),
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Describe a set, choose what to judge, reveal the labels, and compare with judging everything.

    ```
    sparingly demo
    sparingly demo --out somewhere --seed 7
    ```
    """
    from sparingly.choose.select import select
    from sparingly.data.synthetic import load_demo
    from sparingly.infer.rank import compare

    data = load_demo()
    with working("choosing and comparing"):
        # The method is shown the set without its labels, as in real life.
        chosen = select(data.without_labels(), METHOD, BUDGET, seed=seed)
        compared = compare.agree(data, chosen, TRUTH, seed=seed)
        drawn = compare.curve(data, METHOD, TRUTH, seed=seed)
    out.mkdir(parents=True, exist_ok=True)
    console = _told(data, chosen, compared, drawn, out, quiet=json)
    left = _leave_files(out, data, chosen, compared, drawn, console)
    if json:
        emit({"folder": str(out), "files": left, **compared.to_dict()})


def _told(
    data: EvalSet, chosen: Selection, compared: Comparison, drawn: CurveComparison, out: Path, *, quiet: bool
) -> Console:
    """Tell the story on the terminal, and keep it for the report."""
    from io import StringIO

    from sparingly.data.describe import describe
    from sparingly.show.terminal.agreement import show_comparison, show_curve
    from sparingly.show.terminal.console import line, make_console
    from sparingly.show.terminal.description import show_description
    from sparingly.show.terminal.selection import show_selection

    console = make_console(StringIO() if quiet else None, record=True)
    console.rule("1. the evaluation set, every output judged", align="left")
    show_description(describe(data), console)
    console.rule(f"2. choose {BUDGET} of the items without looking at the labels", align="left")
    show_selection(chosen, out / "selection.json", console)
    console.rule("3. the labels of the chosen items revealed, against judging everything", align="left")
    show_comparison(compared, console)
    console.rule("4. the same over budgets, against random selection", align="left")
    show_curve(drawn, console)
    console.rule("what was left", align="left")
    line(console, f"{out}/report.html to open;")
    line(console, "data.jsonl, selection.json, agreement.json, curve.json, writeup.md beside it")
    line(console, f"next: sparingly agree {out}/data.jsonl {out}/selection.json --truth {TRUTH} --parity")
    return console


def _leave_files(
    out: Path,
    data: EvalSet,
    chosen: Selection,
    compared: Comparison,
    drawn: CurveComparison,
    console: Console,
) -> list[str]:
    """Write the files, each whole or not at all, and return their names."""
    from sparingly.data import io
    from sparingly.show.report.page import page
    from sparingly.show.report.writeup import writeup

    io.save(data, out / "data.jsonl")
    chosen.save(out / "selection.json")
    written = {
        "agreement.json": text.dumps(compared.to_dict(), indent=2) + "\n",
        "curve.json": text.dumps(drawn.to_dict(), indent=2) + "\n",
        "writeup.md": writeup(chosen),
        "report.html": page("sparingly demo", console),
    }
    for name, content in written.items():
        write_text(out / name, content)
    return sorted(["data.jsonl", "selection.json", *written])
