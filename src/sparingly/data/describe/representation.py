"""Whom a selection over-represents: shares by domain and length, and metric means, against the set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from sparingly.base.errors import UsageError
from sparingly.base.html import html_table
from sparingly.data import fields
from sparingly.data.describe.documents import coded
from sparingly.data.evalset import EvalSet, Floats

if TYPE_CHECKING:
    from sparingly.data.selection import Selection

Rows = NDArray[np.int64]
Codes = NDArray[np.int64]

WORDS = "words"
DOUBLING = (1, 2, 4, 8, 16, 32, 64, 128)
_QUARTERS = ("shortest quarter", "second quarter", "third quarter", "longest quarter")


@dataclass(frozen=True)
class Share:
    """How much of the set and of the selection is of one kind.

    Attributes:
        group: The kind, such as a domain or a band of lengths.
        items: Items of the set that are of it.
        selected: Selected items that are of it.
        full_share: ``items`` as a share of the set.
        selected_share: ``selected`` as a share of the selection.
        ratio: The second share over the first: above 1 is over-represented.
    """

    group: str
    items: int
    selected: int
    full_share: float
    selected_share: float
    ratio: float


@dataclass(frozen=True)
class MeanOfModel:
    """A model's mean of a metric on the full set and on the selected items; None where it has no score."""

    metric: str
    model: str
    full: float | None
    selected: float | None


@dataclass(frozen=True)
class Representation:
    """A selection against the set that it was chosen from.

    Attributes:
        n: Selected items.
        of: Items of the set.
        domains: Shares by domain.
        document_lengths: Shares of items by the length of the document that they come from (Lo and Knowles
            2023, Table 4): samples that favour short documents do not speak for long ones.
        source_lengths: Shares by quarter of the set's source lengths.
        cost: Mean cost of the set's items and of the selected ones, or None.
        means: Every metric's mean by model. Selected items may be harder or easier than the set.
    """

    n: int
    of: int
    domains: tuple[Share, ...]
    document_lengths: tuple[Share, ...]
    source_lengths: tuple[Share, ...]
    cost: tuple[float, float] | None
    means: tuple[MeanOfModel, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain values, for JSON."""
        return asdict(self)

    def _repr_html_(self) -> str:
        kinds = {
            "domain": self.domains,
            "document length": self.document_lengths,
            "source length": self.source_lengths,
        }
        rows = [
            (kind, share.group, share.full_share, share.selected_share, share.ratio)
            for kind, shares in kinds.items()
            for share in shares
        ]
        head = ("by", "group", "share of the set", "share of the selection", "ratio")
        return html_table(head, rows, f"{self.n} of {self.of} items")


def representation(
    data: EvalSet, items: Selection | Iterable[str], *, document_bands: Sequence[int] = DOUBLING
) -> Representation:
    """Compare selected items with the whole set.

    Args:
        data: The set that they were chosen from.
        items: The selection, or the ids of its items; one that is there twice counts once.
        document_bands: Where each band of document lengths begins; doubling lengths unless given
            (``(1, 10, 20, 30, 40, 50)`` are those of Lo and Knowles 2023).
    """
    if list(document_bands) != sorted(set(document_bands)):
        raise UsageError(f"Bands of document lengths must ascend, not {list(document_bands)}.")
    rows = np.unique(data.positions(_ids(items)))
    domains, names = coded(data, fields.DOMAIN)
    by_count = sorted(range(len(names)), key=lambda code: (-int((domains == code).sum()), names[code]))
    return Representation(
        n=len(rows),
        of=len(data),
        domains=_shares(domains, names, rows, by_count),
        document_lengths=_document_lengths(data, rows, document_bands),
        source_lengths=_source_lengths(data, rows),
        cost=_mean_cost(data, rows),
        means=_means(data, rows),
    )


def _ids(selected: Selection | Iterable[str]) -> Iterable[str]:
    """Return the ids of a selection; what has them as a method (a mapping) is gone through."""
    items: Any = getattr(selected, "items", None)
    return cast("Iterable[str]", selected if items is None or callable(items) else items)


def _shares(
    codes: Codes, names: Sequence[str], rows: Rows, order: Iterable[int] | None = None
) -> tuple[Share, ...]:
    """Return the shares of every group that the set has items of; items of none (-1) are left out."""
    full = np.bincount(codes[codes >= 0], minlength=len(names))
    there = codes[rows]
    chosen = np.bincount(there[there >= 0], minlength=len(names))
    return tuple(
        _share(names[code], int(full[code]), int(chosen[code]), int(full.sum()), int(chosen.sum()))
        for code in (range(len(names)) if order is None else order)
        if full[code]
    )


def _share(group: str, items: int, selected: int, of: int, n: int) -> Share:
    full_share, selected_share = items / of, selected / max(n, 1)
    return Share(group, items, selected, full_share, selected_share, selected_share / full_share)


def _document_lengths(data: EvalSet, rows: Rows, bands: Sequence[int]) -> tuple[Share, ...]:
    codes, names = coded(data, fields.DOCUMENT)
    if not names:
        return ()
    lengths = np.bincount(codes[codes >= 0], minlength=len(names))
    band = np.searchsorted(np.asarray(bands), lengths, side="right") - 1
    of_item = np.where(codes >= 0, band[codes], -1)
    return _shares(of_item, [_band_name(bands, place) for place in range(len(bands))], rows)


def _band_name(bands: Sequence[int], place: int) -> str:
    if place + 1 == len(bands):
        return f"{bands[place]} and more"
    last = bands[place + 1] - 1
    return str(last) if last == bands[place] else f"{bands[place]}-{last}"


def _source_lengths(data: EvalSet, rows: Rows) -> tuple[Share, ...]:
    """Cut the set at the quartiles of the sources' lengths: characters, or words where there is no text."""
    lengths = _lengths(data)
    known = ~np.isnan(lengths)
    if not known.any():
        return ()
    cuts = np.quantile(lengths[known], [0.25, 0.5, 0.75])
    quarter = np.where(known, np.searchsorted(cuts, np.where(known, lengths, 0.0), side="left"), -1)
    ends = [float(lengths[known].min()), *cuts.tolist(), float(lengths[known].max())]
    unit = "words" if data.sources is None else "characters"
    names = [
        f"{name} ({'up to' if place < 3 else 'over'} {ends[place + 1] if place < 3 else ends[3]:g} {unit})"
        for place, name in enumerate(_QUARTERS)
    ]
    return _shares(quarter, names, rows)


def _lengths(data: EvalSet) -> Floats:
    if data.sources is not None:
        texts: list[str | None] = data.sources.tolist()
        return np.array([np.nan if text is None else len(text) for text in texts], np.float64)
    if WORDS in data.columns and data.columns[WORDS].dtype != object:
        return np.asarray(data.columns[WORDS], np.float64)
    return np.full(len(data), np.nan)


def _mean_cost(data: EvalSet, rows: Rows) -> tuple[float, float] | None:
    if fields.COST not in data.columns:
        return None
    full, selected = data.columns[fields.COST], data.columns[fields.COST][rows]
    if np.isnan(full).all() or np.isnan(selected).all():
        return None
    return float(np.nanmean(full)), float(np.nanmean(selected))


def _means(data: EvalSet, rows: Rows) -> tuple[MeanOfModel, ...]:
    return tuple(
        MeanOfModel(metric, model, _known(full), _known(selected))
        for metric, values in data.metrics.items()
        for model, full, selected in zip(
            data.models, _mean_by_model(values), _mean_by_model(values[rows]), strict=True
        )
    )


def _mean_by_model(values: Floats) -> list[float]:
    there = ~np.isnan(values)
    count = there.sum(axis=0)
    total = np.where(there, values, 0.0).sum(axis=0)
    means: list[float] = np.where(count > 0, total / np.maximum(count, 1), np.nan).tolist()
    return means


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value
