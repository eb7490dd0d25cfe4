"""How many labels a uniform draw needs to know a judge's error rates as well as ``--question judge`` does.

Sets of 2,000 outputs; people pass what lies above a threshold on a latent quality, the judge what lies above
its own on a noisy copy of it. It says pass or fail, or gives grades from 1 to 10. From the intervals that
``judge`` prints, over all draws: the mean width with 100 labels drawn by ``verdicts``, the uniform labels
with which it is as narrow, coverage, and the error of the pass rate.

    .venv/bin/python -m benchmarks.judge_selection            # 300 draws a cell, two minutes on one core
"""

from __future__ import annotations

import argparse
import json
import sys
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

import sparingly
from benchmarks.pages import replaced, table
from sparingly.base.arrays import Floats
from sparingly.infer.estimate.sample import sample_from
from sparingly.infer.judge.error_rates import error_rates
from sparingly.infer.judge.labelled import labelled_outputs

SIZE, LABELS = 2000, 100
UNIFORM = (50, 70, 100, 140, 200, 280, 400)
# Pass rate of people, and of the judge; how well they agree (correlation of the latent scores).
SETS = ((0.7, 0.75), (0.85, 0.9), (0.95, 0.93))
AGREEMENT = (0.5, 0.8)
PAGE = Path(__file__).resolve().parents[1] / "docs" / "research" / "judge-results.md"
RESULTS = Path(__file__).resolve().parent / "results" / "judge_selection.json"


def judged_set(rate: float, passes: float, agreement: float, graded: bool) -> sparingly.EvalSet:
    """Return a fully labelled set."""
    random = np.random.default_rng([round(100 * rate), round(100 * passes), round(100 * agreement)])
    quality = random.normal(size=SIZE)
    score = agreement * quality + np.sqrt(1 - agreement**2) * random.normal(size=SIZE)
    good = quality > np.quantile(quality, 1 - rate)
    cut = np.quantile(score, 1 - passes)
    verdict = (score > cut).astype(np.float64)
    if graded:
        verdict = np.empty(SIZE)
        for part, lowest in ((score <= cut, 1), (score > cut, 6)):
            edges = np.quantile(score[part], np.arange(1, 5) / 5)
            verdict[part] = lowest + np.searchsorted(edges, score[part])
    return sparingly.EvalSet.from_arrays(
        [f"a{row:04d}" for row in range(SIZE)],
        ["m"],
        aspects={"ok": good[:, None].astype(float)},
        metrics={"judge": verdict[:, None]},
    )


def widths(data: sparingly.EvalSet, method: str, labels: int, draws: int) -> dict[str, Floats]:
    """Return mean widths and coverage of both error rates, and bias and error of the pass rate."""
    truth, verdict = data.aspects["ok"][:, 0] == 1, data.metrics["judge"][:, 0]
    cut = 1.0 if verdict.max() == 1 else 6.0
    true_rates = np.array([(verdict[~truth] >= cut).mean(), (verdict[truth] < cut).mean()])
    ends, passes = np.empty((draws, 2, 2)), np.empty(draws)
    for draw in range(draws):
        selection = sparingly.select(data, method, labels, seed=draw)
        sample = sample_from(data, data.truth("ok"), selection)
        part = labelled_outputs(data, sample, "ok", "judge", cut)
        rates = error_rates(part, 0.95)
        ends[draw] = [rates.passes_bad[1:], rates.fails_good[1:]]
        passes[draw] = part.weight @ part.good / part.weight.sum()
    ends = np.where(np.isnan(ends), [0.0, 1.0], ends)
    held = (ends[:, :, 0] <= true_rates + 1e-12) & (true_rates - 1e-12 <= ends[:, :, 1])
    error = np.sqrt(((passes - truth.mean()) ** 2).mean())
    return {
        "width": (ends[:, :, 1] - ends[:, :, 0]).mean(axis=0),
        "coverage": held.mean(axis=0),
        "pass_rate": np.array([passes.mean() - truth.mean(), error]),
    }


def run(draws: int) -> list[dict[str, Any]]:
    """Return a row for every set."""
    rows = []
    for graded in (False, True):
        for agreement in AGREEMENT:
            for rate, passes in SETS:
                data = judged_set(rate, passes, agreement, graded)
                by_verdict = widths(data, "verdicts", LABELS, draws)
                uniform = {n: widths(data, "uniform", n, draws) for n in UNIFORM}
                equal = [
                    float(
                        np.exp(
                            np.interp(
                                -np.log(by_verdict["width"][which]),
                                [-np.log(uniform[n]["width"][which]) for n in UNIFORM],
                                np.log(UNIFORM),
                            )
                        )
                    )
                    for which in (0, 1)
                ]
                rows.append(
                    {
                        "judge": "1 to 10" if graded else "pass or fail",
                        "agreement": agreement,
                        "pass_rate": rate,
                        "width_verdicts": by_verdict["width"].tolist(),
                        "width_uniform": uniform[LABELS]["width"].tolist(),
                        "uniform_labels": equal,
                        "coverage_verdicts": by_verdict["coverage"].tolist(),
                        "coverage_uniform": uniform[LABELS]["coverage"].tolist(),
                        "bias": float(by_verdict["pass_rate"][0]),
                        "error_ratio": float(by_verdict["pass_rate"][1] / uniform[LABELS]["pass_rate"][1]),
                    }
                )
                print(rows[-1], file=sys.stderr, flush=True)
    return rows


def as_table(rows: list[dict[str, Any]]) -> str:
    """Return the table of the documentation."""
    head = (
        "judge gives",
        "people pass",
        "agreement",
        "± of bad passed: uniform",
        "`verdicts`",
        "as uniform with",
        "± of good failed: uniform",
        "`verdicts`",
        "as uniform with",
        "coverage",
        "error of the pass rate",
    )
    lines = []
    for row in rows:
        cells = [row["judge"], f"{100 * row['pass_rate']:.0f} %", f"{row['agreement']:.1f}"]
        for which in (0, 1):
            labels = row["uniform_labels"][which]
            ends = "≥ " if labels >= UNIFORM[-1] - 0.5 else ""
            cells += [
                f"{50 * row['width_uniform'][which]:.0f}",
                f"{50 * row['width_verdicts'][which]:.0f}",
                f"{ends}{labels:.0f}",
            ]
        covered = min(row["coverage_verdicts"])
        lines.append((*cells, f"{100 * covered:.0f}", f"× {row['error_ratio']:.2f}"))
    return table(head, lines, texts=2)


def main() -> None:
    """Run, save the numbers, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    parser.add_argument("--docs", action="store_true", help=f"write the saved table into {PAGE.name}")
    options = parser.parse_args()
    if options.docs:
        blocks = {"selection": as_table(json.loads(RESULTS.read_text(encoding="utf-8"))["sets"])}
        PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), blocks), encoding="utf-8")
        return
    rows = run(options.draws)
    if options.save:
        text = json.dumps({"date": f"{date.today()}", "draws": options.draws, "sets": rows}, indent=1)
        RESULTS.write_text(f"{text}\n", encoding="utf-8")
    print(as_table(rows))


if __name__ == "__main__":
    main()
