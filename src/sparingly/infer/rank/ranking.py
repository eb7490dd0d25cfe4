"""The ranking: models in order, with the ranks, groups and tests that the judgements support."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.base.html import html_table
from sparingly.data import files
from sparingly.data.plain import plain
from sparingly.data.selection import Selection
from sparingly.infer.expect.expect import Expected
from sparingly.infer.rank.margin_tests import MarginTest, Question, margin_test
from sparingly.infer.rank.pair_errors import pair_errors, pair_tells
from sparingly.infer.rank.signature import RankingSignature

Floats = NDArray[np.float64]
FORMAT, VERSION = "sparingly/ranking", 1


@dataclass(frozen=True)
class RankedModel:
    """One model of a ranking.

    Attributes:
        model: The model.
        score: Its score.
        standard_error: The standard error of the score; None where none can be told.
        standardised: The score in standard deviations of single judgements from their mean.
        rank: Its place by score.
        best_rank: The best rank that is not ruled out, all models taken at once.
        worst_rank: The worst.
        group: The significance group, 1 for the best; None for a model without a score.
        chance_of_best: The chance that it is the best, under a flat prior; None where it cannot be told.
    """

    model: str
    score: float | None
    standard_error: float | None
    standardised: float | None
    rank: int
    best_rank: int
    worst_rank: int
    group: int | None
    chance_of_best: float | None

    @property
    def ranks(self) -> str:
        """The possible ranks as text, such as 2-4."""
        ends = (self.best_rank, self.worst_rank)
        return str(ends[0]) if ends[0] == ends[1] else f"{ends[0]}-{ends[1]}"


@dataclass(frozen=True, eq=False, repr=False)
class Ranking:
    """Models in order, best first, with what may be said of them.

    Attributes:
        models: The models, best score first.
        p_values: Two-sided p-values of all pairs in that order, NaN on the diagonal.
        corrected: The same with Holm's correction.
        full_set: The two-sided p-values that judging everything is predicted to give, item by item (documents
            are not counted as one); None where nothing is known of the whole set. Beside the p-values, never
            in their place.
        covariance: models × models of the scores, in that order.
        freedom: Degrees of freedom of the errors.
        test: The test behind the p-values.
        groups_by: The rule behind the groups.
        alpha: The error rate.
        aspect: What was judged.
        target: What the ranking speaks about: this ``set``, the ``population`` of inputs like these, or only
            the ``chosen`` items, where these were not drawn by chance.
        estimator: The estimator as text.
        n: The number of judged items.
        size: The number of items that the ranking speaks about.
        notes: What to mind.
        signature: From which it can be had again; None for plain arrays.
        certain: Whether an error of 0 means that nothing is left to chance.
        claim: The answer to a question with a margin that was asked with it.
        expected: What judging everything is expected to say, where that was asked for: beside the order and
            the p-values, never in their place.
        selection: What had been chosen to be judged; None where that is not known.
        unknown: What its file says beyond that; it is kept when it is saved.
    """

    models: tuple[RankedModel, ...]
    p_values: Floats
    corrected: Floats
    covariance: Floats
    freedom: float
    test: str
    alpha: float
    groups_by: str = "rank_sets"
    full_set: Floats | None = None
    aspect: str = "score"
    target: str = "population"
    estimator: str = "given"
    n: int | None = None
    size: int | None = None
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
        places = {"set": f"this set of {self.size} items", "population": "inputs like these"}
        where = places.get(self.target, "the chosen items")
        source = "from given scores" if self.n is None else f"from {self.n} judged items"
        return f"{len(self.models)} models by {self.aspect} on {where}, {source}"

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The significance groups, best first."""
        numbers = sorted({model.group for model in self.models if model.group is not None})
        return tuple(tuple(one.model for one in self.models if one.group == number) for number in numbers)

    def __repr__(self) -> str:
        return f"Ranking({self.headline})"

    def __str__(self) -> str:
        """Return the groups in one line, best first."""
        return f"{self.headline}: " + " > ".join(" = ".join(group) for group in self.groups)

    def _repr_html_(self) -> str:
        names = ("ranks", "model", "score", "standard_error", "standardised", "group", "chance_of_best")
        rows = [tuple(getattr(one, name) for name in names) for one in self.models]
        columns = [name.replace("_", " ") for name in names]
        return html_table(columns, rows, self.headline, "; ".join(self.notes))

    def margin_test(self, question: Question, model: str, against: str, margin: float) -> MarginTest:
        """Ask whether a model is non-inferior, equivalent or superior to another, with a margin."""
        one, other = self._place(model), self._place(against)
        if one == other:
            raise UsageError(f"A claim is about two models, not about {model} and itself.")
        if self.target == "chosen":
            raise UsageError("A claim needs items that were drawn by known chances; these were not.")
        scores = [np.nan if held.score is None else held.score for held in self.models]
        told = pair_tells(self.covariance)[one, other]
        error = float(pair_errors(self.covariance)[one, other]) if told else 0.0
        return margin_test(
            question,
            scores[one] - scores[other],
            error,
            margin,
            degrees=self.freedom,
            alpha=self.alpha,
            model=model,
            against=against,
            certain=self.certain,
        )

    def with_claim(self, question: Question, model: str, against: str, margin: float) -> Ranking:
        """Return the ranking with the answer to a question with a margin, in its signature too."""
        claim = self.margin_test(question, model, against, margin)
        signed = None if self.signature is None else self.signature.with_claim(claim)
        return replace(self, claim=claim, signature=signed)

    def to_dict(self) -> dict[str, Any]:
        """Return the ranking as plain values, as its file holds it; what is not known is None."""
        names = ("aspect", "target", "estimator", "n", "size", "test", "groups_by", "alpha", "certain")
        return {
            "format": FORMAT,
            "version": VERSION,
            "signature": None if self.signature is None else self.signature.to_dict(),
            **{name: getattr(self, name) for name in names},
            # None stands for infinitely many, which JSON cannot write.
            "freedom": plain(self.freedom) if np.isfinite(self.freedom) else None,
            "models": [asdict(model) for model in self.models],
            "groups": [list(group) for group in self.groups],
            "p_values": plain(self.p_values),
            "corrected": plain(self.corrected),
            "full_set": None if self.full_set is None else plain(self.full_set),
            "covariance": plain(self.covariance),
            "notes": list(self.notes),
            "claim": None if self.claim is None else {**vars(self.claim), "shown": self.claim.shown},
            **({} if self.expected is None else {"expected": self.expected.to_dict()}),
            **self.unknown,
            "selection": None if self.selection is None else self.selection.to_dict(),
        }

    def save(self, path: str | Path) -> None:
        """Write the ranking with the selection behind it as JSON, whole or not at all."""
        files.write_json(Path(path), self.to_dict())

    @classmethod
    def load(cls, path: str | Path) -> Ranking:
        """Read a ranking from its file."""
        from sparingly.infer.rank.saved import load_ranking

        return load_ranking(Path(path))

    def _place(self, model: str) -> int:
        names = [held.model for held in self.models]
        if model not in names:
            raise UnknownNameError("model", model, names)
        return names.index(model)
