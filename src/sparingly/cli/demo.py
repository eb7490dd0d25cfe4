"""``sparingly demo``: the main job from end to end, on data that comes with the package."""

from __future__ import annotations

import json as text
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from sparingly.base.errors import ExtraMissingError, UsageError
from sparingly.cli.options import Json, Seed, emit, working, write_text

if TYPE_CHECKING:
    from sparingly.data.evalset import EvalSet
    from sparingly.data.selection import Selection
    from sparingly.infer.estimate.result import Estimate
    from sparingly.infer.rank.compare import Comparison, CurveComparison
    from sparingly.infer.rank.ranking import Ranking
    from sparingly.show.report.report import Report

METHOD, BUDGET, TRUTH = "metric_var:metric=learned", "20%", "overall"
DESIGN, SHARE = "local_pivotal", "50%"
NAME, STRATEGY, ITEMS, SCALE, RATERS = "sparingly demo", "waves", 60, (0.0, 100.0), "anna,ben"


@dataclass(frozen=True)
class Story:
    """What the demo does: a set, what was chosen for a ranking, and what was drawn for scores."""

    data: EvalSet
    chosen: Selection
    compared: Comparison
    drawn: CurveComparison
    sample: Selection
    scores: Estimate
    ranking: Ranking
    report: Report
    without_pictures: str


def demo(
    *,
    out: Annotated[Path, Parameter(name=["--out", "-o"], help="The folder to leave the files in.")] = Path(
        "sparingly-demo"
    ),
    seed: Seed = 0,
    serve: Annotated[
        bool, Parameter(negative="", help="Then serve the pages of a campaign on the same data.")
    ] = False,
    port: Annotated[int, Parameter(help="The port of the pages; 0 takes a free one.")] = 8000,
    json: Json = False,
) -> None:
    """Describe a set, choose what to judge, reveal the labels, and compare with judging everything.

    It ends with a draw of known chances, the scores, intervals and groups that follow from it, and a report
    to open in a browser.

    ```
    sparingly demo
    sparingly demo --out somewhere --seed 7
    sparingly demo --serve
    ```
    """
    if serve and json:
        raise UsageError("Pages are for people: leave out --serve or --json.")
    with working("choosing, comparing and estimating"):
        story = _play(seed)
    out.mkdir(parents=True, exist_ok=True)
    if not json:
        _tell(story, out)
    files = _leave_files(out, story)
    if serve:
        _serve(story.data, out / "campaign.db", seed, port)
    if json:
        results = {"scores": story.scores.to_dict(), "ranking": story.ranking.to_dict()}
        emit({"folder": str(out), "files": files, **story.compared.to_dict(), **results})


def _play(seed: int) -> Story:
    """Do everything once; methods are shown the set without its labels, as in real life."""
    from sparingly.choose.select import select
    from sparingly.data.synthetic import load_demo
    from sparingly.infer.estimate.estimate import estimate
    from sparingly.infer.rank import compare
    from sparingly.infer.rank.rank import rank

    data = load_demo()
    unjudged = data.without_labels()
    chosen = select(unjudged, METHOD, BUDGET, seed=seed)
    sample = select(unjudged, DESIGN, SHARE, seed=seed)
    page, no_figures = _reported(data, sample, seed)
    return Story(
        data=data,
        chosen=chosen,
        compared=compare.agree(data, chosen, TRUTH, seed=seed),
        drawn=compare.curve(data, METHOD, TRUTH, seed=seed),
        sample=sample,
        scores=estimate(data, sample, TRUTH, seed=seed),
        ranking=rank(data, sample, TRUTH, target="set", seed=seed),
        report=page,
        without_pictures=no_figures,
    )


def _reported(data: EvalSet, sample: Selection, seed: int) -> tuple[Report, str]:
    """Return the report, and how to get its pictures where the extra that draws them is not installed."""
    from sparingly.show.figures.look import need_report
    from sparingly.show.report.report import report

    no_figures = ""
    try:
        need_report()
    except ExtraMissingError as error:
        no_figures = str(error)
    title = "sparingly demo: eight models by overall"
    page = report(data, sample, TRUTH, target="set", title=title, figures=not no_figures, seed=seed)
    return page, no_figures


def _tell(story: Story, out: Path) -> None:
    """Tell the story on the terminal."""
    from sparingly.data.describe import describe
    from sparingly.show.terminal.agreement import show_comparison, show_curve
    from sparingly.show.terminal.console import line, make_console
    from sparingly.show.terminal.describe import show_description
    from sparingly.show.terminal.scores import show_estimate, show_ranking
    from sparingly.show.terminal.selection import show_selection

    console = make_console()
    console.rule("1. the evaluation set, every output judged", align="left")
    show_description(describe(story.data))
    console.rule(f"2. choose {BUDGET} of the items without looking at the labels", align="left")
    show_selection(story.chosen, out / "selection.json")
    console.rule("3. the labels of the chosen items revealed, against judging everything", align="left")
    show_comparison(story.compared)
    console.rule("4. the same over budgets, against random selection", align="left")
    show_curve(story.drawn)
    console.rule(f"5. scores of the whole set: {SHARE} drawn by known chances", align="left")
    show_selection(story.sample, out / "drawn.json")
    show_estimate(story.scores, out / "scores.json")
    console.rule("6. what that says of the order of the models on this set", align="left")
    show_ranking(story.ranking, out / "ranking.json")
    console.rule("what was left", align="left")
    line(f"{out}/report.html to open;{' it has no pictures.' if story.without_pictures else ''}")
    if story.without_pictures:
        line(f"note: {story.without_pictures}", style="italic")
    line("data.jsonl, selection.json, drawn.json, agreement.json, curve.json,")
    line("scores.json, ranking.json, writeup.md beside it")
    line(f"next: sparingly rank {out}/data.jsonl {out}/drawn.json --aspect {TRUTH} --format markdown")


def _leave_files(out: Path, story: Story) -> list[str]:
    """Write the files, each whole or not at all, and return their names."""
    from sparingly.data import io
    from sparingly.show.report.writeup import writeup

    io.save(story.data, out / "data.jsonl")
    story.chosen.save(out / "selection.json")
    story.sample.save(out / "drawn.json")
    story.scores.save(out / "scores.json")
    story.ranking.save(out / "ranking.json")
    texts = {
        "agreement.json": text.dumps(story.compared.to_dict(), indent=2) + "\n",
        "curve.json": text.dumps(story.drawn.to_dict(), indent=2) + "\n",
        "writeup.md": writeup(story.chosen),
        "report.html": story.report.html(),
    }
    for name, content in texts.items():
        write_text(out / name, content)
    saved = ["data.jsonl", "drawn.json", "ranking.json", "scores.json", "selection.json"]
    return sorted([*saved, *texts])


def _serve(data: EvalSet, folder: Path, seed: int, port: int) -> None:
    """Serve the pages of a campaign on the demo's data, until somebody ends it; one that is there goes on."""
    from sparingly.cli.serve import ServerOptions
    from sparingly.cli.serve import serve as pages
    from sparingly.run.campaign.campaign import Campaign

    if not folder.exists():
        campaign = Campaign.new(
            folder, data.without_labels(), STRATEGY, ITEMS, name=NAME, aspects=TRUTH, scale=SCALE, seed=seed
        )
        campaign.disconnect()
    pages((str(folder),), raters=RATERS, serving=ServerOptions(port=port))
