"""What a made-up evaluation set is asked to be, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sparingly.base.errors import UnknownNameError, UsageError


@dataclass(frozen=True)
class Recipe:
    """The arguments of ``make_evalset`` with every number of things turned into names."""

    items: tuple[str, ...]
    models: tuple[str, ...]
    seed: int
    documents: tuple[str, ...]
    domains: tuple[str, ...]
    metrics: Mapping[str, float]
    aspects: tuple[str, ...]
    raters: tuple[str, ...]
    rated_share: float
    raters_per_cell: float
    ability_spread: float
    missing: Mapping[str, float]

    def __post_init__(self) -> None:
        self._check_counts()
        for name, quality in self.metrics.items():
            if not -1.0 <= quality <= 1.0:
                raise UsageError(
                    f'The metric "{name}" is asked for a correlation of {quality}, beyond -1 and 1.'
                )
        _check_share("rated_share", self.rated_share)
        for name, share in self.missing.items():
            if name not in self.metrics:
                raise UnknownNameError("metric", name, self.metrics)
            _check_share("missing", share)

    def _check_counts(self) -> None:
        if not self.items or not self.models:
            raise UsageError("An evaluation set needs at least one item and one model.")
        if not self.aspects:
            raise UsageError("An evaluation set needs at least one aspect.")
        if len(self.documents) > len(self.items):
            raise UsageError(
                f"There are {len(self.documents)} documents for {len(self.items)} items,"
                " and every document needs an item."
            )
        if self.raters and not 0 < self.raters_per_cell <= len(self.raters):
            raise UsageError(
                f"raters_per_cell is {self.raters_per_cell} but must lie above 0 and not above"
                f" the number of raters, {len(self.raters)}."
            )


def names_of(kind: str, given: int | Sequence[str]) -> tuple[str, ...]:
    """Return the given names, or as many made-up ones, numbered so that they sort by their number."""
    if isinstance(given, str):
        raise UsageError(f'Give the {kind}s as a number or as a list of names, not as "{given}".')
    if not isinstance(given, int):
        if len(set(given)) < len(given):
            raise UsageError(f"Every {kind} needs a name of its own.")
        return tuple(given)
    if given < 0:
        raise UsageError(f"The number of {kind}s is {given} but must not be negative.")
    digits = len(str(given))
    return tuple(f"{kind}-{number:0{digits}d}" for number in range(1, given + 1))


def _check_share(name: str, share: float) -> None:
    if not 0.0 <= share <= 1.0:
        raise UsageError(f"{name} is {share} but must lie between 0 and 1.")
