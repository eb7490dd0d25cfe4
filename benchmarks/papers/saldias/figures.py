"""Figures 2 to 6 of Saldías et al. 2022: errors by the size of the sample, and one metric against raters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from benchmarks.pages import table
from benchmarks.papers.catalogue import PaperTable
from benchmarks.papers.saldias import published
from benchmarks.papers.saldias.errors import SHARES, rounded
from benchmarks.papers.saldias.simulated import (
    Cell,
    Place,
    about,
    can_be_run,
    cases_at,
    draws_of,
    places_of,
    summary,
)
from benchmarks.papers.saldias.tables import DEVELOPMENT, TEST
from benchmarks.papers.work import Work

_PAPER = "Saldías et al. 2022"
_PICTURE = (
    'The paper has a picture without numbers; `make paper NAME={} OPTIONS="--figure curves.svg"` draws ours.'
)


def curve_figures(work: Work, usual: Sequence[Place], methods: Sequence[str]) -> dict[str, Any]:
    """Return the mean error of every method at every share, and its standard deviation between draws."""
    places = places_of(work, usual)
    wanted = [Cell(place, name) for place in places for name in methods if can_be_run(work, place, name)]
    found = dict(zip(wanted, work.each(partial(summary, work), wanted), strict=True))
    sets = []
    for place in places:
        curves = {
            cell.method: {
                "error": [rounded(value) for value in one.means.mean(axis=1)],
                "sd": [rounded(value) for value in one.spread],
            }
            for cell, one in found.items()
            if cell.place == place
        }
        sets.append({**about(work, place), "curves": curves})
    return {"draws": draws_of(work), "sets": sets}


def curve_text(computed: dict[str, Any], name: str, says: str) -> str:
    """Return the errors by share, set by set."""
    parts = [
        f"Mean absolute error ± its standard deviation between draws, by share of the items; "
        f"{computed['draws']} draws (incremental strata: a fifth of them)."
    ]
    for one in computed["sets"]:
        rows = [
            [
                method,
                *(f"{error:.3f} ± {sd:.3f}" for error, sd in zip(curve["error"], curve["sd"], strict=True)),
            ]
            for method, curve in one["curves"].items()
        ]
        head = ["method", *(f"{share:.0%}" for share in SHARES)]
        parts += [f"**{one['direction']}, here {one['title']}**", table(head, rows)]
    return "\n\n".join([*parts, says, _PICTURE.format(name)])


def curve_picture(computed: dict[str, Any]) -> Any:
    """Draw the curves, a panel for every set."""
    import altair as alt

    rows = [
        {"set": one["title"], "method": method, "share": share, "error": error}
        for one in computed["sets"]
        for method, curve in one["curves"].items()
        for share, error in zip(SHARES, curve["error"], strict=True)
    ]
    return (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(point=True)
        .encode(
            x=alt.X("share:Q", title="share of the items", axis=alt.Axis(format="%")),
            y=alt.Y("error:Q", title="mean absolute error"),
            color=alt.Color("method:N", title=None, legend=alt.Legend(orient="bottom", columns=3)),
            strokeDash=alt.StrokeDash("method:N", title=None),
        )
        .properties(width=280, height=220)
        .facet(alt.Facet("set:N", title=None), columns=2)
        .resolve_scale(y="independent")
    )


# --- Fig. 6: one metric against raters -------------------------------------------------------------------


_SCATTER = Place(published.ZH_EN, "wmt23_zhen", "WMT23 zh–en")
_FEW = 3


def scatter_figures(work: Work) -> dict[str, Any]:
    """Return slope and error of the best line from a metric to the scores, by rater and system."""
    place = places_of(work, (_SCATTER,))[0]
    cases = cases_at(work, place.file)
    metric = "COMET" if "COMET" in cases.cases[0].data.metrics else cases.one
    lines, points = [], []
    for number, case in enumerate(cases.cases):
        scores = case.data.metrics[metric]
        for model, name in enumerate(case.data.models):
            x, y = scores[:, model], case.truth[:, model]
            slope, start = np.polyfit(x, y, 1)
            error = float(np.abs(y - start - slope * x).mean())
            lines.append(
                {"rater": case.name, "system": name, "slope": rounded(slope), "error": rounded(error)}
            )
            if (number == 0 and model < _FEW) or (number < _FEW and model == 0):
                panel = f"{case.name}, {name}"
                points += [
                    {"panel": panel, "x": rounded(a), "y": rounded(b)} for a, b in zip(x, y, strict=True)
                ]
    return {"title": place.title, "metric": metric, "lines": lines, "points": points}


def scatter_text(computed: dict[str, Any]) -> str:
    """Return slopes and errors by rater over systems, and by system over raters."""
    lines = computed["lines"]
    rows = [*_ranges("rater", lines), *_ranges("system", lines)]
    return "\n\n".join(
        [
            table(["", "lines", "slope: least", "median", "most", "error: least", "median", "most"], rows),
            f"{computed['title']}: the best line from {computed['metric']} to the scores that a rater gave "
            f"to a "
            "system, and the mean distance of the scores from it; for every rater over systems, for every "
            "system "
            "over raters.",
            "Published for six such lines of WMT20 en–de: the slope and the error differ from system to "
            "system "
            "and more from rater to rater. So they do here. " + _PICTURE.format("s1-fig6"),
        ]
    )


def _ranges(by: str, lines: Sequence[dict[str, Any]]) -> Iterable[list[str]]:
    for name in dict.fromkeys(one[by] for one in lines):
        own = [one for one in lines if one[by] == name]
        values = chain.from_iterable(
            np.quantile([one[part] for one in own], [0.0, 0.5, 1.0]) for part in ("slope", "error")
        )
        yield [f"{by} {name}", str(len(own)), *(f"{value:.2f}" for value in values)]


def scatter_picture(computed: dict[str, Any]) -> Any:
    """Draw the points of one rater and several systems, and of one system and several raters."""
    import altair as alt

    base = alt.Chart(alt.InlineData(values=computed["points"])).encode(
        x=alt.X("x:Q", title=computed["metric"], scale=alt.Scale(zero=False)),
        y=alt.Y("y:Q", title="score"),
    )
    line = base.transform_regression("x", "y", groupby=["panel"]).mark_line(color="#b03a2e")
    panel = alt.layer(base.mark_circle(size=12, opacity=0.5), line).properties(width=190, height=150)
    return panel.facet(alt.Facet("panel:N", title=None), columns=3)


def _figure(
    number: int, shows: str, places: Sequence[Place], methods: Sequence[str], says: str
) -> PaperTable:
    name = f"s1-fig{number}"
    return PaperTable(
        name=name,
        title=f"{_PAPER}, Figure {number}: {shows}",
        sets=tuple(place.file for place in places),
        figures=partial(curve_figures, usual=places, methods=tuple(methods)),
        text=partial(curve_text, name=name, says=says),
        picture=curve_picture,
    )


FIG2 = _figure(
    2,
    "errors of stratified draws by the size of the sample",
    DEVELOPMENT,
    dict.fromkeys([*published.TABLE_1, *published.TABLE_2]),  # type: ignore[arg-type]
    "Published: docs-prop is below random at every size, strata that follow the ratings are above it. See "
    "s1-table1 and s1-table2 for what differs.",
)
FIG3 = _figure(
    3,
    "errors of control variates by the size of the sample",
    DEVELOPMENT,
    tuple(published.TABLE_3),
    "Published: all control variates are below random at every size, and differ little. See s1-table3.",
)
FIG4 = _figure(
    4,
    "errors of strata and control variates together by the size of the sample",
    DEVELOPMENT,
    tuple(published.TABLE_4),
    "Published: docs-prop+cv-knn is below both of its parts at every size. See s1-table4.",
)
FIG5 = _figure(
    5,
    "errors on the test sets by the size of the sample",
    TEST,
    tuple(published.TABLE_6),
    "Published: docs-prop+cv-knn is below random at every size, most on zh–en. See s1-table6.",
)
FIG6 = PaperTable(
    name="s1-fig6",
    title=f"{_PAPER}, Figure 6: one metric against raters and systems",
    sets=(_SCATTER.file,),
    figures=scatter_figures,
    text=scatter_text,
    picture=scatter_picture,
)
