"""Draws spread out over embeddings: the same whatever the parts were, and evenly over what there is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparingly.base.errors import UsageError
from sparingly.choose.pool.candidates import assign_leaves, build_tree, nearest_leaves, read_frame
from sparingly.choose.pool.score import score_pool
from sparingly.choose.pool.scored_pool import ScoredPool
from sparingly.choose.pool.select import PoolSelection, select_pool
from sparingly.data.selection import Selection
from sparingly.run.verify import verify_pool
from tests.choose.pool.pool_data import some_records, write_pool

KINDS = {
    "en": "the river and the stone",
    "de": "der Fluss und das Haus",
    "ru": "река и дом",
    "el": "το σπίτι",
}
SHARES = (120, 60, 40, 20)
RECORDS = [
    {"id": f"s{place}-{name}", "text": f"{words} {place * 7919 % 1000}", "kind": name}
    for (name, words), count in zip(KINDS.items(), SHARES, strict=True)
    for place in range(count)
]
ASKED: list[dict[str, Any]] = [
    {"budget": 24, "design": "uniform", "spread": "embedding", "clusters": 16},
    {"budget": 12, "design": "systematic", "spread": "embedding", "groups": "kind", "quota": "share"},
    {"budget": 12, "design": "pivotal", "groups": "embedding", "bands": 4, "cosine": 0.9},
    {"budget": 6, "design": "top", "cosine": 0.8, "anchors": ["s1-de"], "never": ["s2-en"]},
]


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> ScoredPool:
    folder = tmp_path_factory.mktemp("pool")
    return score_pool(write_pool(folder, [("jsonl", RECORDS)]), folder / "scored", embed="hashed")


@pytest.fixture(scope="module")
def otherwise(tmp_path_factory: pytest.TempPathFactory) -> ScoredPool:
    """The same sources in another order, in other files, parts and batches."""
    folder = tmp_path_factory.mktemp("pool")
    shuffled = [RECORDS[place] for place in np.random.default_rng(7).permutation(len(RECORDS))]
    shards = [("csv", shuffled[:90]), ("jsonl.gz", shuffled[90:100]), ("parquet", shuffled[100:])]
    work: dict[str, Any] = {"rows": 13, "batch": 5, "stretch": 700}
    return score_pool(write_pool(folder, shards), folder / "scored", embed="hashed", **work)


def kinds_of(chosen: PoolSelection) -> dict[str, int]:
    kinds = [item.rpartition("-")[2] for item in chosen.selection.items]
    return {name: kinds.count(name) for name in KINDS}


@pytest.mark.parametrize("asked", ASKED, ids=[one["design"] for one in ASKED])
def test_the_selection_depends_on_the_sources_alone(
    pool: ScoredPool, otherwise: ScoredPool, asked: dict[str, Any]
) -> None:
    one, other = select_pool(pool, **asked), select_pool(otherwise, **asked)
    assert one.selection.items.tolist() == other.selection.items.tolist()
    assert one.removed == other.removed
    assert one.selection.signature.method == other.selection.signature.method
    if one.selection.probability is not None:
        np.testing.assert_array_equal(one.selection.probability, other.selection.probability)
    for held in (pool, otherwise):
        assert verify_pool(Selection.from_dict(one.selection.to_dict()), held).ok


def test_every_kind_gets_its_share(pool: ScoredPool) -> None:
    """Kinds lie apart, so that a spread draw takes a tenth of each, where others take it on average."""
    for seed in range(5):
        chosen = select_pool(pool, 24, design="uniform", spread="embedding", seed=seed)
        assert kinds_of(chosen) == pytest.approx({"en": 12, "de": 6, "ru": 4, "el": 2}, abs=1.01)
        assert chosen.selection.probability == pytest.approx(0.1)
    plain = [kinds_of(select_pool(pool, 24, design="uniform", seed=seed))["en"] for seed in range(5)]
    assert max(abs(count - 12) for count in plain) > 1


def test_clusters_can_be_groups(pool: ScoredPool) -> None:
    chosen = select_pool(pool, 12, design="uniform", groups="embedding", bands=4)
    assert kinds_of(chosen) == dict.fromkeys(KINDS, 3)
    names = {row.stratum for row in chosen.selection}
    assert names == {f"embedding {place}" for place in range(1, 5)}


def test_copies_in_space_go(pool: ScoredPool) -> None:
    """One source of every kind stays; where that is one that is never chosen, its copies have gone, too."""
    chosen = select_pool(pool, 3, design="uniform", cosine=0.6, never=["s2-el"])
    assert kinds_of(chosen) == {"en": 1, "de": 1, "ru": 1, "el": 0}
    assert {name: count for name, count in chosen.removed.items() if count} == {
        "near_embedding": len(RECORDS) - 4,
        "never": 1,
    }
    assert select_pool(pool, 3, design="uniform", cosine=0.6, jobs=2).removed["near_embedding"] == 236
    strict = select_pool(pool, 4, design="uniform", cosine=1.0)
    assert strict.removed["near_embedding"] == 0


def test_leaves_are_near_what_they_hold() -> None:
    generator = np.random.default_rng(1)
    angles = np.sort(generator.uniform(0, np.pi, 500))
    points = np.column_stack([np.cos(angles), np.sin(angles)]).astype(np.float16)
    tree = build_tree(points.astype(float), 25)
    leaves = nearest_leaves(points, tree)
    assert 20 <= len(np.unique(leaves)) <= 30
    # On an arc the path goes from one end to the other, so that leaves follow the angle.
    steps = np.diff(leaves)
    assert (np.abs(steps) <= 1).mean() > 0.97
    cut = np.concatenate([nearest_leaves(points[:7], tree), nearest_leaves(points[7:], tree)])
    np.testing.assert_array_equal(leaves, cut)


def test_few_sources_have_few_leaves(tmp_path: Path) -> None:
    paths = write_pool(tmp_path, [("jsonl", some_records(3))])
    held = score_pool(paths, tmp_path / "scored", embed="hashed")
    frame, _ = read_frame(held)
    assert sorted(assign_leaves(held, frame, 1024).tolist()) == [0, 1, 2]
    assert len(select_pool(held, 3, design="uniform", spread="embedding")) == 3


def test_what_cannot_be_spread_is_refused(pool: ScoredPool, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="spread draw is uniform, pivotal or systematic"):
        select_pool(pool, 5, design="top", spread="embedding")
    with pytest.raises(UsageError, match="leave out the order, and the spread"):
        select_pool(pool, "cost:500", design="uniform", spread="embedding", cost="length")
    with pytest.raises(UsageError, match="2 clusters or more, not 1"):
        select_pool(pool, 5, design="uniform", spread="embedding", clusters=1)
    with pytest.raises(UsageError, match="cosine is a share above 0 and at most 1, not 2"):
        select_pool(pool, 5, design="uniform", cosine=2)
    bare = score_pool(write_pool(tmp_path, [("jsonl", RECORDS)]), tmp_path / "scored")
    wishes: list[dict[str, Any]] = [{"spread": "embedding"}, {"cosine": 0.9}, {"groups": "embedding"}]
    for asked in wishes:
        with pytest.raises(UsageError, match=r'no embeddings\. Score it with embed="hashed"'):
            select_pool(bare, 8, design="uniform", **asked)
    chosen = select_pool(pool, 5, design="uniform", cosine=0.9).selection
    assert "scored with embedding=None" in verify_pool(chosen, bare).problems[0]
