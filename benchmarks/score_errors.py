"""Errors of mean scores by the methods of Saldías et al. 2022 and by ours, for results-scores.md.

    python -m benchmarks.score_errors                        all sets, 200 draws
    python -m benchmarks.score_errors --only wmt23_ende      one set (may be given several times)
    python -m benchmarks.score_errors --docs                 also writes the tables into the page
    python -m benchmarks.score_errors --demo                 few draws on the demo set, printed only

On nine sets every method is run at ten shares of the items; on all others random draws and ours at four.
Figures go to benchmarks/results/score_errors.json. Finished errors are kept in .bench/score_errors/, so that
an interrupted run goes on where it stopped; empty that folder after a change of the package.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import sparingly
from benchmarks.pages import CLEARLY_WORSE, WORSE, bold, folded, replaced, table, write_whole
from benchmarks.papers.saldias.cases import Case, Cases, cases_of
from benchmarks.papers.saldias.draws import Draw, Drawn, count_of, sample_of_draw
from benchmarks.papers.saldias.errors import (
    SHARES,
    Errors,
    Summary,
    bound_figures,
    groups,
    measured,
    method_figures,
    quantile,
    rounded,
)
from benchmarks.papers.saldias.methods import (
    ALL_METRICS,
    BASE,
    BEST_PUBLISHED,
    PUBLISHED,
    PUBLISHED_ROUNDING,
    Published,
    deviations,
)
from benchmarks.papers.saldias.published import EN_DE, TABLE_1, TABLE_3, TABLE_4, ZH_EN, ratio
from sparingly.base import rng
from sparingly.base.arrays import Floats
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.draws import draw_local_pivotal
from sparingly.choose.design.probability_design import LocalPivotal
from sparingly.choose.design.units import item_units
from sparingly.choose.utility.metric import MetricAvg
from sparingly.data.synthetic import load_invented
from sparingly.infer.estimate.estimators import Greg

# --- what the package does by default, drawn many times --------------------------------------------------


OURS, VOUCHED = "ours", "ours, vouched metric"


class Told(NamedTuple):
    """The scores of the systems, and the standard deviations of the judgements behind them."""

    scores: Floats
    deviation: Floats


Method = Callable[[int], Told]


def our_draws(case: Case, share: float, design: LocalPivotal) -> Draw:
    """Return the items that ``select`` draws for a seed, the same for all systems."""
    settled = design.resolve(case.data, Budget.parse(float(share)))
    points = settled.coordinates(case.data)
    sizes = settled.sizes(case.data, item_units(case.data, np.arange(len(case.data))))[0]
    chances = settled.probabilities(sizes, None, float(count_of(case, share)))
    cells = np.repeat(chances[:, None], case.truth.shape[1], axis=1)

    def draw(seed: int) -> Drawn:
        taken = draw_local_pivotal(chances, points, rng.generator(seed, settled.name))
        return Drawn(np.repeat(taken[:, None], case.truth.shape[1], axis=1), cells)

    return draw


def our_method(case: Case, share: float, metric: str = "") -> Method:
    """Return what the defaults give.

    With ``metric`` the user vouches for one: half of the chances go by it.
    """
    utility = MetricAvg(metric=metric) if metric else None
    draw, estimator = our_draws(case, share, LocalPivotal(utility=utility)), Greg()

    def told(seed: int) -> Told:
        sample = sample_of_draw(case, draw(seed))
        return Told(estimator.linear(sample, case.data, seed).scores(sample), deviations(sample))

    return told


# --- errors of every method on a set ---------------------------------------------------------------------


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


# --- what the page says of a set, and what was asked of ours and reached ---------------------------------


STRONG_SETS, STRONG_BAR, SAFE_BAR = ("wmt23_zhen", "wmt23_ende"), 0.75, 1.02


def set_figures(cases: Cases, found: Mapping[str, Errors], shares: Sequence[float]) -> dict[str, Any]:
    """Return all that the tables say about a set."""
    sizes = [len(case.data) for case in cases.cases]
    all_of_them = {name: Summary.of(errors.error) for name, errors in found.items()}
    full = BEST_PUBLISHED in found
    return {
        "name": cases.name,
        "raters": len(cases.cases) if cases.by_rater else 0,
        "systems": cases.cases[0].truth.shape[1],
        "simulations": cases.simulations,
        "items": [min(sizes), max(sizes)],
        "metrics": len(cases.metrics),
        "one": cases.one,
        "two": list(cases.two),
        "best": list(cases.best),
        "shares": list(shares),
        "draws": len(all_of_them[BASE].per_draw),
        "methods": [method_figures(name, one, all_of_them[BASE]) for name, one in all_of_them.items()],
        "bounds": bound_figures(cases, found, shares, (BASE, BEST_PUBLISHED, OURS)) if full else [],
        "beside_published": _beside(all_of_them) if full else None,
    }


def _beside(found: Mapping[str, Summary]) -> dict[str, float]:
    """Return ours minus the best published method, both as ratios to random's error."""
    ours, other, base = (found[name].per_draw for name in (OURS, BEST_PUBLISHED, BASE))
    value = float((ours.mean() - other.mean()) / base.mean())
    error = float(np.std(ours - other - value * base, ddof=1) / np.sqrt(len(ours)) / base.mean())
    return {"difference": rounded(value), "error": rounded(error)}


def line_of(one: Mapping[str, Any], method: str) -> dict[str, Any]:
    """Return the line of a method in the figures of a set."""
    return next(dict(line) for line in one["methods"] if line["method"] == method)


def bars(sets: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what was asked of ours and what it reached; a bar is missed where the interval lies above it."""
    lines = []
    for data_set in sets:
        found = line_of(data_set, OURS)
        bar = STRONG_BAR if data_set["name"] in STRONG_SETS else SAFE_BAR
        what = f"{data_set['name']}: error at most {bar:g} of random's"
        lines.append(_bar(what, found["ratio"], found["low"], found["high"], bar))
    beside = [data_set["beside_published"] for data_set in sets if data_set["beside_published"] is not None]
    if beside:
        value = float(np.mean([each["difference"] for each in beside]))
        half = (
            quantile(min(data_set["draws"] for data_set in sets))
            * float(np.sqrt(np.sum([each["error"] ** 2 for each in beside])))
            / len(beside)
        )
        what = f"mean over {len(beside)} sets: ratio less that of {BEST_PUBLISHED} below 0"
        lines.append(_bar(what, value, value - half, value + half, 0.0))
    return lines


def _bar(what: str, value: float, low: float, high: float, bar: float) -> dict[str, Any]:
    return {
        "what": what,
        "value": rounded(value),
        "low": rounded(low),
        "high": rounded(high),
        "bar": bar,
        "missed": bool(low > bar),
        "reached": bool(value <= bar),
    }


# --- the tables of results-scores.md, as Markdown ---------------------------------------------------


Figures = Mapping[str, Any]

TITLES = {
    "wmt23_zhen": "WMT23 zh–en",
    "wmt23_ende": "WMT23 en–de",
    "wmt20_ende_notext": "WMT20 en–de",
    "ted21_ende": "TED21 en–de",
    "biomqm_deen": "Bio de–en",
    "biomqm_ende": "Bio en–de",
    "biomqm_enes": "Bio en–es",
    "biomqm_enfr": "Bio en–fr",
    "biomqm_enru": "Bio en–ru",
}
# Tables 1, 3 and 4 of the paper, by the row here that stands for theirs.
PAPER = {
    "docs-prop": (TABLE_1, "docs-prop"),
    "docs-opt": (TABLE_1, "docs-opt"),
    "metrics-prop": (TABLE_1, "metrics-prop"),
    "cv-one": (TABLE_3, "cv-bleurt"),
    "cv-mean": (TABLE_3, "cv-mean"),
    "cv-multi": (TABLE_3, "cv-multi"),
    "cv-knn": (TABLE_3, "cv-knn"),
    BEST_PUBLISHED: (TABLE_4, BEST_PUBLISHED),
    "metrics-prop+cv-knn": (TABLE_4, "metrics-prop+cv-knn"),
}
# Where the paper's figures have their nearest kin.
PAPER_SETS = {EN_DE: "wmt20_ende_notext", ZH_EN: "wmt23_zhen"}
# A vouched metric is a choice of the user's, not what the defaults give.
_CONDITIONAL = VOUCHED


def blocks(computed: Figures) -> dict[str, str]:
    """Return the tables by their names."""
    full = [one for one in computed["sets"] if one["bounds"]]
    return {
        "score-errors-run": _run(computed),
        "score-errors-bars": _bars(computed["bars"]),
        "score-errors": _overview(full),
        "score-errors-paper": _paper(full),
        "score-errors-details": "\n\n".join(_details(one) for one in full),
        "score-errors-all": _everywhere(computed["sets"]),
        "score-errors-bounds": _bounds(full),
        "score-errors-sets": _sets(full),
    }


def _run(computed: Figures) -> str:
    draws, count = computed["draws"], len(computed["sets"])
    return (
        f"{computed['date']}, version {computed['version']}, {count} sets, {draws} draws of each share "
        "(shared out over the raters of a set, but at least 50 for each): "
        f"`.venv/bin/python -m benchmarks.score_errors --draws {draws} --docs`."
    )


def _bars(lines: Iterable[Figures]) -> str:
    rows = []
    for line in lines:
        # Only an interval that lies above the bar shows that it is missed.
        short = "**missed**" if line["missed"] else "not reached, but within the interval"
        rows.append([line["what"], *_of(line, "value"), "reached" if line["reached"] else short])
    return table(["asked of ours", "ratio", "95 % interval", ""], rows)


def _of(line: Figures, key: str = "ratio") -> list[str]:
    """Return a ratio and its interval."""
    return [_number(line[key]), f"{_number(line['low'])}–{_number(line['high'])}"]


def _number(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


def _mark(line: Figures) -> str:
    if line["ratio"] <= 1.0:
        return ""
    return f" {CLEARLY_WORSE}" if line["low"] > 1.0 else f" {WORSE}"


def title_of(figures: Figures) -> str:
    """Return what a set is called."""
    return TITLES.get(figures["name"], str(figures["name"]))


def _names(sets: Sequence[Figures]) -> list[str]:
    """Return all methods, in the order of the longest list."""
    longest = max(sets, key=lambda one: len(one["methods"]))
    return [line["method"] for line in longest["methods"] if line["method"] != BASE]


def _overview(sets: Sequence[Figures]) -> str:
    lines = [{line["method"]: line for line in one["methods"]} for one in sets]
    best = [min(line["ratio"] for name, line in one.items() if name != _CONDITIONAL) for one in lines]
    rows = []
    for name in _names(sets):
        cells = [_cell(one.get(name), least) for one, least in zip(lines, best, strict=True)]
        there = [one[name]["ratio"] for one in lines if name in one]
        mean = f"{np.mean(there):.2f}" if len(there) == len(sets) else "–"
        rows.append([f"**{name}**" if name == OURS else name, *cells, mean])
    return table(["method", *map(title_of, sets), "mean"], rows)


def _cell(line: Figures | None, best: float) -> str:
    return "–" if line is None else bold(f"{line['ratio']:.2f}", line["ratio"] == best) + _mark(line)


def _paper(sets: Sequence[Figures]) -> str:
    by_name = {data_set["name"]: data_set for data_set in sets}
    rows = []
    for name, (lines, theirs) in PAPER.items():
        row = [name]
        for direction, where in PAPER_SETS.items():
            here = f"{line_of(by_name[where], name)['ratio']:.2f}" if where in by_name else "–"
            row += [f"{ratio(lines, theirs, direction):.2f}", here]
        rows.append(row)
    return table(["method", "paper, en–de", "here, WMT20 en–de", "paper, zh–en", "here, WMT23 zh–en"], rows)


def _details(figures: Figures) -> str:
    shown = [place for place, share in enumerate(figures["shares"]) if share in (0.05, 0.1, 0.25, 0.5)]
    head = ["method", "error", "sd", "win %", "ratio", "95 % interval"]
    head += [f"at {figures['shares'][place]:.0%}" for place in shown]
    rows = []
    for line in figures["methods"]:
        win = "–" if line["win"] is None else f"{100 * line['win']:.1f}"
        shares = [f"{line['by_share'][place]:.2f}" for place in shown]
        own = [f"{line['error']:.4g}", f"{line['sd']:.4g}", win, *_of(line)]
        rows.append([line["method"], *own, *shares])
    return folded(f"{title_of(figures)}: error, sd and win %", table(head, rows))


def _everywhere(sets: Sequence[Figures]) -> str:
    rows = []
    for data_set in sorted(sets, key=lambda data_set: float(line_of(data_set, OURS)["ratio"])):
        line = line_of(data_set, OURS)
        ends = [f"{line['by_share'][place]:.2f} ({data_set['shares'][place]:.0%})" for place in (0, -1)]
        above = "**above**" if line["low"] > SAFE_BAR else ""
        who = (
            f"{data_set['raters']} raters × {data_set['systems']}"
            if data_set["raters"]
            else str(data_set["systems"])
        )
        items = "–".join(str(size) for size in dict.fromkeys(data_set["items"]))
        rows.append([f"`{data_set['name']}`", items, who, *_of(line), *ends, above])
    head = [
        "set",
        "items",
        "systems",
        "ratio",
        "95 % interval",
        "smallest share",
        "largest",
        f"over {SAFE_BAR:g}?",
    ]
    return table(head, rows)


def _bounds(sets: Sequence[Figures]) -> str:
    parts = []
    for data_set in sets:
        rows = [
            [
                f"{line['share']:.0%}",
                line["method"],
                line["bound"],
                f"{100 * line['calibration']:.0f}",
                f"{line['slack']:.2f}",
                f"{line['width']:.2f}",
            ]
            for line in data_set["bounds"]
        ]
        head = ["share", "method", "bound", "cal %", "slack", "t"]
        parts.append(folded(f"{title_of(data_set)}: bounds", table(head, rows, texts=3)))
    return "\n\n".join(parts)


def _sets(sets: Sequence[Figures]) -> str:
    rows = []
    for data_set in sets:
        who = f"{data_set['raters']} raters" if data_set["raters"] else "mean judgement"
        items = "–".join(str(size) for size in dict.fromkeys(data_set["items"]))
        best = ", ".join(data_set["best"])
        rows.append(
            [
                title_of(data_set),
                who,
                items,
                str(data_set["systems"]),
                data_set["one"],
                ", ".join(data_set["two"]),
                best,
            ]
        )
    head = ["set", "whose", "items", "systems", "one metric", "two metrics", "up to ten"]
    return table(head, rows, texts=len(head))


# --- the command -----------------------------------------------------------------------------------------


ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "score_errors.json"
PAGE = ROOT / "docs" / "research" / "results-scores.md"
DEMO = "demo"


def options(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--draws", type=int, default=200, help="draws of each share (200)")
    parser.add_argument("--only", action="append", default=[], help="a set; may be repeated")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="the data sets")
    parser.add_argument("--keep", type=Path, default=ROOT / ".bench" / "score_errors", help="finished errors")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where figures are written")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page that holds the tables")
    parser.add_argument("--docs", action="store_true", help="write the tables into the page")
    parser.add_argument("--demo", action="store_true", help="few draws on the demo set, printed only")
    return parser.parse_args(arguments)


def figures(work: Work, names: list[str], before: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the figures of some sets beside those of others that were computed before."""
    found = {one["name"]: one for one in before}
    for name in names:
        found[name] = set_figures(*work.errors(name), work.shares(name))
    order = [*work.main, *sorted(set(found) - set(work.main))]
    sets = [found[name] for name in order if name in found]
    return {
        "version": sparingly.__version__,
        "table": "score_errors",
        "date": date.today().isoformat(),
        "draws": work.draws,
        "sets": sets,
        "bars": bars(sets),
    }


def _demo() -> int:
    with tempfile.TemporaryDirectory() as folder:
        sparingly.save(load_invented(), Path(folder) / f"{DEMO}.jsonl.gz")
        work = Work(Path(folder), draws=4, main=(DEMO,))
        print("\n\n".join(blocks(figures(work, [DEMO], [])).values()))
    return 0


def _earlier(results: Path) -> list[dict[str, Any]]:
    """Return the figures of the sets that were computed before."""
    if not results.exists():
        return []
    return list(json.loads(results.read_text(encoding="utf-8"))["sets"])


def main(arguments: list[str] | None = None) -> int:
    """Measure errors, write the figures and, where asked to, the tables."""
    args = options(arguments)
    if args.demo:
        return _demo()
    if not args.data.is_dir():
        print(f"There is no folder {args.data}: name it with --data, or use --demo.", file=sys.stderr)
        return 2
    there = names_of(args.data)
    unknown = sorted(set(args.only) - set(there))
    if unknown:
        print(f"There is no set {', '.join(unknown)} in {args.data}.", file=sys.stderr)
        return 2
    work = Work(args.data, args.draws, args.keep, tuple(name for name in MAIN if name in there))
    old = _earlier(args.results) if args.only else []
    computed = figures(work, args.only or there, old)
    write_whole(args.results, json.dumps(computed, indent=1, ensure_ascii=False) + "\n")
    if args.docs:
        write_whole(args.page, replaced(args.page.read_text(encoding="utf-8"), blocks(computed)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
