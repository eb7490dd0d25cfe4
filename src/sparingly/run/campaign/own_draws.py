"""New models beside models that were judged before: items of their own draw, anchors, one joint estimate."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection

from sparingly._version import __version__
from sparingly.base import rng
from sparingly.base.arrays import Mask
from sparingly.base.errors import UsageError
from sparingly.choose.select import select
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.data.signature import digest_scores
from sparingly.infer.compare.head_to_head import MarginAnswer, MarginLook
from sparingly.infer.estimate.assemble import EstimateRequest
from sparingly.infer.estimate.bank import (
    WITH_BANK,
    EarlierPredictions,
    draw_view,
    estimate_new_models,
    estimates_in_batches,
    join_estimates,
)
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.estimate.sample import without_truth
from sparingly.run.campaign.history import DataSnapshot, History, OwnDraw, skipped_cells
from sparingly.run.rounds.stop.sequential import group_sequential
from sparingly.run.rounds.strategy import Finished, first_rows, only_rows

_REQUEST = ("target", "level", "interval", "scale", "seed")
ALL_JUDGED = "the new models were judged on all items of their budget."
OWN = "judged on {items} items of their own draw: {models}"


class Anchors(NamedTuple):
    """Judged outputs (item, model) that are judged again, and the probability of each to be among them."""

    cells: tuple[tuple[str, str], ...]
    probability: float


def drawn_from(connection: Connection, history: History, snapshot: DataSnapshot, draw: OwnDraw) -> EvalSet:
    """Return what the items of some new models are drawn from: the same in all of their rounds.

    It is the set with these models alone, and with what the labels that were there before their first round
    make one expect of them.
    """
    settings, first_snapshot = history.settings, snapshot
    if draw.first_as_of is not None and draw.first_as_of != snapshot.seq:
        first_snapshot = history.at(connection, snapshot.name, draw.first_as_of)
    present = [name for name in draw.models if name in first_snapshot.data.models]
    return draw_view(first_snapshot.data, settings.aspect, present, settings.seed)


def full_draw(view: EvalSet, draw: OwnDraw, seed: int) -> Selection:
    """Return all items that some new models may be judged on, in the order in which rounds hand them out."""
    # Another seed for every draw, or all new models would be judged on the same items.
    own_seed = rng.seed_list(seed, 1, "new models", *draw.models)[0]
    chosen = select(view, budget=draw.budget, seed=own_seed)
    models = np.empty(len(chosen), object)
    models[:] = [draw.models] * len(chosen)
    return replace(chosen, models=models, why="", reason="drawn for new models, spread over earlier labels")


def next_own_round(
    connection: Connection, history: History, snapshot: DataSnapshot, draw: OwnDraw, size: int | None
) -> Selection | Finished:
    """Return the next items for some new models; ``Finished`` where their budget is spent."""
    whole_draw = full_draw(drawn_from(connection, history, snapshot, draw), draw, history.settings.seed)
    start = sum(len(selection) for selection in draw.rounds)
    end = len(whole_draw) if size is None else min(start + size, len(whole_draw))
    if start >= len(whole_draw):
        return Finished(ALL_JUDGED)
    rows = only_rows(whole_draw, slice(start, end))
    return replace(rows, signature=replace(whole_draw.signature, n=end - start))


def next_anchors(snapshot: DataSnapshot, draw: OwnDraw, rows: int, aspect: str, seed: int) -> Anchors:
    """Return judged outputs of earlier models to judge again, drawn at random, and the probability of each.

    A share of the round's outputs, at least one. Raters must not see which these are.
    """
    data = snapshot.data
    earlier = [place for place, name in enumerate(data.models) if name not in draw.models]
    judged = np.argwhere(~np.isnan(data.truth(aspect)[:, earlier]))
    count = min(round(draw.anchors * rows * len(draw.models)), len(judged))
    if count < 1:
        return Anchors((), 0.0)
    cells = [(str(data.items[row]), data.models[earlier[column]]) for row, column in judged.tolist()]
    keys = rng.keys_of([f"{item}\x1f{model}" for item, model in cells])
    order = np.argsort(rng.stream(keys, seed, f"anchors {snapshot.round_count}"), kind="stable")
    return Anchors(tuple(sorted(cells[place] for place in order[:count])), count / len(cells))


def with_own_draws(
    estimate: Estimate,
    connection: Connection,
    history: History,
    snapshot: DataSnapshot,
    options: dict[str, Any],
) -> Estimate:
    """Return the estimate of the earlier models joined with those of the models that came later."""
    if options.get("by") is not None:
        raise UsageError("Groups are not estimated beside models with draws of their own: leave out by.")
    settings, data, parts, notes = history.settings, snapshot.data, [estimate], []
    request = {name: value for name, value in options.items() if name in _REQUEST}
    labels = data.truth(settings.aspect)
    request["scale"] = request.get("scale") or data.truth_scale(settings.aspect)
    for draw in snapshot.own_draws:
        names = [name for name in draw.models if name in data.models]
        columns = [data.models.index(name) for name in names]
        if not names or np.isnan(labels[:, columns]).all():
            continue
        rounds, judged_items = list(draw.rounds), set(data.items[~np.isnan(labels[:, columns]).all(axis=1)])
        # The last rounds that nobody has answered are not missing by chance.
        while rounds and judged_items.isdisjoint(rounds[-1].items):
            rounds.pop()
        view = drawn_from(connection, history, snapshot, draw)
        whole_draw = full_draw(view, draw, settings.seed)
        handed_out = first_rows(whole_draw, sum(len(selection) for selection in rounds))
        view = view.take(models=names)
        parts.append(estimate_new_models(data, handed_out, view, settings.aspect, EstimateRequest(**request)))
        notes.append(OWN.format(items=len(handed_out), models=", ".join(names)))
    if len(parts) == 1:
        return estimate
    joined_data = data.take(models=[name for part in parts for name in part.models])
    joint = join_estimates(parts, joined_data)
    signature = joint.signature
    if signature is not None:
        rows = np.flatnonzero(~np.isnan(joined_data.truth(settings.aspect)).all(axis=1))
        used_labels = joined_data.truth(settings.aspect)[rows]
        signature = replace(
            signature,
            estimator=f"{signature.estimator}{WITH_BANK}",
            n=len(rows),
            labels=digest_scores(joined_data.items[rows], joined_data.models, used_labels),
            inputs=joined_data.digest(without_truth(joined_data, settings.aspect).without_labels().fields),
            version=__version__,
        )
    estimator = f"{joint.estimator}, new models by bank"
    return replace(joint, notes=(*joint.notes, *notes), signature=signature, estimator=estimator)


# --- A question with a margin about a new model that may be asked again while its labels come in ---


FIRST_LOOK, MOST_LOOKS, LEAST_BATCH = 40, 20, 5


def look_ends(items: int) -> tuple[int, ...]:
    """Return after how many items there is a look: 20 at most, from 40 on, the last after all of them.

    Examples:
        >>> from sparingly.run.campaign.own_draws import look_ends
        >>> look_ends(60), len(look_ends(500)), look_ends(25)
        ((40, 45, 50, 55, 60), 20, (25,))
    """
    if items <= FIRST_LOOK:
        return (items,)
    count = min(MOST_LOOKS, 1 + (items - FIRST_LOOK) // LEAST_BATCH)
    ends = np.round(np.linspace(FIRST_LOOK, items, max(count, 2)))
    return tuple(int(end) for end in ends)


@dataclass(frozen=True, eq=False)
class BatchedModels:
    """What looks at new models go by."""

    data: EvalSet  # all models with the labels of now
    # What labels predict of the new models that were there before their first round.
    predictions: EarlierPredictions
    full: Selection  # all items that the new models may be judged on, in the order of the rounds
    drawn_from: EvalSet  # what they were drawn from, with those models that were not withdrawn
    # Which outputs (items × these models) cannot be judged, as raters said: no look waits for any.
    skipped: Mask
    start: EvalSet  # the set with all models of that time, also those that were withdrawn since
    # The scores of the earlier models at that time; None where both models are new.
    estimate: Estimate | None = None


def batched_models(
    connection: Connection, history: History, snapshot: DataSnapshot, draw: OwnDraw
) -> BatchedModels:
    """Return what looks at the models of a draw go by, without the scores of earlier models."""
    seq = draw.first_as_of
    start = snapshot if seq is None else history.at(connection, snapshot.name, seq)
    view = drawn_from(connection, history, snapshot, draw)
    whole_draw = full_draw(view, draw, history.settings.seed)
    view = view.take(models=[name for name in view.models if name in snapshot.data.models])
    predictions = EarlierPredictions.learn(start.data, view, history.settings.aspect, history.settings.seed)
    cells = skipped_cells(connection, history.settings.name, snapshot.name, snapshot.seq)
    skipped = np.zeros(view.shape, bool)
    for _, item, model, _ in sorted(cells):
        if model in view.models:
            skipped[view.positions([item])[0], view.models.index(model)] = True
    return BatchedModels(snapshot.data, predictions, whole_draw, view, skipped, start.data)


def answer_over_looks(
    batched: BatchedModels, question: MarginAnswer, aspect: str, request: EstimateRequest, alpha: float
) -> MarginAnswer:
    """Return the answer of the first look that gives one, else that of the last look so far.

    Looks come after fixed numbers of items in the order in which they were drawn, so that the answer does not
    depend on when, or how often, the question is asked. ``yes`` and ``no`` are each wrong with probability α
    at most over all looks together: after n of N items, α·n/N may be spent (Kim and DeMets 1987).
    """
    columns = [batched.data.models.index(name) for name in batched.drawn_from.models]
    places = batched.data.positions(batched.full.items)
    is_open = np.isnan(batched.data.truth(aspect)[:, columns]) & ~batched.skipped
    is_judged = np.asarray(~is_open[places].any(axis=1))
    count = len(is_judged) if is_judged.all() else int(np.argmin(is_judged))
    ends = look_ends(len(places))
    answer = replace(question, low=-math.inf, high=math.inf, look=MarginLook(0, len(ends), 0, ends[0], count))
    due, information = [end for end in ends if end <= count], list[float]()
    for number, result in enumerate(_estimates(batched, due, aspect, request), 1):
        low, high = _interval(result, question, information, [end / ends[-1] for end in ends[:number]], alpha)
        following = ends[number] if number < len(ends) else None
        look = MarginLook(number, len(ends), ends[number - 1], following, count)
        answer = replace(question, low=low, high=high, look=look)
        if answer.answer != "not yet":
            break
    return answer


def _estimates(
    batched: BatchedModels, ends: Sequence[int], aspect: str, request: EstimateRequest
) -> Iterator[Estimate]:
    """Yield the scores of all models at every look."""
    looks = (first_rows(batched.full, end) for end in ends)
    # Only the interval of one difference is needed, at a level of its own.
    options = batched.drawn_from, aspect, replace(request, interval="none")
    for result in estimates_in_batches(batched.predictions, batched.data, looks, *options):
        if batched.estimate is None:
            yield result
            continue
        yield join_estimates([batched.estimate, result], batched.start)


def _interval(
    found: Estimate, question: MarginAnswer, information: list[float], clock: Sequence[float], alpha: float
) -> tuple[float, float]:
    """Return the ends of the difference's interval at a look, each wrong with probability α over all looks.

    ``information`` is that of earlier looks, to which this one's is added: one over the variance.
    """
    from scipy.special import ndtr

    pairs = found.pairs
    row, column = (np.array([found.models.index(name)]) for name in (question.model, question.against))
    centre = found.scores[row] - found.scores[column]
    if pairs is None or np.isnan(centre[0]):
        return -math.inf, math.inf
    variance = float(pairs.errors.of_pairs(row, column)[0][0]) ** 2
    if not variance > 0.0:
        # All alike tells no error, unless everything was judged.
        is_exact = bool((pairs.exact[row] & pairs.exact[column])[0])
        return (float(centre[0]),) * 2 if is_exact else (-math.inf, math.inf)
    information.append(1.0 / variance)
    shares = tuple(clock[-len(information) :])
    critical = group_sequential(shares, tuple(information), 2.0 * alpha, "even")
    at_look = replace(pairs, level=1.0 - 2.0 * float(ndtr(-critical)), interval="auto")
    ends = at_look.intervals(row, column, centre, [f"{question.model} − {question.against}"])[1]
    low, high = float(ends.low[0]), float(ends.high[0])
    return (-math.inf if math.isnan(low) else low), (math.inf if math.isnan(high) else high)
