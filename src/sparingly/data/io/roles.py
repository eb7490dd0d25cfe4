"""Which column of a table plays which part: by what the user said, a prefix, the name, and the values.

Names are looked at as words: ``userQuestion``, ``user_question`` and ``user.question`` are *user* and
*question*. The last word says what a column is (``gpt_answer_text`` is an answer, ``prompt_version`` is no
prompt), and the values have a veto: a ``source`` with three different values is no input, a ``system`` of
long texts no model.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np

from sparingly.base.lazy import pl
from sparingly.data import fields
from sparingly.data.io.columns import (
    TableSource,
    is_numeric,
    marks_in_words,
    parsed_texts,
    plain_numbers,
    written_scores,
)
from sparingly.data.io.words import is_verdict, kind_of, plain_word
from sparingly.data.roles import LOW_MAY_BE_GOOD, ColumnRole, SaidRoles
from sparingly.data.scale import Scale

# --- The words that names of columns are made of ---
# ``vocabulary.toml`` has them, and says what each list is.


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(words.split())


_VOCABULARY = tomllib.loads(Path(__file__).with_name("vocabulary.toml").read_text(encoding="utf-8"))
MEANINGS: dict[str, str] = {
    word: meaning for meaning, words in _VOCABULARY["meanings"].items() for word in words.split()
}
NAMES: dict[str, tuple[str, ...]] = {key: tuple(words.split()) for key, words in _VOCABULARY["names"].items()}
JUDGING: dict[str, tuple[str, ...]] = {
    key: tuple(words.split()) for key, words in _VOCABULARY["judging"].items()
}
HEADS: dict[str, frozenset[str]] = {key: word_set(words) for key, words in _VOCABULARY["heads"].items()}
SPEAKERS: dict[str, frozenset[str]] = {key: word_set(words) for key, words in _VOCABULARY["speakers"].items()}
IDS_OF: tuple[str, ...] = tuple(_VOCABULARY["ids_of"])
NUISANCE: dict[str, frozenset[str]] = {key: word_set(words) for key, words in _VOCABULARY["nuisance"].items()}
JUDGING_WORDS = word_set(_VOCABULARY["judging_words"])
SPOKEN = word_set(_VOCABULARY["spoken"])
FILLERS = word_set(_VOCABULARY["fillers"])
REFERENCE_WORDS = word_set(_VOCABULARY["reference_words"])
VARIANTS = word_set(_VOCABULARY["variants"])
EPOCHS = word_set(_VOCABULARY["epochs"])
ID_WORDS = word_set(_VOCABULARY["id_words"])
JUDGE_WORDS = word_set(_VOCABULARY["judge_words"])
HUMAN_WORDS = word_set(_VOCABULARY["human_words"])
LABEL_WORDS = word_set(_VOCABULARY["label_words"])
PEOPLES_SCALES = word_set(_VOCABULARY["peoples_scales"])
REPEATED = word_set(_VOCABULARY["repeated"])
MADE_WORDS = word_set(_VOCABULARY["made_words"])
PLAIN_WORDS = word_set(_VOCABULARY["plain_words"])
MARKS = word_set(_VOCABULARY["marks"])
LOWER_WORDS = word_set(_VOCABULARY["lower_words"])
ANY_MODEL = word_set(_VOCABULARY["any_model"])
NO_MODELS = word_set(_VOCABULARY["no_models"])
SUMMARIES = word_set(_VOCABULARY["summaries"])
REASONS = word_set(_VOCABULARY["reasons"])
NO_ITEMS = word_set(_VOCABULARY["no_items"])
STRAYS = word_set(_VOCABULARY["strays"])
WEAK = word_set(_VOCABULARY["weak"])
WEAK_INPUTS = word_set(_VOCABULARY["weak_inputs"])
PREFERENCES = word_set(_VOCABULARY["preferences"])
TIES = word_set(_VOCABULARY["ties"])
SCORE_WORDS = word_set(_VOCABULARY["score_words"])
# Words of names that say what a text is, and so are no models.
HEAD_WORDS = HEADS["output"] | HEADS["input"] - {"source"}

# --- Which column of a table plays which part: by what the user said, a prefix, the name, and the values ---

ITEM_COLUMNS = (fields.DOCUMENT, fields.POSITION, fields.DOMAIN, fields.COST, fields.WEIGHT)
PREFIX = re.compile(r"(metric|aspect|reference|cell|column)s?[:.](.+)", re.DOTALL)

_DATE = r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d|$)|^\d{1,2}[./]\d{1,2}[./]\d{2,4}"
_ADDRESS = r"^(https?|ftp)://|^\d{1,3}(\.\d{1,3}){3}$"
_HASH = r"^[0-9a-f]{16,}$|^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
_MODEL_NAME = re.compile(
    r"gpt|claude|gemini|gemma|llama|mistral|mixtral|qwen|deepseek|command-?r|palm|prometheus|phi-?\d|\bo[134]\b"
    r"|o[134]-|falcon|vicuna|alpaca|sonnet|opus|haiku|grok|nova|jamba|bloom|\bt5\b|bard|\d+b\b|llm|nllb|deepl",
    re.IGNORECASE,
)
_PERSON = re.compile(r"(?!.*(judge|auto|model|bot))[^\W\d_]+([ ._][^\W\d_]+\.?)*", re.IGNORECASE)
_SAMPLE = 3000
# Marks are whole numbers up to this, or any halves on few steps.
_MOST_MARKS, _FEW_STEPS, _HIGHEST_MARK = 20, 11, 100
# Texts at least as long as this are read, not looked up.
READABLE = 15.0
# Labels of people seldom fill more than this of a table.
_MOSTLY = 0.6


@lru_cache(maxsize=10_000)
def words_of(name: str) -> tuple[str, ...]:
    """Return the words and numbers of a name, in small letters; those of other languages in English."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    words = re.findall(r"[^\W\d_]+\d?\b|[^\W\d_]+|\d+", spaced.lower())
    return tuple(part for word in words for part in _in_english(word))


def _in_english(word: str) -> tuple[str, ...]:
    """Return what a word means, and of a compound its parts: ``kundenfrage`` is *customer* and *question*."""
    if word in MEANINGS:
        return (MEANINGS[word],)
    for end in range(2 if word[0] > _CJK else 3, len(word) - (1 if word[-1] > _CJK else 3)):
        if word[end:] in MEANINGS:
            return (*_in_english(word[:end]), MEANINGS[word[end:]])
    return (word,)


# Words in names under which low and high are scores: labels and models have classes, too.
_SCORED = (PLAIN_WORDS | LOWER_WORDS | HUMAN_WORDS | JUDGE_WORDS | LABEL_WORDS) - {
    "label",
    "labels",
    "model",
    "ai",
}
_TRUTH = ("true", "false")
_CJK = "\u2e80"


def plain_name(name: str) -> str:
    """Return the words of a name without what stands between them."""
    return "".join(words_of(name))


def looks_like_person(name: str) -> bool:
    """Say whether the name of a rater is like a person's: letters alone, and no model's."""
    return _PERSON.fullmatch(name.strip()) is not None and not looks_like_model(name)


def looks_like_model(name: str) -> bool:
    """Say whether a name is like those of language models."""
    return _MODEL_NAME.search(name) is not None


_SCALE_IN_NAME = re.compile(
    r"[(\[]\s*(?:scale:?\s*)?(-?\d+)\s*(?:[-–—…:,]|\.\.+|to|bis|à|a)\s*(\d+)\s*[)\]]", re.I
)


def named_scale(name: str, numbers: pl.Series) -> Scale | None:
    """Return the scale that a name gives in brackets, ``quality (1-5)``, where all numbers lie on it."""
    match = _SCALE_IN_NAME.search(name)
    if match is None or not float(match[1]) < float(match[2]):
        return None
    scale = Scale(float(match[1]), float(match[2]))
    return scale if numbers.is_between(*scale).all() else None


def nuisance_in_name(name: str, *, is_number: bool = True) -> str:
    """Return what a name says that is neither a score nor a text to read, such as a time; else nothing."""
    present, plain = set(words_of(name)), plain_name(name)
    for kind, words in NUISANCE.items():
        if plain in words or present & words:
            weak = set() if is_number else {"words", "size", "lines", "turns"}
            weak |= {"n"} if len(present) == 1 else set()
            if kind != "a count" or present & (words - weak):
                return kind
    return ""


# --- one column -----------------------------------------------------------------------------------


class ColumnProfile:
    """What the name of a column and a sample of its values tell.

    ``kind``: ``number``, ``score`` (pass and fail, 4/5 …), ``text``, ``list``, or ``empty``.
    """

    def __init__(self, series: pl.Series, source: TableSource) -> None:
        series = series.fill_nan(None) if series.dtype.is_float() else series
        self.name, self.series, self.count = series.name, series, len(series)
        self.words = words_of(series.name)
        self.plain = plain_name(series.name)
        self.present = self.count - series.null_count()
        if self.count > _SAMPLE:
            # Not evenly spaced: the rows of a file often take turns.
            rows = np.sort(np.random.default_rng(0).choice(self.count, _SAMPLE, replace=False))
            series = series.gather(rows)
        self.sample = series.drop_nulls()
        if series.dtype in (pl.Categorical, pl.Enum):
            self.sample = self.sample.cast(pl.String)
        self.numbers: pl.Series | None = None
        self.kind = self._kind(source)

    def _kind(self, source: TableSource) -> str:
        sample = self.sample
        if not len(sample) and self.present:
            sample = self.sample = self.series.drop_nulls().head(_SAMPLE)
        if sample.dtype == pl.String:
            sample = self.sample = sample.filter(sample.str.strip_chars() != "")
        if not len(sample):
            return "empty"
        if is_numeric(sample):
            self.numbers = sample.cast(pl.Float64).fill_nan(None).drop_nulls()
            return "number" if len(self.numbers) else "empty"
        if sample.dtype == pl.Boolean:
            self.numbers = sample.cast(pl.Float64)
            return "score"
        if sample.dtype.is_temporal():
            self.sample = sample.cast(pl.String)
            return "text"
        if sample.dtype != pl.String:
            return "list"
        plain = plain_numbers(sample) if source.is_text else None
        self.numbers = self._written(sample) if plain is None else plain
        if self.numbers is not None:
            return "number"
        if source.is_text or sample.head(20).str.contains(r"^\s*[+-]?[\d.]").all():
            parsed, unreadable = parsed_texts(sample)
            if int(parsed.count()) > int(unreadable.sum()) and (source.is_text or not unreadable.any()):
                self.numbers = parsed.drop_nulls()
                # In a frame or in JSON, digits in quotes are meant as text.
                return "number" if source.is_text else "text"
            if not parsed.count() and not unreadable.any():
                return "empty"
        short = sample.filter(sample.str.len_chars() <= 12).unique()
        if 0 < len(short) <= 20:
            # A letter alone ("y") is a word only among others of its kind.
            kind = kind_of(short) or {}
            hits = [word for text in short if (word := plain_word(text) or "") in kind]
            share = len(hits) / len(short) * (len(hits) == len(short) or max(map(len, hits), default=0) > 1)
            # One other word is a mistake to be named; where others come often, the words are categories.
            words = sample.str.to_lowercase().str.replace_all("_", " ").str.strip_chars()
            is_usual = len(sample) < 20 or words.is_in(list(kind)).mean() >= 0.9  # type: ignore[operator]
            if share >= 0.5 and is_usual and sample.is_in(short.implode()).mean() == 1.0:
                return "score"
        return "text"

    @cached_property
    def distinct(self) -> int:
        """The number of different values in the sample."""
        return self.sample.n_unique() if self.kind != "list" else len(self.sample)

    @cached_property
    def length(self) -> float:
        """The mean number of characters of a text."""
        return float(self.sample.str.len_chars().mean() or 0.0) if self.sample.dtype == pl.String else 0.0  # type: ignore[arg-type]

    @cached_property
    def has_texts(self) -> bool:
        """Whether the values are texts to read: of some length, with several words, mostly different."""
        if self.kind != "text" or self.length < READABLE or self.sample.str.contains(_DATE).all():
            return False
        return bool(self.sample.str.strip_chars().str.contains(r"\s|[^\x00-\x7f]").mean() > 0.5)  # type: ignore[operator]

    @cached_property
    def has_digits(self) -> bool:
        """Whether every value is one word with a digit, as ids are."""
        return self.kind == "text" and bool(self.sample.str.contains(r"^\s*\S*\d\S*\s*$").all())

    @cached_property
    def is_ordinal(self) -> bool:
        """Whether the values are marks on few steps."""
        if self.kind == "score" and self.numbers is None:
            return True
        if self.numbers is None:
            return False
        if self.kind == "score" or (
            (self.numbers % 1 == 0).all() and self.numbers.is_between(0, _MOST_MARKS).all()
        ):
            return True
        return bool(self.numbers.n_unique() <= _FEW_STEPS and (self.numbers * 2 % 1 == 0).all())

    @cached_property
    def is_rating(self) -> bool:
        """Whether the values are marks, or whole numbers from 0 to 100."""
        return self.is_ordinal or (
            self.numbers is not None
            and bool((self.numbers % 1 == 0).all() and self.numbers.is_between(0, _HIGHEST_MARK).all())
        )

    @cached_property
    def is_named_score(self) -> bool:
        """Whether the name is one that scores have, or the values are words for good and bad."""
        are_words = self.kind == "score" and self.sample.dtype == pl.String
        return bool(set(self.words) & (PLAIN_WORDS | LOWER_WORDS)) or (
            are_words and is_verdict(self.sample.unique())
        )

    def _written(self, texts: pl.Series) -> pl.Series | None:
        """Return the numbers of texts such as 4/5, and of words for marks under a score's name."""
        parsed = written_scores(texts)
        if parsed is None and (set(self.words) & _SCORED or self.words[:1] == ("how",)):
            parsed = marks_in_words(texts)
        return None if parsed is None else parsed[0].drop_nulls()

    @cached_property
    def is_running(self) -> bool:
        """Whether the values are whole numbers that count up from row to row."""
        if self.kind != "number":
            return False
        steps = self.series.cast(pl.Float64, strict=False).drop_nulls().diff().drop_nulls()
        return len(steps) > _FEW_STEPS and bool(
            steps.is_in([0.0, 1.0]).all() and steps.sum() > _FEW_STEPS / 2
        )

    @cached_property
    def range(self) -> str:
        """The lowest and the highest number as text."""
        if self.numbers is None or not len(self.numbers):
            return "0–1" if self.kind == "score" else ""
        if (scale := named_scale(self.name, self.numbers)) is not None:
            return f"{scale.low:g}–{scale.high:g}"
        low, high = float(self.numbers.min()), float(self.numbers.max())  # type: ignore[arg-type]
        return f"{low:.3g}–{high:.3g}"

    @property
    def filled(self) -> float:
        """The share of rows that have a value."""
        return self.present / max(1, self.count)

    @cached_property
    def head(self) -> str:
        """The word that says what the column is: the last one that is no filler."""
        words = [word for word in self.words if not word.isdigit()]
        while len(words) > 1 and words[-1] not in ID_WORDS and (words[-1] in FILLERS or len(words[-1]) <= 2):
            # "text", "name" …, or the code of a language.
            words.pop()
        return words[-1] if words else ""

    def nuisance(self) -> str:
        """Return what the column looks like that is neither a score nor a text to read; else nothing."""
        present = set(self.words)
        if present and present <= SUMMARIES and self.kind == "number":
            return "a summary"
        is_answered = self.kind == "score" and self.sample.dtype == pl.String
        if is_answered or (self.kind in ("text", "empty") and self.has_texts):
            # Yes and no are answers, whatever was asked about.
            return ""
        if looks_like := nuisance_in_name(self.name, is_number=self.kind == "number"):
            return looks_like
        if self.kind == "text":
            for kind, pattern in (("a date", _DATE), ("an address", _ADDRESS), ("a hash", _HASH)):
                if self.sample.str.contains(pattern).all():
                    return kind
            if self.words and self.words[-1] in ID_WORDS:
                return "an id"
        elif self.kind == "number" and self.words and self.words[-1] in ID_WORDS:
            return "an id"
        return ""

    def models_in_values(self) -> bool:
        """Say whether the values are names of language models, or words for an automatic judge."""
        if self.kind != "text" or self.length > 60:
            return False
        names = self.sample.unique().to_list()
        return 2 * sum(looks_like_model(name) for name in names) >= len(names)


def judge_or_human(profile: ColumnProfile) -> str:
    """Return ``human``, ``metric`` or ``label`` (likely people's) where the name tells it; else nothing."""
    bare = [word.rstrip("0123456789") for word in profile.words]
    words = {*profile.words, *bare, *(word.removesuffix("s") for word in bare)}
    if words & HUMAN_WORDS and not (words & JUDGE_WORDS and words & HUMAN_WORDS <= PEOPLES_SCALES):
        return "human"
    families = ("rouge", "bleu", "chrf", "gpt")
    if words & JUDGE_WORDS or any(word.startswith(families) for word in (*words, profile.plain)):
        return "metric"
    return "label" if words & LABEL_WORDS else ""


def name_fit(role: str, profile: ColumnProfile) -> float:
    """Return how well a column's name fits a role: 2 for the likeliest name, above 0 for a likely one."""
    singular = profile.plain.removesuffix("s")
    for plain, fit in ((profile.plain, 2.0), (singular, 1.5 * (profile.plain not in STRAYS))):
        if plain in NAMES[role] and fit:
            is_weak = role == "output" and plain in WEAK
            return (0.5 if is_weak else fit) - NAMES[role].index(plain) / 100
    heads, words = HEADS.get(role, frozenset()), set(profile.words)
    if role in SPEAKERS:
        speakers = SPEAKERS[role]
        is_said = bool(set(profile.words[-1:]) & SPOKEN and words & speakers)
        if is_said or (words <= speakers and profile.has_texts):
            return 1.0
    if role == "output" and words & MADE_WORDS and profile.kind == "text":
        return 0.9
    if role == "reference":
        text_words = HEADS["output"] | heads | {"label", "class", "category", "intent"}
        return 1.0 if words & REFERENCE_WORDS and profile.head in text_words and len(words) > 1 else 0.0
    if role == "model" and profile.words[1:] == ("id",) and profile.words[0] in heads - NO_ITEMS:
        return 0.9
    if profile.head not in heads or words & _NOT_IN[role]:
        return 0.0
    return 1.0 - 0.1 * (words & {"system"} != set() and role == "input")


_JUDGES = frozenset({"judge", "grader", "evaluator", "rater", "annotator", "embedding", "eval"})
# Words that say that a column is not what its last word promises.
_NOT_IN: dict[str, frozenset[str]] = {
    "input": frozenset({"judge", "template", "reference", "expected", "gold"}),
    "output": REFERENCE_WORDS | {"judge", "template"},
    "model": HUMAN_WORDS | MARKS | SPOKEN | _JUDGES | {"prompt"},
}


def values_fit(role: str, profile: ColumnProfile) -> bool:
    """Say whether the values can be what the name promises."""
    if role in ("input", "output", "reference"):
        if profile.kind == "list":
            return False
        if (
            role == "input"
            and profile.kind == "text"
            and profile.plain in ("source", "task", "src", "problem")
        ):
            # The name of a collection, not a text, comes again and again.
            return profile.has_texts or 30 * profile.distinct > len(profile.sample)
        if role == "input" and profile.is_ordinal and profile.distinct < len(profile.sample):
            # The number of ``turns``.
            return False
        if role == "reference" and profile.head == "label" and profile.filled < _MOSTLY:
            return False
        if role == "reference" and profile.kind in ("number", "score"):
            # Answers that are wanted are there for all items.
            return not profile.is_ordinal and profile.filled >= _MOSTLY
        if role == "output" and profile.head in WEAK and profile.kind == "text":
            # Words such as "result" also name short codes, which come again and again.
            is_varied = 2 * profile.distinct > len(profile.sample)
            return profile.has_texts or (is_varied and not profile.has_digits)
        return profile.kind in ("text", "empty") or profile.plain in NAMES[role]
    if role == "model":
        if profile.kind in ("number", "score") and profile.plain not in NAMES[role]:
            return False
        # Names come again and again; texts to read do not.
        are_texts = profile.has_texts and 2 * profile.distinct > len(profile.sample) and profile.length > 25
        return (
            profile.kind in ("text", "number", "empty", "score") and profile.length <= 120 and not are_texts
        )
    if role == "document":
        return not (profile.has_texts and profile.length > 100)
    if role in fields.NUMBER_COLUMNS:
        return profile.kind in ("number", "empty")
    return True


def id_rank(profile: ColumnProfile) -> int | None:
    """Return how likely the name is that of the items' ids, 0 the likeliest; None where it is not."""
    if profile.kind in ("list", "empty") and profile.present:
        return None
    words = [word for word in profile.words if not word.isdigit() or len(profile.words) == 1]
    plain = profile.plain
    if plain in ("item", "segment", "docid"):
        return 0 if plain != "docid" else len(IDS_OF)
    for suffix in ("id", "idx", "index", "key", "no", "nr", "number"):
        if plain.endswith(suffix) and (words and words[-1] in ID_WORDS | {plain}):
            owner = plain.removesuffix(suffix)
            if owner in IDS_OF:
                return IDS_OF.index(owner) + (suffix != "id") * (not owner) * 8
    return None


# --- what is left when items, models and texts are known ------------------------------------------


class ColumnFacts(Protocol):
    """How the values of a column lie on items and models."""

    @property
    def same_in_item(self) -> bool:
        """Whether some item has several rows with a value, and they agree everywhere."""

    @property
    def differs_in_cell(self) -> bool:
        """Whether an item and model have two values, so that they belong to ratings."""


def rest_role(
    profile: ColumnProfile,
    facts: ColumnFacts,
    *,
    has_human: bool,
    has_judge: bool,
    is_vector: bool,
    beside_checks: bool = False,
) -> ColumnRole:
    """Say what a further column is, by its name and its values.

    ``has_human``: another column certainly holds labels of people. ``has_judge``: one names an automatic
    judge. ``beside_checks``: other columns are answers to a list of yes-or-no questions.
    """
    name, nuisance = profile.name, profile.nuisance()
    role = judge_or_human(profile)
    texts = profile.has_texts
    if profile.kind == "empty":
        return ColumnRole(name, "ignored", detail="empty", why="values")
    if profile.plain in fields.NUMBER_COLUMNS and profile.kind != "number":
        return ColumnRole(name, "ignored", detail="holds no numbers", why="values")
    if is_vector:
        return ColumnRole(name, "ignored", detail="looks like a part of a vector")
    if profile.kind == "list" or facts.differs_in_cell:
        return ColumnRole(name, "column", why="values", has_texts=texts)
    is_number_of = profile.words[:1] in (("n",), ("num",), ("number",), ("count",))
    if nuisance and (role != "human" or is_number_of or nuisance not in ("a count", "a version")):
        if nuisance in ("a count", "a date", "a version") and facts.same_in_item:
            return ColumnRole(name, "column", why="values")
        return ColumnRole(name, "ignored", detail=f"looks like {nuisance}")
    if profile.kind == "text":
        part = ColumnRole(name, "column", why="values", has_texts=texts)
        marks = set(profile.words) & (PLAIN_WORDS | {"label"}) if role == "human" else {profile.head} & MARKS
        were_scores = bool(marks - {"note"})
        if (
            were_scores
            and not facts.same_in_item
            and profile.distinct <= _MOST_MARKS
            and profile.length < READABLE
        ):
            return replace(part, detail="no scores: write numbers, 4/5, or pass and fail", doubtful=True)
        return part
    if profile.kind == "score" and not (profile.is_named_score or role or facts.same_in_item):
        # One more of a list of questions, or something else that is so or not.
        is_list = profile.sample.dtype == pl.String and profile.sample[0].strip().lower() not in _TRUTH
        if profile.filled < _MOSTLY:
            return ColumnRole(
                name, "human", name, detail=f"{profile.present:,} of {profile.count:,}", why="values"
            )
        if is_list and beside_checks:
            return ColumnRole(name, "human", name, detail=profile.range, doubtful=True, other="metric")
        return ColumnRole(name, "column", doubtful=is_list, other="human" if is_list else "", why="values")
    if not (profile.is_named_score or role) and facts.same_in_item:
        return ColumnRole(name, "column", why="values")
    return _score_role(profile, role, facts.same_in_item, has_human=has_human, has_judge=has_judge)


def _score_role(
    profile: ColumnProfile, known: str, same_in_item: bool, *, has_human: bool, has_judge: bool
) -> ColumnRole:
    """Say whether scores are labels of people or a metric; in doubt where neither name nor values tell."""
    name = profile.name
    coverage = f"{profile.present:,} of {profile.count:,}" if profile.filled < 0.995 else profile.range
    human = ColumnRole(name, "human", name, detail=coverage)
    metric = ColumnRole(name, "metric", name, detail=profile.range)
    if known == "human":
        return _with_direction(human, profile)
    if known == "metric" and not (same_in_item and profile.distinct > 1):
        return _with_direction(metric, profile)
    if same_in_item:
        return ColumnRole(name, "column", why="values")
    if known == "label" and (profile.is_ordinal or profile.filled < _MOSTLY):
        if profile.words[0] == "feedback" and len(profile.words) > 1 and profile.filled == 1.0:
            # Trackers call all that was said of an output feedback, whoever said it.
            return replace(human, doubtful=True, other="metric")
        return _with_direction(human, profile)
    if set(profile.words) & LOWER_WORDS:
        return _with_direction(metric, profile)
    if profile.filled < _MOSTLY and (profile.is_ordinal or profile.is_named_score):
        return _with_direction(replace(human, why="values"), profile)
    if not profile.is_named_score and profile.is_running:
        return ColumnRole(name, "ignored", detail="looks like an index", why="values")
    if not profile.is_named_score and profile.distinct == 1 and profile.present > _FEW_STEPS:
        return ColumnRole(name, "ignored", detail="the same everywhere", why="values")
    if not (profile.is_named_score or known):
        # What numbers are whose name says nothing: counts are no metric, and others are one in doubt.
        if profile.is_ordinal:
            return replace(metric, doubtful=True, other=("column" if has_human or has_judge else "human"))
        if profile.numbers is not None and (profile.numbers % 1 == 0).all():
            return replace(metric, role="column", doubtful=True, other="metric", why="values")
        return replace(metric, doubtful=True, other="column")
    if has_human or has_judge or not (profile.is_ordinal or known or set(profile.words) & MARKS):
        return metric
    # What is named after a bot is less likely to be people's.
    may_be_human = profile.is_ordinal and profile.is_named_score and not set(profile.words) & HEADS["model"]
    best, second = (human, "metric") if may_be_human else (metric, "human")
    return replace(best, doubtful=True, other=second)


def _with_direction(part: ColumnRole, profile: ColumnProfile) -> ColumnRole:
    """Return a metric or labels, doubtful where the name is that of errors."""
    if not set(profile.words) & LOWER_WORDS:
        return part
    detail = f"{part.detail}, {LOW_MAY_BE_GOOD}" if part.detail else LOW_MAY_BE_GOOD
    return replace(part, detail=detail, doubtful=True, other="lower")


def vectors(profiles: Iterable[ColumnProfile]) -> set[str]:
    """Return the columns that are the numbers of a vector: many with one name and a running number."""
    families: dict[str, list[str]] = {}
    for profile in profiles:
        if profile.kind == "number" and (match := re.fullmatch(r"(.*?)[_\W]?\d+", profile.name)):
            families.setdefault(match[1], []).append(profile.name)
    return {name for names in families.values() if len(names) >= 8 for name in names}


def said_roles(said: SaidRoles, role: str) -> list[str]:
    """Return the columns that the user gave a role."""
    return [column for column, parts in said.items() if role in parts]


def best_column(role: str, profiles: Mapping[str, ColumnProfile], free: Iterable[str]) -> str | None:
    """Return the column whose name and values fit a role best; None where none does."""
    free = list(free)
    fits = [(name_fit(role, profiles[name]), name) for name in free]
    able = [(fit, name) for fit, name in fits if fit > 0 and values_fit(role, profiles[name])]
    if role == "input" and sum(map(_is_written, map(profiles.__getitem__, free))) > 1:
        # Where texts stand beside the output, numbers of tickets and cases are no inputs.
        able = [pair for pair in able if not profiles[pair[1]].has_digits]
    if role == "input" and len(able) > 1:
        # A template that is the same everywhere is no input beside a question that is not.
        able = [pair for pair in able if profiles[pair[1]].distinct > 1] or able
    # A column without any value is the last that is meant.
    able = [pair for pair in able if profiles[pair[1]].kind != "empty"] or able
    return max(able, key=lambda pair: pair[0])[1] if able else None


def _is_written(profile: ColumnProfile) -> bool:
    """Say whether most values are texts of their own, and not numbers, ids or dates."""
    is_text = profile.kind == "text" and not profile.has_digits
    return is_text and 2 * profile.distinct > len(profile.sample) and not profile.nuisance()


def is_variant(profile: ColumnProfile) -> bool:
    """Say whether a column may name versions of one system that are compared."""
    has_name = bool(set(profile.words[-1:]) & VARIANTS) or (
        profile.models_in_values() and not set(profile.words) & _JUDGES
    )
    is_run = set(profile.words) & EPOCHS and profile.kind == "number"
    return has_name and not is_run and profile.length <= 60 and 2 <= profile.distinct <= 30


def is_epoch(profile: ColumnProfile) -> bool:
    """Say whether a column may number repetitions."""
    return bool(set(profile.words) & EPOCHS)


# --- samples of inspect_ai, which are no long table of their own ----------------------------------
SAMPLE_COLUMNS = ("epoch", "input", "target")
SCORE_PREFIX = "score_"


def are_samples(names: Iterable[str]) -> bool:
    """Say whether columns are those of samples: id, epoch, input and target, and a log or a score."""
    present = set(names)
    from_a_log = "eval_id" in present or any(name.startswith(SCORE_PREFIX) for name in present)
    return present >= set(SAMPLE_COLUMNS) and bool(present & {"id", "sample_id"}) and from_a_log
