"""Figs 9, 12, 13, 14 and 16: other clusters, other representatives, other vectors, and no clusters at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Literal

import numpy as np

from benchmarks.minilm import EMBEDDING
from benchmarks.pages import table
from benchmarks.papers.ashury.iterative import runs_text
from benchmarks.papers.ashury.sets import (
    FILES,
    SHARE,
    TFIDF,
    Figures,
    Source,
    added,
    drawn_pairs,
    embedded_set,
    outputs,
    sources,
    truths,
)
from benchmarks.papers.catalogue import PaperTable
from benchmarks.papers.work import Work
from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.choose.design.clusters import Representative, kmeans, represent
from sparingly.infer.rank.winners import subsample
from sparingly.published.linkage import Linkage, cosine_linkage, ward_linkage
from sparingly.signals.embed.differences import stacked_differences
from sparingly.signals.embed.evalset import embed_sources
from sparingly.signals.embed.texts import unit_rows

BUDGETS = (5, 10, 20, 30, 50, 100, 150, 200)
# k-means is fitted anew for every budget, so that fewer pairs have to do.
MOST_PAIRS = 20
DECILES = 10
RANDOM, DIFFUSE, MAX_NORM, INPUTS = "random", "DiffUse", "max_norm", "inputs"
# By character n-grams, and by the paper's own encoder.
ENCODERS = {"": TFIDF, ", MiniLM": EMBEDDING}
MINILM = f"{DIFFUSE}, MiniLM"
# How clusters are made and who stands for each; DiffUse is Ward's linkage and the nearest by cosine.
CLUSTERED: Mapping[str, tuple[Literal["ward", "cosine", "kmeans"], Representative]] = {
    DIFFUSE: ("ward", "cosine"),
    "cosine linkage": ("cosine", "cosine"),
    "k-means": ("kmeans", "cosine"),
    "random of a cluster": ("ward", "random"),
    "nearest, Euclidean": ("ward", "euclidean"),
    "largest norm": ("ward", "norm"),
}
_PICTURE = "The paper has a picture without numbers."


@dataclass(frozen=True, eq=False)
class Pair:
    """The items of a subsample as one pair of models sees them, by every encoder.

    Attributes:
        vectors: Their difference vectors, by what the encoder adds to a method's name.
        keys: Their random keys.
        seed: The seed of the run.
        inputs: The linkage of their sources and the vectors of these, where there are any.
    """

    vectors: Mapping[str, Floats]
    keys: rng.Keys
    seed: int
    inputs: Mapping[str, tuple[Linkage, Floats]]

    def choices(self) -> dict[str, Callable[[int], Ints]]:
        """Return every way to choose a number of items."""
        order = rng.stream(self.keys, self.seed, "random order").argsort(kind="stable")
        found: dict[str, Callable[[int], Ints]] = {RANDOM: partial(_first, order)}
        for encoder, vectors in self.vectors.items():
            trees = {"ward": ward_linkage(vectors), "cosine": cosine_linkage(unit_rows(vectors))}
            for name, (kind, how) in CLUSTERED.items():
                found[f"{name}{encoder}"] = partial(self._by_clusters, vectors, trees.get(kind), how)
            norms = np.linalg.norm(vectors, axis=1)
            found[f"{MAX_NORM}{encoder}"] = partial(_first, rng.order(norms, self.keys, self.seed))
        for encoder, (tree, vectors) in self.inputs.items():
            # Other vectors, cut and represented as DiffUse's own.
            found[f"{INPUTS}{encoder}"] = partial(self._by_clusters, vectors, tree, "cosine")
        return found

    def _by_clusters(self, vectors: Floats, tree: Linkage | None, how: Representative, count: int) -> Ints:
        """Return who stands for so many clusters: those of a tree, or of k-means."""
        generator = rng.generator(self.seed, "diffuse")
        labels = kmeans(vectors, count, generator) if tree is None else tree.cut(count)
        return represent(vectors, labels, count, how, self.keys, self.seed)[0]


def _first(order: Ints, count: int) -> Ints:
    return order[:count]


def figures(work: Work) -> Figures:
    """Compute every variant on every set, by the human scores and by every metric."""
    sets = []
    for source in sources(work):
        data = work.load(source.file)
        seeds = range(work.effort.seeds)
        found: Figures = reduce(added, work.each(partial(_seed_figures, work, source), seeds))
        pairs = len(drawn_pairs(data.models, MOST_PAIRS))
        about = {
            "file": source.file,
            "title": source.title,
            "items": round(SHARE * len(data)),
            "pairs": pairs,
        }
        sets.append({**about, "of_pairs": len(drawn_pairs(data.models, None)), **found})
    return {"seeds": work.effort.seeds, "sets": sets}


def _seed_figures(work: Work, source: Source, seed: int) -> Figures:
    key = {"what": "diffuse variants", "truth": source.truth, "pairs": MOST_PAIRS, "seed": seed}
    found: Figures = work.cell(source.file, key, lambda: run_seed(work, source, seed))
    return found


def run_seed(work: Work, source: Source, seed: int) -> Figures:
    """Return runs and hits of every variant, and the norms of what it chose, on an 80 % subsample."""
    data = work.load(source.file)
    embedded = {name: outputs(work, source.file, encoder).embedded for name, encoder in ENCODERS.items()}
    rows = subsample(data.keys, seed, SHARE)
    rows = rows[embedded[""].present[rows].all(axis=1)]
    known = np.stack([scores for _, scores in truths(data, source.truth, rows)])
    inputs = {}
    if data.sources is not None:
        for name, encoder in ENCODERS.items():
            asked = embed_sources(*embedded_set(work, source.file, encoder)).vectors[rows]
            inputs[name] = ward_linkage(asked), asked
    found: Figures = {"variants": {}}
    for one, other in drawn_pairs(data.models, MOST_PAIRS):
        places, both = (rows[:, None], np.array([one, other])), np.ones((len(rows), 2), bool)
        vectors = {name: stacked_differences(by.vectors[places], both) for name, by in embedded.items()}
        pair = Pair(vectors, data.keys[rows], seed, inputs)
        found = added(
            found, {"variants": _pair_figures(pair, np.sign(known[:, :, one] - known[:, :, other]))}
        )
    return found


def _pair_figures(pair: Pair, outcomes: Floats) -> Figures:
    """Return hits by the human scores and by the metrics at every budget, and the deciles of the norms."""
    norms = np.linalg.norm(pair.vectors[""], axis=1)
    decile = DECILES * rng.order(-norms, pair.keys, pair.seed).argsort() // len(norms)
    margins = np.sign(outcomes.mean(axis=1))
    decided = margins != 0.0
    budgets = [budget for budget in BUDGETS if budget < len(norms)]
    found = {}
    for name, choose in pair.choices().items():
        picked = [choose(budget) for budget in budgets]
        named = np.stack([np.sign(outcomes[:, rows].mean(axis=1)) == margins for rows in picked])
        hits = np.where(decided, named, False).astype(np.float64)
        fill = [0.0] * (len(BUDGETS) - len(budgets))
        chosen = np.concatenate(picked)
        found[name] = {
            "human": [*hits[:, 0].tolist(), *fill],
            "human_runs": float(decided[0]),
            "metrics": [*hits[:, 1:].sum(axis=1).tolist(), *fill],
            "metric_runs": float(decided[1:].sum()),
            "deciles": np.bincount(decile[chosen], minlength=DECILES).tolist(),
            "norms": float(norms[chosen].sum()),
            "all_norms": float(norms.mean()),
            "pairs": 1,
        }
    return found


def variant_table(sets: Sequence[Figures], names: Sequence[str]) -> str:
    """Return the success rates of some variants, at every budget that leaves items out."""
    rows = []
    for data_set in sets:
        for name in names:
            if name not in data_set["variants"]:
                continue
            found = data_set["variants"][name]
            rate = np.array(found["human"]) / max(found["human_runs"], 1.0)
            inside = [budget < data_set["items"] for budget in BUDGETS]
            cells = [
                f"{100 * value:.1f}" if is_in else "–" for value, is_in in zip(rate, inside, strict=True)
            ]
            by_metrics = np.array(found["metrics"]) / max(found["metric_runs"], 1.0)
            means = [f"{100 * values[inside].mean():.1f}" for values in (rate, by_metrics)]
            rows.append([data_set["title"], name, *cells, *means])
    heads = [*(f"at {budget}" for budget in BUDGETS), "mean", "mean, metrics"]
    return table(["set", "method", *heads], rows, texts=2)


def _text(names: Sequence[str], why: str, computed: Figures) -> str:
    return "\n\n".join(
        [
            variant_table(computed["sets"], names),
            "How often the winner of a pair is found, in percent, by human scores; the last column with "
            "every metric as the oracle. Outputs and inputs are embedded by character n-grams, and by "
            "MiniLM. With so few pairs, a few points of difference are chance. "
            f"{runs_text(computed)}",
            f"{_PICTURE} {why}",
        ]
    )


def text_of_norms(computed: Figures) -> str:
    """Return Fig. 9 as numbers: in which tenth of all norms the chosen items lie."""
    rows = []
    for one in computed["sets"]:
        for name in (RANDOM, DIFFUSE, MINILM):
            found = one["variants"][name]
            counts = np.array(found["deciles"])
            means = found["norms"] / counts.sum(), found["all_norms"] / found["pairs"]
            rows.append(
                [
                    one["title"],
                    name,
                    *(f"{100 * share:.0f}" for share in counts / counts.sum()),
                    *(f"{mean:.3f}" for mean in means),
                ]
            )
    heads = [f"{place}." for place in range(1, DECILES + 1)]
    return "\n\n".join(
        [
            table(["set", "method", *heads, "mean norm", "of all"], rows, texts=2),
            "Percent of the chosen items in each tenth of all items by the norm of their difference "
            f"vectors, smallest norms first; all budgets together. {runs_text(computed)}",
            f"{_PICTURE} It shows that DiffUse prefers large norms on NarrativeQA. So it does on every set "
            "here: it takes several times as many items as random from the last tenth, and next to none "
            "from the first. `python -m benchmarks.analyses norms --data FILE --pair A B -m diffuse "
            "-m random -b 15% --out norms.svg` draws it for a pair.",
        ]
    )


def _by_both(*names: str) -> tuple[str, ...]:
    """Return random, and methods by every encoder."""
    return (RANDOM, *(f"{name}{encoder}" for name in names for encoder in ENCODERS))


_CLUSTERS = _by_both(DIFFUSE, "cosine linkage", "k-means")
_REPRESENTATIVES = _by_both(DIFFUSE, "random of a cluster", "nearest, Euclidean", "largest norm")
_TITLE = "Ashury Tahan et al. 2024, {}: {}"
FIG9 = PaperTable(
    "s4-fig9", _TITLE.format("Fig. 9", "the norms of the chosen items"), FILES, figures, text_of_norms
)
FIG12 = PaperTable(
    "s4-fig12",
    _TITLE.format("Fig. 12", "other ways to cluster"),
    FILES,
    figures,
    partial(
        _text,
        _CLUSTERS,
        "It has all three close together and above random. Here k-means is close to Ward's linkage; average "
        "linkage by cosine is behind both, and behind random on most translations.",
    ),
)
FIG13 = PaperTable(
    "s4-fig13",
    _TITLE.format("Fig. 13", "other representatives of a cluster"),
    FILES,
    figures,
    partial(
        _text,
        _REPRESENTATIVES,
        "It finds that the choice hardly matters. So it is here: none is ahead on most sets.",
    ),
)
FIG14 = PaperTable(
    "s4-fig14",
    _TITLE.format("Fig. 14", "clusters of the inputs"),
    FILES,
    figures,
    partial(
        _text,
        _by_both(DIFFUSE, INPUTS),
        "It finds that clusters of inputs are not reliably better than random. So it is here: ahead on some "
        "sets, behind on others.",
    ),
)
FIG16 = PaperTable(
    "s4-fig16",
    _TITLE.format("Fig. 16", "the largest norms without clusters"),
    FILES,
    figures,
    partial(
        _text,
        _by_both(DIFFUSE, MAX_NORM),
        "It finds that the largest norms help on some sets and hurt on others. So it is here, and they are "
        "seldom far from DiffUse: much of what its clusters do is to prefer large norms.",
    ),
)
