"""Table 7: what learns the quality of items."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.pages import bold, table
from benchmarks.papers.catalogue import PaperTable
from benchmarks.papers.ruan import published
from benchmarks.papers.ruan.sets import (
    MEASURES,
    Figures,
    beside,
    cases,
    files,
    mean_text,
    over_aspects,
    runs_of,
    set_figures,
)
from benchmarks.papers.work import Work

REGRESSORS = published.REGRESSORS


def figures(work: Work) -> Figures:
    """Compute CASF with every regressor, once: its learners have a fixed random state."""
    methods = {name: f"regressor={name}" for name in REGRESSORS}
    return {"sets": set_figures(work, cases(work), lambda case: runs_of(work, case, methods))}


def regressor_table(sets: Sequence[Figures]) -> str:
    """Return the mean measures of CASF with each of the nine regressors."""
    rows = [
        [f"`{name}`", *(mean_text(over_aspects(sets, name, part)) for part in MEASURES)]
        for name in REGRESSORS
    ]
    return table(["regressor", "Kendall", "top-1", "retained, p < .05", "p < .001"], rows)


def _aspects_table(sets: Sequence[Figures]) -> str:
    rows = []
    for data_set in sets:
        for place, aspect in enumerate(data_set["aspects"]):
            taus = [data_set["methods"][name]["kendall"][place] for name in REGRESSORS]
            known = published.BY_REGRESSOR.get((data_set["file"], aspect), (None,) * len(REGRESSORS))
            cells = [bold(f"{tau:.2f}", tau >= max(taus) - 1e-9) for tau in taus]
            rows.append(
                [
                    data_set["title"],
                    aspect,
                    *(beside(cell, figure) for cell, figure in zip(cells, known, strict=True)),
                ]
            )
    return table(["set", "aspect", *REGRESSORS], rows, texts=2)


def text(computed: Figures) -> str:
    """Return Table 7 next to the published one."""
    sets = computed["sets"]
    overall = [
        [
            f"`{name}`",
            beside(mean_text(over_aspects(sets, name)), published.OVERALL_REGRESSOR[name][0]),
            f"{published.OVERALL_REGRESSOR[name][1]:.2f}",
        ]
        for name in REGRESSORS
    ]
    return "\n\n".join(
        [
            _aspects_table(sets),
            table(["regressor", "mean Kendall", "published sd over runs"], overall),
            "Kendall of CASF at half of the items, the best of ours in bold; in brackets: published, the "
            "means over 44 aspects. One run each: our learners have a fixed random state.",
            "`boosting` leads in the paper and does not here. What separates the nine is PersonaChat, whose "
            "three models turn one swap into a tau of 0.33 or −0.33; on the other sets they are alike. In "
            "the published code the learners of later phases are never used, and tau is taken between "
            "`argsort` results.",
        ]
    )


def blocks(computed: Figures) -> dict[str, str]:
    """Return the part of the page about CASF, by the name of its marker."""
    return {"casf-regressors": regressor_table(computed["sets"])}


TABLE7 = PaperTable(
    "s3-table7",
    "Ruan et al. 2024, Table 7: Kendall's tau with nine regressors",
    files(),
    figures,
    text,
)
