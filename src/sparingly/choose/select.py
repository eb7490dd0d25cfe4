"""``select``: turn data, a method and a budget into a signed selection."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields as parameters
from dataclasses import replace
from operator import index
from typing import Any

import numpy as np

from sparingly._version import __version__
from sparingly.base.arrays import Floats, Ints, Objects
from sparingly.base.errors import UsageError, listing
from sparingly.base.registry import (
    Method,
    filled_in,
    method_class,
    method_from_call,
    methods_inside,
    values_from_call,
    with_parameters,
)
from sparingly.base.rng import seed_list
from sparingly.base.text import Call, parse_call
from sparingly.choose.auto import AUTO, AutoSelector, SelectionQuestion, automatic, check_question
from sparingly.choose.crowd import Judge, ModelSides, both_sides_notes, check_crowd, sides_of
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.selector import Chosen, Selector, amount_text
from sparingly.choose.design.top import Top
from sparingly.choose.utility.base import Utility
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.io import DataLike, as_evalset
from sparingly.data.selection import Selection
from sparingly.data.signature import Signature, digest_ids


def select(
    data: DataLike,
    method: str | Method | None = None,
    budget: int | float | str | Budget | None = None,
    *,
    question: SelectionQuestion | None = None,
    seed: int = 0,
    pool: Selection | None = None,
    never: Iterable[str] = (),
    crowd: Iterable[str] | None = None,
    judge: Judge = "rest",
    **design: Any,
) -> Selection:
    """Choose the items that people should judge.

    Args:
        data: The evaluation set (or its file, or a frame).
        method: A method, or its text: ``metric_var:metric=COMET``, ``random``,
            ``top:utility=(metric_var),balance=domain``. Without one (or by ``auto``) the data decides.
        budget: A count (100), a share (0.1 or "10%"), a cost ("cost:500") or a time ("2h").
        question: Without a method, what you want to know: ``ranking``, ``best``, ``scores`` or ``judge``.
        seed: Decides ties and draws; the same seed gives the same answer.
        pool: An earlier selection to choose from; inclusion probabilities multiply.
        never: Ids of items that must not be chosen.
        crowd: The models that the method may see; default: all.
        judge: The models to judge: the ``"rest"`` beside the crowd, ``"all"``, or their names.
        design: Parameters of the design: ``balance="domain"``, ``unit="document"``, ``cost="length"`` ….

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> chosen = sparingly.select(data, budget="10%", seed=1)
        >>> len(chosen), chosen.is_probability_sample
        (19, True)
    """
    data = as_evalset(data)
    if budget is None:
        raise UsageError("Say how much may be judged: budget=100, or a share such as 10%.")
    amount, selector = Budget.parse(budget), as_selector(AUTO if method is None else method)
    if question is not None:
        if not isinstance(selector, AutoSelector):
            raise UsageError(
                f"A question goes without a method: leave out question={question} or {selector.name}."
            )
        check_question(question)
        selector = replace(selector, question=question)
    try:
        seed = index(seed)
    except TypeError:
        raise UsageError(f"A seed is a whole number, not {seed!r}.") from None
    if pool is not None and pool.models is not None and len(set(pool.models)) > 1:
        raise UsageError(
            "A selection in which models have draws of their own cannot be a pool: give the data alone."
        )
    view = data if pool is None else data.take(items=pool.items)
    if isinstance(never, str):
        raise UsageError(f"The never-select list is a list of ids, not the text {never!r}.")
    # What the pool could not hold is not spoken for by what is chosen from it, either.
    excluded = tuple(sorted({*(str(name) for name in never), *(() if pool is None else pool.never)}))
    sides = sides_of(view, crowd, judge)
    candidates, visible = _candidates(view, excluded), sides.visible(view)

    why = ""
    if isinstance(selector, AutoSelector):
        selector, why = automatic(visible, amount, selector.question, **design)
    stated = {name: value for name, value in design.items() if value is not None}
    chooser = with_parameters(selector, stated).resolve(visible, amount)
    read = chooser.reads(visible)
    check_crowd(sides, chooser, visible.only(read))
    phase_seed = seed
    if pool is not None:
        # With the same seed, the draws that made the pool would decide in it again.
        first = pool.signature
        of_pool = (first.method, first.budget, str(first.seed), first.inputs, str(first.labels))
        phase_seed = seed_list(seed, 1, *of_pool)[0]
    chosen = chooser.choose(visible.only(read), amount, candidates, phase_seed)
    chosen = _with_sides(chosen, view, chooser, sides, pool)

    if chosen.shut is not None:
        excluded = tuple(sorted({*excluded, *view.items[chosen.shut]}))
    labels = fields.labels(read)
    signature = Signature(
        method=chooser.full_text,
        budget=str(amount),
        seed=seed,
        n=len(chosen.rows),
        of=len(view),
        inputs=visible.digest(read - labels),
        labels=visible.digest(labels) if labels else None,
        version=__version__,
        never=digest_ids(excluded) if excluded else None,
        pool=None if pool is None else pool.signature,
        crowd=sides.crowd,
        judged=None if sides.judged is None else digest_ids(sides.judged),
    )
    items = view.items[chosen.rows]
    probability, pool_probability = _probabilities(items, chosen, pool)
    earlier_skips = () if pool is None else pool.same_outputs
    skips = () if chosen.same_outputs is None else view.items[chosen.same_outputs]
    return Selection(
        items=items,
        signature=signature,
        utility=chosen.utility,
        probability=probability,
        pool_probability=pool_probability,
        stratum=chosen.stratum,
        unit=chosen.unit,
        models=chosen.models,
        context=chosen.context,
        cluster_weight=chosen.cluster_weight,
        cost=chosen.cost,
        reasons=chosen.reasons,
        reason=chosen.reason,
        cost_unit=chosen.cost_unit,
        notes=(*chosen.notes, *_cost_note(chosen), *_never_notes(data, excluded)),
        pool=None if pool is None else np.array(sorted(pool.items), object),
        never=excluded,
        same_outputs=(*earlier_skips, *skips),
        why=why,
        method=chooser,
    )


def as_selector(method: str | Method) -> Selector:
    """Return a selector; a utility stands for the top of its list, and may carry the design's parameters.

    ``auto`` is one draw by what the data has; in rounds, a strategy of that name goes further.
    """
    parsed = method if isinstance(method, Method) else _parse_selector(parse_call(method))
    if isinstance(parsed, Utility):
        return Top(utility=parsed)
    if isinstance(parsed, Selector):
        return parsed
    raise UsageError(f"The {parsed.kind} {parsed.name} does not choose items. See: sparingly methods.")


def _parse_selector(call: Call) -> Method:
    """Read a method; of ``metric_var:metric=X,balance=domain`` the last belongs to the design."""
    if call.name == AUTO:
        return filled_in(AutoSelector, call)
    kind = method_class(call.name)
    if not issubclass(kind, Utility):
        return method_from_call(call)
    shared = {part.name for part in parameters(Top)} - {part.name for part in parameters(kind)} - {"utility"}
    inner = tuple(pair for pair in call.values if pair[0] not in shared)
    outer = tuple(pair for pair in call.values if pair[0] in shared)
    utility = filled_in(kind, Call(call.name, inner))
    return Top(utility=utility, **values_from_call(Top, Call("top", outer)))


def _candidates(view: EvalSet, excluded: tuple[str, ...]) -> Ints:
    """Return the rows that may be chosen; an id that must never be chosen need not be in the set."""
    if not len(view):
        raise UsageError("The evaluation set has no items, so nothing can be chosen.")
    if not excluded:
        return np.arange(len(view))
    shut = set(excluded)
    rows = np.flatnonzero([name not in shut for name in view.items])
    if not len(rows):
        raise UsageError("Every item is on the never-select list, so nothing can be chosen.")
    return rows


def _with_sides(
    chosen: Chosen, view: EvalSet, chooser: Selector, sides: ModelSides, pool: Selection | None
) -> Chosen:
    """Return what was chosen with the models to judge, and a warning where a model is on both sides."""
    skips = chosen.same_outputs is not None and len(chosen.same_outputs) > 0
    if skips and (pool is not None or sides != ModelSides()):
        raise UsageError(
            "Items with the same outputs are skipped in the first phase, among all models: leave out "
            f"same_outputs=skip with {'a pool' if pool is not None else 'crowd= and judge='}."
        )
    if chosen.models is not None and sides != ModelSides():
        raise UsageError(
            f"The method {chooser.name} chooses the models to judge by itself: leave out crowd= and judge=."
        )
    if sides.judged is not None:
        models = np.empty(len(chosen.rows), object)
        models[:] = [sides.judged] * len(models)
        chosen = replace(chosen, models=models)
    judged = view.models if sides.judged is None else sides.judged
    warned = list(both_sides_notes(view, chooser, sides, None if pool is None else pool.signature))
    if any(method.name == "distilled" for method in methods_inside(chooser)):
        from sparingly.choose.distil.model import distilled_notes

        warned += distilled_notes(view, chooser, judged)
    return replace(chosen, notes=(*chosen.notes, *warned))


def _probabilities(
    items: Objects, chosen: Chosen, pool: Selection | None
) -> tuple[Floats | None, Floats | None]:
    """Return the probability of every row over all phases, and that of the phases before the last.

    The probability of being chosen is that of being in the pool times that of being chosen from it.
    """
    if pool is None:
        return chosen.probability, chosen.pool_probability
    if chosen.probability is None or pool.probability is None:
        return None, None
    pool_probability = dict(zip(pool.items, pool.probability, strict=True))
    first = np.array([pool_probability[name] for name in items])
    inner = 1.0 if chosen.pool_probability is None else chosen.pool_probability
    return first * chosen.probability, first * inner


def _never_notes(data: EvalSet, excluded: tuple[str, ...]) -> tuple[str, ...]:
    """Return notes on what the never-select list excludes, and on its unknown ids."""
    if not excluded:
        return ()
    ids = set(data.items)
    unknown = [name for name in excluded if name not in ids]
    shut = f"{len(excluded) - len(unknown)} items are never chosen: scores describe the others only."
    lost = f"the never-select list names {len(unknown)} ids that are not there: {listing(unknown, 3)}."
    return (shut, lost) if unknown else (shut,)


def _cost_note(chosen: Chosen) -> tuple[str, ...]:
    """Return a note on what the chosen items cost, and what as many random ones would."""
    if chosen.cost is None or chosen.mean_cost is None:
        return ()
    count = len(chosen.rows)
    chosen_cost = amount_text(chosen.cost.sum(), chosen.cost_unit)
    random = amount_text(count * chosen.mean_cost, chosen.cost_unit)
    return (
        f"judging the {count} chosen items costs {chosen_cost}; {count} random ones would cost {random} on "
        "average.",
    )
