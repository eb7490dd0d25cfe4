"""A linkage from the top: which cluster is split next, and which item represents each cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.choose.design.linkage import Linkage


class Step(NamedTuple):
    """What a split changes: the point that leaves the vote, and those that take its place."""

    dropped: int | None
    asked: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class SplitTree:
    """The clusters of a linkage, from one to as many as there are points.

    Attributes:
        linkage: The tree of merges.
        vectors: The points.
        keys: Their random keys, which settle ties.
        seed: Settles ties.
    """

    linkage: Linkage
    vectors: Floats
    keys: rng.Keys
    seed: int = 0

    def __len__(self) -> int:
        """Return the number of points."""
        return len(self.linkage)

    def representative(self, node: int, free: NDArray[np.bool_]) -> int:
        """Return the point of a cluster that is nearest to its centre by cosine.

        Among the points that are ``free``; where none is, among all.
        """
        low, high = self._span[node]
        members = self._leaves[low:high]
        centre = self._sums[high] - self._sums[low]
        cosines = np.round(
            self._directions[low:high] @ centre / max(float(np.linalg.norm(centre)), 1e-300), 9
        )
        here = free[members]
        if here.any():
            members, cosines = members[here], cosines[here]
        best = members[cosines >= cosines.max() - 1e-12]
        return int(best[np.argmin(self._ties[best])])

    def steps(self, first: int, most: int | None = None) -> list[Step]:
        """Return the steps of iterative selection: ``first`` clusters at once, then one split after another.

        A split asks for two new points, one from each part, and takes the parent's out of the vote (Ashury
        Tahan et al. 2024, Algorithm 1). A part whose points were all asked before is represented by the
        nearest of them. With ``most``, the step after which so many points were asked for is the last.
        """
        points = len(self)
        first = min(first, points)
        limit = points if most is None else most
        free = np.ones(points, bool)
        standing: dict[int, int] = {}
        for node in self._cut(first):
            standing[node] = self.representative(node, free)
        free[list(standing.values())] = False
        # Largest clusters first, as diffuse lists them; the order does not change the vote.
        found = [Step(None, tuple(standing.values()))]
        for merge in range(points - 1 - first, -1, -1):
            if points - int(free.sum()) >= limit:
                break
            found.append(self._split(points + merge, merge, standing, free))
        return found

    def representatives(self, most: int) -> Iterator[tuple[int | None, tuple[int, ...]]]:
        """Yield for 1, 2 … ``most`` clusters the point that stops representing, and those that begin."""
        points, free = len(self), np.ones(len(self), bool)
        root = self.representative(2 * points - 2, free)
        yield None, (root,)
        known = {2 * points - 2: root}
        for merge in range(points - 2, points - 1 - min(most, points), -1):
            children = self.linkage.merges[merge].tolist()
            for child in children:
                known[child] = self.representative(child, free)
            yield known.pop(points + merge), tuple(known[child] for child in children)

    def _split(self, node: int, merge: int, standing: dict[int, int], free: NDArray[np.bool_]) -> Step:
        dropped = standing.pop(node)
        asked = []
        for child in self.linkage.merges[merge].tolist():
            standing[child] = self.representative(child, free)
            if free[standing[child]]:
                asked.append(standing[child])
            free[standing[child]] = False
        # A part may be represented by the point that stood for the whole: then it stays in the vote.
        stays = dropped in (standing[child] for child in self.linkage.merges[merge].tolist())
        return Step(None if stays else dropped, tuple(asked))

    def _cut(self, count: int) -> list[int]:
        """Return the nodes of so many clusters."""
        nodes = {2 * len(self) - 2}
        for merge in range(len(self) - 2, len(self) - 1 - count, -1):
            nodes.remove(len(self) + merge)
            nodes |= set(self.linkage.merges[merge].tolist())
        return sorted(nodes)

    @cached_property
    def _order(self) -> tuple[Ints, Ints]:
        """Return the points so that those of every cluster stand together, and where each cluster stands."""
        points = len(self)
        sizes = np.ones(2 * points - 1, np.int64)
        for merge, (one, other) in enumerate(self.linkage.merges.tolist()):
            sizes[points + merge] = sizes[one] + sizes[other]
        start = np.zeros(2 * points - 1, np.int64)
        for merge in range(points - 2, -1, -1):
            one, other = self.linkage.merges[merge]
            start[one] = start[points + merge]
            start[other] = start[points + merge] + sizes[one]
        leaves = np.empty(points, np.int64)
        leaves[start[:points]] = np.arange(points)
        return leaves, np.stack([start, start + sizes], axis=1)

    @property
    def _leaves(self) -> Ints:
        return self._order[0]

    @property
    def _span(self) -> Ints:
        return self._order[1]

    @cached_property
    def _sums(self) -> Floats:
        ordered = self.vectors[self._leaves]
        return np.concatenate([np.zeros((1, ordered.shape[1])), np.cumsum(ordered, axis=0)])

    @cached_property
    def _directions(self) -> Floats:
        """The points by cluster as vectors of length 1; one of 0 is at right angles to every centre."""
        ordered = self.vectors[self._leaves]
        norms = np.linalg.norm(ordered, axis=1)
        known = norms > 1e-12 * norms.max(initial=0.0)
        return np.asarray(
            np.divide(ordered, norms[:, None], out=np.zeros_like(ordered), where=known[:, None])
        )

    @cached_property
    def _ties(self) -> NDArray[np.uint64]:
        return rng.stream(self.keys, self.seed, "representatives")
