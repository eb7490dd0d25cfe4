"""Draws from a pool: the top of the list, or a probability sample along the order of hashes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UsageError
from sparingly.choose.design import knapsack
from sparingly.choose.design.draw.chances import settled
from sparingly.choose.design.draw.pivotal import draw_pivotal
from sparingly.choose.design.draw.systematic import draw_systematic
from sparingly.choose.design.probability import affordable_probabilities, inclusion_probabilities, sizes_of
from sparingly.choose.pool.frame import Frame

DesignName = Literal["top", "uniform", "pivotal", "systematic"]
OrderName = Literal["random", "utility", "length"]


@dataclass(frozen=True)
class Design:
    """How sources are drawn.

    Attributes:
        name: ``top`` takes the best by utility and has no inclusion probabilities. ``uniform`` gives every
            source the same one, ``pivotal`` and ``systematic`` a share τ of it by utility.
        tau: The share of the probabilities that goes by utility.
        order: What the list of ``systematic`` is sorted by.
        seed: Settles ties and draws.
        spread: Whether the list goes from leaf to leaf of a tree of clusters, and is in a leaf by hash.
    """

    name: DesignName
    tau: float = 0.5
    order: OrderName = "random"
    seed: int = 0
    spread: bool = False

    def __post_init__(self) -> None:
        if self.spread and (self.name == "top" or self.order != "random"):
            raise UsageError("A spread draw is uniform, pivotal or systematic, along a list of its own.")
        if self.order != "random" and self.name != "systematic":
            raise UsageError(f"Only systematic draws go along a sorted list: leave out order={self.order}.")

    @property
    def words(self) -> str:
        """The reason of a row."""
        said = {"top": "among the best by utility", "uniform": "drawn, all alike"}
        words = said.get(self.name, f"drawn by utility, {self.name}")
        return f"{words}, spread out" if self.spread else words

    @property
    def share(self) -> float:
        """The share of the probabilities that goes by utility."""
        return 0.0 if self.name == "uniform" else self.tau


def hash_order(frame: Frame, seed: int) -> Ints:
    """Return the order of sources by a hash of the seed and their ids."""
    return np.argsort(rng.stream(frame.key, seed, "pool"), kind="stable")


def drawn(
    frame: Frame, design: Design, count: float, costs: Floats | None, group: str
) -> tuple[Ints, Floats | None]:
    """Draw from the sources of a group; return them in their order and their inclusion probabilities.

    Args:
        frame: The sources of the group.
        design: How to draw.
        count: How many sources; with ``costs``, what they may cost.
        costs: What every source costs, where the budget is one of costs.
        group: The group's name, of which the draw depends.
    """
    if design.name == "top":
        return _top(frame, design.seed, count, costs), None
    chances = settled(_chances(frame, design, count, costs))
    generator = rng.generator(design.seed, "pool", design.name, group)
    order = _list(frame, design, costs)
    draw = draw_systematic if design.name == "systematic" else draw_pivotal
    taken = draw(chances, generator, order)
    rows = hash_order(frame, design.seed)
    rows = rows[taken[rows]]
    return rows, chances[rows]


def _top(frame: Frame, seed: int, count: float, costs: Floats | None) -> Ints:
    order = rng.order(frame.utility, frame.key, seed)
    if costs is None:
        return order[: round(count)]
    steps = rng.round_to_range(frame.utility)
    solved = knapsack.solve(knapsack.rescale(steps[order]), costs[order], count)
    return order[solved.chosen]


def _chances(frame: Frame, design: Design, count: float, costs: Floats | None) -> Floats:
    if costs is None:
        if design.share == 0.0:
            return np.full(len(frame), count / len(frame))
        return inclusion_probabilities(sizes_of(frame.utility), count, tau=design.share)
    if design.order != "random" or design.spread:
        raise UsageError("Under a cost the list is sorted by cost: leave out the order, and the spread.")
    return affordable_probabilities(sizes_of(frame.utility), costs, count, tau=design.share)


def _list(frame: Frame, design: Design, costs: Floats | None) -> Ints:
    """Return the list to draw along: by hash; under a cost the dearest first, so that it cannot overspend."""
    order = hash_order(frame, design.seed)
    if costs is not None:
        return order[np.argsort(-costs[order], kind="stable")]
    if design.spread and frame.leaf is not None:
        return order[np.argsort(frame.leaf[order], kind="stable")]
    if design.order == "random":
        return order
    values = rng.round_to_range(getattr(frame, design.order))
    return order[np.argsort(values[order], kind="stable")]
