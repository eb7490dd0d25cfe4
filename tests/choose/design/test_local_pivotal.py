from __future__ import annotations

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import DataError, MissingDataError, UnknownNameError, UsageError
from sparingly.choose.design.probability_design import LocalPivotal
from sparingly.data.evalset import EvalSet
from tests.choose.design.draws_data import made


@pytest.mark.parametrize("space", ["metrics", "source", "output_mean", "difference"])
def test_twins_are_seldom_both_taken(space: str) -> None:
    data = made()
    texts, outputs = data.sources, data.outputs
    assert texts is not None
    assert outputs is not None
    twins = EvalSet.from_arrays(
        [f"{name}-{twin}" for name in data.items[:30] for twin in "ab"],
        data.models,
        metrics={"m": np.repeat(data.metrics["m"][:30], 2, axis=0)},
        sources=np.repeat([f"{text} {place}" for place, text in enumerate(texts[:30])], 2).tolist(),
        outputs=np.repeat(outputs[:30], 2, axis=0),
    )
    both = 0
    for seed in range(5):
        chosen = sparingly.select(twins, f"local_pivotal:space={space}", 30, seed=seed)
        both += 30 - len({name.partition("-")[0] for name in chosen.items})
    # Thirty of sixty at random would have about seven pairs of twins in each draw.
    assert both == 0


def test_coordinates_of_metrics_are_standardised() -> None:
    data = made()
    found = LocalPivotal(metrics=("m",)).coordinates(data)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(found.std(axis=0), 1)
    assert LocalPivotal(metrics=("m", "gappy"), dimensions=2).coordinates(data).shape == (60, 2)
    assert LocalPivotal(space="source", dimensions=4).coordinates(data).shape == (60, 4)


def test_metrics_are_settled_in_the_signature() -> None:
    data = made()
    chosen = sparingly.select(data, "local_pivotal", 12)
    assert "metrics=[gappy,m]" in chosen.signature.method or "metrics=[m,gappy]" in chosen.signature.method
    assert sparingly.verify(chosen, data.with_metric("later", np.ones((60, 3)))).ok


def test_errors() -> None:
    data = made()
    with pytest.raises(UnknownNameError, match='no metric "n"'):
        sparingly.select(data, "local_pivotal:metrics=[n]", 5)
    bare = EvalSet.from_arrays(["a", "b", "c"], ["x"], outputs=np.array([["p"], ["q"], ["r"]], object))
    with pytest.raises(MissingDataError, match="Name another space: space=source"):
        sparingly.select(bare, "local_pivotal", 1)
    with pytest.raises(MissingDataError, match="Embeddings of sources need sources"):
        sparingly.select(bare, "local_pivotal:space=source", 1)
    with pytest.raises(DataError, match="need two models"):
        sparingly.select(bare, "local_pivotal:space=difference", 1)


def with_documents(items: int = 60, length: int = 6) -> EvalSet:
    drawn = np.random.default_rng(8)
    return EvalSet.from_arrays(
        [f"i{place:02d}" for place in range(items)],
        ["a", "b"],
        metrics={"m": drawn.normal(size=(items, 2))},
        columns={"document": [f"d{place // length}" for place in range(items)]},
    )


def test_a_draw_takes_its_share_of_every_document() -> None:
    data = with_documents()
    spread = {"true": 0.0, "false": 0.0}
    for documents in spread:
        for seed in range(20):
            chosen = sparingly.select(data, f"local_pivotal:documents={documents}", 20, seed=seed)
            rows = data.positions(chosen.items)
            spread[documents] += float(np.bincount(rows // 6, minlength=10).var()) / 20
    # Two of every document would have no variance; independent draws have about 1.2.
    assert spread["true"] < 0.5 * spread["false"]


def test_documents_are_settled_in_the_signature() -> None:
    chosen = sparingly.select(with_documents(), "local_pivotal", 20)
    assert "documents=true" in chosen.signature.method
    assert (
        "documents=false"
        in sparingly.select(with_documents(), "local_pivotal:unit=document", 20).signature.method
    )
    assert (
        "documents=false" in sparingly.select(with_documents(length=1), "local_pivotal", 20).signature.method
    )


def test_documents_that_cannot_be_near_are_an_error() -> None:
    with pytest.raises(MissingDataError, match="No document has several items"):
        sparingly.select(with_documents(length=1), "local_pivotal:documents=true", 20)
    with pytest.raises(UsageError, match="whole documents are drawn"):
        sparingly.select(with_documents(), "local_pivotal:documents=true,unit=document", 20)
