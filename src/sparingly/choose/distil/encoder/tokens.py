"""Texts as tokens, in batches of shapes that do not hang on which texts stand beside each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from sparingly.base.arrays import Ints
from sparingly.base.errors import InputError
from sparingly.choose.distil.encoder.packages import package

_SHORTEST = 16
_AT_A_TIME = 4096


class Batch(NamedTuple):
    """Some texts: their places, and their tokens and mask as rows, which may be more than the texts."""

    places: Ints
    tokens: Ints
    mask: Ints


class Tokens:
    """A tokenizer from its JSON, without any class that a file could name."""

    def __init__(self, json: str, pad: int, longest: int) -> None:
        self.json, self.pad, self.longest = json, pad, longest
        try:
            self._tokenizer = package("tokenizers").Tokenizer.from_str(json)
        except InputError:
            raise
        except Exception:  # the package raises plain exceptions
            raise InputError("the tokenizer cannot be read", field="tokenizer") from None
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(longest)

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of every text, at least one and at most ``longest``."""
        found: list[list[int]] = []
        for start in range(0, len(texts), _AT_A_TIME):
            part = [_encodable(text) for text in texts[start : start + _AT_A_TIME]]
            found += [one.ids or [self.pad] for one in self._tokenizer.encode_batch(part)]
        return found

    def width(self, length: int) -> int:
        """Return the padded length: the next power of two, so that it hangs on the text alone."""
        return min(self.longest, max(_SHORTEST, 1 << (length - 1).bit_length()))

    def batches(self, ids: Sequence[Sequence[int]], rows: int, *, fixed: bool) -> Iterator[Batch]:
        """Yield texts of about one length together; with ``fixed``, always in as many rows.

        A sum in a matrix product may be rounded differently in a matrix of another shape. With fixed shapes
        a text gets the same number whatever texts are scored with it.
        """
        widths = np.array([self.width(len(one)) for one in ids], np.int64)
        for width in np.unique(widths).tolist():
            places = np.flatnonzero(widths == width)
            for start in range(0, len(places), rows):
                here = places[start : start + rows]
                yield self._padded(here, [ids[place] for place in here], rows if fixed else len(here), width)

    def _padded(self, places: Ints, ids: Sequence[Sequence[int]], rows: int, width: int) -> Batch:
        tokens = np.full((rows, width), self.pad, np.int64)
        mask = np.zeros((rows, width), np.int64)
        # A row without any token would be a mean over nothing.
        mask[:, 0] = 1
        for row, one in enumerate(ids):
            tokens[row, : len(one)] = one
            mask[row, : len(one)] = 1
        return Batch(places, tokens, mask)


def _encodable(text: str) -> str:
    """Return a text without halves of surrogate pairs, which no tokenizer takes."""
    return text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text


def tokens_of(tokenizer: Any, longest: int) -> Tokens:
    """Return the tokens of a fast tokenizer of transformers."""
    pad = tokenizer.pad_token_id
    return Tokens(tokenizer.backend_tokenizer.to_str(), 0 if pad is None else int(pad), longest)
