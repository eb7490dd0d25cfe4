"""The work behind a paper's tables: how much effort is made, and cells that are computed once.

Finished cells are kept in a folder, so that an interrupted run goes on where it stopped. A cell is found
again only if the data file and the code of the package are what they were.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache, lru_cache
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

import sparingly
from benchmarks.minilm import EMBEDDING, with_minilm
from benchmarks.pages import write_whole
from benchmarks.resume import logic_digest
from sparingly.base.arrays import Floats
from sparingly.base.errors import UsageError
from sparingly.choose.design.budget import Budget
from sparingly.data.describe import describe
from sparingly.data.evalset import Combination, EvalSet
from sparingly.data.io import load
from sparingly.data.synthetic import load_invented
from sparingly.infer.rank.compare import curve, full_set, judged_part
from sparingly.infer.rank.curve import SHARES, SPA
from sparingly.infer.rank.curve import SMALL_SET_SHARES as UNROUNDED
from sparingly.infer.rank.curve import curve as curve_of_rows
from sparingly.run.rounds.replay import replay

# --- what the tables are computed on ---------------------------------------------------------------------


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
    return load_invented() if file == DEMO else load(file_of(folder, file))


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


# --- the work behind a paper's tables --------------------------------------------------------------------


Given = TypeVar("Given")
Made = TypeVar("Made")

# What decides about the figures: these floors, without the rooms that no table enters.
_FLOORS = ("base", "data", "signals", "choose", "infer", "run", "published")
_OTHER_ROOMS = (
    "choose/pool",
    "infer/judge",
    "infer/plan",
    "run/campaign",
    "run/exchange",
    "run/forms",
    "run/judging",
)
# The same of the benchmarks.
DECIDING_BENCHMARKS = (
    "analyses",
    "distil_holdout.py",
    "irt_intervals",
    "method_studies.py",
    "minilm.py",
    "papers",
)
_DECIMALS = 6
_CASF_PHASES = 5


@dataclass(frozen=True)
class Effort:
    """How often what hangs on a seed is repeated.

    Attributes:
        random_runs: Runs of random selection.
        seeds: Runs of other methods that hang on a seed.
        parity_runs: Random orders that set the targets of parity, and as many that are held against them.
    """

    random_runs: int = 100
    seeds: int = 5
    parity_runs: int = 20


USUAL = Effort()
FULL = Effort(seeds=10, parity_runs=50)
QUICK = Effort(random_runs=4, seeds=2, parity_runs=2)
EFFORTS: Mapping[str, Effort] = MappingProxyType({"quick": QUICK, "usual": USUAL, "full": FULL})


@dataclass(frozen=True)
class Interval:
    """A mean over runs with its 90 % t interval; one run has none."""

    mean: float
    low: float | None
    high: float | None
    sd: float | None

    @classmethod
    def of(cls, values: Floats) -> Interval:
        """Return the interval of the mean (sd/√runs) of some runs."""
        from scipy.special import stdtrit

        mean = float(values.mean())
        if len(values) < 2:
            return cls(mean, None, None, None)
        sd = float(values.std(ddof=1))
        half = float(stdtrit(len(values) - 1, 0.95)) * sd / float(np.sqrt(len(values)))
        return cls(mean, mean - half, mean + half, sd)

    def figures(self) -> dict[str, float | None]:
        """Return the numbers for a file of results."""
        return {name: rounded(value) for name, value in asdict(self).items()}


@dataclass(eq=False)
class Reused:
    """How long the finished cells took that a table has found, each counted once."""

    seconds: float = 0.0
    known: set[Path] = field(default_factory=set)

    def add(self, path: Path, seconds: float) -> None:
        """Count a cell, unless this table made it or has found it before."""
        if path not in self.known:
            self.known.add(path)
            self.seconds += seconds


@dataclass(frozen=True)
class Work:
    """What the figures of a table are computed with.

    Attributes:
        data: The folder of the fully judged data sets.
        kept: Where finished cells are kept; None for nowhere.
        effort: How often what hangs on a seed is repeated.
        is_demo: Whether the demo set stands for every data set, to see that a table can be computed.
        jobs: How many processes share the work of ``each``.
        reused: The time of finished cells that were found.
    """

    data: Path
    kept: Path | None = None
    effort: Effort = USUAL
    is_demo: bool = False
    jobs: int = 1
    reused: Reused = field(default_factory=Reused, compare=False, repr=False)

    def load(self, name: str) -> EvalSet:
        """Return a data set by its name, the demo set in its place where that is asked for."""
        if self.is_demo or name == DEMO:
            return loaded(self.data, DEMO)
        if not file_of(self.data, name).is_file():
            raise UsageError(
                f"There is no data set {name}.jsonl.gz in {self.data}: name its folder with --data."
            )
        return loaded(self.data, name)

    def settings(self, usual: tuple[Setting, ...]) -> tuple[Setting, ...]:
        """Return the settings to compute: the usual ones, or the demo set in their place."""
        return (DEMO_SETTING,) if self.is_demo else usual

    def evalset(self, setting: Setting) -> EvalSet:
        """Return the data of a setting."""
        return _set_of(self, setting)

    def given(self, setting: Setting, method: str) -> tuple[EvalSet, str]:
        """Return the data of a setting with the vectors that a method names, and the method to run on it."""
        text = setting.method(method).replace(EMBEDDING, self.embedding(EMBEDDING))
        if "metric=source_" in text:
            return _set_with_predictions(self, setting), text
        return _set_with_vectors(self, setting) if EMBEDDING in text else self.evalset(setting), text

    def embedding(self, name: str) -> str:
        """Return an embedding as methods name it; the texts of the demo set have no vectors by MiniLM."""
        return "tfidf" if self.is_demo else name

    def about(self, setting: Setting) -> dict[str, float | None]:
        """Return what there is to know about a setting (see ``Setting.about``)."""
        found = self.cell(setting, {"what": "about"}, lambda: setting.about(self.load(setting.file)))
        return {name: rounded(value) if isinstance(value, float) else value for name, value in found.items()}

    def curves(self, setting: Setting, method: str, runs: int, measure: str = SPA) -> Floats:
        """Return the agreement, runs × budgets of the setting's grid, with a seed for every run."""
        text, setting = setting.method(method), setting.seen_by(method)
        key = {"what": "curve", "method": text, "runs": runs, "shares": setting.grid, "measure": measure}

        def make() -> list[list[float]]:
            data, text = self.given(setting, method)
            if text.startswith("casf"):
                return [_replayed(data, text, setting)]
            found = (
                curve(data, text, setting.truth, shares=setting.grid, measure=measure, seed=seed, runs=1)
                for seed in range(runs)
            )
            return [one.curve.values.tolist() for one in found]

        return np.array(self.cell(setting, key, make))

    def cell(self, of: Setting | str, key: Mapping[str, Any], make: Callable[[], Any]) -> Any:
        """Return what is kept under a key, or make and keep it.

        Args:
            of: The setting, or the name of the data set, that the cell is computed on.
            key: What else decides about the cell, as plain values; ``what`` says which kind of cell it is.
            make: Computes the cell, as plain values for a JSON file.
        """
        if self.kept is None:
            return make()
        file = of if isinstance(of, str) else of.file
        about = {} if isinstance(of, str) else {"setting": asdict(of)}
        whole = {"file": file, **about, "data": self._digest(file), "code": paper_code(), **key}
        text = json.dumps(whole, sort_keys=True)
        path = self.kept / f"{file}-{blake2b(text.encode(), digest_size=12).hexdigest()}.json"
        if path.exists():
            saved = json.loads(path.read_text(encoding="utf-8"))
            self.reused.add(path, saved["seconds"])
            return saved["value"]
        start, before = time.perf_counter(), self.reused.seconds
        value = make()
        seconds = time.perf_counter() - start + self.reused.seconds - before
        self.reused.known.add(path)
        said = key.get("method", key["what"])
        _say(f"{file if isinstance(of, str) else of.name}  {said}  {seconds:.1f} s")
        write_whole(path, json.dumps({"key": whole, "seconds": round(seconds, 3), "value": value}))
        return value

    def each(self, make: Callable[[Given], Made], over: Iterable[Given]) -> list[Made]:
        """Return what is made of every one of some things, in their order, in ``jobs`` processes."""
        if self.jobs == 1:
            return [make(one) for one in over]
        from joblib import Parallel, delayed

        share = delayed(_with_reused)
        found = list(Parallel(n_jobs=self.jobs)(share(make, one, self.reused) for one in over))
        self.reused.seconds += sum(seconds for _, seconds, _ in found) / self.jobs
        self.reused.known.update(*(known for _, _, known in found))
        return [made for made, _, _ in found]

    def _digest(self, file: str) -> str:
        path = file_of(self.data, file)
        return "made" if self.is_demo or not path.exists() else _file_digest(path)


def averages(curves: Floats, setting: Setting) -> Floats:
    """Return the mean over the setting's budgets, one number per run."""
    columns = [setting.grid.index(share) for share in setting.shares]
    return np.asarray(curves[:, columns].mean(axis=1))


def at_marks(curves: Floats, setting: Setting) -> dict[str, float | None]:
    """Return the mean over runs at the budgets that are shown one by one."""
    means = curves.mean(axis=0)
    return {f"{mark:.0%}": rounded(means[setting.grid.index(mark)]) for mark in setting.marks}


def rounded(value: float | None) -> float | None:
    """Return a number as it is written into results: the last bits differ between machines."""
    return None if value is None else round(float(value), _DECIMALS)


def _with_reused(make: Callable[[Given], Made], one: Given, reused: Reused) -> tuple[Made, float, set[Path]]:
    """Return what is made in a process of its own, how long the cells took that it found, and its cells."""
    before = reused.seconds
    return make(one), reused.seconds - before, reused.known


@cache
def paper_code() -> str:
    """Return the digest of the code that decides about figures, whatever it says about them."""
    return logic_digest(deciding_rooms(), DECIDING_BENCHMARKS)


def deciding_rooms() -> tuple[str, ...]:
    """Return the modules and rooms of the package that decide about figures, as paths in it."""
    package = Path(sparingly.__file__).parent
    rooms = (
        f"{floor}/{path.name}"
        for floor in _FLOORS
        for path in sorted((package / floor).iterdir())
        if path.suffix == ".py" or (path.is_dir() and path.name != "__pycache__")
    )
    return tuple(room for room in rooms if room not in _OTHER_ROOMS)


def _say(line: str) -> None:
    """Show what is finished, on a terminal alone."""
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_terminal:
        console.print(line, highlight=False, markup=False)


@cache
def _file_digest(path: Path) -> str:
    return _digest_of([path])


def _digest_of(paths: Sequence[Path]) -> str:
    found = blake2b(digest_size=12)
    for path in paths:
        found.update(path.name.encode())
        found.update(path.read_bytes())
    return found.hexdigest()


@lru_cache(maxsize=2)
def _set_of(work: Work, setting: Setting) -> EvalSet:
    """Return the data; kept, because methods remember what they computed for a set that is in use."""
    return setting.data(work.load(setting.file))


def _replayed(data: EvalSet, method: str, setting: Setting) -> list[float]:
    """Return the agreement of what a strategy chooses in rounds, at every budget of a setting."""
    part = judged_part(data, setting.truth)[0]
    full = full_set(part, setting.truth)
    found = []
    for share in setting.grid:
        budget = Budget("share", share)
        # Five phases need five items: with fewer there is the first alone.
        text = method if budget.count_of(len(part)) >= _CASF_PHASES else f"{method},phases=1"
        asked = list(replay(part, text, budget, truth=setting.truth))[-1].state.asked
        rows = np.flatnonzero(asked.any(axis=1))
        found.append(float(curve_of_rows(full, rows, [len(rows)]).values[0]))
    return found


@lru_cache(maxsize=1)
def _set_with_predictions(work: Work, setting: Setting) -> EvalSet:
    from benchmarks.papers.zouhar.sources import with_predictions

    return with_predictions(work, setting, work.evalset(setting))


@lru_cache(maxsize=2)
def _set_with_vectors(work: Work, setting: Setting) -> EvalSet:
    return with_minilm(work.evalset(setting))
