"""What all pictures have in common: the drawing library (an extra), colours, sizes, titles and footnotes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sparingly.base.errors import ExtraMissingError, one_line
from sparingly.data.values import plain

if TYPE_CHECKING:
    from altair import InlineData, Legend, VConcatChart, Y
    from altair.typing import ChartType


WIDTH, HEIGHT = 600, 340
# Told apart by people who see colours differently (Okabe and Ito 2008); the yellow is too pale on white.
BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, GREY, BLACK = "#E69F00", "#56B4E9", "#8A8A8A", "#222222"
PALE = "#D9D9D9"
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
# Lines beyond the colours are told apart by their dashes.
DASHES = ((1, 0), (6, 3), (2, 2), (8, 3, 2, 3))
FONT = "Helvetica Neue, Helvetica, Arial, Liberation Sans, sans-serif"

_TITLE_LETTERS, _TEXT_LETTERS = 76, 128
_LABEL_PIXELS = 6
_LABEL_ROOM = 220
# Names that differ at their ends only must stay apart: what is too long is cut in the middle.
_SHORT_LABEL = (
    "length(datum.label) > 36 ? slice(datum.label, 0, 17) + '…' + slice(datum.label, -18) : datum.label"
)
_DIGITS = 6
_PACKAGES = ("altair", "vl_convert")


def framed(
    chart: ChartType, title: str, subtitle: str, foot: Iterable[str], width: int = WIDTH
) -> VConcatChart:
    """Put a title above a chart and a footnote below it, and give it the look of the house."""
    import altair as alt

    share = width / WIDTH
    chart.title = alt.Title(
        text=_wrapped(title, int(_TITLE_LETTERS * share)),
        subtitle=_wrapped(subtitle, int(_TEXT_LETTERS * share)),
        anchor="start",
        frame="bounds",
        offset=12,
    )
    notes = [line for part in foot for line in _wrapped(part, int(_TEXT_LETTERS * share))]
    note_style: dict[str, Any] = {"fontSize": 11, "fontWeight": "normal", "color": "#555555"}
    below = alt.Title(text=notes, orient="bottom", anchor="start", offset=14, **note_style)
    description = one_line(f"{title}: {subtitle}")
    framing = alt.vconcat(chart, title=below, background="#FFFFFF", padding=14, description=description)
    styled: VConcatChart = framing.configure(font=FONT, **_CONFIG)
    return styled


_CONFIG: Mapping[str, Any] = {
    # The picture is described as a whole: thousands of points with a text each help nobody.
    "aria": False,
    "axis": {
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "gridColor": "#EBEBEB",
        "domainColor": "#888888",
        "tickColor": "#888888",
        "labelColor": BLACK,
        "titleColor": BLACK,
        "labelLimit": 260,
    },
    "legend": {
        "labelFontSize": 11,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "labelColor": BLACK,
        "titleColor": BLACK,
        "labelLimit": 560,
        "titleLimit": 560,
        "symbolSize": 110,
        "symbolOpacity": 1.0,
    },
    "title": {
        "fontSize": 15,
        "fontWeight": "bold",
        "subtitleFontSize": 12,
        "subtitleColor": "#555555",
        "subtitlePadding": 5,
        "color": BLACK,
    },
    "view": {"stroke": "transparent"},
    "header": {"labelFontSize": 12, "titleFontSize": 12},
}


def inline(rows: Iterable[Mapping[str, Any]]) -> InlineData:
    """Return rows as data inside the picture, with as many digits as can be seen."""
    import altair as alt

    def short_number(value: Any) -> Any:
        return plain(float(f"{value:.{_DIGITS}g}")) if isinstance(value, float) else value

    return alt.InlineData(values=[{name: short_number(value) for name, value in row.items()} for row in rows])


def legend_below(labels: Sequence[str], *, lines: bool = True, width: int = WIDTH) -> Legend:
    """Return a legend under the chart, with as many labels in a row as there is room for."""
    import altair as alt

    longest = max((len(label) for label in labels), default=1) * _LABEL_PIXELS + 30
    columns = max(1, min(len(labels), width // longest))
    strokes: dict[str, Any] = {}
    if lines:
        strokes = {"symbolType": "stroke", "symbolStrokeWidth": 2.5, "symbolSize": 260}
    return alt.Legend(orient="bottom", direction="horizontal", columns=columns, title=None, **strokes)


def model_axis(field: str, names: Sequence[str], *, grid: bool = True) -> Y:
    """Return a vertical axis of names, in the given order."""
    import altair as alt

    axis = alt.Axis(
        labelExpr=_SHORT_LABEL, labelLimit=_LABEL_ROOM, domain=False, ticks=False, grid=grid, gridDash=[1, 3]
    )
    return alt.Y(f"{field}:N").title(None).scale(domain=list(names)).sort(list(names)).axis(axis)


def step_height(names: Sequence[str], step: int = 26) -> int:
    """Return the height of a chart that has a line for every name."""
    return max(2, len(names)) * step


def _wrapped(text: str, letters: int) -> list[str]:
    return textwrap.wrap(one_line(text), max(letters, 20)) or [""]


def need_report() -> None:
    """Raise ExtraMissingError if the libraries that draw are not installed."""
    for package in _PACKAGES:
        try:
            import_module(package)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != package:
                raise
            raise ExtraMissingError("A picture", "report") from None
