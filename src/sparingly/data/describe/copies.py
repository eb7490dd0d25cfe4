"""Metrics that are copies of each other: equal, rescaled, or turned round.

A copy adds a name and no information; mixing it with its twin counts one opinion twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.data.describe.correlations import blocks

_SAME = 1e-9


@dataclass(frozen=True)
class Copy:
    """A metric that repeats an earlier one.

    Attributes:
        metric: The copy.
        of: The metric that it repeats, the first of them in the order of the data.
        kind: ``equal``, ``rescaled`` (a·x + b, a > 0) or ``negated`` (a < 0).
    """

    metric: str
    of: str
    kind: Literal["equal", "rescaled", "negated"]


def copies(metrics: Mapping[str, Floats]) -> tuple[Copy, ...]:
    """Return the metrics that repeat another one, missing cells included; constant ones are left out."""
    groups: dict[bytes, list[str]] = {}
    for name, values in metrics.items():
        mask = hashlib.blake2b(np.packbits(np.isnan(values)).tobytes()).digest()
        if _spread(values) > 0:
            groups.setdefault(mask, []).append(name)
    found = [copy for names in groups.values() if len(names) > 1 for copy in _copies_among(names, metrics)]
    order = {name: place for place, name in enumerate(metrics)}
    return tuple(sorted(found, key=lambda copy: order[copy.metric]))


def _copies_among(names: list[str], metrics: Mapping[str, Floats]) -> list[Copy]:
    """Find copies among metrics that miss the same cells, by their correlation, and then cell by cell."""
    likely = np.triu(np.abs(_correlations([metrics[name] for name in names])) > 1 - _SAME, 1)
    found: dict[str, Copy] = {}
    for first, second in zip(*np.nonzero(likely), strict=True):
        one, other = names[first], names[second]
        if one in found or other in found:
            continue
        kind = _kind(metrics[one], metrics[other])
        if kind is not None:
            found[other] = Copy(other, one, kind)
    return list(found.values())


def _correlations(matrices: list[Floats]) -> Floats:
    middles = [float(np.nanmean(values)) for values in matrices]
    spreads = [_spread(values) for values in matrices]
    product = np.zeros((len(matrices), len(matrices)))
    for rows in blocks(matrices[0].shape):
        block = np.stack(
            [
                np.nan_to_num((values[rows] - middle) / spread).ravel()
                for values, middle, spread in zip(matrices, middles, spreads, strict=True)
            ]
        )
        product += block @ block.T
    scale = np.sqrt(np.diag(product))
    return np.asarray(product / np.outer(scale, scale))


def _kind(one: Floats, other: Floats) -> Literal["equal", "rescaled", "negated"] | None:
    if np.array_equal(one, other, equal_nan=True):
        return "equal"
    low, high = _two_cells(one)
    start, step = other.flat[low], other.flat[high] - other.flat[low]
    line = start + step * ((one - one.flat[low]) / (one.flat[high] - one.flat[low]))
    allowed = 1e-6 * (np.abs(other - start) + abs(step))
    if step == 0 or (np.abs(other - line) > allowed).any():
        return None
    return "rescaled" if step > 0 else "negated"


def _two_cells(values: Floats) -> tuple[int, int]:
    """Return two cells to lay a line through: the quartiles, which a single huge score cannot move."""
    order = np.argsort(values, axis=None)[: int((~np.isnan(values)).sum())]
    low, high = int(order[len(order) // 4]), int(order[3 * len(order) // 4])
    if values.flat[low] == values.flat[high]:
        return int(order[0]), int(order[-1])
    return low, high


def _spread(values: Floats) -> float:
    return float(np.nanmax(values) - np.nanmin(values)) if not np.isnan(values).all() else 0.0
