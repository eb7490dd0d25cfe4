from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage

import sparingly
from benchmarks.analyses.clusters import cluster_norms
from benchmarks.analyses.pairs import of_pair, outputs_of
from sparingly.base.errors import UsageError
from sparingly.data.synthetic import load_invented
from tests.benchmarks.analyses.made import ON_CIRCLE, chord, on_circle

PAIR = ("Juniper", "Rowan")


def test_two_clusters_by_hand() -> None:
    angles = [0.0, 0.01, 0.02, 0.03, 1.5, 1.6]
    data = on_circle([[0.0, angle] for angle in angles] + [[0.0, None]])
    found = cluster_norms(data, [2, 99], embedding=ON_CIRCLE)
    near, far = found.clusters
    assert (near.items, far.items) == (4, 2)
    assert (near.share, far.share) == pytest.approx((4 / 6, 2 / 6))
    assert near.norm == pytest.approx(np.mean([chord(angle) for angle in angles[:4]]))
    assert far.norm == pytest.approx(np.mean([chord(1.5), chord(1.6)]))
    assert (found.counts, found.pairs) == ((2,), 1)
    assert found.largest == pytest.approx((4 / 6,))


def test_sizes_are_those_of_diffuse_and_of_scipy() -> None:
    data = load_invented()
    found = cluster_norms(data, [25], pair=PAIR)
    view = of_pair(data, PAIR)
    chosen = sparingly.select(view, "diffuse:weighted=true", 25)
    assert chosen.cluster_weight is not None
    sizes = sorted(one.items for one in found.clusters)
    assert sizes == sorted(chosen.cluster_weight.tolist())
    vectors = outputs_of(view, "tfidf").differences(0, 1)
    labels = fcluster(linkage(vectors, "ward"), 25, "maxclust")
    assert sizes == sorted(Counter(labels.tolist()).values())


def test_every_cut_holds_every_item_once() -> None:
    found = cluster_norms(load_invented(), [5, 20], most=None)
    shares = Counter[tuple[str, str, int]]()
    for one in found.clusters:
        shares[one.first, one.second, one.clusters] += one.items
    assert len(shares) == 2 * 28
    assert set(shares.values()) == {240}
    assert found.notes == ()
    by_count = [max(one.share for one in found.clusters if one.clusters == count) for count in (5, 20)]
    assert all(mean <= largest for mean, largest in zip(found.largest, by_count, strict=True))


def test_pairs_and_clusters_are_thinned_with_a_note() -> None:
    data = load_invented()
    found = cluster_norms(data, [20], most_pairs=3, most=7, seed=2)
    assert (found.pairs, len(found.clusters)) == (3, 7)
    assert found.notes == (
        "Shown: 3 of 28 pairs of models, drawn at random.",
        "Shown: 7 of 60 clusters, drawn at random.",
    )
    assert cluster_norms(data, [20], most_pairs=3, most=7, seed=2) == found
    assert cluster_norms(data, [20], most_pairs=3, most=7, seed=3) != found


def test_average_linkage_by_cosine_looks_at_directions() -> None:
    # Two items differ in one direction, little and much; two in the other one.
    angles = [[0.0, 0.1], [0.0, 0.2], [0.0, -0.1], [0.0, -0.2]]
    found = cluster_norms(on_circle(angles), [2], embedding=ON_CIRCLE, linkage="cosine")
    assert [one.items for one in found.clusters] == [2, 2]
    assert {round(one.norm, 9) for one in found.clusters} == {round((chord(0.1) + chord(0.2)) / 2, 9)}


def test_what_cannot_be_asked() -> None:
    data = on_circle([[0.0, 1.0], [0.0, 0.5], [0.0, None], [0.0, None]])
    for counts in ([0], [4], []):
        with pytest.raises(UsageError, match="lie between 1 and 3, not"):
            cluster_norms(data, counts, embedding=ON_CIRCLE)
    with pytest.raises(UsageError, match="No pair of models has more than 3 items"):
        cluster_norms(data, [3], embedding=ON_CIRCLE)
