"""The main directions of embedded sources and outputs, as features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import MissingDataError
from sparingly.data.evalset import EvalSet
from sparingly.signals.embed.evalset import Embedded, embed_outputs, embed_sources

_NOTHING = 1e-9


@dataclass(frozen=True, eq=False)
class Topics:
    """Standardised directions, items x models x directions (items x 1 x directions for sources)."""

    names: tuple[str, ...]
    parts: tuple[Floats, ...]
    models: int

    def at(self, rows: Ints) -> Floats:
        """Return the directions of some items, items x models x directions."""
        taken = [part[rows] for part in self.parts]
        spread = [np.broadcast_to(part, (len(rows), self.models, part.shape[2])) for part in taken]
        return np.concatenate(spread, axis=2)


def text_topics(data: EvalSet, embedding: str, dimensions: int) -> Topics:
    """Return the directions in which the texts differ most, so many of the sources and of the outputs."""
    embedded: dict[str, Embedded] = {}
    if data.sources is not None:
        sources = embed_sources(data, embedding)
        embedded["source"] = Embedded(sources.vectors[:, None, :], sources.there[:, None])
    if data.outputs is not None:
        embedded["output"] = embed_outputs(data, embedding)
    if not embedded:
        raise MissingDataError("Embeddings need sources or outputs, and the evaluation set has neither.")
    reduced = {kind: _directions(texts, dimensions) for kind, texts in embedded.items()}
    names = tuple(
        f"{kind} direction {place + 1}" for kind, part in reduced.items() for place in range(part.shape[2])
    )
    return Topics(names, tuple(reduced.values()), len(data.models))


def _directions(texts: Embedded, dimensions: int) -> Floats:
    """Return unit-variance scores on the first principal axes, 0 where there is no text."""
    vectors, there = texts
    known = vectors[there]
    centred = known - known.mean(axis=0) if len(known) else known
    energy, axes = np.linalg.eigh(centred.T @ centred / max(1, len(known)))
    best = np.argsort(-energy, kind="stable")[:dimensions]
    best = best[energy[best] > _NOTHING]
    scores = np.zeros((*there.shape, len(best)))
    scores[there] = centred @ (axes[:, best] / np.sqrt(energy[best]))
    return scores
