"""Scores that are not written as numbers: pass and fail, yes and no, 4/5, 80 %, ★★★★☆, poor … excellent.

Yes and no are read as 1 and 0. A column holds words of one kind and nothing else but missing values; a tie
(with win and loss) is a half.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from sparingly.base.errors import InputError
from sparingly.data.scale import Scale
from sparingly.data.values import as_number, shown

# What words stand for lies between these.
SCALE = Scale(0.0, 1.0)
KINDS: tuple[dict[str, float], ...] = (
    {"pass": 1.0, "fail": 0.0, "passed": 1.0, "failed": 0.0, "p": 1.0, "f": 0.0},
    {"true": 1.0, "false": 0.0},
    {"yes": 1.0, "no": 0.0, "y": 1.0, "n": 0.0},
    {"correct": 1.0, "incorrect": 0.0, "wrong": 0.0},
    {"good": 1.0, "bad": 0.0},
    {"👍": 1.0, "👎": 0.0, "thumbs up": 1.0, "thumbs down": 0.0},
    {"up": 1.0, "down": 0.0},
    {"accepted": 1.0, "rejected": 0.0, "approved": 1.0, "accept": 1.0, "reject": 0.0}
    | {"approve": 1.0, "deny": 0.0, "denied": 0.0},
    {"✓": 1.0, "✗": 0.0, "✔": 1.0, "✘": 0.0, "✔️": 1.0, "✖": 0.0, "✖️": 0.0, "✅": 1.0, "❌": 0.0},
    {"like": 1.0, "dislike": 0.0},
    {"helpful": 1.0, "unhelpful": 0.0, "not helpful": 0.0},
    {"win": 1.0, "loss": 0.0, "tie": 0.5},
    {"yes": 1.0, "no": 0.0, "partially": 0.5, "partly": 0.5},
    {"correct": 1.0, "incorrect": 0.0, "partially correct": 0.5, "partial": 0.5},
    {"safe": 1.0, "unsafe": 0.0},
    {"grounded": 1.0, "hallucinated": 0.0, "supported": 1.0, "unsupported": 0.0, "contradicted": 0.0},
    {"success": 1.0, "failure": 0.0, "succeeded": 1.0, "failed": 0.0},
    {"ja": 1.0, "nein": 0.0, "nee": 0.0},
    {"oui": 1.0, "non": 0.0},
    {"sí": 1.0, "no": 0.0, "si": 1.0, "sì": 1.0},
    {"sim": 1.0, "não": 0.0},
    {"richtig": 1.0, "falsch": 0.0},
    {"vrai": 1.0, "faux": 0.0},
    {"gut": 1.0, "schlecht": 0.0},
    {"是": 1.0, "否": 0.0},
    {"はい": 1.0, "いいえ": 0.0},
)


# Words that judge; yes and no may answer any question.
VERDICTS = {
    word
    for kind in KINDS
    for word in kind
    if not set(kind) & {"true", "yes", "up", "like", "ja", "oui", "sí", "sim", "vrai", "是", "はい"}
}


def word_kind(value: Any) -> dict[str, float] | None:
    """Return the words that a value belongs to and their numbers, or None for any other value."""
    text = plain_word(value)
    return next((words for words in KINDS if text in words), None)


_NEGATIONS = ("un", "in", "im", "ir", "dis", "non", "non-", "not ", "nicht ")


def _negated(first: str, second: str) -> dict[str, float] | None:
    """Return a word as 1 and its negation as 0 (supported, unsupported); None for other words."""
    short, long = sorted((first, second), key=len)
    is_negation = len(short) > 3 and long in [prefix + short for prefix in _NEGATIONS]
    return {short: 1.0, long: 0.0} if is_negation else None


def is_verdict(words: Iterable[str]) -> bool:
    """Say whether the different values of a column are words that judge."""
    texts = [plain_word(word) or "" for word in words]
    return all(text in VERDICTS for text in texts) or (len(texts) == 2 and _negated(*texts) is not None)


def kind_of(words: Iterable[str]) -> dict[str, float] | None:
    """Return the kind that all words of a column are of, or that of the first that is one; else None."""
    texts = [plain_word(word) for word in words]
    if len(texts) == 2 and (negated := _negated(texts[0] or "", texts[1] or "")) is not None:
        return negated
    return next((kind for kind in KINDS if all(text in kind for text in texts)), None) or next(
        (kind for text in texts if (kind := word_kind(text)) is not None), None
    )


def word_number(value: Any) -> float | None:
    """Return the number that a two-valued word or a truth value stands for; None for anything else."""
    kind = word_kind(value)
    return None if kind is None else kind[plain_word(value) or ""]


def plain_word(value: Any) -> str | None:
    """Return a text or a truth value as small letters without spaces around; None for anything else."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return " ".join(value.replace("_", " ").lower().split()) if isinstance(value, str) else None


_NUMBER = r"(\d+(?:[.,]\d+)?)"
_SHARE = re.compile(rf"{_NUMBER}\s*(?:/|of|out of|von|sur|de|su|van)\s*(\d+)(?:\s*stars?)?", re.IGNORECASE)
_PERCENT = re.compile(rf"(-?)\s*{_NUMBER}\s*(?:%|percent)", re.IGNORECASE)
_STARS = re.compile(rf"{_NUMBER}\s*(?:stars?|[★⭐]\ufe0f?)", re.IGNORECASE)
_PLAIN = re.compile(_NUMBER)
_DRAWN_STARS = re.compile(r"((?:[★⭐]\ufe0f?)*)([☆✩✰]*)")


def written_numbers(texts: Iterable[str]) -> tuple[dict[str, float], Scale] | None:
    """Return what scores such as ``4/5``, ``8 out of 10``, ``80 %``, ``4 stars`` and ``★★★★☆`` stand for.

    Their scale ends at what follows the stroke (which must be the same everywhere), at 1 for percentages
    (80 % is 0.8), and for stars at 5, or at the most that are drawn. It begins at 0 for percentages, for
    scales that end above 10, and where a score below 1 occurs; else at 1, as scales of marks and stars do.
    A bare number among them is on the same scale, but for percentages. None where a text is nothing of the
    kind, or two are of different kinds.
    """
    numbers: dict[str, float] = {}
    ends: set[tuple[str, float]] = set()
    has_bare = False
    for text in texts:
        plain = text.strip()
        if match := _SHARE.fullmatch(plain):
            number, end = float(match[1].replace(",", ".")), ("share", float(match[2]))
        elif match := _PERCENT.fullmatch(plain):
            number, end = float(match[1] + match[2].replace(",", ".")) / 100, ("percent", 1.0)
        elif match := _STARS.fullmatch(plain):
            number, end = float(match[1].replace(",", ".")), ("stars", 5.0)
        elif plain and (match := _DRAWN_STARS.fullmatch(plain)):
            count = len(match[1].replace("\ufe0f", ""))
            number, end = float(count), ("stars", max(5.0, count + len(match[2])))
        elif match := _PLAIN.fullmatch(plain):
            numbers[text], has_bare = float(match[1].replace(",", ".")), True
            continue
        else:
            return None
        numbers[text] = number
        ends.add(end)
    if not ends or len({kind for kind, _ in ends}) > 1 or (len(ends) > 1 and "share" in dict(ends)):
        return None
    kind, high = max(ends)
    if (
        (has_bare and kind == "percent")
        or not high > 0
        or max(numbers.values()) > high
        or (kind == "percent" and min(numbers.values()) < 0)
    ):
        return None
    return numbers, Scale(0.0 if kind == "percent" or high > 10 or min(numbers.values()) < 1 else 1.0, high)


# Words for marks, from the worst to the best; the first list that has all words of a column counts.
_LADDERS = tuple(
    tuple(step.strip().split("|") for step in ladder.split(","))
    for ladder in (
        "poor, fair, good, excellent",
        "bad, poor, fair, good, excellent",
        "very poor|terrible|awful, poor|bad, fair|average|ok|okay|acceptable|neutral|medium|mediocre, good,"
        "excellent|very good|great|perfect",
        "poor|terrible, fair|average|ok, good, very good, excellent|perfect",
        "very bad, bad, neutral|ok|okay|average|neither, good, very good",
        "disagree, neutral|neither|neither agree nor disagree, agree",
        "strongly disagree, disagree|somewhat disagree, neutral|neither|neither agree nor disagree|undecided,"
        "agree|somewhat agree, strongly agree",
        "very dissatisfied, dissatisfied|somewhat dissatisfied, neutral|neither,"
        "satisfied|somewhat satisfied, very satisfied",
        "not at all, slightly|a little, moderately|somewhat, very|mostly, extremely|completely",
        "never, rarely, sometimes, often|usually, always",
        "low, medium, high",
        "very low, low, medium, high, very high",
        "sehr schlecht, schlecht, mittel|mittelmäßig|neutral|befriedigend, gut, sehr gut",
        "très mauvais, mauvais, moyen|passable, bon, très bon|excellent",
        "muy malo|muy mal, malo|mal, regular, bueno|bien, muy bueno|muy bien|excelente",
    )
)
_LABELLED = re.compile(rf"{_NUMBER}\s*(?:[-–—:=.)]\s*|\s)\(?(?P<label>[^\W\d].*)")
_MOST_STEPS = 11


def worded_marks(texts: Iterable[str]) -> tuple[dict[str, float], Scale | None] | None:
    """Return the numbers of marks in words (poor, fair, good), or with words (``1 - not at all``).

    Words are numbered from 1 on, the worst first, and their scale is known; a number beside a word is taken
    as it is. None where a text is nothing of the kind, there is only one mark, or good and bad are all.
    """
    plain = {text: plain_word(text) or "" for text in texts}
    different = set(plain.values())
    if not 2 <= len(different) <= _MOST_STEPS or any(different <= kind.keys() for kind in KINDS):
        return None
    for ladder in _LADDERS:
        places = {word: float(place) for place, words in enumerate(ladder, start=1) for word in words}
        if different <= places.keys():
            return {text: places[word] for text, word in plain.items()}, Scale(1.0, float(len(ladder)))
    matches = {word: _LABELLED.fullmatch(word) for word in different}
    labels = {word: (match[1], match["label"]) for word, match in matches.items() if match is not None}
    is_one_each = len({label for _, label in labels.values()}) == len(
        {number for number, _ in labels.values()}
    )
    if len(labels) < len(different) or not is_one_each:
        return None
    numbers = {text: float(labels[word][0].replace(",", ".")) for text, word in plain.items()}
    return (numbers, None) if len(set(numbers.values())) == len(labels) else None


def mixed(value: Any, kind: dict[str, float]) -> InputError:
    """Return the error about a value that stands among words of another kind."""
    words = listed(kind)
    return InputError(
        f"{shown(value)} does not go with the other scores, which are {words}",
        fix=f"Write {words} everywhere, or numbers everywhere",
    )


def listed(kind: dict[str, float]) -> str:
    """Return the words of a kind for a sentence: "win, loss or tie"."""
    # Of words that mean the same, the first.
    first = {number: word for word, number in reversed(kind.items())}
    *first_words, last = sorted(first.values(), key=list(kind).index)
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
