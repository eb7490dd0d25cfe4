"""What the design behind a selection tells of a sample: strata, units, and what its draw was spread over."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sparingly.base.arrays import Ints, Objects
from sparingly.base.errors import UsageError
from sparingly.base.registry import Method, parse_method
from sparingly.choose.design.base import ListSelector
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.documents import Documents
from sparingly.choose.design.probability_design import DrawDesign
from sparingly.choose.design.snippets import Snippets
from sparingly.choose.design.stratified import Stratified
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.data.signature import Signature
from sparingly.infer.estimate.sample import Sample, as_codes

UNKNOWN = "the design is not known here, so errors are those of a plain draw with these probabilities."
FROM_POOL = (
    "the draw was from a pool: errors are those of a plain draw in its groups with these probabilities, "
    "and do not count what a sorted or spread list gains."
)
_POOL = "pool:"


def method_of(signature: Signature) -> Method | None:
    """Return the method of a selection; None where it is not registered here."""
    try:
        return parse_method(signature.method)
    except UsageError:
        return None


def unit_labels(data: EvalSet, selection: Selection) -> Objects:
    """Return what was drawn with every row of a selection: its unit, its document, or the item itself."""
    if selection.unit is not None:
        return labels_or_ids(selection.unit, selection.items)
    method = method_of(selection.signature)
    if getattr(method, "unit", "item") != "document" or fields.DOCUMENT not in data.columns:
        return selection.items
    return labels_or_ids(data.columns[fields.DOCUMENT][data.positions(selection.items)], selection.items)


def labels_or_ids(labels: Objects, ids: Objects) -> Objects:
    """Return labels, and the id where there is none: no label is a group of one."""
    told = [f"id {name}" if label is None else f"in {label}" for label, name in zip(labels, ids, strict=True)]
    return np.array(told, object)


def stratum_codes(data: EvalSet, selection: Selection) -> tuple[Ints, Ints | None]:
    """Return the stratum of every row of a selection and, where it can be told, of every item."""
    every = _strata_of_all(data, selection)
    if every is not None:
        codes = as_codes(every, len(data), "strata")
        return codes[data.positions(selection.items)], codes
    return as_codes(selection.stratum, len(selection), "strata"), None


def _strata_of_all(data: EvalSet, selection: Selection) -> Objects | None:
    """Return the stratum of every item, from the design or from the column that was balanced over."""
    method = method_of(selection.signature)
    if selection.pool is not None:
        # The strata were those of the pool.
        return None
    if isinstance(method, Stratified):
        return method.strata_of(_seen(data, selection), Budget.parse(selection.signature.budget))
    column = method.balance if isinstance(method, ListSelector) else None
    return data.columns[column] if column is not None and column in data.columns else None


def _seen(data: EvalSet, selection: Selection) -> EvalSet:
    """Return the set as the design saw it: with the crowd's models where there was one."""
    crowd = [name for name in selection.signature.crowd if name in data.models]
    return data.take(models=crowd) if crowd else data


def as_drawn(sample: Sample) -> Sample:
    """Return the sample with the chances that its strata had, given how many items each gave.

    A design that rounds at random gives a stratum now one item more, now one less. Given the numbers, every
    item of a stratum was as likely as any other, n_l/N_l, and what the rounding did is no error any more. It
    takes an item of every stratum, all models judged, and a draw of single items.
    """
    alone = len(np.unique(sample.unit)) == len(sample.rows) and not sample.separate and sample.pool is None
    if sample.stratum_of is None or not alone or not sample.judged.all():
        return sample
    count = int(sample.stratum_of.max()) + 1
    drawn, sizes = np.bincount(sample.stratum, minlength=count), np.bincount(sample.stratum_of)
    if (drawn == 0).any():
        return sample
    share = (drawn / sizes)[sample.stratum]
    return replace(sample, draw=share, probability=np.repeat(share[:, None], sample.models, axis=1))


def _pool_units(sample: Sample, data: EvalSet, selection: Selection) -> Ints | None:
    """Return the documents of the rows where the pool was drawn by documents."""
    pool = selection.signature.pool
    method = None if pool is None else method_of(pool)
    by_document = isinstance(method, Documents | Snippets) or getattr(method, "unit", "item") == "document"
    if sample.pool is None or not by_document or fields.DOCUMENT not in data.columns:
        return None
    named = labels_or_ids(data.columns[fields.DOCUMENT][sample.rows], data.items[sample.rows])
    return as_codes(named, len(named), "documents")


def with_design(sample: Sample, data: EvalSet, selection: Selection) -> Sample:
    """Return the sample with what its draw was spread over, balanced on, or ordered by."""
    method = method_of(selection.signature)
    sample = replace(sample, pool_unit=_pool_units(sample, data, selection))
    if method is None:
        note = FROM_POOL if selection.signature.method.startswith(_POOL) else UNKNOWN
        return replace(sample, notes=(*sample.notes, note))
    if not isinstance(method, DrawDesign):
        return sample
    # The view that the draw had, of which the coordinates are remembered.
    seen = _seen(data, selection)
    seen = seen.only(method.reads(seen))
    places, balance = method.coordinates(seen), method.balance_variables(seen)
    return replace(
        sample,
        coordinates=None if places is None else places[sample.rows],
        balance=None if balance is None else balance[sample.rows],
        ordered=method.cost is not None,
    )
