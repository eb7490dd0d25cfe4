"""Two-valued scores in words: pass and fail, yes and no, true and false are read as 1 and 0.

A column holds words of one kind and nothing else but missing values; a tie (with win and loss) is a half.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from sparingly.base.errors import InputError
from sparingly.data.scale import Scale
from sparingly.data.values import as_number, shown

# What words stand for lies between these.
SCALE = Scale(0.0, 1.0)
KINDS: tuple[dict[str, float], ...] = (
    {"pass": 1.0, "fail": 0.0},
    {"true": 1.0, "false": 0.0},
    {"yes": 1.0, "no": 0.0},
    {"correct": 1.0, "incorrect": 0.0},
    {"good": 1.0, "bad": 0.0},
    {"👍": 1.0, "👎": 0.0},
    {"win": 1.0, "loss": 0.0, "tie": 0.5},
)


def word_kind(value: Any) -> dict[str, float] | None:
    """Return the words that a value belongs to and their numbers, or None for any other value."""
    text = plain_word(value)
    return next((words for words in KINDS if text in words), None)


def word_number(value: Any) -> float | None:
    """Return the number that a two-valued word or a truth value stands for; None for anything else."""
    kind = word_kind(value)
    return None if kind is None else kind[plain_word(value) or ""]


def plain_word(value: Any) -> str | None:
    """Return a text or a truth value as small letters without spaces around; None for anything else."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.strip().lower() if isinstance(value, str) else None


def mixed(value: Any, kind: dict[str, float]) -> InputError:
    """Return the error about a value that stands among words of another kind."""
    words = listed(kind)
    return InputError(
        f"{shown(value)} does not go with the other scores, which are {words}",
        fix=f"Write {words} everywhere, or numbers everywhere",
    )


def listed(kind: dict[str, float]) -> str:
    """Return the words of a kind for a sentence: "win, loss or tie"."""
    *first_words, last = kind
    return f"{', '.join(first_words)} or {last}"


class ScoreWords:
    """Reads scores one by one; the first word in a column decides what the others may be."""

    def __init__(self) -> None:
        self._kinds: dict[Hashable, dict[str, float]] = {}

    def of_words(self, column: Hashable) -> bool:
        """Say whether a column's scores are words."""
        return column in self._kinds

    def number(self, column: Hashable, value: Any, field: str, has_numbers: bool) -> float:
        """Return a score as a number; ``has_numbers`` says that the column held numbers before."""
        kind = self._kinds.get(column) if self._kinds else None
        if type(value) is not str and type(value) is not bool:
            number = as_number(value, field)
            if kind is not None and number == number:
                raise mixed(value, kind).at(field=field)
            return number
        if kind is None:
            kind = None if has_numbers else word_kind(value)
            if kind is None:
                return as_number(value, field)
            self._kinds[column] = kind
        number = kind.get(plain_word(value) or "", -1.0)
        if number < 0:
            raise mixed(value, kind).at(field=field)
        return number


@dataclass(frozen=True)
class WordScore:
    """A rating's score that is a word or text: the rating's row, what was judged, and where it stands."""

    row: int
    aspect: str
    score: str | bool
    line: int
    field: str


def rating_numbers(scores: list[WordScore], with_numbers: set[str]) -> tuple[dict[int, float], set[str]]:
    """Return the numbers of ratings whose scores are words, by row, and which aspects have such scores.

    Texts without a number are comments.

    Scores of an aspect are words when it has no numbers and at least half of its texts are words for scores;
    then all of them must be of one kind.
    """
    by_aspect: dict[str, list[WordScore]] = {}
    for score in scores:
        by_aspect.setdefault(score.aspect, []).append(score)
    numbers: dict[int, float] = {}
    worded: set[str] = set()
    for aspect, texts in by_aspect.items():
        kinds = [kind for score in texts if (kind := word_kind(score.score)) is not None]
        are_words = bool(kinds) and aspect not in with_numbers and 2 * len(kinds) >= len(texts)
        worded |= {aspect} if are_words else set()
        for score in texts:
            number = kinds[0].get(plain_word(score.score) or "") if are_words else None
            if number is not None:
                numbers[score.row] = number
            elif are_words:
                raise mixed(score.score, kinds[0]).at(line=score.line or None, field=score.field)
            elif isinstance(score.score, bool):
                raise InputError(
                    f"{shown(score.score)} is not a number", line=score.line or None, field=score.field
                )
    return numbers, worded
