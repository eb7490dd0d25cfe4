"""A model that tells the utility of sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from json import dumps
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats
from sparingly.base.errors import MissingDataError, UnknownNameError, UsageError
from sparingly.choose.distil.card import ENCODER, NGRAMS, Card
from sparingly.choose.distil.corpus import vectors_for
from sparingly.choose.distil.encoder.fitted import EncoderFit
from sparingly.choose.distil.learner import Fit
from sparingly.choose.distil.out_of_domain import out_of_domain_reasons
from sparingly.choose.distil.text_features import Spans, blocks
from sparingly.data.evalset import EvalSet
from sparingly.data.signature import LETTERS


class Scored(NamedTuple):
    """What a model says of texts.

    Attributes:
        values: Texts × utilities, NaN where there is no text.
        unlike: For every text, in what it is unlike the training texts; nothing for most.
    """

    values: Floats
    unlike: list[tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class DistilledModel:
    """Utilities learned from past evaluations, told for sources without any output.

    Û(x) ≈ U(x, M), from the source x alone (Zouhar et al. 2025, eq. 10). Use it to choose sources before
    there are models, or where outputs of all of them cannot be had; its card says how much to trust it.

    Attributes:
        card: From what it was learned, how well, and when to mind.
        fit: What was learned.
        seen: Which character 4-grams the training texts have.
    """

    card: Card
    fit: Fit | EncoderFit
    seen: NDArray[np.uint8]

    def __repr__(self) -> str:
        told = ", ".join(f"{one.name} ({one.hold_out.spearman:.2f})" for one in self.card.utilities)
        return f"DistilledModel({told}; {self.card.texts} texts)"

    def score(
        self, sources: EvalSet | Sequence[str | None], embedding: str | None = None, *, flags: bool = True
    ) -> Scored:
        """Return the utilities of sources, and which of these are unlike what was learned from.

        Args:
            sources: An evaluation set, or texts; None is a missing one.
            embedding: Where the model learned from vectors that were given: those of these sources.
            flags: Whether to look for texts unlike the training texts.
        """
        given = _texts(sources)
        there = np.array([bool(text) and not text.isspace() for text in given], bool)
        vectors = self._vectors(sources, embedding, bool(there.any()))
        if vectors is not None:
            there &= ~np.isnan(vectors).any(axis=1)
        places = np.flatnonzero(there)
        texts = [given[place] for place in places]
        values = np.full((len(given), len(self.card.names)), np.nan)
        unlike: list[tuple[str, ...]] = [()] * len(given)
        for rows, spans in blocks(texts):
            here = places[rows]
            values[here] = self.fit.predict_block(spans, None if vectors is None else vectors[here])
            for place, why in zip(here.tolist(), self._reasons(spans) if flags else (), strict=False):
                unlike[place] = why
        return Scored(values, unlike)

    def predict(
        self,
        sources: EvalSet | Sequence[str | None],
        utility: str | None = None,
        embedding: str | None = None,
    ) -> Floats:
        """Return one utility of every source, higher is better; NaN where there is no text."""
        return self.score(sources, embedding, flags=False).values[:, self.place_of(utility)]

    def place_of(self, utility: str | None) -> int:
        """Return the place of a utility; the only one need not be named."""
        names = self.card.names
        if utility is None and len(names) == 1:
            return 0
        if utility is None:
            raise UsageError(f"The model knows {len(names)} utilities: {', '.join(names)}. Name one.")
        if utility not in names:
            raise UnknownNameError("utility in the model", utility, names)
        return names.index(utility)

    def save(self, path: str | Path) -> None:
        """Write the model, whole or not at all; ``sparingly.load_distilled`` reads it."""
        from sparingly.choose.distil.storage import save_distilled

        save_distilled(self, path)

    @cached_property
    def digest(self) -> str:
        """What tells this model from any other, wherever it is kept."""
        from sparingly.choose.distil.storage import numbers_of

        total = sha256(dumps(self.card.to_dict(), sort_keys=True, ensure_ascii=True).encode())
        for name, array in sorted(numbers_of(self).items()):
            total.update(f"\x1f{name}{array.shape}{array.dtype.str}".encode())
            total.update(np.ascontiguousarray(array).tobytes())
        return total.hexdigest()[:LETTERS]

    def _reasons(self, spans: Spans) -> list[tuple[str, ...]]:
        return out_of_domain_reasons(spans, self.seen, self.card.scripts, self.card.thresholds)

    def _vectors(
        self, sources: EvalSet | Sequence[str | None], embedding: str | None, needed: bool
    ) -> Floats | None:
        dimensions = self.fit.dimensions
        if dimensions is None:
            if embedding is not None:
                what = "n-grams" if self.card.features == NGRAMS else "texts"
                raise UsageError(f"The model learned from {what}: leave out the embedding.")
            return None
        if not needed:
            return np.zeros((len(sources), dimensions))
        given = sources if isinstance(sources, EvalSet) else [text or "" for text in sources]
        wanted = None if embedding is not None else self.card.embedding_digest
        return vectors_for(given, embedding or self.card.features, wanted, dimensions)

    @property
    def is_embedded(self) -> bool:
        """Whether texts are embedded by a model or given vectors."""
        return self.card.features != NGRAMS and self.card.learner != ENCODER


def _texts(sources: EvalSet | Sequence[str | None]) -> list[str]:
    if isinstance(sources, str):
        raise UsageError("Give a list of sources, not one text.")
    if isinstance(sources, EvalSet):
        if sources.sources is None:
            raise MissingDataError("A distilled utility needs sources, and the evaluation set has none.")
        return [text or "" for text in sources.sources]
    return [text or "" for text in sources]
