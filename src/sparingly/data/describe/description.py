"""The description of an evaluation set: all that is in it, missing from it, and odd about it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Mask
from sparingly.base.format import counted, html_table
from sparingly.base.tabular import Tabular
from sparingly.data import fields
from sparingly.data.describe import oddities
from sparingly.data.describe.documents import DocumentsSummary, TextsSummary, documents, domains, texts
from sparingly.data.describe.epochs import EpochVariance, epoch_variances
from sparingly.data.describe.judgements import PreferencesSummary, RatingsSummary, preferences, ratings
from sparingly.data.describe.metrics import Copy, Correlation, ScoreRange, copies, correlations, scores_of
from sparingly.data.describe.oddities import Oddity
from sparingly.data.evalset import EvalSet
from sparingly.data.io.given import DataLike, as_evalset

_EXAMPLES = 5


@dataclass(frozen=True)
class Coverage:
    """How much of a field is there."""

    field: str  # such as ``metric:chrF`` or ``outputs``; ``reference:NAME`` is one reference
    present: int  # the number of cells (of items, for texts that items have) that are there
    of: int  # the number that could be there
    share: float  # ``present / of``
    models: dict[str, int]  # how many cells each model lacks; models that lack none are left out
    items: int  # the number of items that lack at least one cell
    examples: tuple[str, ...]  # the first few of those items


def coverage(data: EvalSet) -> tuple[Coverage, ...]:
    """Return the coverage of every metric, aspect and text, and of the columns that methods know."""
    values: dict[str, NDArray[Any]] = {fields.metric(name): scores for name, scores in data.metrics.items()}
    values |= {fields.aspect(name): scores for name, scores in data.aspects.items()}
    if data.outputs is not None:
        values["outputs"] = data.outputs
    if data.sources is not None:
        values["sources"] = data.sources
    if data.reference_texts is not None:
        for place, name in enumerate(data.references):
            values[f"reference:{name}"] = data.reference_texts[:, place]
    for name in (*fields.TEXT_COLUMNS, *fields.NUMBER_COLUMNS):
        if name in data.columns:
            values[fields.column(name)] = data.columns[name]
    rows = []
    for field, array in values.items():
        present = is_present(array)
        lacking = ~(present if present.ndim == 1 else present.all(axis=1))
        by_model = (~present).sum(axis=0).tolist() if present.ndim == 2 else []
        rows.append(
            Coverage(
                field=field,
                present=int(present.sum()),
                of=present.size,
                share=float(present.mean()) if present.size else 1.0,
                models={name: count for name, count in zip(data.models, by_model, strict=False) if count},
                items=int(lacking.sum()),
                examples=tuple(data.items[np.flatnonzero(lacking)[:_EXAMPLES]]),
            )
        )
    return tuple(rows)


def is_present(values: NDArray[Any]) -> Mask:
    """Say which texts are not None, or which numbers are not NaN."""
    present: Mask = values != np.empty(1, object) if values.dtype == object else ~np.isnan(values)
    return present.astype(bool, copy=False)


@dataclass(frozen=True, repr=False)
class Description(Tabular):
    """What is in an evaluation set, what is missing, and what is odd."""

    rows_key: ClassVar[str] = "coverage"

    name: str  # where the set came from
    items: int  # the number of items
    models: tuple[str, ...]  # the ids of the models
    metrics: tuple[ScoreRange, ...]  # the range of every metric
    aspects: tuple[ScoreRange, ...]  # the range of every aspect
    references: tuple[str, ...]  # the names of the references
    columns: tuple[str, ...]  # the columns of the items
    cells: tuple[str, ...]  # the further columns of the cells
    coverage: tuple[Coverage, ...]  # how much of every field is there
    correlations: tuple[Correlation, ...]  # how every metric agrees with every aspect
    copies: tuple[Copy, ...]  # metrics that repeat others
    documents: DocumentsSummary | None  # the documents, or None
    domains: dict[str, int]  # items by domain, the largest first
    texts: TextsSummary | None  # what is odd about texts, or None when there are none
    ratings: RatingsSummary | None  # the ratings, or None
    preferences: PreferencesSummary | None  # the preferences, or None
    absent: tuple[str, ...]  # the kinds of things that the set has none of
    odd: tuple[Oddity, ...]  # what a user should look at, in sentences
    epochs: tuple[EpochVariance, ...] = ()  # how much of every repeated score is noise between epochs

    @property
    def _shape(self) -> str:
        return f"{counted(self.items, 'item')} x {counted(len(self.models), 'model')}"

    def __repr__(self) -> str:
        kinds = f"{len(self.metrics)} metrics, {len(self.aspects)} aspects"
        return f"Description({self._shape}; {kinds}; {len(self.odd)} oddities)"

    def to_dict(self) -> dict[str, Any]:
        """Return the description as plain values, for JSON."""
        return asdict(self)

    def _repr_html_(self) -> str:
        rows = [
            (pair.metric, pair.aspect, pair.pooled, pair.within, pair.differences)
            for pair in self.correlations
        ]
        head = ("metric", "aspect", "r over all outputs", "r within items", "r of differences")
        title = f"{self.name or 'evaluation set'}: {self._shape}"
        return html_table(head, rows, title, " ".join(oddity.text for oddity in self.odd))


def describe(data: DataLike) -> Description:
    """Describe an evaluation set.

    Read ``odd`` before anything else; then the correlations of differences: they say which metric is worth
    selecting with.

    Examples:
        >>> import sparingly
        >>> data = sparingly.EvalSet.from_arrays(
        ...     items=["a", "b"], models=["tiny", "large"],
        ...     metrics={"TER": [[60.0, 40.0], [45.0, 43.0]]},
        ...     aspects={"overall": [[2.0, 5.0], [3.0, 3.5]]},
        ... )
        >>> description = sparingly.describe(data)
        >>> round(description.correlations[0].differences, 3)
        -0.998
        >>> description.absent[:3]
        ('sources', 'outputs', 'references')
    """
    data = as_evalset(data)
    has = {
        "metrics": bool(data.metrics),
        "aspects": bool(data.aspects),
        "sources": data.sources is not None,
        "outputs": data.outputs is not None,
        "references": bool(data.references),
        "documents": fields.DOCUMENT in data.columns,
        "domains": fields.DOMAIN in data.columns,
        "costs": fields.COST in data.columns,
        "ratings": len(data.ratings) > 0,
        "preferences": len(data.preferences) > 0,
    }
    metrics, pairs, duplicates = scores_of(data.metrics), correlations(data), copies(data.metrics)
    text_summary, ratings_summary, document_summary = texts(data), ratings(data), documents(data)
    odd = (
        *oddities.of_metrics(metrics, pairs, duplicates),
        *oddities.of_texts(text_summary),
        *oddities.of_ratings(ratings_summary),
        *oddities.of_documents(document_summary),
    )
    return Description(
        name=data.name,
        items=len(data),
        models=data.models,
        metrics=metrics,
        aspects=scores_of(data.aspects),
        references=data.references,
        columns=tuple(data.columns),
        cells=tuple(data.cells),
        coverage=coverage(data),
        correlations=pairs,
        copies=duplicates,
        documents=document_summary,
        domains=domains(data),
        texts=text_summary,
        ratings=ratings_summary,
        preferences=preferences(data),
        absent=tuple(kind for kind, is_there in has.items() if not is_there),
        odd=odd,
        epochs=epoch_variances(data),
    )
