"""Fit item response theory to 1000, 100 000 and 1 000 000 items × 14 models: CPU seconds and memory.

The smallest size is fitted in all forms, the larger ones in the default form (variational, continuous); each
fit has a process of its own, on one thread. The largest one takes minutes. Run
``.venv/bin/python -m benchmarks.irt_size`` (``--items 1000 10000`` for less).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from itertools import product
from typing import Any, get_args

import numpy as np

from benchmarks.peers.data import MODELS, USUAL, prepared
from benchmarks.peers.environment import FOLDER
from benchmarks.peers.timing import peak_megabytes, timed
from benchmarks.run import ONE_THREAD, print_table

SIZES = (1_000, 100_000, 1_000_000)
FORMS = tuple(product(("variational", "map"), ("continuous", "binary")))


def fit(items: int, method: str, response: str) -> None:
    """Fit once, or a few times where that is quick, and print what it took; runs in its own process."""
    from sparingly.published.irt import fit_irt
    from sparingly.published.irt.model import FitMethod, Response

    assert method in get_args(FitMethod)
    assert response in get_args(Response)
    with np.load(prepared(FOLDER / "data", "numbers", items, USUAL, for_peer=False)) as stored:
        scores = stored["metric"]
    before = peak_megabytes()
    timing, _ = timed(
        lambda: fit_irt(scores, method=method, response=response)  # type: ignore[arg-type]
    )
    found = {"seconds": timing.median, "first": timing.first, "calls": timing.calls}
    print(json.dumps({**found, "scores_mb": scores.nbytes / 1e6, "peak_mb": peak_megabytes() - before}))


def in_process(items: int, method: str, response: str) -> dict[str, Any]:
    """Fit in a fresh process and return what it printed."""
    command = [sys.executable, "-m", "benchmarks.irt_size", "--fit", method, response, "--items", str(items)]
    environment = {**os.environ, **ONE_THREAD}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    read: dict[str, Any] = json.loads(done.stdout)
    return read


def main() -> None:
    """Read the command line, fit, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--items", type=int, nargs="+", default=SIZES)
    parser.add_argument("--fit", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.fit:
        fit(chosen.items[0], *chosen.fit)
        return
    for items in chosen.items:
        # Made here, so that a fit's process holds nothing but the scores.
        prepared(FOLDER / "data", "numbers", items, USUAL, for_peer=False)
    wanted = [(items, *form) for items in chosen.items for form in FORMS[: 4 if items <= SIZES[0] else 1]]
    rows = []
    for items, method, response in wanted:
        print(f"fitting {items} items, {method}, {response} …", file=sys.stderr, flush=True)
        found = in_process(items, method, response)
        rows.append(
            (
                f"{items:,}".replace(",", " "),
                f"{method}, {response}",
                f"{found['seconds']:.3g}",
                f"{found['first']:.3g}",
                f"{1e6 * found['seconds'] / items:.0f}",
                f"{found['scores_mb']:.3g}",
                f"{found['peak_mb']:.0f}",
            )
        )
    head = ("items", "fit", "CPU s", "first call", "µs an item", f"MB of scores ({MODELS} models)")
    print_table((*head, "MB that the fit added at its peak"), rows)


if __name__ == "__main__":
    main()
