"""Figs 2, 7, 8, 10 and 15: how close models are, how their outputs differ, and what differences tell."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from benchmarks.analyses.clusters import Cluster, cluster_norms
from benchmarks.analyses.difference_map import difference_map
from benchmarks.analyses.distances import winning_distances
from benchmarks.analyses.success import success_by_norm
from benchmarks.minilm import EMBEDDING
from benchmarks.pages import table
from benchmarks.papers.ashury.sets import (
    FILES,
    SUMMEVAL,
    TFIDF,
    Figures,
    Source,
    drawn_pairs,
    embedded_set,
    sources,
)
from benchmarks.papers.catalogue import PaperTable
from benchmarks.papers.work import Work, rounded
from sparingly.base.stats.correlation import spearman

EDGES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
RINGS = (0.0, 0.25, 0.5, 0.75, 1.0)
BINS = 10
COUNTS = (10, 25, 50, 100)
_ONE_COUNT = 50
# Character n-grams, and the paper's own encoder.
_EMBEDDINGS = {TFIDF: "", EMBEDDING: ", by MiniLM"}
_PICTURE = "The paper has a picture without numbers."


def distance_figures(work: Work) -> Figures:
    """Compute the winning distances of all pairs of models of every set."""
    sets = []
    for source in sources(work):
        found = winning_distances(work.load(source.file), truth=source.truth)
        distances = np.array([pair.distance for pair in found.pairs])
        counts = np.histogram(distances, EDGES)[0]
        about = {"file": source.file, "title": source.title, "pairs": len(distances)}
        sets.append(
            {**about, "counts": counts.tolist(), "median": rounded(found.median), "mean": rounded(found.mean)}
        )
    return {"sets": sets, "figure": _drawn("distances", sources(work)[-1], "--truth {truth}")}


def text_of_distances(computed: Figures) -> str:
    """Return Fig. 2 as numbers."""
    rows = []
    for one in computed["sets"]:
        shares = [f"{100 * count / one['pairs']:.0f}" for count in one["counts"]]
        rows.append([one["title"], str(one["pairs"]), *shares, f"{one['median']:.2f}", f"{one['mean']:.2f}"])
    heads = [f"{low:g}–{high:g}" for low, high in pairwise(EDGES)]
    return "\n\n".join(
        [
            table(["set", "pairs", *heads, "median", "mean"], rows),
            "Percent of the pairs of models by their winning distance |P_A − P_B|, human (or judge's) "
            "scores.",
            f"{_PICTURE} Its Table 2 has mean distances of 0.15 to 0.31; pairs here are as close on WMT23, "
            "and further apart on AlpacaEval and SummEval.",
            _draw(computed),
        ]
    )


def map_figures(work: Work) -> Figures:
    """Compute the maps of the difference vectors of one pair, drawn by its names."""
    source = sources(work, (SUMMEVAL,))[0]
    data = work.load(source.file)
    first, second = (data.models[place] for place in drawn_pairs(data.models, 1)[0])
    options = f'--pair "{first}" "{second}" --truth {{truth}}'
    return {
        "title": source.title,
        "first": first,
        "second": second,
        "maps": [_map_of(work, source, (first, second), embedding) for embedding in _EMBEDDINGS],
        "figure": _drawn("map", source, options),
    }


def _map_of(work: Work, source: Source, pair: tuple[str, str], embedding: str) -> Figures:
    data, seen = embedded_set(work, source.file, embedding)
    found = difference_map(data, pair, truth=source.truth, embedding=seen, most=None)
    norms = np.array([point.norm for point in found.points])
    ring = np.minimum(np.searchsorted(RINGS, norms / norms.max(), "right") - 1, len(RINGS) - 2)
    votes = np.array([point.preference for point in found.points])
    rings = [
        {
            "items": int((ring == place).sum()),
            **{name: int((votes[ring == place] == name).sum()) for name in ("first", "second", "tie")},
        }
        for place in range(len(RINGS) - 1)
    ]
    return {
        "embedding": embedding,
        "largest": rounded(float(norms.max())),
        "explained": rounded(found.explained),
        "rings": rings,
    }


def text_of_map(computed: Figures) -> str:
    """Return Fig. 7 as numbers: rings around the origin, and who is preferred in each."""
    first, second = computed["first"], computed["second"]
    heads = ["norm", "items", "% of all", f"{first} preferred, %", f"{second} preferred, %", "tie, %"]
    tables = [
        f"By {'MiniLM' if one['embedding'] == EMBEDDING else 'character n-grams'}:\n\n"
        f"{table(heads, _rings_of(one))}"
        for one in computed["maps"]
    ]
    return "\n\n".join(
        [
            *tables,
            f"{computed['title']}, {first} against {second}: items by the norm of their difference vectors, "
            "in four rings of equal width.",
            f"{_PICTURE} It has a t-SNE plane for a pair on XSum, most vectors near the origin and few far "
            "out; a distance from the middle on such a plane means little, so ours are the norms "
            "themselves. By n-grams the rings here are full further out: summaries of different models "
            "hardly ever share all their character n-grams.",
            _draw(computed),
        ]
    )


def _rings_of(one: Figures) -> list[list[str]]:
    total = sum(ring["items"] for ring in one["rings"])
    rows = []
    for low, high, ring in zip(RINGS[:-1], RINGS[1:], one["rings"], strict=True):
        bounds = f"{low * one['largest']:.2f}–{high * one['largest']:.2f}"
        shares = [_percent(ring[name], ring["items"]) for name in ("first", "second", "tie")]
        rows.append([bounds, str(ring["items"]), _percent(ring["items"], total), *shares])
    return rows


def cluster_figures(work: Work) -> Figures:
    """Compute size and mean norm of the clusters of all pairs, for several numbers of clusters."""
    sets = []
    for source in sources(work):
        for embedding, title in _EMBEDDINGS.items():
            key = {"what": "cluster norms", "counts": COUNTS, "embedding": embedding}
            found = work.cell(source.file, key, partial(_clusters_of, work, source, embedding))
            sets.append({"file": source.file, "title": f"{source.title}{title}", **found})
    return {"sets": sets, "figure": _drawn("clusters", sources(work)[-1], "--clusters 25 --clusters 50")}


def _clusters_of(work: Work, source: Source, embedding: str) -> Figures:
    data, seen = embedded_set(work, source.file, embedding)
    found = cluster_norms(data, COUNTS, embedding=seen, most=None)
    counts = {
        str(count): _cluster_figures([cluster for cluster in found.clusters if cluster.clusters == count])
        for count in found.counts
    }
    return {"items": found.items, "pairs": found.pairs, "counts": counts}


def _cluster_figures(clusters: Sequence[Cluster]) -> Figures:
    share, norm = (np.array([getattr(cluster, name) for cluster in clusters]) for name in ("share", "norm"))
    large = share >= 0.1
    names = [(cluster.first, cluster.second) for cluster in clusters]
    largest = {
        pair: max(s for s, p in zip(share.tolist(), names, strict=True) if p == pair) for pair in set(names)
    }
    return {
        "largest": rounded(float(np.mean(list(largest.values())))),
        "single": rounded(float(np.mean([cluster.items == 1 for cluster in clusters]))),
        "norm_large": rounded(float(norm[large].mean())) if large.any() else None,
        "norm_small": rounded(float(norm[~large].mean())) if not large.all() else None,
        "rank_correlation": rounded(spearman(share, norm)),
    }


def _cluster_table(computed: Figures, counts: Sequence[int]) -> str:
    rows = []
    for one in computed["sets"]:
        for count in counts:
            found = one["counts"].get(str(count))
            if found is None:
                continue
            norms = [
                "–" if found[name] is None else f"{found[name]:.2f}" for name in ("norm_large", "norm_small")
            ]
            shares = [f"{100 * found[name]:.0f}" for name in ("largest", "single")]
            where = [one["title"], str(count), str(one["pairs"])]
            rows.append([*where, *shares, *norms, f"{found['rank_correlation']:.2f}".replace("-", "−")])
    heads = [
        "largest cluster, % of items",
        "single items, % of clusters",
        "norm in clusters of a tenth or more",
    ]
    return table(
        ["set", "clusters", "pairs", *heads, "in smaller ones", "rank correlation, size and norm"], rows
    )


def text_of_fifty_clusters(computed: Figures) -> str:
    """Return Fig. 8 as numbers."""
    return _cluster_text(computed, (_ONE_COUNT,))


def text_of_clusters(computed: Figures) -> str:
    """Return Fig. 15 as numbers."""
    return _cluster_text(computed, COUNTS)


def _cluster_text(computed: Figures, counts: Sequence[int]) -> str:
    return "\n\n".join(
        [
            _cluster_table(computed, counts),
            "Ward's clusters of the difference vectors of every pair of models (of so many pairs, drawn by "
            "their names, where there are more).",
            f"{_PICTURE} It shows a few large clusters of small norms and many small ones of large norms on "
            "XSum, often with half of the items in one. The larger a cluster, the smaller its norms: that "
            "is so on all sets here. The largest cluster is larger where outputs are often nearly alike, as "
            "translations are, than where they are long answers.",
            _draw(computed),
        ]
    )


def success_figures(work: Work) -> Figures:
    """Compute how well items of small and of large norm name the winner, on every set."""
    sets = []
    for source in sources(work):
        for embedding, title in _EMBEDDINGS.items():
            key = {"what": "success by norm", "truth": source.truth, "bins": BINS, "embedding": embedding}
            found = work.cell(source.file, key, partial(_success_of, work, source, embedding))
            sets.append({"file": source.file, "title": f"{source.title}{title}", **found})
    return {"sets": sets, "figure": _drawn("success", sources(work)[-1], "--truth {truth}")}


def _success_of(work: Work, source: Source, embedding: str) -> Figures:
    data, seen = embedded_set(work, source.file, embedding)
    return success_by_norm(data, truth=source.truth, embedding=seen, bins=BINS).to_dict()


def text_of_success(computed: Figures) -> str:
    """Return Fig. 10 as numbers."""
    rows = []
    for one in computed["sets"]:
        named = [f"{100 * each['success']:.0f}" for each in one["bins"]]
        preferred = [f"{100 * each['winner']:.0f}" for each in one["bins"]]
        rows.append([one["title"], "winner named", *named, f"{100 * one['random']:.0f}"])
        rows.append(["", "winner preferred", *preferred, "–"])
    heads = [f"{place}." for place in range(1, BINS + 1)]
    return "\n\n".join(
        [
            table(["set", "percent", *heads, "random bins"], rows, texts=2),
            "The items of every pair of models in ten bins of equal count, smallest norms first: for how "
            "many pairs the items of a bin alone name the winner, and how many of its items prefer the "
            "winner.",
            f"{_PICTURE} It has 50 bins on NarrativeQA, where success rises with the norm from near chance "
            "to nearly 1. Here the smallest norms alone are worse than the rest (two outputs that are "
            "nearly the same are often a tie), and beyond them success is flat, or falls again as on "
            "AlpacaEval: large differences are often differences of wording, and DiffUse has less to gain.",
            _draw(computed),
        ]
    )


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f}" if whole else "–"


def _drawn(kind: str, source: Source, options: str) -> Figures:
    """Return which picture of the package shows the same, and the command that draws it for a set."""
    file = f"{source.file}.jsonl.gz"
    given = options.format(truth=source.truth)
    return {
        "kind": kind,
        "set": source.file,
        "command": f"python -m benchmarks.analyses {kind} --data {file} {given} --out {kind}.svg",
    }


def _draw(computed: Figures) -> str:
    return f"To draw it: `{computed['figure']['command']}`."


_TITLE = "Ashury Tahan et al. 2024, {}: {}"
FIG2 = PaperTable(
    "s4-fig2",
    _TITLE.format("Fig. 2", "the winning distances between pairs of models"),
    FILES,
    distance_figures,
    text_of_distances,
)
FIG7 = PaperTable(
    "s4-fig7",
    _TITLE.format("Fig. 7", "the difference vectors of a pair of models"),
    (SUMMEVAL.file,),
    map_figures,
    text_of_map,
)
FIG8 = PaperTable(
    "s4-fig8",
    _TITLE.format("Fig. 8", "the size of 50 clusters against the norms inside"),
    FILES,
    cluster_figures,
    text_of_fifty_clusters,
)
FIG10 = PaperTable(
    "s4-fig10",
    _TITLE.format("Fig. 10", "whether large differences name the winner"),
    FILES,
    success_figures,
    text_of_success,
)
FIG15 = PaperTable(
    "s4-fig15",
    _TITLE.format("Fig. 15", "the size of clusters against the norms inside, for several numbers"),
    FILES,
    cluster_figures,
    text_of_clusters,
)
