"""How far apart the outputs of the chosen items are, against those of all items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.analyses.base import Analysis, left_out_note, name_list
from benchmarks.analyses.pairs import Pair, of_pair, outputs_of
from sparingly.base.arrays import Floats
from sparingly.base.errors import UsageError
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.show.figures.look import COLOURS, GREY, HEIGHT, PALE, WIDTH, framed, inline, legend_below

if TYPE_CHECKING:
    from altair import VConcatChart

ALL = "all items"
_FEWEST_BINS, _MOST_BINS = 8, 30
Chosen = Selection | Sequence[str]


@dataclass(frozen=True)
class NormGroup:
    """The norms of some items.

    Attributes:
        name: Which items: all of them, or a selection.
        items: How many.
        mean: The mean norm.
        median: The median.
        shares: The share of the items in every bin.
    """

    name: str
    items: int
    mean: float
    median: float
    shares: tuple[float, ...]


@dataclass(frozen=True, repr=False)
class ChosenNorms(Analysis):
    """Norms of the difference vectors of chosen items beside those of all items.

    Attributes:
        models: The models whose outputs are compared.
        embedding: What the outputs were embedded by.
        edges: The edges of the bins.
        groups: All items first, then the selections.
    """

    models: tuple[str, ...]
    embedding: str
    edges: tuple[float, ...]
    groups: tuple[NormGroup, ...]

    def __str__(self) -> str:
        """Return the mean norms in one line."""
        return "mean norm: " + ", ".join(f"{group.mean:.3f} of {group.name}" for group in self.groups)

    def table(self) -> dict[str, list[Any]]:
        """Return a row for every group and bin."""
        rows = [
            (group.name, *bin)
            for group in self.groups
            for bin in zip(self.edges[:-1], self.edges[1:], group.shares, strict=True)
        ]
        columns = zip(*rows, strict=True)
        return dict(zip(("group", "low", "high", "share"), map(list, columns), strict=True))

    def picture(self) -> VConcatChart:
        """Return the picture."""
        return draw_norms(self)


def chosen_norms(
    data: EvalSet,
    chosen: Chosen | Mapping[str, Chosen],
    *,
    pair: Pair | None = None,
    embedding: str = "tfidf",
    bins: int | None = None,
) -> ChosenNorms:
    """Compare how far apart the outputs are for chosen items and for all items.

    The norm of an item is ‖e_A − e_B‖ for a pair of models and √(mean over pairs of ‖e_j − e_k‖²) otherwise
    (Ashury Tahan et al. 2024, Fig. 9). A selection whose norms are well above those of all items shows people
    mostly outputs that differ much: it finds winners sooner, and exaggerates their lead.

    Args:
        data: The evaluation set.
        chosen: A selection or the ids of its items; or several of them by name.
        pair: Two models; all of them unless given.
        embedding: What the outputs are embedded by, as in ``diffuse``.
        bins: The number of bins between the smallest and the largest norm.

    Examples:
        >>> import sparingly
        >>> from sparingly.data.synthetic import load_invented
        >>> data = load_invented()
        >>> chosen = sparingly.select(data, "max_norm", 24)
        >>> chosen_norms(data, chosen)
        ChosenNorms(mean norm: 0.505 of all items, 0.848 of max_norm)
    """
    view = of_pair(data, pair)
    norms = outputs_of(view, embedding).mean_norms()
    there = ~np.isnan(norms)
    groups = {ALL: norms[there], **_norms_of_chosen(data, chosen, norms)}
    if bins is not None and bins < 1:
        raise UsageError(f"A histogram needs at least one bin, not {bins}.")
    edges = _edges(norms[there], bins or _usual_bins(min(map(len, groups.values()))))
    return ChosenNorms(
        notes=left_out_note(
            int((~there).sum()), len(there), "items, which have no outputs of two of the models"
        ),
        models=view.models,
        embedding=embedding,
        edges=tuple(edges.tolist()),
        groups=tuple(_group(name, values, edges) for name, values in groups.items()),
    )


def _norms_of_chosen(
    data: EvalSet, chosen: Chosen | Mapping[str, Chosen], norms: Floats
) -> dict[str, Floats]:
    selections = chosen if isinstance(chosen, Mapping) else {_name_of(chosen): chosen}
    if not selections:
        raise UsageError("Norms of chosen items need at least one selection.")
    found = {}
    for name, one in selections.items():
        if name == ALL:
            raise UsageError(f'A selection cannot be named "{ALL}": give it another name.')
        ids = list(one.items if isinstance(one, Selection) else one)
        values = norms[data.positions(ids)]
        found[name] = values[~np.isnan(values)]
        if not len(found[name]):
            raise UsageError(f"No item of {name} has outputs of two of the models.")
    return found


def _name_of(chosen: Chosen) -> str:
    from sparingly.base.registry import parse_method

    return str(parse_method(chosen.signature.method)) if isinstance(chosen, Selection) else "chosen items"


def _usual_bins(items: int) -> int:
    """Return as many bins as the square root of the smallest group, so that none is all noise."""
    return int(np.clip(round(items**0.5), _FEWEST_BINS, _MOST_BINS))


def _edges(values: Floats, bins: int) -> Floats:
    low, high = float(values.min()), float(values.max())
    return np.linspace(low, high if high > low else low + 1.0, bins + 1)


def _group(name: str, values: Floats, edges: Floats) -> NormGroup:
    counts, _ = np.histogram(values, edges)
    shares = tuple((counts / len(values)).tolist())
    return NormGroup(name, len(values), float(values.mean()), float(np.median(values)), shares)


# --- the picture -----------------------------------------------------------------------------------------


NORM = "norm of the difference between outputs (0 the same, embeddings of length 1)"


def draw_norms(norms: ChosenNorms) -> VConcatChart:
    """Draw all items as bars, every selection as a stepped line, and their means as dashed lines."""
    import altair as alt

    labels = [_label(group) for group in norms.groups]
    colours = [GREY, *(COLOURS[place % len(COLOURS)] for place in range(len(labels) - 1))]
    scale = alt.Scale(domain=labels, range=colours)
    colour = alt.Color("group:N").scale(scale).legend(legend_below(labels))
    bars = (
        alt.Chart(inline(_bins(norms, norms.groups[0])))
        .mark_bar(binSpacing=1, fill=PALE)
        .encode(
            x=alt.X("low:Q").bin("binned").title(NORM).scale(zero=False, nice=False),
            x2="high:Q",
            y=alt.Y("share:Q").title("share of the items").axis(format=".0%"),
            tooltip=_tooltips(),
        )
    )
    steps = [row for group in norms.groups[1:] for row in _steps(norms, group)]
    lines = (
        alt.Chart(inline(steps))
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(x="low:Q", y="share:Q", color=colour)
    )
    means = (
        alt.Chart(inline({"group": _label(group), "mean": group.mean} for group in norms.groups))
        .mark_rule(strokeDash=[5, 4], strokeWidth=1.5)
        .encode(x="mean:Q", color=colour, tooltip=["group:N", alt.Tooltip("mean:Q", format=".3f")])
    )
    chart = alt.layer(bars, lines, means).properties(width=WIDTH, height=HEIGHT)
    what = "of a pair of models" if len(norms.models) == 2 else "root mean square over pairs of models"
    return framed(
        chart,
        "How far apart the outputs of the chosen items are",
        f"{name_list(norms.models)}; dashed: means",
        [
            f"Norm of the difference of embeddings ({norms.embedding}), {what}. "
            f"n: {'; '.join(f'{group.name} {group.items}' for group in norms.groups)}.",
            *norms.notes,
        ],
    )


def _label(group: NormGroup) -> str:
    return f"{group.name} (mean {group.mean:.2f})"


def _tooltips() -> list[object]:
    import altair as alt

    return [
        alt.Tooltip("low:Q", format=".3f"),
        alt.Tooltip("high:Q", format=".3f"),
        alt.Tooltip("share:Q", format=".1%"),
    ]


def _bins(norms: ChosenNorms, group: NormGroup) -> list[dict[str, float]]:
    edges = zip(norms.edges[:-1], norms.edges[1:], group.shares, strict=True)
    return [{"low": low, "high": high, "share": share} for low, high, share in edges]


def _steps(norms: ChosenNorms, group: NormGroup) -> list[dict[str, object]]:
    """Return the outline of a histogram: up from 0 at the first edge, down to 0 at the last."""
    outline = [(norms.edges[0], 0.0), *zip(norms.edges, (*group.shares, 0.0), strict=True)]
    return [{"group": _label(group), "low": low, "share": share} for low, share in outline]
