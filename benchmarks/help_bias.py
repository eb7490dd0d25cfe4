"""Help on the page with a bias of 10 points: is it removed, and do intervals of scores hold?

Run: python -m benchmarks.help_bias [--runs 1000]
"""

from __future__ import annotations

import argparse

import numpy as np

from sparingly.data.evalset import EvalSet
from sparingly.data.tables import Ratings
from sparingly.infer.estimate.estimate import estimate
from sparingly.infer.estimate.rater_effects import (
    HELP_PROBABILITY,
    HELPED,
    help_effects,
    with_help_errors,
    without_help,
)

BIAS = 10.0


def made(
    random: np.random.Generator, items: int, models: int, spread: float, share: float
) -> tuple[EvalSet, np.ndarray]:
    """Return ratings, some given with help, and the true scores without it over the population."""
    quality = random.normal(60.0, 5.0, models)
    effect = BIAS + spread * random.normal(size=models)
    scores = quality + random.normal(0.0, 10.0, (items, 1)) + random.normal(0.0, 8.0, (items, models))
    shown = random.random((items, models)) < share
    scores = scores + np.where(shown, effect, 0.0)
    item, model = np.divmod(np.arange(items * models), models)
    ratings = Ratings(
        item=item.astype(np.int32),
        model=model.astype(np.int32),
        score=scores.ravel(),
        rater=np.zeros(items * models, np.int32),
        aspect=np.zeros(items * models, np.int32),
        seconds=np.full(items * models, np.nan),
        raters=("ann",),
        aspects=("overall",),
        extra={
            HELPED: shown.ravel().astype(int).astype(object),
            HELP_PROBABILITY: np.full(items * models, share).astype(object),
        },
    )
    names = [f"item{place:04d}" for place in range(items)]
    return (
        EvalSet.from_arrays(
            names,
            [f"m{place:02d}" for place in range(models)],
            aspects={"overall": scores},
            ratings=ratings,
        ),
        quality,
    )


def coverage(
    runs: int, items: int, models: int, spread: float, share: float = 0.5, seed: int = 1
) -> dict[str, float]:
    """Return how often intervals hold scores and differences, with the bias before and after."""
    random = np.random.default_rng(seed)
    held, held_pairs, before, after, widths = [], [], [], [], []
    for _ in range(runs):
        data, quality = made(random, items, models, spread, share)
        effects = help_effects(data, "overall")
        if effects is None:
            raise ValueError("the effect of help could not be told")
        clean = estimate(without_help(data), None, "overall", estimator="weighted_mean", target="population")
        found = with_help_errors(clean, effects)
        held.append(((found.low <= quality) & (quality <= found.high)).mean())
        if models > 1:
            pair = found.difference(found.models[0], found.models[1])
            held_pairs.append(pair.low <= quality[0] - quality[1] <= pair.high)
        before.append(np.nanmean(data.aspects["overall"], axis=0).mean() - quality.mean())
        after.append(found.scores.mean() - quality.mean())
        widths.append(found.standard_errors.mean())
    return {
        "coverage": float(np.mean(held)),
        "error": float(np.std(held) / runs**0.5),
        "pairs": float(np.mean(held_pairs)) if held_pairs else float("nan"),
        "before": float(np.mean(before)),
        "after": float(np.mean(after)),
        "after_error": float(np.std(after) / runs**0.5),
        "standard_error": float(np.mean(widths)),
    }


def main() -> None:
    """Print a row for each size of set and spread of effects."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    runs = parser.parse_args().runs
    print("items models spread  coverage          of pairs  bias before  bias after")
    for items, models, spread in (
        (50, 1, 0.0), (50, 2, 3.0), (50, 4, 0.0), (50, 4, 3.0), (100, 8, 0.0), (100, 8, 3.0), (200, 12, 5.0)
    ):  # fmt: skip
        found = coverage(runs, items, models, spread)
        print(
            f"{items:5d} {models:6d} {spread:6g}  {found['coverage']:.3f} ± {found['error']:.3f}   "
            f"{found['pairs']:8.3f}  {found['before']:+10.2f}  "
            f"{found['after']:+.2f} ± {found['after_error']:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
