"""The tables of docs/research/raters-public.md, from the public sets whose ratings say who gave them.

    python -m benchmarks.rater_tables                    computes them and writes them into the page
    python -m benchmarks.rater_tables --data FOLDER      from another folder
    python -m benchmarks.rater_tables --demo             of the demo set, printed only: does it still run?

How severe raters are and how much they vary, how well they agree, how well the others predict each one
(Saldías et al. 2022, Table 12), which share of a rater's own ratings predicts better, and the slope of a
metric by rater and model (their Figure 6). ``make paper NAME=s1-table12`` prints Table 12 alone.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import sparingly
from benchmarks.pages import replaced, table
from benchmarks.papers.saldias.raters import number, share
from sparingly.data.synthetic import load_invented
from sparingly.run.raters.report import RaterReport

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "research" / "raters-public.md"
# Sets with raters' names: the aspect that was rated, and the metric of the slopes.
SETS = {
    "ted21_ende": ("mqm", "chrF"),
    "biomqm_deen": ("mqm", "chrF"),
    "biomqm_ende": ("mqm", "chrF"),
    "biomqm_enes": ("mqm", "chrF"),
    "biomqm_enfr": ("mqm", "chrF"),
    "biomqm_enru": ("mqm", "chrF"),
    "wmt23_ende_mqm3": ("mqm3", "MetricX-23"),
    "wmt23_zhen_mqm3": ("mqm3", "MetricX-23"),
}
Reports = dict[str, RaterReport]


def overview(reports: Reports) -> str:
    """Return one row per set: raters, agreement, and where the variance of a rating comes from."""
    rows = []
    for name, report in reports.items():
        severe, alpha = report.severity, report.agreement.alpha
        total = sum(severe.variances.values())
        parts = [
            severe.variances.get(part, float("nan")) / total for part in ("rater", "rater × model", "noise")
        ]
        rows.append(
            [
                name,
                str(len(severe.raters)),
                str(alpha.units),
                number(alpha.alpha),
                f"{number(alpha.low)} to {number(alpha.high)}" if alpha.units else "–",
                number(float(np.sqrt(severe.variances["rater"]))),
                *map(share, parts),
                str(len(report.flags)),
            ]
        )
    head = ["set", "raters", "outputs rated twice", "α", "95 % interval", "sd of severity"]
    return table([*head, "rater", "rater × model", "noise", "flags"], rows)


def predictions(reports: Reports) -> str:
    """Return one row per set and rater: severity, the error from the others, and the share that beats it."""
    rows = []
    for name, report in reports.items():
        severe = report.severity
        place = {rater: at for at, rater in enumerate(severe.raters)}
        for one in report.predictability.raters:
            at = place[one.rater]
            told = f"{number(float(severe.severity[at]))} ± {number(float(severe.standard_errors[at]))}"
            rows.append([name, one.rater, str(one.n), told, number(one.error), share(one.share)])
        if report.predictability.raters:
            rows.append([name, "*mean*", "", "", f"**{number(report.predictability.error)}**", ""])
    return table(
        ["set", "rater", "outputs", "severity", "error from others", "own share that beats it"], rows, 2
    )


def slopes(reports: Reports) -> str:
    """Return one row per set: how far the slopes of a metric differ between raters and between models."""
    rows = []
    for name, report in reports.items():
        found = [one for one in report.predictability.slopes if one.n >= 30 and one.slope == one.slope]
        if not found or report.predictability.metric is None:
            continue
        values = np.array([one.slope for one in found])
        by_rater = [
            np.ptp([one.slope for one in found if one.rater == who]) for who in {one.rater for one in found}
        ]
        by_model = [
            np.ptp([one.slope for one in found if one.model == what]) for what in {one.model for one in found}
        ]
        numbers = (values.min(), np.median(values), values.max(), np.median(by_rater), np.median(by_model))
        rows.append(
            [name, report.predictability.metric, str(len(found)), *(number(float(one), 3) for one in numbers)]
        )
    head = ["set", "metric", "lines", "lowest slope", "median", "highest"]
    return table([*head, "range over models, one rater", "range over raters, one model"], rows, 2)


def computed(folder: Path) -> Reports:
    """Return the report of every set."""
    reports = {}
    for name, (aspect, metric) in SETS.items():
        data = sparingly.load(folder / f"{name}.jsonl.gz")
        known = next((one for one in data.metrics if one.startswith(metric)), metric)
        reports[name] = sparingly.rater_report(data, aspect, metric=known)
        print(f"{name}: {reports[name]!r}", file=sys.stderr)
    return reports


def blocks(reports: Reports) -> dict[str, str]:
    """Return the tables by the names of their places in the page."""
    return {
        "rater-overview": overview(reports),
        "rater-predictions": predictions(reports),
        "rater-slopes": slopes(reports),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Compute the tables, and write or print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="the data sets")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page that holds the tables")
    parser.add_argument("--demo", action="store_true", help="of the demo set, printed only")
    args = parser.parse_args(arguments)
    if args.demo:
        report = sparingly.rater_report(load_invented(), "overall", metric="learned")
        print("\n\n".join(blocks({"demo": report}).values()))
        return 0
    found = blocks(computed(args.data))
    args.page.write_text(replaced(args.page.read_text(encoding="utf-8"), found), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
