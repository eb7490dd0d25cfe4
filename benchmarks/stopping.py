"""How often stops err, on simulated scores whose truth is known.

Evaluations are looked at 20 times. Scores are skewed (errors of an exponential shape, as those of MQM are)
with what makes items hard shared by all models. ``apart``: all models are equal, and any pair that is told
apart is an error. ``best``: two models are best and equal, and a single winner is an error. ``order``: models
differ a little, as on a set of 400 items, and a pair in the wrong order of the whole set is an error.
``margin``: the truth lies on the margin. ``width``: the interval at the stop does not hold the score. Beside
the valid stops stands what looking every time with the critical value of one look does, and the heuristic.
Run ``.venv/bin/python benchmarks/stopping.py``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from datetime import date
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sparingly.base.stats.hypergeometric import chance_of_lead
from sparingly.infer.rank.pair_errors import pair_errors
from sparingly.run.rounds.stop.base import information
from sparingly.run.rounds.stop.critical import Question
from sparingly.run.rounds.stop.settled import (
    Look,
    Settled,
    Valid,
    critical_value,
    nothing_settled,
    settle_next,
)
from sparingly.run.rounds.stop.spending import Spending

Floats = NDArray[np.float64]
Kind = Literal["apart", "best", "order", "margin", "width"]
Rule = Literal["group_sequential", "even spending", "anytime", "fixed", "every look"]
KINDS: tuple[Kind, ...] = ("apart", "best", "order", "margin", "width")
RULES: tuple[Rule, ...] = ("group_sequential", "even spending", "anytime", "fixed", "every look")
CASES: tuple[tuple[Kind, int], ...] = (
    ("apart", 2),
    ("apart", 5),
    ("apart", 10),
    ("best", 5),
    ("best", 10),
    ("order", 10),
    ("margin", 2),
    ("width", 2),
)
ITEMS, LOOKS, ALPHA, DRAWS = 400, 20, 0.05, 2_000
MARGIN, WIDTH = 0.3, 0.35


def made(kind: Kind, models: int, draw: np.random.Generator) -> tuple[Floats, Floats]:
    """Return scores, items × models, and the models' true means."""
    means = np.zeros(models)
    if kind == "best":
        means[2:] = -0.3
    if kind == "order":
        means = np.linspace(0.0, 0.05 * (models - 1), models)
    if kind == "margin":
        means[1:] = MARGIN
    hard = draw.exponential(size=(ITEMS, 1))
    own = draw.exponential(size=(ITEMS, models))
    return means - (hard + own) + 2.0, means


def looks_of(scores: Floats, target: Literal["population", "set"]) -> list[Look]:
    """Return the looks at a uniform sample that grows over the items."""
    found = []
    for count in np.linspace(ITEMS // LOOKS, ITEMS, LOOKS).astype(int):
        seen = scores[:count]
        left = 1.0 / count - (1.0 / ITEMS if target == "set" else 0.0)
        whole = target == "set" and count == ITEMS
        found.append(
            Look(
                seen.mean(axis=0),
                np.atleast_2d(np.cov(seen.T)) * left,
                count - 1.0,
                count / ITEMS,
                information(int(count), ITEMS, target),
                float(ITEMS),
                np.full(scores.shape[1], whole),
            )
        )
    return found


def tests(rule: Rule) -> Valid:
    """Return by which critical values a rule tests."""
    if rule == "even spending":
        return "group_sequential"
    return "fixed" if rule == "every look" else rule


def spends(rule: Rule) -> Spending:
    """Return how a rule spreads the error over the looks."""
    return "even" if rule == "even spending" else "obrien_fleming"


def settled_after(looks: list[Look], rule: Rule, question: Question, seed: int) -> Settled:
    """Return what a rule has settled after the last look."""
    found = nothing_settled(len(looks[-1].scores), ALPHA)
    for count in range(1, len(looks) + 1):
        if rule != "fixed" or count == len(looks):
            found = settle_next(
                found,
                looks[:count],
                ALPHA,
                tests(rule),
                question,
                spending=spends(rule),
                seed=seed,
                draws=DRAWS,
            )
    return found


def errs(kind: Kind, models: int, rule: Rule, seed: int) -> bool:
    """Say whether one evaluation ends with an error."""
    draw = np.random.default_rng([seed, models, KINDS.index(kind)])
    scores, means = made(kind, models, draw)
    if kind == "order":
        found = settled_after(looks_of(scores, "set"), rule, "all", seed)
        whole = scores.mean(axis=0)
        return bool((found.above & (whole[:, None] < whole)).any())
    looks = looks_of(scores, "population")
    if kind == "apart":
        return bool(settled_after(looks, rule, "all", seed).above.any())
    if kind == "best":
        return int(settled_after(looks, rule, "best", seed).candidates.sum()) == 1
    return _margin_errs(looks, rule) if kind == "margin" else _width_errs(looks, rule, means)


def _margin_errs(looks: list[Look], rule: Rule) -> bool:
    """Say whether the first model is called non-inferior though it is worse by the margin."""
    for count in range(1, len(looks) + 1):
        if rule == "fixed" and count < len(looks):
            continue
        now = looks[count - 1]
        half = (
            critical_value(looks[:count], 2 * ALPHA, tests(rule), spends(rule))
            * pair_errors(now.covariance)[0, 1]
        )
        if now.scores[0] - now.scores[1] - half > -MARGIN:
            return True
    return False


def _width_errs(looks: list[Look], rule: Rule, means: Floats) -> bool:
    """Say whether the first interval that is narrow enough misses the mean of the first model."""
    for count in range(1, len(looks) + 1):
        if rule == "fixed" and count < len(looks):
            continue
        now = looks[count - 1]
        half = critical_value(looks[:count], ALPHA, tests(rule), spends(rule)) * float(
            np.sqrt(now.covariance[0, 0])
        )
        if 2 * half <= WIDTH or count == len(looks):
            return abs(float(now.scores[0] - means[0])) > half
    return False


def heuristic_errs(p: float, seed: int) -> bool:
    """Say whether the hypergeometric rule names one of two equal models the better one."""
    draw = np.random.default_rng([seed, 2, 99])
    scores, _ = made("apart", 2, draw)
    apart = np.sign(scores[:, 0] - scores[:, 1])
    counts = np.arange(1, ITEMS + 1)
    wins = np.cumsum(apart > 0)
    lead = np.maximum(wins, counts - wins)
    looked = counts[(counts >= 5) & (counts % 5 == 0) & (counts <= 200)]
    return bool((chance_of_lead(ITEMS, looked, lead[looked - 1]) <= p).any())


def share(test: Callable[[int], bool], runs: int) -> str:
    """Return how often a test is true, in per cent, with its standard error."""
    found = float(np.mean([test(seed) for seed in range(runs)]))
    return f"{100 * found:.1f} ± {100 * np.sqrt(found * (1 - found) / runs):.1f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=500)
    runs = parser.parse_args().runs
    print(f"{date.today().isoformat()}, {runs} runs each, {LOOKS} looks, error rate asked for: {ALPHA:.0%}\n")
    print("| question | models | " + " | ".join(RULES) + " |")
    print("|---|--:|" + "--:|" * len(RULES))
    for kind, models in CASES:
        cells = [share(partial(errs, kind, models, rule), runs) for rule in RULES]
        print(f"| {kind} | {models} | " + " | ".join(cells) + " |", flush=True)
    for p in (0.2, 0.1, 0.05):
        print(f"| heuristic, p = {p:g} | 2 | {share(partial(heuristic_errs, p), runs)} | | | | |", flush=True)


if __name__ == "__main__":
    main()
