"""Methods computed on random crowds of four models and judged on the rest, beside the published figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.method_studies import crowd
from benchmarks.pages import points, signed, table
from benchmarks.papers.catalogue import PaperTable
from benchmarks.papers.work import MAIN, Setting, Work, rounded
from benchmarks.papers.zouhar.sets import BY_MINILM, NO_SOURCE_MODELS, OTHER_METHODS, page, why

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
# The same table, source-based.
PUBLISHED_BY_SOURCE = {
    "random": 91.8,
    "metric_avg": 90.7,
    "metric_var": 92.1,
    "metric_cons": 92.1,
    "irt": 92.4,
    "diversity": 92.5,
}
METHODS = (*(name for name in PUBLISHED if name != "random"), BY_MINILM)
SETTINGS = tuple(setting for setting in MAIN if setting.truth in ("mqm", "esa"))


def figures(work: Work) -> Figures:
    """Compute the figures of the table."""
    found = work.each(lambda setting: _setting(work, setting), work.settings(SETTINGS))
    return {"crowds": _crowds(work), "settings": found}


def blocks(computed: Figures) -> dict[str, str]:
    """Return the table as Markdown, by the name of its marker."""
    settings = computed["settings"]
    first = ["`random`", *(points(setting["methods"][METHODS[0]]["random"]) for setting in settings)]
    rows = [[*first, f"{PUBLISHED['random']:.1f}"]]
    # Figures that were computed without the vectors of `make vectors` have no row by MiniLM.
    there = [method for method in METHODS if all(method in setting["methods"] for setting in settings)]
    for method in there:
        cells = [_cell(setting["methods"][method]) for setting in settings]
        published = PUBLISHED["diversity" if method == BY_MINILM else method]
        rows.append([f"`{method}`", *cells, f"{published:.1f}"])
    return {"crowd": table(["method", *(setting["title"] for setting in settings), "published"], rows)}


def _text(computed: Figures) -> str:
    by_source = [[f"`{name}`", f"{value:.1f}"] for name, value in PUBLISHED_BY_SOURCE.items()]
    return page(
        f"Soft pairwise accuracy in percent on the models outside a crowd of {SIZE}, mean over budgets and "
        f"{computed['crowds']} crowds; in brackets the 90 % interval of the gain over random selection.",
        blocks(computed)["crowd"],
        f"Published as source-based:\n\n{table(['method', 'published'], by_source)}",
        why(
            "Published figures are means over nine language pairs of WMT23; here are the two of them that "
            "the collection has, and one of WMT24 with a weak metric.",
            OTHER_METHODS,
            NO_SOURCE_MODELS,
        ),
    )


def _setting(work: Work, setting: Setting) -> Figures:
    return {"title": setting.title, "methods": {name: _tried(work, setting, name) for name in METHODS}}


def _tried(work: Work, setting: Setting, method: str) -> Figures:
    runs = _crowds(work)

    def make() -> Figures:
        data, text = work.given(setting, method)
        found = crowd(data, text, setting.truth, size=SIZE, runs=runs)
        gain = found.gain
        held = {"mean": found.average.mean, "random": found.random_average.mean}
        return {name: rounded(value) for name, value in {**held, "low": gain.low, "high": gain.high}.items()}

    key = {"what": "crowd", "method": method, "size": SIZE, "runs": runs}
    found: Figures = work.cell(setting, key, make)
    return found


def _crowds(work: Work) -> int:
    return QUICK_CROWDS if work.is_demo else CROWDS


def _cell(found: Mapping[str, float]) -> str:
    return f"{points(found['mean'])} ({signed(found['low'])} to {signed(found['high'])})"


TABLE4 = PaperTable(
    "s0-table4",
    "Zouhar et al. 2025, Table 4: selectors that see an artificial crowd of four models",
    tuple(setting.file for setting in SETTINGS),
    figures,
    _text,
)
