"""Table 12 of Saldías et al. 2022: how well the other raters predict each one."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.pages import table
from benchmarks.papers.catalogue import Figures, PaperTable
from benchmarks.papers.saldias.published import MEAN_SCORES, TABLE_12_MEANS
from benchmarks.papers.saldias.published import TABLE_12 as PUBLISHED
from benchmarks.papers.work import DEMO, Work
from sparingly.run.raters.agreement import predictability

# Sets with raters' names, some of whom judged the same outputs, and what they judged.
SETS = {
    "wmt23_ende_mqm3": "mqm3",
    "wmt23_zhen_mqm3": "mqm3",
    "wmt23_zhen": "mqm",
    "biomqm_deen": "mqm",
    "biomqm_ende": "mqm",
    "biomqm_enes": "mqm",
    "biomqm_enfr": "mqm",
    "biomqm_enru": "mqm",
}


def number(value: float, digits: int = 2) -> str:
    """Return a number, a dash where there is none."""
    return "–" if value != value else f"{value:.{digits}f}".replace("-", "−")


def share(value: float) -> str:
    """Return a share in percent, a dash where there is none."""
    return "–" if value != value else f"{100 * value:.0f} %"


def rater_figures(work: Work) -> Figures:
    """Return the error of every rater as the others predict it, for every set."""
    wanted = {DEMO: "overall"} if work.is_demo else SETS
    return {"sets": dict(zip(wanted, work.each(partial(_of_set, work), wanted.items()), strict=True))}


def _of_set(work: Work, one: tuple[str, str]) -> Any:
    file, aspect = one

    def make() -> Figures:
        data = work.load(file)
        found = predictability(data, aspect).to_dict()
        score = float(np.abs(np.nanmean(data.aspects[aspect])))
        return {"raters": found["raters"], "error": found["error"], "score": score}

    return work.cell(file, {"what": "raters", "aspect": aspect}, make)


def rater_text(computed: Figures, why: str) -> str:
    """Return the errors of sets and of raters, next to the published ones."""
    made = (
        "*Error*: the distance between the mean that a rater gave to a system's outputs and the mean that "
        "the others gave to the same ones, averaged over systems. *Own share*: the share of the rater's own "
        "ratings, drawn at random, that predicts his or her mean as well, by formula: there are no runs."
    )
    theirs = [
        _line(f"WMT20 {direction} (paper)", errors, TABLE_12_MEANS[direction], MEAN_SCORES[direction])
        for direction, errors in PUBLISHED.items()
    ]
    ours = [
        _line(
            name,
            [rater["error"] for rater in one["raters"]],
            one["error"],
            one["score"],
            float(np.median([rater["share"] for rater in one["raters"]])),
        )
        for name, one in computed["sets"].items()
    ]
    head = ["set", "raters", "mean error", "easiest", "hardest", "hardest / easiest"]
    head += ["mean score (absolute)", "own share (median)"]
    single = [
        [f"WMT20 {direction} (paper)", f"rater{place}", "–", number(error), "–"]
        for direction, errors in PUBLISHED.items()
        for place, error in enumerate(errors, 1)
    ]
    single += [
        [name, rater["rater"], str(rater["n"]), number(rater["error"]), share(rater["share"])]
        for name, one in computed["sets"].items()
        for rater in one["raters"]
    ]
    by_rater = table(["set", "rater", "outputs", "error", "own share"], single, texts=2)
    return "\n\n".join([made, table(head, [*theirs, *ours]), why, "**Rater by rater**", by_rater])


def _line(
    name: str,
    errors: list[float] | tuple[float, ...],
    mean: float,
    score: float,
    own: float = float("nan"),
) -> list[str]:
    low, high = min(errors), max(errors)
    cells = [number(mean), number(low), number(high), number(high / low, 1), number(score)]
    return [name, str(len(errors)), *cells, share(own)]


_WHY = (
    "The paper's raters are those of WMT20, each predicted by two others on half of the test set. Ours are "
    "of WMT23 and of biomedical abstracts, predicted by one to seven others on the outputs that they share, "
    "32 to 1570 of them, and differ more: on the two sets with three raters an output the hardest to "
    "predict is 17 and 18 times as far from the others as the easiest, against 3 to 4 times there. Under 10 "
    "% of one's own ratings predict as well in the paper; here it is 6 to 38 % for the median rater of a "
    "set."
)
TABLE_12 = PaperTable(
    name="s1-table12",
    title="Saldías et al. 2022, Table 12: each rater's mean as the others predict it",
    sets=tuple(SETS),
    figures=rater_figures,
    text=partial(rater_text, why=_WHY),
)
