"""How much of the spread of human scores the metrics leave, had one all labels to learn from.

    python -m benchmarks.auto_limit

For the sets with a strong metric: the spread over items of what a ridge regression on all metrics, fitted to
every label, misses on an item that was left out, relative to the spread of the scores; a mean over models.
Scores that are estimated with such predictions have about this error, relative to plain means of equally many
items drawn at random; only drawing can bring more. It is what figures of coverage.md are to be held against.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from sparingly.bench.sets import FullyJudgedSet, open_set, set_files
from sparingly.signals.predict.regressors import fit_ridge

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"


def left_by_metrics(judged: FullyJudgedSet) -> float:
    """Return the spread of left-out residuals over items, relative to that of the scores."""
    data, scores = judged.data, judged.data.truth(judged.truth)
    columns = [np.asarray(data.metrics[name], np.float64) for name in data.metrics]
    features = np.stack([column for column in columns if not np.isnan(column).any()], axis=2)
    features = (features - features.mean(axis=(0, 1))) / np.maximum(features.std(axis=(0, 1)), 1e-9)
    there = ~np.isnan(scores)
    missed = fit_ridge(features, np.where(there, scores, 0.0), there.astype(np.float64)).left_out
    spread = [
        np.std(missed[there[:, model], model]) / np.std(scores[there[:, model], model])
        for model in range(scores.shape[1])
    ]
    return float(np.mean(spread))


def main() -> int:
    """Print the figure of every set and their mean."""
    if not DATA.is_dir():
        print(f"There is no folder {DATA}.", file=sys.stderr)
        return 2
    found = {file.name: left_by_metrics(open_set(file)) for file in set_files(DATA) if file.strong}
    for name, share in found.items():
        print(f"{name:20} {share:.3f}")
    print(f"{'mean':20} {np.mean(list(found.values())):.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
