"""The principal components of standardised columns, and their squares and products.

People's scores are seldom a straight line in a metric: error scores pile up at zero. A parabola in the few
directions in which the metrics differ most takes up most of that bend, with few coefficients to learn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from sparingly.base.arrays import Floats

# Components beyond so many standard deviations are cut, else one odd cell would rule a square.
_FAR = 4.0
_NOTHING = 1e-9
Blocks = Callable[[], Iterable[Floats]]


@dataclass(frozen=True, eq=False)
class Components:
    """Axes of unit variance in the space of the columns, and the moments of the products of components.

    Attributes:
        centre: The means of the columns.
        axes: Columns x components.
        squared: Of how many components there are squares and products.
        means: Of the products.
        spreads: The standard deviations of the products.
    """

    centre: Floats
    axes: Floats
    squared: int
    means: Floats
    spreads: Floats

    @property
    def product_names(self) -> tuple[str, ...]:
        """The names of the squares and products."""
        first, second = np.triu_indices(self.squared)
        pairs = zip(first.tolist(), second.tolist(), strict=True)
        return tuple(f"component {one + 1} x {other + 1}" for one, other in pairs)

    def of(self, base: Floats) -> Floats:
        """Return the components of cells, ... x components."""
        return np.clip((base - self.centre) @ self.axes, -_FAR, _FAR)

    def products(self, found: Floats) -> Floats:
        """Return the standardised squares and products of components."""
        return (_products(found, self.squared) - self.means) / self.spreads


def principal_components(
    centre: Floats, covariance: Floats, blocks: Blocks, squared: int, count: int
) -> Components:
    """Return the first components of columns with these moments; ``blocks`` yields the columns' cells."""
    energy, vectors = np.linalg.eigh(covariance)
    best = np.argsort(-energy, kind="stable")[:count]
    best = best[energy[best] > _NOTHING * energy[best[0]]]
    axes = vectors[:, best] / np.sqrt(energy[best])
    squared = min(squared, len(best))
    nothing = Components(centre, axes, squared, np.zeros(0), np.ones(0))
    if not squared:
        return nothing
    total = squares = np.zeros(squared * (squared + 1) // 2)
    cells = 0
    for block in blocks():
        found = _products(nothing.of(block), squared).reshape(-1, len(total))
        total, squares = total + found.sum(axis=0), squares + (found**2).sum(axis=0)
        cells += len(found)
    means = total / cells
    spreads = np.sqrt(np.maximum(squares / cells - means**2, _NOTHING))
    return Components(centre, axes, squared, means, spreads)


def _products(found: Floats, squared: int) -> Floats:
    first, second = np.triu_indices(squared)
    return np.asarray(found[..., first] * found[..., second])
