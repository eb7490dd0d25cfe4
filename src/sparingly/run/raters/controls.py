"""Control items: outputs whose right answer is known in part, hidden among those to judge."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats
from sparingly.base.checks import check_names
from sparingly.base.errors import DataError, MissingDataError, UnknownNameError, UsageError
from sparingly.base.stats.signed_rank import signed_rank
from sparingly.base.summary import html_table
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.data.values import PlainFields
from sparingly.infer.estimate.rater_effects import RaterScores, rater_scores

# --- Degraded outputs: words of another output replace some words, so that the output must score lower ---

# Words of a text up to which so many are replaced; a quarter of longer ones. The table is that of the "bad
# references" in direct assessment (Graham, Baldwin, Moffat and Zobel 2017).
_REPLACED = ((1, 1), (5, 2), (8, 3), (15, 4), (20, 5))
# Texts of which more letters than this belong to scripts without spaces are cut into characters.
_MOST_UNSPACED = 0.3
_UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN")


def degraded(text: str, donors: Iterable[str], random: np.random.Generator) -> str | None:
    """Return a text with a span of its words replaced, or None where no other text gives fitting words.

    The first and the last word stay where there are more than four words. The words come as one span from the
    first of the donors (other outputs) that is long enough and gives different ones. In scripts without
    spaces, characters stand for words.
    """
    spaced = not is_unspaced(text)
    words = text.split() if spaced else list(text.strip())
    if not words:
        return None
    count = replaced_words(len(words))
    inner = 1 if len(words) > 4 else 0
    room = len(words) - 2 * inner - count
    start = int(random.integers(inner, inner + room + 1)) if room >= 0 else 0
    removed = words[start : start + count]
    for donor_text in donors:
        if is_unspaced(donor_text) == spaced:
            continue
        donor = donor_text.split() if spaced else list(donor_text.strip())
        if len(donor) < count:
            continue
        at = int(random.integers(0, len(donor) - count + 1))
        span = donor[at : at + count]
        if span != removed:
            return (" " if spaced else "").join([*words[:start], *span, *words[start + count :]])
    return None


def replaced_words(count: int) -> int:
    """Return how many words of a text of ``count`` words are replaced."""
    return next((words for limit, words in _REPLACED if count <= limit), count // 4)


def is_unspaced(text: str) -> bool:
    """Say whether a text is mostly of a script that is written without spaces."""
    letters = [letter for letter in text if letter.isalpha()]
    if not letters:
        return False
    unspaced = sum(unicodedata.name(letter, "").startswith(_UNSPACED) for letter in letters)
    return unspaced > _MOST_UNSPACED * len(letters)


# --- Control items ---

ControlKind = Literal["degraded", "reference", "repeat"]
KINDS: tuple[ControlKind, ...] = get_args(ControlKind)
CONTROL, ORIGINAL = "control", "control_of"
_DONORS = 50


@dataclass(frozen=True)
class ControlItem:
    """One control item: its id, its kind, and the item and model that it was made from."""

    item: str
    kind: str
    original: str
    model: str


def control_items(
    data: EvalSet,
    selection: Selection,
    *,
    kinds: Sequence[ControlKind] = KINDS,
    share: float = 0.1,
    seed: int = 0,
) -> EvalSet:
    """Make control items for a selection, as a set of their own, so that no estimate counts them.

    ``degraded``: an output with a span of words replaced by words of another output; a careful rater scores
    it below the original. ``reference``: a human reference in the place of an output. ``repeat``: an output
    once more, for a rater's agreement with himself or herself. Each has one output, of one model. The columns
    ``control`` and ``control_of`` hold the kind and the original item. Hand them out with ``assign(…,
    controls=…)``, collect ratings of this set, and look at ``control_report``.

    Args:
        data: The evaluation set.
        selection: What is to be judged.
        kinds: The kinds to make, in turn.
        share: How many control items there are, as a share of the chosen items; at least one of each kind.
        seed: Seed of the draws; the same seed gives the same items.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> chosen = sparingly.select(data, "random", 60, seed=1)
        >>> controls = sparingly.control_items(data, chosen)
        >>> sorted(controls.columns["control"])
        ['degraded', 'degraded', 'reference', 'reference', 'repeat', 'repeat']
    """
    if not kinds:
        raise UsageError(f"Name at least one kind of control item: {', '.join(KINDS)}.")
    check_names("kind of control item", kinds, KINDS)
    if not 0.0 < share <= 1.0:
        raise UsageError(f"The share of control items lies above 0 and is at most 1, not {share}.")
    if (texts := data.outputs) is None:
        raise MissingDataError("Control items are made from outputs, and the set has none.")
    if "reference" in kinds and data.reference_texts is None:
        raise MissingDataError('The set has no references: leave out the kind "reference".')
    # Item, row and model of every chosen output that has a text.
    positions, masks = data.positions(selection.items), selection.model_mask(data.models)
    chosen = sorted(
        {
            (str(item), int(row), int(model))
            for item, row, mask in zip(selection.items, positions, masks, strict=True)
            for model in np.flatnonzero(mask)
            if texts[row, model]
        }
    )
    keys = rng.keys_of([f"{item}\x1f{data.models[model]}" for item, _, model in chosen])
    order = np.argsort(rng.stream(keys, seed, "control items"), kind="stable")
    count = max(len(kinds), round(share * len({item for item, _, _ in chosen})))
    used_items: set[str] = set()
    names: list[str] = []
    rows: list[int] = []
    columns: dict[str, Any] = {CONTROL: [], ORIGINAL: []}
    outputs = np.full((count, len(data.models)), None, object)
    for number in order:
        item, row, model = chosen[number]
        if item in used_items or len(rows) == count:
            continue
        kind = kinds[len(rows) % len(kinds)]
        text = _text(data, texts, kind, row, model, seed)
        if text is not None:
            used_items.add(item)
            outputs[len(rows), model] = text
            names.append(f"{item}~{kind}")
            rows.append(row)
            columns[CONTROL].append(kind)
            columns[ORIGINAL].append(item)
    if len(rows) < len(kinds):
        raise DataError(
            f"Only {len(rows)} control items could be made: too few chosen items have texts for them."
        )
    if fields.DOMAIN in data.columns:
        columns[fields.DOMAIN] = data.columns[fields.DOMAIN][rows]
    parts: dict[str, Any] = {} if data.sources is None else {"sources": data.sources[rows]}
    return EvalSet.from_arrays(
        names, list(data.models), outputs=outputs[: len(rows)], columns=columns, name="control items", **parts
    )


def controls_of(controls: EvalSet, data: EvalSet) -> Iterator[ControlItem]:
    """Yield the control items of a set of them, in the order of their ids."""
    if CONTROL not in controls.columns or ORIGINAL not in controls.columns or controls.outputs is None:
        raise MissingDataError("These are not control items: make some with control_items(data, selection).")
    kinds, originals = controls.columns[CONTROL], controls.columns[ORIGINAL]
    for row, item in enumerate(controls.items):
        model = next(at for at, text in enumerate(controls.outputs[row]) if text is not None)
        name = controls.models[model]
        if name not in data.models:
            raise UnknownNameError("model", name, data.models)
        yield ControlItem(str(item), str(kinds[row]), str(originals[row]), name)


def control_ratings(
    ratings: RaterScores, data: EvalSet, controls: EvalSet
) -> Iterator[tuple[ControlItem, str, float, dict[str, float]]]:
    """Yield every rating of a control item: rater, score, and the rater's scores of the original by model."""
    judged = rater_scores(controls, ratings.aspect)
    by_item = {control.item: control for control in controls_of(controls, data)}
    originals: dict[tuple[str, str], dict[str, float]] = {}
    columns = (ratings.item, ratings.model, ratings.rater, ratings.score)
    for item, model, rater, score in zip(*columns, strict=True):
        key = (ratings.raters[rater], str(data.items[item]))
        originals.setdefault(key, {})[data.models[model]] = float(score)
    for item, rater, score in zip(judged.item, judged.rater, judged.score, strict=True):
        control, name = by_item[str(controls.items[item])], judged.raters[rater]
        yield control, name, float(score), originals.get((name, control.original), {})


def _text(data: EvalSet, texts: Any, kind: str, row: int, model: int, seed: int) -> str | None:
    """Return the text of a control item, or None where it cannot be made."""
    output = str(texts[row, model])
    if kind == "repeat":
        return output
    if kind == "reference":
        references = () if data.reference_texts is None else data.reference_texts[row]
        return next((str(text) for text in references if text), None)
    return damaged_output(data, row, model, seed)


def damaged_output(data: EvalSet, row: int, model: int, seed: int) -> str | None:
    """Return an output with words of other outputs in it, or None where there is none or no words fit."""
    texts = data.outputs
    if texts is None or not texts[row, model]:
        return None
    random = rng.generator(seed, "degraded", f"{data.items[row]}\x1f{data.models[model]}")
    rows = random.permutation(len(data))[:_DONORS]
    donors = (str(texts[donor, model]) for donor in rows if donor != row and texts[donor, model])
    return degraded(str(texts[row, model]), donors, random)


# --- What raters did with control items ---

COLUMNS = ("rater", "kind", "n", "right", "tied", "wrong", "mean difference", "sign test", "Wilcoxon")


@dataclass(frozen=True)
class ControlScore:
    """One rater and one kind of control item."""

    rater: str
    kind: str
    n: int  # how many the rater judged together with their originals
    # Degraded outputs scored below the original; references scored above the mean output of the item; repeats
    # scored as before.
    right: int
    tied: int  # neither right nor wrong, which is the other way round (repeats are never tied)
    wrong: int
    difference: float  # the mean difference in the right direction; of repeats, the mean absolute change
    sign_p: float  # the exact one-sided sign test of the right direction, ties left out; NaN for repeats
    wilcoxon_p: float  # the one-sided signed-rank test of it; NaN for repeats


@dataclass(frozen=True, repr=False)
class ControlReport(PlainFields):
    """Control items by rater and kind; ``unmatched`` ratings are by raters who did not judge the original."""

    aspect: str
    scores: tuple[ControlScore, ...]
    unmatched: int

    def __repr__(self) -> str:
        return f"ControlReport({self.aspect}: {len({score.rater for score in self.scores})} raters)"

    def _repr_html_(self) -> str:
        return html_table(COLUMNS, [tuple(asdict(score).values()) for score in self.scores], repr(self))


def control_report(data: EvalSet, controls: EvalSet, aspect: str | None = None) -> ControlReport:
    """Compare what every rater gave to control items with what the same rater gave to the originals.

    A rater whose sign test on degraded outputs stays far from significance with ten or more of them does not
    read the outputs, or does not understand the task. Both sets come with their ratings.
    """
    ratings = rater_scores(data, aspect)
    if ratings.aspect not in controls.ratings.aspects:
        raise MissingDataError(f'The control items have no ratings of "{ratings.aspect}".')
    # By rater and kind, the differences in the right direction.
    gaps: dict[tuple[str, str], list[float]] = {}
    unmatched = 0
    for control, rater, score, originals in control_ratings(ratings, data, controls):
        if control.kind == "reference" and originals:
            gap = score - float(np.mean(list(originals.values())))
        elif control.model in originals:
            gap = originals[control.model] - score
        else:
            unmatched += 1
            continue
        gaps.setdefault((rater, control.kind), []).append(gap)
    scores = [
        _score(rater, kind, np.array(gaps[rater, kind]))
        for rater in sorted({rater for rater, _ in gaps})
        for kind in KINDS
        if (rater, kind) in gaps
    ]
    return ControlReport(ratings.aspect, tuple(scores), unmatched)


def _score(rater: str, kind: str, gaps: Floats) -> ControlScore:
    from scipy.stats import binom

    n = len(gaps)
    if kind == "repeat":
        unchanged = int((gaps == 0).sum())
        change = float(np.abs(gaps).mean())
        return ControlScore(rater, kind, n, unchanged, 0, n - unchanged, change, float("nan"), float("nan"))
    right, wrong_count = int((gaps > 0).sum()), int((gaps < 0).sum())
    return ControlScore(
        rater=rater,
        kind=kind,
        n=n,
        right=right,
        tied=n - right - wrong_count,
        wrong=wrong_count,
        difference=float(gaps.mean()),
        # The chance of at least so many right ones if each were a coin toss.
        sign_p=float(binom.sf(right - 1, right + wrong_count, 0.5)) if right + wrong_count else 1.0,
        wilcoxon_p=float(signed_rank(gaps[:, None], "greater").p[0]),
    )
