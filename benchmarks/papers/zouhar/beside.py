"""Our figures beside the published ones: the selectors of the paper, tables of both, and why they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.papers.base import Figures
from benchmarks.papers.markdown import points, table
from benchmarks.papers.settings import Setting
from benchmarks.papers.work import Work
from benchmarks.papers.zouhar.spa import RANDOM, Row, mark, setting_figures
from sparingly.base.arrays import Floats
from sparingly.base.rng import uniforms
from sparingly.data.evalset import EvalSet

# Our names of the selectors in the paper's main tables, and theirs.
SELECTORS = {
    RANDOM: "Random",
    "metric_avg": "MetricAvg",
    "metric_var": "MetricVar",
    "metric_cons": "MetricCons",
    "diversity": "Diversity",
    "irt": "DiffDisc",
}
METHODS = tuple(name for name in SELECTORS if name != RANDOM)
NOISE = "random utilities"
BY_NOISE = "metric_avg:metric=noise"
SOURCE_BASED = "published, source-based"

OTHER_SETS = (
    "Published figures are means over nine language pairs of WMT23, judged by DA+SQM for the most part; the "
    "collection has two of the nine, and both are shown by MQM and by DA+SQM. By MQM more pairs of models "
    "differ clearly (91 % against 78 % on these sets), so that random selection, too, agrees better with the "
    "full set."
)
OTHER_METHODS = (
    "Diversity is by tf-idf vectors here and by a multilingual transformer there; the published IRT was "
    "fitted to scores that a slip in its code had turned into above or below the median, here the scores "
    "are used as they are."
)
NO_SOURCE_MODELS = (
    "The source-based column is not computed: its predictors were trained on WMT up to 2022 (PreCOMET), and "
    "neither they nor those data are in the collection."
)


def with_options(method: str, options: str) -> str:
    """Return a method with parameters of its design: ``metric_avg`` and ``unit=document`` in one text."""
    return f"{method}{',' if ':' in method else ':'}{options}" if options else method


def selectors(work: Work, settings: Sequence[Setting], options: str = "") -> Figures:
    """Return soft pairwise accuracy of random selection and the paper's five selectors.

    Args:
        work: What figures are computed with.
        settings: What they are computed on.
        options: Parameters of the design that all of them get, such as ``balance=domain``.
    """
    rows = [Row(with_options(name, options)) for name in METHODS]
    random = with_options(RANDOM, options)
    found = work.each(lambda setting: setting_figures(work, setting, rows, random), settings)
    return {"random_runs": work.effort.random_runs, "settings": found}


def beside(
    computed: Figures, published: Mapping[str, Sequence[float]], heads: Sequence[str] = ("published",)
) -> str:
    """Return the table of the selectors: what was published, our mean over settings, and every setting."""
    settings = computed["settings"]
    rows = []
    for place, name in enumerate(SELECTORS):
        found = [one["random"] if name == RANDOM else one["methods"][place - 1] for one in settings]
        cells = [
            f"{points(one['mean'])} {mark(one, its['random'])}"
            for one, its in zip(found, settings, strict=True)
        ]
        mean = sum(one["mean"] for one in found) / len(found)
        theirs = [f"{value:.1f}" for value in published[name]]
        rows.append(
            [f"`{found[0]['method']}`", SELECTORS[name], *theirs, points(mean), *map(str.strip, cells)]
        )
    titles = (one["title"] for one in settings)
    return table(["method", "published as", *heads, "ours, mean", *titles], rows, texts=2)


def noise(part: EvalSet, seed: int) -> Floats:
    """Return scores that say nothing about an item or a model: one random number per item."""
    return np.repeat(uniforms(part.keys, seed, "utilities by chance")[:, None], len(part.models), axis=1)


def page(*parts: str) -> str:
    """Return the parts of a text one below the other."""
    return "\n\n".join(part for part in parts if part) + "\n"


def why(*reasons: str) -> str:
    """Return why our figures are not the published ones."""
    return "**Why they differ.** " + " ".join(reasons)


def random_note(computed: Mapping[str, Any]) -> str:
    """Say how often random selection was drawn, and what the marks mean."""
    return (
        f"Soft pairwise accuracy in percent, mean over budgets; random selection is the mean of "
        f"{computed['random_runs']} runs. ▼: below it; ▼▼: below the 90 % interval of that mean (published "
        "intervals are of single runs, and so wider)."
    )
