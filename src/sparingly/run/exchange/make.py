"""Tasks of a selection, or of what a campaign asks now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.run.exchange.asks import Ask, asks_of
from sparingly.run.exchange.compose import Manner, compose
from sparingly.run.exchange.scale import Scale
from sparingly.run.exchange.tasks import KINDS, Kind, Tasks
from sparingly.run.raters.assignment import Assignment

if TYPE_CHECKING:
    from sparingly.run.campaign.campaign import Campaign
    from sparingly.run.campaign.questions import Question

Aspects = str | Sequence[str] | Mapping[str, Scale | None]
OVERALL = "overall"


def make_tasks(
    data: EvalSet,
    selection: Selection,
    assignment: Assignment | None = None,
    controls: EvalSet | None = None,
    *,
    kind: Kind | None = None,
    aspects: Aspects | None = None,
    scale: Scale | None = None,
    seed: int = 0,
    salt: str = "",
    context_before: int = 0,
    context_after: int = 0,
    merge: bool = True,
    texts: bool = True,
) -> Tasks:
    """Return the tasks of a selection, for the raters of an assignment or for anyone.

    Args:
        data: The evaluation set.
        selection: What is to be judged.
        assignment: Who judges what; anyone unless given.
        controls: The control items that the assignment hands out.
        kind: ``score``, ``pair``, ``ranking`` or ``spans``; pairs where the selection has pairs, else scores.
        aspects: What is judged, by name or with scales; ``overall`` unless given, and points for spans.
        scale: The scale of aspects that have none of their own; 0 to 100 unless given.
        seed: Settles tokens and sides.
        salt: A secret to mix into tokens.
        context_before: Items of the document to show before an item that has no context of its own.
        context_after: Items of the document to show after it.
        merge: Ask about equal outputs once.
        texts: Whether outputs are shown; not for a harness that runs the models itself.
    """
    asked = _kind(kind, selection.pairs is not None)
    asks = asks_of(data, selection, pairs=asked == "pair", assignment=assignment, controls=controls)
    manner = Manner(
        asked, _scales(aspects, scale, asked), seed, salt, context_before, context_after, merge, texts
    )
    tasks = compose(asks, manner, data.models)
    return replace(tasks, key=replace(tasks.key, selection=str(selection.signature)))


def make_campaign_tasks(
    campaign: Campaign,
    data: str | None = None,
    *,
    kind: Kind | None = None,
    scale: Scale | None = None,
    seed: int | None = None,
    salt: str = "",
    context_before: int = 0,
    context_after: int = 0,
    merge: bool = True,
) -> Tasks:
    """Return the tasks of what nobody has judged yet in a campaign, with its aspects and scales."""
    from sparingly.run.campaign.overview import last_entry

    # One state of the campaign, although it is read in several steps while people answer.
    seq = last_entry(campaign)
    questions = campaign.questions(data, at=seq)
    if not questions:
        raise UsageError("Nothing is open: draw the next round first, with sparingly campaign next.")
    asked = _kind(kind, questions[0].other is not None)
    names = sorted({question.data for question in questions})
    held = {name: campaign.data(name, at=seq, judged=False) for name in names}
    asks = [ask for name in names for ask in _open(campaign, name, held[name], questions, asked)]
    scales = {
        aspect: None if ends is None else Scale(*ends) for aspect, ends in campaign.settings.aspects.items()
    }
    drawn = campaign.settings.seed if seed is None else seed
    manner = Manner(asked, _scales(scales, scale, asked), drawn, salt, context_before, context_after, merge)
    return compose(asks, manner, {model for one in held.values() for model in one.models})


def _open(
    campaign: Campaign, name: str, held: EvalSet, questions: Sequence[Question], kind: Kind
) -> list[Ask]:
    """Return what is open in a data set: the rows of its rounds, cut to the models that nobody judged."""
    label = name if len(campaign.settings.budgets) > 1 else ""
    wanted: dict[tuple[int, str], set[tuple[str, ...]]] = {}
    for one in questions:
        if one.data == name:
            cell = (one.model,) if one.other is None else (one.model, one.other)
            wanted.setdefault((one.round, one.item), set()).add(cell)
    asks = []
    for number, selection in enumerate(campaign.rounds(name), 1):
        for ask in asks_of(held, selection, pairs=kind == "pair", data=label):
            left = wanted.get((number, ask.item), set())
            if kind == "pair":
                models = ask.models if tuple(sorted(ask.models)) in left else ()
            else:
                open_models = {one for group in left for one in group}
                models = tuple(model for model in _also_late(ask, held) if model in open_models)
            if models:
                asks.append(Ask(**{**vars(ask), "models": models, "round": number}))
    return asks


def _also_late(ask: Ask, held: EvalSet) -> tuple[str, ...]:
    """Return the models of a question and those that came later, which are judged on the same items."""
    return (*ask.models, *(model for model in held.models if model not in ask.models))


def _kind(kind: str | None, pairs: bool) -> Kind:
    if kind is None:
        return "pair" if pairs else "score"
    if kind not in KINDS:
        raise UnknownNameError("kind of question", kind, KINDS)
    if pairs and kind != "pair":
        raise UsageError("The selection names pairs of models: ask for pairs.")
    return next(one for one in KINDS if one == kind)


def _scales(aspects: Aspects | None, scale: Scale | None, kind: Kind) -> dict[str, Scale]:
    common = scale or Scale()
    if aspects is None:
        return {} if kind == "spans" else {OVERALL: common}
    if isinstance(aspects, Mapping):
        return {name: own or common for name, own in aspects.items()}
    names = [aspects] if isinstance(aspects, str) else list(aspects)
    if not names and kind != "spans":
        raise UsageError("Name at least one aspect to judge.")
    return dict.fromkeys(names, common)
