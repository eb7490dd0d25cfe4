"""Errors of every method on a set, share by share and draw by draw; what is finished is kept in a folder."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import sparingly
from benchmarks._score_errors_ours import OURS, VOUCHED, our_method
from benchmarks.papers.saldias.cases import Cases, cases_of
from benchmarks.papers.saldias.errors import SHARES, Errors, groups, measured
from benchmarks.papers.saldias.methods import (
    ALL_METRICS,
    BASE,
    PUBLISHED,
    PUBLISHED_ROUNDING,
    Published,
)

FOUR_SHARES = (0.05, 0.1, 0.25, 0.5)
# With 55 systems a prediction takes seconds where many items are judged.
TWO_SHARES = {"alpacaeval2_llmjudge": (0.05, 0.1)}
# The sets on which every method is run.
MAIN = (
    "wmt23_zhen",
    "wmt23_ende",
    "wmt20_ende_notext",
    "ted21_ende",
    "biomqm_deen",
    "biomqm_ende",
    "biomqm_enes",
    "biomqm_enfr",
    "biomqm_enru",
)
# Where rows are added: all metrics instead of ten, a metric that the user vouches for, the paper's rounding.
ALL_METRICS_SETS = VOUCHED_SETS = ("wmt23_ende",)
PUBLISHED_ROUNDING_SETS = ("wmt23_ende", "wmt20_ende_notext")
FEWEST_DRAWS = 50


def names_of(folder: Path) -> list[str]:
    """Return the names of the data sets of a folder."""
    return sorted(path.name.removesuffix(".jsonl.gz") for path in folder.glob("*.jsonl.gz"))


def load_cases(folder: Path, name: str) -> Cases:
    """Read a set and cut it into cases."""
    return cases_of(name, sparingly.load(folder / f"{name}.jsonl.gz"))


@dataclass(frozen=True)
class Work:
    """Where data lie, how many draws are made, and where finished errors are kept (None: nowhere).

    The draws of a share are shared out over the raters of a set, but each has at least 50.
    """

    data: Path
    draws: int
    keep: Path | None = None
    main: tuple[str, ...] = MAIN

    def shares(self, name: str) -> tuple[float, ...]:
        """Return the shares of the items that are drawn of a set."""
        return SHARES if name in self.main else TWO_SHARES.get(name, FOUR_SHARES)

    def draws_of(self, cases: Cases) -> int:
        """Return how many draws of each share a case has."""
        return max(min(self.draws, FEWEST_DRAWS), -(-self.draws // len(cases.cases)))

    def errors(self, name: str) -> tuple[Cases, dict[str, Errors]]:
        """Return the errors of all methods on a set."""
        cases = load_cases(self.data, name)
        wanted = self._published(cases)
        found: dict[str, Errors] = {}
        for group in groups(wanted):
            some = {method: wanted[method] for method in group}
            found |= self._kept(cases, group, lambda some=some: self._measure(cases, some))  # type: ignore[misc]
        ours = {OURS: ""} | ({VOUCHED: cases.one} if name in VOUCHED_SETS and name in self.main else {})
        for method, metric in ours.items():
            found |= self._kept(cases, [method], lambda one=method, by=metric: self._ours(cases, one, by))  # type: ignore[misc]
        return cases, found

    def _published(self, cases: Cases) -> Mapping[str, Published]:
        if cases.name not in self.main:
            return {BASE: PUBLISHED[BASE]}
        wanted = dict(PUBLISHED)
        if cases.name in PUBLISHED_ROUNDING_SETS:
            wanted |= PUBLISHED_ROUNDING
        if cases.name in ALL_METRICS_SETS:
            wanted |= ALL_METRICS
        return wanted

    def _measure(self, cases: Cases, methods: Mapping[str, Published]) -> dict[str, Errors]:
        """Replay the draws that some published methods share."""
        return measured(cases, methods, self.shares(cases.name), self.draws_of(cases))

    def _ours(self, cases: Cases, name: str, metric: str) -> dict[str, Errors]:
        """Replay our defaults; every share and draw has a seed of its own."""
        parts = []
        for case in cases.cases:
            made = Errors.of_nothing(case, self.shares(cases.name), self.draws_of(cases))
            for place, share in enumerate(self.shares(cases.name)):
                method = our_method(case, share, metric)
                for number in range(self.draws_of(cases)):
                    told = method(1_000_000 * place + number)
                    made.error[place, number] = np.abs(told.scores - case.means)
                    made.deviation[place, number] = told.deviation
            parts.append(made)
        return {name: Errors.joined(parts)}

    def _kept(
        self, cases: Cases, names: Sequence[str], make: Callable[[], dict[str, Errors]]
    ) -> dict[str, Errors]:
        """Return what is kept of some methods, or measure and keep it."""
        if self.keep is None:
            return make()
        path = (
            self.keep
            / f"{cases.name}-{self.draws_of(cases)}-{names[0].replace(' ', '_').replace(',', '')}.npz"
        )
        if path.exists():
            with np.load(path) as there:
                if {f"error {name}" for name in names} <= set(there.files):
                    return {
                        name: Errors(there[f"error {name}"], there[f"deviation {name}"]) for name in names
                    }
        start = time.perf_counter()
        found = make()
        self.keep.mkdir(parents=True, exist_ok=True)
        arrays = {f"error {name}": errors.error for name, errors in found.items()}
        arrays |= {f"deviation {name}": errors.deviation for name, errors in found.items()}
        partial = path.with_suffix(".part.npz")
        np.savez_compressed(partial, **arrays)  # type: ignore[arg-type]
        partial.replace(path)
        seconds = time.perf_counter() - start
        print(f"{cases.name}  {', '.join(names)}  {seconds:.0f} s", file=sys.stderr, flush=True)
        return found
