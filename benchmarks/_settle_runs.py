"""One simulated evaluation: waves of items until a question is settled, on arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from benchmarks._settle_learn import Lesson, teach
from sparingly.base import rng
from sparingly.base.arrays import Floats, Mask
from sparingly.choose.design.draws import draw_pivotal
from sparingly.choose.design.probability import inclusion_probabilities
from sparingly.infer.estimate.assemble import Target
from sparingly.infer.estimate.variance import nearest_covariance
from sparingly.infer.rank.pair_tests import pair_errors
from sparingly.run.rounds.allocate import going_on
from sparingly.run.rounds.stop.base import information, pair_question
from sparingly.run.rounds.stop.rules import chance_to_settle
from sparingly.run.rounds.stop.sequential import Look, SettledPairs, Valid, no_settled_pairs, settle_next
from sparingly.run.rounds.stop.spending import Spending
from sparingly.run.rounds.wave_estimate import CombinedWaves, Wave, WaveTotals, combine_totals, wave_totals

# Items of the first look, and looks over the whole set after it.
FIRST, LOOKS = 20, 20
# Labelled items grow by this before anything is learned anew, and learning begins at this share.
GROWTH, PILOT = 1.35, 0.1
CHANCE = 0.1


@dataclass(frozen=True)
class Question:
    """What is to be settled: the best model or all pairs, of this set or of inputs like these."""

    goal: Literal["best", "all"]
    target: Target
    alpha: float = 0.05
    valid: Valid = "group_sequential"
    spending: Spending = "even"


@dataclass(frozen=True)
class Answer:
    """When a question was settled, and how.

    Attributes:
        cells: How many outputs had been judged.
        wrong: Whether anything that was claimed contradicts the whole set's means.
        settled: Whether everything asked for was claimed; else the rest was given up as out of reach.
        claimed: How many pairs were claimed.
    """

    cells: int
    wrong: bool
    settled: bool
    claimed: int


@dataclass(frozen=True, eq=False)
class Judge:
    """Follows one question over the looks of one evaluation."""

    question: Question
    truth: Floats
    size: int

    def start(self) -> SettledPairs:
        """Return that nothing is settled."""
        return no_settled_pairs(len(self.truth), self.question.alpha)

    def look(self, scores: Floats, covariance: Floats, freedom: float, asked: int, exact: Mask) -> Look:
        """Return a look after so many items."""
        return Look(
            scores,
            covariance,
            freedom,
            asked / self.size,
            information(asked, self.size, self.question.target),
            float(self.size),
            exact & (self.question.target == "set"),
        )

    def worth(self, looks: list[Look], found: SettledPairs, least: Floats) -> Mask:
        """Return the pairs that are open and have a chance to be settled."""
        left = found.open
        if self.question.goal == "best":
            left = left & found.candidates[:, None] & found.candidates
        if self.question.target == "set" or not left.any() or not looks[-1].tells:
            return left
        end = information(self.size, self.size, "population")
        if looks[-1].information >= end:
            return np.zeros_like(left)
        chances = chance_to_settle(
            looks,
            found,
            left,
            end,
            self.question.alpha,
            self.question.valid,
            least,
            spending=self.question.spending,
        )
        return np.asarray(left & (chances >= CHANCE))

    def wrong(self, found: SettledPairs) -> bool:
        """Say whether a claim contradicts the means of the whole set."""
        against = self.truth[:, None] < self.truth - 1e-12
        if self.question.goal == "all":
            return bool((found.above & against).any())
        best = self.truth >= self.truth.max() - 1e-12
        return not bool((found.candidates & best).any())

    def answer(self, found: SettledPairs, cells: int) -> Answer:
        """Return the answer when the evaluation stops."""
        done = not found.open.any() if self.question.goal == "all" else int(found.candidates.sum()) == 1
        return Answer(cells, self.wrong(found), done, int(found.above.sum()))


def looks_at(size: int) -> list[int]:
    """Return after how many items one looks."""
    step = max(5, round(size / LOOKS))
    counts = list(range(max(FIRST, step), size, step))
    return [*counts, size]


def population_part(labels: Floats, stands: Floats) -> Floats:
    """Return S_y²/N from labels that stand for so many items each."""
    there = stands > 0
    total = np.maximum(stands.sum(axis=0), 1e-300)
    known = np.where(there, labels, 0.0)
    away = np.where(there, known - (stands * known).sum(axis=0) / total, 0.0)
    root = np.sqrt(stands)
    both = there.T.astype(float) @ there
    few = np.divide(both, both - 1.0, out=np.zeros_like(both), where=both > 1)
    weighed = root * away
    return nearest_covariance(weighed.T @ weighed / np.maximum(root.T @ root, 1e-300) * few / len(labels))


@dataclass
class Run:
    """The waves of one evaluation: items are drawn, models judged, predictions learned."""

    labels: Floats
    x: Floats | None
    seed: int
    learns: bool

    def __post_init__(self) -> None:
        self.size, self.models = self.labels.shape
        self.before: Mask = np.zeros(self.labels.shape, bool)
        self.totals: list[WaveTotals] = []
        self.combined: CombinedWaves | None = None
        self.lesson: Lesson | None = None
        self.taught_at = 0
        self.generator = rng.generator(self.seed, "settle_pairs")
        self.matter = np.ones(self.size)

    def wave(self, count: int, going: Mask) -> None:
        """Draw so many items for the models that go on."""
        rows = np.flatnonzero(~self.before.any(axis=1))
        chances = np.full(len(rows), count / len(rows))
        lesson = self._lesson(going) if self.learns else None
        if lesson is not None and lesson.tau > 0.0 and count < len(rows):
            chances = inclusion_probabilities(lesson.sizes[rows], float(count), tau=lesson.tau)
        taken = rows[draw_pivotal(chances, self.generator)] if count < len(rows) else rows
        drawn: Mask = np.zeros(self.labels.shape, bool)
        drawn[np.ix_(taken, np.flatnonzero(going))] = True
        of_item = np.ones(self.size)
        of_item[rows] = chances
        predicted = self._predicted(lesson, drawn)
        wave = Wave(self.before, drawn, np.where(drawn, of_item[:, None], 1.0), predicted)
        self.totals.append(wave_totals(wave, self.labels, self.matter))
        self.before = self.before | drawn
        self.combined = combine_totals(self.totals)

    def _predicted(self, lesson: Lesson | None, drawn: Mask) -> Floats:
        if lesson is not None:
            return lesson.predicted
        known = drawn if not self.totals else self.before
        own = np.where(known, self.labels, np.nan)
        if self.learns and not self.totals:
            # The pilot is predicted by its own other folds.
            return teach(self.x, own, np.ones(self.size), np.ones(self.models, bool), self.seed).predicted
        return np.broadcast_to(np.nanmean(own, axis=0), self.labels.shape)

    def _lesson(self, going: Mask) -> Lesson | None:
        judged = int(self.before.any(axis=1).sum())
        if judged < PILOT * self.size or self.combined is None:
            return None
        if judged >= GROWTH * self.taught_at:
            stands = self.combined.stands_for[:, going].mean(axis=1)
            self.lesson = teach(self.x, np.where(self.before, self.labels, np.nan), stands, going, self.seed)
            self.taught_at = judged
        return self.lesson

    def known(self, target: str) -> tuple[Floats, Floats, float]:
        """Return scores, covariance and degrees of freedom."""
        assert self.combined is not None
        found = self.combined
        if target == "set":
            return found.scores, found.covariance, found.freedom
        seen = np.where(self.before, self.labels, np.nan)
        added = population_part(seen, found.stands_for)
        return (
            found.scores,
            nearest_covariance(found.covariance + added),
            float(self.before.any(axis=1).sum() - 1),
        )

    @property
    def least(self) -> Floats:
        """The standard errors of differences that judging everything would leave, for inputs like these."""
        assert self.combined is not None
        seen = np.where(self.before, self.labels, np.nan)
        return pair_errors(population_part(seen, self.combined.stands_for))

    @property
    def exact(self) -> Mask:
        """Which models are judged on everything."""
        return np.asarray(self.before.all(axis=0))


def whole_items(run: Run, judges: list[Judge]) -> Iterator[tuple[Judge, Answer]]:
    """Judge all models on every drawn item, and answer each question when it is settled."""
    everyone = np.ones(run.models, bool)
    following: dict[int, tuple[Judge, SettledPairs, list[Look]]] = {
        id(judge): (judge, judge.start(), []) for judge in judges
    }
    done = 0
    for count in looks_at(run.size):
        run.wave(count - done, everyone)
        done = count
        for key, (judge, found, looks) in list(following.items()):
            found, left = _one_look(run, judge, found, looks, done)
            following[key] = (judge, found, looks)
            if not left.any():
                del following[key]
                yield judge, judge.answer(found, done * run.models)
        if not following:
            return


def open_models(run: Run, judge: Judge) -> Answer:
    """Judge only the models that are not settled, and answer the question when it is."""
    looks: list[Look] = []
    found, cells, done = judge.start(), 0, 0
    going = np.ones(run.models, bool)
    for count in looks_at(run.size):
        run.wave(count - done, going)
        cells, done = cells + (count - done) * int(going.sum()), count
        found, left = _one_look(run, judge, found, looks, done)
        wanted = going_on(found, going, judge.question.goal)
        going = wanted & left.any(axis=1)
        if not left.any() or going.sum() < 2:
            break
    return judge.answer(found, cells)


def _one_look(
    run: Run, judge: Judge, found: SettledPairs, looks: list[Look], done: int
) -> tuple[SettledPairs, Mask]:
    asked = judge.question
    looks.append(judge.look(*run.known(asked.target), done, run.exact))
    if looks[-1].tells:
        goal = pair_question(asked.goal, asked.target)
        found = settle_next(found, looks, asked.alpha, asked.valid, goal, spending=asked.spending)
    return found, judge.worth(looks, found, run.least)


Strategy = Callable[[Floats, Floats | None, int, list[Judge]], Iterator[tuple[Judge, Answer]]]


def _uniform(
    labels: Floats, x: Floats | None, seed: int, judges: list[Judge]
) -> Iterator[tuple[Judge, Answer]]:
    return whole_items(Run(labels, None, seed, False), judges)


def _waves(
    labels: Floats, x: Floats | None, seed: int, judges: list[Judge]
) -> Iterator[tuple[Judge, Answer]]:
    return whole_items(Run(labels, x, seed, True), judges)


def _allocate(
    labels: Floats, x: Floats | None, seed: int, judges: list[Judge]
) -> Iterator[tuple[Judge, Answer]]:
    return ((judge, open_models(Run(labels, None, seed, False), judge)) for judge in judges)


def _both(labels: Floats, x: Floats | None, seed: int, judges: list[Judge]) -> Iterator[tuple[Judge, Answer]]:
    return ((judge, open_models(Run(labels, x, seed, True), judge)) for judge in judges)


STRATEGIES: dict[str, Strategy] = {
    "uniform": _uniform,
    "waves": _waves,
    "allocate": _allocate,
    "both": _both,
}
