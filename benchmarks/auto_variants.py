"""What variants of ``auto`` save over random selection, in minutes: one round, all sets, families left out.

    python -m benchmarks.auto_variants                     every variant below, 20 seeds
    python -m benchmarks.auto_variants auto no_metrics     only these
    python -m benchmarks.auto_variants --truth published   equal texts keep their own published labels
    python -m benchmarks.auto_variants --doubts            how much metrics count, chosen leaving families out
    python -m benchmarks.auto_variants --seeds 60 --docs   also into docs/research/leaderboard.md

All models are judged on the first items of an order, at 5, 10, 20, 30 and 50 % of the items (and below, for
parity). Of every draw only what the expectations need is kept (means, covariances and the ridge's part of
them), in .bench/auto_variants, so that variants of the belief cost seconds. Random selection has 200 orders
and the p-values of its sign-flip tests. All models are judged, so both sides gain the same by asking about
equal texts once.

*Left out*: every family has the figures of the variant that is best on the other families. Intervals are
95 %, over the sets; those of one set are over seeds. *Random again* is random selection against its own
target, with as many seeds. *Held*: how often the z of all labels lies within 1.96 spreads of the expected
one; *wrong*: of the pairs with an expected p below .05, how many have the other sign, and how many by the
spread of the belief. Each look at a variant is a line of benchmarks/results/auto_variants.jsonl.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import t as t_test

from benchmarks.leaderboard.parity import Places, reached
from benchmarks.pages import replaced, write_whole
from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.stats.pairs import pair_indices
from sparingly.base.stats.sign_flip import prefix_pair_p_values
from sparingly.bench.sets import open_set, set_files
from sparingly.infer.estimate.sample import without_truth
from sparingly.infer.expect.expect import (
    USUAL_PRIOR,
    BeliefPrior,
    PairVariances,
    believe,
    fit_metrics,
    pooled_deviations,
)
from sparingly.infer.rank.compare import full_set
from sparingly.infer.rank.measures import pairwise_accuracy
from sparingly.run.rounds.auto import Auto, spread_order

ROOT = Path(__file__).resolve().parent.parent
LOG = ROOT / "benchmarks" / "results" / "auto_variants.jsonl"
SHARES: tuple[float, ...] = (0.02, 0.035, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75)
# The budgets that are targets, and whose means are shown.
AIMED = slice(2, 7)
AIMS: tuple[float, ...] = SHARES[AIMED]
RANDOM_SEEDS, HELD_OUT, BOOTSTRAP, RESAMPLES = 200, 24, 1000, 200
MEASURES = ("soft", "pairs", "best", "error", "error of expect")
# Of expectations alone.
CLAIMS = ("held", "sure", "wrong", "wrong by spread")
WORST, DIGITS = 5, (0, 0, 1, 2, 2)
RANDOM = "random again"
PAGE = ROOT / "docs" / "research" / "leaderboard.md"
# With labels on fewer items, scores are plain means.
_FEWEST_TO_LEARN = 30


@dataclass(frozen=True)
class Variant:
    """One way to draw and to expect: the order of the items, whether metrics speak, and the prior.

    Without ``expects``, models are ranked by the estimated scores, with the p-values of a t test of these.
    """

    order: str = "auto"
    metrics: bool = True
    prior: BeliefPrior = USUAL_PRIOR
    expects: bool = True


VARIANTS: Mapping[str, Variant] = {
    "auto": Variant(),
    "expectations_alone": Variant(order="random", metrics=False),
    "metrics_alone": Variant(order="random", expects=False),
    "order_alone": Variant(metrics=False, expects=False),
    "no_expectations": Variant(expects=False),
    "no_metrics": Variant(metrics=False),
    "no_order": Variant(order="random"),
    "no_doubt": Variant(prior=replace(USUAL_PRIOR, doubt=0.0)),
    "no_tails": Variant(prior=replace(USUAL_PRIOR, tails=float("inf"))),
}
DOUBTS: Mapping[str, Variant] = {
    f"doubt_{doubt:g}": Variant(prior=replace(USUAL_PRIOR, doubt=doubt))
    for doubt in (0.0, 1.0, 2.0, 3.0, 4.0, 6.0)
}


@dataclass(frozen=True, eq=False)
class Played:
    """A set with what random selection reaches on it: seeds × shares × measures."""

    name: str
    family: str
    strong: bool
    truth: Floats
    p_values: Floats
    sizes: Ints
    random: Floats


def played(file: Any, truth: str, folder: Path) -> tuple[Played, Any] | None:
    """Return a set that counts, with random selection played on it, and its data without the truth."""
    judged = open_set(file, once=truth == "once")
    if not judged.counts:
        return None
    data, full = judged.data, full_set(judged.data, judged.truth)
    kept = folder / f"{file.name}.{file.digest()}.{truth}.random"
    sizes = np.maximum(np.round(np.array(SHARES) * len(data)), 2).astype(np.int64)
    if not kept.exists():
        runs = np.zeros((RANDOM_SEEDS, len(sizes), len(MEASURES)))
        for seed in range(RANDOM_SEEDS):
            order = np.argsort(rng.stream(data.keys, seed, "auto variants"), kind="stable")[: sizes.max()]
            p_values = prefix_pair_p_values(full.values[order], sizes, keys=data.keys[order])
            for place, size in enumerate(sizes):
                means = full.values[order[:size]].mean(axis=0)
                runs[seed, place] = measured(means, p_values[place], means, full.means, full.p_values)
        joblib.dump(runs, kept)
    runs = joblib.load(kept)
    of_set = Played(file.name, file.family, file.strong, full.values, full.p_values, sizes, runs)
    return of_set, without_truth(data, judged.truth)


def measured(ranked_by: Floats, p_values: Floats, scores: Floats, truth: Floats, full: Floats) -> list[float]:
    """Return the measures of a draw."""
    found = bool(truth[np.argmax(ranked_by)] >= truth.max())
    error = float(np.abs(scores - truth).mean())
    soft = 1.0 - float(np.abs(p_values - full).mean())
    return [soft, float(pairwise_accuracy(ranked_by, truth)), float(found), error, error]


def order_of(data: Any, kind: str, seed: int) -> Ints:
    """Return the order of all items of a variant."""
    if kind == "random":
        return np.argsort(rng.stream(data.keys, 1000 + seed, "auto variants"), kind="stable")
    return spread_order(Auto()._visible(data), seed)


def draws(of_set: Played, data: Any, kind: str, seeds: int, kept: Path) -> list[list[dict[str, Any]]]:
    """Return what the expectations need of every draw, seeds × shares."""
    found: list[list[dict[str, Any]]] = joblib.load(kept) if kept.exists() else []
    for seed in range(len(found), seeds):
        order, rows = order_of(data, kind, seed), []
        for size in of_set.sizes:
            judged, labels = order[:size], np.full(of_set.truth.shape, np.nan)
            labels[judged] = of_set.truth[judged]
            fit = fit_metrics(data, labels)
            left_out = fit.left_out[judged]
            rows.append(
                {
                    "size": int(size),
                    "mean": labels[judged].mean(axis=0),
                    "judged": fit.predicted[judged].mean(axis=0),
                    "all": fit.predicted.mean(axis=0),
                    "score": fit.held_out.mean(axis=0) + left_out.mean(axis=0),
                    "spread": np.atleast_2d(np.cov(labels[judged].T)),
                    "left": np.atleast_2d(np.cov(left_out.T)),
                    "within": fit.within,
                    "closeness": fit.closeness,
                }
            )
        found.append(rows)
    joblib.dump(found, kept)
    return found[:seeds]


class Said(NamedTuple):
    """What is expected after a draw: as ``expect`` says it, all models alike, and the estimated scores."""

    z: Floats
    spread: Floats
    scores: Floats
    estimated: Floats


def expected(of_set: Played, draw: Mapping[str, Any], variant: Variant) -> Said:
    """Return what is expected after a draw."""
    items, models = of_set.truth.shape
    first, second = pair_indices(models)
    size, score = draw["size"], draw["mean"]
    if not variant.metrics:
        nothing = {name: np.zeros(models) for name in ("all", "judged")}
        # What a mean misses of an item that it left out.
        left_out = draw["spread"] * (size / (size - 1.0)) ** 2
        draw = {**draw, **nothing, "left": left_out, "closeness": np.ones(len(first)), "within": 0.0}
    elif size >= _FEWEST_TO_LEARN:
        score = draw["score"]
    means = draw["mean"] + draw["all"] - draw["judged"]

    def deviations(covariance: Floats) -> Floats:
        of_pairs = np.diag(covariance)[first] + np.diag(covariance)[second] - 2 * covariance[first, second]
        variances = PairVariances(np.maximum(of_pairs, 0.0), np.full(len(first), float(size)))
        return pooled_deviations(variances, draw["closeness"])

    labels, left = deviations(draw["spread"]), deviations(draw["left"])
    if not variant.expects:
        spread = labels if score is draw["mean"] else left
        of_test = t_test.sf((score[second] - score[first]) * np.sqrt(size) / spread, size - 1)
        z = ndtri(np.clip(of_test, 1e-300, 1.0 - 1e-16))
        return Said(z, np.full(len(z), np.nan), score, score)
    units = np.sqrt(items) / left
    noise = np.full(len(first), max(items * (1.0 / size - 1.0 / items), 1e-9))
    belief = believe(
        (means[first] - means[second]) * units,
        (draw["all"][first] - draw["all"][second]) * units,
        noise,
        models=models,
        within=draw["within"],
        scale=float(np.sqrt((labels**2).mean() / (left**2).mean())),
        prior=variant.prior,
    )
    apart = belief.z / units
    above = np.bincount(first, apart, models) - np.bincount(second, apart, models)
    return Said(belief.z * left / labels, belief.sd * left / labels, means.mean() + above / models, score)


@cache
def full_z(of_set: Played) -> Floats:
    """Return the z of every pair of models over all items."""
    first, second = pair_indices(of_set.truth.shape[1])
    apart = of_set.truth[:, first] - of_set.truth[:, second]
    errors = np.maximum(apart.std(axis=0, ddof=1) / np.sqrt(len(apart)), 1e-12)
    return np.asarray(apart.mean(axis=0) / errors)


def measured_expectation(of_set: Played, said: Said) -> list[float]:
    """Return the measures of what was expected, and of its claims."""
    means, full = of_set.truth.mean(axis=0), full_z(of_set)
    values = measured(said.scores, ndtr(-said.z), said.estimated, means, of_set.p_values)
    values[4] = float(np.abs(said.scores - means).mean())
    sure = 2.0 * ndtr(-np.abs(said.z)) < 0.05
    wrong, by_spread = np.sign(said.z) != np.sign(full), ndtr(-np.abs(said.z) / np.maximum(said.spread, 1e-9))
    held = np.abs(full - said.z) <= 1.96 * said.spread
    return [*values, *(float(one.mean()) for one in (held, sure, wrong & sure, by_spread * sure))]


def _places(of_set: Played) -> Places:
    return Places(np.append(of_set.sizes, len(of_set.truth)).astype(np.float64), 1.0, 0.5)


@cache
def own_needs(of_set: Played, seeds: int, measure: int) -> Floats:
    """Return the labels that random selection needs for its own mean: half of its runs against the others."""
    runs, generator = of_set.random[:, :, measure], np.random.default_rng(0)
    half, own = len(runs) // 2, []
    for _ in range(HELD_OUT):
        order = generator.permutation(len(runs))
        target = runs[order[:half]].mean(axis=0)[AIMED]
        tried = runs[order[half : half + min(seeds, half)]].mean(axis=0)
        own.append(reached(_places(of_set), tried[None], target[None], "stays")[0][0])
    return np.asarray(np.mean(own, axis=0))


def needs(of_set: Played, curves: Floats, seeds: int, measure: int) -> Floats:
    """Return the labels for random's mean at every aimed budget, as a share of what random needs itself."""
    target = np.broadcast_to(of_set.random[:, :, measure].mean(axis=0)[AIMED], (len(curves), len(AIMS)))
    return np.asarray(
        reached(_places(of_set), curves, target, "stays")[0] / own_needs(of_set, seeds, measure)
    )


def interval_of(of_set: Played, values: Floats) -> tuple[float, float]:
    """Return the 95 % interval, over seeds, of the labels in percent of random's."""
    drawn = np.random.default_rng(0).integers(0, len(values), (RESAMPLES, len(values)))
    labels = needs(of_set, values[drawn, :, 0].mean(axis=1), len(values), 0).mean(axis=1)
    low, high = np.percentile(100 * labels, [2.5, 97.5])
    return float(low), float(high)


def figures_of(of_set: Played, values: Floats) -> dict[str, Floats]:
    """Return the figures of a variant on a set, by budget."""
    curves, random = values.mean(axis=0)[:, : len(MEASURES)], of_set.random.mean(axis=0)
    ratio = curves[AIMED] / random[AIMED]
    return {
        "labels": 100 * needs(of_set, curves[None, :, 0], len(values), 0)[0],
        "labels, pairs": 100 * needs(of_set, curves[None, :, 1], len(values), 1)[0],
        "best found": 100 * (curves - random)[AIMED, 2],
        "error": ratio[:, 3],
        "error of expect": ratio[:, 4],
    }


def summary(by_set: Mapping[str, dict[str, Floats]], strong: set[str]) -> dict[str, Any]:
    """Return the means over sets with their intervals, over the strong sets, and by budget."""
    generator, found = np.random.default_rng(0), {}
    for name in next(iter(by_set.values())):
        values = np.array([figures[name].mean() for figures in by_set.values()])
        drawn = values[generator.integers(0, len(values), (BOOTSTRAP, len(values)))].mean(axis=1)
        here = [figures[name].mean() for key, figures in by_set.items() if key in strong]
        found[name] = {
            "mean": float(values.mean()),
            "interval": np.percentile(drawn, [2.5, 97.5]).tolist(),
            "strong": float(np.mean(here)) if here else float("nan"),
            "worst": [float(values.max()), [*by_set][int(values.argmax())]],
            "budgets": np.mean([figures[name] for figures in by_set.values()], axis=0).tolist(),
        }
    return found


def line_of(name: str, found: Mapping[str, Any]) -> str:
    """Return a row of the table."""
    cells = [name]
    for figure, digits in zip(found, DIGITS, strict=True):
        one, (low, high) = found[figure], found[figure]["interval"]
        cells.append(f"{one['mean']:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})")
        cells.append(f"{one['strong']:.{digits}f}")
    return f"| {' | '.join(cells)} |"


def budget_table(found: Mapping[str, Mapping[str, Any]], claims: Mapping[str, Floats]) -> list[str]:
    """Return the figures of every variant by budget."""
    heads = ["", *(f"{100 * share:.0f} %" for share in AIMS), "mean", "strong"]
    lines = [f"| {' | '.join(heads)} |", f"| --- |{' ---: |' * (len(heads) - 1)}"]
    for name, figures in found.items():
        for figure, digits in zip(figures, DIGITS, strict=True):
            one = figures[figure]
            cells = [*one["budgets"], one["mean"], one["strong"]]
            texts = [
                f"{value:+.{digits}f}" if figure == "best found" else f"{value:.{digits}f}" for value in cells
            ]
            lines.append(f"| {name}: {figure} | {' | '.join(texts)} |")
        if name in claims:
            held, sure, wrong, by_spread = claims[name].T
            rows = {
                "z of all labels within the interval, %": held,
                "wrong sign of expected p < .05, %": wrong / sure,
                "… by the spread, %": by_spread / sure,
            }
            for text, row in rows.items():
                by_share = " | ".join(f"{100 * value:.1f}" for value in row[AIMED])
                lines.append(f"| {name}: {text} | {by_share} | {100 * row[AIMED].mean():.1f} | |")
    return lines


def worst_table(values: Mapping[str, Floats], sets: Mapping[str, Played]) -> list[str]:
    """Return the sets that need most labels of random's, with their intervals, and random's worst."""
    heads = ["set", "models", "items", "labels, %", *(f"{100 * share:.0f} %" for share in AIMS), "best found"]
    lines = [f"| {' | '.join(heads)} |", f"| --- |{' ---: |' * (len(heads) - 1)}"]
    figures = {name: figures_of(sets[name], of_set) for name, of_set in values.items()}
    for name in sorted(figures, key=lambda name: -figures[name]["labels"].mean())[:WORST]:
        one, (low, high) = figures[name], interval_of(sets[name], values[name])
        cells = [name, str(sets[name].truth.shape[1]), str(len(sets[name].truth))]
        cells += [
            f"{one['labels'].mean():.0f} ({low:.0f} to {high:.0f})",
            *(f"{x:.0f}" for x in one["labels"]),
        ]
        cells.append(f"{one['best found'].mean():+.1f}")
        lines.append(f"| {' | '.join(cells)} |")
    above = [name for name in values if interval_of(sets[name], values[name])[0] > 100.0]
    return [*lines, "", f"Sets whose whole interval lies above 100 %: {', '.join(above) or 'none'}."]


def main(arguments: list[str] | None = None) -> int:
    """Play the variants, print what they save, and log the look at each."""
    every = {**VARIANTS, **DOUBTS}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("variants", nargs="*", help=", ".join(every))
    parser.add_argument("--doubts", action="store_true", help=", ".join(DOUBTS))
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--truth", choices=("once", "published"), default="once")
    parser.add_argument("--sets", default="", help="names with commas; all unless given")
    parser.add_argument("--docs", action="store_true", help="write the tables into the page")
    args = parser.parse_args(arguments)
    names = args.variants or [*(DOUBTS if args.doubts else VARIANTS)]
    folder = ROOT / ".bench" / "auto_variants"
    folder.mkdir(parents=True, exist_ok=True)
    values: dict[str, dict[str, Floats]] = {name: {} for name in (*names, RANDOM)}
    sets: dict[str, Played] = {}
    for file in set_files(args.data, filter(None, args.sets.split(","))):
        opened = played(file, args.truth, folder)
        if opened is None:
            continue
        of_set, data = opened
        sets[file.name] = of_set
        values[RANDOM][file.name] = of_set.random[-args.seeds :]
        for name in names:
            variant = every[name]
            kept = folder / f"{file.name}.{file.digest()}.{args.truth}.draws_{variant.order}"
            values[name][file.name] = np.array(
                [
                    [measured_expectation(of_set, expected(of_set, draw, variant)) for draw in rows]
                    for rows in draws(of_set, data, variant.order, args.seeds, kept)
                ]
            )
    others = {name: replace(of_set, random=of_set.random[: -args.seeds]) for name, of_set in sets.items()}
    figures = {
        name: {key: figures_of((others if name == RANDOM else sets)[key], one) for key, one in by_set.items()}
        for name, by_set in values.items()
    }
    family = {name: of_set.family for name, of_set in sets.items()}
    strong = {name for name, of_set in sets.items() if of_set.strong}
    found = {name: summary(by_set, strong) for name, by_set in figures.items()}
    if len(names) > 1:
        chosen = left_out({name: figures[name] for name in names}, family)
        found["left out"] = summary(chosen, strong)
    heads = ["", *(part for name in next(iter(found.values())) for part in (name, "strong"))]
    sources = [f"| {' | '.join(heads)} |", f"| --- |{' ---: |' * (len(heads) - 1)}"]
    sources += [line_of(name.replace("_", " "), row) for name, row in found.items()]
    print(*sources, sep="\n")
    with LOG.open("a", encoding="utf-8") as log:
        for name, row in found.items():
            if name != RANDOM:
                about = {"day": f"{datetime.now(UTC):%Y-%m-%d}", "variant": name, "truth": args.truth}
                log.write(json.dumps({**about, "seeds": args.seeds, "sets": len(sets), **row}) + "\n")
    claims = {
        name: np.mean([one[:, :, len(MEASURES) :].mean(axis=0) for one in values[name].values()], axis=0)
        for name in names
    }
    looks = len(LOG.read_text(encoding="utf-8").splitlines())
    about_runs = f"{len(sets)} sets, {args.seeds} seeds; {looks} looks so far."
    by_budget = budget_table({name: found[name] for name in (names[0], RANDOM)}, claims)
    worst = worst_table(values[names[0]], sets)
    print("", *by_budget, "", *worst, "", about_runs, sep="\n")
    if args.docs:
        tables = {
            "sources": "\n".join([*sources, "", about_runs]),
            "by budget": "\n".join(by_budget),
            "worst sets": "\n".join(worst),
        }
        write_whole(PAGE, replaced(PAGE.read_text(encoding="utf-8"), tables))
    return 0


def left_out(
    figures: Mapping[str, Mapping[str, dict[str, Floats]]], family: Mapping[str, str]
) -> dict[str, dict[str, Floats]]:
    """Return by set the figures of the variant that needs the fewest labels on all other families."""
    found = {}
    for one in sorted(set(family.values())):
        others = [name for name in family if family[name] != one]

        def elsewhere(variant: str, others: list[str] = others) -> float:
            return float(np.mean([figures[variant][name]["labels"].mean() for name in others]))

        best = min(figures, key=elsewhere)
        found.update({name: figures[best][name] for name in family if family[name] == one})
    return found


if __name__ == "__main__":
    sys.exit(main())
