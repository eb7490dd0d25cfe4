from __future__ import annotations

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import DataError, MissingDataError, UnknownNameError, UsageError
from sparingly.choose.select import select
from sparingly.data.evalset import EvalSet
from sparingly.run.verify import Verification

TOPICS = ["bank money loan credit", "dog cat horse cow", "rain snow wind sun"]


def made(copies: tuple[int, ...] = (7, 4, 2)) -> EvalSet:
    """Sources about three topics; the outputs of one model are about them too, the other says the same."""
    sources = [
        f"{topic} {place}" for topic, many in zip(TOPICS, copies, strict=True) for place in range(many)
    ]
    return EvalSet.from_arrays(
        [f"item {place:02d}" for place in range(len(sources))],
        ["echo", "same"],
        sources=sources,
        outputs=[[source, "yes"] for source in sources],
    )


def topics(data: EvalSet, items: np.ndarray) -> list[str]:
    assert data.sources is not None
    return [data.sources[row].split()[0] for row in data.positions(items)]


@pytest.mark.parametrize("features", ["source", "output,model=echo", "output_mean"])
def test_every_topic_is_there_once(features: str) -> None:
    data = made()
    chosen = select(data, f"kmeans:features={features}", 3)
    assert sorted(topics(data, chosen.items)) == ["bank", "dog", "rain"]
    assert chosen.cluster_weight is None
    assert not chosen.is_probability_sample
    assert chosen.row(0).reason == "nearest to the centre of a cluster of 7 items"


def test_weights_are_the_sizes_of_the_clusters() -> None:
    data = made()
    chosen = select(data, "kmeans:weighted=true", 3)
    assert chosen.cluster_weight is not None
    sizes = dict(zip(topics(data, chosen.items), chosen.cluster_weight.tolist(), strict=True))
    assert sizes == {"bank": 7.0, "dog": 4.0, "rain": 2.0}
    assert chosen.cluster_weight.tolist() == [7.0, 4.0, 2.0], "largest first"
    assert chosen.row(0).cluster_weight == 7.0
    assert chosen.row(0).weight is None


def test_weights_are_used_by_agreement() -> None:
    sizes = (7, 4, 2)
    group = np.repeat(np.arange(3), sizes)
    # Equal inside of a topic: weighted by the sizes of the clusters, three items say what all do.
    scores = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.2]])[group]
    data = made(sizes).with_aspect("overall", scores)
    weighted = sparingly.agree(data, select(data, "kmeans:weighted=true", 3), "overall")
    plain = sparingly.agree(data, select(data, "kmeans", 3), "overall")
    assert [model.mean for model in weighted.models] == pytest.approx(
        [model.full_mean for model in weighted.models]
    )
    assert plain.models[0].mean != pytest.approx(plain.models[0].full_mean)
    assert sparingly.data.selection.RANKING_ONLY in weighted.notes


def test_one_output_is_drawn_for_every_item() -> None:
    data = made((30, 30, 30))
    assert data.outputs is not None
    first, second = (select(data, "kmeans:features=output", 10, seed=seed) for seed in (1, 2))
    assert set(first.items) != set(second.items)
    # Half of the items are drawn with the output that says the same everywhere: one large cluster.
    sizes = select(data, "kmeans:features=output,weighted=true", 4, seed=1).cluster_weight
    assert sizes is not None
    assert 30 <= sizes.max() <= 60


def test_items_without_texts_come_last() -> None:
    data = EvalSet.from_arrays(
        ["a", "b", "c"],
        ["x", "y"],
        sources=["one", None, "two"],
        outputs=[["u", None], [None, None], [None, "w"]],
    )
    assert set(select(data, "kmeans", 2).items) == {"a", "c"}
    assert set(select(data, "kmeans:features=output", 2).items) == {"a", "c"}
    assert select(data, "kmeans:features=output_mean", 3).items[-1] == "b"
    named = select(data, "kmeans:features=output,model=x", 2)
    assert named.items[0] == "a"
    assert named.notes == ("2 of 3 items have no vector to be clustered by and come last.",)


def test_wrong_use_is_named() -> None:
    data = made()
    with pytest.raises(UsageError, match="goes with features=output"):
        select(data, "kmeans:model=echo", 2)
    with pytest.raises(UnknownNameError, match=r'no model "ecko"\. Did you mean echo'):
        select(data, "kmeans:features=output,model=ecko", 2)
    with pytest.raises(MissingDataError, match="need sources"):
        select(data.only(["outputs"]), "kmeans", 2)


def test_vectors_may_come_from_a_column() -> None:
    vectors = [[1.0, 0.0]] * 5 + [[0.0, 1.0]] * 6 + [[-1.0, 0.0]] * 2
    data = made().with_column("minilm", vectors)
    chosen = select(data, "kmeans:embedding=column:minilm,weighted=true", 3)
    assert chosen.cluster_weight is not None
    assert chosen.cluster_weight.tolist() == [6.0, 5.0, 2.0]
    assert sparingly.verify(chosen, data) == Verification(())
    moved = made().with_column("minilm", vectors[::-1])
    assert sparingly.verify(chosen, moved) != Verification(())


def test_without_any_output_nothing_is_chosen() -> None:
    data = EvalSet.from_arrays(
        [f"item {place}" for place in range(9)], ["a", "b"], outputs=[(None, None)] * 9
    )
    with pytest.raises(DataError, match="No item has an output"):
        select(data, "kmeans:features=output_mean", 3)
