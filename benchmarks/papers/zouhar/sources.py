"""Figure 5 and the source-based columns of Tables 1, 2 and 5: utilities predicted from sources alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import sparingly
from benchmarks.distil_holdout import GIVEN, TARGETS, UTILITIES, folds, opened, sources_of
from benchmarks.pages import points, table
from benchmarks.papers.catalogue import Figures, PaperTable
from benchmarks.papers.work import DEMO, WMT23, Setting, Work
from benchmarks.papers.zouhar.parity import setting_figures as parity_figures
from benchmarks.papers.zouhar.sets import PUBLISHED_SELECTORS, page, random_note, why, with_options
from benchmarks.papers.zouhar.spa import RANDOM, Row, mark, setting_figures
from sparingly.choose.distil.model import DistilledModel
from sparingly.data.evalset import EvalSet

# Families of machine translation other than wmt23, which is predicted.
PAST = (
    "wmt24_encs", "wmt24_enhi", "wmt24_enzh", "wmt21_ende", "wmt21_zhen", "ted21_ende", "biomqm_deen",
    "biomqm_ende", "biomqm_enes", "biomqm_enfr", "biomqm_enru",
)  # fmt: skip
NAMES = {"metric_avg": "metric_avg", "metric_var": "metric_var", "metric_cons": "metric_cons",
         "diversity": "diversity", "irt": "diffdisc"}  # fmt: skip
START = "source_"
METHODS = {name: f"uncertainty:metric={START}{utility}" for name, utility in NAMES.items()}
OPTIONS = {"": "Figure 5", "balance=domain": "Table 1, balanced", "unit=document": "Table 2, documents"}
# Published, source-based: Figure 5 is a picture, whose legend is not in the text.
PUBLISHED: Mapping[str, Mapping[str, float]] = {
    "balance=domain": dict(zip((RANDOM, *NAMES), (91.3, 91.8, 91.9, 93.0, 92.6, 92.1), strict=True)),
    "unit=document": dict(zip((RANDOM, *NAMES), (87.2, 88.2, 88.7, 89.2, 89.0, 89.2), strict=True)),
    "labels": dict(zip((RANDOM, *NAMES), (100.0, 106.9, 97.2, 90.1, 78.7, 91.5), strict=True)),
}


def with_predictions(work: Work, setting: Setting, data: EvalSet) -> EvalSet:
    """Return a set with predicted utilities as metrics ``source_metric_var`` …, the same for all models."""
    for name, values in _utilities(work, setting).items():
        data = data.with_metric(f"{START}{name}", np.tile(np.array(values)[:, None], len(data.models)))
    return data


def _utilities(work: Work, setting: Setting) -> dict[str, list[float]]:
    """Return the predicted utilities of every item of a set."""
    found: dict[str, list[float]] = work.cell(
        setting.file, {"what": "utilities from sources"}, partial(_predicted, work, setting)
    )
    return found


def _predicted(work: Work, setting: Setting) -> dict[str, list[float]]:
    """Predict the utilities of a set by a model of other families."""
    sources = sources_of(work.load(setting.file))
    values = _model(work, setting).score(sources, flags=False).values
    return {name: values[:, place].tolist() for place, name in enumerate(UTILITIES)}


def _model(work: Work, setting: Setting) -> DistilledModel:
    """Return boosted trees on n-grams that learned the utilities of other families."""
    if work.is_demo:
        data = work.load(setting.file)
        return sparingly.distil(
            {DEMO: data.with_metric(GIVEN, data.metrics[setting.metric])}, TARGETS, learner="boosting", seed=0
        )
    return _model_of_the_past(work.data)


@lru_cache(maxsize=1)
def _model_of_the_past(folder: Path) -> DistilledModel:
    """Learn once for all sets of WMT23; the fits of a hold-out, which nobody reads here, are kept few."""
    every = opened(folder, [*PAST, *dict.fromkeys(setting.file for setting in WMT23)])
    past = next(fold for fold in folds(every) if fold.family == "wmt23").past
    return sparingly.distil(past, TARGETS, learner="boosting", hold_out="items", folds=2, seed=0)


def figures(work: Work) -> Figures:
    """Compute accuracy by every design, and the labels for random's accuracy."""
    columns = ("domain", "document", "position")
    settings = [replace(one, columns=() if work.is_demo else columns) for one in work.settings(WMT23)]
    for one in settings:
        # First of all, so that no other cell's time has the learning in it.
        _utilities(work, one)
    options = [""] if work.is_demo else list(OPTIONS)
    found = {
        option: [
            setting_figures(
                work,
                one,
                [Row(with_options(method, option)) for method in METHODS.values()],
                with_options(RANDOM, option),
            )
            for one in settings
        ]
        for option in options
    }
    labels = [parity_figures(work, one, tuple(METHODS.values())) for one in settings]
    return {"random_runs": work.effort.random_runs, "options": found, "labels": labels}


def text(computed: Figures) -> str:
    """Return a table for every design, and one of labels."""
    parts = [random_note(computed)]
    for option, settings in computed["options"].items():
        parts.append(f"{OPTIONS[option]}:")
        parts.append(_accuracy(settings, PUBLISHED.get(option, {})))
    parts += ["Table 5, labels for random's accuracy, in percent of random's:", _labels(computed["labels"])]
    return page(
        *parts,
        why(
            "The published models learned from all of WMT up to 2022 with neural metrics, and neither they "
            "(PreCOMET) nor those data are in the collection. Here boosted trees on n-grams learn from "
            "eleven sets of other years and domains, with chrF; wmt23 itself is left out. `make paper "
            "NAME=list` and docs/research/results-sources.md have encoders and all families.",
        ),
    )


def _accuracy(settings: Sequence[Figures], published: Mapping[str, float]) -> str:
    rows = []
    for place, name in enumerate((RANDOM, *NAMES)):
        found = [one["random"] if name == RANDOM else one["methods"][place - 1] for one in settings]
        cells = [
            f"{points(one['mean'])} {mark(one, its['random'])}".strip()
            for one, its in zip(found, settings, strict=True)
        ]
        mean = sum(one["mean"] for one in found) / len(found)
        theirs = f"{published[name]:.1f}" if published else "–"
        rows.append([PUBLISHED_SELECTORS[name], theirs, points(mean), *cells])
    heads = ["published, source-based", "ours, mean", *(one["title"] for one in settings)]
    return table(["selector", *heads], rows)


def _labels(settings: Sequence[Figures]) -> str:
    rows = []
    for name, method in METHODS.items():
        shares: list[Any] = [
            100 * sum(one[rule][method] for one in settings) / len(settings)
            for rule in ("first_crossing", "stays")
        ]
        theirs = f"{PUBLISHED['labels'][name]:.1f}"
        rows.append([PUBLISHED_SELECTORS[name], theirs, *(f"{share:.0f}" for share in shares)])
    return table(["selector", "published, source-based", "ours, first crossing", "from there on"], rows)


FIG5 = PaperTable(
    "s0-fig5",
    "Zouhar et al. 2025, Figure 5: utilities predicted from sources, and the columns of Tables 1, 2 and 5",
    tuple(dict.fromkeys([*(setting.file for setting in WMT23), *PAST])),
    figures,
    text,
)
