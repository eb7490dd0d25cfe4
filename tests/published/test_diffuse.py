from __future__ import annotations

from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster
from scipy.cluster.hierarchy import linkage as scipy_linkage

import sparingly
from sparingly.base.arrays import Floats
from sparingly.base.errors import DataError, UnknownNameError
from sparingly.base.rng import Keys
from sparingly.choose.select import as_selector, select
from sparingly.data.evalset import EvalSet
from sparingly.data.synthetic import load_invented
from sparingly.published import diffuse as module
from sparingly.published.linkage import Distance, Linkage, linkage_of
from sparingly.signals.embed import embed_outputs
from sparingly.signals.embed.differences import filled_distances


@cache
def demo() -> EvalSet:
    return load_invented()


def fresh() -> EvalSet:
    """The demo set, as if nothing had been computed from it yet."""
    return demo().with_column("fresh", [0] * len(demo()))


def two_models(count: int = 60) -> EvalSet:
    """Two models whose outputs differ in one of four ways; half of the items do not differ at all."""
    ways = ["", "", "", "", " yes indeed", " никогда больше", " 从来没有人"]
    texts = [(f"text number {place}", f"text number {place}{ways[place % 7]}") for place in range(count)]
    return EvalSet.from_arrays([f"item {place:03d}" for place in range(count)], ["a", "b"], outputs=texts)


def test_two_models_are_clustered_by_their_difference_vectors() -> None:
    data = demo().take(models=demo().models[:2])
    vectors, _ = embed_outputs(data)
    plain = vectors[:, 0] - vectors[:, 1]
    for count in (2, 5, 20):
        chosen = select(data, "diffuse:weighted=true", count)
        known = fcluster(scipy_linkage(plain, "ward"), count, "maxclust")
        rows = data.positions(chosen.items)
        assert sorted(known[rows].tolist()) == list(range(1, count + 1)), "one of every cluster"
        assert chosen.cluster_weight is not None
        assert chosen.cluster_weight.tolist() == [(known == known[row]).sum() for row in rows]
        for row in rows:
            inside = np.flatnonzero(known == known[row])
            centre = plain[inside].mean(axis=0)
            lengths = np.linalg.norm(plain, axis=1) * np.linalg.norm(centre)
            cosines = np.divide(plain @ centre, lengths, out=np.zeros(len(plain)), where=lengths > 0)
            assert cosines[row] >= cosines[inside].max() - 1e-6


def test_ways_to_differ_are_all_there() -> None:
    data = two_models()
    chosen = select(data, "diffuse", 4)
    ways = [data.positions([name])[0] % 7 for name in chosen.items]
    assert sorted(min(way, 6) if way > 3 else 0 for way in ways) == [0, 4, 5, 6]
    assert select(data, "max_norm", 4).items.tolist() != chosen.items.tolist()


@pytest.mark.parametrize("pairs", ["distance", "concat", "mean"])
def test_many_models_are_clustered_by_all_pairs(pairs: str) -> None:
    data = demo()
    vectors, _ = embed_outputs(data)
    first, second = np.triu_indices(len(data.models), 1)
    gaps = vectors[:, first] - vectors[:, second]
    laid_out = {
        "distance": np.linalg.norm(gaps, axis=2),
        "concat": gaps.reshape(len(data), -1),
        "mean": gaps.mean(axis=1),
    }[pairs]
    chosen = select(data, f"diffuse:pairs={pairs}", 15)
    known = fcluster(scipy_linkage(laid_out, "ward"), 15, "maxclust")
    assert sorted(known[data.positions(chosen.items)].tolist()) == list(range(1, 16))


def test_vectors_are_settled_by_the_number_of_models() -> None:
    data = demo()
    assert "pairs=distance" in select(data, "diffuse", 5).signature.method
    assert "pairs=concat" in select(data.take(models=data.models[:2]), "diffuse", 5).signature.method
    two = select(data, f'diffuse:models=["{data.models[0]}","{data.models[1]}"]', 5)
    assert "pairs=concat" in two.signature.method
    assert two.items.tolist() == select(data.take(models=data.models[:2]), "diffuse", 5).items.tolist()


def test_cosine_linkage_is_scipys() -> None:
    data = demo().take(models=demo().models[:2])
    vectors, _ = embed_outputs(data)
    plain = vectors[:, 0] - vectors[:, 1]
    keep = np.linalg.norm(plain, axis=1) > 0
    data, plain = data.at(keep), plain[keep]
    # Fitted anew on fewer texts the vectors would be others, so they are handed over.
    cells = np.empty(data.shape, object)
    for row, column in np.ndindex(*data.shape):
        cells[row, column] = vectors[keep][row, column].tolist()
    data = EvalSet.from_arrays(list(data.items), data.models, cells={"v": cells})
    chosen = select(data, "diffuse:linkage=cosine,embedding=column:v", 12)
    known = fcluster(scipy_linkage(plain, "average", "cosine"), 12, "maxclust")
    assert sorted(known[data.positions(chosen.items)].tolist()) == list(range(1, 13))


def test_representatives_differ_where_they_should() -> None:
    data = demo()
    vectors, there = embed_outputs(data)
    norms = np.linalg.norm(filled_distances(vectors, there), axis=1)
    means = {
        how: norms[data.positions(select(data, f"diffuse:representative={how}", 12).items)].mean()
        for how in ("cosine", "euclidean", "norm", "random")
    }
    assert max(means, key=lambda how: means[how]) == "norm"
    draws = [set(select(data, "diffuse:representative=random", 12, seed=seed).items) for seed in (1, 2)]
    assert draws[0] != draws[1]


def test_one_linkage_serves_all_budgets(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def counted(points: Floats, keys: Keys, kind: Distance) -> Linkage:
        calls.append(1)
        return linkage_of(points, keys, kind)

    monkeypatch.setattr(module, "linkage_of", counted)
    data = fresh()
    swept = [select(data, "diffuse", count).items.tolist() for count in range(5, 60, 5)]
    assert len(calls) == 1
    select(data, "diffuse:representative=norm,weighted=true", 9)
    assert len(calls) == 1, "neither who represents nor weights change the tree"
    select(data, "diffuse", 9, never=[swept[0][0]])
    assert len(calls) == 2, "other candidates do"
    assert swept[0] == select(fresh(), "diffuse", 5).items.tolist()


def test_sources_can_be_clustered_instead() -> None:
    data = demo()
    chosen = select(data, "diffuse:features=source", 10)
    assert (
        select(data.only(["sources"]), "diffuse:features=source", 10).items.tolist() == chosen.items.tolist()
    )


def test_items_with_fewer_than_two_outputs_come_last() -> None:
    data = EvalSet.from_arrays(
        ["a", "b", "c", "d"],
        ["x", "y", "z"],
        outputs=[["one", "two", "six"], ["one", None, None], [None, "one", "ten"], [None, None, None]],
    )
    for pairs in ("distance", "concat", "mean"):
        chosen = select(data, f"diffuse:pairs={pairs}", 3)
        assert set(chosen.items[:2]) == {"a", "c"}
        assert chosen.notes[0] == "2 of 4 items have no vector to be clustered by and come last."


def test_many_items_are_clustered_in_two_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EXACT_ITEMS", 100)
    monkeypatch.setattr(module, "linkage_of", partial(linkage_of, exact=100, micro=60))
    staged = select(fresh(), "diffuse:weighted=true", 10)
    assert len(staged) == 10
    assert staged.cluster_weight is not None
    assert staged.cluster_weight.sum() == 240
    assert "small clusters first" in staged.notes[-1]


def test_wrong_use_is_named() -> None:
    data = demo()
    with pytest.raises(DataError, match="need two models"):
        select(data.take(models=data.models[:1]), "diffuse", 5)
    with pytest.raises(UnknownNameError, match='no model "nobody"'):
        select(data, "diffuse:models=[nobody]", 5)
    with pytest.raises(UnknownNameError, match='value of diffuse:pairs "all"'):
        as_selector("diffuse:pairs=all")


@pytest.mark.shared_data
def test_differences_beat_a_random_sample_on_translations(shared_data: Path) -> None:
    data = sparingly.load(shared_data / "wmt23_zhen.jsonl.gz")
    shares = (0.1, 0.2, 0.3, 0.4)
    compared = sparingly.curve(data, "diffuse", "mqm", shares=shares, runs=20, test="analytic")
    assert compared.curve.average > compared.random.average


@pytest.mark.parametrize("method", ["diffuse", "diffuse:linkage=kmeans", "diffuse:representative=norm"])
@pytest.mark.parametrize("texts", [(None, None), ("only one", None)])
def test_without_two_outputs_of_any_item_nothing_is_chosen(
    method: str, texts: tuple[str | None, str | None]
) -> None:
    data = EvalSet.from_arrays([f"item {place}" for place in range(9)], ["a", "b"], outputs=[texts] * 9)
    with pytest.raises(DataError, match="No item has outputs of two models"):
        select(data, method, 3)
