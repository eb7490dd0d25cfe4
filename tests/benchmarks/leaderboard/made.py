"""Tables of replays made by a formula, in which what an entry needs and how it errs is known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparingly.base import rng
from sparingly.bench.table import frame_of

if TYPE_CHECKING:
    from polars import DataFrame

SHARES = tuple(np.linspace(0.05, 0.5, 10).round(6).tolist())
THREE = (SHARES[1], SHARES[4], SHARES[9])


@dataclass(frozen=True)
class MadeSet:
    name: str
    items: int = 400
    models: int = 10
    strong: bool = False
    family: str = "made"
    has_sources: bool = True

    @property
    def counts(self) -> bool:
        return self.items >= 60 and self.models >= 5


@dataclass(frozen=True)
class MadeEntry:
    """An entry that needs ``needs`` of random's labels, and ``strong_needs`` where the metric is strong."""

    name: str
    needs: float = 1.0
    strong_needs: float | None = None
    error: float = 1.0
    kind: str = "stochastic"
    runs: int = 10
    resamples: int = 0
    noise: float = 0.02
    shares: tuple[float, ...] = SHARES
    method: str = "made"
    estimator: str | None = None
    p_values: str = "own"
    coverage: float | None = None
    wrong: float = 0.005
    not_for: tuple[str, ...] = ()

    def needs_on(self, made: MadeSet) -> float:
        return self.strong_needs if made.strong and self.strong_needs is not None else self.needs


RANDOM = MadeEntry("random", kind="random", runs=100, method="random")


def accuracy(share: float) -> float:
    """Random selection's accuracy at a share of the set; all of it gives 1."""
    return 1.0 - 0.06 * max(0.0, float(share**-0.4) - 1.0)


def table(sets: Iterable[MadeSet], entries: Iterable[MadeEntry]) -> DataFrame:
    return frame_of([row for one in sets for entry in entries for row in rows_of(one, entry)])


def rows_of(made: MadeSet, entry: MadeEntry) -> list[dict[str, Any]]:
    if made.name in entry.not_for:
        reason = "The set has no texts."
        return [about(made, entry, 0, 0, share, "not_applicable", reason) for share in entry.shares]
    runs = [(seed, 0) for seed in range(entry.runs)] + [(0, k) for k in range(1, entry.resamples + 1)]
    return [row for seed, resample in runs for row in run_rows(made, entry, seed, resample)]


def run_rows(made: MadeSet, entry: MadeEntry, seed: int, resample: int) -> list[dict[str, Any]]:
    """The budgets of one run share half of their noise, as those of nested lists do."""
    generator = rng.generator(seed, "made", made.name, entry.name, str(resample))
    common = generator.normal()
    rows = []
    for share in entry.shares:
        noise = entry.noise * (common + generator.normal()) / np.sqrt(2.0) * (1.0 - share)
        value = float(np.clip(accuracy(min(1.0, share / entry.needs_on(made))) + noise, 0.0, 1.0))
        error = entry.error * 0.05 / np.sqrt(share) * (1.0 + 0.2 * float(generator.normal()))
        printed = made.models if entry.coverage is not None else 0
        covered = int(generator.binomial(printed, entry.coverage)) if entry.coverage is not None else 0
        significant = 20
        rows.append(
            {
                **about(made, entry, seed, resample, share),
                "seconds": 0.01,
                "soft_pairwise_accuracy": value,
                "pairwise_accuracy": value,
                "pairwise_accuracy_tied": value,
                "kendall_b": 2.0 * value - 1.0,
                "top1_match": float(generator.random() < value),
                "rank_changes": 2,
                "mean_absolute_error": abs(error),
                "bias": float(0.01 * generator.normal()),
                "intervals": printed,
                "covered": covered,
                "width": 0.2 * entry.error if printed else None,
                "pairs": made.models * (made.models - 1) // 2,
                "significant": significant,
                "wrong_sign": int(generator.binomial(significant, entry.wrong)),
            }
        )
    return rows


NOTHING = dict.fromkeys(
    (
        *("seconds", "soft_pairwise_accuracy", "pairwise_accuracy", "pairwise_accuracy_tied", "kendall_b"),
        *("top1_match", "rank_changes", "mean_absolute_error", "bias", "intervals", "covered", "width"),
        *("pairs", "significant", "wrong_sign", "stopped_at", "signature", "peak_mb", "digest", "version"),
    )
)


def about(
    made: MadeSet,
    entry: MadeEntry,
    seed: int,
    resample: int,
    share: float,
    status: str = "done",
    reason: str | None = None,
) -> dict[str, Any]:
    labels = round(share * made.items * made.models)
    return {
        "set": made.name,
        "family": made.family,
        "truth": "overall",
        "metric": "chrF",
        "strong": made.strong,
        "counts": made.counts,
        "items": made.items,
        "models": made.models,
        "entry": entry.name,
        "method": entry.method,
        "estimator": entry.estimator,
        "p_values": entry.p_values,
        "rounds": None,
        "stop": None,
        "kind": entry.kind,
        "share": share,
        "labels": labels,
        "annotation_seconds": 40.0 * labels if made.has_sources else None,
        "seed": seed,
        "resample": resample,
        "status": status,
        "reason": reason,
        **NOTHING,
    }
