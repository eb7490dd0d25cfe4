"""``sparingly demo``: an evaluation from end to end, on real translations that come with the package."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from sparingly.base.errors import ExtraMissingError, UsageError
from sparingly.cli.options import Json, Seed, emit, working, write_text
from sparingly.cli.parameters import about, flag

BUDGET = "50%"
NAME, ITEMS, SCALE, RATERS = "sparingly demo", 20, (0.0, 100.0), "anna,ben"
GUIDELINES = """# Does the output say what the reference says?
Compare each output with the reference, a translation by a person; you need no German.
Take points off for every error, and more if the meaning suffers.

## Scale
- 100: the same, in good English
- 66: small errors
- 33: part of the meaning is lost
- 0: nothing of it is there
"""
# What auto needs of random's labels, on 14 sets that were not used to build it.
PUBLIC = (
    "On 14 public data sets that it was not tuned on, sparingly needed 78 % (73 to",
    "84 %) of the labels that random selection needs for the same accuracy.",
)


def demo(
    *,
    out: Annotated[Path, about("The folder to leave the files in.", "--out", "-o")] = Path("sparingly-demo"),
    seed: Seed = 0,
    serve: Annotated[bool, flag("Then open pages on which you judge some of the outputs.")] = False,
    port: Annotated[int, about("The port of the pages; 0 takes a free one.")] = 8000,
    json: Json = False,
) -> None:
    """Rank six translation systems from half of the labels, and see how close that comes.

    ```
    sparingly demo
    ```

    The texts and labels are real: abstracts of medical articles, in which experts marked the errors. It
    leaves the data, the sample, the ranking and a report in a folder.

    ```
    sparingly demo --out somewhere --seed 7
    sparingly demo --serve
    ```
    """
    from sparingly.choose.select import select
    from sparingly.data import io
    from sparingly.data.demo import load_demo, replays
    from sparingly.infer.rank.rank import rank
    from sparingly.show.figures.look import need_report
    from sparingly.show.report.report import report

    if serve and json:
        raise UsageError("Pages are for people: leave out --serve or --json.")
    data = load_demo()
    no_figures = ""
    try:
        need_report()
    except ExtraMissingError as error:
        no_figures = str(error)
    with working("1 of 2: choosing half of the sentences, and ranking the systems by their labels"):
        # The sample is drawn without the labels, as in real life.
        sample = select(data.without_labels(), budget=BUDGET, seed=seed)
        ranking = rank(data, sample, seed=seed)
    with working("2 of 2: writing the report"):
        title = f"Six translation systems, judged on {len(sample)} of {len(data)} sentences"
        page = report(data, sample, title=title, figures=not no_figures, curve=False, seed=seed).html()
        out.mkdir(parents=True, exist_ok=True)
        io.save(data, out / "data.jsonl")
        sample.save(out / "sample.json")
        ranking.save(out / "ranking.json")
        write_text(out / "report.html", page)
    if json:
        files = ["data.jsonl", "ranking.json", "report.html", "sample.json"]
        emit({"folder": str(out), "files": files, "ranking": ranking.to_dict(), "replays": replays()})
        return
    from sparingly.show.terminal.console import line, show_summary, show_table

    line("Which of six systems translates medical abstracts best, from German to English?", style="bold")
    counts = f"{len(data) * len(data.models):,} translations of {len(data)} sentences"
    line(f"Experts marked the errors in {counts} (0 is best).")
    line(f"From the labels of {len(sample)} sentences that sparingly picked:")
    line("")
    show_summary(replace(ranking.summary(), next_steps=()))
    facts = replays()
    line(
        f"\nHow close is that to judging everything? The mean of {facts['runs']:,} such samples:",
        style="bold",
    )
    show_table(("", "sparingly", "random half"), _closeness(facts["means"]), numbers=2)
    for part in PUBLIC:
        line(part)
    line("")
    line("Next", style="bold")
    steps = [
        (
            f"open {out}/report.html",
            "the report, to show to others" if not no_figures else "it has no pictures",
        ),
        (f"sparingly rank {out}/data.jsonl {out}/sample.json", ""),
        *([] if serve else [("sparingly demo --serve", "judge some translations yourself")]),
        ("sparingly serve YOUR_FILE.csv --budget 100", "your data, your raters"),
    ]
    for command, purpose in steps:
        line(f"  {command:<42}  {purpose}".rstrip())
    if no_figures:
        line(f"note: {no_figures}", style="italic")
    if serve:
        from sparingly.cli.serve import ServerOptions
        from sparingly.cli.serve import serve as serve_pages
        from sparingly.run.campaign.campaign import Campaign

        # For people who read English, on some of the sentences; a campaign that is there goes on.
        address = out / "campaign.db"
        if not address.exists():
            # Without their documents no German stands around the sentences.
            alone = data.without_labels().with_parts(columns={})
            campaign = Campaign.new(
                address, alone, None, ITEMS, name=NAME, aspects="quality", scale=SCALE, seed=seed
            )
            campaign.set_guidelines(GUIDELINES)
            campaign.disconnect()
        serve_pages((str(address),), raters=RATERS, reference=True, serving=ServerOptions(port=port))


def _closeness(means: dict[str, dict[str, float]]) -> list[tuple[str, str, str]]:
    """Return what the replays say, a row for each question."""
    rows = {
        "the best system is found": ("best", "{:.0%}"),
        "pairs of systems in the right order": ("pairs", "{:.0%}"),
        "scores are off by (MQM points)": ("error", "{:.2f}"),
        "95 % intervals hold the full score": ("held", "{:.0%}"),
    }
    first, second = means["sparingly"], means["random"]
    return [
        (name, shape.format(first[key]).replace("%", " %"), shape.format(second[key]).replace("%", " %"))
        for name, (key, shape) in rows.items()
    ]
