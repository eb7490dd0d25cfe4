"""The difference vectors of two models on a plane: where they differ, whom people prefer, what was chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import cos, pi, sin
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from benchmarks.analyses.base import Analysis, columns_of, left_out_note, name_list, thinned, thinning_note
from benchmarks.analyses.pairs import Pair, item_preferences, of_pair, outputs_of, the_pair
from sparingly.base.arrays import Floats, Ints, Mask, Objects
from sparingly.base.format import counted
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.show.figures.look import BLACK, BLUE, GREY, PALE, VERMILION, framed, inline, legend_below
from sparingly.signals.embed.texts import unit_rows

if TYPE_CHECKING:
    from altair import Chart, VConcatChart

Preference = Literal["first", "second", "tie"]
MOST_POINTS = 2000
_LACKING = "items, which one of the two models has not"


@dataclass(frozen=True)
class MapPoint:
    """An item on the map.

    Attributes:
        item: The item.
        x: Where it lies from left to right.
        y: Where it lies from bottom to top.
        norm: The norm of its difference vector.
        preference: Whom people prefer on it; None where nobody judged.
        chosen: Whether it was chosen.
        weight: For how many items it stands, where the selection says so.
    """

    item: str
    x: float
    y: float
    norm: float
    preference: Preference | None
    chosen: bool
    weight: float | None


@dataclass(frozen=True, repr=False)
class DifferenceMap(Analysis):
    """The difference vectors of two models in two dimensions.

    Attributes:
        first: One model.
        second: The other.
        by: What the preferences are by; None where there are none.
        embedding: What the outputs were embedded by.
        explained: The share of the (squared) directions that the angles show.
        items: The number of items that have an output of both.
        chosen: How many of them were chosen.
        weighted: Whether chosen items say for how many they stand.
        points: The items (those that are shown).
    """

    first: str
    second: str
    by: str | None
    embedding: str
    explained: float
    items: int
    chosen: int
    weighted: bool
    points: tuple[MapPoint, ...]

    def __str__(self) -> str:
        """Return the map in one line."""
        return (
            f"{self.first} against {self.second}: {self.items} items, {self.chosen} chosen, "
            f"angles show {self.explained:.0%} of the directions"
        )

    def table(self) -> dict[str, list[Any]]:
        """Return a row for every point."""
        return columns_of(MapPoint, self.points)

    def picture(self) -> VConcatChart:
        """Return the picture."""
        return draw_map(self)


def difference_map(
    data: EvalSet,
    pair: Pair | None = None,
    chosen: Selection | Sequence[str] | None = None,
    *,
    truth: str | None = None,
    aspect: str | None = None,
    tie: float = 0.0,
    embedding: str = "tfidf",
    most: int | None = MOST_POINTS,
    seed: int = 0,
) -> DifferenceMap:
    """Lay the difference vectors of two models on a plane (Ashury Tahan et al. 2024, Fig. 7).

    An item lies as far from the origin as its outputs are apart, ‖d_i‖, which is exact; its angle, that of
    d_i/‖d_i‖ on the two main axes of all directions, shows a part of them only. Look whether one model is
    preferred further out or on one side, and whether the chosen items cover the middle as well as the rim.

    Args:
        data: The evaluation set.
        pair: Two models; not needed where there are only two.
        chosen: A selection, or ids of items, to mark. Cluster weights are kept.
        truth: Scores to turn into preferences: the higher one wins. By default the set's own, if it has any.
        aspect: Which of the set's own preferences, where they are about several aspects.
        tie: With a truth: two scores that differ by no more are a tie.
        embedding: What the outputs are embedded by, as in ``diffuse``.
        most: How many items are kept in the result, drawn at random beside all chosen ones; None for all.
        seed: Settles what is drawn.

    Examples:
        >>> import sparingly
        >>> from sparingly.data.synthetic import load_invented
        >>> data = load_invented()
        >>> difference_map(data, ("Juniper", "Rowan"), truth="overall")
        DifferenceMap(Juniper against Rowan: 240 items, 0 chosen, angles show 4% of the directions)
    """
    first, second = the_pair(data, pair)
    view = of_pair(data, (first, second))
    outputs = outputs_of(view, embedding)
    two = view.models.index(first), view.models.index(second)
    rows = outputs.rows(*two)
    by, votes = _votes(view, two, truth, aspect, tie)
    marked, weights = _marked(view, chosen)
    places, norms, explained = _polar(outputs.differences(*two))
    shown = thinned(view.keys[rows], most, seed, keep=marked[rows])
    thin, at = thinning_note(len(shown), len(rows), "items"), rows[shown]
    return DifferenceMap(
        notes=(*left_out_note(len(view) - len(rows), len(view), _LACKING), *thin),
        first=first,
        second=second,
        by=by,
        embedding=embedding,
        explained=explained,
        items=len(rows),
        chosen=int(marked[rows].sum()),
        weighted=not np.isnan(weights).all(),
        points=_points(view.items[at], places[shown], norms[shown], votes[at], marked[at], weights[at]),
    )


def _points(
    items: Objects, places: Floats, norms: Floats, votes: Floats, marked: Mask, weights: Floats
) -> tuple[MapPoint, ...]:
    stands_for = (None if np.isnan(weight) else weight for weight in weights.tolist())
    preferences = map(_preference, votes.tolist())
    columns = (items, *places.T, norms)
    rows = zip(
        *(column.tolist() for column in columns), preferences, marked.tolist(), stands_for, strict=True
    )
    return tuple(MapPoint(*row) for row in rows)


def _votes(
    data: EvalSet, places: tuple[int, int], truth: str | None, aspect: str | None, tie: float
) -> tuple[str | None, Floats]:
    """Return whom people prefer on every item; nobody, where no truth is named and none was asked."""
    if truth is None and aspect is None and not len(data.preferences):
        return None, np.full(len(data), np.nan)
    preferences = item_preferences(data, truth, aspect, tie)
    return preferences.by, preferences.between(*places)


def _preference(vote: float) -> Preference | None:
    if np.isnan(vote):
        return None
    return "tie" if vote == 0.0 else "first" if vote > 0.0 else "second"


def _polar(vectors: Floats) -> tuple[Floats, Floats, float]:
    """Return a place for every vector, as far from the origin as it is long, the norms, and what angles show.

    The angle is that of its direction on the plane that keeps most of all directions (singular vectors of
    their matrix, not centred: the origin is no difference). An axis points to where its farthest item lies,
    so that no sign is left to chance.
    """
    directions = unit_rows(vectors)
    lengths, axes = np.linalg.eigh(directions.T @ directions)
    places = np.zeros((len(vectors), 2))
    kept = min(2, len(lengths))
    places[:, :kept] = directions @ axes[:, ::-1][:, :kept]
    farthest = places[np.abs(np.round(places, 9)).argmax(axis=0), [0, 1]]
    places *= np.where(farthest < 0.0, -1.0, 1.0)
    shown = float(lengths[::-1][:kept].sum() / max(lengths.sum(), np.finfo(float).tiny))
    norms = np.linalg.norm(vectors, axis=1)
    return unit_rows(places) * norms[:, None], norms, shown


def _marked(data: EvalSet, chosen: Selection | Sequence[str] | None) -> tuple[Mask, Floats]:
    """Return which items are chosen and for how many each of them stands (NaN where it does not say)."""
    marked, weights = np.zeros(len(data), np.bool_), np.full(len(data), np.nan)
    if chosen is None:
        return marked, weights
    rows: Ints = data.positions(list(chosen.items if isinstance(chosen, Selection) else chosen))
    marked[rows] = True
    if isinstance(chosen, Selection) and chosen.cluster_weight is not None:
        weights[rows] = chosen.cluster_weight
    return marked, weights


# --- the picture -----------------------------------------------------------------------------------------


_SIDE, _WIDE = 460, 540
_COLOURS: Mapping[str | None, str] = MappingProxyType(
    {"first": BLUE, "second": VERMILION, "tie": GREY, None: PALE}
)
# Distances between the circles, the number of corners that one is drawn with, and the angle between two.
_STEPS = (0.05, 0.1, 0.25, 0.5)
_MOST_CIRCLES = 6
_TURNS = 90
_TURN = 2.0 * pi / _TURNS
_SAME = 1e-9


def draw_map(plane: DifferenceMap) -> VConcatChart:
    """Draw every item as a point, coloured by preference; chosen ones have a ring, sized by their weight."""
    import altair as alt

    labels = _labels(plane)
    used = [key for key in labels if any(point.preference == key for point in plane.points)]
    names = [labels[key] for key in used]
    reach = 1.06 * max(max(point.norm for point in plane.points), _STEPS[0])
    scale = alt.Scale(domain=[-reach, reach], nice=False)
    at: dict[str, Any] = {
        "x": alt.X("x:Q").axis(None).scale(scale),
        "y": alt.Y("y:Q").axis(None).scale(scale),
    }
    base = alt.Chart(inline(_row(point, labels) for point in plane.points)).encode(
        **at,
        tooltip=["item:N", "preference:N", alt.Tooltip("norm:Q", format=".3f")],
    )
    points = base.mark_circle(size=38, opacity=0.65).encode(
        color=alt.Color("preference:N")
        .scale(domain=names, range=[_COLOURS[key] for key in used])
        .legend(legend_below(names, lines=False, width=_WIDE))
    )
    circles, *distances = _guides(reach, at)
    layers = [circles, points, *([_rings(base, plane)] if plane.chosen else []), *distances]
    chart = alt.layer(*layers).properties(width=_SIDE, height=_SIDE)
    ringed = f"; ringed: {plane.chosen} chosen" if plane.chosen else ""
    by = f", coloured by {plane.by}" if plane.by else ""
    same = sum(point.norm < _SAME for point in plane.points)
    return framed(
        chart,
        f"{name_list((plane.first, plane.second))}: where their outputs differ",
        f"a point is an item{by}; further out they differ more{ringed}",
        [
            f"{counted(plane.items, 'item')}; circles: norm of the difference of embeddings "
            f"({plane.embedding}). The distance from the middle is exact; the angle shows "
            f"{plane.explained:.0%} of the directions.",
            *([f"In the middle: {counted(same, 'item')} with the same output from both."] if same else []),
            *plane.notes,
        ],
        width=_WIDE,
    )


def _guides(reach: float, at: Mapping[str, Any]) -> list[Chart]:
    """Return circles at round distances from the middle, with their distances."""
    import altair as alt

    step = next((step for step in _STEPS if reach / step <= _MOST_CIRCLES), _STEPS[-1])
    radii = [step * place for place in range(1, int(reach / step) + 1)]
    circles = [
        {"radius": radius, "turn": turn, "x": radius * cos(turn * _TURN), "y": radius * sin(turn * _TURN)}
        for radius in radii
        for turn in range(_TURNS + 1)
    ]
    lines = (
        alt.Chart(inline(circles))
        .mark_line(color="#DDDDDD", strokeWidth=1)
        .encode(**at, detail="radius:N", order="turn:Q")
    )
    texts = alt.Chart(inline({"x": 0.0, "y": radius, "text": f"{radius:g}"} for radius in radii))
    # White below, so that a distance can be read among points.
    halo, text = (
        texts.mark_text(fontSize=10, baseline="bottom", dy=-1, **look).encode(**at, text="text:N")
        for look in ({"stroke": "white", "strokeWidth": 3}, {"color": "#555555"})
    )
    return [lines, halo, text]


def _rings(base: Chart, plane: DifferenceMap) -> Chart:
    import altair as alt

    rings: Chart = base.transform_filter(alt.datum.chosen).mark_point(
        filled=False, color=BLACK, strokeWidth=1.4
    )
    if not plane.weighted:
        return rings.encode(size=alt.value(90))
    heaviest = max(point.weight or 0.0 for point in plane.points)
    return rings.encode(
        size=alt.Size("stands for:Q")
        .scale(domain=[1.0, max(heaviest, 2.0)], range=[60, 900])
        .legend(orient="right", title=["items that a", "chosen one", "stands for"], tickCount=4)
    )


def _labels(plane: DifferenceMap) -> dict[str | None, str]:
    return {
        "first": f"preferred: {plane.first}",
        "second": f"preferred: {plane.second}",
        "tie": "tie",
        None: "not judged",
    }


def _row(point: MapPoint, labels: dict[str | None, str]) -> dict[str, Any]:
    row: dict[str, Any] = {"item": point.item, "x": point.x, "y": point.y, "norm": point.norm}
    row |= {"preference": labels[point.preference], "chosen": point.chosen}
    return row if point.weight is None else {**row, "stands for": point.weight}
