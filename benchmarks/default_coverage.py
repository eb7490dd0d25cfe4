"""How often the numbers of the default path hold: select, then estimate, without options.

    .venv/bin/python -m benchmarks.default_coverage                    # the whole table; resumes
    .venv/bin/python -m benchmarks.default_coverage --docs             # and its table in coverage.md
    .venv/bin/python -m benchmarks.default_coverage --case mqm80 --n 20 --draws 200
    .venv/bin/python -m benchmarks.default_coverage --part 1/4         # a quarter of the cells

Each draw of a cell selects n items without naming a method, estimates without naming an estimator, and asks
whether the 95 % interval of every model's score, and of the difference of every pair (60 pairs where there
are more), holds the truth. For the target ``set`` the set is the public one as it is, and the truth its mean;
for ``population`` every draw has a set of its own, drawn with replacement from the public one, by documents
where there are any, and the truth is that one's mean. A made set is made anew for every draw, and both
targets are asked of it. Pass rates of a single model are computed exactly (``benchmarks/proportions.py``).

A bound holds the truth when it lies on its side; what is withheld is counted apart. Standard errors take
draws as the replicates. The exit code is 1 when a cell lies below 94 % after Holm's correction over all, is
measured below 92 %, or the mean lies below 94.5 %, or more than 5 % are withheld from n = 30 on.

Finished parts are kept in .bench/default_coverage/ for as long as their first draws come out the same.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, cast
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

import sparingly
from benchmarks.resume import FinishedParts
from sparingly.base.arrays import Floats
from sparingly.base.stats.pairs import holm, pair_indices
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.assemble import Target

# --- sets for the coverage of the default path -----------------------------------------------------------


# Items of a made set, and the most metrics of a public one.
SIZE, METRICS = 600, 12


@dataclass(frozen=True)
class Real:
    """A public set, what was judged, and how many of its models are taken (0: all)."""

    name: str
    aspect: str
    models: int = 0

    @property
    def label(self) -> str:
        """Its name in the table."""
        return f"{self.name} {self.aspect}"


REAL = (
    Real("biomqm_deen", "mqm_crit25"),
    Real("biomqm_enru", "mqm_crit25"),
    Real("wmt23_ende", "mqm"),
    Real("wmt23_zhen", "mqm"),
    Real("wmt24_enhi", "esa_spans"),
    Real("wmt24_encs", "esa"),
    Real("wmt21_zhen", "mqm", 2),
    Real("summeval", "consistency"),
    Real("realsumm", "litepyramid_recall"),
    Real("webnlg20_en", "Relevance"),
    Real("frank_cnndm_notext", "Other"),
    Real("personachat_usr", "Overall"),
    Real("alpacaeval2_llmjudge", "pref_vs_gpt4turbo_JUDGE_gpt4turbo", 40),
)
BINARY = tuple(
    f"binary {share:g}{judge}" for share in (0.5, 0.75, 0.9, 0.95, 0.99) for judge in ("", " judge")
)
MADE = ("mqm80", "ordinal", "documents", *BINARY)


class RealCase:
    """A public set: as it is, and drawn anew from itself."""

    def __init__(self, parts: dict[str, Any]) -> None:
        self.parts, self.truth = parts, np.asarray(parts["scores"].mean(axis=0))

    def drawn(self, which: str, drawn: np.random.Generator) -> tuple[EvalSet, dict[str, Floats]]:
        """Return a set, and the means that its intervals are to hold, by target."""
        if which == "set":
            if "whole" not in self.parts:
                self.parts["whole"] = _as_set(self.parts, np.arange(len(self.parts["scores"])))
            return self.parts["whole"], {which: self.truth}
        rows, documents = self._resampled(drawn)
        return _as_set(self.parts, rows, documents), {which: self.truth}

    def _resampled(self, drawn: np.random.Generator) -> tuple[NDArray[np.int64], list[str] | None]:
        count, document = len(self.parts["scores"]), self.parts["document"]
        if document is None:
            return drawn.integers(count, size=count), None
        groups = [np.flatnonzero(document == name) for name in np.unique(document)]
        picked = drawn.integers(len(groups), size=len(groups))
        names = [f"{place}" for place, code in enumerate(picked) for _ in groups[code]]
        return np.concatenate([groups[code] for code in picked]), names


def _as_set(parts: dict[str, Any], rows: NDArray[np.int64], documents: list[str] | None = None) -> EvalSet:
    """Return rows of a public set as a set of its own; texts are stood for by as many words."""
    columns = {}
    if parts["document"] is not None:
        columns["document"] = documents if documents is not None else list(parts["document"][rows])
    return EvalSet.from_arrays(
        [f"{place:05d}" for place in range(len(rows))],
        parts["models"],
        metrics={name: values[rows] for name, values in parts["metrics"].items()},
        aspects={"score": parts["scores"][rows]},
        columns=columns,
    )


def real_parts(case: Real, folder: Path, cache: Path) -> dict[str, Any]:
    """Return the arrays of a public set, read once and cached."""
    path = cache / f"{case.name}-{case.aspect}-{case.models}-{METRICS}.npz"
    if path.exists():
        return _unpacked(path)
    data = sparingly.load(folder / f"{case.name}.jsonl.gz")
    scores = data.truth(case.aspect)
    columns = np.flatnonzero(~np.isnan(scores).all(axis=0))
    if case.models:
        columns = np.sort(np.random.default_rng(0).permutation(columns)[: case.models])
    rows = np.flatnonzero(~np.isnan(scores[:, columns]).any(axis=1))
    document = data.columns.get("document")
    metrics = {name: np.asarray(data.metrics[name])[np.ix_(rows, columns)] for name in data.metrics}
    metrics |= {name: values[np.ix_(rows, columns)] for name, values in _lengths(data).items()}
    metrics = {name: values for name, values in metrics.items() if not np.isnan(values).all()}
    metrics = dict(list(metrics.items())[:METRICS])
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".part.npz")
    np.savez_compressed(
        partial,
        models=np.array([data.models[place] for place in columns]),
        scores=scores[np.ix_(rows, columns)],
        names=np.array(list(metrics)),
        values=np.array(list(metrics.values())),
        document=np.array("" if document is None else [f"{name}" for name in document[rows]]),
    )
    partial.replace(path)
    return _unpacked(path)


def _unpacked(path: Path) -> dict[str, Any]:
    with np.load(path) as arrays:
        names, values = arrays["names"].tolist(), arrays["values"]
        document = arrays["document"]
        return {
            "models": arrays["models"].tolist(),
            "scores": arrays["scores"],
            "metrics": dict(zip(names, values, strict=True)),
            "document": document if document.ndim else None,
        }


def _lengths(data: EvalSet) -> dict[str, Floats]:
    """Return the lengths of texts, which the estimator knows of where there are texts."""
    from sparingly.signals.length import OUTPUT_LENGTH, SOURCE_LENGTH, length_metric

    there = ((SOURCE_LENGTH, data.sources), (OUTPUT_LENGTH, data.outputs))
    return {f"{name} ": length_metric(data, name) for name, texts in there if texts is not None}


class MadeCase:
    """A made set: made anew for every draw."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.truth = np.mean(
            [self._made(np.random.default_rng(10_000 + k))[0].mean(0) for k in range(400)], axis=0
        )

    def drawn(self, which: str, drawn: np.random.Generator) -> tuple[EvalSet, dict[str, Floats]]:
        """Return a set, and the means that its intervals are to hold, by target: both of them."""
        scores, metrics, document = self._made(drawn)
        data = EvalSet.from_arrays(
            [f"{place:05d}" for place in range(len(scores))],
            [f"model {place}" for place in range(scores.shape[1])],
            metrics=metrics,
            aspects={"score": scores},
            columns={} if document is None else {"document": [f"{code}" for code in document]},
        )
        return data, {"set": np.asarray(scores.mean(axis=0)), "population": self.truth}

    def _made(self, drawn: np.random.Generator) -> tuple[Floats, dict[str, Floats], NDArray[np.int64] | None]:
        kind, *rest = self.name.split()
        if kind == "binary":
            return self._binary(drawn, float(rest[0]), rest[1:])
        models, document = 8, None
        hard = drawn.normal(size=(SIZE, 1))
        noise, level = drawn.normal(size=(SIZE, models)), np.linspace(-0.25, 0.25, models)
        if kind == "mqm80":
            failed = 0.6 * hard + 0.8 * noise > 0.8416 + level
            size = drawn.choice([1.0, 5.0, 10.0, 25.0], p=[0.55, 0.35, 0.07, 0.03], size=noise.shape)
            scores = -np.where(failed, size, 0.0)
        elif kind == "ordinal":
            scores = np.clip(np.round(5.0 + 0.5 * hard + 0.9 * noise + level), 1.0, 5.0)
        else:
            document = np.repeat(
                np.arange(SIZE // 8), drawn.multinomial(SIZE - SIZE // 8, np.full(SIZE // 8, 8 / SIZE)) + 1
            )
            shared = drawn.normal(size=(SIZE // 8, 1)) + 0.5 * drawn.normal(size=(SIZE // 8, models))
            scores = shared[document] + hard + noise + level
        metric = scores + 1.5 * scores.std() * drawn.normal(size=scores.shape)
        return scores, {"metric": metric}, document

    @staticmethod
    def _binary(
        drawn: np.random.Generator, share: float, options: list[str]
    ) -> tuple[Floats, dict[str, Floats], None]:
        from scipy.special import ndtri

        models = 4
        level = ndtri(share) + np.linspace(-0.2, 0.2, models)
        latent = 0.6 * drawn.normal(size=(SIZE, 1)) + 0.8 * drawn.normal(size=(SIZE, models))
        passed = (latent < level).astype(np.float64)
        if "judge" not in options:
            return passed, {}, None
        wrong = drawn.random(passed.shape) < 0.12
        return passed, {"judge": np.where(wrong, 1.0 - passed, passed)}, None


@lru_cache(maxsize=2)
def case_of(label: str, folder: Path, cache: Path) -> RealCase | MadeCase:
    """Return a case by its name in the table."""
    for one in REAL:
        if one.label == label:
            return RealCase(real_parts(one, folder, cache))
    return MadeCase(label)


# --- the table and the command ---------------------------------------------------------------------------


# A set, a number of items, and what numbers speak of (both targets of one draw, where the set is made); and
# the place of some draws among all.
Cell = tuple[str, int, str]
Part = tuple[Cell, int]
ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT.parent / "shared" / "data"
PAGE, RESULTS = (
    ROOT / "docs" / "research" / "coverage.md",
    ROOT / "benchmarks" / "results" / "default_coverage.json",
)
SIZES = (10, 12, 16, 20, 30, 50, 100, 200)
TARGETS = ("set", "population")
BOTH = "both"
CHUNK, FIRST, MOST_PAIRS = 250, 5, 60
LEAST, FLOOR, MEAN, WITHHELD = 0.94, 0.92, 0.945, 0.05


def run_chunk(part: Part, draws: int, folder: Path, cache: Path) -> dict[str, Any]:
    """Return what a number of draws gave, for scores and differences, target by target."""
    (label, n, which), chunk = part
    start, case = time.process_time(), case_of(label, folder, cache)
    generator = np.random.default_rng([crc32(label.encode()), n, [*TARGETS, BOTH].index(which), chunk])
    counts: dict[str, list[list[float]]] = {}
    for _ in range(draws):
        data, truths = case.drawn(which, generator)
        # Documents of unequal length may make a set smaller than what is to be judged.
        while len(data) <= n:
            data, truths = case.drawn(which, generator)
        chosen = sparingly.select(data, budget=n, seed=int(generator.integers(2**31)))
        for target, truth in truths.items():
            made = sparingly.estimate(data, chosen, "score", target=cast(Target, target))
            binary = label.startswith("binary")
            counts.setdefault(f"{target} scores", []).append(
                _counted(made.scores, made.standard_errors, made.low, made.high, truth, n, binary)
            )
            first, second = _pairs(len(truth))
            pairs = made._differences(first, second)
            ends = [(pair.difference, pair.standard_error, pair.low, pair.high) for pair in pairs]
            centre, errors, low, high = np.array(ends).T
            counts.setdefault(f"{target} differences", []).append(
                _counted(centre, errors, low, high, truth[first] - truth[second], n, False)
            )
    return {"seconds": time.process_time() - start, **counts}


def run_first(part: Part, folder: Path, cache: Path) -> dict[str, Any]:
    """Return what the first draws of a part gave."""
    return {**run_chunk(part, FIRST, folder, cache), "seconds": 0.0}


def _pairs(models: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    first, second = pair_indices(models)
    if len(first) <= MOST_PAIRS:
        return first, second
    some = np.random.default_rng(0).permutation(len(first))[:MOST_PAIRS]
    return first[some], second[some]


def _counted(
    centre: Floats, errors: Floats, low: Floats, high: Floats, truth: Floats, n: int, binary: bool
) -> list[float]:
    """Return of one draw: intervals, bounds, nothing; those that hold; the sum of width ratios; its number.

    The last number is the sum of all ends, by which it is seen whether an interval has changed.
    """
    from scipy.special import ndtri, stdtrit

    slack = 1e-9 * np.maximum(np.abs(truth), 1.0)
    below, above = np.isnan(low) | (low <= truth + slack), np.isnan(high) | (truth - slack <= high)
    both, none = np.isfinite(low) & np.isfinite(high), np.isnan(low) & np.isnan(high)
    if binary:
        z2 = float(ndtri(0.975)) ** 2
        plain = (
            2 * np.sqrt(z2) / (1 + z2 / n) * np.sqrt(np.clip(centre * (1 - centre), 0, 1) / n + z2 / 4 / n**2)
        )
    else:
        plain = 2 * float(stdtrit(n - 1, 0.975)) * errors
    wide = both & (plain > 1e-6 * (high - low))
    ratio = float(((high - low)[wide] / plain[wide]).sum())
    held = float((below & above & ~none).sum())
    return [
        float(both.sum()),
        float((~both & ~none).sum()),
        float(none.sum()),
        held,
        ratio,
        float(wide.sum()),
        float(np.nansum(low) + np.nansum(high)),
    ]


def cells(args: argparse.Namespace) -> Iterator[Cell]:
    """Yield the cells that are asked for."""
    there = [one.label for one in REAL if (args.data / f"{one.name}.jsonl.gz").exists() or args.cached]
    part, parts = (int(text) for text in args.part.split("/"))
    place = 0
    for label in (*there, *MADE):
        for n in args.n or SIZES:
            for target in TARGETS if label in there else (BOTH,):
                place += 1
                among = not args.case or any(name in label for name in args.case)
                if among and place % parts == part % parts:
                    yield label, n, target


def fits(label: str, n: int, folder: Path, cache: Path) -> bool:
    """Say whether a set has more items than are judged."""
    real = next((one for one in REAL if one.label == label), None)
    return n < SIZE if real is None else n < 0.9 * len(real_parts(real, folder, cache)["scores"])


def summary(chunks: list[dict[str, Any]], what: str) -> dict[str, float] | None:
    """Return the figures of a cell."""
    rows = np.array([row for chunk in chunks for row in chunk.get(what, [])])
    if not len(rows):
        return None
    both, one, none, held, ratio, wide, _ = rows.T
    printed = both + one
    total = max(printed.sum(), 1.0)
    coverage = held.sum() / total
    error = float(np.sqrt(((held - coverage * printed) ** 2).sum()) / total)
    everything = (both + one + none).sum()
    return {
        "coverage": float(coverage),
        "error": max(error, 0.5 / total),
        "draws": len(rows),
        "intervals": float(both.sum() / everything),
        "bounds": float(one.sum() / everything),
        "nothing": float(none.sum() / everything),
        "width": float(ratio.sum() / max(wide.sum(), 1.0)),
    }


def options(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    reader.add_argument("--draws", type=int, default=1000, help="draws of a cell")
    reader.add_argument("--case", action="append", help="sets whose name holds this")
    reader.add_argument("--n", action="append", type=int, help="one sample size")
    reader.add_argument("--part", default="1/1", help="one part of the cells, such as 2/4")
    reader.add_argument("--jobs", type=int, default=2)
    reader.add_argument("--data", type=Path, default=FOLDER, help="the public sets")
    reader.add_argument("--cached", action="store_true", help="take public sets from the cache alone")
    reader.add_argument("--kept", type=Path, default=ROOT / ".bench" / "default_coverage")
    reader.add_argument("--docs", action="store_true", help="write figures and table")
    reader.add_argument("--finished", action="store_true", help="compute and check nothing: what is saved")
    return reader.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run the cells, print and judge them."""
    args = options(arguments)
    cache = args.kept / "data"
    wanted = [cell for cell in cells(args) if fits(cell[0], cell[1], args.data, cache)]
    rows = figures(wanted, run_parts(wanted, args, cache))
    verdict = judged(rows)
    print("\n".join([*map(_line, rows), verdict["text"]]))
    if args.docs:
        every = with_earlier(rows)
        write(every, judged(every))
    return 0 if verdict["holds"] else 1


def with_earlier(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the figures with those of earlier runs for all other cells, in the table's order."""

    def cell(row: dict[str, Any]) -> tuple[Any, ...]:
        return row["case"], row["n"], row["target"], row["of"]

    saved = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {"rows": []}
    earlier = {cell(row): {"date": saved["date"], **row} for row in saved["rows"]}
    return list((earlier | {cell(row): {"date": date.today().isoformat(), **row} for row in rows}).values())


def run_parts(wanted: list[Cell], args: argparse.Namespace, cache: Path) -> dict[Part, dict[str, Any]]:
    """Return what all parts gave: the first draws of all cells before further ones of any."""
    finished, size = FinishedParts(args.kept / "parts"), min(CHUNK, args.draws)
    parts = [(cell, chunk) for chunk in range(-(-args.draws // CHUNK)) for cell in wanted]

    def key(part: Part) -> dict[str, Any]:
        return {"cell": part[0], "chunk": part[1], "draws": size}

    if args.finished:
        saved = {part: finished.saved(key(part)) for part in parts}
        return {part: row for part, row in saved.items() if row is not None}
    where = {"folder": args.data, "cache": cache}
    rows = finished.rows(
        parts, key, partial(run_chunk, draws=size, **where), args.jobs, partial(run_first, **where)
    )
    return dict(zip(parts, rows, strict=True))


def figures(wanted: list[Cell], parts: dict[Part, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the figures of every cell, of scores and of differences."""
    rows = []
    for cell in wanted:
        chunks = [row for (place, _), row in parts.items() if place == cell]
        for target in TARGETS:
            for what in ("scores", "differences"):
                values = summary(chunks, f"{target} {what}")
                if values is not None:
                    rows.append({"case": cell[0], "n": cell[1], "target": target, "of": what, **values})
    return rows


def judged(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Say which bars are missed."""
    from scipy.special import ndtr

    printed = [row for row in rows if row["nothing"] < 1.0]
    corrected = holm(np.array([float(ndtr((row["coverage"] - LEAST) / row["error"])) for row in printed]))
    low = [row for row, p in zip(printed, corrected, strict=True) if p < 0.05]
    floor = [row for row in printed if row["coverage"] < FLOOR]
    silent = [row for row in rows if row["n"] >= 30 and row["bounds"] + row["nothing"] > WITHHELD]
    mean = float(np.mean([row["coverage"] for row in printed]))
    text = (
        f"{len(printed)} cells: mean coverage {100 * mean:.1f} %, lowest "
        f"{100 * min(row['coverage'] for row in printed):.1f} %; below 94 % after Holm: {len(low)}; "
        f"measured below 92 %: {len(floor)}; more than 5 % withheld from n = 30 on: {len(silent)}."
    )
    missed = [*low, *(row for row in floor if row not in low), *silent]
    lines = [text, *(f"missed: {_line(row)}" for row in missed)]
    return {"holds": not missed and mean >= MEAN, "text": "\n".join(lines), "summary": text}


def _line(row: dict[str, Any]) -> str:
    where = f"{row['case']:<44}{row['n']:>4} {row['target']:<11}{row['of']:<12}"
    shares = f"interval {row['intervals']:.2f} bound {row['bounds']:.2f} nothing {row['nothing']:.2f}"
    return f"{where}{row['coverage']:.3f} ± {row['error']:.3f}  {shares}  width {row['width']:.2f}"


def write(rows: list[dict[str, Any]], verdict: dict[str, Any]) -> None:
    """Write the figures, and the table into its page."""
    from benchmarks.pages import replaced, write_whole

    short = [
        {name: round(value, 4) if isinstance(value, float) else value for name, value in row.items()}
        for row in rows
    ]
    last = max(row["date"] for row in rows)
    computed = {"date": last, "version": sparingly.__version__, "rows": short}
    write_whole(RESULTS, json.dumps(computed, separators=(",", ":")) + "\n")
    text = page_text(computed, verdict["summary"])
    write_whole(PAGE, replaced(PAGE.read_text(encoding="utf-8"), {"default_coverage": text}))


def page_text(computed: dict[str, Any], summary_text: str) -> str:
    """Return the table as Markdown: a line for every case, target and kind, a column for every n."""
    from benchmarks.pages import folded, table

    rows = computed["rows"]
    draws = sorted({row["draws"] for row in rows})
    many = f"{draws[0]}" if len(draws) == 1 else f"{draws[0]} to {draws[-1]}"
    days = sorted({row["date"] for row in rows})
    said = f"Computed on {' and '.join(days)} with version {computed['version']}, {many} draws a cell."
    blocks = [f"{said} {summary_text}"]
    for target in TARGETS:
        for what in ("scores", "differences"):
            here = [row for row in rows if row["target"] == target and row["of"] == what]
            lines = [
                [
                    case,
                    *(_cell([row for row in here if row["case"] == case and row["n"] == n]) for n in SIZES),
                ]
                for case in dict.fromkeys(row["case"] for row in here)
            ]
            title = f"{what} over {'this set' if target == 'set' else 'inputs like these'}"
            blocks.append(folded(title, table(["", *(f"n = {n}" for n in SIZES)], lines)))
    return "\n\n".join(blocks)


def _cell(rows: list[dict[str, Any]]) -> str:
    if not rows or rows[0]["nothing"] == 1.0:
        return "-"
    row = rows[0]
    one = f", {100 * row['bounds']:.0f} % bounds" if row["bounds"] >= 0.005 else ""
    none = f", {100 * row['nothing']:.0f} % none" if row["nothing"] >= 0.005 else ""
    return f"{100 * row['coverage']:.1f} ± {100 * row['error']:.1f} (× {row['width']:.2f}{one}{none})"


if __name__ == "__main__":
    # Workers find functions by the name of their module, which is not __main__ there.
    from benchmarks.default_coverage import main as run

    sys.exit(run())
