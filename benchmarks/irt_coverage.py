"""How often 90 % intervals of item response theory hold the truth, and how well the truth is recovered.

Items, abilities and scores are drawn from the model itself, under its default priors and under others, and
fitted with the priors that they were drawn from. Every cell of the table is about discrimination a,
difficulty b and ability θ: the share of intervals that hold the drawn value, or the correlation of estimates
with it. Run ``.venv/bin/python -m benchmarks.irt_coverage`` (a quarter of an hour on a quiet machine;
``--replicates 0.1`` for a quick look, ``--only binary`` for some of the settings). The exit code is 1 when a
share is not within 80 to 97 %, and that by more than two standard errors of its simulations.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from benchmarks.irt_intervals import IntervalFit, fit_intervals
from sparingly.base.arrays import Floats
from sparingly.published.irt import BINARY, CONTINUOUS, Parameters, Priors
from sparingly.published.irt.model import Response

ITEMS, MODELS, MISSING = (50, 300, 1000), (6, 14, 30), (0.0, 0.2)
# Errors of abilities are shared by the models of a simulation, so it takes many simulations.
REPLICATES = {50: 60, 300: 30, 1000: 20}
NAMES = ("discrimination", "difficulty", "ability")
LOW, HIGH = 0.80, 0.97


@dataclass(frozen=True)
class Setting:
    """What scores are drawn from."""

    name: str
    response: Response
    priors: Priors
    noise: float = 0.0


GENTLE = Priors(discrimination=(1.5, 0.75))
WIDE = Priors(discrimination=(2.0, 1.0), logit_feasibility=(1.0, 1.5), ability=(0.5, 1.5))
SETTINGS = (
    Setting("binary, default prior", "binary", BINARY),
    Setting("binary, gentle prior", "binary", GENTLE),
    Setting("continuous, default prior, noise 0.01", "continuous", CONTINUOUS, 0.01),
    Setting("continuous, default prior, noise 0.03", "continuous", CONTINUOUS, 0.03),
    Setting("continuous, default prior, noise 0.1", "continuous", CONTINUOUS, 0.1),
    Setting("continuous, default prior, noise 0.25", "continuous", CONTINUOUS, 0.25),
    Setting("continuous, wide prior, noise 0.1", "continuous", WIDE, 0.1),
)


@dataclass
class Cell:
    """What was found in a number of simulations of the same size."""

    held: list[list[float]] = field(default_factory=list)
    recovered: list[list[float]] = field(default_factory=list)

    def add(self, fit: IntervalFit, truth: Parameters) -> None:
        """Compare a fit with what was drawn."""
        low, high = fit.intervals(0.9)
        parts = [[getattr(part, name) for part in (truth, low, high, fit.estimates)] for name in NAMES]
        self.held.append([float(np.mean((low <= true) & (true <= high))) for true, low, high, _ in parts])
        self.recovered.append([float(np.corrcoef(true, value)[0, 1]) for true, _, _, value in parts])

    def coverage(self) -> Floats:
        """Return the share of intervals that hold what was drawn: of a, b and θ."""
        return np.asarray(np.mean(self.held, axis=0))

    def fine(self) -> bool:
        """Say whether the shares are within the wanted range, or outside by chance."""
        share, error = self.coverage(), np.std(self.held, axis=0, ddof=1) / np.sqrt(len(self.held))
        return bool(((share >= LOW - 2.0 * error) & (share <= HIGH + 2.0 * error)).all())

    def correlations(self) -> Floats:
        """Return the mean correlations of estimates with what was drawn."""
        return np.asarray(np.mean(self.recovered, axis=0))


def drawn(setting: Setting, items: int, models: int, missing: float, seed: int) -> tuple[Floats, Parameters]:
    """Draw parameters from the priors, and scores from the parameters, items x models."""
    random = np.random.default_rng([seed, items, models, SETTINGS.index(setting)])
    priors = setting.priors
    truth = Parameters(
        discrimination=random.normal(*priors.discrimination, items),
        difficulty=random.normal(*priors.difficulty, items),
        logit_feasibility=random.normal(*priors.logit_feasibility, items),
        ability=random.normal(*priors.ability, models),
    )
    steepness = truth.discrimination[:, None] * (truth.ability - truth.difficulty[:, None])
    curve = 1.0 / (1.0 + np.exp(-truth.logit_feasibility[:, None])) / (1.0 + np.exp(-steepness))
    if setting.response == "binary":
        scores = (random.random(curve.shape) < curve).astype(np.float64)
    else:
        scores = curve + random.normal(0.0, setting.noise, curve.shape)
    # An item without any score says nothing, so the first model always answers.
    absent = random.random(curve.shape) < missing
    absent[:, 0] = False
    return np.where(absent, np.nan, scores), truth


def simulated(setting: Setting, items: int, models: int, missing: float, replicates: int) -> Cell:
    """Draw and fit a number of times."""
    cell = Cell()
    response, priors = setting.response, setting.priors
    threshold = 0.5 if response == "binary" else None
    for seed in range(replicates):
        scores, truth = drawn(setting, items, models, missing, seed)
        cell.add(
            fit_intervals(scores, response=response, threshold=threshold, priors=priors, scale=False), truth
        )
    return cell


def measured(setting: Setting, missing: float, share: float) -> bool:
    """Print the rows of a setting as they are found; return whether all intervals hold what they should."""
    fine = True
    for items in ITEMS:
        replicates = max(2, round(share * REPLICATES[items]))
        cells = [simulated(setting, items, models, missing, replicates) for models in MODELS]
        fine = fine and all(cell.fine() for cell in cells)
        texts = [" ".join(f"{100 * value:.0f}" for value in cell.coverage()) for cell in cells]
        texts += [" ".join(f"{value:.2f}" for value in cell.correlations()) for cell in cells]
        print(f"| {setting.name} | {items} | {missing:.0%} | " + " | ".join(texts) + " |", flush=True)
    return fine


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replicates", type=float, default=1.0, help="a share of the usual number")
    parser.add_argument("--only", default="", help="settings whose name starts with this")
    args = parser.parse_args()
    heads = [f"{what}, {models} models" for what in ("held %", "r") for models in MODELS]
    print(f"| setting | items | missing | {' | '.join(heads)} |")
    print("|---" * (3 + len(heads)) + "|")
    chosen = [setting for setting in SETTINGS if setting.name.startswith(args.only)]
    found = [measured(setting, missing, args.replicates) for missing, setting in product(MISSING, chosen)]
    return 0 if all(found) else 1


if __name__ == "__main__":
    raise SystemExit(main())
