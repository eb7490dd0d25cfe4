"""The description of an evaluation set: all that is in it, missing from it, and odd about it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sparingly.base.format import counted, html_table
from sparingly.data import fields
from sparingly.data.describe import oddities
from sparingly.data.describe.copies import Copy, copies
from sparingly.data.describe.correlations import Correlation, correlations
from sparingly.data.describe.coverage import Coverage, coverage
from sparingly.data.describe.documents import Documents, documents, domains
from sparingly.data.describe.judgements import (
    PreferencesSummary,
    RatingsSummary,
    preferences,
    ratings,
)
from sparingly.data.describe.oddities import Oddity
from sparingly.data.describe.scores import Scores, scores_of
from sparingly.data.describe.texts import Texts, texts
from sparingly.data.evalset import EvalSet


@dataclass(frozen=True, repr=False)
class Description:
    """What is in an evaluation set, what is missing, and what is odd.

    Attributes:
        name: Where the set came from.
        items: The number of items.
        models: The ids of the models.
        metrics: The range of every metric.
        aspects: The range of every aspect.
        references: The names of the references.
        columns: The columns of the items.
        cells: The further columns of the cells.
        coverage: How much of every field is there.
        correlations: How every metric agrees with every aspect.
        copies: Metrics that repeat others.
        documents: The documents, or None.
        domains: Items by domain, the largest first.
        texts: What is odd about texts, or None when there are none.
        ratings: The ratings, or None.
        preferences: The preferences, or None.
        absent: The kinds of things that the set has none of.
        odd: What a user should look at, in sentences.
    """

    name: str
    items: int
    models: tuple[str, ...]
    metrics: tuple[Scores, ...]
    aspects: tuple[Scores, ...]
    references: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[str, ...]
    coverage: tuple[Coverage, ...]
    correlations: tuple[Correlation, ...]
    copies: tuple[Copy, ...]
    documents: Documents | None
    domains: dict[str, int]
    texts: Texts | None
    ratings: RatingsSummary | None
    preferences: PreferencesSummary | None
    absent: tuple[str, ...]
    odd: tuple[Oddity, ...]

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


def describe(data: EvalSet) -> Description:
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
    metrics, pairs, same = scores_of(data.metrics), correlations(data), copies(data.metrics)
    their_texts, their_ratings, their_documents = texts(data), ratings(data), documents(data)
    odd = (
        *oddities.of_metrics(metrics, pairs, same),
        *oddities.of_texts(their_texts),
        *oddities.of_ratings(their_ratings),
        *oddities.of_documents(their_documents),
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
        copies=same,
        documents=their_documents,
        domains=domains(data),
        texts=their_texts,
        ratings=their_ratings,
        preferences=preferences(data),
        absent=_absent(data),
        odd=odd,
    )


def _absent(data: EvalSet) -> tuple[str, ...]:
    """Name the kinds of things that the set has none of."""
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
    return tuple(kind for kind, there in has.items() if not there)
