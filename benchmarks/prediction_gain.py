"""How much predictions help: error of model means from uniform samples, as a share of the plain mean's.

For every fully judged set, items are drawn at 5 to 50 %, scores are predicted from metrics and texts, and

    μ̂ = ȳ + s · (N⁻¹ [Σ_all f + (N/n) Σ_S (y − f)] − ȳ),   s = max(0, r² − 1/(n − 2)) / r²

with held-out predictions f and their correlation r with the labels (s = 0 where r ≤ 0). The error is the mean
over models of |μ̂ − μ|; the ratio is that of sums over sample sizes, with its 95 % interval over draws.
*Plain* is the ratio without the guard s.

    python -m benchmarks.prediction_gain ../shared/data --draws 20
    python -m benchmarks.prediction_gain ../shared/data --only wmt23_ende --regressor knn
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import sparingly
from sparingly.base import rng
from sparingly.base.arrays import Floats
from sparingly.signals.predict import predict_scores

SHARES = (0.05, 0.10, 0.20, 0.35, 0.50)
FEWEST_ITEMS = 50
FEWEST_LABELLED = 5
# What was judged in the end, where it is not the first aspect of the file.
ASPECTS = {
    "newsroom": "sum",
    "opinsummeval": "sum",
    "personachat_usr": "Overall",
    "summeval": "sum",
    "summeval_llm12": "sum",
    "topicalchat_usr": "overall",
    "webnlg20_en": "mean",
}


class Errors(NamedTuple):
    """Mean absolute errors, draws x sample sizes."""

    mean: Floats
    plain: Floats
    guarded: Floats
    correlation: float
    seconds: float


def guard(correlation: float, n: int) -> float:
    """Return how much of a correction survives: none that noise could have made."""
    return max(0.0, 1.0 - 1.0 / (n - 2) / correlation**2) if correlation > 0.0 else 0.0


def one_draw(
    data: sparingly.EvalSet, truth: Floats, rows: NDArray[np.int64], regressor: str
) -> tuple[Floats, Floats, float]:
    """Return the mean, the corrected mean and the correlation for one sample."""
    labels = np.full(truth.shape, np.nan)
    labels[rows] = truth[rows]
    mean = np.nanmean(labels, axis=0)
    if len(rows) < FEWEST_LABELLED:
        return mean, mean, 0.0
    found = predict_scores(data, labels, regressor=regressor)
    f = found.held_out
    return mean, f.mean(axis=0) + np.nanmean(labels - f, axis=0), found.correlation


def errors(data: sparingly.EvalSet, truth: Floats, draws: int, regressor: str) -> Errors:
    """Replay draws of every size."""
    target = np.nanmean(truth, axis=0)
    found = np.zeros((3, draws, len(SHARES)))
    correlations = []
    began = time.process_time()
    for size, share in enumerate(SHARES):
        n = round(share * len(data))
        for draw in range(draws):
            keys = rng.stream(data.keys, draw, f"prediction_gain {share}")
            rows = np.sort(np.argsort(keys, kind="stable")[:n]).astype(np.int64)
            mean, corrected, correlation = one_draw(data, truth, rows, regressor)
            guarded = mean + guard(correlation, n) * (corrected - mean)
            found[:, draw, size] = [np.abs(each - target).mean() for each in (mean, corrected, guarded)]
            correlations.append(correlation)
    seconds = (time.process_time() - began) / found[0].size
    return Errors(found[0], found[1], found[2], float(np.mean(correlations)), seconds)


def ratio(ours: Floats, baseline: Floats) -> tuple[float, float]:
    """Return the ratio of summed errors and the half width of its 95 % interval over draws."""
    a, b = ours.sum(axis=1), baseline.sum(axis=1)
    value = a.mean() / b.mean()
    spread = np.std(a - value * b, ddof=1) / np.sqrt(len(a)) / b.mean() if len(a) > 1 else np.nan
    return float(value), float(1.96 * spread)


def named_sets(folder: Path, only: list[str]) -> Iterator[tuple[str, sparingly.EvalSet, Floats]]:
    """Yield the sets that are judged (nearly) everywhere and large enough to sample from."""
    for path in sorted(folder.glob("*.jsonl.gz")):
        name = path.name.removesuffix(".jsonl.gz")
        if only and name not in only:
            continue
        data = sparingly.load(path)
        truth = np.array(data.aspects[ASPECTS.get(name, next(iter(data.aspects)))])
        if len(data) >= FEWEST_ITEMS and np.isnan(truth).mean() < 0.01:
            yield name, data, truth


def main() -> None:
    """Print a table, one row per set."""
    parser = argparse.ArgumentParser(description="How much predictions help, on fully judged sets.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--only", action="append", default=[], help="the name of a set; may be repeated")
    parser.add_argument("--regressor", default="ridge")
    options = parser.parse_args()
    print(
        "| set | items | models | r | ratio | ± | plain | "
        + " | ".join(f"{s:.0%}" for s in SHARES)
        + " | s |"
    )
    print("|---|" + "---:|" * (len(SHARES) + 7))
    ratios = []
    for name, data, truth in named_sets(options.folder, options.only):
        found = errors(data, truth, options.draws, options.regressor)
        value, half = ratio(found.guarded, found.mean)
        plain, _ = ratio(found.plain, found.mean)
        by_share = found.guarded.mean(axis=0) / found.mean.mean(axis=0)
        ratios.append(value)
        cells = [f"{found.correlation:.2f}", f"{value:.3f}", f"{half:.3f}", f"{plain:.3f}"]
        cells += [f"{each:.2f}" for each in by_share] + [f"{found.seconds:.2f}"]
        print(f"| {name} | {len(data)} | {len(data.models)} | {' | '.join(cells)} |", flush=True)
    print(f"\nMean ratio {np.mean(ratios):.3f}, worst {np.max(ratios):.3f}, {len(ratios)} sets.")


if __name__ == "__main__":
    main()
