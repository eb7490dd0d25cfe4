"""The tables of docs/results-sources.md: what was told, and what choosing by it is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from benchmarks.leaderboard.means import differences, mean_on
from benchmarks.leaderboard.origin import today
from benchmarks.leaderboard.parity import Parities
from benchmarks.leaderboard.ranges import mean_measured, mean_ratio
from benchmarks.leaderboard.results import RANDOM, SPA, Results
from sparingly.data.evalset import EvalSet

OTHERS = (RANDOM, "source k-means", "source length")
Correlations = Mapping[tuple[str, str, str], float]


class Learned(Protocol):
    """A family that was left out."""

    @property
    def family(self) -> str: ...
    @property
    def past(self) -> Mapping[str, EvalSet]: ...
    @property
    def new(self) -> Mapping[str, EvalSet]: ...


def block_of(
    results: Results,
    told: Correlations,
    learners: Sequence[str],
    utilities: Sequence[str],
    folds: Sequence[Learned],
) -> str:
    """Return the tables as Markdown."""
    parts = [
        f"Made on {today()} by `python -m benchmarks.distil_holdout --docs`{_encoder_too(learners)}.",
        _learned_table(folds),
        "Rank correlation of what was told with the utility itself, on sources that were left out:",
        _correlation_table(told, learners, utilities),
        "Soft pairwise accuracy of choosing by it, mean over budgets of 5–50 % and over the sets, and labels "
        "for random's accuracy in per cent of random's (from there on, divided by random's own); 95 % "
        "intervals over seeds and resamples of the sets:",
        _gain_table(results, learners, utilities),
        "Soft pairwise accuracy set by set, minus random's, in points:",
        _set_table(results, learners, utilities),
    ]
    return "\n\n".join(parts)


def _encoder_too(learners: Sequence[str]) -> str:
    told = "--encoder told.npz` with what `benchmarks/distil_encoder.py` told"
    return f", the rows of the encoder with `{told}" if "encoder" in learners else ""


def texts_of(data: EvalSet) -> list[str]:
    """Return the sources of a set."""
    return [] if data.sources is None else [str(text) for text in data.sources]


def _table(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rule = ["---", *["---:"] * (len(heads) - 1)]
    return "\n".join(f"| {' | '.join(line)} |" for line in (heads, rule, *lines))


def _learned_table(folds: Sequence[Learned]) -> str:
    lines = []
    for fold in folds:
        texts = len({str(text) for one in fold.past.values() for text in texts_of(one)})
        items = sum(len(one) for one in fold.new.values())
        lines.append([fold.family, ", ".join(fold.new), str(items), f"{len(fold.past)} sets, {texts} texts"])
    return _table(("left out", "sets", "items", "learned from"), lines)


def _correlation_table(told: Correlations, learners: Sequence[str], utilities: Sequence[str]) -> str:
    lines = []
    for learner in learners:
        for utility in utilities:
            found = {key[0]: value for key, value in told.items() if key[1:] == (learner, utility)}
            low, high = min(found, key=found.__getitem__), max(found, key=found.__getitem__)
            lines.append(
                [
                    f"{learner}, `{utility}`",
                    f"{np.mean(list(found.values())):.2f}",
                    f"{found[low]:.2f} ({low})",
                    f"{found[high]:.2f} ({high})",
                ]
            )
    return _table(("", "mean", "lowest", "highest"), lines)


def _entries(learners: Sequence[str], utilities: Sequence[str]) -> list[tuple[str, str]]:
    whole = [(name, name) for name in OTHERS]
    for utility in utilities:
        whole.append((utility, f"`{utility}` of the outputs"))
        whole += [(f"{learner} {utility}", f"… told by {learner}") for learner in learners]
    return whole


def _gain_table(results: Results, learners: Sequence[str], utilities: Sequence[str]) -> str:
    parities, lines, names = Parities(results), [], results.counting()
    for entry, shown in _entries(learners, utilities):
        mean = mean_measured([mean_on(results, name, entry, SPA) for name in names])
        gap = "–"
        if entry != RANDOM:
            apart = mean_measured(list(differences(results, entry).values())).range()
            gap = f"{100 * apart.value:+.2f} ({100 * apart.low:+.2f} to {100 * apart.high:+.2f})"
        over = parities.over(entry, names)
        labels = mean_ratio([one.ratio for one in over.values()]).range()
        needed = f"{100 * labels.value:.0f} ({100 * labels.low:.0f}–{100 * labels.high:.0f})"
        lines.append([shown, f"{100 * mean.range().value:.2f}", gap, "100" if entry == RANDOM else needed])
    return _table(("chosen by", "accuracy, %", "minus random, points", "labels, %"), lines)


def _set_table(results: Results, learners: Sequence[str], utilities: Sequence[str]) -> str:
    entries = [pair for pair in _entries(learners, utilities) if pair[0] != RANDOM]
    lines = []
    for entry, shown in entries:
        found = differences(results, entry)
        lines.append([shown, *(f"{100 * found[name].range().value:+.1f}" for name in results.counting())])
    return _table(("chosen by", *results.counting()), lines)
