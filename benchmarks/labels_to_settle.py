"""Labels needed to settle the best model, and all pairs, on fully judged data.

Uniform draws of whole items against ``waves`` (chances and predictions learned), ``allocate`` (only models
that are not settled) and both. All sides have the same stop: group-sequential tests at 5 % over all pairs and
looks, one look every twentieth of the set. *Set*: every pair (or the best model) is settled for this very
set; judging everything settles all. *Population*: every pair is settled for inputs like these, or has a
chance below 10 % to be settled by judging everything.

Rows are added to a file as they are found, so that it can be stopped and run again. Run
``.venv/bin/python -m benchmarks.labels_to_settle run ../shared/data --seeds 20`` and then ``table``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import sparingly
from sparingly.base import rng
from sparingly.base.arrays import Floats, Mask
from sparingly.choose.design.draws import draw_pivotal
from sparingly.choose.design.probability import inclusion_probabilities
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.assemble import Target
from sparingly.infer.estimate.variance import nearest_covariance
from sparingly.infer.rank.pair_tests import pair_errors
from sparingly.run.rounds.allocate import going_on
from sparingly.run.rounds.stop.base import information, pair_question
from sparingly.run.rounds.stop.rules import chance_to_settle
from sparingly.run.rounds.stop.sequential import (
    Look,
    SettledPairs,
    Spending,
    Valid,
    no_settled_pairs,
    settle_next,
    settle_pairs,
)
from sparingly.run.rounds.wave_estimate import CombinedWaves, Wave, WaveTotals, combine_totals, wave_totals
from sparingly.run.rounds.waves import FEWEST_TO_LEARN, supported_tau
from sparingly.signals.predict.features import Features, prepare_features

# --- a lean ridge for simulations ------------------------------------------------------------------------
# Scores and the sizes of residuals are learned from the same features, so one decomposition per fold serves
# both. The penalty is the one with the least held-out loss, infinite (means only) among them.


FOLDS = 5
PENALTIES = np.array([0.003, 0.03, 0.3, 1.0, 3.0, 30.0, np.inf])


def features_of(data: EvalSet) -> Floats | None:
    """Return items × models × features, scaled; None where there are no metrics."""
    if not len(data.metrics):
        return None
    table = prepare_features(data, Features())
    return np.asarray(table.at(np.arange(len(data))) * table.scales)


@dataclass(frozen=True, eq=False)
class Lesson:
    """What some labels teach: predictions, expected sizes of residuals, and the share of chances by them."""

    predicted: Floats
    sizes: Floats
    tau: float


def teach(x: Floats | None, labels: Floats, stands: Floats, going: Mask, seed: int) -> Lesson:
    """Learn from labels (items × models, NaN without one)."""
    there = ~np.isnan(labels)
    means = np.where(there, labels, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    flat = Lesson(np.broadcast_to(means, labels.shape), np.ones(len(labels)), 0.0)
    rows = np.flatnonzero(there.any(axis=1))
    if x is None or len(rows) < FEWEST_TO_LEARN:
        return flat
    fold = np.random.default_rng([seed, len(rows)]).permutation(len(rows)) % FOLDS
    problem = RidgeProblem(x, rows, there[rows], fold)
    predicted, held_out = problem.solve(labels[rows])
    residual = np.where(there[rows], labels[rows] - held_out, np.nan)
    whole = predicted.copy()
    whole[rows] = held_out
    inside = residual[:, going]
    sizes = np.full(residual.shape, np.nan)
    sizes[:, going] = np.abs(inside - np.nanmean(inside, axis=1, keepdims=True))
    expected, held = problem.solve(sizes)
    least = 0.1 * float(np.nanmean(sizes))
    told, own_told = (np.maximum(part[:, going], least) for part in (expected, held))
    of_item = np.sqrt((told**2).sum(axis=1))
    known = ~np.isnan(inside).any(axis=1)
    own = (sizes[:, going] ** 2).sum(axis=1)[known] * stands[rows][known]
    even = np.sqrt((own_told**2).sum(axis=1))[known]
    return Lesson(whole, of_item, supported_tau(own, even / max(float(even.mean()), 1e-300)))


class RidgeProblem:
    """Ridge regressions on the same cells, decomposed once for every fold."""

    def __init__(self, x: Floats, rows: NDArray[np.int64], there: Mask, fold: NDArray[np.int64]) -> None:
        self.x, self.rows, self.there, self.fold = x, rows, there, fold
        inside = x[rows] * there[:, :, None]
        self.count = np.maximum(there.sum(axis=0), 1)
        self.centre = inside.sum(axis=0) / self.count[:, None]
        self.seen = (x[rows] - self.centre) * there[:, :, None]
        blocks = [self.seen[fold == number].reshape(-1, x.shape[2]) for number in range(FOLDS)]
        squares = [block.T @ block for block in blocks]
        total = np.sum(squares, axis=0)
        self.parts = [np.linalg.eigh(total - own) for own in squares] + [np.linalg.eigh(total)]
        self.scale = float(np.trace(total)) / x.shape[2]

    def solve(self, labels: Floats) -> tuple[Floats, Floats]:
        """Return predictions of all items, and held-out ones of the labelled items."""
        there = self.there & ~np.isnan(labels)
        known = np.where(there, labels, 0.0)
        mean = known.sum(axis=0) / np.maximum(there.sum(axis=0), 1)
        y = np.where(there, labels - mean, 0.0)
        pulls = [
            np.einsum("ijk,ij->k", self.seen[self.fold == number], y[self.fold == number])
            for number in range(FOLDS)
        ]
        total = np.sum(pulls, axis=0)
        tried = np.zeros((len(PENALTIES), *y.shape))
        for number in range(FOLDS):
            mine = self.fold == number
            slopes = self._slopes(number, total - pulls[number])
            tried[:, mine] = np.einsum("ijk,pk->pij", self.seen[mine], slopes)
        loss = np.where(there, (y - tried) ** 2, 0.0).sum(axis=(1, 2))
        best = int(np.argmin(loss))
        slope = self._slopes(FOLDS, total)[best]
        return (self.x - self.centre) @ slope + mean, tried[best] + mean

    def _slopes(self, part: int, pull: Floats) -> Floats:
        values, vectors = self.parts[part]
        turned = vectors.T @ pull
        weights = np.where(
            np.isinf(PENALTIES)[:, None],
            0.0,
            turned
            / (np.maximum(values, 0.0) + np.where(np.isinf(PENALTIES), 1.0, PENALTIES)[:, None] * self.scale),
        )
        return np.asarray(weights @ vectors.T)


# --- one simulated evaluation ----------------------------------------------------------------------------


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

    def worth(self, looks: list[Look], pairs: SettledPairs, least: Floats) -> Mask:
        """Return the pairs that are open and have a chance to be settled."""
        left = pairs.open
        if self.question.goal == "best":
            left = left & pairs.candidates[:, None] & pairs.candidates
        if self.question.target == "set" or not left.any() or not looks[-1].tells:
            return left
        end = information(self.size, self.size, "population")
        if looks[-1].information >= end:
            return np.zeros_like(left)
        chances = chance_to_settle(
            looks,
            pairs,
            left,
            end,
            self.question.alpha,
            self.question.valid,
            least,
            spending=self.question.spending,
        )
        return np.asarray(left & (chances >= CHANCE))

    def wrong(self, pairs: SettledPairs) -> bool:
        """Say whether a claim contradicts the means of the whole set."""
        against = self.truth[:, None] < self.truth - 1e-12
        if self.question.goal == "all":
            return bool((pairs.above & against).any())
        best = self.truth >= self.truth.max() - 1e-12
        return not bool((pairs.candidates & best).any())

    def answer(self, pairs: SettledPairs, cells: int) -> Answer:
        """Return the answer when the evaluation stops."""
        done = not pairs.open.any() if self.question.goal == "all" else int(pairs.candidates.sum()) == 1
        return Answer(cells, self.wrong(pairs), done, int(pairs.above.sum()))


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
        self.generator = rng.generator(self.seed, "settle")
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
    """Judge only the models that are still undecided, and answer the question when it is."""
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
    run: Run, judge: Judge, pairs: SettledPairs, looks: list[Look], done: int
) -> tuple[SettledPairs, Mask]:
    asked = judge.question
    looks.append(judge.look(*run.known(asked.target), done, run.exact))
    if looks[-1].tells:
        goal = pair_question(asked.goal, asked.target)
        pairs = settle_next(pairs, looks, asked.alpha, asked.valid, goal, spending=asked.spending)
    return pairs, judge.worth(looks, pairs, run.least)


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


# --- the command -----------------------------------------------------------------------------------------


HERE = Path(__file__).parent
KEPT = HERE.parent / ".cache" / "labels_to_settle.jsonl"
# What people judged, where it is not the first aspect.
ASPECTS = {
    "summeval": "sum",
    "summeval_llm12": "sum",
    "opinsummeval": "sum",
    "newsroom": "sum",
    "topicalchat_usr": "overall",
    "webnlg20_en": "mean",
}
FEWEST_ITEMS, FEWEST_MODELS = 20, 5
ASKED = tuple((target, goal) for target in ("set", "population") for goal in ("best", "all"))
OTHERS = tuple(name for name in STRATEGIES if name != "uniform")
QUESTIONS = (
    Question("best", "set"),
    Question("all", "set"),
    Question("best", "population"),
    Question("all", "population"),
)


def sets(folder: Path) -> Iterator[tuple[str, EvalSet, str]]:
    """Yield the sets with enough models, with the items on which all of them were judged."""
    for path in sorted(folder.glob("*.jsonl.gz")):
        name = path.name.removesuffix(".jsonl.gz")
        data = sparingly.load(path)
        aspect = ASPECTS.get(name, next(iter(data.aspects)))
        whole = data.at(~np.isnan(data.aspects[aspect]).any(axis=1))
        if len(data.models) >= FEWEST_MODELS and len(whole) >= FEWEST_ITEMS:
            yield name, whole, aspect


def answers(name: str, labels: Floats, x: Floats | None, seed: int, strategy: str) -> list[dict[str, Any]]:
    """Return a row for every question, as one strategy answers it."""
    judges = [Judge(question, labels.mean(axis=0), len(labels)) for question in QUESTIONS]
    found = STRATEGIES[strategy](labels, x, seed, judges)
    return [
        {
            "set": name,
            "seed": seed,
            "strategy": strategy,
            "goal": judge.question.goal,
            "target": judge.question.target,
            "of": int(labels.size),
            **vars(answer),
        }
        for judge, answer in found
    ]


def run(folder: Path, seeds: int, kept: Path, only: str | None) -> None:
    """Simulate what is not in the file yet."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    rows = [json.loads(line) for line in lines]
    done = {(row["set"], row["seed"], row["strategy"]) for row in rows}
    known = [
        (name, data.aspects[aspect], features_of(data))
        for name, data, aspect in sets(folder)
        if only is None or name in only.split(",")
    ]
    for seed in range(seeds):
        for name, labels, x in known:
            for strategy in STRATEGIES:
                if (name, seed, strategy) in done:
                    continue
                start = time.perf_counter()
                found = answers(name, np.asarray(labels), x, seed, strategy)
                with kept.open("a", encoding="utf-8") as file:
                    file.writelines(json.dumps(row) + "\n" for row in found)
                print(seed, name, strategy, f"{time.perf_counter() - start:.1f} s", flush=True)


# --- tables ----------------------------------------------------------------------------------------------


def settled_by_everything(labels: Floats) -> int:
    """Return how many pairs one look at all items settles for inputs like these."""
    size, models = labels.shape
    nothing = np.zeros(models, bool)
    spread = np.cov(labels.T) / size
    look = Look(labels.mean(axis=0), spread, size - 1.0, 1.0, float(size), float(size), nothing)
    return int(settle_pairs([look], 0.05, "fixed", final=True).above.sum())


def table(kept: Path, folder: Path | None) -> None:
    """Print a table for each target: labels as a share of everything, and over uniform's."""
    rows = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
    # Seeds that every set has finished with every strategy.
    done = Counter((row["seed"], row["target"], row["goal"]) for row in rows)
    whole = {seed for seed, _, _ in done if all(done[seed, t, g] == max(done.values()) for t, g in ASKED)}
    rows = [row for row in rows if row["seed"] in whole]
    for target in ("population", "set"):
        print(f"\nTarget {target}, {len(whole)} runs on each set\n")
        _one_table([row for row in rows if row["target"] == target])
    if folder is None:
        return
    known = {name: settled_by_everything(data.aspects[aspect]) for name, data, aspect in sets(folder)}
    print("\nPairs claimed, as a share of those that one look at everything settles (all pairs, population):")
    for strategy in STRATEGIES:
        part = [
            row["claimed"] / known[row["set"]]
            for row in rows
            if (row["strategy"], row["goal"], row["target"]) == (strategy, "all", "population")
            and known[row["set"]]
        ]
        print(f"{strategy}: {np.mean(part):.1%}")


def _one_table(rows: list[dict[str, Any]]) -> None:
    kept: dict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        kept[row["goal"], row["strategy"], row["set"]].append(row)
    names = sorted({row["set"] for row in rows})
    goals = (("all", "all pairs"), ("best", "best model"))
    heads = [f"{said}: {name}" for _, said in goals for name in STRATEGIES]
    print("| set | " + " | ".join(heads) + " |")
    print("|---|" + "--:|" * len(heads))
    ratios: dict[tuple[str, str], list[float]] = defaultdict(list)
    for name in names:
        cells = []
        for goal, _ in goals:
            shares = {one: _mean_share(kept[goal, one, name]) for one in STRATEGIES}
            for one, share in shares.items():
                ratios[goal, one].append(share / shares["uniform"])
            cells += [f"{shares['uniform']:.0%}", *(f"{ratios[goal, one][-1]:.0%}" for one in OTHERS)]
        print(f"| {name} | " + " | ".join(cells) + " |")
    for said, what in (("median", np.median), ("largest", np.max)):
        shown = [
            "" if one == "uniform" else f"**{what(ratios[goal, one]):.0%}**"
            for goal, _ in goals
            for one in STRATEGIES
        ]
        print(f"| **{said}** | " + " | ".join(shown) + " |")
    for said, key in (("runs with an error", "wrong"), ("runs in which all was settled", "settled")):
        shown = [
            f"{np.mean([row[key] for name in names for row in kept[goal, one, name]]):.1%}"
            for goal, _ in goals
            for one in STRATEGIES
        ]
        print(f"| {said} | " + " | ".join(shown) + " |")


def _mean_share(rows: list[dict[str, Any]]) -> float:
    return float(np.mean([row["cells"] / row["of"] for row in rows]))


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=("run", "table"))
    parser.add_argument("folder", type=Path, nargs="?", help="where the fully judged sets lie")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--kept", type=Path, default=KEPT)
    parser.add_argument("--only", help="names of sets, with commas between them")
    chosen = parser.parse_args()
    if chosen.what == "table":
        table(chosen.kept, chosen.folder)
    elif chosen.folder is None:
        parser.error("run needs the folder of the sets")
    else:
        run(chosen.folder, chosen.seeds, chosen.kept, chosen.only)


if __name__ == "__main__":
    main()
