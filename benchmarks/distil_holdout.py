"""What survives when utilities are told from sources alone: docs/research/results-sources.md.

    python -m benchmarks.distil_holdout --jobs 2
    python -m benchmarks.distil_holdout --docs                     also into the page
    python -m benchmarks.distil_holdout --export texts.npz         what an encoder needs to learn the same
    python -m benchmarks.distil_holdout --encoder told --docs      with what it predicted

Machine translation sets with texts in four families (wmt23, wmt24, wmt20-21 with TED, BioMQM); each family is
told by models that were learned on the other three, so years, pairs of languages and mostly domains differ. A
training text that is also in the family that is left out is dropped. Utilities are those of the one metric of
a set, fixed beforehand (MetricX-23 for wmt23, chrF elsewhere).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

import sparingly
from benchmarks.leaderboard.page import today
from benchmarks.leaderboard.parity import Parities
from benchmarks.leaderboard.ranges import differences, mean_measured, mean_on, mean_ratio
from benchmarks.leaderboard.results import RANDOM, SPA, Results, read_results
from benchmarks.pages import replaced, write_whole
from sparingly.base.arrays import Floats
from sparingly.bench.grid import GridRuns, ReplayGrid, entry_of
from sparingly.bench.play import play
from sparingly.bench.sets import TRUTHS, family_of, open_set, set_files
from sparingly.choose.distil.corpus import build_corpus, parse_targets
from sparingly.data.evalset import EvalSet

# --- the tables of results-sources.md ---------------------------------------------------------------


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
    correlations: Correlations,
    learners: Sequence[str],
    utilities: Sequence[str],
    folds: Sequence[Learned],
) -> str:
    """Return the tables as Markdown."""
    parts = [
        f"Made on {today()} by `python -m benchmarks.distil_holdout --docs`{_encoder_too(learners)}.",
        _learned_table(folds),
        "Rank correlation of what was told with the utility itself, on sources that were left out:",
        _correlation_table(correlations, learners, utilities),
        "Soft pairwise accuracy of choosing by it, mean over budgets of 5–50 % and over the sets, and labels "
        "for random's accuracy in per cent of random's (from there on, divided by random's own); 95 % "
        "intervals over seeds and resamples of the sets:",
        _gain_table(results, learners, utilities),
        "Soft pairwise accuracy set by set, minus random's, in points:",
        _set_table(results, learners, utilities),
    ]
    return "\n\n".join(parts)


def _encoder_too(learners: Sequence[str]) -> str:
    told = "--encoder FOLDER` with what `benchmarks/distil_encoder.py` predicted"
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


def _correlation_table(correlations: Correlations, learners: Sequence[str], utilities: Sequence[str]) -> str:
    lines = []
    for learner in learners:
        for utility in utilities:
            # A utility that is the same for all items of a set correlates with nothing.
            found = {
                key[0]: value
                for key, value in correlations.items()
                if key[1:] == (learner, utility) and not np.isnan(value)
            }
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


# --- the command -----------------------------------------------------------------------------------------


ROOT = Path(__file__).resolve().parent.parent
PAGE, MARKER = ROOT / "docs" / "research" / "results-sources.md", "sources"
# Where there is an encoder alone.
ENCODER_MARKER = "sources-encoder"
SETS = (
    "wmt23_ende", "wmt23_zhen", "wmt24_encs", "wmt24_enhi", "wmt24_enzh", "wmt21_ende", "wmt21_zhen",
    "ted21_ende", "biomqm_deen", "biomqm_ende", "biomqm_enes", "biomqm_enfr", "biomqm_enru",
    "newsroom", "opinsummeval", "realsumm", "summeval_llm12", "alpacaeval2_llmjudge", "topicalchat_usr",
    "simpeval_past", "webnlg20_en",
)  # fmt: skip
# The one metric of every set goes by this name, so that one model can learn from several sets.
GIVEN = "given"
UTILITIES: Mapping[str, str] = {
    "metric_avg": f"metric_avg:metric={GIVEN}",
    "metric_var": f"metric_var:metric={GIVEN}",
    "metric_cons": f"metric_cons:metric={GIVEN}",
    "diversity": "diversity",
    "diffdisc": f"irt:metric={GIVEN}",
}
LEARNERS = ("ridge", "boosting")
TARGETS = [f"{name}={text}" for name, text in UTILITIES.items()]
Predictions = dict[tuple[str, str, str], Floats]


@dataclass(frozen=True)
class Fold:
    """A family that is left out: the sets to learn from, and those whose sources are told."""

    family: str
    past: dict[str, EvalSet]
    new: dict[str, EvalSet]


def options(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="the data sets")
    parser.add_argument(
        "--kept", type=Path, default=ROOT / ".bench" / "distil_holdout", help="finished cells"
    )
    parser.add_argument("--sets", nargs="*", default=SETS, help="the sets")
    parser.add_argument("--seeds", type=int, default=100, help="runs of random selection")
    parser.add_argument("--jobs", type=int, default=1, help="the number of processes")
    parser.add_argument("--export", type=Path, help="write texts and utilities of every fold, and end")
    parser.add_argument("--encoder", type=Path, help="the folder of benchmarks.distil_encoder")
    parser.add_argument(
        "--light", nargs="*", default=LEARNERS, help="the light learners; none: an encoder alone"
    )
    parser.add_argument("--docs", action="store_true", help="write the tables into the page")
    return parser.parse_args(arguments)


def opened(folder: Path, names: list[str]) -> dict[str, EvalSet]:
    """Return the sets with their one metric under its common name."""
    found = {}
    for file in set_files(folder, names):
        judged = open_set(file)
        assert judged.metric is not None
        found[file.name] = judged.data.with_metric(GIVEN, judged.data.metrics[judged.metric])
    return found


def folds(data: Mapping[str, EvalSet]) -> Iterator[Fold]:
    """Yield every family with the sets of the others, without texts that both have."""
    for family in dict.fromkeys(family_of(name) for name in data):
        new = {name: one for name, one in data.items() if family_of(name) == family}
        told = {text for one in new.values() for text in sources_of(one)}
        past = {
            name: one.at(np.array([text not in told for text in sources_of(one)]).nonzero()[0])
            for name, one in data.items()
            if family_of(name) != family
        }
        yield Fold(family, past, new)


def sources_of(data: EvalSet) -> list[str]:
    """Return the sources of a set."""
    assert data.sources is not None
    return [str(text) for text in data.sources]


def told_by(fold: Fold, learner: str, seed: int = 0) -> Predictions:
    """Return what a light learner tells of the family that was left out."""
    model = sparingly.distil(fold.past, TARGETS, learner=learner, seed=seed)  # type: ignore[arg-type]
    found: Predictions = {}
    for name, data in fold.new.items():
        values = model.score(sources_of(data), flags=False).values
        found |= {(name, learner, utility): values[:, place] for place, utility in enumerate(UTILITIES)}
    return found


def exported(every: list[Fold], path: Path) -> None:
    """Write the texts and z-scored utilities of every fold, for a learner that runs elsewhere."""
    arrays: dict[str, NDArray[np.generic]] = {}
    for fold in every:
        corpus = build_corpus(fold.past, parse_targets(TARGETS), "zscore")
        places, means = corpus.training(np.ones(len(corpus.text), bool))
        arrays[f"{fold.family}/texts"] = np.array(corpus.texts)[places]
        arrays[f"{fold.family}/utilities"] = means
        arrays |= {f"{fold.family}/{name}": np.array(sources_of(data)) for name, data in fold.new.items()}
    np.savez_compressed(path, allow_pickle=False, **arrays)


def told_elsewhere(folder: Path, names: list[str]) -> Predictions:
    """Read what encoders predicted: for every set an array of sources × utilities, in a file per family."""
    found: Predictions = {}
    for name in names:
        path = folder / f"{family_of(name)}.npz"
        if not path.exists():
            raise SystemExit(f"{path} is not there: python -m benchmarks.distil_encoder makes it.")
        with np.load(path, allow_pickle=False) as held:
            values = held[name].astype(float)
        found |= {(name, "encoder", utility): values[:, place] for place, utility in enumerate(UTILITIES)}
    return found


def grid_for(learners: list[str], names: list[str], seeds: int) -> ReplayGrid:
    """Return the grid: random, what needs sources only, the utilities themselves, and what was told."""
    whole = [entry_of("random"), entry_of("kmeans", name="source k-means")]
    whole += [entry_of("uncertainty:metric=source_length", name="source length")]
    whole += [entry_of(text, name=name) for name, text in UTILITIES.items()]
    whole += [
        entry_of(f"uncertainty:metric={learner}_{utility}", name=f"{learner} {utility}")
        for learner in learners
        for utility in UTILITIES
    ]
    metrics = dict.fromkeys(names, GIVEN)
    truths = {name: TRUTHS.get(name, "mqm") for name in names}
    return ReplayGrid(
        tuple(whole), sets=tuple(names), runs=GridRuns(random=seeds), truths=truths, metrics=metrics, text=""
    )


def with_told(data: EvalSet, name: str, predictions: Predictions) -> EvalSet:
    """Return a set with what was told as metrics, the same for all models."""
    for (where, learner, utility), values in predictions.items():
        if where == name:
            data = data.with_metric(f"{learner}_{utility}", np.tile(values[:, None], len(data.models)))
    return data


def correlations(data: Mapping[str, EvalSet], predictions: Predictions) -> dict[tuple[str, str, str], float]:
    """Return the rank correlation of what was told with the utility itself."""
    from scipy.stats import spearmanr

    true = {
        (name, target.name): target.values(one)[0]
        for name, one in data.items()
        for target in parse_targets(TARGETS)
    }
    return {
        key: float(spearmanr(values, true[key[0], key[2]], nan_policy="omit").statistic)
        for key, values in predictions.items()
    }


def main(arguments: list[str] | None = None) -> int:
    """Learn, tell, replay, and print the tables."""
    args = options(arguments)
    if not args.data.is_dir():
        print(f"There is no folder {args.data}: name it with --data.", file=sys.stderr)
        return 2
    names = sorted(args.sets)
    data = opened(args.data, names)
    every = list(folds(data))
    if args.export is not None:
        exported(every, args.export)
        return 0
    told: Predictions = {}
    for learner in args.light:
        for fold in every:
            told |= told_by(fold, learner)
    learners = list(args.light)
    if args.encoder is not None:
        told |= told_elsewhere(args.encoder, names)
        learners.append("encoder")
    args.kept.mkdir(parents=True, exist_ok=True)
    table = args.kept / "table.parquet"
    with tempfile.TemporaryDirectory() as folder:
        for name, one in data.items():
            sparingly.save(with_told(one, name, told), Path(folder) / f"{name}.parquet")
        play(grid_for(learners, names, args.seeds), Path(folder), table, jobs=args.jobs)
    results = read_results(table)
    block = block_of(results, correlations(data, told), learners, list(UTILITIES), every)
    print(block)
    if args.docs:
        marker = MARKER if args.light else ENCODER_MARKER
        write_whole(PAGE, replaced(PAGE.read_text(encoding="utf-8"), {marker: block}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
