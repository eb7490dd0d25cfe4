"""``local_pivotal``: a sample that is spread over a space of metrics or texts, with known probabilities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from sparingly.base.arrays import Floats, Mask
from sparingly.base.errors import MissingDataError, UnknownNameError, UsageError
from sparingly.base.registry import parameter, register
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.draw.local_pivotal import draw_local_pivotal
from sparingly.choose.design.probability_design import Frame, ProbabilityDesign
from sparingly.choose.design.space import (
    Space,
    metric_points,
    principal,
    shares_documents,
    text_points,
    with_documents,
)
from sparingly.choose.design.whole_set import file_stamp, remembered
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.signals.embed.evalset import embedding_fields


@register("local_pivotal")
@dataclass(frozen=True)
class LocalPivotal(ProbabilityDesign):
    """Draws units that are spread over a space: of two near ones seldom both, each with a known probability.

    π_i = min(1, (1 − τ)·n/N + τ·κ·u_i) as for ``pivotal``, but nearest neighbours meet. Points are the
    models' metric scores (standardised), embeddings of the sources, mean embeddings of the outputs, or the
    distances between outputs, in the ``dimensions`` directions in which they vary most; where there are
    documents, their items lie together. A drawn document lies at the mean of its items. Under a cost three
    neighbours meet, and no draw exceeds the budget.

    Choose it for what clustering is after, varied items, with scores that stay unbiased. It helps as far as
    near items have like scores; where they have not, it is as good as ``pivotal``.
    """

    reference: ClassVar[str] = "Grafström, Lundström and Schelin 2012; Grafström and Tillé 2013 with costs"
    how: ClassVar[str] = "drawn by the local pivotal method"
    needs: ClassVar[tuple[str, ...]] = ("what its space and utility need",)

    space: Space = parameter("metrics", "what items are near in")  # noqa: RUF009 - a field
    metrics: tuple[str, ...] = parameter((), "with space=metrics: the metrics; all unless given")
    embedding: str = parameter(
        "tfidf", "tfidf, a sentence-transformers model, or column:NAME, FILE.npy, FILE.parquet"
    )
    dimensions: int = parameter(5, "how many directions are kept; more is slower", minimum=1)
    documents: bool | None = parameter(
        None, "whether items of a document are near, too; yes where documents have several, unless given"
    )

    def resolve(self, data: EvalSet, budget: Budget) -> Self:
        """Settle the metrics."""
        settled = replace(super().resolve(data, budget), documents=self._settled_documents(data))
        if self.space != "metrics":
            return settled
        for name in self.metrics:
            if name not in data.metrics:
                raise UnknownNameError("metric", name, data.metrics)
        if not len(data.metrics):
            raise MissingDataError(
                "The space of metrics needs metrics, and the evaluation set has none. Name another space: "
                "space=source or space=output_mean."
            )
        return replace(settled, metrics=self.metrics or tuple(data.metrics))

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read what the probabilities need, and the metrics or texts of the space."""
        if self.space == "metrics":
            own = frozenset(map(fields.metric, self.metrics))
        else:
            own = embedding_fields(self.embedding, outputs=self.space != "source")
        where = {fields.column(fields.DOCUMENT)} if self.documents else set()
        return super().reads(data) | own | where

    def _settled_documents(self, data: EvalSet) -> bool:
        there = fields.DOCUMENT in data.columns and shares_documents(data.columns[fields.DOCUMENT])
        if self.documents and not there:
            raise MissingDataError(
                "No document has several items, so none can be near: leave out documents=true."
            )
        if self.documents and self.unit == "document":
            raise UsageError("With unit=document whole documents are drawn: leave out documents=true.")
        return there and self.unit == "item" if self.documents is None else self.documents

    def coordinates(self, data: EvalSet) -> Floats:
        """Return where the items lie (items × dimensions)."""
        key = (
            self.space,
            self.metrics,
            self.embedding,
            file_stamp(self.embedding),
            self.dimensions,
            self.documents,
        )
        return remembered(data, ("coordinates", *key), lambda: self._coordinates(data))

    def _coordinates(self, data: EvalSet) -> Floats:
        if self.space == "metrics":
            points = metric_points(data, self.metrics or tuple(data.metrics))
        else:
            points = text_points(data, self.space, self.embedding)
        points = principal(points, self.dimensions)
        return with_documents(points, data.columns[fields.DOCUMENT]) if self.documents else points

    @property
    def in_order_of_cost(self) -> bool:
        """Costs are kept by the steps of the draw, not by an order."""
        return False

    def draw(self, frame: Frame, generator: np.random.Generator) -> Mask:
        """Draw by meetings of neighbours."""
        inside = self.coordinates(frame.data)[frame.units.rows]
        points = np.column_stack([frame.units.mean(column) for column in inside.T])
        return draw_local_pivotal(frame.chances, points, generator, frame.charges)
