"""Whom a selection over-represents: shares, coverage, blind spots and metric means, against the set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.checks import check_names
from sparingly.base.errors import UsageError
from sparingly.base.format import counted, share_text
from sparingly.base.lazy import stats
from sparingly.base.stats.moments import row_means
from sparingly.base.summary import Summary, Tabular
from sparingly.data import fields
from sparingly.data.describe.documents import coded
from sparingly.data.evalset import EvalSet

if TYPE_CHECKING:
    from sparingly.data.selection import Selection


WORDS = "words"
_MOST_METRICS, _MOST_LEANINGS = 2, 6
LENGTHS = ("shortest quarter", "second quarter", "third quarter", "longest quarter")
SCORES = ("lowest quarter", "second quarter", "third quarter", "highest quarter")


@dataclass(frozen=True)
class Share:
    """How much of the set and of the selection is of one kind."""

    group: str  # the kind, such as a domain or a band of lengths
    items: int  # items of the set that are of it
    selected: int  # selected items that are of it
    full_share: float  # ``items`` as a share of the set
    selected_share: float  # ``selected`` as a share of the selection
    ratio: float  # the second share over the first: above 1 is over-represented


def shares(
    codes: Ints, names: Sequence[str], rows: Ints, order: Iterable[int] | None = None
) -> tuple[Share, ...]:
    """Return the shares of every group that the set has items of; items of none (-1) are left out."""
    set_counts = np.bincount(codes[codes >= 0], minlength=len(names))
    selected_codes = codes[rows]
    selected_counts = np.bincount(selected_codes[selected_codes >= 0], minlength=len(names))
    in_set, selected = (
        set_counts / max(set_counts.sum(), 1),
        selected_counts / max(selected_counts.sum(), 1),
    )
    return tuple(
        Share(
            group=names[code],
            items=int(set_counts[code]),
            selected=int(selected_counts[code]),
            full_share=float(in_set[code]),
            selected_share=float(selected[code]),
            ratio=float(selected[code] / in_set[code]),
        )
        for code in (range(len(names)) if order is None else order)
        if set_counts[code]
    )


def document_length_shares(data: EvalSet, rows: Ints, bands: Sequence[int]) -> tuple[Share, ...]:
    """Return the shares by the length of the document that items come from."""
    codes, names = coded(data, fields.DOCUMENT)
    if not names:
        return ()
    lengths = np.bincount(codes[codes >= 0], minlength=len(names))
    band = np.searchsorted(np.asarray(bands), lengths, side="right") - 1
    of_item = np.where(codes >= 0, band[codes], -1)
    ends = [(first, following - 1) for first, following in pairwise(bands)]
    band_names = [str(last) if last == first else f"{first}-{last}" for first, last in ends]
    return shares(of_item, [*band_names, *(f"{last} and more" for last in bands[-1:])], rows)


def source_length_shares(data: EvalSet, rows: Ints) -> tuple[Share, ...]:
    """Return the shares by source length: of characters, or of words where there is no text."""
    if data.sources is not None:
        texts: list[str | None] = data.sources.tolist()
        lengths = np.array([np.nan if text is None else len(text) for text in texts], np.float64)
        return quarter_shares(lengths, rows, LENGTHS, " characters")
    if WORDS in data.columns and data.columns[WORDS].dtype != object:
        return quarter_shares(np.asarray(data.columns[WORDS], np.float64), rows, LENGTHS, " words")
    return ()


def quarter_shares(
    values: Floats, rows: Ints, names: Sequence[str], unit: str = "", digits: int = 6
) -> tuple[Share, ...]:
    """Cut the set at the quartiles of a number per item; items without one (NaN) are left out."""
    present = ~np.isnan(values)
    if not present.any():
        return ()
    cuts = np.quantile(values[present], [0.25, 0.5, 0.75])
    quarter = np.where(present, np.searchsorted(cuts, np.where(present, values, 0.0), side="left"), -1)
    limits = [f"{limit:.{digits}g}{unit}" for limit in cuts]
    ends = [*(f"up to {limit}" for limit in limits), f"over {limits[-1]}"]
    return shares(quarter, [f"{name} ({end})" for name, end in zip(names, ends, strict=True)], rows)


# --- what is badly over- or under-represented ---


FACTOR, CHANCE = 2.0, 0.001


@dataclass(frozen=True)
class Leaning:
    """A group of which a selection has far too much or far too little."""

    by: str  # what the group is a group of, such as domain
    group: str
    ratio: float  # its share of the selection over its share of the set
    p_value: float  # how likely a random draw of as many items is as far off, either way
    text: str  # a sentence for people


def leanings(kinds: Mapping[str, tuple[Share, ...]]) -> tuple[Leaning, ...]:
    """Return the groups that are badly represented, the least likely first.

    A group counts when its share is more than doubled or less than halved *and* a random draw of as many
    items would hardly do that: twice the smaller tail of the hypergeometric distribution, times the number of
    groups looked at (Bonferroni), below 0.001. Small selections miss small groups by chance; that is no sign.
    """
    looked_at = sum(map(len, kinds.values()))
    rows = []
    for by, group in kinds.items():
        far = [not 1 / FACTOR <= share.ratio <= FACTOR for share in group]
        if not any(far):
            continue
        items, selected = np.array([(share.items, share.selected) for share in group]).T
        random_draw = stats.hypergeom(items.sum(), items, selected.sum())
        tails = np.minimum(random_draw.cdf(selected), random_draw.sf(selected - 1))
        for share, is_far, chance in zip(group, far, np.minimum(1.0, 2.0 * tails).tolist(), strict=True):
            if not is_far or not chance * looked_at < CHANCE:
                continue
            text = (
                f"{by}, {share.group}: badly {'over' if share.ratio > 1 else 'under'}-represented, "
                f"{100 * share.selected_share:.1f} % of the chosen "
                f"against {100 * share.full_share:.1f} % of the set."
            )
            rows.append(Leaning(by, share.group, share.ratio, chance, text))
    return tuple(sorted(rows, key=lambda leaning: leaning.p_value))


# --- what a selection makes of the metrics ---
# A selection that follows metrics looks where metrics are low (or at odds). Bad outputs that every metric
# likes are its blind spots: nobody looks there, so nobody learns of them.


LOW = 0.25
FLAGS = ("no metric flags it", "some metric flags it")
SPOTS = ("low though no metric flags it", "low as some metric says", "not low")


@dataclass(frozen=True)
class MetricShares:
    """Shares by quarter of the items' means of a metric."""

    metric: str
    quarters: tuple[Share, ...]

    @property
    def shift(self) -> float:
        """How much of the selection lies in other quarters than in the set, from 0 to 1."""
        return sum(abs(share.selected_share - share.full_share) for share in self.quarters) / 2


@dataclass(frozen=True)
class BlindSpots:
    """How many of the items that people find bad no metric would have pointed at."""

    aspect: str  # what people judged; low is the lowest quarter of the judged items' means
    low: int  # judged items of the set that are low
    missed: int  # those of them that no metric flags: the blind spots
    selected_low: int  # selected items that are low
    selected_missed: int  # those of them that no metric flags
    groups: tuple[Share, ...]  # shares of the judged items: low and not flagged, low and flagged, not low


def metric_shares(data: EvalSet, rows: Ints) -> tuple[MetricShares, ...]:
    """Return the shares by quarter of every metric that differs between items."""
    rows_by_metric = []
    for name, scores in data.metrics.items():
        means = row_means(scores)
        present = means[~np.isnan(means)]
        if present.size and present.min() < present.max():
            rows_by_metric.append(MetricShares(name, quarter_shares(means, rows, SCORES, digits=4)))
    return tuple(rows_by_metric)


def flags_of(data: EvalSet, metrics: Iterable[str]) -> Ints:
    """Return 0 for items that none of the metrics flags, 1 for the others, -1 for items without a score.

    A metric flags the items whose mean over the models lies below its median over the items. One that is the
    same everywhere flags none.
    """
    scored, flagged = np.zeros(len(data), bool), np.zeros(len(data), bool)
    for name in metrics:
        means = row_means(data.metrics[name])
        present = ~np.isnan(means)
        if present.any():
            scored |= present
            flagged |= present & (means < np.median(means[present]))
    return np.where(scored, flagged.astype(np.int64), -1)


def blind_spots(data: EvalSet, flags: Ints, rows: Ints) -> tuple[BlindSpots, ...]:
    """Return the blind spots of the metrics by every aspect, over the items that are judged."""
    spots = []
    for aspect, scores in data.aspects.items():
        means = row_means(scores)
        judged = ~np.isnan(means) & (flags >= 0)
        if judged.any():
            # The lowest quarter; the best score is never low, however many items have it.
            low = judged & (means <= np.quantile(means[judged], LOW)) & (means < means[judged].max())
            missed = low & (flags == 0)
            codes = np.where(judged, np.where(low, flags, len(FLAGS)), -1)
            spots.append(
                BlindSpots(
                    aspect=aspect,
                    low=int(low.sum()),
                    missed=int(missed.sum()),
                    selected_low=int(low[rows].sum()),
                    selected_missed=int(missed[rows].sum()),
                    groups=shares(codes, SPOTS, rows),
                )
            )
    return tuple(spots)


DOUBLING = (1, 2, 4, 8, 16, 32, 64, 128)
WEIGHTS_NOTE = (
    "scores weigh every item by one over its probability: this costs precision, and does not mislead."
)


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
class Representation(Tabular):
    """A selection against the set that it was chosen from."""

    n: int  # selected items
    of: int  # items of the set
    coverage: tuple[Covered, ...]  # how many items, documents, domains and outputs the selection touches
    domains: tuple[Share, ...]  # shares by domain
    # Shares of items by the length of the document that they come from (Lo and Knowles 2023, Table 4):
    # samples that favour short documents do not speak for long ones.
    document_lengths: tuple[Share, ...]
    source_lengths: tuple[Share, ...]  # shares by quarter of the set's source lengths
    metrics: tuple[MetricShares, ...]  # shares by quarter of every metric's item means
    # Shares of items that no metric flags (their means lie in the better half of every metric). A selection
    # that has none of them cannot find out what the metrics miss.
    flags: tuple[Share, ...]
    # For every aspect, shares of the judged items that people find bad, by whether a metric flags them.
    blind_spots: tuple[BlindSpots, ...]
    cost: tuple[float, float] | None  # mean cost of the set's items and of the selected ones, or None
    # Every metric's mean by model. Selected items may be harder or easier than the set.
    means: tuple[MeanOfModel, ...]
    leanings: tuple[Leaning, ...] = ()  # what is badly over- or under-represented
    notes: tuple[str, ...] = ()  # what to mind

    @property
    def kinds(self) -> dict[str, tuple[Share, ...]]:
        """All shares by what they are shares of, in the order in which they are shown."""
        return {
            "domain": self.domains,
            "document of": self.document_lengths,
            "source": self.source_lengths,
            **{f"metric {part.metric}": part.quarters for part in self.metrics},
            "metrics": self.flags,
            **{f"judged {part.aspect}": part.groups for part in self.blind_spots},
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain values, for JSON."""
        plain = asdict(self)
        return {**plain, "coverage": [{**asdict(part), "share": part.share} for part in self.coverage]}

    @property
    def headline(self) -> str:
        """Whether the selection is like its set, in one sentence."""
        chosen = f"{counted(self.n, 'chosen item')} against the {self.of} of the set"
        if not self.leanings:
            return f"{chosen}: no group is badly over- or under-represented."
        return f"{chosen}: {counted(len(self.leanings), 'group is', 'groups are')} badly represented."

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each group: its shares of the set and of the selection, and their ratio."""
        return [
            {
                "by": kind,
                "group": share.group,
                "full_share": share.full_share,
                "selected_share": share.selected_share,
                "ratio": share.ratio,
            }
            for kind, shares in self.kinds.items()
            for share in shares
        ]

    def summary(self) -> Summary:
        """Return whether the selection is like its set, group by group, and what to do next."""
        # Of the metrics, only those whose quarters differ most from the set's.
        metrics = sorted(self.metrics, key=lambda metric: (-metric.shift, metric.metric))[:_MOST_METRICS]
        kinds = {"domain", "document of", "source", "metrics", *(f"metric {part.metric}" for part in metrics)}
        rows = [
            (
                kind,
                share.group,
                *map(share_text, (share.full_share, share.selected_share)),
                f"{share.ratio:.2f}",
            )
            for kind, shares in self.kinds.items()
            if kind in kinds
            for share in shares
        ]
        worst: dict[str, Leaning] = {}
        for leaning in self.leanings:
            worst.setdefault(leaning.by, leaning)
        # Quarters of metrics last: a selection by metrics differs there on purpose.
        leanings = sorted(worst.values(), key=lambda leaning: leaning.by.startswith("metric "))
        hidden = len(self.leanings) - len(leanings[:_MOST_LEANINGS])
        notes = [leaning.text for leaning in leanings[:_MOST_LEANINGS]]
        if hidden:
            notes.append(f"{counted(hidden, 'more group is', 'more groups are')} badly represented.")
        return Summary(
            (self.headline,),
            ("", "group", "of the set", "of the chosen", "ratio"),
            tuple(rows),
            texts=2,
            next_steps=("sparingly serve DATA",),
            notes=(*notes, *self.notes),
        )


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
        document_bands: Where each band of document lengths begins; doubling lengths by default
            (``(1, 10, 20, 30, 40, 50)`` are those of Lo and Knowles 2023).
        metrics: The metrics whose flags and blind spots are looked at; all of them by default. The more
            there are, the fewer items none of them flags.
    """
    if list(document_bands) != sorted(set(document_bands)):
        raise UsageError(f"Bands of document lengths must ascend, not {list(document_bands)}.")
    # Ids or, for a selection, its own; what has items or models as methods (a mapping) is gone through.
    ids, models_by_row = (getattr(items, name, None) for name in ("items", "models"))
    ids = cast("Iterable[str]", items if ids is None or callable(ids) else ids)
    rows = np.unique(data.positions(ids))
    check_names("metric", metrics or (), data.metrics)
    flags = flags_of(data, data.metrics if metrics is None else metrics)
    cost = None
    if fields.COST in data.columns:
        costs, selected_costs = data.columns[fields.COST], data.columns[fields.COST][rows]
        if not (np.isnan(costs).all() or np.isnan(selected_costs).all()):
            cost = float(np.nanmean(costs)), float(np.nanmean(selected_costs))
    means = tuple(
        MeanOfModel(metric, model, *(None if np.isnan(mean) else float(mean) for mean in pair))
        for metric, values in data.metrics.items()
        for model, *pair in zip(data.models, _column_means(values), _column_means(values[rows]), strict=True)
    )
    # The shares by domain, the largest first.
    codes, names = coded(data, fields.DOMAIN)
    counts = np.bincount(codes[codes >= 0], minlength=len(names))
    table = Representation(
        n=len(rows),
        of=len(data),
        coverage=tuple(_coverage(data, rows, None if callable(models_by_row) else models_by_row)),
        domains=shares(
            codes, names, rows, sorted(range(len(names)), key=lambda code: (-counts[code], names[code]))
        ),
        document_lengths=document_length_shares(data, rows, document_bands),
        source_lengths=source_length_shares(data, rows),
        metrics=metric_shares(data, rows),
        flags=shares(flags, FLAGS, rows),
        blind_spots=blind_spots(data, flags, rows),
        cost=cost,
        means=means,
    )
    badly = leanings(table.kinds)
    has_weights = badly and getattr(items, "has_unequal_weights", False)
    return replace(table, leanings=badly, notes=(WEIGHTS_NOTE,) if has_weights else ())


def _coverage(
    data: EvalSet, rows: Ints, models_by_row: Sequence[tuple[str, ...] | None] | None
) -> Iterator[Covered]:
    """Yield how much of the items, documents, domains and, where rows name models, outputs is selected."""
    yield Covered("items", len(rows), len(data))
    for kind, column in (("documents", fields.DOCUMENT), ("domains", fields.DOMAIN)):
        codes, names = coded(data, column)
        if names:
            selected_codes = codes[rows]
            yield Covered(kind, len(np.unique(selected_codes[selected_codes >= 0])), len(names))
    if models_by_row is not None:
        counts: Counter[str] = Counter()
        for row_models in models_by_row:
            counts.update(data.models if row_models is None else row_models)
        total = sum(counts[name] for name in data.models)
        yield Covered("outputs", total, len(data) * len(data.models))
        yield from (Covered(f"outputs of {name}", counts[name], len(data)) for name in data.models)


def _column_means(values: Floats) -> Floats:
    present = ~np.isnan(values)
    count = present.sum(axis=0)
    total = np.where(present, values, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
