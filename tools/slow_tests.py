"""Write tests/slow.txt: the unit tests that `make check` leaves to `make test`.

    .venv/bin/python tools/slow_tests.py            # run the unit tests, and list those that take longest
    .venv/bin/python tools/slow_tests.py --seconds 40

A few tests take most of the time. They are left out, slowest first, until the rest takes at most so many
seconds of processor time; tests/conftest.py gives them the marker ``slow``.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "tests" / "slow.txt"
UNIT = "not statistics and not journey and not transformer and not compat"
LINE = re.compile(r"^ *([\d.]+)s (?:call|setup|teardown) +(\S+?)(?:\[.*)?$", re.MULTILINE)


def function_seconds(report: str) -> dict[str, float]:
    """Return the seconds of each test function, over its cases, from pytest's list of durations."""
    seconds: dict[str, float] = defaultdict(float)
    for number, name in LINE.findall(report):
        seconds[name] += float(number)
    return dict(seconds)


def slowest(seconds: Mapping[str, float], allowed: float) -> list[str]:
    """Return the fewest functions without which the rest takes no more than what is allowed."""
    total, names = sum(seconds.values()), []
    for name, own in sorted(seconds.items(), key=lambda pair: -pair[1]):
        if total <= allowed:
            break
        names.append(name)
        total -= own
    return sorted(names)


def main(arguments: list[str] | None = None) -> None:
    """Measure, and write the list."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=40.0, help="what the tests of make check may take")
    parser.add_argument("--report", type=Path, help="a report of pytest --durations=0 -vv instead of a run")
    options = parser.parse_args(arguments)
    if options.report is None:
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-vv",
            "--durations=0",
            "--numprocesses=2",
            "-m",
            UNIT,
            "--ignore=tests/benchmarks",
        ]
        report = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    else:
        report = options.report.read_text(encoding="utf-8")
    names = slowest(function_seconds(report), options.seconds)
    FILE.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    sys.stdout.write(f"{len(names)} slow tests in {FILE.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
