"""Whom a selection over-represents: shares, coverage, blind spots and metric means, against the set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.base.format import html_table
from sparingly.data import fields
from sparingly.data.describe.documents import coded
from sparingly.data.describe.representation_leanings import Leaning, leanings
from sparingly.data.describe.representation_metrics import (
    BlindSpots,
    MetricShares,
    blind_spots,
    flag_shares,
    flags_of,
    metric_shares,
)
from sparingly.data.describe.representation_shares import (
    Share,
    document_length_shares,
    domain_shares,
    source_length_shares,
)
from sparingly.data.evalset import EvalSet

if TYPE_CHECKING:
    from sparingly.data.selection import Selection

DOUBLING = (1, 2, 4, 8, 16, 32, 64, 128)
WEIGHED = "scores weigh every item by one over its probability: this costs precision, and does not mislead."


@dataclass(frozen=True)
class Covered:
    """How much of something a selection touches: items, documents, domains, or outputs (of a model)."""

    what: str
    selected: int
    of: int

    @property
    def share(self) -> float:
        """``selected / of``."""
        return self.selected / self.of if self.of else 1.0


@dataclass(frozen=True)
class MeanOfModel:
    """A model's mean of a metric on the full set and on the selected items; None where it has no score."""

    metric: str
    model: str
    full: float | None
    selected: float | None


@dataclass(frozen=True)
class Representation:
    """A selection against the set that it was chosen from.

    Attributes:
        n: Selected items.
        of: Items of the set.
        coverage: How many items, documents, domains and outputs the selection touches.
        domains: Shares by domain.
        document_lengths: Shares of items by the length of the document that they come from (Lo and Knowles
            2023, Table 4): samples that favour short documents do not speak for long ones.
        source_lengths: Shares by quarter of the set's source lengths.
        metrics: Shares by quarter of every metric's item means.
        flags: Shares of items that no metric flags (their means lie in the better half of every metric). A
            selection that has none of them cannot find out what the metrics miss.
        blind_spots: For every aspect, shares of the judged items that people find bad, by whether a metric
            flags them.
        cost: Mean cost of the set's items and of the selected ones, or None.
        means: Every metric's mean by model. Selected items may be harder or easier than the set.
        leanings: What is badly over- or under-represented.
        notes: What to mind.
    """

    n: int
    of: int
    coverage: tuple[Covered, ...]
    domains: tuple[Share, ...]
    document_lengths: tuple[Share, ...]
    source_lengths: tuple[Share, ...]
    metrics: tuple[MetricShares, ...]
    flags: tuple[Share, ...]
    blind_spots: tuple[BlindSpots, ...]
    cost: tuple[float, float] | None
    means: tuple[MeanOfModel, ...]
    leanings: tuple[Leaning, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def kinds(self) -> dict[str, tuple[Share, ...]]:
        """All shares by what they are shares of, in the order in which they are shown."""
        return {
            "domain": self.domains,
            "document of": self.document_lengths,
            "source": self.source_lengths,
            **{f"metric {one.metric}": one.quarters for one in self.metrics},
            "metrics": self.flags,
            **{f"judged {one.aspect}": one.groups for one in self.blind_spots},
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain values, for JSON."""
        plain = asdict(self)
        return {**plain, "coverage": [{**asdict(part), "share": part.share} for part in self.coverage]}

    def _repr_html_(self) -> str:
        rows = [
            (kind, share.group, share.full_share, share.selected_share, share.ratio)
            for kind, shares in self.kinds.items()
            for share in shares
        ]
        head = ("by", "group", "share of the set", "share of the selection", "ratio")
        after = " ".join((*(one.text for one in self.leanings), *self.notes))
        return html_table(head, rows, f"{self.n} of {self.of} items", after)


def representation(
    data: EvalSet,
    items: Selection | Iterable[str],
    *,
    document_bands: Sequence[int] = DOUBLING,
    metrics: Sequence[str] | None = None,
) -> Representation:
    """Compare selected items with the whole set.

    Args:
        data: The set that they were chosen from.
        items: The selection, or the ids of its items; one that is there twice counts once.
        document_bands: Where each band of document lengths begins; doubling lengths unless given
            (``(1, 10, 20, 30, 40, 50)`` are those of Lo and Knowles 2023).
        metrics: The metrics whose flags and blind spots are looked at; all of them unless given. The more
            there are, the fewer items none of them flags.
    """
    if list(document_bands) != sorted(set(document_bands)):
        raise UsageError(f"Bands of document lengths must ascend, not {list(document_bands)}.")
    rows = np.unique(data.positions(_ids(items)))
    for name in metrics or ():
        if name not in data.metrics:
            raise UnknownNameError("metric", name, data.metrics)
    flags = flags_of(data, data.metrics if metrics is None else metrics)
    parts: dict[str, Any] = {
        "domains": domain_shares(data, rows),
        "document_lengths": document_length_shares(data, rows, document_bands),
        "source_lengths": source_length_shares(data, rows),
        "metrics": metric_shares(data, rows),
        "flags": flag_shares(flags, rows),
        "blind_spots": blind_spots(data, flags, rows),
    }
    found = Representation(
        n=len(rows),
        of=len(data),
        coverage=tuple(_coverage(data, rows, _models(items))),
        cost=_mean_cost(data, rows),
        means=_means(data, rows),
        **parts,
    )
    badly = leanings(found.kinds)
    weighed = badly and getattr(items, "has_unequal_weights", False)
    return replace(found, leanings=badly, notes=(WEIGHED,) if weighed else ())


def _ids(selected: Selection | Iterable[str]) -> Iterable[str]:
    """Return the ids of a selection; what has them as a method (a mapping) is gone through."""
    items: Any = getattr(selected, "items", None)
    return cast("Iterable[str]", selected if items is None or callable(items) else items)


def _models(selected: Selection | Iterable[str]) -> Sequence[tuple[str, ...] | None] | None:
    """Return the models that the rows of a selection ask for; None where all of them ask for all."""
    names: Any = getattr(selected, "models", None)
    return None if names is None or callable(names) else cast("Sequence[tuple[str, ...] | None]", names)


def _coverage(data: EvalSet, rows: Ints, asked: Sequence[tuple[str, ...] | None] | None) -> Iterator[Covered]:
    """Yield how much of the items, documents, domains and, where rows name models, outputs is selected."""
    yield Covered("items", len(rows), len(data))
    for what, column in (("documents", fields.DOCUMENT), ("domains", fields.DOMAIN)):
        codes, names = coded(data, column)
        if names:
            there = codes[rows]
            yield Covered(what, len(np.unique(there[there >= 0])), len(names))
    if asked is not None:
        counts = _outputs(data.models, asked)
        yield Covered("outputs", sum(counts.values()), len(data) * len(data.models))
        yield from (Covered(f"outputs of {name}", count, len(data)) for name, count in counts.items())


def _outputs(models: Sequence[str], asked: Sequence[tuple[str, ...] | None]) -> Mapping[str, int]:
    counts = dict.fromkeys(models, 0)
    for names in asked:
        for name in models if names is None else names:
            counts[name] = counts.get(name, 0) + 1
    return {name: counts[name] for name in models}


def _mean_cost(data: EvalSet, rows: Ints) -> tuple[float, float] | None:
    if fields.COST not in data.columns:
        return None
    full, selected = data.columns[fields.COST], data.columns[fields.COST][rows]
    if np.isnan(full).all() or np.isnan(selected).all():
        return None
    return float(np.nanmean(full)), float(np.nanmean(selected))


def _means(data: EvalSet, rows: Ints) -> tuple[MeanOfModel, ...]:
    return tuple(
        MeanOfModel(metric, model, _known(full), _known(selected))
        for metric, values in data.metrics.items()
        for model, full, selected in zip(
            data.models, _mean_by_model(values), _mean_by_model(values[rows]), strict=True
        )
    )


def _mean_by_model(values: Floats) -> list[float]:
    there = ~np.isnan(values)
    count = there.sum(axis=0)
    total = np.where(there, values, 0.0).sum(axis=0)
    means: list[float] = np.where(count > 0, total / np.maximum(count, 1), np.nan).tolist()
    return means


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value
