"""The language of every source: said by a column, or identified from the text."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sparingly.base.errors import ExtraMissingError, UnknownNameError, UsageError

EXTRA = "langid"
LANGUAGE = "language"


@dataclass(frozen=True)
class Languages:
    """How the languages of sources are known.

    Attributes:
        column: The column of the records that says it.
        identify: Whether it is identified (py3langid) where no column says it.
        among: The languages that are told apart; all that the identifier knows unless given.
    """

    column: str | None = None
    identify: bool = False
    among: tuple[str, ...] = ()

    def check(self) -> None:
        """Complain about a missing package or unknown languages before anything is read."""
        if self.among and not self.identify:
            raise UsageError("The languages to tell apart are for identifying them: add identify.")
        if self.identify:
            _identifier(self.among)

    @property
    def words(self) -> list[Any]:
        """What parts depend on."""
        return [self.column, self.identify, list(self.among)]

    def of(self, texts: Sequence[str], kept: Sequence[str]) -> list[str | None]:
        """Return the language of every text, None where nothing says it.

        Args:
            texts: The texts.
            kept: A JSON object of the further columns of each.
        """
        said: list[str | None] = [None] * len(texts)
        if self.column is not None:
            said = [_said(one, self.column) for one in kept]
        if not self.identify:
            return said
        known = _identifier(self.among)
        return [
            known.classify(text)[0] if told is None else told for text, told in zip(texts, said, strict=True)
        ]


NOT_KNOWN = Languages()


def _said(kept: str, column: str) -> str | None:
    value = json.loads(kept).get(column)
    return None if value is None else str(value).strip() or None


@lru_cache(maxsize=4)
def _identifier(among: tuple[str, ...]) -> Any:
    try:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    except ImportError:
        raise ExtraMissingError("Language identification", EXTRA) from None
    found: Any = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    names = list(found.labels)
    for name in among:
        if name not in names:
            raise UnknownNameError("language", name, names)
    if among:
        found.set_languages(list(among))
    # Where a text has nothing to go by, all classes are equally likely, and the answer is "und". A language
    # of two scripts has two of them.
    classes = Counter(found.nb_classes)
    if len(classes) > 1:
        found.min_confidence = 1.01 * max(classes.values()) / classes.total()
    return found
