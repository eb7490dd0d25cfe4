"""Artificial crowds: a method sees some of the models, and people judge others.

U(x, M′) ≈ U(x, M): what an item teaches about the models M is computed on the crowd M′ (Zouhar et al. 2025,
eq. 11), where the outputs of M are not there yet, are too dear, or must not decide what they are judged on.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sparingly.base.errors import SparinglyError, UnknownNameError, UsageError, listing
from sparingly.base.registry import Method, methods_inside, parse_method
from sparingly.base.syntax import either
from sparingly.choose.utility.base import Utility
from sparingly.choose.utility.metric import MetricAvg
from sparingly.data.evalset import EvalSet
from sparingly.data.signature import Signature
from sparingly.signals.length import SOURCE_LENGTH

Judge = Literal["rest", "all"] | Iterable[str]
_CHOICES = ("rest", "all")
_PAPER = "(Zouhar et al. 2025, section 5.3)"


@dataclass(frozen=True)
class ModelSides:
    """The two sides of a selection: the models that its method sees, and those that people judge."""

    crowd: tuple[str, ...] = ()  # in the order of their names; empty for all
    judged: tuple[str, ...] | None = None  # None for all

    def visible(self, data: EvalSet) -> EvalSet:
        """Return what the method may see of a set."""
        return data.take(models=self.crowd) if self.crowd else data

    def of_judged(self, data: EvalSet) -> EvalSet:
        """Return the set with no other models than those to judge."""
        return data if self.judged is None else data.take(models=self.judged)


def sides_of(data: EvalSet, crowd: Iterable[str] | None, judge: Judge) -> ModelSides:
    """Return who is on which side; names that are not there, and sides that are too small, are errors."""
    crowd_names = () if crowd is None else _model_names(data, crowd, "crowd")
    if crowd is not None and not crowd_names:
        raise UsageError("The crowd is empty: name at least one model, or leave it out to use all of them.")
    judged: tuple[str, ...] | None = None
    if not isinstance(judge, str):
        judged = _model_names(data, judge, "list of models to judge")
    elif judge not in _CHOICES:
        raise UnknownNameError("choice of models to judge", judge, _CHOICES)
    elif judge == "rest" and crowd_names:
        judged = tuple(name for name in data.models if name not in crowd_names)
    if judged is not None and len(judged) < 2:
        left_text = f"Only {listing(judged)} is" if judged else "No model is"
        too = either("--crowd-too", 'judge="all"')
        raise UsageError(
            f"{left_text} left to judge, and a ranking needs two models. Make the crowd smaller, or judge "
            f"its models too ({too})."
        )
    return ModelSides(crowd_names, judged)


def _model_names(data: EvalSet, names: Iterable[str], noun: str) -> tuple[str, ...]:
    """Return names of models in order, each once; whole numbers stand for their digits."""
    if isinstance(names, str):
        raise UsageError(f"The {noun} is a list of names, not the text {names!r}.")
    ids = {str(name) for name in names}
    for name in sorted(ids - set(data.models)):
        raise UnknownNameError("model", name, data.models)
    return tuple(sorted(ids))


def check_crowd(sides: ModelSides, chooser: Method, visible: EvalSet) -> None:
    """Raise UsageError for a crowd of one model where the utility compares models."""
    utility = getattr(chooser, "utility", None)
    if len(sides.crowd) != 1 or len(visible) < 2 or not isinstance(utility, Utility):
        return
    is_useless = any(isinstance(part, Utility) and part.compares_models for part in methods_inside(utility))
    if not is_useless:
        values = utility.values(visible)
        is_useless = bool(np.isnan(values).all() or np.nanmin(values) == np.nanmax(values))
    if is_useless:
        raise UsageError(
            f"With the crowd of {listing(visible.models)} alone, {utility} is the same for every item. "
            "Name two models or more."
        )


def both_sides_notes(
    data: EvalSet, chooser: Method, sides: ModelSides, pool: Signature | None = None
) -> tuple[str, ...]:
    """Warn where ``metric_avg`` has looked for what is hard for models that are judged on it."""
    judged = data.models if sides.judged is None else sides.judged
    notes = [_both_sides(data, chooser, sides.crowd, judged, "metric_avg")]
    while pool is not None:
        # A method of an earlier phase that is not installed here is none that we know.
        with suppress(SparinglyError):
            method = parse_method(pool.method)
            notes.append(_both_sides(data, method, pool.crowd, judged, "metric_avg of the pool"))
        pool = pool.pool
    return tuple(dict.fromkeys(note for note in notes if note))


def _both_sides(
    data: EvalSet, method: Method, crowd: tuple[str, ...], judged: tuple[str, ...], noun: str
) -> str:
    # Whether metric_avg is somewhere in the method, and reads something of the models.
    metrics = [part.metric for part in methods_inside(method) if isinstance(part, MetricAvg)]
    if not any(metric != SOURCE_LENGTH or SOURCE_LENGTH in data.metrics for metric in metrics):
        return ""
    visible = crowd or data.models
    shared = [name for name in visible if name in set(judged)]
    if not shared:
        return ""
    if set(judged) <= set(visible):
        return (
            f"{noun} was computed on the models that are judged: a model that made an item look hard is at a "
            f"disadvantage on it {_PAPER}."
        )
    return (
        f"{noun} was computed on models that are judged too: {listing(shared)}; each is at a disadvantage, "
        f"because the items are hard for it and not for every other model {_PAPER}."
    )
