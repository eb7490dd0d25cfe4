"""The work behind the tables: curves of methods and what random selection needs, every cell computed once.

Finished cells are kept in a folder, so that an interrupted run goes on where it stopped. A cell is found
again only if the data file and the code of the package are what they were.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sparingly
from _tables_settings import DEMO_SETTING, Setting, file_of

Floats = NDArray[np.float64]

# What decides about the figures; the floors above only show them.
_FLOORS = ("base", "data", "signals", "choose", "infer")
_DECIMALS = 6


@dataclass(frozen=True)
class Effort:
    """How often what hangs on a seed is repeated."""

    random_runs: int = 100
    seeds: int = 10
    parity_runs: int = 50


QUICK = Effort(random_runs=4, seeds=2, parity_runs=2)


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
    """Where data lie, how much effort is made, and where finished cells are kept (None: nowhere)."""

    data: Path
    kept: Path | None = None
    effort: Effort = field(default_factory=Effort)
    is_demo: bool = False

    def settings(self, usual: tuple[Setting, ...]) -> tuple[Setting, ...]:
        """Return the settings to compute: the usual ones, or the demo set in their place."""
        return (DEMO_SETTING,) if self.is_demo else usual

    def about(self, setting: Setting) -> dict[str, float | None]:
        """Return what there is to know about a setting (see ``Setting.about``)."""
        found = self.cell(setting, {"what": "about"}, lambda: setting.about(self.data))
        return {name: rounded(value) if isinstance(value, float) else value for name, value in found.items()}

    def curves(self, setting: Setting, method: str, runs: int) -> Floats:
        """Return soft pairwise accuracy, runs × budgets of the setting's grid, with a seed for every run."""
        text, setting = setting.method(method), setting.seen_by(method)
        key = {"what": "curve", "method": text, "runs": runs, "shares": setting.grid}

        def make() -> list[list[float]]:
            data = self.evalset(setting)
            return [
                sparingly.curve(
                    data, text, setting.truth, shares=setting.grid, seed=seed, runs=1
                ).curve.values.tolist()
                for seed in range(runs)
            ]

        return np.array(self.cell(setting, key, make))

    def random_curves(self, setting: Setting) -> Floats:
        """Return the curves of random selection."""
        return self.curves(setting, "random", self.effort.random_runs)

    def cell(self, setting: Setting, key: Mapping[str, Any], make: Callable[[], Any]) -> Any:
        """Return what is kept under a key, or make and keep it."""
        if self.kept is None:
            return make()
        whole = {"setting": asdict(setting), "data": self._digest(setting), "code": code_digest(), **key}
        text = json.dumps(whole, sort_keys=True)
        path = self.kept / f"{setting.file}-{blake2b(text.encode(), digest_size=12).hexdigest()}.json"
        if path.exists():
            return json.loads(path.read_text(encoding="utf-8"))["value"]
        start = time.perf_counter()
        value = make()
        said = key.get("method", key["what"])
        print(f"{setting.name}  {said}  {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
        write_whole(path, json.dumps({"key": whole, "value": value}))
        return value

    def evalset(self, setting: Setting) -> sparingly.EvalSet:
        """Return the data of a setting."""
        return _set_of(setting, self.data)

    def _digest(self, setting: Setting) -> str:
        path = file_of(self.data, setting.file)
        return _file_digest(path) if path.exists() else "made"


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
    """Write a file so that an interruption leaves the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.part")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


@cache
def code_digest() -> str:
    """Return the digest of the code that decides about figures."""
    package = Path(sparingly.__file__).parent
    return _digest_of([path for floor in _FLOORS for path in sorted((package / floor).rglob("*.py"))])


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
def _set_of(setting: Setting, folder: Path) -> sparingly.EvalSet:
    """Return the data; kept, because methods remember what they computed for a set that is in use."""
    return setting.data(folder)
