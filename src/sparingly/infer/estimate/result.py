"""The estimate: scores with their errors, its signature, and its file."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, TypeVar

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import InputError, UnknownNameError, UsageError, listing
from sparingly.base.format import (
    NO_INTERVAL,
    counted,
    ends_text,
    error_text,
    score_decimals,
    score_text,
    with_error,
)
from sparingly.base.stats.pairs import pair_indices
from sparingly.base.stats.proportion import proportion_bound
from sparingly.base.summary import IntervalCell, Summary, Tabular
from sparingly.base.text import Quoted, format_number, format_value
from sparingly.data import schema
from sparingly.data.files import OwnFile
from sparingly.data.scale import Ends
from sparingly.data.selection import Selection
from sparingly.data.values import (
    as_list,
    as_mapping,
    as_matrix,
    as_number,
    as_scale,
    as_whole,
    check_version,
    plain,
    shown,
)
from sparingly.infer.estimate.full_set_p import FEWEST_COMMON, full_set_chances, full_set_p_values
from sparingly.infer.estimate.intervals import EXACT, PROPORTION, IntervalOutcome
from sparingly.infer.estimate.pairs import PairErrors

# --- the signature ---


@dataclass(frozen=True)
class EstimateSignature:
    """How an estimate was made, so that it can be made again.

    ``inputs`` is the digest of what was read beside the judgements, ``labels`` that of the judgements that
    were used: those of items that were not chosen never change it. ``selection`` is the line of the
    selection's own signature. ``raters`` is the digest of the ratings, with who gave them, where these
    widened the errors; None where raters were not counted.
    """

    estimator: str
    aspect: str
    target: str
    level: float
    interval: str
    scale: Annotated[Ends, as_scale] | None
    by: str | None
    seed: int
    n: int
    of: int
    inputs: str
    labels: str
    version: str
    selection: str | None = None
    raters: str | None = None

    def __str__(self) -> str:
        """Return the signature in one line."""
        scale = "none" if self.scale is None else self.scale_text
        group = "none" if self.by is None else signature_word(self.by)
        raters = () if self.raters is None else (f"raters:{self.raters}",)
        how = (f"level:{format_number(self.level)}", f"interval:{self.interval}", f"scale:{scale}")
        return "|".join((self.estimator, *self.about, *how, f"by:{group}", *raters, *self.origin))

    @property
    def about(self) -> tuple[str, ...]:
        """What the scores are of, as parts of the line."""
        return f"aspect:{signature_word(self.aspect)}", f"target:{self.target}"

    @property
    def origin(self) -> tuple[str, ...]:
        """What the scores were made from, as parts of the line."""
        names = ("seed", "n", "of", "inputs", "labels", "version")
        chosen = () if self.selection is None else (f"selection:[{self.selection}]",)
        return (*(f"{name}:{getattr(self, name)}" for name in names), *chosen)

    @property
    def scale_text(self) -> str:
        """The lowest and the highest possible score; empty where they are not known."""
        return "" if self.scale is None else ",".join(format_number(end) for end in self.scale)

    def to_dict(self) -> dict[str, Any]:
        """Return the signature as plain values, for files."""
        values = {**schema.write(self), "text": str(self)}
        return {name: value for name, value in values.items() if name != "raters" or value is not None}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], field: str = "signature") -> EstimateSignature:
        """Read a signature back from a file's values."""
        return schema.read(cls, values, field)


def signature_word(text: str) -> str:
    """Return a name as a part of a signature's line: in quotes where it would be read as something else."""
    plain = text != "none" and text.isprintable() and not set('|"') & set(text)
    return text if plain else format_value(Quoted(text))


# --- the estimate ---

FORMAT, VERSION = "sparingly/estimate", 1
# The target of scores where the items were not drawn at random.
CHOSEN_ITEMS = "chosen"
_NOT_DRAWN = "Without inclusion probabilities, scores of the whole set cannot be estimated."
_FROM_FILE = (
    "An estimate that was read from a file has only scores, no judgements: estimate again from the data."
)


@dataclass(frozen=True)
class Difference:
    """The difference of two models: the first's score less the second's.

    The ends of its interval are NaN, and its kind ``none``, where it is withheld.
    """

    first: str
    second: str
    difference: float
    standard_error: float
    low: float
    high: float
    interval: str

    def __str__(self) -> str:
        """Return the difference with its error and interval, in words where there is none."""
        error = f" ± {self.standard_error:.3g}" if np.isfinite(self.standard_error) else ""
        ends = ends_text(self.low, self.high)
        return f"{self.first} − {self.second}: {score_text(self.difference, is_rate=False)}{error}, {ends}"


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(OwnFile, Tabular):
    """Scores of models over the whole set (or the population), from the judged items.

    Attributes:
        models: The models.
        scores: Their scores.
        standard_errors: The standard error of every score; NaN where there is none.
        low: The low ends of the intervals; NaN where it is withheld.
        high: The high ends; NaN where it is withheld. With one end it is a bound.
        intervals: The kind of every interval: t (with corrected tails), proportion, exact, bound (one end
            only), none; or the one requested: t, bootstrap, betting, hoeffding, bernstein.
        covariance: models × models, for differences and rankings.
        freedom: Degrees of freedom of the errors.
        target: What the scores describe: this ``set``, the ``population`` of inputs like these, or the
            ``chosen`` items if these were not sampled.
        level: The level of the intervals.
        aspect: What was judged.
        estimator: The estimator as text.
        n: The number of judged items.
        size: The number of items that the scores describe.
        outcome: How many intervals, bounds and scores without one there are, and how many scores fell back.
        is_rate: Whether scores are shares of passes or wins, which are printed in percent.
        notes: What to mind.
        groups: The same for the parts of the set, if requested.
        signature: From which it can be had again; None for plain arrays.
        pairs: What differences are made of; None where there is none, and after reading from a file.
        selection: What had been chosen to be judged; None where that is not known.
        unknown: What its file says beyond that; it is written back when it is saved.
    """

    rows_key: ClassVar[str] = "models"

    models: tuple[str, ...]
    scores: Floats
    standard_errors: Floats
    low: Floats
    high: Floats
    intervals: tuple[str, ...]
    covariance: Floats
    freedom: float
    target: str
    level: float
    aspect: str
    estimator: str
    n: int
    size: int
    outcome: IntervalOutcome
    is_rate: bool = False
    notes: tuple[str, ...] = ()
    groups: Mapping[str, Estimate] = field(default_factory=dict)
    signature: EstimateSignature | None = None
    pairs: PairErrors | None = None
    selection: Selection | None = None
    unknown: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Estimate({self.headline})"

    @property
    def headline(self) -> str:
        """What was estimated, in one line."""
        models, items = counted(len(self.models), "model"), counted(self.n, "judged item")
        return f"{self.aspect} of {models} over {self.target_text}, from {items} by {self.estimator_used}"

    @property
    def estimator_used(self) -> str:
        """The estimator in words, or what it fell back to."""
        if 0 < len(self.models) <= self.outcome.fallen_back:
            return "the weighted mean"
        return self.estimator

    @property
    def target_text(self) -> str:
        """What the scores describe, in words."""
        if self.target == CHOSEN_ITEMS:
            return "the chosen items"
        return f"this set of {counted(self.size, 'item')}" if self.target == "set" else "inputs like these"

    def __str__(self) -> str:
        """Return the scores as a small table, best first, with what to mind below it; groups follow."""
        lines = [self.headline, *self._lines(), *(f"note: {note}" for note in self.notes)]
        for name, group in self.groups.items():
            group_notes = [note for note in group.notes if note not in self.notes]
            title = f"{name}: {group.n:,} of {counted(group.size, 'item')} judged"
            lines += [title, *group._lines(), *(f"note: {note}" for note in group_notes)]
        return "\n".join(lines)

    def _lines(self) -> list[str]:
        rows = []
        for place in self.order:
            score = "no score" if np.isnan(self.scores[place]) else self.score_text(place)
            error = self.error_text(place)
            spread = "" if error == "-" else f" ± {error}"
            rows.append((self.models[place], score, spread, self.interval_text(place)))
        width = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return [
            f"{name:<{width[0]}}  {score:>{width[1]}}{spread:<{width[2]}}  {ends}"
            for name, score, spread, ends in rows
        ]

    def shown_error(self, place: int) -> float:
        """Return a model's standard error; NaN for a 0 that only says that all its judgements are alike."""
        error = float(self.standard_errors[place])
        return error if error > 0 or self.intervals[place] == EXACT else float("nan")

    def score_text(self, place: int) -> str:
        """Return a model's score as text: a rate in percent."""
        return score_text(float(self.scores[place]), is_rate=self.is_rate, decimals=self.decimals)

    def error_text(self, place: int) -> str:
        """Return a model's standard error as text: that of a rate in points."""
        return error_text(self.shown_error(place), is_rate=self.is_rate, decimals=self.decimals)

    def interval_text(self, place: int) -> str:
        """Return a model's interval in words; a rate in percent, at least so much where all pass."""
        score = self.scores[place]
        if not (self.is_rate and self.intervals[place] == PROPORTION and score in (0.0, 1.0)):
            ends = self.low[place], self.high[place]
            return ends_text(*ends, is_rate=self.is_rate, decimals=self.decimals)
        # Labels that are all alike say at least, or at most, so much at the one-sided level.
        labels = float(self.n) if self.pairs is None else float(self.pairs.sample.judged[:, place].sum())
        size = float(self.size) if self.target == "set" else np.inf
        if score == 1.0:
            return ends_text(
                float(proportion_bound(labels, labels, size, self.level, "low")), None, is_rate=True
            )
        return ends_text(None, float(proportion_bound(0.0, labels, size, self.level, "high")), is_rate=True)

    @cached_property
    def decimals(self) -> int | None:
        """The decimals of scores, errors and interval ends: two digits of the largest error."""
        return score_decimals(self.scores.tolist(), map(self.shown_error, range(len(self.models))))

    def answer(self, mark_up: Callable[[str], str] = str) -> str:
        """Say what the best score is, and of what; ``mark_up`` is applied to names."""
        place = self.order[0]
        ends = self.interval_text(place)
        between = (
            ""
            if ends == NO_INTERVAL or self.low[place] == self.high[place]
            else f" ({100 * self.level:g} % interval: {ends.strip('[]').replace(', ', ' to ')})"
        )
        count, top, who = len(self.models), self.scores[place], mark_up(self.models[place])
        about = mark_up(self.aspect)
        scores = "scores" if self.aspect == "score" else f"{about} scores"
        has = f"has a mean {about} of" if count == 1 else f"has the highest of {count} {scores}:"
        tied = np.abs(self.scores - top) <= 1e-12 * np.abs(top)
        best = [mark_up(self.models[one]) for one in self.order if tied[one]]
        if len(best) > 1:
            who, between = f"{listing(best[:-1], 3)} and {best[-1]}", ""
            has = f"share the highest of {count} {scores}:"
        score = self.score_text(place)
        if np.isnan(top):
            has, score = "has", f"no {about} score"
        judged = "is" if self.n == 1 else "are"
        items = f"{self.n:,} of {self.size:,} items" if self.n < self.size else f"all {self.size:,} items"
        items = counted(self.n, "item") if self.target == CHOSEN_ITEMS else items
        return f"{who} {has} {score}{between} on {self.target_text}; {items} {judged} judged."

    def summary(self) -> Summary:
        """Return the answer, the scores with their intervals, and what to do next."""
        rows = tuple(
            (
                self.models[place],
                with_error(self.score_text(place), self.error_text(place)),
                "exact" if self.low[place] == self.high[place] else self.interval_text(place),
                IntervalCell(float(self.low[place]), float(self.scores[place]), float(self.high[place])),
            )
            for place in self.order
        )
        steps = ("sparingly rank DATA",) if len(self.models) > 1 else ("sparingly plan DATA",)
        return Summary(
            (self.answer(),),
            ("model", "score ± error", f"{100 * self.level:g} % interval", ""),
            rows,
            next_steps=steps,
            notes=self.notes,
            method=(f"{self.headline}. Behind ± stands the standard error.",),
            signature="" if self.signature is None else str(self.signature),
        )

    @property
    def order(self) -> list[int]:
        """The models' places, best score first; a model without a score comes last."""
        keys = [(np.isnan(score), -score, name) for score, name in zip(self.scores, self.models, strict=True)]
        return sorted(range(len(keys)), key=keys.__getitem__)

    def difference(self, first: str, second: str) -> Difference:
        """Return the difference of two models, with an interval of its own."""
        places = [self._place(first), self._place(second)]
        if places[0] == places[1]:
            raise UsageError(f"A difference is of two models, not of {first} and itself.")
        return self._differences(np.array(places[:1]), np.array(places[1:]))[0]

    def differences(self) -> tuple[Difference, ...]:
        """Return the differences of all pairs of models, in the order of their names."""
        return self._differences(*pair_indices(len(self.models)))

    def pair_p_values(self) -> Floats:
        """Return the two-sided p-values of all pairs, models × models; NaN on the diagonal and without score.

        Each is 1 less the level whose interval of the difference just reaches 0, so that p < 0.05 just where
        the 95 % interval leaves 0 out. They are not corrected for the number of pairs: ``rank`` does that.
        """
        count = len(self.models)
        first, second = pair_indices(count)
        p_values = np.full((count, count), np.nan)
        values = self._known_pairs().p_values(first, second, self.scores[first] - self.scores[second])
        p_values[first, second] = p_values[second, first] = values
        return p_values

    def full_set_chance(self) -> Floats:
        """Return, models × models, how likely judging everything shows the difference that the scores show.

        It describes the estimate's target. For inputs like these: a ranking of the fully judged set calls it
        significant, corrected for all pairs, in the same direction. For this set: the order stays. NaN where
        fewer than 10 items were judged for both models. It tells whether judging on is worth it, and is no
        evidence.
        """
        return full_set_chances(self.scores, self._known_pairs())

    def full_set_p(self, *, shrink: bool = True) -> Floats:
        """Return the p-value that judging everything would give for every pair of models, as predicted.

        One value per pair in the order of ``differences``: the chance, under no difference, of one as large
        in favour of the first. NaN where fewer than 30 items were judged for both models: their spread
        cannot be told. Differences are shrunk by their errors over this set, whatever the target. It is no
        substitute for a p-value of what was judged; see ``full_set_p_values``.
        """
        first, second = pair_indices(len(self.models))
        pairs, differences = self._known_pairs(), self.scores[first] - self.scores[second]
        errors = pairs.over_set.of_pairs(first, second)[0] if shrink else None
        deviations = pairs.deviations(first, second)
        deviations = np.where(pairs.common_items(first, second) < FEWEST_COMMON, np.nan, deviations)
        # Importance has mean 1 over all items of the set, also where only a part of it counts.
        return full_set_p_values(differences, deviations, pairs.sample.size, errors=errors)

    def _known_pairs(self) -> PairErrors:
        if self.pairs is None:
            raise UsageError(_NOT_DRAWN if self.target == CHOSEN_ITEMS else _FROM_FILE)
        return self.pairs

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate as plain values, as its file holds it; what is not known is None."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "signature": None if self.signature is None else self.signature.to_dict(),
            **self._values(),
            **self.unknown,
            "selection": None if self.selection is None else self.selection.to_dict(),
        }

    def _values(self) -> dict[str, Any]:
        names = ("aspect", "estimator", "target", "level", "n", "size", "is_rate")
        columns = ("scores", "standard_errors", "low", "high")
        rows = [
            {
                "model": model,
                **{name.removesuffix("s"): plain(getattr(self, name)[place]) for name in columns},
                "interval": self.intervals[place],
            }
            for place, model in enumerate(self.models)
        ]
        return {
            **{name: plain(getattr(self, name)) for name in names},
            # None stands for infinitely many, which JSON cannot write.
            "freedom": plain(self.freedom) if np.isfinite(self.freedom) else None,
            "models": rows,
            "covariance": plain(np.where(np.isfinite(self.covariance), self.covariance, np.nan)),
            "outcome": {**vars(self.outcome), "shares": self.outcome.shares()},
            "notes": list(self.notes),
            "groups": {name: group._values() for name, group in self.groups.items()},
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Estimate:
        """Make an estimate from the values of its file: scores and errors, without the judgements."""
        check_version(dict(values), FORMAT, VERSION)
        estimate, signature = _estimate_part(values, ""), values.get("signature")
        if signature is not None:
            signature = EstimateSignature.from_dict(as_mapping(signature, "signature"))
        known = estimate.to_dict()
        return replace(
            estimate,
            signature=signature,
            selection=selection_of(values),
            unknown={name: value for name, value in values.items() if name not in known},
        )

    def _place(self, model: str) -> int:
        if model not in self.models:
            raise UnknownNameError("model", model, self.models)
        return self.models.index(model)

    def _differences(self, first: Any, second: Any) -> tuple[Difference, ...]:
        if self.pairs is None and self.target != CHOSEN_ITEMS:
            raise UsageError(_FROM_FILE)
        centre = self.scores[first] - self.scores[second]
        models = [
            (self.models[model], self.models[against]) for model, against in zip(first, second, strict=True)
        ]
        if self.pairs is None:
            errors = low = high = np.full(len(centre), np.nan)
            kinds: tuple[str, ...] = ("none",) * len(centre)
        else:
            names = [" − ".join(pair) for pair in models]
            errors, intervals = self.pairs.intervals(first, second, centre, names)
            low, high, kinds = intervals.low, intervals.high, intervals.kinds
        numbers = (values.tolist() for values in (centre, errors, low, high))
        return tuple(Difference(*pair, *row) for pair, *row in zip(models, *numbers, kinds, strict=True))


# --- its file ---

Row = TypeVar("Row", bound=Any)
TARGETS = ("set", "population", CHOSEN_ITEMS)


def selection_of(values: Mapping[str, Any]) -> Selection | None:
    """Return the selection that a file of scores holds."""
    selection = values.get("selection")
    if selection is None:
        return None
    try:
        return Selection.from_dict(as_mapping(selection, "selection"))
    except InputError as error:
        field = "selection" if error.field is None else f"selection.{error.field}"
        raise InputError(error.problem, field=field, fix=error.fix) from None


def as_target(value: Any, field: str) -> str:
    """Return the target of a file's scores."""
    target = schema.required_text(value, field)
    if target not in TARGETS:
        raise InputError(f"{shown(target)} is none of {', '.join(TARGETS)}", field=field)
    return target


def as_freedom(value: Any, field: str) -> float:
    """Return degrees of freedom; infinite where the file has none."""
    return math.inf if value is None else as_number(value, field)


def as_outcome(value: Any, field: str) -> IntervalOutcome:
    """Return how many intervals there are of each kind; files of earlier versions know of no bounds."""
    counts = {"bounds": 0, **as_mapping(value, field)}
    names = list(vars(IntervalOutcome()))
    return IntervalOutcome(**{name: as_whole(counts.get(name), f"{field}.{name}") for name in names})


def row_per_model(kind: type[Row]) -> Callable[[Any, str], tuple[Row, ...]]:
    """Return what reads the rows of a file that has one for every model."""

    def read(value: Any, field: str) -> tuple[Row, ...]:
        entries = as_list(value, field)
        rows = tuple(schema.read(kind, row, f"{field}[{place}]") for place, row in enumerate(entries))
        if not rows or len({row.model for row in rows}) < len(rows):
            raise InputError("a model is named twice, or there is none", field=field)
        return rows

    return read


@dataclass(frozen=True)
class ScoreRow:
    """A model in the file of an estimate."""

    model: schema.Id
    score: float
    standard_error: float
    low: float
    high: float
    interval: str


@dataclass(frozen=True)
class EstimateValues:
    """What the file of an estimate says of the whole set, or of a part of it, beside numbers of pairs."""

    models: Annotated[tuple[ScoreRow, ...], row_per_model(ScoreRow)]
    aspect: str
    estimator: str
    target: Annotated[str, as_target]
    level: float
    n: int
    size: int
    freedom: Annotated[float, as_freedom]
    outcome: Annotated[IntervalOutcome, as_outcome]
    # Files of earlier versions do not say it.
    is_rate: bool = False
    notes: tuple[str, ...] = ()


def _estimate_part(values: Mapping[str, Any], at: str) -> Estimate:
    """Return the estimate of the whole set, or of a part of it, where ``at`` says which."""
    part, dot = schema.read(EstimateValues, values, at), f"{at}." if at else ""
    names = tuple(row.model for row in part.models)

    def column(name: str) -> Floats:
        return np.array([getattr(row, name) for row in part.models], np.float64)

    groups = as_mapping(values.get("groups"), f"{dot}groups")
    places = {name: f"{dot}groups.{name}" for name in groups}
    return Estimate(
        **{**vars(part), "models": names},
        scores=column("score"),
        standard_errors=column("standard_error"),
        low=column("low"),
        high=column("high"),
        intervals=tuple(row.interval for row in part.models),
        covariance=as_matrix(values.get("covariance"), f"{dot}covariance", len(names)),
        groups={name: _estimate_part(as_mapping(groups[name], at), at) for name, at in places.items()},
    )
