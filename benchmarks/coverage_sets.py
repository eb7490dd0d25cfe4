"""Populations resampled from the human scores of public sets, for the coverage grid.

The judged items of a set are the population: sets are drawn from them with replacement. Every pair of models
of an array has rows of its own, so that pairs are replicates of each other while the two models of a pair go
up and down together as they really do. Metrics come along with their real scores. Where an estimator learns
from all models together, whole rows are drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import skew

import sparingly
from sparingly.base.arrays import Floats

# --- scores of several shapes, made or resampled, for the coverage grid ----------------------------------


Draw = Callable[[np.random.Generator, tuple[int, int]], Floats]
# What one array holds: so many pairs of models, whose true means differ by this much.
PAIRS, SHIFT = 20, 0.2
# Where an estimator learns from all models together, an array holds so many of them at most; how closely a
# made metric follows the scores.
FEW, FOLLOWS = 20, 0.6


class Scores(NamedTuple):
    """A set drawn from a population: items × models, the population's means, and every model's skewness."""

    scores: Floats
    means: Floats
    skew: Floats


class Metrics(NamedTuple):
    """The same with two metrics, of which one follows the scores and one hardly."""

    drawn: Scores
    good: Floats
    weak: Floats


@dataclass(frozen=True)
class Family:
    """Scores of one shape, with a mean near 0 and a variance of about 1.

    Attributes:
        name: What it is called.
        heavy: Whether few items make up the tail, so that differences are no easier than scores.
        scores: Draws a set of so many items with 2·PAIRS models, those of a pair alike.
        metrics: Draws a set of so many items with two metrics, with 2·PAIRS models or (False) a few.
    """

    name: str
    heavy: bool
    scores: Callable[[int, np.random.Generator], Scores]
    metrics: Callable[[int, np.random.Generator, bool], Metrics]


def made_family(name: str, skew: float, draw: Draw, *, is_sum: bool = False) -> Family:
    """Return scores of one made shape (mean 0, variance 1); ``is_sum``: the sum of two has that shape too."""

    def scores(size: int, drawn: np.random.Generator) -> Scores:
        models = 2 * PAIRS
        means = SHIFT * drawn.normal(size=models)
        shared = np.repeat(draw(drawn, (size, PAIRS)), 2, axis=1)
        own = draw(drawn, (size, models))
        told = np.full(models, skew)
        if is_sum:
            return Scores(np.asarray((shared + own) * np.sqrt(0.5) + means), means, told)
        # A sum would have another shape: some scores of a pair are the same instead.
        same = drawn.random((size, models)) < np.sqrt(0.5)
        return Scores(np.where(same, shared, own) + means, means, told)

    def metrics(size: int, drawn: np.random.Generator, many: bool) -> Metrics:
        made = scores(size, drawn)
        made = made if many else Scores(*(part[..., :FEW] for part in made))
        noise = drawn.normal(size=made.scores.shape)
        good = FOLLOWS * made.scores + np.sqrt(1 - FOLLOWS**2) * noise
        return Metrics(made, good, drawn.normal(size=good.shape) + 0.1 * good)

    return Family(name, abs(skew) > 2.0, scores, metrics)


def _gaussian(drawn: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return drawn.normal(size=shape)


def _bounded(drawn: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Scores between two ends, most of them near one: the arcsine distribution."""
    return np.asarray((drawn.beta(0.5, 0.5, shape) - 0.5) * np.sqrt(8.0))


def _ties(drawn: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Five grades, most of them good: mean 3.85 and variance 1.4275 before scaling."""
    grades = drawn.choice(5, shape, p=[0.05, 0.1, 0.2, 0.25, 0.4]) + 1.0
    return np.asarray((grades - 3.85) / np.sqrt(1.4275))


def _penalties(name: str, share: float, power: float) -> Family:
    """Minus a gamma penalty on a share of the outputs, none on the others: scores as those of MQM."""
    first, second = share * power, share * power * (power + 1.0)
    third = second * (power + 2.0)
    variance = second - first**2
    skew = -(third - 3.0 * first * second + 2.0 * first**3) / variance**1.5

    def draw(drawn: np.random.Generator, shape: tuple[int, int]) -> Floats:
        penalty = drawn.gamma(power, size=shape) * (drawn.random(shape) < share)
        return np.asarray((first - penalty) / np.sqrt(variance))

    return made_family(name, skew, draw)


FAMILIES = {
    family.name: family
    for family in (
        made_family("gaussian", 0.0, _gaussian, is_sum=True),
        made_family("bounded", 0.0, _bounded),
        made_family("ties", -0.73, _ties),
        _penalties("mqm", 0.45, 2.0),
        _penalties("mqm_heavy", 0.2, 1.0),
    )
}


# --- Populations resampled from the human scores of public sets, for the coverage grid -------------------


FOLDER = Path(__file__).resolve().parent.parent.parent / "shared" / "data"


class Source(NamedTuple):
    """A public set, what was judged in it, a metric that follows people and one that does so less."""

    name: str
    aspect: str
    good: str
    weak: str


SOURCES = (
    Source("wmt23_zhen", "mqm", "XCOMET-Ensemble", "chrF"),
    Source("wmt20_ende_notext", "mqm", "bleurt-combi", "chrF"),
    Source("biomqm_ende", "mqm", "BLEU", "consensus_chrF"),
    Source("thumb_mscoco", "human_score", "mover_score", "BLEU_4"),
)


@dataclass(frozen=True, eq=False)
class Population:
    """Items × models of scores and two metrics; scores have mean 0 and, over all models, variance 1."""

    scores: Floats
    good: Floats
    weak: Floats

    def pairs(self, size: int, drawn: np.random.Generator) -> Metrics:
        """Draw a set with 2·PAIRS models: random pairs, each with rows of its own."""
        items, models = self.scores.shape
        columns = np.stack([drawn.choice(models, 2, replace=False) for _ in range(PAIRS)])
        rows = drawn.integers(items, size=(size, PAIRS))
        return self._at((rows[:, :, None], columns), columns.ravel(), size)

    def rows(self, size: int, drawn: np.random.Generator) -> Metrics:
        """Draw a set of whole rows: some of the models."""
        items, models = self.scores.shape
        columns = np.sort(drawn.choice(models, min(FEW, models), replace=False))
        return self._at(np.ix_(drawn.integers(items, size=size), columns), columns, size)

    def _at(self, cells: Any, columns: NDArray[np.int64], size: int) -> Metrics:
        taken = [part[cells].reshape(size, -1) for part in (self.scores, self.good, self.weak)]
        means, skewness = self.scores.mean(axis=0), np.asarray(skew(self.scores, bias=False))
        return Metrics(Scores(taken[0], means[columns], skewness[columns]), taken[1], taken[2])


def real_families(folder: Path = FOLDER) -> tuple[dict[str, Family], tuple[str, ...]]:
    """Return the shapes of the sets that are there, and why others are left out."""
    there = [source for source in SOURCES if _path(folder, source).exists()]
    absent = [
        f"{source.name}: there is no {_path(folder, source)}." for source in SOURCES if source not in there
    ]
    return {source.name: _family(source, folder) for source in there}, tuple(absent)


def _path(folder: Path, source: Source) -> Path:
    return folder / f"{source.name}.jsonl.gz"


def _family(source: Source, folder: Path) -> Family:
    kept: list[Population] = []

    def population() -> Population:
        """Read the file when it is first needed."""
        if not kept:
            kept.append(_read(source, folder))
        return kept[0]

    def scores(size: int, drawn: np.random.Generator) -> Scores:
        return population().pairs(size, drawn).drawn

    def metrics(size: int, drawn: np.random.Generator, many: bool) -> Metrics:
        return population().pairs(size, drawn) if many else population().rows(size, drawn)

    return Family(source.name, False, scores, metrics)


def _read(source: Source, folder: Path) -> Population:
    data = sparingly.load(_path(folder, source))
    human = data.aspects[source.aspect]
    metrics = [data.metrics[source.good], data.metrics[source.weak]]
    whole = np.isfinite(np.concatenate([human, *metrics], axis=1)).all(axis=1)
    human = human[whole]
    spread = float(np.sqrt(human.var(axis=0).mean()))
    return Population((human - human.mean()) / spread, metrics[0][whole], metrics[1][whole])
