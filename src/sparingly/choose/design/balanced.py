"""Probability designs that spread or balance the sample: ``local_pivotal`` and ``cube``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from sparingly.base.arrays import Floats, Mask
from sparingly.base.errors import MissingDataError, UnknownNameError, UsageError
from sparingly.base.registry import parameter, register
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.draws import draw_cube, draw_local_pivotal
from sparingly.choose.design.probability_design import Frame, ProbabilityDesign
from sparingly.choose.design.selector import file_stamp, remembered
from sparingly.choose.design.variables import (
    METRICS,
    Space,
    column_labels,
    column_numbers,
    field_of,
    has_documents,
    indicators,
    is_column,
    metric_points,
    principal,
    resolve_names,
    scores_of,
    text_points,
    with_documents,
    with_means,
)
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.signals.embed.evalset import EMBEDDING_HELP, embedding_fields
from sparingly.signals.length import SOURCE_LENGTH


@register("local_pivotal")
@dataclass(frozen=True)
class LocalPivotal(ProbabilityDesign):
    """Draws units spread over a space, so that near ones are rarely both drawn, with known probabilities.

    π_i = min(1, (1 − τ)·n/N + τ·κ·u_i) as for ``pivotal``, but nearest neighbours meet. Points are the
    models' metric scores (standardised), embeddings of the sources, mean embeddings of the outputs, or the
    distances between outputs, in the ``dimensions`` directions in which they vary most; where there are
    documents, their items lie together. A drawn document lies at the mean of its items. Under a cost three
    neighbours meet, and no draw exceeds the budget.

    Choose it for varied items and unbiased scores. It helps as far as near items score alike; otherwise it is
    as good as ``pivotal``.
    """

    reference: ClassVar[str] = "Grafström, Lundström and Schelin 2012; Grafström and Tillé 2013 with costs"
    how: ClassVar[str] = "drawn by the local pivotal method"
    in_order_of_cost: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ("what its space and utility need",)

    space: Space = parameter("metrics", "what items are near in")  # noqa: RUF009 - a field
    metrics: tuple[str, ...] = parameter((), "with space=metrics: the metrics; default: all")
    embedding: str = parameter("tfidf", EMBEDDING_HELP)
    dimensions: int = parameter(5, "how many directions are used; more is slower", minimum=1)
    documents: bool | None = parameter(
        None, "whether items of a document are near, too; default: yes where documents have several"
    )

    def resolve(self, data: EvalSet, budget: Budget) -> Self:
        """Resolve the metrics and the documents."""
        are_shared = has_documents(data)
        if self.documents and not are_shared:
            raise MissingDataError(
                "No document has several items, so none can be near: leave out documents=true."
            )
        if self.documents and self.unit == "document":
            raise UsageError("With unit=document whole documents are drawn: leave out documents=true.")
        documents = are_shared and self.unit == "item" if self.documents is None else self.documents
        resolved = replace(super().resolve(data, budget), documents=documents)
        if self.space != "metrics":
            return resolved
        for name in self.metrics:
            if name not in data.metrics:
                raise UnknownNameError("metric", name, data.metrics)
        if not len(data.metrics):
            raise MissingDataError(
                "The space of metrics needs metrics, and the evaluation set has none. Name another space: "
                "space=source or space=output_mean."
            )
        return replace(resolved, metrics=self.metrics or tuple(data.metrics))

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read what the probabilities need, and the metrics or texts of the space."""
        if self.space == "metrics":
            metric_fields = frozenset(map(fields.metric, self.metrics))
        else:
            metric_fields = embedding_fields(self.embedding, outputs=self.space != "source")
        document_fields = {fields.column(fields.DOCUMENT)} if self.documents else set()
        return super().reads(data) | metric_fields | document_fields

    def coordinates(self, data: EvalSet) -> Floats:
        """Return where the items lie (items × dimensions)."""

        def compute() -> Floats:
            if self.space == "metrics":
                points = metric_points(data, self.metrics or tuple(data.metrics))
            else:
                points = text_points(data, self.space, self.embedding)
            points = principal(points, self.dimensions)
            return with_documents(points, data.columns[fields.DOCUMENT]) if self.documents else points

        points_of = (self.space, self.metrics, self.embedding, file_stamp(self.embedding))
        return remembered(data, ("coordinates", *points_of, self.dimensions, self.documents), compute)

    def draw(self, frame: Frame, generator: np.random.Generator) -> Mask:
        """Draw by meetings of neighbours."""
        inside = self.coordinates(frame.data)[frame.units.rows]
        points = np.column_stack([frame.units.mean(column) for column in inside.T])
        return draw_local_pivotal(frame.chances, points, generator, frame.charges)


_MOST_SCORES = 20
_MOST_GROUPS = 50


@register("cube")
@dataclass(frozen=True)
class Cube(ProbabilityDesign):
    """Draws a sample whose weighted totals of metrics and columns equal those of all items.

    Σ_{i∈S} x_i/π_i = Σ_i x_i for every balancing variable x, as nearly as whole units allow; π_i as for
    ``pivotal``. Variables: the models' scores by every metric (the items' means where these are over 20
    columns), an indicator for each group of a column of texts, a column of numbers, lengths. Under a cost the
    cost is matched too, and no draw exceeds the budget.

    Choose it when a regression of the scores on the metrics explains something: the design then has the gain
    of a control variate before any label is there. Many variables for few units balance loosely.
    """

    reference: ClassVar[str] = "Deville and Tillé 2004; Chauvet and Tillé 2006"
    how: ClassVar[str] = "drawn by the cube method"
    in_order_of_cost: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ("what its balance and utility need",)

    balance: tuple[str, ...] = parameter(
        (), "what to balance on: metrics, columns, source_length, output_length; default: all there is"
    )

    def resolve(self, data: EvalSet, budget: Budget) -> Self:
        """Resolve the variables to balance."""
        names = resolve_names(data, self.balance or _usual(data))
        if not names:
            raise MissingDataError(
                "There are no metrics, domains or sources to balance on: name columns with balance=[…]."
            )
        return replace(super().resolve(data, budget), balance=names)

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read what the probabilities need, and what is balanced."""
        return super().reads(data) | ({field_of(data, name) for name in self.balance} & set(data.fields))

    def balance_variables(self, data: EvalSet) -> Floats:
        """Return the balancing variables of the items (items × variables): 1, groups, scores, lengths."""

        def compute() -> Floats:
            columns = [name for name in self.balance if is_column(data, name)]
            scores = [scores_of(data, name) for name in self.balance if name not in columns]
            if sum(part.shape[1] for part in scores) > _MOST_SCORES:
                scores = [part.mean(axis=1, keepdims=True) for part in scores]
            groups = [_of_column(data, name) for name in columns]
            return np.column_stack([np.ones(len(data)), *groups, *scores])

        return remembered(data, ("balance", self.balance), compute)

    def draw(self, frame: Frame, generator: np.random.Generator) -> Mask:
        """Draw by the cube method."""
        inside = self.balance_variables(frame.data)[frame.units.rows]
        variables = np.column_stack([frame.units.total(column) for column in inside.T])
        return draw_cube(frame.chances, variables, generator, frame.charges)

    def remarks(self, frame: Frame) -> tuple[str, ...]:
        """Return notes on how much is balanced, and whether that is too much."""
        count = self.balance_variables(frame.data).shape[1]
        note = f"balanced on {count} variables."
        if 2 * count > frame.count:
            note = f"balanced on {count} variables, loosely: they are many for {frame.count} drawn units."
        return (note,)


def _usual(data: EvalSet) -> list[str]:
    """Return what is balanced unless something is named: all metrics, the domain, the source's length."""
    names = [METRICS] if len(data.metrics) else []
    if fields.DOMAIN in data.columns and 1 < len(set(column_labels(data, fields.DOMAIN))) <= _MOST_SCORES:
        names.append(fields.column(fields.DOMAIN))
    return [*names, SOURCE_LENGTH] if data.sources is not None else names


def _of_column(data: EvalSet, name: str) -> Floats:
    numbers = column_numbers(data, name)
    if numbers is not None:
        return with_means(numbers[:, None])
    groups = indicators(column_labels(data, name))
    if groups.shape[1] > _MOST_GROUPS:
        raise UsageError(
            f'"{name}" has {groups.shape[1]} groups, too many to balance on; at most {_MOST_GROUPS} are.'
        )
    return groups
