"""The data sets of a grid: the truth, the one metric and the family of each, fixed before any replay."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from importlib import resources
from pathlib import Path

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.errors import DataError, UnknownNameError, UsageError, listing
from sparingly.base.syntax import argument
from sparingly.data.evalset import EvalSet, the_only
from sparingly.data.files import extension, naming
from sparingly.infer.compare.votes import text_codes
from sparingly.infer.rank.agreement import FullSet
from sparingly.infer.rank.compare import full_set
from sparingly.run.rounds.replay import with_truth
from sparingly.signals.cost import SECONDS_PER_ITEM, SECONDS_PER_WORD
from sparingly.signals.length import source_lengths

# The set that comes with the package; every other one is a file of a folder.
DEMO = "demo"
FEWEST_ITEMS, FEWEST_MODELS = 60, 5
# The share of the items that a resample has.
RESAMPLED = 0.8
_KINDS = (".jsonl", ".parquet", ".csv", ".tsv")
# What is fixed of public sets: the truth of those with several aspects, a strong metric, if there is one,
# and families, which are left out together when constants are chosen; these two by the prefixes of names.
_PUBLIC = tomllib.loads(resources.files("sparingly.bench").joinpath("public_sets.toml").read_text("utf-8"))
TRUTHS: Mapping[str, str] = _PUBLIC["truths"]
STRONG: Mapping[str, str] = _PUBLIC["strong"]
FAMILIES: Mapping[str, list[str]] = _PUBLIC["families"]
WEAK = ("chrF", "ROUGE-L", "consensus_chrF")


@dataclass(frozen=True)
class SetFile:
    """A data set of a grid: its name, its file, and what the grid says of it."""

    name: str  # the file's name up to its first dot
    path: Path | None  # the file; None for the set that comes with the package
    truth: str | None = None  # what replays compare with, where the grid names it
    metric: str | None = None  # the one metric, where the grid names it

    @property
    def family(self) -> str:
        """The family of the set."""
        return family_of(self.name)

    @property
    def strong(self) -> bool:
        """Whether the set counts among those with a strong metric."""
        return strong_metric(self.name) is not None

    def digest(self) -> str:
        """Return the digest of the file; cells of a file that changed count as missing."""
        if self.path is None:
            return "package"
        with naming(self.path):
            stat = self.path.stat()
        return _digest_of(self.path, stat.st_mtime_ns, stat.st_size)


@dataclass(frozen=True, eq=False)
class FullyJudgedSet:
    """A data set cut to what was judged in full, its truth, and the metric for methods that take one."""

    data: EvalSet
    truth: str
    metric: str | None

    @property
    def counts(self) -> bool:
        """Whether the set is large enough to count in summaries."""
        return len(self.data) >= FEWEST_ITEMS and len(self.data.models) >= FEWEST_MODELS


def set_files(
    folder: Path | None,
    names: Iterable[str] = (),
    truths: Mapping[str, str] | None = None,
    metrics: Mapping[str, str] | None = None,
    *,
    results: Path | None = None,
) -> tuple[SetFile, ...]:
    """Return the sets of a folder by name, or all but the file of results; ``demo`` needs no folder."""
    by_name: dict[str, list[Path]] = {}
    if folder is not None:
        if not folder.is_dir():
            raise UsageError(f"{folder} is not a folder: name the one that holds the data sets.")
        for path in sorted(folder.iterdir()):
            if path.is_file() and extension(path) in _KINDS and path != results:
                by_name.setdefault(path.name.split(".")[0], []).append(path)
    for name, paths in by_name.items():
        if len(paths) > 1:
            raise UsageError(f"Two files are the data set {name}: {listing(path.name for path in paths)}.")
    files = {name: paths[0] for name, paths in by_name.items()}
    chosen = tuple(dict.fromkeys(names)) or tuple(files)
    if not chosen:
        raise UsageError(
            f"There is no data set: name a folder that holds some ({argument('folder')}), or the set demo."
        )
    for name in chosen:
        if name not in files and name != DEMO:
            hint = f"Name the folder of the data: {argument('folder')}." if folder is None else ""
            raise UnknownNameError("data set", name, (*files, DEMO), hint)
    truths, metrics = truths or {}, metrics or {}
    return tuple(SetFile(name, files.get(name), truths.get(name), metrics.get(name)) for name in chosen)


def family_of(name: str) -> str:
    """Return the family of a set: a known one, or its name up to the first underscore."""
    for family, beginnings in FAMILIES.items():
        if name.startswith(tuple(beginnings)):
            return family
    return name.split("_")[0]


def strong_metric(name: str) -> str | None:
    """Return the strong metric of a set, None for the sets whose metrics count as weak."""
    return next((metric for beginning, metric in STRONG.items() if name.startswith(beginning)), None)


def open_set(file: SetFile, *, once: bool = True) -> FullyJudgedSet:
    """Read a set and cut it to the items and models that were judged in full.

    Equal texts have one label unless told otherwise (``asked_once``).
    """
    from sparingly.data.demo import load_demo
    from sparingly.data.io import load

    data = load_demo() if file.path is None else load(file.path)
    truth = file.truth or TRUTHS.get(file.name)
    if truth is None:
        truth = the_only("aspect", None, data.aspects, f"Name the truth of {file.name} in the grid.")
    data, truth = with_truth(data, truth)
    complete = judged_in_full(data, truth)
    complete = asked_once(complete) if once else complete
    return FullyJudgedSet(complete, truth, file.metric or one_metric(file.name, complete))


def judged_in_full(data: EvalSet, truth: str) -> EvalSet:
    """Return the items on which all models were judged.

    Where that leaves half of the items or fewer, return all items with the models judged on all of them.
    """
    judged = data.judged(truth)
    complete = judged.all(axis=1)
    if complete.mean() > 0.5:
        return data.at(np.flatnonzero(complete))
    models = [data.models[place] for place in np.flatnonzero(judged.all(axis=0))]
    if len(models) < 2:
        raise DataError(f"{data.name}: no two models were judged by {truth} on all items.")
    return data.take(models=models)


def first_with_text(data: EvalSet) -> Ints:
    """Return for every output the place of the first model that wrote the same text for that item."""
    own = np.broadcast_to(np.arange(len(data.models)), data.shape)
    if data.outputs is None:
        return own
    code = text_codes(data.outputs)
    return np.where(code < 0, own, (code[:, :, None] == code[:, None, :]).argmax(axis=2))


def asked_once(data: EvalSet) -> EvalSet:
    """Return the set with one label for outputs of an item that have the same text: the mean of theirs.

    People are shown a text once, so it has one label. Published sets often have several, which differ in 30
    to 60 % of such groups: that is noise of people, and no difference of models.
    """
    cell = (np.arange(len(data))[:, None] * len(data.models) + first_with_text(data)).ravel()

    def of_text(scores: Floats) -> Floats:
        known = ~np.isnan(scores.ravel())
        total = np.bincount(cell[known], scores.ravel()[known], minlength=cell.size)
        count = np.bincount(cell[known], minlength=cell.size)
        means = (total / np.maximum(count, 1))[cell].reshape(scores.shape)
        return np.where(np.isnan(scores) | (count[cell] == 1).reshape(scores.shape), scores, means)

    aspects = {name: of_text(scores) for name, scores in data.aspects.items()}
    return data.with_parts(aspects=aspects, scales=dict(data.scales))


def one_metric(name: str, data: EvalSet) -> str | None:
    """Return the metric for methods that take one; the judgements play no part in the choice.

    The strong metric of the set, else the first of chrF, ROUGE-L and consensus_chrF, else the first by name
    that has no missing cell; None where there is none.
    """
    strong = strong_metric(name)
    if strong is not None:
        if strong not in data.metrics:
            raise UnknownNameError("metric", strong, data.metrics, f"It is the strong metric of {name}.")
        return strong
    complete = (metric for metric in sorted(data.metrics) if not np.isnan(data.metrics[metric]).any())
    return next((metric for metric in WEAK if metric in data.metrics), None) or next(complete, None)


@lru_cache(maxsize=256)
def _digest_of(path: Path, _changed: int, _size: int) -> str:
    with naming(path):
        return blake2b(path.read_bytes(), digest_size=8, person=b"texts asked once").hexdigest()


@dataclass(frozen=True, eq=False)
class ReplayData:
    """The items of a set on which a method is replayed, with all judgements."""

    judged: FullyJudgedSet
    data: EvalSet

    @property
    def truth(self) -> str:
        """What replays compare with."""
        return self.judged.truth

    @cached_property
    def unlabelled(self) -> EvalSet:
        """The data without labels: what a method sees before anything is judged."""
        return self.data.without_labels()

    @cached_property
    def full_outcome(self) -> FullSet:
        """The outcome of judging everything; its tests are computed once."""
        return full_set(self.data, self.truth)

    @cached_property
    def _first_with_text(self) -> Ints:
        return first_with_text(self.data)

    def questions(self, asked: Mask) -> Ints:
        """Return how many questions the asked cells of every item are: outputs with the same text are one."""
        questions: Mask = np.zeros(asked.shape, bool)
        rows, columns = np.nonzero(asked)
        questions[rows, self._first_with_text[rows, columns]] = True
        return np.asarray(questions.sum(axis=1), np.int64)

    @cached_property
    def seconds(self) -> Floats | None:
        """The seconds that judging one output of every item takes; None where a source is missing.

        33.7 + 0.15·|source in words|, as Zouhar et al. (2025, section 5.2) fitted.
        """
        if self.data.sources is None:
            return None
        seconds = SECONDS_PER_ITEM + SECONDS_PER_WORD * source_lengths(self.data)
        return None if np.isnan(seconds).any() else seconds


def replay_data(judged: FullyJudgedSet, resample: int) -> ReplayData:
    """Return the data of the whole set (0), or of one of its resamples (1, 2, …)."""
    if resample == 0:
        return ReplayData(judged, judged.data)
    return ReplayData(judged, judged.data.at(resampled_rows(judged.data, resample)))


def resampled_rows(data: EvalSet, resample: int) -> Ints:
    """Return 80 % of the items, drawn by their ids and the number of the resample."""
    order = np.argsort(rng.stream(data.keys, resample, "bench resample"), kind="stable")
    return np.sort(order[: max(1, int(np.floor(RESAMPLED * len(data) + 1e-9)))])


@lru_cache(maxsize=2)
def open_cached(file: SetFile, digest: str) -> FullyJudgedSet:
    """Return a set, cached while it is in use: methods remember what they computed for it."""
    return open_set(file)


@lru_cache(maxsize=2)
def open_replay_data(file: SetFile, digest: str, resample: int) -> ReplayData:
    """Return the data of a replay, cached with its tests while it is in use."""
    return replay_data(open_cached(file, digest), resample)
