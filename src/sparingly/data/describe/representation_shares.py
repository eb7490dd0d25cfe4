"""Shares of a set and of a selection: by domain, by length of document or source, by quarter of a number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.data import fields
from sparingly.data.describe.documents import coded
from sparingly.data.evalset import EvalSet

WORDS = "words"
LENGTHS = ("shortest quarter", "second quarter", "third quarter", "longest quarter")
SCORES = ("lowest quarter", "second quarter", "third quarter", "highest quarter")


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


def shares(
    codes: Ints, names: Sequence[str], rows: Ints, order: Iterable[int] | None = None
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


def domain_shares(data: EvalSet, rows: Ints) -> tuple[Share, ...]:
    """Return the shares by domain, the largest first."""
    codes, names = coded(data, fields.DOMAIN)
    counts = np.bincount(codes[codes >= 0], minlength=len(names))
    return shares(
        codes, names, rows, sorted(range(len(names)), key=lambda code: (-counts[code], names[code]))
    )


def document_length_shares(data: EvalSet, rows: Ints, bands: Sequence[int]) -> tuple[Share, ...]:
    """Return the shares by the length of the document that items come from."""
    codes, names = coded(data, fields.DOCUMENT)
    if not names:
        return ()
    lengths = np.bincount(codes[codes >= 0], minlength=len(names))
    band = np.searchsorted(np.asarray(bands), lengths, side="right") - 1
    of_item = np.where(codes >= 0, band[codes], -1)
    return shares(of_item, [_band_name(bands, place) for place in range(len(bands))], rows)


def _band_name(bands: Sequence[int], place: int) -> str:
    if place + 1 == len(bands):
        return f"{bands[place]} and more"
    last = bands[place + 1] - 1
    return str(last) if last == bands[place] else f"{bands[place]}-{last}"


def source_length_shares(data: EvalSet, rows: Ints) -> tuple[Share, ...]:
    """Return the shares by source length: of characters, or of words where there is no text."""
    unit = " words" if data.sources is None else " characters"
    return quarter_shares(_lengths(data), rows, LENGTHS, unit)


def quarter_shares(
    values: Floats, rows: Ints, names: Sequence[str], unit: str = "", digits: int = 6
) -> tuple[Share, ...]:
    """Cut the set at the quartiles of a number per item; items without one (NaN) are left out."""
    known = ~np.isnan(values)
    if not known.any():
        return ()
    cuts = np.quantile(values[known], [0.25, 0.5, 0.75])
    quarter = np.where(known, np.searchsorted(cuts, np.where(known, values, 0.0), side="left"), -1)
    shown = [f"{cut:.{digits}g}{unit}" for cut in cuts]
    ends = [*(f"up to {cut}" for cut in shown), f"over {shown[-1]}"]
    return shares(quarter, [f"{name} ({end})" for name, end in zip(names, ends, strict=True)], rows)


def _lengths(data: EvalSet) -> Floats:
    if data.sources is not None:
        texts: list[str | None] = data.sources.tolist()
        return np.array([np.nan if text is None else len(text) for text in texts], np.float64)
    if WORDS in data.columns and data.columns[WORDS].dtype != object:
        return np.asarray(data.columns[WORDS], np.float64)
    return np.full(len(data), np.nan)
