"""What is learned: utilities of past evaluations, computed set by set and made comparable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import SparinglyError, UsageError
from sparingly.base.registry import Method, methods_inside, parse_method
from sparingly.base.stats.correlation import average_ranks
from sparingly.base.text import NAME
from sparingly.choose.utility.base import Utility
from sparingly.choose.utility.metric_avg import MetricAvg
from sparingly.data import fields as names
from sparingly.data.evalset import EvalSet

Scale = Literal["zscore", "rank", "none"]
ASPECT, METRIC = "aspect:", "metric:"


@dataclass(frozen=True)
class Target:
    """A utility to learn, and the name that it has in the model.

    As text: ``metric_var:metric=COMET``, with a name of its own ``hard=metric_avg:metric=COMET``.
    ``aspect:overall`` and ``metric:COMET`` are minus the mean of these scores over the models, so that what
    is hard comes first. What people said can stand where a metric does: ``metric_var:metric=aspect:overall``.
    """

    name: str
    utility: Utility

    @classmethod
    def parse(cls, given: str | Method | Target) -> Target:
        """Read a target from text, or from a utility."""
        if isinstance(given, Target):
            return given
        if isinstance(given, Method):
            return cls(given.name, _as_utility(given))
        name, sign, rest = given.partition("=")
        own = name if sign and NAME.fullmatch(name) else ""
        text = rest if own else given
        shorthand = text.startswith((ASPECT, METRIC))
        utility = (
            MetricAvg(metric=text.removeprefix(METRIC)) if shorthand else _as_utility(parse_method(text))
        )
        return cls(own or (text if shorthand else utility.name), utility)

    def values(self, data: EvalSet) -> tuple[Floats, frozenset[str]]:
        """Return the utility of every item of a set, and the fields that it was computed from."""
        aspects = sorted(_aspects_in(self.utility))
        for name in aspects:
            data = data.with_metric(f"{ASPECT}{name}", data.aspects[name])
        utility = self.utility.resolve(data)
        read = utility.reads(data)
        found = utility.values(data.only(read))
        stand_ins = {names.metric(f"{ASPECT}{name}"): names.aspect(name) for name in aspects}
        return found, frozenset(stand_ins.get(part, part) for part in read)


def parse_targets(given: Sequence[str | Method | Target] | str | Method | Target) -> tuple[Target, ...]:
    """Read one target or several; each needs a name of its own."""
    several = [given] if isinstance(given, str | Method | Target) else list(given)
    if not several:
        raise UsageError("Name at least one utility to learn, such as metric_var:metric=COMET.")
    found = tuple(Target.parse(one) for one in several)
    seen: set[str] = set()
    for target in found:
        if target.name in seen:
            raise UsageError(
                f'Two utilities are called "{target.name}": give one of them another name, '
                f"as in other={target.utility}."
            )
        seen.add(target.name)
    return found


def values_in(data: EvalSet, target: Target, where: str) -> tuple[Floats, frozenset[str]]:
    """Return the values of a target in a set; an error names the set."""
    try:
        return target.values(data)
    except SparinglyError as error:
        raise UsageError(f'In the data set "{where}", {target.name} cannot be computed: {error}') from None


def scaled(values: Floats, scale: Scale) -> Floats:
    """Return values of one set on a scale that other sets share.

    With ``zscore`` a value is its distance from the set's mean in standard deviations; with ``rank``, the
    normal quantile of its rank; ``none`` leaves it as it is.
    """
    known = ~np.isnan(values)
    if scale == "none" or not known.any():
        return values
    if scale == "rank":
        from scipy.special import ndtri

        return np.asarray(ndtri((average_ranks(values) - 0.5) / known.sum()), np.float64)
    spread = float(np.nanstd(values))
    # Where all items are alike there is nothing to learn from their differences.
    return np.asarray((values - np.nanmean(values)) / (spread if spread > 0 else 1.0))


def _as_utility(method: Method) -> Utility:
    if isinstance(method, Utility):
        return method
    raise UsageError(f"The {method.kind} {method.name} is no utility, and only utilities can be learned.")


def _aspects_in(utility: Utility) -> set[str]:
    """Return the aspects that stand where a metric is named."""
    return {
        text.removeprefix(ASPECT)
        for part in methods_inside(utility)
        for text in _texts(part)
        if text.startswith(ASPECT)
    }


def _texts(method: Method) -> Iterator[str]:
    for part in fields(method):
        value: Any = getattr(method, part.name)
        for text in value if isinstance(value, tuple) else (value,):
            if isinstance(text, str):
                yield text
