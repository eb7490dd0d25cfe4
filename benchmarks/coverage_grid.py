"""How often intervals hold the truth: designs, estimators, shapes of scores, sample sizes, both targets.

    .venv/bin/python -m benchmarks.coverage_grid               # the whole grid
    .venv/bin/python -m benchmarks.coverage_grid --docs        # and its table in docs/research/coverage.md
    .venv/bin/python -m benchmarks.coverage_grid --intervals 80    # few: does it still run?
    .venv/bin/python -m benchmarks.coverage_grid --only uniform --only greg
    .venv/bin/python -m benchmarks.coverage_grid --only uniform --interval t --n 10 --n 15 --n 30 --n 100

Every replicate draws a set from a population and a sample from the set, and asks whether the 95 % interval
holds the mean of the set (target ``set``) or of the population. Populations are made, or the human scores of
public sets beside the checkout, drawn with replacement. Replicates are models with scores of their own in
arrays of 40 (of 20 or fewer where an estimator learns from all models together). With ``--interval`` one sees
what the guard's limits rest on.

Finished cells are kept in .bench/coverage/ until the code that decides about them changes, so
that an interrupted run goes on where it stopped.

The exit code is 1 when a bar is missed: with 100 units or more and a skewness up to 2, coverage of at least
93 % (tails are learned from all models, so that those with short ones get more), a bias of at most 0.1
standard errors, nothing withheld, and at most 1 % of all pairs significant in the wrong direction; each by
more than two standard errors of the simulation, in which arrays are the replicates.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, Literal, NamedTuple
from zlib import crc32

import numpy as np

import sparingly
from benchmarks.coverage_sets import FAMILIES, FOLDER, PAIRS, SOURCES, Family, Scores, real_families
from benchmarks.pages import folded, points, replaced, table, write_whole
from benchmarks.resume import FinishedParts
from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.choose.design.draws import draw_cube, draw_local_pivotal, draw_pivotal
from sparingly.choose.design.probability import inclusion_probabilities
from sparingly.choose.select import select
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.assemble import EstimateRequest, assemble
from sparingly.infer.estimate.estimate import estimate_scores
from sparingly.infer.estimate.estimators import as_estimator
from sparingly.infer.estimate.intervals import Interval
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.estimate.sample import sample_from

# --- what intervals did over the replicates of a cell of the coverage grid -------------------------------


MOST_SKEW = 2.0
# What is written of a tally.
FIGURES = ("coverage", "slack", "bias", "bias_slack", "ratio", "withheld", "widened", "wrong")


@dataclass
class Tally:
    """What intervals did, of scores or of differences.

    Attributes:
        asked: How many there might have been.
        told: How many there were.
        held: How many of those hold the truth.
        wider: How many of those were widened.
        wrong_sign: How many lie on the wrong side of 0.
        by_array: (held, told) of every array: intervals of one array share items.
        missed: How far each centre lies from the truth, array by array.
        errors: The standard errors.
    """

    asked: int = 0
    told: int = 0
    held: int = 0
    wider: int = 0
    wrong_sign: int = 0
    by_array: list[tuple[int, int]] = field(default_factory=list)
    missed: list[Floats] = field(default_factory=list)
    errors: list[Floats] = field(default_factory=list)

    def add(
        self, centre: Floats, errors: Floats, low: Floats, high: Floats, truth: Floats, *, widened: int = 0
    ) -> None:
        """Count the intervals of an array."""
        known = np.isfinite(low) & np.isfinite(high)
        slack = 1e-9 * np.maximum(np.abs(truth), 1.0)
        held = int((known & (low <= truth + slack) & (truth - slack <= high)).sum())
        self.asked += len(centre)
        self.told += int(known.sum())
        self.held += held
        self.wider += widened
        self.wrong_sign += int((known & (low * high > 0) & (np.sign(low) * np.sign(truth) < 0)).sum())
        self.by_array.append((held, int(known.sum())))
        self.missed.append(centre - truth)
        self.errors.append(errors)

    @property
    def coverage(self) -> float:
        """The share of the printed intervals that hold the truth."""
        return self.held / max(self.told, 1)

    @property
    def slack(self) -> float:
        """The standard error of the coverage, arrays being the replicates."""
        held, told = np.array(self.by_array, float).T
        squared = float(((held - self.coverage * told) ** 2).sum()) / max(self.told, 1) ** 2
        return float(np.sqrt(max(squared, 1e-4 / max(self.told, 1))))

    @property
    def _strayed(self) -> float:
        return float(np.std(np.concatenate(self.missed))) if self.asked else float("nan")

    @property
    def bias(self) -> float:
        """The mean error, as a share of the standard deviation of the error."""
        return float(np.mean(np.concatenate(self.missed))) / self._strayed

    @property
    def bias_slack(self) -> float:
        """The standard error of the bias, arrays being the replicates."""
        sums = np.array([part.sum() - self.bias * self._strayed * len(part) for part in self.missed])
        return float(np.sqrt((sums**2).sum())) / max(self.asked, 1) / self._strayed

    @property
    def ratio(self) -> float:
        """The root mean squared standard error over the standard deviation of the error."""
        squared = np.square(np.concatenate(self.errors))
        return (
            float(np.sqrt(np.nanmean(squared))) / self._strayed
            if np.isfinite(squared).any()
            else float("nan")
        )

    @property
    def withheld(self) -> float:
        """The share without an interval."""
        return 1.0 - self.told / max(self.asked, 1)

    @property
    def widened(self) -> float:
        """The share of intervals that were widened."""
        return self.wider / max(self.asked, 1)

    @property
    def wrong(self) -> float:
        """The share of all that is significant in the wrong direction."""
        return self.wrong_sign / max(self.asked, 1)

    def figures(self) -> dict[str, float]:
        """Return the figures."""
        return {name: getattr(self, name) for name in FIGURES}


@dataclass
class Cell:
    """One cell of the grid, for one target.

    Attributes:
        scores: What intervals of scores did.
        differences: What intervals of differences did.
        mild_scores: Those of models whose scores have a skewness of at most 2.
        mild_differences: Those of two such models.
        fallen_back: How many scores fell back to the weighted mean.
    """

    scores: Tally = field(default_factory=Tally)
    differences: Tally = field(default_factory=Tally)
    mild_scores: Tally = field(default_factory=Tally)
    mild_differences: Tally = field(default_factory=Tally)
    fallen_back: int = 0

    def count(self, estimate: Estimate, truth: Floats, skew: Floats) -> None:
        """Add the models of one estimate, and the differences of every model and the next."""
        mild = np.abs(skew) <= MOST_SKEW
        self.fallen_back += estimate.outcome.fallen_back
        ends = (estimate.scores, estimate.standard_errors, estimate.low, estimate.high, truth)
        self.scores.add(*ends, widened=estimate.outcome.bounds)
        self._add_mild(self.mild_scores, mild, ends)
        first, second = ring(truth)
        centre = estimate.scores[first] - estimate.scores[second]
        assert estimate.pairs is not None
        errors, made = estimate.pairs.intervals(first, second, centre, [""] * len(first))
        ends = (centre, errors, made.low, made.high, truth[first] - truth[second])
        self.differences.add(*ends, widened=made.outcome.bounds)
        self._add_mild(self.mild_differences, mild[first] & mild[second], ends)

    @staticmethod
    def _add_mild(tally: Tally, mild: Mask, ends: tuple[Floats, ...]) -> None:
        if mild.any():
            tally.add(*(part[mild] for part in ends))

    @property
    def fell_back(self) -> float:
        """The share of scores that fell back to the weighted mean."""
        return self.fallen_back / max(self.scores.asked, 1)


def ring(truth: Floats) -> tuple[Ints, Ints]:
    """Return every model and the next (the last and the first), the truly better one in front.

    So a bias of differences says whether they are exaggerated.
    """
    one = np.arange(len(truth) if len(truth) > 2 else 1)
    other = (one + 1) % len(truth)
    better = truth[one] >= truth[other]
    return np.where(better, one, other), np.where(better, other, one)


# --- cells of the coverage grid --------------------------------------------------------------------------


Target = Literal["set", "population"]
TARGETS: tuple[Target, ...] = ("set", "population")


class Drawn(NamedTuple):
    """A drawn set, and what makes the estimate for a target out of a drawn sample."""

    whole: Scores
    found: Callable[[EstimateRequest], Estimate]


Design = Callable[[Family, int, np.random.Generator], Drawn]
# Items of a set for each that is judged; items of a document; strata.
SET_FACTOR, LENGTH, STRATA = 4, 5, 5


def run_cell(
    name: str,
    family: Family,
    n: int,
    count: int,
    interval: Interval = "auto",
    targets: Iterable[Target] = TARGETS,
) -> dict[Target, Cell]:
    """Return what intervals did over so many models or more; targets share sets and samples."""
    cells: dict[Target, Cell] = {target: Cell() for target in targets}
    drawn = np.random.default_rng([n, crc32(name.encode()), crc32(family.name.encode())])
    while any(cell.scores.asked < count for cell in cells.values()):
        made = DESIGNS[name](family, n, drawn)
        seed = int(drawn.integers(2**31))
        for target, cell in cells.items():
            found = made.found(EstimateRequest(target=target, interval=interval, seed=seed))
            scores, means, skew = made.whole
            cell.count(found, np.asarray(scores.mean(axis=0)) if target == "set" else means, skew)
    return cells


def _plain(whole: Scores, taken: np.ndarray[Any, np.dtype[np.bool_]], *chances: Any, **how: Any) -> Drawn:
    """Return a drawn sample for the weighted mean."""
    seen = np.where(taken[:, None], whole.scores, np.nan)

    def found(request: EstimateRequest) -> Estimate:
        return estimate_scores(
            seen, *chances, target=request.target, interval=request.interval, seed=request.seed, **how
        )

    return Drawn(whole, found)


def uniform(family: Family, n: int, drawn: np.random.Generator) -> Drawn:
    """A simple random sample and its mean."""
    whole = family.scores(SET_FACTOR * n, drawn)
    return _plain(whole, drawn.permutation(len(whole.scores)) < n)


def pivotal(family: Family, n: int, drawn: np.random.Generator) -> Drawn:
    """Unequal probabilities by a size that knows where scores vary, and the weighted mean."""
    size = np.exp(0.7 * drawn.normal(size=SET_FACTOR * n))
    scores, means, skew = family.scores(SET_FACTOR * n, drawn)
    spread = size / np.sqrt(np.exp(2 * 0.7**2))
    scores = means + (scores - means) * spread[:, None]
    chances = inclusion_probabilities(size, n, tau=0.5)
    return _plain(Scores(scores, means, skew), draw_pivotal(chances, drawn), chances)


def documents(family: Family, n: int, drawn: np.random.Generator) -> Drawn:
    """Whole documents, whose items are alike; n counts the drawn documents."""
    scores, means, skew = family.scores(SET_FACTOR * n * LENGTH, drawn)
    level = np.repeat(drawn.normal(size=(SET_FACTOR * n, 2 * PAIRS)), LENGTH, axis=0) * 0.6
    document = np.arange(len(scores)) // LENGTH
    taken = np.isin(document, drawn.permutation(SET_FACTOR * n)[:n])
    whole = Scores(scores + level, means, skew)
    return _plain(whole, taken, 1 / SET_FACTOR, units=document, documents=document)


def stratified(family: Family, n: int, drawn: np.random.Generator) -> Drawn:
    """Equal strata with levels of their own, the same share of each."""
    scores, means, skew = family.scores(SET_FACTOR * n, drawn)
    strata = drawn.integers(STRATA, size=len(scores))
    scores = scores + (strata - (STRATA - 1) / 2)[:, None] * 0.6 * _signs(drawn)
    chances = np.empty(len(scores))
    taken = np.zeros(len(scores), bool)
    for code in range(STRATA):
        inside = drawn.permutation(np.flatnonzero(strata == code))
        count = round(len(inside) / SET_FACTOR)
        chances[inside] = count / len(inside)
        taken[inside[:count]] = True
    return _plain(Scores(scores, means, skew), taken, chances, strata=strata)


def _smooth(family: Family, n: int, drawn: np.random.Generator) -> tuple[Scores, Floats]:
    """Scores that hang on two coordinates, smoothly, and on noise."""
    scores, means, skew = family.scores(SET_FACTOR * n, drawn)
    places = drawn.random((len(scores), 2))
    trend = np.sin(3 * places[:, 0]) - (1 - np.cos(3.0)) / 3.0 + places[:, 1] - 0.5
    return Scores(scores + trend[:, None] * _signs(drawn), means, skew), places


def _signs(drawn: np.random.Generator) -> Floats:
    """A sign for each model: what all share must not make all replicates go up and down together."""
    return drawn.choice([-1.0, 1.0], 2 * PAIRS)


def local_pivotal(family: Family, n: int, drawn: np.random.Generator) -> Drawn:
    """A sample spread over a space in which near items have like scores."""
    whole, places = _smooth(family, n, drawn)
    taken = draw_local_pivotal(np.full(len(places), 1 / SET_FACTOR), places, drawn)
    return _plain(whole, taken, coordinates=places)


def cube(family: Family, n: int, drawn: np.random.Generator) -> Drawn:
    """A sample balanced on variables on which the scores hang."""
    whole, places = _smooth(family, n, drawn)
    variables = np.column_stack([np.ones(len(places)), places])
    taken = draw_cube(np.full(len(places), 1 / SET_FACTOR), variables, drawn)
    return _plain(whole, taken, balance=variables)


def by_metrics(estimator: str, design: str = "uniform") -> Design:
    """A sample drawn by a design, and an estimator with two metrics, of which one follows the scores."""

    def run(family: Family, n: int, drawn: np.random.Generator) -> Drawn:
        whole, good, weak = family.metrics(SET_FACTOR * n, drawn, estimator != "greg")
        items, models = whole.scores.shape
        data = EvalSet.from_arrays(
            [f"i{place:05d}" for place in range(items)],
            [f"m{place:02d}" for place in range(models)],
            metrics={"good": good, "weak": weak},
            aspects={"truth": whole.scores},
        )
        chosen = select(data, design, n, seed=int(drawn.integers(2**31)))
        # What ``estimate`` does, but once for both targets: predictions take most of the time.
        sample = sample_from(data, whole.scores, chosen)
        linear = as_estimator(estimator).resolve(data).linear(sample, data, int(drawn.integers(2**31)))

        def found(request: EstimateRequest) -> Estimate:
            return assemble(sample, linear, data.models, request, aspect="truth", estimator=estimator)

        return Drawn(whole, found)

    return run


DESIGNS: dict[str, Design] = {
    "uniform": uniform,
    "pivotal": pivotal,
    "documents": documents,
    "stratified": stratified,
    "local_pivotal": local_pivotal,
    "cube": cube,
    "control_variate": by_metrics("control_variate:metric=good"),
    "control_variate, several": by_metrics("control_variate:variate=several"),
    "control_variate, knn": by_metrics("control_variate:variate=knn"),
    "ppi": by_metrics("ppi:metric=good"),
    "greg": by_metrics("greg"),
    "greg, pivotal": by_metrics("greg", "pivotal:utility=(metric_var:metric=good)"),
}
WITH_METRICS = tuple(name for name in DESIGNS if name.startswith(("control", "ppi", "greg")))


# --- the coverage grid as Markdown -----------------------------------------------------------------------


Row = dict[str, Any]
_UNIFORM = "uniform"
_KINDS = ("scores", "differences")
_SHOWN = ("coverage", "slack", "bias", "withheld", "widened", "wrong")


def blocks(computed: dict[str, Any]) -> dict[str, str]:
    """Return the parts of the page by the names of their markers."""
    rows = [_filled(row) for row in computed["rows"]]
    said = f"Computed on {computed['date']} with version {computed['version']}: {_size(rows)}."
    if len(rows) < computed["cells"]:
        said += f" {computed['cells'] - len(rows)} of the {computed['cells']} cells are not computed."
    if computed["left_out"]:
        said += " Left out: " + " ".join(computed["left_out"])
    details = [folded(_title(design), _lines(_of(rows, design))) for design in _designs(rows)]
    return {"coverage": "\n\n".join([said, _summary(rows), _LEGEND, *details])}


def compact(row: Row) -> Row:
    """Return what the table needs of a cell, in few digits; what is 0 or nothing is left out."""
    found: Row = {name: row[name] for name in ("design", "family", "n")}
    for target in TARGETS:
        found[target] = {"fallen_back": round(row[target]["fallen_back"], 3)}
        for what in _KINDS:
            cell = row[target][what]
            told = {name: round(cell[name], 3) for name in _SHOWN}
            told |= {
                "intervals": cell["intervals"],
                "missed": cell["missed"],
                "barred": int(bool(cell["barred"])),
            }
            found[target][what] = {name: value for name, value in told.items() if value}
    return found


def _filled(row: Row) -> Row:
    """Return a cell with what was left out of it."""
    nothing = {**dict.fromkeys((*_SHOWN, "intervals", "barred"), 0), "missed": []}
    parts: Row = {
        target: {**row[target], **{what: {**nothing, **row[target][what]} for what in _KINDS}}
        for target in TARGETS
    }
    return {**row, **parts}


_LEGEND = (
    "How often 95 % intervals that were printed hold the truth, in percent: the lowest and the highest "
    "share at n ≥ 100 over all shapes and public sets in which a model has a skewness up to 2. `set` and "
    "`pop.` are the two targets. A bar is missed when the models with such a skewness miss it by more "
    "than two standard errors. Below, a line for every shape and size: coverage over all models, bias in "
    "standard errors (▼ marks a missed bar), the shares of scores that were withheld, widened and fallen "
    "back to the weighted mean, and of pairs that are significant in the wrong direction (the greater of "
    "both targets), in percent."
)


def _size(rows: Sequence[Row]) -> str:
    counts = [row[target][what]["intervals"] for row in rows for target in TARGETS for what in _KINDS]
    errors = [row[target][what]["slack"] for row in rows for target in TARGETS for what in _KINDS]
    return (
        f"{min(counts)} to {max(counts)} intervals in a cell, whose coverage has a standard error of "
        f"{100 * sorted(errors)[len(errors) // 2]:.1f} points (median; arrays of models are the replicates; "
        f"{100 * max(errors):.1f} at most)"
    )


def _designs(rows: Iterable[Row]) -> list[str]:
    return list(dict.fromkeys(row["design"] for row in rows))


def _of(rows: Iterable[Row], design: str) -> list[Row]:
    return [row for row in rows if row["design"] == design]


def _names(design: str) -> tuple[str, str]:
    """Return the draw and the estimator."""
    if design not in WITH_METRICS:
        return design, "weighted mean"
    estimator, _, rest = design.partition(", ")
    if rest == "pivotal":
        return rest, estimator
    return _UNIFORM, design


def _title(design: str) -> str:
    return "{} draw, {}".format(*_names(design))


def _summary(rows: Sequence[Row]) -> str:
    head = ["draw", "estimator", "scores, set", "scores, pop.", "differences, set", "differences, pop."]
    head += ["greatest bias", "withheld", "wrong sign", "bars missed"]
    return table(head, [_summary_line(design, _of(rows, design)) for design in _designs(rows)], texts=2)


def _summary_line(design: str, rows: Sequence[Row]) -> list[str]:
    large = [row for row in rows if row["n"] >= 100]
    cells = [row[target][what] for row in large for target in TARGETS for what in _KINDS]
    barred = [cell for cell in cells if cell["barred"]]
    return [
        *_names(design),
        *(_range(large, target, what) for what in _KINDS for target in TARGETS),
        f"{max((abs(cell['bias']) for cell in barred), default=0.0):.2f}",
        points(max((cell["withheld"] for cell in barred), default=0.0)),
        points(max((_wrong(row) for row in large), default=0.0), 2),
        f"{sum(bool(cell['missed']) for cell in cells)} of {len(barred)}",
    ]


def _range(rows: Sequence[Row], target: str, what: str) -> str:
    held = [row[target][what]["coverage"] for row in rows if row[target][what]["barred"]]
    return f"{points(min(held))}–{points(max(held))}" if held else "–"


def _lines(rows: Sequence[Row]) -> str:
    head = ["shape", "n", "scores, set", "scores, pop.", "differences, set", "differences, pop."]
    head += ["bias", "withheld", "widened", "fallen back", "wrong sign"]
    return table(head, [_line(row) for row in rows])


def _line(row: Row) -> list[str]:
    scores = row["set"]["scores"]
    missed = any(row[target][what]["missed"] for target in TARGETS for what in _KINDS)
    return [
        f"{row['family']}{' ▼' if missed else ''}",
        str(row["n"]),
        *(points(row[target][what]["coverage"]) for what in _KINDS for target in TARGETS),
        f"{scores['bias']:+.2f}".replace("-", "−"),
        points(scores["withheld"]),
        points(scores["widened"]),
        points(row["set"]["fallen_back"]),
        points(_wrong(row), 2),
    ]


def _wrong(row: Row) -> float:
    """Return the share of pairs that are significant in the wrong direction, the greater of both targets."""
    return float(max(row[target]["differences"]["wrong"] for target in TARGETS))


# --- the command -----------------------------------------------------------------------------------------


ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "research" / "coverage.md"
RESULTS = ROOT / "benchmarks" / "results" / "coverage.json"
SIZES = (30, 100, 300)
ENOUGH, LEAST = 100, 0.93
BIAS, WRONG = 0.1, 0.01
KINDS = ("auto", "t", "bootstrap")
# What decides about the figures, within the package and beside this file.
_CODE = ("base", "choose/design", "infer/estimate", "signals")
_GRID = ("coverage_grid.py", "coverage_sets.py")


def options(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    reader.add_argument("--intervals", type=int, default=2000, help="intervals in each cell, or a few more")
    reader.add_argument("--only", action="append", choices=DESIGNS, help="one design or estimator")
    reader.add_argument("--family", action="append", help="one shape of scores")
    reader.add_argument("--n", action="append", type=int, help="one sample size")
    reader.add_argument("--interval", choices=KINDS, default="auto", help="one kind of interval for all")
    reader.add_argument("--data", type=Path, default=FOLDER, help="the public sets")
    reader.add_argument("--kept", type=Path, default=ROOT / ".bench" / "coverage", help="finished cells")
    reader.add_argument("--docs", action="store_true", help="write figures and table of the whole grid")
    reader.add_argument("--results", type=Path, default=RESULTS, help="where figures are written")
    reader.add_argument("--page", type=Path, default=PAGE, help="the page that holds the table")
    return reader.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run the grid and say which bars are missed."""
    args = options(arguments)
    found, absent = real_families(args.data)
    families = {**FAMILIES, **found}
    for reason in absent:
        print(f"left out: {reason}")
    named = [families[name] for name in args.family or families]
    finished, rows = FinishedParts(args.kept, _CODE, _GRID), []
    print(
        f"{'design':<26}{'scores':<18}{'n':>4} {'target':<11}{'of':<12}cover   bias  se/sd  withheld  wrong"
    )
    for design in args.only or DESIGNS:
        for family in named:
            for n in args.n or SIZES:
                rows.append(_cell(finished, design, family, n, args.intervals, args.interval))
    if args.docs:
        _write(rows, absent, args)
    return 1 if any([_said(row) for row in rows]) else 0


def _cell(
    finished: FinishedParts, design: str, family: Family, n: int, count: int, interval: Interval
) -> dict[str, Any]:
    """Return the figures of a cell, computed or saved, and print them."""
    place: dict[str, Any] = {"design": design, "family": family.name, "n": n}

    def compute() -> dict[str, Any]:
        start = time.process_time()
        row = dict(place)
        for target, cell in run_cell(design, family, n, count, interval).items():
            row[target] = figures(design, family, n, cell)
        return {**row, "seconds": round(time.process_time() - start, 1)}

    row = finished.row({**place, "intervals": count, "interval": interval}, compute)
    for target in TARGETS:
        for what in ("scores", "differences"):
            one = row[target][what]
            missed = f"  ← {', '.join(one['missed'])}" if one["missed"] else ""
            told = f"{one['coverage']:.3f} {one['bias']:+6.2f}  {one['ratio']:.2f}   {one['withheld']:.2f}"
            where = f"{design:<26}{family.name:<18}{n:>4} {target:<11}{what:<12}"
            print(f"{where}{told}      {one['wrong']:.3f}{missed}", flush=True)
    return row


def figures(design: str, family: Family, n: int, cell: Cell) -> dict[str, Any]:
    """Return what is written of a cell for one target."""
    parts: dict[str, Any] = {"fallen_back": round(cell.fell_back, 4)}
    for what, tally, mild in (
        ("scores", cell.scores, cell.mild_scores),
        ("differences", cell.differences, cell.mild_differences),
    ):
        # Differences of equal shapes have no skewness, but those of heavy tails are no easier.
        barred = mild if mild.asked and not (what == "differences" and family.heavy) else None
        missed = [] if barred is None else missed_bars(n, barred, of_pairs=what == "differences")
        told = {name: round(value, 4) for name, value in tally.figures().items()}
        parts[what] = {**told, "intervals": tally.asked, "missed": missed, "barred": None}
        if barred is not None:
            parts[what]["barred"] = {name: round(value, 4) for name, value in barred.figures().items()}
    return parts


def missed_bars(n: int, tally: Tally, *, of_pairs: bool) -> list[str]:
    """Return the bars that intervals of scores or of pairs miss beyond chance (two standard errors)."""
    if n < ENOUGH:
        return []
    chance = 2.0 * tally.slack
    said = []
    if tally.coverage < LEAST - chance:
        said.append(f"covers {tally.coverage:.3f}")
    if abs(tally.bias) > BIAS + 2.0 * tally.bias_slack:
        said.append(f"bias {tally.bias:+.2f}")
    if tally.withheld:
        said.append(f"withheld {tally.withheld:.2f}")
    if of_pairs and tally.wrong > WRONG + 2.0 * (WRONG / max(tally.asked, 1)) ** 0.5:
        said.append(f"wrong sign {tally.wrong:.3f}")
    return said


def _said(row: dict[str, Any]) -> bool:
    """Say which bars a cell misses; return whether there are any."""
    said = [
        f"{target}, {what}: {', '.join(row[target][what]['missed'])}"
        for target in TARGETS
        for what in ("scores", "differences")
        if row[target][what]["missed"]
    ]
    for one in said:
        print(f"missed: {row['design']}, {row['family']}, n = {row['n']}, {one}")
    return bool(said)


def _write(rows: list[dict[str, Any]], absent: tuple[str, ...], args: argparse.Namespace) -> None:
    """Write the figures, and the table into its page."""
    computed = {
        "version": sparingly.__version__,
        "date": date.today().isoformat(),
        "cells": len(DESIGNS) * (len(FAMILIES) + len(SOURCES)) * len(SIZES),
        "left_out": list(absent),
        "rows": [compact(row) for row in rows],
    }
    write_whole(args.results, json.dumps(computed, ensure_ascii=False, separators=(",", ":")) + "\n")
    write_whole(args.page, replaced(args.page.read_text(encoding="utf-8"), blocks(computed)))


if __name__ == "__main__":
    # Workers find functions by the name of their module, which is not __main__ there.
    from benchmarks.coverage_grid import main as run

    sys.exit(run())
