"""A model that predicts the utility of sources."""

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
from sparingly.choose.distil.card import ENCODER, NGRAMS, ModelCard
from sparingly.choose.distil.corpus import vectors_for
from sparingly.choose.distil.encoder.fitted import EncoderFit
from sparingly.choose.distil.learner import LightFit
from sparingly.choose.distil.out_of_domain import out_of_domain_reasons
from sparingly.choose.distil.text_features import blocks
from sparingly.data.evalset import EvalSet
from sparingly.data.signature import LETTERS


class ScoredTexts(NamedTuple):
    """Predicted utilities of texts.

    Attributes:
        values: Texts × utilities, NaN where there is no text.
        unlike: For every text, how it differs from the training texts; empty for most.
    """

    values: Floats
    unlike: list[tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class DistilledModel:
    """Utilities learned from past evaluations, predicted for sources without any output.

    Û(x) ≈ U(x, M), from the source x alone (Zouhar et al. 2025, eq. 10). Use it to choose sources before
    there are models, or when not all outputs are available; its card says how much to trust it.

    Attributes:
        card: What it was learned from, how well it predicts, and when to warn.
        fit: The fitted learner.
        seen_ngrams: Bits of the character 4-grams that the training texts have.
    """

    card: ModelCard
    fit: LightFit | EncoderFit
    seen_ngrams: NDArray[np.uint8]

    def __repr__(self) -> str:
        utilities = ", ".join(
            f"{utility.name} ({utility.hold_out.spearman:.2f})" for utility in self.card.utilities
        )
        return f"DistilledModel({utilities}; {self.card.texts} texts)"

    def score(
        self, sources: EvalSet | Sequence[str | None], embedding: str | None = None, *, flags: bool = True
    ) -> ScoredTexts:
        """Return the utilities of sources, and which sources are unlike the training texts.

        Args:
            sources: An evaluation set, or texts; None is a missing one.
            embedding: The vectors of these sources, if the model learned from precomputed vectors.
            flags: Whether to look for texts unlike the training texts.
        """
        all_texts = _texts(sources)
        present = np.array([bool(text) and not text.isspace() for text in all_texts], bool)
        vectors = self._vectors(sources, embedding, bool(present.any()))
        if vectors is not None:
            present &= ~np.isnan(vectors).any(axis=1)
        places = np.flatnonzero(present)
        texts = [all_texts[place] for place in places]
        values = np.full((len(all_texts), len(self.card.names)), np.nan)
        unlike: list[tuple[str, ...]] = [()] * len(all_texts)
        for block, spans in blocks(texts):
            rows = places[block]
            values[rows] = self.fit.predict_block(spans, None if vectors is None else vectors[rows])
            if flags:
                card = self.card
                reasons = out_of_domain_reasons(spans, self.seen_ngrams, card.scripts, card.thresholds)
                for row, why in zip(rows.tolist(), reasons, strict=True):
                    unlike[row] = why
        return ScoredTexts(values, unlike)

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
        """The digest of the card and of all numbers."""
        from sparingly.choose.distil.storage import model_arrays

        total = sha256(dumps(self.card.to_dict(), sort_keys=True, ensure_ascii=True).encode())
        for name, array in sorted(model_arrays(self).items()):
            total.update(f"\x1f{name}{array.shape}{array.dtype.str}".encode())
            total.update(np.ascontiguousarray(array).tobytes())
        return total.hexdigest()[:LETTERS]

    def _vectors(
        self, sources: EvalSet | Sequence[str | None], embedding: str | None, has_texts: bool
    ) -> Floats | None:
        dimensions = self.fit.dimensions
        if dimensions is None:
            if embedding is not None:
                kind = "n-grams" if self.card.features == NGRAMS else "texts"
                raise UsageError(f"The model learned from {kind}: leave out the embedding.")
            return None
        if not has_texts:
            return np.zeros((len(sources), dimensions))
        texts = sources if isinstance(sources, EvalSet) else [text or "" for text in sources]
        digest = None if embedding is not None else self.card.embedding_digest
        return vectors_for(texts, embedding or self.card.features, digest, dimensions)

    @property
    def is_embedded(self) -> bool:
        """Whether texts are embedded by a model or have precomputed vectors."""
        return self.card.features != NGRAMS and self.card.learner != ENCODER


def _texts(sources: EvalSet | Sequence[str | None]) -> list[str]:
    if isinstance(sources, str):
        raise UsageError("Give a list of sources, not one text.")
    if isinstance(sources, EvalSet):
        if sources.sources is None:
            raise MissingDataError("A distilled utility needs sources, and the evaluation set has none.")
        return [text or "" for text in sources.sources]
    return [text or "" for text in sources]
