"""Whether chances that are said come true: to be the best, and that judging everything shows a difference.

    .venv/bin/python -m benchmarks.best_calibration --jobs 8 --docs      # and its tables in docs/bench.md
    .venv/bin/python -m benchmarks.best_calibration --runs 50            # few: does it still run?
    .venv/bin/python -m benchmarks.best_calibration --only wmt24

Replays of the default path on the judged sets of seven families (see ``_best_replays.py``), so many for each
family. What was said is put into bands of ten points and held against how often it was so. The prior is
chosen seven times, each time without one family and by the mean squared deviation of the bands on the other
six; the family that was left out is then counted with the prior chosen without it. Standard errors are over
sets, since replays of one set share their truth.

Finished parts are kept in .bench/best_calibration/ until the code that decides about them changes, so that an
interrupted run goes on where it stopped. The exit code is 1 when a band with 300 cases or more is off by more
than 5 points for what is printed, on the families left out or with the prior as it is.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import sparingly
from benchmarks import _best_replays as replays
from benchmarks._best_replays import FAMILIES, PRIORS, Said
from benchmarks._resume import FinishedParts, Row
from benchmarks.papers.markdown import replaced, table
from benchmarks.papers.work import write_whole
from sparingly.base.arrays import Floats

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"
PAGE = ROOT / "docs" / "bench.md"
RESULTS = ROOT / "benchmarks" / "results" / "best_calibration.json"
KEPT = ROOT / ".bench" / "best_calibration"
RUNS, BLOCK = 2000, 10
BANDS, FEWEST, BAR = 10, 300, 0.05
# What a prior is chosen by, one for each.
CHOSEN_BY = ((replays.BEST_POPULATION, replays.BEST_SET), (replays.NEIGHBOURS,))
PRINTED = (*CHOSEN_BY[0], *CHOSEN_BY[1])
QUESTIONS = (*PRINTED, replays.BETTER_POPULATION, replays.BETTER_SET, replays.ALL_PAIRS)
LEFT_OUT, AS_IT_IS = "left out", "as it is"
_CODE = (
    "base/rng.py",
    "base/stats/shaffer.py",
    "infer/estimate/effect_prior.py",
    "infer/estimate/full_set_p.py",
    "infer/rank/best.py",
)


class Part(NamedTuple):
    """So many replays of one family."""

    family: str
    block: int


def tally(said: Iterable[Said]) -> dict[str, Floats]:
    """Return cases, the sum of what was said and of what was so, by band; by question, prior and n."""
    sums: dict[str, Floats] = {}
    for one in said:
        band = np.minimum((one.chance * BANDS).astype(np.int64), BANDS - 1)
        held = sums.setdefault(f"{one.question}|{one.prior}|{one.n}", np.zeros((BANDS, 3)))
        for column, values in enumerate((np.ones_like(one.chance), one.chance, one.was_so)):
            held[:, column] += np.bincount(band, values, BANDS)
    return sums


def run_part(part: Part, folder: Path) -> Row:
    """Play the replays of a part."""
    places = range(part.block * BLOCK, (part.block + 1) * BLOCK)
    return row_of(part, (replays.replay(folder, part.family, place) for place in places))


def row_of(part: Part, played: Iterable[tuple[str, replays.Replay]]) -> Row:
    """Return what was said in the replays of a part, by set."""
    by_set: dict[str, list[Said]] = {}
    for name, one in played:
        by_set.setdefault(name, []).extend(replays.said_of(one))
    sums = {
        name: {key: held.round(6).tolist() for key, held in tally(said).items()}
        for name, said in by_set.items()
    }
    return {**part._asdict(), "sums": sums}


def parts_of(families: Sequence[str], runs: int) -> list[Part]:
    """Return all parts, family by family in turn, so that an unfinished run holds as many of each."""
    return [Part(family, block) for block in range(-(-runs // BLOCK)) for family in families]


def run_parts(parts: Sequence[Part], data: Path, folder: Path, jobs: int) -> Iterable[Row]:
    """Yield the parts in order, computed in so many processes."""
    finished = FinishedParts(folder, _CODE, (Path(replays.__file__).name,))
    yield from finished.rows(parts, lambda part: part._asdict(), partial(run_part, folder=data), jobs)


class Sums:
    """Bands by question, prior, n, family and set; added up over whatever is not named."""

    def __init__(self, rows: Iterable[Row]) -> None:
        """Add up parts."""
        self.held: dict[tuple[str, str, int, str, str], Floats] = {}
        for row in rows:
            for name, sums in row["sums"].items():
                for key, bands in sums.items():
                    question, prior, n = key.split("|")
                    place = (question, prior, int(n), row["family"], name)
                    self.held[place] = self.held.get(place, np.zeros((BANDS, 3))) + np.array(bands)

    def by_set(self, question: str, prior: str, **only: Any) -> dict[str, Floats]:
        """Return bands for every set; ``only`` names families or n that count."""
        found: dict[str, Floats] = {}
        for (asked, name, n, family, of), sums in self.held.items():
            here = {"family": family, "n": n}
            if (asked, name) == (question, prior) and all(
                here[key] in wanted for key, wanted in only.items()
            ):
                found[of] = found.get(of, np.zeros((BANDS, 3))) + sums
        return found


def deviations(parts: Mapping[str, Floats]) -> list[Row]:
    """Return for every band: cases, mean said, share that was so, their difference and its standard error."""
    if not parts:
        return []
    stack = np.stack(list(parts.values()))
    rows = []
    for band in range(BANDS):
        cases, said, was_so = stack[:, band].sum(axis=0)
        if cases == 0:
            rows.append({"band": band, "cases": 0})
            continue
        off = (was_so - said) / cases
        rest = stack[:, band, 2] - stack[:, band, 1] - off * stack[:, band, 0]
        sets = int((stack[:, band, 0] > 0).sum())
        error = float(np.sqrt((rest**2).sum() * sets / max(sets - 1, 1))) / cases
        rows.append(
            {"band": band, "cases": int(cases), "said": said / cases, "was_so": was_so / cases}
            | {"off": float(off), "error": error}
        )
    return rows


def worst(rows: Sequence[Row]) -> float:
    """Return the largest deviation of a band with enough cases."""
    return max((abs(row["off"]) for row in rows if row["cases"] >= FEWEST), default=0.0)


def squared_deviation(rows: Sequence[Row]) -> float:
    """Return the mean squared deviation of the bands that have any cases."""
    return float(np.mean([row["off"] ** 2 for row in rows if row["cases"]] or [np.inf]))


def chosen_without(sums: Sums, questions: Sequence[str], left_out: str, families: Sequence[str]) -> str:
    """Return the prior whose bands deviate least on the other families, in the mean over the questions."""
    others = [family for family in families if family != left_out]

    def deviation(prior: str) -> float:
        found = (sums.by_set(question, prior, family=others) for question in questions)
        return float(np.mean([squared_deviation(deviations(parts)) for parts in found]))

    return min(PRIORS, key=deviation)


def summarise(rows: Sequence[Row], families: Sequence[str]) -> Row:
    """Return the tables: left out, as it is, by family and by n."""
    sums, usual = Sums(rows), replays.AS_IT_IS
    tables: dict[str, list[Row]] = {}
    priors: dict[str, dict[str, str]] = {}
    for questions in CHOSEN_BY:
        own = {family: chosen_without(sums, questions, family, families) for family in families}
        for question in questions:
            parts: dict[str, Floats] = {}
            for family, prior in own.items():
                parts |= sums.by_set(question, prior, family=(family,))
            tables[f"{question}|{LEFT_OUT}"], priors[question] = deviations(parts), own
    for question in QUESTIONS:
        tables[f"{question}|{AS_IT_IS}"] = deviations(sums.by_set(question, usual))
        for family in families:
            tables[f"{question}|{family}"] = deviations(sums.by_set(question, usual, family=(family,)))
        for n in replays.SIZES:
            tables[f"{question}|n = {n}"] = deviations(sums.by_set(question, usual, n=(n,)))
    variants = {
        prior: {
            question: worst(deviations(found))
            for question in PRINTED
            if (found := sums.by_set(question, prior))
        }
        for prior in PRIORS
    }
    return {
        "chosen_without": priors,
        "variants": variants,
        "tables": {key: found for key, found in tables.items() if found},
    }


def missed(tables: Mapping[str, Sequence[Row]]) -> list[str]:
    """Return the pooled bands of what is printed that are off by more than 5 points."""
    pooled = {f"{question}|{way}" for question in PRINTED for way in (LEFT_OUT, AS_IT_IS)}
    return [
        f"{key}: {_band(row)}, said {100 * row['said']:.1f}, was so {100 * row['was_so']:.1f}"
        for key, rows in tables.items()
        for row in rows
        if key in pooled and row["cases"] >= FEWEST and abs(row["off"]) > BAR
    ]


def _band(row: Row) -> str:
    return f"{BANDS * row['band']}–{BANDS * (row['band'] + 1)} %"


_HEADS = {LEFT_OUT: "left-out families", AS_IT_IS: "all families"}


def blocks(computed: Row) -> dict[str, str]:
    """Return the part of the page by the name of its marker."""
    tables, priors = computed["tables"], computed["chosen_without"]
    best, shows = (priors[questions[0]] for questions in CHOSEN_BY)
    said = (
        f"Computed on {computed['date']} with version {computed['version']}: about {computed['runs']:,} "
        f"replays of the default path for each of {len(best)} families, n = {replays.SIZES[0]} to "
        f"{replays.SIZES[-1]}, 2 to {replays.MODELS[-1]} models. Of {len(PRIORS)} priors (centre, spread, "
        f"correlation within documents; {replays.AS_IT_IS} is used), the one chosen without each family, for "
        "the best model and for judging everything: "
        + ", ".join(f"{family}: {best[family]} and {shows[family]}" for family in best)
        + "."
    )
    parts = [said]
    for title, start in _TOPICS.items():
        keys = [key for key in tables if key.startswith(start) and key.split("|")[1] in _HEADS]
        head = (f"{title}: said", *(_head(key, start) for key in keys))
        lines = [
            (_band({"band": band}), *(_cell(tables[key][band]) for key in keys)) for band in range(BANDS)
        ]
        parts += [table(head, lines)] if keys else []
    return {"best calibration": "\n\n".join([*parts, _LEGEND])}


_TOPICS = {
    "to be the best": "best, ",
    "better than the next": "better, ",
    "judging everything shows it": "full set, ",
}


def _head(key: str, start: str) -> str:
    question, way = key.removeprefix(start).split("|")
    return f"{question}; {_HEADS[way]}"


_LEGEND = (
    "How often it was so less what was said, in points ± the standard error over sets (number of cases). "
    "Bands with fewer than 300 cases are in parentheses."
)


def _cell(row: Row) -> str:
    if not row["cases"]:
        return "–"
    text = f"{100 * row['off']:+.1f} ± {100 * row['error']:.1f} ({row['cases']:,})".replace("-", "−")
    return text if row["cases"] >= FEWEST else f"({text})"


def options(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    reader.add_argument("--runs", type=int, default=RUNS, help="replays for each family")
    reader.add_argument("--jobs", type=int, default=1, help="processes")
    reader.add_argument("--only", action="append", choices=tuple(FAMILIES), help="one family")
    reader.add_argument("--data", type=Path, default=DATA, help="the folder of judged sets")
    reader.add_argument("--kept", type=Path, default=KEPT, help="finished parts")
    reader.add_argument("--docs", action="store_true", help="write figures and table")
    reader.add_argument("--results", type=Path, default=RESULTS, help="where figures are written")
    reader.add_argument("--page", type=Path, default=PAGE, help="the page that holds the table")
    return reader.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Play the replays, and say which bands are off."""
    asked = options(arguments)
    families = asked.only or list(FAMILIES)
    parts, rows = parts_of(families, asked.runs), []
    for row in run_parts(parts, asked.data, asked.kept, asked.jobs):
        rows.append(row)
        print(f"\r{len(rows)} of {len(parts)} parts", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    computed: Row = {"version": sparingly.__version__, "date": date.today().isoformat(), "runs": asked.runs}
    computed |= summarise(rows, families)
    print(blocks(computed)["best calibration"])
    for prior, found in computed["variants"].items():
        worst_of = ", ".join(f"{question} {100 * off:.1f}" for question, off in found.items())
        print(f"{prior:<14} largest deviation: {worst_of}")
    if asked.docs:
        write_whole(asked.results, json.dumps(computed, separators=(",", ":")) + "\n")
        write_whole(asked.page, replaced(asked.page.read_text(encoding="utf-8"), blocks(computed)))
    wrong = missed(computed["tables"])
    for text in wrong:
        print(f"off by more than 5 points: {text}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
