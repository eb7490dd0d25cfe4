"""CASF against its published script: seconds of CPU on newstest2021 zh-en, side by side in one run.

    python -m benchmarks.casf_speed --script path/to/CASF.py

The script is not on the package index: check out github.com/EnablerRx/CASF and name its CASF.py. Only the
function of the file is run, on the same outputs, metrics and human scores, with the same rounds (a tenth of
the items first, then four times a tenth) and the same preliminary metric.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import sparingly
from benchmarks.papers.ruan.sets import CASES, EIGHT, Case, chosen_rows
from benchmarks.papers.work import Work
from sparingly import EvalSet

ROOT = Path(__file__).resolve().parent.parent
BAR = 20.0
# Below this line the file loads data sets that it does not come with.
_END_OF_FUNCTION = "## dataset"


def main() -> int:
    """Time both and print the ratio."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    reader.add_argument("--script", type=Path, required=True, help="CASF.py of the published repository")
    reader.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="the data sets")
    args = reader.parse_args()
    case = next(one for one in CASES if one.file == "casf_newstest2021_zhen")
    data = case.data(Work(args.data))
    published = _published(args.script)
    scores = _as_published(data, case)
    ours, theirs = (_seconds(call) for call in (lambda: _ours(data, case), lambda: published(scores, case)))
    print(f"newstest2021 zh-en, {len(data)} items x {len(data.models)} models, CPU seconds")
    print(
        f"published {theirs:.1f}   sparingly {sparingly.__version__} {ours:.2f}   ratio {theirs / ours:.0f} x"
    )
    return 0 if theirs / ours >= BAR else 1


def _ours(data: EvalSet, case: Case) -> None:
    chosen_rows(data, case, case.method(), "50%")


def _published(script: Path) -> Any:
    """Return the published function, told which rounds to make."""
    names: dict[str, Any] = {}
    text = script.read_text(encoding="utf-8").partition(_END_OF_FUNCTION)[0]
    exec(compile(text, str(script), "exec"), names)  # noqa: S102 - the peer that is timed
    return lambda scores, case: names["ActiveSampling"](
        EIGHT.index(case.first), scores, list(case.aspects), 0.1, 0.1, 4
    )


def _as_published(data: EvalSet, case: Case) -> dict[str, Any]:
    """Return the set as the published script reads it."""
    outputs = data.outputs
    if outputs is None:
        raise SystemExit("The set has no outputs.")
    arrays = {
        **{name: data.metrics[name] for name in EIGHT},
        **{name: data.aspects[name] for name in case.aspects},
    }
    return {
        item: {
            "sys_summs": {
                model: {
                    "sys_summ": outputs[row, column] or "",
                    "scores": {name: float(values[row, column]) for name, values in arrays.items()},
                }
                for column, model in enumerate(data.models)
            }
        }
        for row, item in enumerate(data.items)
    }


def _seconds(call: Any) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


if __name__ == "__main__":
    sys.exit(main())
