"""A grid: data sets × methods × budgets × runs, read from a TOML file, from options, or the standard one."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib import resources
from pathlib import Path
from typing import Any

from sparingly.base.errors import InputError, UnknownNameError, UsageError
from sparingly.bench.entry import Entry, entry_from_table, entry_of
from sparingly.data.files import naming
from sparingly.infer.rank.curve import SHARES, SMALL_SET_SHARES

# A set of fewer items is replayed at larger shares.
SMALL = 150
# Below the budgets that are averaged over: a good method needs fewer labels than the smallest of them for
# random's agreement there, and how many is to be measured, not guessed.
LOW_SHARES, LOW_SMALL_SET_SHARES = (0.02, 0.035), (0.1, 0.175)
# Which budgets of the list slow methods are run at.
_SLOW_PLACES = (1, 4, 9)
_DIGITS = 6
Run = tuple[int, int]


@dataclass(frozen=True)
class Runs:
    """How often methods are run, by their kind.

    Attributes:
        random: Seeds of random selection.
        stochastic: Seeds of methods that draw.
        resamples: Of methods that do not: 80 % resamples of the set, beside the whole set.
    """

    random: int = 100
    stochastic: int = 10
    resamples: int = 10

    def __post_init__(self) -> None:
        for part in fields(self):
            value, least = getattr(self, part.name), 0 if part.name == "resamples" else 1
            if type(value) is not int or value < least:
                raise UsageError(f"{part.name} is a whole number from {least} on, not {value!r}.")

    def of(self, entry: Entry) -> tuple[Run, ...]:
        """Return the runs of an entry, each a seed and a resample (0 is the whole set)."""
        if entry.kind == "deterministic":
            resamples = self.resamples if entry.runs is None else entry.runs - 1
            return ((0, 0), *((0, place) for place in range(1, resamples + 1)))
        usual = self.random if entry.kind == "random" else self.stochastic
        return tuple((seed, 0) for seed in range(entry.runs or usual))


@dataclass(frozen=True)
class Grid:
    """What is replayed.

    Attributes:
        entries: The methods.
        sets: The names of the data sets; all of the folder unless given.
        shares: The budgets as shares of the items; 5 to 50 % (25 to 75 % under 150 items) unless given, and
            two below them, which count for parity alone.
        runs: How often methods are run.
        truths: What is compared with, by set.
        metrics: The one metric, by set.
        text: As it was written.
    """

    entries: tuple[Entry, ...]
    sets: tuple[str, ...] = ()
    shares: tuple[float, ...] = ()
    runs: Runs = field(default_factory=Runs)
    truths: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, str] = field(default_factory=dict)
    text: str = ""

    def __post_init__(self) -> None:
        if not self.entries:
            raise UsageError("A grid has one method or more: [[entry]] with method = …, or --methods.")
        names = [entry.name for entry in self.entries]
        for place, name in enumerate(names):
            if name in names[:place]:
                raise UsageError(f'Two entries of the grid are called "{name}": give one another name.')

    def shares_of(self, entry: Entry, items: int) -> tuple[float, ...]:
        """Return the budgets of an entry on a set of so many items; slow methods have three of them."""
        usual = self.shares or (SMALL_SET_SHARES if items < SMALL else SHARES)
        shares = tuple(round(share, _DIGITS) for share in usual)
        if not entry.slow or len(shares) <= len(_SLOW_PLACES):
            low = () if self.shares else LOW_SMALL_SET_SHARES if items < SMALL else LOW_SHARES
            return (*low, *shares)
        return tuple(shares[place] for place in _SLOW_PLACES if place < len(shares))


def first_share(items: int) -> float:
    """Return the smallest budget that means are taken over, for a set of so many items."""
    return (SMALL_SET_SHARES if items < SMALL else SHARES)[0]


def read_grid(path: Path) -> Grid:
    """Read a grid from its TOML file."""
    with naming(path):
        text = path.read_text(encoding="utf-8")
    try:
        return grid_from_text(text)
    except InputError as error:
        raise error.at(file=path) from None


def standard_grid() -> Grid:
    """Return the grid of the leaderboard."""
    return grid_from_text(
        resources.files("sparingly.bench").joinpath("standard.toml").read_text(encoding="utf-8")
    )


def grid_of(
    methods: Sequence[str],
    *,
    sets: Iterable[str] = (),
    budgets: Iterable[str | float] = (),
    seeds: int | None = None,
    resamples: int | None = None,
) -> Grid:
    """Return a grid of some methods, each as ``METHOD`` or ``METHOD|ESTIMATOR``."""
    asked = {"random": seeds, "stochastic": seeds, "resamples": resamples}
    return Grid(
        entries=tuple(entry_of(text) for text in methods),
        sets=tuple(sets),
        shares=shares_of(budgets),
        runs=Runs(**{name: count for name, count in asked.items() if count is not None}),
        text="\n".join(methods),
    )


def grid_from_text(text: str) -> Grid:
    """Return a grid from the text of its file."""
    try:
        held = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(
            f"this is not TOML ({error})", fix="Write a grid as the documentation shows"
        ) from None
    known = ("sets", "budgets", "runs", "truths", "metrics", "entry")
    for name in held:
        if name not in known:
            raise UnknownNameError("part of a grid", name, known)
    runs = _table(held, "runs")
    for name in runs:
        if name not in (names := tuple(part.name for part in fields(Runs))):
            raise UnknownNameError("kind of runs", name, names)
    return Grid(
        entries=tuple(entry_from_table(one) for one in _tables(held, "entry")),
        sets=tuple(map(str, _list(held, "sets"))),
        shares=shares_of(_list(held, "budgets")),
        runs=Runs(**runs),
        truths={name: str(truth) for name, truth in _table(held, "truths").items()},
        metrics={name: str(metric) for name, metric in _table(held, "metrics").items()},
        text=text,
    )


def shares_of(budgets: Iterable[str | float]) -> tuple[float, ...]:
    """Return budgets (``"10%"`` or 0.1) as shares of the items, in order."""
    return tuple(sorted({round(_share(budget), _DIGITS) for budget in budgets}))


def _share(budget: str | float) -> float:
    try:
        percent = isinstance(budget, str) and budget.strip().endswith("%")
        share = float(str(budget).strip().removesuffix("%")) / (100.0 if percent else 1.0)
    except ValueError:
        share = float("nan")
    if not 0.0 < share <= 1.0:
        raise UsageError(f"A budget of a grid is a share of the items, such as 10%, not {budget}.")
    return share


def _list(held: Mapping[str, Any], name: str) -> list[Any]:
    value = held.get(name, [])
    if not isinstance(value, list):
        raise UsageError(f"In a grid, {name} is a list, such as {name} = […].")
    return value


def _table(held: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = held.get(name, {})
    if not isinstance(value, dict):
        raise UsageError(f"In a grid, {name} is a table: [{name}].")
    return value


def _tables(held: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    value = _list(held, name) if name in held else []
    if not all(isinstance(one, dict) for one in value):
        raise UsageError(f"In a grid, every {name} is a table: [[{name}]].")
    return value
