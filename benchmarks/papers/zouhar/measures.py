"""The paper's selectors by other measures than soft pairwise accuracy: Table 9.

They tell whether a selector that ranks models well also finds the best model, tells more models apart, or
gives the scores that judging everything would have given (Zouhar et al. 2025, App. B).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.papers.base import Figures, PaperTable
from benchmarks.papers.markdown import bold, points, table
from benchmarks.papers.settings import WMT23, Setting
from benchmarks.papers.work import Work, averages, rounded
from benchmarks.papers.zouhar.beside import OTHER_METHODS, OTHER_SETS, SELECTORS, page, why
from benchmarks.papers.zouhar.spa import RANDOM
from sparingly.infer.rank.curve import SPA


@dataclass(frozen=True)
class Measure:
    """A measure of the table.

    Attributes:
        name: What it is called here.
        title: What it is called in the table.
        published: The published figures, in the order of the selectors; empty where there are none.
        is_error: Whether lower is better; then it is in units of the range of all judgements.
        is_count: Whether it counts things, and is no share.
    """

    name: str
    title: str
    published: tuple[float, ...] = ()
    is_error: bool = False
    is_count: bool = False

    def shown(self, value: float) -> str:
        """Return a value as the table has it."""
        if self.is_error:
            return f"{value:.3f}"
        return f"{value:.2f}" if self.is_count else points(value)

    def line_as_published(self) -> list[str]:
        """Return the published figures, the best in bold."""
        best = (min if self.is_error else max)(self.published)
        unit = 1 if self.is_error or self.is_count else 100
        return [bold(self.shown(value / unit), value == best) for value in self.published]


MEASURES = (
    Measure(SPA, "Soft pairwise accuracy", (91.6, 92.6, 93.0, 93.4, 93.0, 92.6)),
    Measure("pairwise_accuracy", "Pairwise accuracy", (92.7, 93.4, 93.4, 94.3, 93.3, 93.2)),
    Measure("pearson", "Pearson", (96.7, 96.5, 96.5, 97.5, 97.5, 96.9)),
    Measure("spearman", "Spearman", (94.5, 95.0, 95.1, 96.1, 95.3, 95.1)),
    Measure("kendall_b", "Kendall b", (85.3, 86.9, 86.9, 88.6, 86.7, 86.3)),
    Measure("top1_match", "Best model found", (94.6, 95.0, 95.1, 96.4, 95.4, 96.2)),
    Measure("top1_percentile", "Models that the best one found beats"),
    Measure("groups", "Groups", (2.62, 3.47, 3.54, 3.68, 3.23, 3.33), is_count=True),
    Measure("top_group_dice", "First group, Dice", (59.5, 65.6, 60.2, 64.2, 63.3, 65.1)),
    Measure(
        "mean_absolute_error",
        "Mean absolute error ↓",
        (0.008, 0.055, 0.046, 0.031, 0.036, 0.028),
        is_error=True,
    ),
    Measure(
        "root_mean_squared_error",
        "Root mean squared error ↓",
        (0.010, 0.062, 0.059, 0.039, 0.041, 0.034),
        is_error=True,
    ),
)


def _figures(work: Work) -> Figures:
    settings = work.each(lambda setting: _setting(work, setting), work.settings(WMT23))
    return {"random_runs": work.effort.random_runs, "settings": settings}


def _setting(work: Work, setting: Setting) -> Figures:
    truth = work.evalset(setting).truth(setting.truth)
    scale = float(np.nanmax(truth) - np.nanmin(truth))
    found = {}
    for measure in MEASURES:
        unit = scale if measure.is_error else 1.0
        found[measure.name] = {name: _mean(work, setting, name, measure) / unit for name in SELECTORS}
    plain = {name: {key: rounded(value) for key, value in row.items()} for name, row in found.items()}
    return {"title": setting.title, "measures": plain}


def _mean(work: Work, setting: Setting, method: str, measure: Measure) -> float:
    runs = work.effort.random_runs if method == RANDOM else 1
    return float(averages(work.curves(setting, method, runs, measure.name), setting).mean())


def _text(computed: Figures) -> str:
    settings = computed["settings"]
    each = "\n\n".join(f"{one['title']}:\n\n{_table([one])}" for one in settings) if len(settings) > 1 else ""
    return page(
        "Means over budgets and sets; **bold** is the best of a line. Errors are in units of the range of "
        f"all judgements. Random selection is the mean of {computed['random_runs']} runs.",
        f"Ours:\n\n{_table(settings)}",
        f"Published:\n\n{_published()}",
        each,
        why(
            OTHER_SETS,
            "The published figure for the best model seems to be the share of models that the one found "
            "beats (its code divides by the number of models less one), which is ours in the line below.",
            "Groups are told by one-sided Wilcoxon tests against the last member, as there; differences of "
            "zero are left out here, where the published code opens a new group when all are zero.",
            OTHER_METHODS,
        ),
    )


def _table(settings: Sequence[Figures]) -> str:
    rows = []
    for measure in MEASURES:
        values = [
            float(np.mean([one["measures"][measure.name][name] for one in settings])) for name in SELECTORS
        ]
        best = min(values) if measure.is_error else max(values)
        rows.append([measure.title, *(bold(measure.shown(value), value == best) for value in values)])
    return table(["measure", *(f"`{name}`" for name in SELECTORS)], rows)


def _published() -> str:
    rows = [[measure.title, *measure.line_as_published()] for measure in MEASURES if measure.published]
    return table(["measure", *SELECTORS.values()], rows)


TABLE9 = PaperTable(
    "s0-table9",
    "Zouhar et al. 2025, Table 9: output-based selectors by other measures",
    tuple(dict.fromkeys(setting.file for setting in WMT23)),
    _figures,
    _text,
)
