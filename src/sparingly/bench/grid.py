"""A grid: data sets × methods × budgets × runs, read from a TOML file, from options, or the standard one.

An entry of a grid is a method with an estimator, with how its p-values are computed and how often it is run.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from importlib import import_module, resources
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

from sparingly.base.checks import check_names
from sparingly.base.errors import InputError, UnknownNameError, UsageError
from sparingly.base.registry import Method, filled_in, method_class, parse_method
from sparingly.base.syntax import argument
from sparingly.base.text import format_value, parse_call, text_value
from sparingly.choose.design.random import Random
from sparingly.choose.design.top import Top
from sparingly.choose.select import as_selector
from sparingly.choose.utility.base import Utility
from sparingly.data.files import naming
from sparingly.infer.estimate.estimators import as_estimator
from sparingly.infer.rank.curve import SHARES, SMALL_SET_SHARES
from sparingly.run.rounds.stop.base import as_stop
from sparingly.run.rounds.strategy import Strategy

# Stands for the one metric of a set.
METRIC = "{metric}"
ROUNDS = 5
# What strategies call the number of their rounds.
_ROUNDS = ("rounds", "waves", "phases")
PValues = Literal["own", "full_set"]
EntryKind = Literal["random", "stochastic", "deterministic"]
_NAMED_METRIC = re.compile(r"([:,])\w+=\{metric\}(,?)")

_COUNT = (lambda value: type(value) is int and value > 0, "a whole number from 1 on")
# What parts of an entry are checked by, and what is said of them; all others are texts.
_PARTS: Mapping[str, tuple[Callable[[Any], bool], str]] = MappingProxyType(
    {"rounds": _COUNT, "runs": _COUNT, "slow": (lambda value: isinstance(value, bool), "true or false")}
)
_TEXT: tuple[Callable[[Any], bool], str] = (lambda value: isinstance(value, str), "a text")
# A set of fewer items is replayed at larger shares.
SMALL_SET = 150
# Below the budgets that count in means: a good method reaches random's agreement at the smallest of those
# with fewer labels, and how many is measured, not extrapolated.
LOW_SHARES, LOW_SMALL_SET_SHARES = (0.02, 0.035), (0.1, 0.175)
# Which budgets of the list slow methods are run at.
_SLOW_PLACES = (1, 4, 9)
_DIGITS = 6
Run = tuple[int, int]


@dataclass(frozen=True)
class GridEntry:
    """A method of a grid."""

    method: str  # the method as text; ``{metric}`` stands for the one metric of the set
    # The estimator as text; None for plain means (and what a strategy itself estimates).
    estimator: str | None = None
    name: str = ""  # the displayed name; derived from the rest unless given
    # ``own``, of the judged items, or ``full_set``, those that judging everything is expected to give.
    p_values: PValues = "own"
    rounds: int | None = None  # of a strategy: the number of rounds; None for one selection
    kind: EntryKind = "stochastic"  # ``random``, ``stochastic`` or ``deterministic``: how often it is run
    slow: bool = False  # whether it is run at three budgets only
    stop: str | None = None  # what ends a strategy before its budget is spent
    runs: int | None = None  # how many runs; decided by the kind unless given
    # The Python module that holds the method's class, where the method is not registered.
    module: str | None = None

    @property
    def plan(self) -> GridEntry:
        """The entry without its name, p-values and runs: entries with one plan share their judgements."""
        return GridEntry(self.method, self.estimator, rounds=self.rounds, stop=self.stop, module=self.module)

    def make_method(self, metric: str | None) -> Method:
        """Return the method for a set with a metric, a strategy with its number of rounds."""
        method = _read_method(with_metric(self.method, metric), self.module)
        if isinstance(method, Strategy) and self.rounds is not None:
            return with_rounds(method, self.rounds)
        return method


def entry_of(text: str, **more: Any) -> GridEntry:
    """Return an entry from ``METHOD`` or ``METHOD|ESTIMATOR``, with the rest filled in and checked."""
    options = {name: value for name, value in more.items() if value is not None}
    parts = [part.name for part in fields(GridEntry) if part.name not in ("method", "estimator")]
    choices = {"p_values": get_args(PValues), "kind": get_args(EntryKind)}
    for name, value in options.items():
        if name not in parts:
            raise UnknownNameError("part of an entry", name, ("method", *parts))
        if name in choices and value not in choices[name]:
            raise UnknownNameError(f"{name} of an entry", value, choices[name])
        right, words = _PARTS.get(name, _TEXT)
        if not right(value):
            raise UsageError(f"In an entry, {name} is {words}, not {value!r}.")
    method_text, *estimators = _split_at_bars(text)
    if len(estimators) > 1:
        raise UsageError(f'The entry "{text}" names two estimators: write METHOD|ESTIMATOR.')
    method = _read_method(method_text, options.get("module"))
    estimator = estimators[0] if estimators else None
    entry = GridEntry(method_text, estimator, **{"kind": run_kind(method), **options})
    strategy, own_rounds = isinstance(method, Strategy), None
    if isinstance(method, Strategy):
        # The number of rounds in the text, where it says one.
        part = rounds_parameter(method)
        if part is not None and part.name in dict(parse_call(method_text).values):
            own_rounds = int(getattr(method, part.name))
        entry = replace(entry, rounds=entry.rounds or own_rounds or ROUNDS)
        with_rounds(method, entry.rounds or ROUNDS)
    if estimator is not None:
        as_estimator(estimator)
    if entry.stop is not None:
        as_stop(entry.stop)
    if not strategy and (entry.rounds is not None or entry.stop is not None):
        raise UsageError(f"rounds and stop go with a strategy, and {method.name} is not one.")
    if entry.p_values == "full_set" and estimator is None and not strategy:
        raise UsageError(
            f"What judging everything would say is expected by an estimator: write {entry.method}|greg."
        )
    return entry if entry.name else replace(entry, name=_entry_name(entry, own_rounds))


def entry_from_table(values: Mapping[str, Any]) -> GridEntry:
    """Return an entry from its table in a grid file."""
    options = dict(values)
    text = options.pop("method", None)
    if not isinstance(text, str):
        raise UsageError('Every entry of a grid has a method, such as method = "random|greg".')
    return entry_of(text, **options)


def run_kind(method: Method) -> EntryKind:
    """Return how runs of a method differ; a list ordered by a utility depends on the seed only in ties."""
    if isinstance(method, Random):
        return "random"
    return "deterministic" if isinstance(method, Utility | Top) else "stochastic"


def rounds_parameter(strategy: Strategy) -> Field[Any] | None:
    """Return the parameter that says how many rounds a strategy has; None where it has none."""
    return next((part for part in fields(strategy) if part.name in _ROUNDS), None)


def with_rounds(strategy: Strategy, rounds: int) -> Strategy:
    """Return a strategy with the given number of rounds, where it has a parameter for it."""
    part = rounds_parameter(strategy)
    if part is None:
        return strategy
    minimum = part.metadata.get("minimum")
    if minimum is not None and rounds < minimum:
        raise UsageError(f"The strategy {strategy.name} has {minimum:g} rounds or more, not {rounds}.")
    return replace(strategy, **{part.name: rounds})


def with_metric(text: str, metric: str | None) -> str:
    """Return a text with a metric's name in the place of ``{metric}``."""
    if METRIC not in text:
        return text
    if metric is None:
        raise UsageError(
            "The method takes a metric, and the data set has none: name a method without one, such as random."
        )
    return text.replace(METRIC, format_value(text_value(metric)))


def _read_method(text: str, module: str | None) -> Method:
    call = parse_call(text)
    if module is None:
        kind = method_class(call.name)
        return parse_method(text) if issubclass(kind, Strategy) else as_selector(text)
    # A method that is not registered is one of the module's classes, found by its ``name``.
    try:
        content = vars(import_module(module)).values()
    except ImportError as error:
        raise UsageError(f"The module {module} of an entry cannot be imported: {error}.") from None
    classes = [value for value in content if isinstance(value, type) and issubclass(value, Method)]
    by_name = {method.name: method for method in classes if method.name}
    if call.name not in by_name:
        raise UnknownNameError(f"method of the module {module}", call.name, by_name)
    method = filled_in(by_name[call.name], call)
    return method if isinstance(method, Strategy) else as_selector(method)


def _split_at_bars(text: str) -> Iterator[str]:
    """Yield the parts of a text between bars that stand outside of double quotes."""
    start, quoted = 0, False
    for place, letter in enumerate(text):
        if letter == '"' and text[place - 1 : place] != "\\":
            quoted = not quoted
        if letter == "|" and not quoted:
            yield text[start:place].strip()
            start = place + 1
    yield text[start:].strip()


def _entry_name(entry: GridEntry, own_rounds: int | None) -> str:
    """Return a name for an entry: its text without the metric, and what else distinguishes it."""
    parts = [_without_metric(entry.method)]
    if entry.estimator is not None:
        parts[0] += f"|{_without_metric(entry.estimator)}"
    if entry.p_values == "full_set":
        parts.append("expected p")
    if entry.rounds not in (None, own_rounds or ROUNDS):
        parts.append("one round" if entry.rounds == 1 else f"{entry.rounds} rounds")
    if entry.stop is not None:
        parts.append(f"until {entry.stop}")
    return ", ".join(parts)


def _without_metric(text: str) -> str:
    return _NAMED_METRIC.sub(lambda match: match.group(1) if match.group(2) else "", text)


@dataclass(frozen=True)
class GridRuns:
    """How often methods are run: seeds of random selection, and of methods that draw.

    Methods that do not draw are run on the whole set and on 80 % resamples of it.
    """

    random: int = 100
    stochastic: int = 10
    resamples: int = 10

    def __post_init__(self) -> None:
        for part in fields(self):
            value, minimum = getattr(self, part.name), 0 if part.name == "resamples" else 1
            if type(value) is not int or value < minimum:
                raise UsageError(f"{part.name} is a whole number from {minimum} on, not {value!r}.")

    def of_entry(self, entry: GridEntry) -> tuple[Run, ...]:
        """Return the runs of an entry, each a seed and a resample (0 is the whole set)."""
        if entry.kind == "deterministic":
            resamples = self.resamples if entry.runs is None else entry.runs - 1
            return ((0, 0), *((0, place) for place in range(1, resamples + 1)))
        usual = self.random if entry.kind == "random" else self.stochastic
        return tuple((seed, 0) for seed in range(entry.runs or usual))


@dataclass(frozen=True)
class ReplayGrid:
    """What is replayed."""

    entries: tuple[GridEntry, ...]  # the methods
    sets: tuple[str, ...] = ()  # the names of the data sets; all of the folder unless given
    # The budgets as shares of the items; 5 to 50 % (25 to 75 % under 150 items) unless given, and two below
    # them, which count for parity alone.
    shares: tuple[float, ...] = ()
    runs: GridRuns = field(default_factory=GridRuns)  # how often methods are run
    truths: Mapping[str, str] = field(default_factory=dict)  # what is compared with, by set
    metrics: Mapping[str, str] = field(default_factory=dict)  # the one metric, by set
    text: str = ""  # as it was written

    def __post_init__(self) -> None:
        if not self.entries:
            raise UsageError(
                f"A grid has one method or more: [[entry]] with method = …, or {argument('methods')}."
            )
        names = [entry.name for entry in self.entries]
        for place, name in enumerate(names):
            if name in names[:place]:
                raise UsageError(f'Two entries of the grid are called "{name}": give one another name.')

    def shares_of(self, entry: GridEntry, items: int) -> tuple[float, ...]:
        """Return the budgets of an entry on a set of this many items; slow methods have three."""
        usual = self.shares or (SMALL_SET_SHARES if items < SMALL_SET else SHARES)
        shares = tuple(round(share, _DIGITS) for share in usual)
        if not entry.slow or len(shares) <= len(_SLOW_PLACES):
            low = () if self.shares else LOW_SMALL_SET_SHARES if items < SMALL_SET else LOW_SHARES
            return (*low, *shares)
        return tuple(shares[place] for place in _SLOW_PLACES if place < len(shares))


def first_share(items: int) -> float:
    """Return the smallest budget that counts in means, for a set of this many items."""
    return (SMALL_SET_SHARES if items < SMALL_SET else SHARES)[0]


def read_grid(path: Path) -> ReplayGrid:
    """Read a grid from its TOML file."""
    with naming(path):
        text = path.read_text(encoding="utf-8")
    try:
        return grid_from_text(text)
    except InputError as error:
        raise error.at(file=path) from None


def standard_grid() -> ReplayGrid:
    """Return the standard grid, which is also that of the leaderboard."""
    file = resources.files("sparingly.bench").joinpath("standard.toml")
    return grid_from_text(file.read_text(encoding="utf-8"))


def grid_of(
    methods: Sequence[str],
    *,
    sets: Iterable[str] = (),
    budgets: Iterable[str | float] = (),
    seeds: int | None = None,
    resamples: int | None = None,
) -> ReplayGrid:
    """Return a grid of some methods, each as ``METHOD`` or ``METHOD|ESTIMATOR``."""
    counts = {"random": seeds, "stochastic": seeds, "resamples": resamples}
    return ReplayGrid(
        entries=tuple(entry_of(text) for text in methods),
        sets=tuple(sets),
        shares=shares_of(budgets),
        runs=GridRuns(**{name: count for name, count in counts.items() if count is not None}),
        text="\n".join(methods),
    )


def grid_from_text(text: str) -> ReplayGrid:
    """Return a grid from the text of its file."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(
            f"this is not TOML ({error})",
            fix="Write a table for each method: [[entry]], and below it method = …",
        ) from None
    keys = ("sets", "budgets", "runs", "truths", "metrics", "entry")
    check_names("part of a grid", content, keys)
    runs = _table(content, "runs")
    kinds = [part.name for part in fields(GridRuns)]
    check_names("kind of runs", runs, kinds)
    entries = _list(content, "entry")
    if not all(isinstance(table, dict) for table in entries):
        raise UsageError("In a grid, every entry is a table: [[entry]].")
    return ReplayGrid(
        entries=tuple(map(entry_from_table, entries)),
        sets=tuple(map(str, _list(content, "sets"))),
        shares=shares_of(_list(content, "budgets")),
        runs=GridRuns(**runs),
        truths={name: str(truth) for name, truth in _table(content, "truths").items()},
        metrics={name: str(metric) for name, metric in _table(content, "metrics").items()},
        text=text,
    )


def shares_of(budgets: Iterable[str | float]) -> tuple[float, ...]:
    """Return budgets (``"10%"`` or 0.1) as shares of the items, in order."""
    shares = set()
    for budget in budgets:
        try:
            percent = isinstance(budget, str) and budget.strip().endswith("%")
            share = float(str(budget).strip().removesuffix("%")) / (100.0 if percent else 1.0)
        except ValueError:
            share = float("nan")
        if not 0.0 < share <= 1.0:
            raise UsageError(f"A budget of a grid is a share of the items, such as 10%, not {budget}.")
        shares.add(round(share, _DIGITS))
    return tuple(sorted(shares))


def _list(content: Mapping[str, Any], name: str) -> list[Any]:
    value = content.get(name, [])
    if not isinstance(value, list):
        raise UsageError(f"In a grid, {name} is a list, such as {name} = […].")
    return value


def _table(content: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = content.get(name, {})
    if not isinstance(value, dict):
        raise UsageError(f"In a grid, {name} is a table: [{name}].")
    return value
