"""Lengths of sources and outputs, available as metrics in every set."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats
from sparingly.base.errors import MissingDataError
from sparingly.base.syntax import lacking
from sparingly.data.evalset import EvalSet

SOURCE_LENGTH, OUTPUT_LENGTH = "source_length", "output_length"
# The metric of each length, and the field that it measures.
LENGTHS = {SOURCE_LENGTH: "sources", OUTPUT_LENGTH: "outputs"}
# Han, kana, Thai, Lao, Khmer and Myanmar are written without spaces between words.
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")


def text_length(text: str) -> int:
    """Return the number of words, or of characters where the script puts no spaces between words."""
    words = text.split()
    if text.isascii():
        return len(words)
    letters = sum(map(len, words))
    return letters if len(_UNSPACED.findall(text)) * 2 > letters else len(words)


def source_lengths(data: EvalSet) -> Floats:
    """Return the length of every source, NaN where there is none."""
    if data.sources is None:
        raise MissingDataError(f"Source lengths need sources, {lacking('sources')}")
    return _lengths(data.sources)


def length_metric(data: EvalSet, name: str) -> Floats:
    """Return ``source_length`` or ``output_length`` as a metric, items x models."""
    if name == SOURCE_LENGTH:
        # There can be sources before there are models.
        return np.repeat(source_lengths(data)[:, None], max(1, len(data.models)), axis=1)
    if data.outputs is None:
        raise MissingDataError(f"Output lengths need outputs, {lacking('outputs')}")
    return _lengths(data.outputs)


def _lengths(texts: NDArray[np.object_]) -> Floats:
    flat = [np.nan if text is None else text_length(text) for text in texts.ravel()]
    return np.array(flat, np.float64).reshape(texts.shape)
