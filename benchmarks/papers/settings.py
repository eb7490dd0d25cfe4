"""What the tables are computed on: a data set, the truth, the metric that selectors see, and the budgets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from sparingly.data.combine import Combination
from sparingly.data.describe import describe
from sparingly.data.evalset import EvalSet
from sparingly.data.io import load
from sparingly.data.synthetic import load_demo
from sparingly.infer.rank.curve import SHARES
from sparingly.infer.rank.curve import SMALL_SET_SHARES as UNROUNDED

DEMO = "demo"
HUMAN = "human"
# As they stand in the keys of kept cells.
SMALL_SET_SHARES = tuple(round(share, 4) for share in UNROUNDED)


@dataclass(frozen=True)
class Setting:
    """A column of a table.

    Attributes:
        file: The data set, without its ending.
        truth: The aspect (or metric) over all items that subsets are compared with.
        metric: The metric that selectors see; empty where none is shown.
        title: How the setting is called in the tables.
        shares: The budgets over which accuracy is averaged.
        marks: The budgets that are also shown one by one.
        also: Further metrics that are shown, for methods that name theirs.
        human_as_metric: Whether the truth is shown as a metric too, under the name ``human``.
        instead: Methods that are run in place of others here, such as a tokeniser of the language.
        columns: Columns of the items that are shown, for methods that balance over them.
    """

    file: str
    truth: str
    metric: str
    title: str
    shares: tuple[float, ...] = SHARES
    marks: tuple[float, ...] = (0.1, 0.25, 0.5)
    also: tuple[str, ...] = ()
    human_as_metric: bool = False
    instead: tuple[tuple[str, str], ...] = ()
    columns: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What the setting is called in files."""
        return f"{self.file}/{self.truth}"

    @property
    def grid(self) -> tuple[float, ...]:
        """All budgets that are computed."""
        return tuple(sorted({*self.shares, *self.marks}))

    def seen_by(self, method: str) -> Setting:
        """Return what a method needs of the setting; cells of methods that name no metric are shared."""
        if "metric=" in method or "under=" in method:
            return self
        return replace(self, also=(), human_as_metric=False)

    def method(self, text: str) -> str:
        """Return the method that is run for a row of a table."""
        return dict(self.instead).get(text, text)

    def data(self, whole: EvalSet) -> EvalSet:
        """Return the evaluation set with the texts, the truth and the metrics of this setting alone."""
        aspects = Combination.parse(self.truth).of if ":of=" in self.truth else (self.truth,)
        shown = {f"aspect:{name}" for name in aspects} | {f"column:{name}" for name in self.columns}
        shown |= {f"metric:{name}" for name in (self.metric, *self.also)}
        data = whole.only({"sources", "outputs", *shown} & set(whole.fields))
        return data.with_metric(HUMAN, data.truth(self.truth)) if self.human_as_metric else data

    def about(self, whole: EvalSet) -> dict[str, float | None]:
        """Return how many items and models have the truth, and how well the metric tells models apart."""
        data = self.data(whole)
        judged = ~np.isnan(data.truth(self.truth))
        found = [one for one in describe(data).correlations if one.metric == self.metric]
        return {
            "items": int(judged.any(axis=1).sum()),
            "of_items": len(data),
            "models": int(judged.any(axis=0).sum()),
            "differences": found[0].differences if found else None,
        }


@lru_cache(maxsize=2)
def loaded(folder: Path, file: str) -> EvalSet:
    """Return a data set of a folder, or the demo set by its name."""
    return load_demo() if file == DEMO else load(file_of(folder, file))


def file_of(folder: Path, file: str) -> Path:
    """Return where a data set lies."""
    return folder / f"{file}.jsonl.gz"


_METRICX = "MetricX-23"
WMT23 = (
    Setting("wmt23_zhen", "mqm", _METRICX, "WMT23 zh–en, MQM"),
    Setting("wmt23_zhen", "da_sqm", _METRICX, "WMT23 zh–en, DA+SQM"),
    Setting("wmt23_ende", "mqm", _METRICX, "WMT23 en–de, MQM"),
    Setting("wmt23_ende", "da_sqm", _METRICX, "WMT23 en–de, DA+SQM"),
)
_SMALL_MARKS = (0.25, 0.5, 0.75)
SUMMEVAL = Setting(
    "summeval_llm12", "sum", "gpt4_rts_sum", "SummEval, sum", shares=SMALL_SET_SHARES, marks=_SMALL_MARKS
)
SUMMEVAL_ASPECTS = (
    SUMMEVAL,
    *(
        Setting(
            "summeval_llm12",
            aspect,
            f"gpt4_rts_{aspect}",
            f"SummEval, {aspect}",
            shares=SMALL_SET_SHARES,
            marks=_SMALL_MARKS,
        )
        for aspect in ("relevance", "coherence", "consistency", "fluency")
    ),
)
SUMMEVAL_JUDGE = Setting(
    "summeval_llm12",
    "gpt4_rts_sum",
    "gpt4_rts_sum",
    "SummEval, GPT-4 judge as the truth",
    shares=SMALL_SET_SHARES,
    marks=_SMALL_MARKS,
)
MAIN = (
    *WMT23,
    SUMMEVAL,
    Setting(
        "wmt24_enzh",
        "esa",
        "chrF",
        "WMT24 en–zh, ESA",
        instead=(("diversity:similarity=bleu", "diversity:similarity=bleu,tokeniser=zh"),),
    ),
    Setting(
        "alpacaeval2_llmjudge",
        "pref_vs_gpt4turbo_JUDGE_gpt4turbo",
        "length",
        "AlpacaEval 2 (LLM judge)",
    ),
)
# Sets that nobody had looked at when the default of diffuse was chosen.
UNSEEN = tuple(
    Setting(file, truth, "", title)
    for file, truth, title in (
        ("biomqm_deen", "mqm", "BioMQM de–en"),
        ("biomqm_ende", "mqm", "BioMQM en–de"),
        ("biomqm_enes", "mqm", "BioMQM en–es"),
        ("biomqm_enfr", "mqm", "BioMQM en–fr"),
        ("biomqm_enru", "mqm", "BioMQM en–ru"),
        ("wmt21_ende", "mqm", "WMT21 en–de"),
        ("wmt21_zhen", "mqm", "WMT21 zh–en"),
        ("ted21_ende", "mqm", "TED21 en–de"),
        ("wmt24_encs", "esa", "WMT24 en–cs"),
        ("wmt24_enhi", "esa", "WMT24 en–hi"),
        ("webnlg20_en", "mean", "WebNLG 2020"),
        ("simpeval_past", "rating", "SimpEval"),
        ("realsumm", "litepyramid_recall", "REALSumm"),
        ("opinsummeval", "sum", "OpinSummEval"),
    )
)
DEMO_SETTING = Setting(DEMO, "overall", "learned", "demo")
