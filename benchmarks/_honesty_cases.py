"""What the tables of honest scores are computed on: sets, the metric fixed beforehand, and finished parts."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

import sparingly
from benchmarks.papers.settings import SMALL_SET_SHARES, file_of
from benchmarks.papers.work import write_whole
from sparingly import EvalSet
from sparingly.base.arrays import Floats
from sparingly.infer.rank.compare import judged_part
from sparingly.infer.rank.curve import SHARES

# Runs are kept so many at a time, so that an interrupted command goes on, and more runs add to those there.
BLOCK = 10
_DECIMALS = 6


@dataclass(frozen=True)
class Case:
    """A fully judged set.

    Attributes:
        file: The data set, without its ending.
        truth: The aspect that is estimated.
        metric: The metric that selectors see, by a rule and not by how well it does: the learned one that
            published work uses (MetricX-23, bleurt-combi, GPT-4's own sum), chrF where there is none.
        title: How the set is called in tables.
        shares: The budgets over which figures are averaged.
    """

    file: str
    truth: str
    metric: str
    title: str
    shares: tuple[float, ...] = SHARES

    @property
    def name(self) -> str:
        """What the case is called in files and on the command line."""
        return f"{self.file}/{self.truth}"

    @property
    def is_vouched(self) -> bool:
        """Whether the metric is one that a user would vouch for: it was learned from judgements."""
        return self.metric != "chrF"

    def data(self, folder: Path) -> EvalSet:
        """Return the items and models that have the truth, with all metrics."""
        return _judged(folder, self.file, self.truth)


@lru_cache(maxsize=1)
def _judged(folder: Path, file: str, truth: str) -> EvalSet:
    return judged_part(sparingly.load(file_of(folder, file)), truth)[0]


_METRICX, _CHRF = "MetricX-23", "chrF"
ZHEN = Case("wmt23_zhen", "mqm", _METRICX, "WMT23 zh–en, MQM")
ENDE = Case("wmt23_ende", "mqm", _METRICX, "WMT23 en–de, MQM")
MAIN = (ENDE, ZHEN)
OTHERS = (
    Case("wmt23_ende", "da_sqm", _METRICX, "WMT23 en–de, DA+SQM"),
    Case("wmt23_ende_esa", "esa1", _METRICX, "WMT23 en–de, ESA"),
    Case("wmt23_ende_mqm3", "mqm3", _METRICX, "WMT23 en–de, MQM by three"),
    Case("wmt23_zhen_mqm3", "mqm3", _METRICX, "WMT23 zh–en, MQM by three"),
    Case("wmt24_encs", "esa", _CHRF, "WMT24 en–cs, ESA"),
    Case("wmt24_enhi", "esa", _CHRF, "WMT24 en–hi, ESA"),
    Case("wmt24_enzh", "esa", _CHRF, "WMT24 en–zh, ESA"),
    Case("summeval_llm12", "sum", "gpt4_rts_sum", "SummEval, GPT-4 as the metric", SMALL_SET_SHARES),
    Case("summeval", "sum", _CHRF, "SummEval, ROUGE and chrF", SMALL_SET_SHARES),
)
COVERAGE = (
    ENDE,
    ZHEN,
    Case("wmt20_ende_notext", "mqm", "bleurt-combi", "WMT20 en–de, MQM"),
    Case("ted21_ende", "mqm", _CHRF, "TED21 en–de, MQM"),
    *(
        Case(f"biomqm_{pair}", "mqm", _CHRF, f"BioMQM {pair[:2]}–{pair[2:]}")
        for pair in ("deen", "ende", "enes", "enfr", "enru")
    ),
)


@dataclass(frozen=True)
class Kept:
    """Runs that are finished, kept in a folder until it is deleted (None: nowhere)."""

    folder: Path | None = None

    def runs(
        self, key: Mapping[str, Any], count: int, run: Callable[[int], Any], *, or_more: bool = False
    ) -> Floats:
        """Return the results of runs 0 … count − 1, or also of finished ones beyond these."""
        found: list[Any] = []
        start = 0
        while start < count or (or_more and self._is_there(key, start)):
            stop = start + BLOCK if start + BLOCK <= count or start >= count else count
            found += self._block({**key, "start": start, "stop": stop}, start, stop, run)
            start = stop
        return np.array(found, np.float64)

    def _is_there(self, key: Mapping[str, Any], start: int) -> bool:
        path = self._path({**key, "start": start, "stop": start + BLOCK})
        return path is not None and path.exists()

    def _block(self, key: Mapping[str, Any], start: int, stop: int, run: Callable[[int], Any]) -> list[Any]:
        path = self._path(key)
        if path is not None and path.exists():
            return list(json.loads(path.read_text(encoding="utf-8"))["runs"])
        begun = time.perf_counter()
        runs = [np.asarray(run(place)).tolist() for place in range(start, stop)]
        if path is not None:
            write_whole(path, json.dumps({"key": dict(key), "runs": runs}))
        told = " ".join(str(value) for value in key.values() if not isinstance(value, tuple))
        print(f"{told}  {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
        return runs

    def _path(self, key: Mapping[str, Any]) -> Path | None:
        if self.folder is None:
            return None
        text = json.dumps({**key, "version": sparingly.__version__}, sort_keys=True)
        return self.folder / f"{blake2b(text.encode(), digest_size=12).hexdigest()}.json"


def rounded(value: float) -> float | None:
    """Return a number as it is written into results; one that is not there is None."""
    return None if np.isnan(value) else round(float(value), _DECIMALS)


def mean_with_interval(values: Floats) -> dict[str, float | None]:
    """Return the mean of runs with its 95 % t interval; a single run has none."""
    from scipy.special import stdtrit

    mean = float(values.mean())
    half = float("nan")
    if len(values) > 1:
        half = float(stdtrit(len(values) - 1, 0.975) * values.std(ddof=1) / np.sqrt(len(values)))
    return {"mean": rounded(mean), "low": rounded(mean - half), "high": rounded(mean + half)}


def ratio_with_interval(values: Floats, base: Floats) -> dict[str, float | None]:
    """Return the ratio of two means of independent runs with its 95 % interval (on the scale of logarithms).

    A single run is taken as it is: the interval is then that of the other mean alone.
    """
    ratio = float(values.mean() / base.mean())
    parts = [run.var(ddof=1) / len(run) / run.mean() ** 2 for run in (values, base) if len(run) > 1]
    half = 1.96 * float(np.sqrt(sum(parts)))
    return {
        "mean": rounded(ratio),
        "low": rounded(ratio * np.exp(-half)),
        "high": rounded(ratio * np.exp(half)),
    }
