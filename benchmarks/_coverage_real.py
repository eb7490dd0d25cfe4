"""Populations resampled from the human scores of public sets, for the coverage grid.

The judged items of a set are the population: sets are drawn from them with replacement. Every pair of models
of an array has rows of its own, so that pairs are replicates of each other while the two models of a pair go
up and down together as they really do. Metrics come along with their real scores. Where an estimator learns
from all models together, whole rows are drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import sparingly
from benchmarks._coverage_scores import FEW, PAIRS, Family, Metrics, Scores
from sparingly.base.arrays import Floats
from sparingly.infer.estimate.intervals import skewness

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
        means, skew = self.scores.mean(axis=0), skewness(self.scores)
        return Metrics(Scores(taken[0], means[columns], skew[columns]), taken[1], taken[2])


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
