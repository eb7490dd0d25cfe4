"""``sparingly demo``: the main job from end to end, on data that comes with the package."""

from __future__ import annotations

import json as text
from pathlib import Path
from typing import Annotated, Any

from sparingly.base.errors import ExtraMissingError, UsageError
from sparingly.cli.options import Json, Seed, emit, working, write_text
from sparingly.cli.parameters import about, flag

METHOD, BUDGET, TRUTH = "metric_var:metric=chrF", "20%", "mqm"
DESIGN, SHARE = "local_pivotal", "50%"
NAME, STRATEGY, ITEMS, SCALE, RATERS = "sparingly demo", "waves", 60, (0.0, 100.0), "anna,ben"


def demo(
    *,
    out: Annotated[Path, about("The folder to leave the files in.", "--out", "-o")] = Path("sparingly-demo"),
    seed: Seed = 0,
    serve: Annotated[bool, flag("Then serve the pages of a campaign on the same data.")] = False,
    port: Annotated[int, about("The port of the pages; 0 takes a free one.")] = 8000,
    json: Json = False,
) -> None:
    """See the whole way in a minute, on data that comes with the package.

    ```
    sparingly demo
    ```

    It ends with a draw of known chances, the scores, intervals and groups that follow from it, and a report
    to open in a browser.

    ```
    sparingly demo --out somewhere --seed 7
    sparingly demo --serve
    ```
    """
    from sparingly.choose.select import select
    from sparingly.data import io
    from sparingly.data.demo import load_demo
    from sparingly.infer.estimate.estimate import estimate
    from sparingly.infer.rank import compare
    from sparingly.infer.rank.rank import rank
    from sparingly.show.figures.look import need_report
    from sparingly.show.report.report import report
    from sparingly.show.report.writeup import writeup

    if serve and json:
        raise UsageError("Pages are for people: leave out --serve or --json.")
    with working("choosing, comparing and estimating"):
        data = load_demo()
        # Methods are shown the set without its labels, as in real life.
        unjudged = data.without_labels()
        chosen = select(unjudged, METHOD, BUDGET, seed=seed)
        sample = select(unjudged, DESIGN, SHARE, seed=seed)
        no_figures = ""
        try:
            need_report()
        except ExtraMissingError as error:
            no_figures = str(error)
        title = "sparingly demo: six models by MQM"
        page = report(data, sample, TRUTH, target="set", title=title, figures=not no_figures, seed=seed)
        compared = compare.agree(data, chosen, TRUTH, seed=seed)
        curve = compare.curve(data, METHOD, TRUTH, seed=seed)
        scores = estimate(data, sample, TRUTH, seed=seed)
        ranking = rank(data, sample, TRUTH, target="set", seed=seed)
    out.mkdir(parents=True, exist_ok=True)
    if not json:
        from sparingly.data.describe import describe
        from sparingly.show.terminal.agreement import show_comparison, show_curve
        from sparingly.show.terminal.console import line, make_console
        from sparingly.show.terminal.describe import show_description
        from sparingly.show.terminal.scores import show_estimate, show_ranking
        from sparingly.show.terminal.selection import show_selection

        console = make_console()
        console.rule("1. the evaluation set, every output judged", align="left")
        show_description(describe(data))
        console.rule(f"2. choose {BUDGET} of the items without looking at the labels", align="left")
        show_selection(chosen, out / "selection.json")
        console.rule("3. the labels of the chosen items revealed, against judging everything", align="left")
        show_comparison(compared)
        console.rule("4. the same over budgets, against random selection", align="left")
        show_curve(curve)
        console.rule(f"5. scores of the whole set: {SHARE} drawn by known chances", align="left")
        show_selection(sample, out / "drawn.json")
        show_estimate(scores, out / "scores.json")
        console.rule("6. what that says of the order of the models on this set", align="left")
        show_ranking(ranking, out / "ranking.json")
        console.rule("what was left", align="left")
        line(f"{out}/report.html to open;{' it has no pictures.' if no_figures else ''}")
        if no_figures:
            line(f"note: {no_figures}", style="italic")
        line("data.jsonl, selection.json, drawn.json, agreement.json, curve.json,")
        line("scores.json, ranking.json, writeup.md beside it")
        line(f"next: sparingly rank {out}/data.jsonl {out}/drawn.json --aspect {TRUTH} --format markdown")
    io.save(data, out / "data.jsonl")
    results: dict[str, Any] = {"selection": chosen, "drawn": sample, "scores": scores, "ranking": ranking}
    for name, result in results.items():
        result.save(out / f"{name}.json")
    texts = {
        "agreement.json": text.dumps(compared.to_dict(), indent=2) + "\n",
        "curve.json": text.dumps(curve.to_dict(), indent=2) + "\n",
        "writeup.md": writeup(chosen),
        "report.html": page.html(),
    }
    for name, content in texts.items():
        write_text(out / name, content)
    if serve:
        from sparingly.cli.serve import ServerOptions
        from sparingly.cli.serve import serve as serve_pages
        from sparingly.run.campaign.campaign import Campaign

        address = out / "campaign.db"
        # A campaign that is there goes on.
        if not address.exists():
            Campaign.new(
                address, unjudged, STRATEGY, ITEMS, name=NAME, aspects=TRUTH, scale=SCALE, seed=seed
            ).disconnect()
        serve_pages((str(address),), raters=RATERS, serving=ServerOptions(port=port))
    if json:
        files = sorted(["data.jsonl", *(f"{name}.json" for name in results), *texts])
        outcome = {"scores": scores.to_dict(), "ranking": ranking.to_dict()}
        emit({"folder": str(out), "files": files, **compared.to_dict(), **outcome})
