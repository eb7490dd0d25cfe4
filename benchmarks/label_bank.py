"""What people's scores of earlier models are worth for a new one: leave one model out on public sets.

    .venv/bin/python -m benchmarks.label_bank ../shared/data           # the table; under 20 minutes
    .venv/bin/python -m benchmarks.label_bank ../shared/data --docs    # and in docs/research/coverage.md
    .venv/bin/python -m benchmarks.label_bank ../shared/data --only wmt24_enhi --draws 20

On every set with 240 items or more, each model in turn (8 at most) is the new one: 60 of its items are drawn
by the default path and judged, the other models are judged on everything. Its score is estimated from

- none: the plain mean of the 60 labels (the draw is spread over the metrics, which helps by itself),
- metrics: a prediction from the metrics, learned from the other models,
- others: what people said of the other models on every item,
- both: ``estimator=bank``, what a bank of labels uses by default,
- own draw: the same from 60 items drawn as a campaign draws them for a new model, spread over what the
  earlier models' labels make one expect.

Errors are mean absolute ones over models and draws, over that of the plain mean of 60 random items. *Both /
none* compares with the plain mean of the same items; its standard error is over draws. *Held* is the share of
95 % intervals (target: the set) that hold the truth.

*Other raters*: where several people judged each item, the label of the new model on an item is that of one
person, drawn by chance, and nothing that this person said of the other models on this item is used: then
severity that they share cannot flatter. The truth is the mean of the labels so defined.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import sparingly
from benchmarks.pages import bold, replaced, table
from sparingly.base.arrays import Floats
from sparingly.base.stats.pairs import holm
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.assemble import EstimateRequest, assemble
from sparingly.infer.estimate.bank import EXPECTED, PARAMETERS, LabelBank
from sparingly.infer.estimate.estimators import own_slopes
from sparingly.infer.estimate.sample import JudgedSample, difference_form, sample_from

PAGE = Path(__file__).parents[1] / "docs" / "research" / "coverage.md"
FEWEST_ITEMS, LABELS, MOST_MODELS, MOST_EARLIER = 240, 60, 8, 20
WAYS = ("none", "metrics", "others", "both", "own draw")
SAME, OTHER = "label bank, all raters", "label bank, other raters"


class Left(NamedTuple):
    """A model that is left out: its labels, those of the others, and the set without labels."""

    name: str
    model: int
    data: EvalSet
    labels: Floats
    earlier: Floats


def complete_labels(data: EvalSet) -> tuple[EvalSet, Floats]:
    """Return the items on which all models were judged, and the labels of what was judged first."""
    scores = data.truth(next(iter(data.aspects)))
    rows = np.flatnonzero(~np.isnan(scores).any(axis=1))
    return data.at(rows), scores[rows]


def models_of(count: int) -> list[int]:
    """Return which models are left out in turn, 8 at most, by chance."""
    return sorted(np.random.default_rng(1).permutation(count)[:MOST_MODELS].tolist())


def same_raters(name: str, data: EvalSet) -> Iterator[Left]:
    """Yield every model to leave out, with all labels of the others (20 models at most)."""
    view, scores = complete_labels(data)
    if len(view) < FEWEST_ITEMS:
        return
    for model in models_of(scores.shape[1]):
        others = [place for place in range(scores.shape[1]) if place != model]
        kept = np.random.default_rng([2, model]).permutation(others)[:MOST_EARLIER]
        names = [view.models[place] for place in sorted([model, *kept.tolist()])]
        columns = [view.models.index(one) for one in names]
        part = view.take(models=names).without_labels()
        labels = scores[:, columns]
        place = columns.index(model)
        earlier = labels.copy()
        earlier[:, place] = np.nan
        yield Left(name, place, part, labels[:, place], earlier)


def other_raters(name: str, data: EvalSet) -> Iterator[Left]:
    """Yield every model to leave out, labelled by one person an item, without this person's other labels."""
    table_, shape = data.ratings, data.shape
    aspect = next(iter(data.aspects))
    if not len(table_) or aspect not in table_.aspects:
        return
    use = (table_.aspect == table_.aspects.index(aspect)) & (table_.model < shape[1]) & (table_.rater >= 0)
    item, model, rater, score = (
        column[use] for column in (table_.item, table_.model, table_.rater, table_.score)
    )
    totals, counts = np.zeros((2, len(table_.raters), *shape))
    np.add.at(totals, (rater, item, model), score)
    np.add.at(counts, (rater, item, model), 1)
    # Items on which everything was judged, by three people or more on average.
    rows = np.flatnonzero((counts.sum(axis=0) > 0).all(axis=1))
    if len(rows) < FEWEST_ITEMS or (counts.sum(axis=2) > 0)[:, rows].sum(axis=0).mean() < 2.5:
        return
    view, totals, counts = data.at(rows).without_labels(), totals[:, rows], counts[:, rows]
    for left in models_of(shape[1]):
        chance = np.random.default_rng([3, left]).random(counts.shape[:2]) * (counts[:, :, left] > 0)
        person = chance.argmax(axis=0)
        places = np.arange(len(rows))
        labels = totals[person, places, left] / counts[person, places, left]
        allowed = np.ones(counts.shape[:2], bool)
        allowed[person, places] = False
        count = (counts * allowed[:, :, None]).sum(axis=0)
        total = (totals * allowed[:, :, None]).sum(axis=0)
        earlier = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
        earlier[:, left] = np.nan
        yield Left(name, left, view, labels, earlier)


class Errors(NamedTuple):
    """Draws × ways: errors of estimates, and whether the interval holds the truth (NaN where withheld)."""

    error: Floats
    held: Floats
    random: float


def random_error(labels: Floats, draws: int = 4000) -> float:
    """Return the mean absolute error of the plain mean of random items."""
    generator, truth = np.random.default_rng(4), labels.mean()
    means = [labels[generator.choice(len(labels), LABELS, replace=False)].mean() for _ in range(draws)]
    return float(np.abs(np.array(means) - truth).mean())


def replay(left: Left, draws: int) -> Errors:
    """Draw items for a model that is left out, and estimate it in every way."""
    data, model, truth = left.data, left.model, float(left.labels.mean())
    rows = np.flatnonzero(~np.isnan(left.earlier).all(axis=1))
    sample = JudgedSample(
        rows, left.earlier[rows], np.ones((len(rows), len(data.models))), len(data), np.ones(len(rows)),
        np.arange(len(rows)), np.zeros(len(rows), np.int64),
    )  # fmt: skip
    earlier = np.array([place for place in range(len(data.models)) if place != model])
    full = LabelBank.learn(sample, data, earlier, 0)
    no_metrics = data.only(name for name in data.fields if name.startswith("column:"))
    human = LabelBank.learn(sample, no_metrics, earlier, 0)
    alone = data.take(models=[data.models[model]])
    spread = alone.with_parts(metrics={EXPECTED: full.expected(model)[:, None]})
    errors, held = np.zeros((2, draws, len(WAYS)))
    for draw in range(draws):
        for view, ways in ((alone, WAYS[:4]), (spread, WAYS[4:])):
            chosen = sparingly.select(view, budget=LABELS, seed=draw)
            part = sample_from(view, left.labels[:, None], chosen)
            for way in ways:
                parts = np.zeros((2, len(data), 1))
                if way == "metrics":
                    parts[0, :, 0] = full.metrics[:, model] @ full.without
                elif way != "none":
                    bank = human if way == "others" else full
                    parts[:, :, 0] = bank.predict(part, data, 0, 0, column=model)
                slopes = own_slopes(part, parts)
                predicted = slopes[0] * parts[0] + slopes[1] * parts[1]
                parameters = 1.0 + (slopes > 0).sum() if way == "metrics" else PARAMETERS
                linear = difference_form(part, predicted, parameters=parameters if slopes.any() else 1.0)
                found = assemble(part, linear, ["new"], EstimateRequest(), aspect="score", estimator="bank")
                place, low, high = WAYS.index(way), found.low[0], found.high[0]
                errors[draw, place] = abs(found.scores[0] - truth)
                outside = (low > truth + 1e-9) | (high < truth - 1e-9)
                held[draw, place] = np.nan if np.isnan(low) and np.isnan(high) else float(not outside)
    return Errors(errors, held, random_error(left.labels))


class Line(NamedTuple):
    """What a set shows: its size, errors over those of random items, of both over none, and coverage."""

    name: str
    items: int
    models: int
    ratio: Floats
    error: Floats
    paired: float
    paired_error: float
    held: Floats


def line_of(name: str, items: int, models: int, found: list[Errors]) -> Line:
    """Return the line of a set, from the errors of the models that were left out."""
    draws = np.stack([each.error for each in found])
    baseline = sum(each.random for each in found)
    total = draws.mean(axis=1).sum(axis=0)
    both, none = WAYS.index("both"), WAYS.index("none")
    paired = total[both] / total[none]

    def spread(values: Floats) -> Floats:
        return np.asarray(np.sqrt(values.var(axis=1, ddof=1).sum(axis=0) / draws.shape[1]))

    paired_error = float(spread(draws[:, :, [both]] - paired * draws[:, :, [none]])[0] / total[none])
    held = np.nanmean(np.concatenate([each.held for each in found]), axis=0)
    ratio, error = total / baseline, spread(draws) / baseline
    return Line(name, items, models, ratio, error, paired, paired_error, held)


def lines(folder: Path, only: str | None, draws: int, kind: str) -> Iterator[Line]:
    """Yield the lines of all sets."""
    leave_out = same_raters if kind == SAME else other_raters
    for path in sorted(folder.glob("*.jsonl.gz")):
        name = path.name.removesuffix(".jsonl.gz")
        if only is not None and only != name:
            continue
        began, found, size = time.process_time(), [], (0, 0)
        data = sparingly.load(path)
        if len(data) < FEWEST_ITEMS:
            continue
        for left in leave_out(name, data):
            found.append(replay(left, draws))
            size = left.data.shape
        if found:
            sys.stderr.write(f"{name}: {time.process_time() - began:.0f} s\n")
            yield line_of(name, *size, found)


def markdown(found: list[Line]) -> str:
    """Return the table, with the means over sets below."""
    p_values = holm(np.array([_worse(line) for line in found]))
    head = ["set", "items", "models", *WAYS, "both / none", "held: none", "both", "own draw"]
    rows = [
        [
            line.name,
            str(line.items),
            str(line.models),
            *(f"{ratio:.2f}" for ratio in line.ratio),
            f"{line.paired:.2f} ± {line.paired_error:.2f}",
            *(f"{100 * line.held[place]:.1f}" for place in (0, 3, 4)),
        ]
        for line in found
    ]
    means = np.mean([line.ratio for line in found], axis=0)
    held = np.mean([line.held for line in found], axis=0)
    paired = float(np.mean([line.paired for line in found]))
    ends = [f"{mean:.3f}" for mean in (*means, paired)] + [f"{100 * held[place]:.1f}" for place in (0, 3, 4)]
    rows.append([bold(f"mean of {len(found)} sets", True), "", "", *(bold(text, True) for text in ends)])
    worse = [line.name for line, p_value in zip(found, p_values, strict=True) if p_value < 0.05]
    verdict = f"Both significantly worse than none (Holm): {', '.join(worse) if worse else 'none'}."
    return f"{table(head, rows)}\n\n{verdict}"


def _worse(line: Line) -> float:
    """Return the one-sided p-value of an error of *both* above that of *none*."""
    from scipy.stats import norm

    return float(norm.sf((line.paired - 1.0) / line.paired_error)) if line.paired_error > 0 else 1.0


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only")
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--docs", action="store_true")
    chosen = parser.parse_args()
    blocks = {}
    for kind in (SAME, OTHER):
        found = list(lines(chosen.folder, chosen.only, chosen.draws, kind))
        if found:
            blocks[kind] = markdown(found)
            sys.stdout.write(f"{kind}\n\n{blocks[kind]}\n\n")
            sys.stdout.flush()
    if chosen.docs:
        PAGE.write_text(replaced(PAGE.read_text("utf-8"), blocks), "utf-8")


if __name__ == "__main__":
    main()
