"""The one rule for what numbers speak of: scores of this set, decisions of inputs like these."""

from __future__ import annotations

from typing import NamedTuple

from sparingly.base.errors import UnknownNameError
from sparingly.infer.estimate.assemble import TARGETS, Target


class Targets(NamedTuple):
    """What scores with their intervals speak of, and what claims of who is better speak of."""

    scores: Target
    decisions: Target


def targets_of(target: Target | None = None) -> Targets:
    """Return what numbers speak of: a named target is that of all numbers, else each has its own.

    Scores, standard errors and intervals are those of this set; p-values, ranks, groups and who may be best
    are those of inputs like these, as otherwise a fully judged set would call every difference significant.
    Every command, page and report takes its targets from here, so that a number is the same everywhere.

    Examples:
        >>> from sparingly.infer.estimate.targets import targets_of
        >>> targets_of(), targets_of("set").decisions
        (Targets(scores='set', decisions='population'), 'set')
    """
    if target is None:
        return Targets("set", "population")
    if target not in TARGETS:
        raise UnknownNameError("target", target, TARGETS)
    return Targets(target, target)


def place_of(target: str) -> str:
    """Return what a target is in a few words, for the heads of columns and for sentences."""
    return {"set": "this set", "population": "inputs like these"}.get(target, "the chosen items")
