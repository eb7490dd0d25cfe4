"""The sample behind a selection: which judgements there are, and the chance of each."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sparingly.base.arrays import Floats, Ints, Mask, Objects
from sparingly.base.errors import DataError, UsageError
from sparingly.base.format import counted
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.importance import importance
from sparingly.data.selection import Selection
from sparingly.infer.estimate.design import as_drawn, labels_or_ids, stratum_codes, unit_labels, with_design
from sparingly.infer.estimate.sample import Sample, as_codes, group_sums

ASSUMED = "no selection was given: the judged items are taken for a uniform sample of the set."


@dataclass(frozen=True, eq=False)
class Drawn:
    """The rows of a selection among the items of a set, one per item.

    Attributes:
        rows: Where the chosen items stand, in the order of their ids.
        place: Which of them each row of the selection is about.
        first: The first row of the selection that is about each of them.
        asked: items × models: the judgements that the selection asks for.
        chance: items × models: the chance of each, 1 where it is not asked for.
    """

    rows: Ints
    place: Ints
    first: Ints
    asked: Mask
    chance: Floats


def frame_of(data: EvalSet, selection: Selection | None, *, differences: bool = False) -> EvalSet:
    """Return the items that scores (or ``differences``) speak about: all but those that could not be chosen.

    Where all models wrote the same, an item that was skipped still counts in differences.
    """
    if selection is None:
        return data
    shut = {*selection.never, *(() if differences else selection.same_outputs)}
    if not shut:
        return data
    return data.at(np.flatnonzero([name not in shut for name in data.items]))


def sample_from(data: EvalSet, scores: Floats, selection: Selection | None) -> Sample:
    """Return the sample of a selection from its set (see ``frame_of``); scores are of all items × models."""
    if selection is None:
        return _assumed(data, scores)
    if selection.pairs is not None:
        raise UsageError("Scores cannot be estimated from a selection of pairs of models.")
    if selection.probability is None:
        raise UsageError("Scores of the set cannot be estimated from a selection without probabilities.")
    drawn = _drawn(data, selection, selection.probability)
    unit, pool = unit_labels(data, selection), selection.pool_probability
    stratum, stratum_of = stratum_codes(data, selection)
    sample = Sample(
        rows=drawn.rows,
        scores=np.where(drawn.asked, scores[drawn.rows], np.nan),
        probability=drawn.chance,
        size=len(data),
        draw=np.asarray(np.where(drawn.asked, drawn.chance, 0.0).max(axis=1)),
        unit=as_codes(unit[drawn.first], len(drawn.rows), "units"),
        stratum=stratum[drawn.first],
        weights=importance(data),
        document=document_codes(data),
        stratum_of=stratum_of,
        pool=None if pool is None else pool[drawn.first],
        unit_by_model=_unit_by_model(data, selection, drawn, unit),
        design=selection.signature.method,
    )
    return as_drawn(_without_gaps(with_design(sample, data, selection), drawn.asked))


def _assumed(data: EvalSet, scores: Floats) -> Sample:
    """Return the judged items as if they had been drawn uniformly."""
    judged = ~np.isnan(scores)
    rows = np.flatnonzero(judged.any(axis=1))
    if not len(rows):
        raise DataError("No item is judged, so there is nothing to estimate from.")
    sample = Sample(
        rows=rows,
        scores=scores[rows],
        probability=np.full((len(rows), scores.shape[1]), len(rows) / len(data)),
        size=len(data),
        draw=np.full(len(rows), len(rows) / len(data)),
        unit=np.arange(len(rows)),
        stratum=np.zeros(len(rows), np.int64),
        weights=importance(data),
        document=document_codes(data),
        design="uniform, assumed",
        notes=() if len(rows) == len(data) else (ASSUMED,),
    )
    # A model that nobody judged was not asked for.
    return _without_gaps(sample, np.broadcast_to(judged.any(axis=0), sample.scores.shape))


def _drawn(data: EvalSet, selection: Selection, probability: Floats) -> Drawn:
    """Return the chance of every judgement that a selection asks for."""
    rows, place = np.unique(data.positions(selection.items), return_inverse=True)
    first = np.empty(len(rows), np.int64)
    first[place[::-1]] = np.arange(len(place))[::-1]
    asked, chance = np.zeros((len(rows), len(data.models)), bool), np.ones((len(rows), len(data.models)))
    if selection.models is None:
        asked[:] = True
        chance[place] = probability[:, None]
        return Drawn(rows, place, first, asked, chance)
    known = {name: column for column, name in enumerate(data.models)}
    for row, names in enumerate(selection.models):
        columns = [known[name] for name in (data.models if names is None else names) if name in known]
        asked[place[row], columns] = True
        chance[place[row], columns] = probability[row]
    return Drawn(rows, place, first, asked, chance)


def _unit_by_model(data: EvalSet, selection: Selection, drawn: Drawn, unit: Objects) -> Ints | None:
    """Return what was drawn for every model, as codes; None where the models shared one draw.

    Every model had a draw of its own where each row is of a single model, and several models are there.
    """
    if selection.models is None or any(names is None or len(names) != 1 for names in selection.models):
        return None
    if len({names[0] for names in selection.models}) < 2:
        return None
    codes = as_codes(unit, len(unit), "units")
    # Where a model was not asked for, a code of its own.
    by_model = np.arange(drawn.asked.size).reshape(drawn.asked.shape) + int(codes.max()) + 1
    by_model[drawn.place, [data.models.index(names[0]) for names in selection.models]] = codes
    return np.asarray(by_model)


def document_codes(data: EvalSet) -> Ints | None:
    """Return the document of every item; an item in none is one by itself."""
    if fields.DOCUMENT not in data.columns or all(name is None for name in data.columns[fields.DOCUMENT]):
        return None
    return as_codes(labels_or_ids(data.columns[fields.DOCUMENT], data.items), len(data), "documents")


def _without_gaps(sample: Sample, asked: Mask) -> Sample:
    """Return the sample with the chances of what was judged of what was asked for.

    What did not come is taken to be missing by chance: first whole items, then single models of the others.
    In every stratum, chances are multiplied by the share that came.
    """
    missing: Mask = np.asarray(asked & ~sample.judged)
    if not missing.any():
        return sample
    there: Mask = np.asarray(sample.judged.any(axis=1))
    if not there.any():
        raise DataError("No chosen item is judged, so there is nothing to estimate from.")
    lost, cells = int((~there).sum()), int((missing & there[:, None]).sum())
    if lost and not sample.separate:
        share = _came((1.0 / sample.draw)[:, None], there[:, None], sample.stratum)
        draw, chance = sample.draw * share[:, 0], sample.probability * share
        sample = replace(sample, draw=draw, probability=chance, came=share)
    kept = np.flatnonzero(there)
    if not sample.separate:
        sample, asked, kept = sample.at(kept), asked[kept], np.arange(len(kept))
    # With a draw for every model, an item that is lost is a loss of the models that it was drawn for.
    weight = np.where(asked, 1.0 / sample.probability, 0.0)
    share = _came(weight, sample.judged, sample.stratum)
    chance, came = sample.probability * share, share if sample.separate else sample.came
    notes = (*sample.notes, _missing_note(lost, cells))
    return replace(sample, probability=chance, came=came, notes=notes).at(kept)


def _missing_note(items: int, outputs: int) -> str:
    """Say how many chosen items have no judgement, and how many outputs of the others."""
    parts = [counted(items, "chosen item")] if items else []
    if outputs:
        parts.append(counted(outputs, "output") + (" of others" if items else " of chosen items"))
    are = "is" if items + outputs == 1 else "are"
    return f"{' and '.join(parts)} {are} not judged: taken to be missing by chance."


def _came(weight: Floats, there: Mask, stratum: Ints) -> Floats:
    """Return for every row the share of its stratum's weight that is there.

    A stratum of which nothing is there is stood for by the others.
    """
    asked, came = group_sums(weight, stratum), group_sums(np.where(there, weight, 0.0), stratum)
    here = came > 0
    total = asked.sum(axis=0)
    rest = np.divide((asked * here).sum(axis=0), total, out=np.ones(len(total)), where=total > 0)
    share = np.divide(came, asked, out=np.ones_like(came), where=here) * np.where(rest > 0, rest, 1.0)
    return np.asarray(share[stratum])
