"""From an evaluation set and a selection to the sample that was drawn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sparingly.base.arrays import Floats, Ints, Mask, Objects, ratio
from sparingly.base.errors import DataError, UsageError
from sparingly.base.format import counted
from sparingly.base.registry import Method, parse_method
from sparingly.base.syntax import either
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.documents import Documents, Snippets
from sparingly.choose.design.probability_design import DrawDesign
from sparingly.choose.design.selector import ListSelector
from sparingly.choose.design.stratified import Stratified, Verdicts
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.data.signature import Signature
from sparingly.infer.estimate.sample import JudgedSample, as_codes, group_sums, nothing_judged, single_items

# --- what the design behind a selection tells: strata, units, what the draw was spread over ---

UNKNOWN = "the design is not known here, so errors are those of a plain draw with these probabilities."
FROM_POOL = (
    "the draw was from a pool: errors are those of a plain draw in its groups with these probabilities, "
    "and do not count what a sorted or spread list gains."
)
_POOL = "pool:"


def method_of(selection: Selection) -> Method | None:
    """Return the method of a selection; None where it is not registered here."""
    method = selection.method
    # A selection whose signature was replaced is what its signature says.
    if method is not None and method.full_text == selection.signature.method:
        return method
    return _method_of_signature(selection.signature)


def _method_of_signature(signature: Signature) -> Method | None:
    try:
        return parse_method(signature.method)
    except UsageError:
        return None


def unit_labels(data: EvalSet, selection: Selection) -> Objects:
    """Return what was drawn with every row of a selection: its unit, its document, or the item itself."""
    if selection.unit is not None:
        return labels_or_ids(selection.unit, selection.items)
    method = method_of(selection)
    if getattr(method, "unit", "item") != "document" or fields.DOCUMENT not in data.columns:
        return selection.items
    return labels_or_ids(data.columns[fields.DOCUMENT][data.positions(selection.items)], selection.items)


def labels_or_ids(labels: Objects, ids: Objects) -> Objects:
    """Return labels, and the id where there is none: no label is a group of one."""
    names = [
        f"id {name}" if label is None else f"in {label}" for label, name in zip(labels, ids, strict=True)
    ]
    return np.array(names, object)


def stratum_codes(data: EvalSet, selection: Selection) -> tuple[Ints, Ints | None]:
    """Return the stratum of every row of a selection and, where it can be told, of every item.

    That is from the design, or from the column that was balanced over; not where these were of a pool.
    """
    method, strata = method_of(selection), None
    if selection.pool is None and isinstance(method, Stratified | Verdicts):
        strata = method.strata_of(_design_view(data, selection), Budget.parse(selection.signature.budget))
    elif selection.pool is None and isinstance(method, ListSelector) and method.balance is not None:
        strata = data.columns.get(method.balance)
    if strata is None:
        return as_codes(selection.stratum, len(selection), "strata"), None
    codes = as_codes(strata, len(data), "strata")
    return codes[data.positions(selection.items)], codes


def _design_view(data: EvalSet, selection: Selection) -> EvalSet:
    """Return the set as the design saw it: with the models of the crowd if there was one."""
    crowd = [name for name in selection.signature.crowd if name in data.models]
    return data.take(models=crowd) if crowd else data


def with_stratum_rates(sample: JudgedSample) -> JudgedSample:
    """Return the sample with its strata's probabilities given the number of items drawn from each.

    A design that rounds at random gives a stratum now one item more, now one less. Given the numbers, every
    item of a stratum was as likely as any other, n_l/N_l, and what the rounding did is no error any more. It
    takes an item of every stratum, all models judged, and a draw of single items.
    """
    single_items = (
        len(np.unique(sample.unit)) == len(sample.rows) and not sample.separate and sample.pool is None
    )
    if sample.stratum_of is None or not single_items or not sample.judged.all():
        return sample
    count = int(sample.stratum_of.max()) + 1
    counts, sizes = np.bincount(sample.stratum, minlength=count), np.bincount(sample.stratum_of)
    if (counts == 0).any():
        return sample
    share = (counts / sizes)[sample.stratum]
    return replace(sample, draw=share, probability=np.repeat(share[:, None], sample.models, axis=1))


def with_design(sample: JudgedSample, data: EvalSet, selection: Selection) -> JudgedSample:
    """Return the sample with what its draw was spread over, balanced on, or ordered by."""
    method, pool = method_of(selection), selection.signature.pool
    if sample.pool is not None and pool is not None and fields.DOCUMENT in data.columns:
        drawn = _method_of_signature(pool)
        if isinstance(drawn, Documents | Snippets) or getattr(drawn, "unit", "item") == "document":
            documents = labels_or_ids(data.columns[fields.DOCUMENT][sample.rows], data.items[sample.rows])
            sample = replace(sample, pool_unit=as_codes(documents, len(documents), "documents"))
    if method is None:
        note = FROM_POOL if selection.signature.method.startswith(_POOL) else UNKNOWN
        return replace(sample, notes=(*sample.notes, note))
    if not isinstance(method, DrawDesign):
        return sample
    # The view that the draw had, of which the coordinates are remembered.
    view = _design_view(data, selection)
    view = view.only(method.reads(view))
    places, balance = method.coordinates(view), method.balance_variables(view)
    return replace(
        sample,
        coordinates=None if places is None else places[sample.rows],
        balance=None if balance is None else balance[sample.rows],
        ordered=method.cost is not None,
    )


# --- the sample ---

ASSUMED = "no selection was given: the judged items are taken for a uniform sample of the set."


def frame_of(data: EvalSet, selection: Selection | None, *, differences: bool = False) -> EvalSet:
    """Return the items that scores (or ``differences``) are about: all but those that could not be chosen.

    Where all models wrote the same, an item that was skipped still counts in differences.
    """
    if selection is None:
        return data
    shut = {*selection.never, *(() if differences else selection.same_outputs)}
    if not shut:
        return data
    return data.at(np.flatnonzero([name not in shut for name in data.items]))


def without_truth(data: EvalSet, aspect: str) -> EvalSet:
    """Return the set without the metric that is the truth: it must not predict itself."""
    truth_metrics = set(data.truth_fields(aspect)) & {fields.metric(name) for name in data.metrics}
    return data.only(name for name in data.fields if name not in truth_metrics) if truth_metrics else data


def sample_from(data: EvalSet, scores: Floats, selection: Selection | None) -> JudgedSample:
    """Return the sample of a selection from its set (see ``frame_of``); scores are of all items × models."""
    if selection is None:
        return _uniform_sample(data, scores)
    if selection.pairs is not None:
        raise UsageError(
            "The selection is of pairs of models, which have wins and no scores: "
            + either("sparingly compare DATA", "sparingly.compare(data)")
        )
    if selection.probability is None:
        raise UsageError(
            "Scores of the set cannot be estimated from a selection without probabilities. The order on the "
            f"chosen items: {either('sparingly rank DATA SELECTION', 'sparingly.rank(data, selection)')}"
        )
    # The chosen items in the order of their ids, which of them each row of the selection is about, and the
    # first row about each.
    rows, place = np.unique(data.positions(selection.items), return_inverse=True)
    first = np.empty(len(rows), np.int64)
    first[place[::-1]] = np.arange(len(place))[::-1]
    # items × models: which judgements are requested, and their probability (1 where they are not).
    requested, probability = (
        np.zeros((len(rows), len(data.models)), bool),
        np.ones((len(rows), len(data.models))),
    )
    if selection.models is None:
        requested[:] = True
        probability[place] = selection.probability[:, None]
    else:
        column_of = {name: column for column, name in enumerate(data.models)}
        for row, names in enumerate(selection.models):
            named = data.models if names is None else names
            columns = [column_of[name] for name in named if name in column_of]
            requested[place[row], columns] = True
            probability[place[row], columns] = selection.probability[row]
    unit, pool = unit_labels(data, selection), selection.pool_probability
    stratum, stratum_of = stratum_codes(data, selection)
    sample = JudgedSample(
        rows=rows,
        scores=np.where(requested, scores[rows], np.nan),
        probability=probability,
        size=len(data),
        draw=np.asarray(np.where(requested, probability, 0.0).max(axis=1)),
        unit=as_codes(unit[first], len(rows), "units"),
        stratum=stratum[first],
        weights=data.importance,
        document=document_codes(data),
        stratum_of=stratum_of,
        pool=None if pool is None else pool[first],
        unit_by_model=_unit_by_model(data, selection, place, len(rows), unit),
        design=selection.signature.method,
    )
    return with_stratum_rates(_with_response_rates(with_design(sample, data, selection), requested))


def _uniform_sample(data: EvalSet, scores: Floats) -> JudgedSample:
    judged = ~np.isnan(scores)
    rows = np.flatnonzero(judged.any(axis=1))
    if not len(rows):
        raise DataError(nothing_judged("item"))
    sample = single_items(
        *(rows, scores[rows], np.full((1, 1), len(rows) / len(data)), len(data)),
        weights=data.importance,
        document=document_codes(data),
        design="uniform, assumed",
        notes=() if len(rows) == len(data) else (ASSUMED,),
    )
    # A model that nobody judged was not asked for.
    return _with_response_rates(sample, np.broadcast_to(judged.any(axis=0), sample.scores.shape))


def _unit_by_model(
    data: EvalSet, selection: Selection, place: Ints, items: int, unit: Objects
) -> Ints | None:
    """Return what was drawn for every model, as codes; None where the models shared one draw.

    Every model had a draw of its own where each row is of a single model, and several models are there.
    """
    if selection.models is None or any(names is None or len(names) != 1 for names in selection.models):
        return None
    if len({names[0] for names in selection.models}) < 2:
        return None
    codes, models = as_codes(unit, len(unit), "units"), len(data.models)
    # Where a model was not asked for, a code of its own.
    by_model = np.arange(items * models).reshape(items, models) + int(codes.max()) + 1
    by_model[place, [data.models.index(names[0]) for names in selection.models]] = codes
    return np.asarray(by_model)


def document_codes(data: EvalSet) -> Ints | None:
    """Return the document of every item; an item in none is one by itself."""
    if fields.DOCUMENT not in data.columns or all(name is None for name in data.columns[fields.DOCUMENT]):
        return None
    return as_codes(labels_or_ids(data.columns[fields.DOCUMENT], data.items), len(data), "documents")


def _with_response_rates(sample: JudgedSample, requested: Mask) -> JudgedSample:
    """Return the sample with probabilities corrected for requested judgements that are missing.

    Judgements are taken to be missing at random: first whole items, then single models of the others.
    In every stratum, probabilities are multiplied by the share that was judged.
    """
    missing = requested & ~sample.judged
    if not missing.any():
        return sample
    has_judgement: Mask = np.asarray(sample.judged.any(axis=1))
    if not has_judgement.any():
        raise DataError(nothing_judged("chosen item"))
    lost, outputs = int((~has_judgement).sum()), int((missing & has_judgement[:, None]).sum())
    parts = [counted(lost, "chosen item")] if lost else []
    if outputs:
        parts.append(counted(outputs, "output") + (" of others" if lost else " of chosen items"))
    are = "is" if lost + outputs == 1 else "are"
    note = f"{' and '.join(parts)} {are} not judged: assumed to be missing at random."
    if lost and not sample.separate:
        share = _response_rates((1.0 / sample.draw)[:, None], has_judgement[:, None], sample.stratum)
        draw, probability = sample.draw * share[:, 0], sample.probability * share
        sample = replace(sample, draw=draw, probability=probability, response_rate=share)
    judged_rows = np.flatnonzero(has_judgement)
    if not sample.separate:
        sample, requested = sample.at(judged_rows), requested[judged_rows]
        judged_rows = np.arange(len(judged_rows))
    # With a draw for every model, an item that is lost is a loss of the models that it was drawn for.
    weight = np.where(requested, 1.0 / sample.probability, 0.0)
    share = _response_rates(weight, sample.judged, sample.stratum)
    response_rate = share if sample.separate else sample.response_rate
    probability, notes = sample.probability * share, (*sample.notes, note)
    return replace(sample, probability=probability, response_rate=response_rate, notes=notes).at(judged_rows)


def _response_rates(weight: Floats, has_judgement: Mask, stratum: Ints) -> Floats:
    """Return for every row the share of its stratum's weight that was judged.

    The other strata represent one without any judgement.
    """
    requested, judged = group_sums(weight, stratum), group_sums(np.where(has_judgement, weight, 0.0), stratum)
    represented = judged > 0
    total = requested.sum(axis=0)
    represented_share = ratio((requested * represented).sum(axis=0), total, 1.0)
    share = np.divide(judged, requested, out=np.ones_like(judged), where=represented) * np.where(
        represented_share > 0, represented_share, 1.0
    )
    return np.asarray(share[stratum])
