"""Methods computed on random crowds of four models and judged on the rest, beside the published figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sparingly
from _tables_markdown import points, signed, table
from _tables_settings import MAIN, Setting
from _tables_work import Work, rounded

Figures = dict[str, Any]

SIZE, CROWDS, QUICK_CROWDS = 4, 20, 2
# Zouhar et al. 2025, Table 4: the artificial crowd, nine language pairs of WMT23.
PUBLISHED = {
    "random": 91.8,
    "metric_avg": 92.0,
    "metric_var": 92.5,
    "metric_cons": 92.3,
    "irt": 91.9,
    "diversity": 92.6,
}
METHODS = tuple(name for name in PUBLISHED if name != "random")
SETTINGS = tuple(setting for setting in MAIN if setting.truth in ("mqm", "esa"))


def figures(work: Work) -> Figures:
    """Compute the figures of the table."""
    return {"settings": [_setting(work, setting) for setting in work.settings(SETTINGS)]}


def blocks(computed: Figures) -> dict[str, str]:
    """Return the table as Markdown, by the name of its marker."""
    settings = computed["settings"]
    first = ["`random`", *(points(one["methods"][METHODS[0]]["random"]) for one in settings)]
    rows = [[*first, f"{PUBLISHED['random']:.1f}"]]
    for method in METHODS:
        cells = [_cell(one["methods"][method]) for one in settings]
        rows.append([f"`{method}`", *cells, f"{PUBLISHED[method]:.1f}"])
    return {"crowd": table(["method", *(one["title"] for one in settings), "published"], rows)}


def _setting(work: Work, setting: Setting) -> Figures:
    return {"title": setting.title, "methods": {name: _tried(work, setting, name) for name in METHODS}}


def _tried(work: Work, setting: Setting, method: str) -> Figures:
    runs = QUICK_CROWDS if work.is_demo else CROWDS

    def make() -> Figures:
        found = sparingly.crowd(work.evalset(setting), method, setting.truth, size=SIZE, runs=runs)
        gain = found.gain
        held = {"mean": found.average.mean, "random": found.random_average.mean}
        return {name: rounded(value) for name, value in {**held, "low": gain.low, "high": gain.high}.items()}

    key = {"what": "crowd", "method": method, "size": SIZE, "runs": runs}
    found: Figures = work.cell(setting, key, make)
    return found


def _cell(found: Mapping[str, float]) -> str:
    return f"{points(found['mean'])} ({signed(found['low'])} to {signed(found['high'])})"
