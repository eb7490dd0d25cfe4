"""The work behind a paper's tables: how much effort is made, and cells that are computed once.

Finished cells are kept in a folder, so that an interrupted run goes on where it stopped. A cell is found
again only if the data file and the code of the package are what they were.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

import sparingly
from benchmarks.papers.settings import DEMO, DEMO_SETTING, Setting, file_of, loaded
from sparingly.base.arrays import Floats
from sparingly.base.errors import UsageError
from sparingly.data.evalset import EvalSet
from sparingly.data.files import write_atomically
from sparingly.infer.rank.compare import curve
from sparingly.infer.rank.curve import SPA

Given = TypeVar("Given")
Made = TypeVar("Made")

# What decides about the figures; the floors above only show them.
_FLOORS = ("base", "data", "signals", "choose", "infer", "run")
_DECIMALS = 6


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


@dataclass(frozen=True)
class Work:
    """What the figures of a table are computed with.

    Attributes:
        data: The folder of the fully judged data sets.
        kept: Where finished cells are kept; None for nowhere.
        effort: How often what hangs on a seed is repeated.
        is_demo: Whether the demo set stands for every data set, to see that a table can be computed.
        jobs: How many processes share the work of ``each``.
    """

    data: Path
    kept: Path | None = None
    effort: Effort = USUAL
    is_demo: bool = False
    jobs: int = 1

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

    def about(self, setting: Setting) -> dict[str, float | None]:
        """Return what there is to know about a setting (see ``Setting.about``)."""
        found = self.cell(setting, {"what": "about"}, lambda: setting.about(self.load(setting.file)))
        return {name: rounded(value) if isinstance(value, float) else value for name, value in found.items()}

    def curves(self, setting: Setting, method: str, runs: int, measure: str = SPA) -> Floats:
        """Return the agreement, runs × budgets of the setting's grid, with a seed for every run."""
        text, setting = setting.method(method), setting.seen_by(method)
        key = {"what": "curve", "method": text, "runs": runs, "shares": setting.grid, "measure": measure}

        def make() -> list[list[float]]:
            data = self.evalset(setting)
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
        whole = {"file": file, **about, "data": self._digest(file), "code": code_digest(), **key}
        text = json.dumps(whole, sort_keys=True)
        path = self.kept / f"{file}-{blake2b(text.encode(), digest_size=12).hexdigest()}.json"
        if path.exists():
            return json.loads(path.read_text(encoding="utf-8"))["value"]
        start = time.perf_counter()
        value = make()
        said = key.get("method", key["what"])
        _say(f"{file if isinstance(of, str) else of.name}  {said}  {time.perf_counter() - start:.1f} s")
        write_whole(path, json.dumps({"key": whole, "value": value}))
        return value

    def each(self, make: Callable[[Given], Made], over: Iterable[Given]) -> list[Made]:
        """Return what is made of every one of some things, in their order, in ``jobs`` processes."""
        if self.jobs == 1:
            return [make(one) for one in over]
        from joblib import Parallel, delayed

        return list(Parallel(n_jobs=self.jobs)(delayed(make)(one) for one in over))

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


def write_whole(path: Path, text: str) -> None:
    """Write a file so that an interruption leaves the old one or the new one; folders are made."""
    path.parent.mkdir(parents=True, exist_ok=True)

    def write(file: Any) -> None:
        file.write(text.encode())

    write_atomically(path, write)


@cache
def code_digest() -> str:
    """Return the digest of the code that decides about figures."""
    package = Path(sparingly.__file__).resolve().parent
    folders = [*(package / floor for floor in _FLOORS), Path(__file__).resolve().parent]
    return _digest_of([path for folder in folders for path in sorted(folder.rglob("*.py"))])


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
