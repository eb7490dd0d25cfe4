"""New models beside models that were judged before: items of their own draw, anchors, one joint estimate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection

from sparingly._version import __version__
from sparingly.base import rng
from sparingly.base.errors import UsageError
from sparingly.choose.select import select
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.data.signature import digest_scores
from sparingly.infer.estimate.assemble import EstimateRequest
from sparingly.infer.estimate.bank import WITH_BANK, draw_view, estimate_new_models, join_estimates
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.estimate.sample import without_truth
from sparingly.run.campaign.history import DataSnapshot, History, OwnDraw
from sparingly.run.rounds.strategy import Finished, first_rows

_REQUEST = ("target", "level", "interval", "scale", "seed")
ALL_JUDGED = "the new models were judged on all items of their budget."
OWN = "judged on {items} items of their own draw: {models}"


class Anchors(NamedTuple):
    """Judged outputs (item, model) that are judged again, and the chance of each to be among them."""

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
    columns: dict[str, Any] = {
        name: value[start:end]
        for name, value in vars(whole_draw).items()
        if isinstance(value, np.ndarray) and name != "pool"
    }
    columns["signature"] = replace(whole_draw.signature, n=end - start)
    return replace(whole_draw, **columns)


def next_anchors(snapshot: DataSnapshot, draw: OwnDraw, rows: int, aspect: str, seed: int) -> Anchors:
    """Return judged outputs of earlier models to judge again, drawn by chance, and the chance of each.

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
