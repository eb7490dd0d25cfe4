"""The cube method: draws whose weighted totals match those of the whole set."""

from __future__ import annotations

import numpy as np

from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.choose.design.draw.chances import settled, step, undecided
from sparingly.choose.design.draw.pivotal import draw_pivotal

_BLOCK_CELLS = 1 << 20
_RIDGE = 1e-11
_NONE = 1e-5
_DEPENDENT = 1e-8


def draw_cube(
    chances: Floats, variables: Floats, generator: np.random.Generator, costs: Floats | None = None
) -> Mask:
    """Take units such that Σ_S x_i/π_i = Σ_all x_i for every variable, as nearly as whole units allow.

    *Flight*: probabilities walk at random in the null space of A = (x_i/π_i), p + 1 units at a time, until
    no more than p are undecided (Deville and Tillé 2004; p + 1 at a time as Chauvet and Tillé 2006).
    *Landing*: variables are given up one by one, the last first, and what is left is settled by meetings.
    The number of units is always matched; with ``costs`` so is the cost, up to the difference of two costs.
    ``variables`` are units × variables, those that matter most first.
    """
    values = settled(chances)
    active = generator.permutation(undecided(values))
    kept = 1 if costs is None else 2
    if len(active):
        rows = _conditions(values[active], variables[active], None if costs is None else costs[active])
        inside = values[active]
        left = _flight(inside, rows, np.arange(len(active)), generator)
        left = _landing(inside, rows, left, kept, generator)
        order = None if costs is None else np.argsort(-costs[active[left]], kind="stable")
        settled_now = inside == 1.0
        settled_now[left] = draw_pivotal(inside[left], generator, order)
        values[active] = settled_now
    return np.asarray(values == 1.0)


def _conditions(chances: Floats, variables: Floats, costs: Floats | None) -> Floats:
    """Return x_i/π_i, units × conditions: the number, the cost, the variables; dependent ones left out."""
    parts = [np.ones((len(chances), 1))]
    parts += [] if costs is None else [costs[:, None]]
    rows = np.column_stack([*parts, variables / chances[:, None]])
    size = np.sqrt((rows**2).mean(axis=0))
    rows = np.asarray(rows[:, size > 0] / size[size > 0])
    if len(rows) <= rows.shape[1]:
        return rows
    pivots = np.abs(np.diag(np.linalg.qr(rows, mode="r"))) / np.sqrt(len(rows))
    return np.ascontiguousarray(rows[:, pivots > _DEPENDENT])


def _flight(values: Floats, rows: Floats, pool: Ints, generator: np.random.Generator) -> Ints:
    """Walk in groups of p + 1 units until p are left, and return these."""
    group = rows.shape[1] + 1
    block = max(1, _BLOCK_CELLS // group**2)
    while len(pool) >= group:
        groups = pool[: len(pool) // group * group].reshape(-1, group)
        for start in range(0, len(groups), block):
            some = groups[start : start + block]
            directions = null_directions(rows[some], generator)[0]
            step(values, some, directions, generator.random(len(some)))
        pool = pool[(values[pool] > 0.0) & (values[pool] < 1.0)]
    return pool


def _landing(values: Floats, rows: Floats, pool: Ints, kept: int, generator: np.random.Generator) -> Ints:
    """Go on with fewer and fewer conditions, the first ``kept`` of them to the end."""
    for count in range(rows.shape[1], min(kept, rows.shape[1]) - 1, -1):
        while len(pool) > 1:
            directions, share = null_directions(rows[None, pool, :count], generator)
            if share[0] < _NONE:
                break
            step(values, pool[None], directions, generator.random(1))
            pool = pool[(values[pool] > 0.0) & (values[pool] < 1.0)]
    return pool


def null_directions(rows: Floats, generator: np.random.Generator) -> tuple[Floats, Floats]:
    """Return for every group a random direction in which no condition changes, of length 1.

    ``rows`` are groups × units × conditions. A normal vector is projected onto the null space,
    u = g − A(AᵀA)⁺Aᵀg, and once more for its last digits. The projection does not depend on the choice of
    a basis, so it is the same on every machine. Its length as a share of g's is returned too: next to 0
    where the null space is empty.
    """
    drawn = generator.normal(size=rows.shape[:2])
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    gram = rows.swapaxes(1, 2) @ rows
    conditions = gram.shape[1]
    # A ridge far below what is told apart makes dependent conditions harmless.
    ridge = _RIDGE * np.trace(gram, axis1=1, axis2=2) / conditions + np.finfo(np.float64).tiny
    gram[:, np.arange(conditions), np.arange(conditions)] += ridge[:, None]
    once = _projected(drawn, rows, gram)
    share = np.linalg.norm(once, axis=1)
    twice = _projected(once / np.maximum(share, np.finfo(np.float64).tiny)[:, None], rows, gram)
    return twice, share


def _projected(vectors: Floats, rows: Floats, gram: Floats) -> Floats:
    along = rows.swapaxes(1, 2) @ vectors[:, :, None]
    return np.asarray(vectors - (rows @ np.linalg.solve(gram, along))[:, :, 0])
