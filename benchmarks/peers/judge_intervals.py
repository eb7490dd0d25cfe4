"""Run in a peer's own environment: its 95 % interval of a pass rate for every draw of a file.

``python judge_intervals.py PEER draws.npz out.npz``. The file holds, for every cell, labels and verdicts of
all outputs (cells × outputs) and which outputs are labelled (cells × draws × labels). Written are the ends
(cells × draws × 2) and the seconds of the calls.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

Interval = Callable[[Any, Any, Any], tuple[float, float]]


def ppi_py() -> Interval:
    """PPI++ with a tuned λ, as its documentation has it."""
    from ppi_py import ppi_mean_ci

    def interval(people: Any, judge: Any, rows: Any) -> tuple[float, float]:
        others = np.setdiff1d(np.arange(len(judge)), rows)
        low, high = ppi_mean_ci(people[rows], judge[rows], judge[others], alpha=0.05)
        return float(np.ravel(low)[0]), float(np.ravel(high)[0])

    return interval


def truescore() -> Interval:
    """Its ``ppi_estimate``."""
    from truescore import ppi_estimate  # type: ignore[import-not-found]

    def interval(people: Any, judge: Any, rows: Any) -> tuple[float, float]:
        found = ppi_estimate(judge, people[rows], rows)
        return found.low, found.high

    return interval


def cje_eval() -> Interval:
    """Its ``calibrated_mean_ci`` with the usual cluster-robust inference."""
    from cje import calibrated_mean_ci  # type: ignore[import-not-found]

    def interval(people: Any, judge: Any, rows: Any) -> tuple[float, float]:
        labels = np.full(len(judge), np.nan)
        labels[rows] = people[rows]
        low, high = calibrated_mean_ci(judge, labels).ci
        return float(low), float(high)

    return interval


PEERS = {"ppi_py": ppi_py, "truescore": truescore, "cje-eval": cje_eval}


def main() -> None:
    """Write the intervals; a draw on which the peer raises an error has none."""
    peer, source, target = sys.argv[1:]
    warnings.simplefilter("ignore")
    draws = np.load(source)
    interval = PEERS[peer]()
    people, judge, labelled = draws["people"], draws["judge"], draws["labelled"]
    ends, seconds = np.full((*labelled.shape[:2], 2), np.nan), 0.0
    for cell in range(len(people)):
        for draw in range(labelled.shape[1]):
            start = time.process_time()
            try:
                ends[cell, draw] = interval(people[cell], judge[cell], labelled[cell, draw])
            except (ValueError, RuntimeError, ArithmeticError):
                continue
            finally:
                seconds += time.process_time() - start
    np.savez(target, ends=ends, seconds=seconds)


if __name__ == "__main__":
    main()
