"""The training data: the distinct texts of all sets, their utilities on a common scale, and vectors."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError, MissingDataError, SparinglyError, UsageError
from sparingly.base.lazy import special
from sparingly.base.registry import Method, methods_inside, parse_method
from sparingly.base.rng import keys_of, stream
from sparingly.base.stats.correlation import average_ranks
from sparingly.base.syntax import argument
from sparingly.base.text import NAME
from sparingly.choose.utility.base import Utility
from sparingly.choose.utility.metric import MetricAvg
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.signals.embed import embed_sources, embed_texts
from sparingly.signals.embed.evalset import is_precomputed
from sparingly.signals.embed.texts import TFIDF, SentenceModel

Scale = Literal["zscore", "rank", "none"]
ASPECT, METRIC = "aspect:", "metric:"
FEWEST_TEXTS = 20


@dataclass(frozen=True, eq=False)
class CorpusSet:
    """One set of a corpus."""

    name: str
    data: EvalSet
    read: frozenset[str]  # the fields that utilities were computed from
    values: Floats  # items × utilities, as they are


@dataclass(frozen=True, eq=False)
class Corpus:
    """All items that have a source, as rows in the order of text, set and id."""

    parts: tuple[CorpusSet, ...]  # in the order of their names
    texts: tuple[str, ...]  # the distinct ones, in order
    text: Ints  # of every row, and so on
    part: Ints
    item: Ints
    group: NDArray[np.object_]  # the document, or the text itself; a group is held out as a whole
    targets: Floats  # rows × utilities, on the common scale

    def training(self, rows: NDArray[np.bool_]) -> tuple[Ints, Floats]:
        """Return the texts of some rows (positions in ``texts``) with the mean of their targets."""
        texts = np.unique(self.text[rows])
        place = np.searchsorted(texts, self.text[rows])
        present = ~np.isnan(self.targets[rows])
        total, count = np.zeros((len(texts), present.shape[1])), np.zeros((len(texts), present.shape[1]))
        np.add.at(total, place, np.where(present, self.targets[rows], 0.0))
        np.add.at(count, place, present)
        return texts, np.where(count > 0, total / np.maximum(count, 1), np.nan)


def build_corpus(sets: Mapping[str, EvalSet], targets: Sequence[Target], scale: Scale) -> Corpus:
    """Compute the utilities of all sets and put their texts together."""
    parts = []
    for name in sorted(sets):
        computed = [values_in(sets[name], target, name) for target in targets]
        read = frozenset({"sources"}).union(*(read for _, read in computed))
        parts.append(CorpusSet(name, sets[name], read, np.stack([values for values, _ in computed], axis=1)))
    rows: list[tuple[str, int, int]] = []
    for place, part in enumerate(parts):
        sources = part.data.sources
        if sources is None:
            raise MissingDataError(
                f'The data set "{part.name}" has no sources to learn from: name their column with the '
                "role input."
            )
        rows += [(text, place, row) for row, text in enumerate(sources) if text and not text.isspace()]
    rows.sort()
    texts = tuple(sorted({text for text, _, _ in rows}))
    if len(texts) < FEWEST_TEXTS:
        raise DataError(f"At least {FEWEST_TEXTS} different sources are needed to learn from.")
    number = {text: place for place, text in enumerate(texts)}
    common = [np.stack([rescale(column, scale) for column in part.values.T], axis=1) for part in parts]
    corpus = Corpus(
        parts=tuple(parts),
        texts=texts,
        text=np.array([number[text] for text, _, _ in rows]),
        part=np.array([place for _, place, _ in rows]),
        item=np.array([row for _, _, row in rows]),
        group=np.array([_group(parts[place], row, text) for text, place, row in rows], object),
        targets=np.stack([common[place][row] for _, place, row in rows]),
    )
    for column, target in zip(corpus.targets.T, targets, strict=True):
        present = column[~np.isnan(column)]
        if len(present) < FEWEST_TEXTS:
            raise DataError(
                f"Only {len(present)} sources have a {target.name}, and {FEWEST_TEXTS} are needed to learn "
                "it."
            )
        if present.min() == present.max():
            raise DataError(f"The utility {target.name} is the same for all items: nothing can be learned.")
    return corpus


def assign_folds(corpus: Corpus, hold_out: str | None, folds: int, seed: int) -> tuple[str, Ints]:
    """Return what is held out (sets, documents or items), and the fold of every row."""
    if hold_out == "sets" and len(corpus.parts) < 2:
        raise UsageError(
            f"There is one data set, and none to predict it from: use {argument('hold_out', 'items')}."
        )
    if len(corpus.parts) > 1 and hold_out != "items":
        return "data set", corpus.part
    names = sorted(set(corpus.group))
    if len(names) < 2:
        raise UsageError("All items are in one document, so none can be held out: give a second data set.")
    draws = np.argsort(stream(keys_of(names), seed, "distil"), kind="stable")
    fold = {names[place]: rank % folds for rank, place in enumerate(draws.tolist())}
    has_documents = any(fields.DOCUMENT in part.data.columns for part in corpus.parts)
    return "documents" if has_documents else "items", np.array([fold[name] for name in corpus.group])


def _group(part: CorpusSet, row: int, text: str) -> str:
    if fields.DOCUMENT in part.data.columns:
        document = part.data.columns[fields.DOCUMENT][row]
        if document is not None:
            return f"{part.name}\x1f{document}"
    return f"\x1e{text}"


@dataclass(frozen=True)
class Target:
    """A utility to learn, and the name that it has in the model.

    As text: ``metric_var:metric=COMET``, with a name of its own ``hard=metric_avg:metric=COMET``.
    ``aspect:overall`` and ``metric:COMET`` are minus the mean of these scores over the models, so that hard
    items come first. Human scores can stand in for a metric: ``metric_var:metric=aspect:overall``.
    """

    name: str
    utility: Utility

    @classmethod
    def parse(cls, target: str | Method | Target) -> Target:
        """Read a target from text, or from a utility."""
        if isinstance(target, Target):
            return target
        if isinstance(target, Method):
            return cls(target.name, _as_utility(target))
        name, sign, after_name = target.partition("=")
        custom_name = name if sign and NAME.fullmatch(name) else ""
        text = after_name if custom_name else target
        if text.startswith((ASPECT, METRIC)):
            return cls(custom_name or text, MetricAvg(metric=text.removeprefix(METRIC)))
        utility = _as_utility(parse_method(text))
        return cls(custom_name or utility.name, utility)

    def values(self, data: EvalSet) -> tuple[Floats, frozenset[str]]:
        """Return the utility of every item of a set, and the fields that it was computed from."""
        # The aspects that stand in for a metric.
        values: list[Any] = []
        for method in methods_inside(self.utility):
            for part in dataclasses.fields(method):
                value = getattr(method, part.name)
                values += value if isinstance(value, tuple) else (value,)
        texts = {text for text in values if isinstance(text, str) and text.startswith(ASPECT)}
        aspects = sorted(text.removeprefix(ASPECT) for text in texts)
        for name in aspects:
            data = data.with_metric(f"{ASPECT}{name}", data.aspects[name])
        utility = self.utility.resolve(data)
        read = utility.reads(data)
        stand_ins = {fields.metric(f"{ASPECT}{name}"): fields.aspect(name) for name in aspects}
        fields_read = frozenset(stand_ins.get(name, name) for name in read)
        return utility.values(data.only(read)), fields_read


def parse_targets(targets: Sequence[str | Method | Target] | str | Method | Target) -> tuple[Target, ...]:
    """Read one target or several; each needs a name of its own."""
    all_targets = [targets] if isinstance(targets, str | Method | Target) else list(targets)
    if not all_targets:
        raise UsageError("Name at least one utility to learn, such as metric_var:metric=COMET.")
    parsed = tuple(Target.parse(text) for text in all_targets)
    names: set[str] = set()
    for target in parsed:
        if target.name in names:
            raise UsageError(
                f'Two utilities are called "{target.name}": give one of them another name, '
                f"as in other={target.utility}."
            )
        names.add(target.name)
    return parsed


def values_in(data: EvalSet, target: Target, set_name: str) -> tuple[Floats, frozenset[str]]:
    """Return the values of a target in a set; an error names the set."""
    try:
        return target.values(data)
    except SparinglyError as error:
        raise UsageError(f'In the data set "{set_name}", {target.name} cannot be computed: {error}') from None


def rescale(values: Floats, scale: Scale) -> Floats:
    """Return values of one set on a scale that other sets share.

    With ``zscore`` a value is its distance from the set's mean in standard deviations; with ``rank``, the
    normal quantile of its rank; ``none`` leaves it as it is.
    """
    present = ~np.isnan(values)
    if scale == "none" or not present.any():
        return values
    if scale == "rank":
        return np.asarray(special.ndtri((average_ranks(values) - 0.5) / present.sum()), np.float64)
    spread = float(np.nanstd(values))
    return np.asarray((values - np.nanmean(values)) / (spread if spread > 0 else 1.0))


def _as_utility(method: Method) -> Utility:
    if isinstance(method, Utility):
        return method
    raise UsageError(f"The {method.kind} {method.name} is not a utility, and only utilities can be learned.")


def embedding_digest(name: str) -> str | None:
    """Return the digest of the model behind an embedding; None for precomputed vectors."""
    return None if is_precomputed(name) else SentenceModel(name).digest


def corpus_vectors(corpus: Corpus, name: str) -> Floats:
    """Return a vector for every text of a corpus: the mean of the vectors of its rows."""
    if name == TFIDF:
        raise UsageError(
            "The built-in embedding is fitted to the texts at hand, so nothing learned from it holds for "
            f"others: use {argument('features', 'ngrams')}, or name a sentence-transformers model."
        )
    rows = [embed_sources(part.data, name) for part in corpus.parts]
    if len({embedded.vectors.shape[1] for embedded in rows}) > 1:
        raise DataError("The embedding gives some data sets longer vectors than others.")
    for part, embedded in zip(corpus.parts, rows, strict=True):
        used_items = corpus.item[corpus.part == corpus.parts.index(part)]
        if not embedded.present[used_items].all():
            lost = part.data.items[used_items[~embedded.present[used_items]][0]]
            raise DataError(f'The item "{lost}" of "{part.name}" has a source but no vector.')
    total = np.zeros((len(corpus.texts), rows[0].vectors.shape[1]))
    for place, (text, item) in enumerate(zip(corpus.text, corpus.item, strict=True)):
        total[text] += rows[corpus.part[place]].vectors[item]
    return total / np.bincount(corpus.text, minlength=len(total))[:, None]


def vectors_for(
    data: EvalSet | Sequence[str], name: str, expected_digest: str | None, dimensions: int
) -> Floats:
    """Return vectors of new sources by the same embedding as in training."""
    if expected_digest is not None and embedding_digest(name) != expected_digest:
        raise DataError(
            f'The embedding "{name}" is not the one that the model learned from: it has changed since.'
        )
    if isinstance(data, EvalSet):
        embedded = embed_sources(data, name)
        vectors = np.where(embedded.present[:, None], embedded.vectors, np.nan)
    elif is_precomputed(name):
        raise UsageError(
            f'The vectors "{name}" belong to items, and texts alone have none: give an evaluation set.'
        )
    else:
        vectors = embed_texts(data, name)
    if vectors.shape[1] != dimensions:
        raise DataError(
            f'The embedding "{name}" has {vectors.shape[1]} dimensions, and the model learned from '
            f"{dimensions}."
        )
    return vectors
