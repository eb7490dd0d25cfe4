"""The ranking: models in order, with the ranks, groups and tests that the judgements support."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Any, ClassVar

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import InputError, UnknownNameError, UsageError, listing
from sparingly.base.format import counted, error_text, p_text, percent, score_decimals, score_text, with_error
from sparingly.base.summary import IntervalCell, Summary, Tabular
from sparingly.base.text import format_number
from sparingly.data import schema
from sparingly.data.files import OwnFile
from sparingly.data.selection import Selection
from sparingly.data.values import (
    as_mapping,
    as_matrix,
    check_version,
    plain,
)
from sparingly.infer.estimate.assemble import target_text
from sparingly.infer.estimate.result import (
    EstimateSignature,
    as_freedom,
    as_target,
    row_per_model,
    selection_of,
    signature_word,
)
from sparingly.infer.expect.expect import Expected
from sparingly.infer.rank.decisions import ClaimKind, Decisions, MarginTest, margin_test
from sparingly.infer.rank.measures import round_means
from sparingly.infer.rank.pair_tests import pair_errors, pair_tells


@dataclass(frozen=True)
class ClaimSignature:
    """A question with a margin: what is claimed of a model against another."""

    question: str
    model: str
    against: str
    margin: float

    def __str__(self) -> str:
        """Return the question in one line."""
        models = f"[{signature_word(self.model)}][{signature_word(self.against)}]"
        return f"{self.question}{models}{format_number(self.margin)}"


@dataclass(frozen=True)
class RankingSignature:
    """The line from which a ranking can be re-derived: that of its scores, and how pairs were decided."""

    scores: EstimateSignature
    test: str
    groups_by: str
    alpha: float
    decisions: str
    claim: ClaimSignature | None = None

    def __str__(self) -> str:
        """Return the signature in one line."""
        parts = [
            self.scores.estimator,
            *self.scores.about,
            f"decisions:{self.decisions}",
            f"test:{self.test}",
            f"groups_by:{self.groups_by}",
            f"alpha:{format_number(self.alpha)}",
        ]
        parts += [f"scale:{self.scores.scale_text}"] if self.scores.scale_text else []
        parts += [] if self.claim is None else [f"claim:{self.claim}"]
        return "|".join((*parts, *self.scores.origin))

    @property
    def version(self) -> str:
        """The version of the package that made it."""
        return self.scores.version

    def with_claim(self, claim: MarginTest) -> RankingSignature:
        """Return the signature with a question that was asked with it."""
        return replace(self, claim=ClaimSignature(claim.question, claim.model, claim.against, claim.margin))

    def to_dict(self) -> dict[str, Any]:
        """Return the signature as plain values, for files."""
        return {**schema.write(self), "scores": self.scores.to_dict(), "text": str(self)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], field: str = "signature") -> RankingSignature:
        """Read a signature back from a file's values."""
        scores = as_mapping(values.get("scores"), f"{field}.scores")
        # Before, scores and decisions spoke of the same.
        decisions = values.get("decisions") or scores.get("target")
        return schema.read(cls, {**values, "decisions": decisions}, field)


FORMAT, VERSION = "sparingly/ranking", 1
# The fields of a ranking that its file holds as they are.
_PLAIN_FIELDS = (
    *("aspect", "target", "scores_of", "estimator", "n", "size", "is_rate"),
    *("test", "groups_by", "alpha", "certain"),
)
_MATRICES = ("p_values", "corrected", "covariance")

# Groups that follow from the decisions, and published rules in words.
DECISIONS = "decisions"
# The estimator of two models whose outputs were compared: the share of wins among what was decided.
WIN_RATE = "win_rate"
_PUBLISHED = {
    "algorithm1": "Groups by Algorithm 1 of Zouhar et al. (2025): published rule, no correction.",
    "mt_metrics_eval": "Groups by the rule of mt-metrics-eval: published rule, no correction.",
}
_EARLIER = "Groups by the rank sets of an earlier version, which separate too often: rank again."


@dataclass(frozen=True)
class RankedModel:
    """One model of a ranking."""

    model: schema.Id  # the model
    score: float | None  # its score
    # The standard error of the score, as ``estimate`` gives it; None where it is unknown.
    standard_error: float | None
    standardised: float | None  # the score in standard deviations of single judgements from their mean
    rank: int  # its place by score
    best_rank: int  # 1 + the number of models that are significantly better, all pairs taken at once
    worst_rank: int  # the number of models less those that are significantly worse
    group: int | None  # the group, 1 for the best; None for a model without a score
    chance_of_best: float | None  # the probability that it is the best; None where it is unknown
    # The low end of the interval of the score, as ``estimate`` gives it; None where there is none.
    low: float | None = None
    high: float | None = None  # the high end
    # The interval in words, as ``estimate`` prints it: two ends, or the end that is supported.
    interval: str = ""

    @property
    def ranks(self) -> str:
        """The possible ranks as text, such as 2-4."""
        best, worst = self.best_rank, self.worst_rank
        return str(best) if best == worst else f"{best}-{worst}"


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(OwnFile, Tabular):
    """Models in order, best first, with what may be said of them.

    Attributes:
        models: The models, best score first.
        p_values: Two-sided p-values of all pairs in that order, NaN on the diagonal.
        corrected: The same, corrected for all pairs (Shaffer's step-down): at most alpha where a pair is
            decided. Where test and scores contradict each other, 1.
        would_be_significant: How likely each difference is significant (corrected for all pairs, in the same
            direction) in the ranking of the fully judged set; None where nothing is known of that. Beside the
            decisions, never in their place.
        covariance: models × models of the scores, in that order.
        freedom: Degrees of freedom of the errors.
        test: The test behind the p-values.
        groups_by: The rule behind the groups.
        alpha: The error rate.
        aspect: What was judged.
        target: What decisions describe: this ``set``, the ``population`` of inputs like these, or only
            the ``chosen`` items, where these were not sampled.
        scores_of: What scores, standard errors and intervals describe, likewise.
        estimator: The estimator as text.
        n: The number of judged items.
        size: The number of items that the ranking describes.
        unit: What was judged: items, or comparisons.
        is_rate: Whether scores are shares of passes or wins, which are printed in percent.
        notes: What to mind.
        signature: From which it can be had again; None for plain arrays.
        certain: Whether an error of 0 means that nothing is left to chance.
        claim: The answer to a question with a margin that was asked with it.
        expected: What judging everything is expected to show, if requested: beside the order and
            the p-values, never in their place.
        selection: What had been chosen to be judged; None where that is not known.
        unknown: What its file says beyond that; it is written back when it is saved.
    """

    rows_key: ClassVar[str] = "models"

    models: tuple[RankedModel, ...]
    p_values: Floats
    corrected: Floats
    covariance: Floats
    freedom: float
    test: str
    alpha: float
    groups_by: str = DECISIONS
    would_be_significant: Floats | None = None
    aspect: str = "score"
    target: str = "population"
    scores_of: str = "set"
    estimator: str = "given"
    n: int | None = None
    size: int | None = None
    unit: str = "items"
    is_rate: bool = False
    notes: tuple[str, ...] = ()
    signature: RankingSignature | None = None
    certain: bool = True
    claim: MarginTest | None = None
    expected: Expected | None = None
    selection: Selection | None = None
    unknown: Mapping[str, Any] = field(default_factory=dict)

    @property
    def headline(self) -> str:
        """What is ranked, in one line."""
        if self.n is None:
            return f"{counted(len(self.models), 'model')} compared on {self.aspect}, from given scores"
        unit = self.unit.removesuffix("s")
        judged = (
            counted(self.n, unit) if self.size in (None, self.n) else f"{self.n:,} of {self.size:,} {unit}s"
        )
        verb = " judged" if self.unit == "items" else ""
        return f"{counted(len(self.models), 'model')} compared on {self.aspect}, {judged}{verb}"

    @property
    def scores_head(self) -> str:
        """The head of a column of scores: it says what they describe."""
        return "score" if self.n is None else f"score ({target_text(self.scores_of)})"

    @property
    def ranks_head(self) -> str:
        """The head of a column of ranks: it says what they describe."""
        return "ranks" if self.n is None else f"ranks ({target_text(self.target)})"

    @property
    def level_head(self) -> str:
        """The head of a column of intervals."""
        return f"{100 * (1 - self.alpha):g} % interval"

    @property
    def decisions(self) -> Decisions:
        """Which models are significantly better than which, in the order of the ranking."""
        scores = self._scores
        better = (self.corrected <= self.alpha) & (scores[:, None] > scores[None, :])
        return Decisions(better, self.corrected, scores, self.alpha)

    @property
    def may_be_best(self) -> tuple[str, ...]:
        """The models that are not ruled out as the best: none is significantly better."""
        return tuple(row.model for row in self.models if row.best_rank == 1 and row.score is not None)

    def answer(self, mark_up: Callable[[str], str] = str) -> str:
        """Say in two sentences who is best and which groups there are; ``mark_up`` is applied to names."""
        place = "" if self.n is None else f" on {target_text(self.target)}"
        scores = round_means(self._scores)
        leaders = [row.model for row, score in zip(self.models, scores, strict=True) if score == scores[0]]
        rivals = [name for name in self.may_be_best if name not in leaders]
        if len(leaders) == 1 and not rivals:
            tail = self.corrected[0][1:]
            p_value = float(np.nanmax(tail)) if len(tail) and not np.isnan(tail).all() else float("nan")
            suffix = "" if p_value != p_value else f" ({p_text(p_value)})"
            best = f"is best of {len(self.models)}" if len(self.models) > 2 else "is better"
            return f"{mark_up(leaders[0])} {best}{place}{suffix}. {self.group_sentence}"
        has = "has" if len(leaders) == 1 else "share"
        head = f"{_sentence_list([mark_up(name) for name in leaders])} {has} the highest score"
        if not rivals:
            return f"{head}: none is shown to be the best{place}. {self.group_sentence}"
        names, are = _sentence_list([mark_up(name) for name in rivals]), "is" if len(rivals) == 1 else "are"
        return f"{head}, but {names} {are} not ruled out as the best{place}. {self.group_sentence}"

    @property
    def group_sentence(self) -> str:
        """Say which groups there are, or that no clear-cut groups are there yet."""
        if self.groups_by == DECISIONS:
            return self.decisions.sentence
        return _PUBLISHED.get(self.groups_by, _EARLIER)

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The significance groups, best first."""
        numbers = sorted({model.group for model in self.models if model.group is not None})
        return tuple(tuple(row.model for row in self.models if row.group == number) for number in numbers)

    def __repr__(self) -> str:
        return f"Ranking({self.headline})"

    def __str__(self) -> str:
        """Return who is best, and the possible ranks of all models."""
        ranks = ", ".join(f"{row.model} {row.ranks}" for row in self.models)
        return f"{self.answer()} Possible ranks: {ranks}."

    def summary(self) -> Summary:
        """Return who is best, the models with their possible ranks, and what to do next."""
        columns = ["ranks", "model", "win rate" if self.estimator == WIN_RATE else "score ± error"]
        columns += [self.level_head, ""]
        has_chances = any(row.chance_of_best is not None for row in self.models)
        columns += ["P(best)"] if has_chances else []
        rows: list[list[str | IntervalCell]] = []
        for row in self.models:
            score, low, high = (
                float("nan") if value is None else value for value in (row.score, row.low, row.high)
            )
            text = with_error(self.score_text(row), self.error_text(row))
            interval = "exact" if low == high else row.interval or "-"
            best = percent(row.chance_of_best).replace("under ", "<").replace("over ", ">")
            ends = IntervalCell(low, score, high)
            rows.append([row.ranks, row.model, text, interval, ends, *([best] if has_chances else [])])
        if len(self.groups) > 1 and len(self.models) > 2:
            columns.append("group")
            for cells, row in zip(rows, self.models, strict=True):
                cells.append("-" if row.group is None else str(row.group))
        claim = () if self.claim is None else (str(self.claim),)
        more = f"; {self.outlook}" if self.outlook else ""
        is_part = self.n is not None and self.size is not None and self.n < self.size
        return Summary(
            (*claim, self.answer(), f"{self.headline}{more}."),
            tuple(columns),
            tuple(map(tuple, rows)),
            texts=2,
            next_steps=("sparingly plan DATA" if is_part else "sparingly report DATA",),
            notes=self.notes,
            method=self._method,
            signature="" if self.signature is None else str(self.signature),
        )

    @property
    def _method(self) -> tuple[str, ...]:
        if self.n is None:
            return ()
        scores = f"Scores describe {target_text(self.scores_of)}, ranks {target_text(self.target)}"
        if self.scores_of == self.target:
            scores = f"Scores and ranks describe {target_text(self.target)}"
        return (
            f"{scores}: they hold for all models at once with {100 * (1 - self.alpha):g} % confidence. "
            f"Estimator: {self.estimator}; test: {self.test}."
            + ("" if self.estimator == WIN_RATE else " Behind ± stands the standard error."),
        )

    @property
    def outlook(self) -> str:
        """Say what judging the rest would decide, where that is known."""
        shows, better = self.would_be_significant, self.decisions.better
        if shows is None or self.n is None or self.size is None or self.n >= self.size:
            return ""
        undecided = np.triu(~(better | better.T), 1)
        more = float(np.nansum(shows[undecided]))
        expected = (
            "hardly decide more pairs" if more < 0.5 else f"decide about {counted(round(more), 'more pair')}"
        )
        return f"judging the rest would {expected}" if undecided.any() else ""

    def score_text(self, model: RankedModel) -> str:
        """Return a model's score as text: a rate in percent."""
        return score_text(model.score, is_rate=self.is_rate, decimals=self._decimals)

    def error_text(self, model: RankedModel) -> str:
        """Return a model's standard error as text: that of a rate in points."""
        return error_text(model.standard_error, is_rate=self.is_rate, decimals=self._decimals)

    @property
    def _decimals(self) -> int | None:
        errors = [row.standard_error for row in self.models]
        return score_decimals([row.score for row in self.models], errors)

    def margin_test(self, question: ClaimKind, model: str, against: str, margin: float) -> MarginTest:
        """Ask whether a model is non-inferior, equivalent or superior to another, with a margin."""
        first, second = self._position(model), self._position(against)
        if first == second:
            raise UsageError(f"A claim is about two models, not about {model} and itself.")
        if self.target == "chosen":
            raise UsageError(
                "A claim needs a random sample with known probabilities; these items were picked."
            )
        has_error = pair_tells(self.covariance, self._scores)[first, second]
        error = float(pair_errors(self.covariance)[first, second]) if has_error else 0.0
        return margin_test(
            question,
            float(self._scores[first] - self._scores[second]),
            error,
            margin,
            degrees=self.freedom,
            alpha=self.alpha,
            model=model,
            against=against,
            certain=self.certain,
        )

    def with_claim(self, question: ClaimKind, model: str, against: str, margin: float) -> Ranking:
        """Return the ranking with the answer to a question with a margin, in its signature too."""
        claim = self.margin_test(question, model, against, margin)
        signature = None if self.signature is None else self.signature.with_claim(claim)
        return replace(self, claim=claim, signature=signature)

    def to_dict(self) -> dict[str, Any]:
        """Return the ranking as plain values, as its file holds it; what is not known is None."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "signature": None if self.signature is None else self.signature.to_dict(),
            **{name: getattr(self, name) for name in _PLAIN_FIELDS},
            # None stands for infinitely many, which JSON cannot write.
            "freedom": plain(self.freedom) if np.isfinite(self.freedom) else None,
            "models": [asdict(model) for model in self.models],
            "groups": [list(group) for group in self.groups],
            "p_values": plain(self.p_values),
            "corrected": plain(self.corrected),
            "would_be_significant": plain(self.would_be_significant),
            "covariance": plain(self.covariance),
            "notes": list(self.notes),
            "claim": None if self.claim is None else {**vars(self.claim), "shown": self.claim.shown},
            **({} if self.expected is None else {"expected": self.expected.to_dict()}),
            **self.unknown,
            "selection": None if self.selection is None else self.selection.to_dict(),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Ranking:
        """Make a ranking from the values of its file."""
        check_version(dict(values), FORMAT, VERSION)
        # Before, scores and decisions spoke of the same.
        part = schema.read(RankingValues, {"scores_of": values.get("target"), **values})
        if part.claim is not None and values["claim"].get("shown") is not part.claim.shown:
            raise InputError("the answer does not follow from the p-value", field="claim.shown")
        signature, outlook, size = values.get("signature"), "would_be_significant", len(part.models)
        names = (*_MATRICES, outlook) if values.get(outlook) is not None else _MATRICES
        matrices: dict[str, Any] = {name: as_matrix(values.get(name), name, size) for name in names}
        if signature is not None:
            signature = RankingSignature.from_dict(as_mapping(signature, "signature"))
        selection = selection_of(values)
        ranking = cls(**vars(part), **matrices, signature=signature, selection=selection)
        known = ranking.to_dict()
        if known["groups"] != values.get("groups"):
            raise InputError("the groups are not those of the models", field="groups")
        return replace(ranking, unknown={name: value for name, value in values.items() if name not in known})

    @property
    def _scores(self) -> Floats:
        return np.array([np.nan if row.score is None else row.score for row in self.models])

    def _position(self, model: str) -> int:
        names = [row.model for row in self.models]
        if model not in names:
            raise UnknownNameError("model", model, names)
        return names.index(model)


def _sentence_list(names: Sequence[str], limit: int = 5) -> str:
    """Return names as a list in a sentence: up to ``limit``, and how many more there are."""
    if len(names) > limit:
        return listing(names, limit)
    *earlier, last = names
    return f"{', '.join(earlier)} and {last}" if earlier else last


# --- its file ---


@dataclass(frozen=True)
class RankingValues:
    """What the file of a ranking says, beside numbers of pairs."""

    models: Annotated[tuple[RankedModel, ...], row_per_model(RankedModel)]
    freedom: Annotated[float, as_freedom]
    test: str
    groups_by: str
    aspect: str
    estimator: str
    alpha: float
    target: Annotated[str, as_target]
    scores_of: Annotated[str, as_target]
    certain: bool
    is_rate: bool = False
    notes: tuple[str, ...] = ()
    n: int | None = None
    size: int | None = None
    claim: MarginTest | None = None
