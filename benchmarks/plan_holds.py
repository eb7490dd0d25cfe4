"""Do plans hold? The half-widths that ``plan`` promises against those that ``estimate`` prints.

    .venv/bin/python -m benchmarks.plan_holds                        # ten public sets; resumes
    .venv/bin/python -m benchmarks.plan_holds --docs                 # and the table in decisions.md
    .venv/bin/python -m benchmarks.plan_holds --only summeval --draws 20
    .venv/bin/python -m benchmarks.plan_holds --power --docs         # differences planned without data

For every set, plans are made from uniform pilots of 60 items (half of the set where it has fewer than 120),
and from the whole set as if all of it were the pilot. Then n items are drawn without naming a method and
estimated without naming an estimator, over and over. The figure is the median, over draws and models, of the
printed over the planned half-width; for pilots, the median over them, with its standard error over pilots and
draws. The probability of the right winner and the share of right pairs are compared likewise, at n = 100 (or
the largest n).

``--power`` asks how often ``rank`` decides a difference at the number of items that ``plan --detect`` names:
normal scores, one model better than the others by so many standard deviations of their differences.

The exit code is 1 when a figure lies outside 0.9 to 1.15, or a power outside 78 to 84 %. Finished parts are
kept in .bench/plan_holds/ until the code that decides about them changes.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import sparingly
from benchmarks.pages import replaced, table
from benchmarks.resume import code_digest
from sparingly.infer.plan.outlook import PlanGoals, PlanOutlook, order_chances
from sparingly.infer.plan.pilot import pilot_of
from sparingly.infer.rank.decisions import decide
from sparingly.infer.rank.rank import joint_of

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT.parent / "shared" / "data"
PAGE, RESULTS = (
    ROOT / "docs" / "research" / "decisions.md",
    ROOT / "benchmarks" / "results" / "plan_holds.json",
)
POWERS = RESULTS.with_name("plan_power.json")
KEPT = ROOT / ".bench" / "plan_holds"
SETS = {
    "wmt23_zhen": "mqm",
    "wmt23_ende": "mqm",
    "wmt24_encs": "esa",
    "biomqm_deen": "mqm",
    "summeval": "sum",
    "realsumm": "litepyramid_recall",
    "newsroom": "sum",
    "webnlg20_en": "mean",
    "thumb_mscoco": "human_score",
    "alpacaeval2_llmjudge": "pref_vs_gpt4turbo_JUDGE_gpt4turbo",
}
# Sets that nothing about plans was chosen on.
FURTHER = {
    "wmt21_zhen": "mqm",
    "ted21_ende": "mqm",
    "wmt24_enhi": "esa_spans",
    "biomqm_enru": "mqm_crit25",
    "summeval_llm12": "consistency",
    "opinsummeval": "sum",
    "topicalchat_usr": "overall",
    "simpeval_past": "rating",
    "frank_cnndm_notext": "Factuality",
    "wmt20_ende_notext": "mqm",
}
SIZES = (12, 16, 20, 30, 50, 100, 200)
PILOT, CHUNK = 60, 25
LOW, HIGH = 0.9, 1.15
# What decides about the figures: about what is printed, and about plans besides.
_CODE_OF_DRAWS = ("base", "choose", "infer/estimate", "signals")
_CODE = {"draws": _CODE_OF_DRAWS, "plan": (*_CODE_OF_DRAWS, "infer/plan")}
_ON_PAGE, _POWERS_ON_PAGE = "plan-holds", "plan-power"
# Standard deviations of differences, models, and runs that know a share to about one point.
QUESTIONS = ((0.3, 2), (0.6, 2), (1.0, 2), (0.3, 8), (0.6, 8), (1.0, 8))
RUNS = {2: 1500, 8: 400}
LEAST_POWER, MOST_POWER = 0.78, 0.84


@lru_cache(maxsize=1)
def load(folder: Path, name: str) -> sparingly.EvalSet:
    """Return the items of a set on which every model was judged."""
    data = sparingly.load(folder / f"{name}.jsonl.gz")
    return data.at(~np.isnan(data.aspects[{**SETS, **FURTHER}[name]]).any(axis=1))


def sizes_of(count: int) -> list[int]:
    """Return the numbers of items that a set allows: at most nine tenths of it."""
    return [n for n in SIZES if n <= 0.9 * count]


def planned(folder: Path, name: str, pilot_seed: int | None) -> dict[str, Any]:
    """Return what a plan promises for every n, from one pilot or (None) from the whole set."""
    data, aspect = load(folder, name), {**SETS, **FURTHER}[name]
    pilot = None
    if pilot_seed is not None:
        pilot = sparingly.select(data, "uniform", min(PILOT, len(data) // 2), seed=pilot_seed)
    outlook = PlanOutlook(pilot_of(data, pilot, aspect, for_differences=False, seed=0), PlanGoals())
    rows = {}
    for n in sizes_of(len(data)):
        winner, pairs, _ = order_chances(outlook.pilot.scores, outlook.printed_at(n).covariance, 0)
        rows[f"{n}"] = [outlook.half_width(n), winner, pairs]
    return rows


def printed(folder: Path, name: str, n: int, first: int, draws: int) -> dict[str, Any]:
    """Return the printed half-widths (draws × models), and how winners and pairs came out."""
    data, aspect = load(folder, name), {**SETS, **FURTHER}[name]
    truth = data.aspects[aspect].mean(axis=0)
    left, right = np.triu_indices(len(truth), 1)
    halves, winners, pairs = [], [], []
    for seed in range(first, first + draws):
        chosen = sparingly.select(data, budget=n, seed=1000 + seed)
        found = sparingly.estimate(data, chosen, aspect, seed=seed)
        halves.append([None if np.isnan(half) else half for half in ((found.high - found.low) / 2).tolist()])
        winners.append(float(truth[found.scores.argmax()] == truth.max()))
        same = np.sign(found.scores[left] - found.scores[right]) == np.sign(truth[left] - truth[right])
        pairs.append(float(same.mean()))
    return {"halves": halves, "winners": winners, "pairs": pairs}


# --- differences without data ----------------------------------------------------------------------------


def powers(runs: dict[int, int]) -> dict[str, Any]:
    """Return how often ``rank`` decides what ``plan --detect`` was asked to find, at the n that it names."""
    rows = []
    for effect, models in QUESTIONS:
        n = sparingly.sample_size(detect=f"{effect}sd", models=models).n
        generator = np.random.default_rng([models, round(100 * effect)])
        shares = np.array([decided(generator, effect, models, n) for _ in range(runs[models])])
        error = float(shares.std() / np.sqrt(len(shares)))
        rows.append({"effect": effect, "models": models, "n": n, "runs": len(shares)})
        rows[-1] |= {"power": float(shares.mean()), "error": error}
        print(f"{effect} sd, {models} models, n = {n}: {shares.mean():.3f} ± {error:.3f}", flush=True)
    return {"date": f"{date.today()}", "rows": rows}


def decided(generator: np.random.Generator, effect: float, models: int, n: int) -> float:
    """Return the share of the first model's pairs that ``rank`` decides in its favour, in one sample."""
    scores = generator.normal(size=(n, models)) / np.sqrt(2.0)
    scores[:, 0] += effect
    names = [f"i{place:04d}" for place in range(n)], [f"m{place}" for place in range(models)]
    data = sparingly.EvalSet.from_arrays(*names, aspects={"people": scores})
    joint = joint_of(sparingly.estimate(data, None, "people", target="population"))
    found = decide(joint.tests().agreeing(joint.scores), joint.scores)
    return float(found.better[0].sum() / (models - 1.0))


def shown_powers(results: dict[str, Any]) -> str:
    """Return the table of powers."""
    rows = [
        [
            f"{row['effect']:g} sd",
            f"{row['models']}",
            f"{row['n']}",
            f"{100 * row['power']:.1f} % ± {100 * row['error']:.1f}",
        ]
        for row in results["rows"]
    ]
    wrong = ", ".join(outside_powers(results))
    verdict = f"Outside 78 to 84 %: {wrong}." if wrong else "All figures lie within 78 and 84 %."
    return f"{table(['difference', 'models', 'items', 'decided'], rows)}\n\n{verdict}"


def outside_powers(results: dict[str, Any]) -> list[str]:
    """Return the questions whose power is outside the limits."""
    return [
        f"{row['effect']:g} sd with {row['models']} models"
        for row in results["rows"]
        if not LEAST_POWER <= row["power"] <= MOST_POWER
    ]


# --- work that resumes -----------------------------------------------------------------------------------


def finished(code: dict[str, str], folder: Path, work: tuple[Any, ...]) -> dict[str, Any]:
    """Return a part of the work, computed unless it is kept for this code."""
    path = KEPT / code[work[0]] / f"{'-'.join(map(str, work))}.json"
    if path.exists():
        return dict(json.loads(path.read_text(encoding="utf-8")))
    found = planned(folder, *work[1:]) if work[0] == "plan" else printed(folder, *work[1:])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".part").write_text(json.dumps(found), encoding="utf-8")
    path.with_suffix(".part").replace(path)
    return found


def parts_of(folder: Path, name: str, draws: int, pilots: int) -> list[tuple[Any, ...]]:
    """Return the parts of the work on a set."""
    seeds: list[int | None] = [*range(pilots), None]
    chunks = [(first, min(CHUNK, draws - first)) for first in range(0, draws, CHUNK)]
    return [
        *(("plan", name, seed) for seed in seeds),
        *(("draws", name, n, *chunk) for n in sizes_of(len(load(folder, name))) for chunk in chunks),
    ]


def figures(parts: dict[tuple[Any, ...], dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """Return the figures of a set, one row per n."""
    whole = parts["plan", name, None]
    pilots = [part for key, part in parts.items() if key[:2] == ("plan", name) and key[2] is not None]
    rows = []
    for n in map(int, whole):
        drawn = [part for key, part in parts.items() if key[:3] == ("draws", name, n)]
        halves = np.array([row for part in drawn for row in part["halves"]], np.float64)
        typical = float(np.nanmedian(halves))
        ratios = typical / np.array([pilot[str(n)][0] for pilot in pilots])
        promised = np.array([pilot[str(n)][1:] for pilot in pilots]).mean(axis=0)
        came = [
            float(np.mean([value for part in drawn for value in part[what]])) for what in ("winners", "pairs")
        ]
        rows.append(
            {
                "n": n,
                "ratio": float(np.median(ratios)),
                # The median of normal numbers has 1.25 times the error of their mean.
                "error": float(
                    np.hypot(
                        1.25 * ratios.std(ddof=1) / np.sqrt(len(ratios)),
                        _median_error(halves) * np.median(ratios) / typical,
                    )
                ),
                "whole": typical / whole[str(n)][0],
                "whole_error": _median_error(halves) / whole[str(n)][0],
                "printed": float(np.isfinite(halves).mean()),
                "winner": [float(promised[0]), came[0]],
                "pairs": [float(promised[1]), came[1]],
            }
        )
    return rows


def _median_error(halves: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    """Return the standard error of the median over draws and models, draws drawn anew."""
    generator = np.random.default_rng(0)
    again = [np.nanmedian(halves[generator.integers(len(halves), size=len(halves))]) for _ in range(200)]
    return float(np.std(again))


# --- the table -------------------------------------------------------------------------------------------


def shown(results: dict[str, Any]) -> str:
    """Return the table of the page: printed over planned, from pilots / from the whole set."""
    head = ["set", "items", "models", *(f"n = {n}" for n in SIZES), "right winner", "right pairs"]
    rows = []
    for name, held in results["sets"].items():
        by_n = {row["n"]: row for row in held["rows"]}
        cells = [
            f"{by_n[n]['ratio']:.2f} ± {by_n[n]['error']:.2f} / {by_n[n]['whole']:.2f}" if n in by_n else "–"
            for n in SIZES
        ]
        last = by_n[max(n for n in by_n if n <= 100)]
        chances = [f"{last[what][0]:.2f} / {last[what][1]:.2f}" for what in ("winner", "pairs")]
        rows.append([name, str(held["items"]), str(held["models"]), *cells, *chances])
    wrong = "; ".join(outside(results))
    verdict = f"Outside 0.9 to 1.15: {wrong}." if wrong else "All figures lie within 0.9 and 1.15."
    return f"{table(head, rows)}\n\n{verdict}"


def outside(results: dict[str, Any]) -> list[str]:
    """Return the figures that are outside the limits."""
    return [
        f"{name} n={row['n']} {kind} {row[kind]:.2f}"
        for name, held in results["sets"].items()
        for row in held["rows"]
        for kind in ("ratio", "whole")
        if not LOW <= row[kind] <= HIGH
    ]


def _powers(docs: bool) -> int:
    results = powers(RUNS)
    if docs:
        _save(POWERS, results, _POWERS_ON_PAGE, shown_powers(results))
    return int(bool(outside_powers(results)))


def _save(path: Path, results: dict[str, Any], name: str, text: str) -> None:
    """Write the results, and their table in the page."""
    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), {name: text}), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--only", nargs="*", help="sets; the ten of the page unless given")
    parser.add_argument("--further", action="store_true", help="ten further sets instead; printed only")
    parser.add_argument("--power", action="store_true", help="differences planned without data instead")
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--pilots", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument(
        "--docs", action="store_true", help="write the results and the table in docs/research/decisions.md"
    )
    args = parser.parse_args(arguments)
    if args.power:
        return _powers(args.docs)
    names = args.only or list(FURTHER if args.further else SETS)
    code = {kind: code_digest(_CODE[kind]) for kind in _CODE}
    results: dict[str, Any] = {
        "draws": args.draws,
        "pilots": args.pilots,
        "date": f"{date.today()}",
        "sets": {},
    }
    with ProcessPoolExecutor(args.jobs) as pool:
        for name in names:
            data = load(args.data, name)
            work = parts_of(args.data, name, args.draws, args.pilots)
            running = {pool.submit(finished, code, args.data, part): part for part in work}
            parts = {running[done]: done.result() for done in as_completed(running)}
            rows = figures(parts, name)
            results["sets"][name] = {"items": len(data), "models": len(data.models), "rows": rows}
            cells = [
                f"{row['n']}: {row['ratio']:.2f} ({row['error']:.2f}) / {row['whole']:.2f}" for row in rows
            ]
            print(f"{name:22} {'  '.join(cells)}", flush=True)
    print(shown(results))
    if args.docs:
        _save(RESULTS, results, _ON_PAGE, shown(results))
    wrong = outside(results)
    print("outside 0.9 to 1.15: " + ("; ".join(wrong) or "none"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
