"""Embeddings: texts as vectors of unit length, by the built-in n-grams or by any model.

``embed_texts`` is the one door for texts; ``embed_sources`` and ``embed_outputs`` are the same for an
evaluation set, where vectors that were made elsewhere can stand in for a model.
"""

from sparingly.signals.embed.evalset import Embedded, embed_outputs, embed_sources, embedding_fields
from sparingly.signals.embed.texts import embed_texts

__all__ = ["Embedded", "embed_outputs", "embed_sources", "embed_texts", "embedding_fields"]
