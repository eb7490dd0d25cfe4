"""The coverage grid as Markdown: a summary, and a line for every design, estimator, shape and size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks._coverage_cells import TARGETS, WITH_METRICS
from benchmarks.papers.markdown import folded, points, table

Row = dict[str, Any]
_UNIFORM = "uniform"
_KINDS = ("scores", "differences")
_SHOWN = ("coverage", "slack", "bias", "withheld", "widened", "wrong")


def blocks(computed: dict[str, Any]) -> dict[str, str]:
    """Return the parts of the page by the names of their markers."""
    rows = [_filled(row) for row in computed["rows"]]
    said = f"Computed on {computed['date']} with version {computed['version']}: {_size(rows)}."
    if len(rows) < computed["cells"]:
        said += f" {computed['cells'] - len(rows)} of the {computed['cells']} cells are not computed."
    if computed["left_out"]:
        said += " Left out: " + " ".join(computed["left_out"])
    details = [folded(_title(design), _lines(_of(rows, design))) for design in _designs(rows)]
    return {"coverage": "\n\n".join([said, _summary(rows), _LEGEND, *details])}


def compact(row: Row) -> Row:
    """Return what the table needs of a cell, in few digits; what is 0 or nothing is left out."""
    found: Row = {name: row[name] for name in ("design", "family", "n")}
    for target in TARGETS:
        found[target] = {"fallen_back": round(row[target]["fallen_back"], 3)}
        for what in _KINDS:
            cell = row[target][what]
            told = {name: round(cell[name], 3) for name in _SHOWN}
            told |= {
                "intervals": cell["intervals"],
                "missed": cell["missed"],
                "barred": int(bool(cell["barred"])),
            }
            found[target][what] = {name: value for name, value in told.items() if value}
    return found


def _filled(row: Row) -> Row:
    """Return a cell with what was left out of it."""
    nothing = {**dict.fromkeys((*_SHOWN, "intervals", "barred"), 0), "missed": []}
    parts: Row = {
        target: {**row[target], **{what: {**nothing, **row[target][what]} for what in _KINDS}}
        for target in TARGETS
    }
    return {**row, **parts}


_LEGEND = (
    "How often 95 % intervals that were printed hold the truth, in percent: the lowest and the highest "
    "share at n ≥ 100 over all shapes and public sets in which a model has a skewness up to 2. `set` and "
    "`pop.` are the two targets. A bar is missed when the models with such a skewness miss it by more "
    "than two standard errors. Below, a line for every shape and size: coverage over all models, bias in "
    "standard errors (▼ marks a missed bar), the shares of scores that were withheld, widened and fallen "
    "back to the weighted mean, and of pairs that are significant in the wrong direction (the greater of "
    "both targets), in percent."
)


def _size(rows: Sequence[Row]) -> str:
    counts = [row[target][what]["intervals"] for row in rows for target in TARGETS for what in _KINDS]
    errors = [row[target][what]["slack"] for row in rows for target in TARGETS for what in _KINDS]
    return (
        f"{min(counts)} to {max(counts)} intervals in a cell, whose coverage has a standard error of "
        f"{100 * sorted(errors)[len(errors) // 2]:.1f} points (median; arrays of models are the replicates; "
        f"{100 * max(errors):.1f} at most)"
    )


def _designs(rows: Iterable[Row]) -> list[str]:
    return list(dict.fromkeys(row["design"] for row in rows))


def _of(rows: Iterable[Row], design: str) -> list[Row]:
    return [row for row in rows if row["design"] == design]


def _names(design: str) -> tuple[str, str]:
    """Return the draw and the estimator."""
    if design not in WITH_METRICS:
        return design, "weighted mean"
    estimator, _, rest = design.partition(", ")
    if rest == "pivotal":
        return rest, estimator
    return _UNIFORM, design


def _title(design: str) -> str:
    return "{} draw, {}".format(*_names(design))


def _summary(rows: Sequence[Row]) -> str:
    head = ["draw", "estimator", "scores, set", "scores, pop.", "differences, set", "differences, pop."]
    head += ["greatest bias", "withheld", "wrong sign", "bars missed"]
    return table(head, [_summary_line(design, _of(rows, design)) for design in _designs(rows)], texts=2)


def _summary_line(design: str, rows: Sequence[Row]) -> list[str]:
    large = [row for row in rows if row["n"] >= 100]
    cells = [row[target][what] for row in large for target in TARGETS for what in _KINDS]
    barred = [cell for cell in cells if cell["barred"]]
    return [
        *_names(design),
        *(_range(large, target, what) for what in _KINDS for target in TARGETS),
        f"{max((abs(cell['bias']) for cell in barred), default=0.0):.2f}",
        points(max((cell["withheld"] for cell in barred), default=0.0)),
        points(max((_wrong(row) for row in large), default=0.0), 2),
        f"{sum(bool(cell['missed']) for cell in cells)} of {len(barred)}",
    ]


def _range(rows: Sequence[Row], target: str, what: str) -> str:
    held = [row[target][what]["coverage"] for row in rows if row[target][what]["barred"]]
    return f"{points(min(held))}–{points(max(held))}" if held else "–"


def _lines(rows: Sequence[Row]) -> str:
    head = ["shape", "n", "scores, set", "scores, pop.", "differences, set", "differences, pop."]
    head += ["bias", "withheld", "widened", "fallen back", "wrong sign"]
    return table(head, [_line(row) for row in rows])


def _line(row: Row) -> list[str]:
    scores = row["set"]["scores"]
    missed = any(row[target][what]["missed"] for target in TARGETS for what in _KINDS)
    return [
        f"{row['family']}{' ▼' if missed else ''}",
        str(row["n"]),
        *(points(row[target][what]["coverage"]) for what in _KINDS for target in TARGETS),
        f"{scores['bias']:+.2f}".replace("-", "−"),
        points(scores["withheld"]),
        points(scores["widened"]),
        points(row["set"]["fallen_back"]),
        points(_wrong(row), 2),
    ]


def _wrong(row: Row) -> float:
    """Return the share of pairs that are significant in the wrong direction, the greater of both targets."""
    return float(max(row[target]["differences"]["wrong"] for target in TARGETS))
