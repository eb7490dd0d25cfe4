"""The generator: what is asked for is there, the same seed gives the same set, errors are sentences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.data.describe import describe
from sparingly.data.describe.metrics import correlation
from sparingly.data.synthetic import make_evalset


def test_default_set_holds_every_kind_of_thing() -> None:
    data = make_evalset()
    assert repr(data) == (
        "EvalSet(200 items x 8 models; metrics: good, fair, weak; aspects: overall, fluency; "
        "outputs, sources, references; documents: 33; ratings: 3200)"
    )
    found = describe(data)
    assert set(data.columns) == {"document", "position", "domain", "cost", "words"}
    assert found.documents is not None
    assert found.documents.in_order
    assert found.documents.shortest < found.documents.median < found.documents.longest
    assert set(found.domains) == {"news", "social", "speech", "literary"}
    assert found.absent == ("preferences",)
    assert (data.columns["cost"] > 0).all()


def test_same_seed_same_set_and_another_seed_another() -> None:
    assert make_evalset(40, 3).digest() == make_evalset(40, 3).digest()
    assert make_evalset(40, 3).digest() != make_evalset(40, 3, seed=1).digest()


def test_global_random_state_is_neither_used_nor_changed() -> None:
    np.random.seed(1)  # noqa: NPY002 - the global generator is what must not matter
    undisturbed = np.random.random(3)  # noqa: NPY002
    np.random.seed(1)  # noqa: NPY002
    first = make_evalset(20, 3).digest()
    assert (np.random.random(3) == undisturbed).all()  # noqa: NPY002
    assert make_evalset(20, 3).digest() == first


@pytest.mark.parametrize(
    "change", [{"texts": False}, {"raters": 0}, {"metrics": {"good": 0.6}}, {"references": False}]
)
def test_leaving_something_out_changes_nothing_else(change: dict[str, Any]) -> None:
    whole, part = make_evalset(50, 4), make_evalset(50, 4, **change)
    kept = sorted(set(whole.fields) & set(part.fields) - {"aspect:overall", "aspect:fluency"})
    assert "metric:good" in kept
    assert len(kept) < len(whole.fields)
    assert whole.digest(kept) == part.digest(kept)


@pytest.mark.statistics
@pytest.mark.parametrize("quality", [0.9, 0.6, 0.15, 0.0, -0.4])
@pytest.mark.parametrize("models", [2, 8])
def test_metrics_are_as_good_as_asked(quality: float, models: int) -> None:
    """Pooled within items, to three standard errors (and 0.01) of the correlation at 20 000 items."""
    data = make_evalset(
        20_000, models, metrics={"m": quality}, texts=False, raters=0, latent=True, aspects=["overall"]
    )
    found = correlation(data.metrics["m"], data.aspects["latent_quality"])
    assert found.differences == pytest.approx(quality, abs=0.01 + 3 / np.sqrt(found.freedom))


def test_without_raters_the_aspects_are_the_truth() -> None:
    data = make_evalset(30, 3, raters=0, latent=True, texts=False)
    np.testing.assert_array_equal(data.aspects["overall"], data.aspects["latent_quality"])
    assert len(data.ratings) == 0
    values = data.aspects["overall"]
    assert 0 <= values.min() < values.max() <= 100


def test_latent_columns_are_there_only_when_asked() -> None:
    hidden = {"difficulty", "discrimination"}
    assert hidden <= set(make_evalset(10, 2, latent=True).columns)
    plain = make_evalset(10, 2)
    assert hidden.isdisjoint(plain.columns)
    assert "latent_quality" not in plain.aspects


@pytest.mark.parametrize("raters", [0, 3])
def test_share_of_rated_items(raters: int) -> None:
    data = make_evalset(80, 3, rated_share=0.25, raters=raters, texts=False)
    rated = ~np.isnan(data.aspects["overall"])
    assert rated.all(axis=1).sum() == rated.any(axis=1).sum() == 20


def test_missing_cells_of_one_metric() -> None:
    data = make_evalset(400, 5, missing={"fair": 0.1}, texts=False, raters=0)
    share = {name: float(np.isnan(values).mean()) for name, values in data.metrics.items()}
    assert (share["good"], share["weak"]) == (0.0, 0.0)
    assert share["fair"] == pytest.approx(0.1, abs=0.03)
    everywhere = make_evalset(400, 5, missing=0.1, texts=False, raters=0)
    assert all(0.05 < np.isnan(values).mean() < 0.15 for values in everywhere.metrics.values())


def test_names_are_kept_and_nothing_can_be_none() -> None:
    data = make_evalset(12, ["b (p = 0.3)", "a + b"], domains=["law"], raters=["zoe"], documents=0)
    assert data.models == ("a + b", "b (p = 0.3)")
    assert set(data.columns["domain"]) == {"law"}
    assert data.ratings.raters == ("zoe",)
    assert "document" not in data.columns
    assert "domain" not in make_evalset(5, 2, domains=0).columns


@given(
    items=st.integers(1, 40),
    models=st.integers(1, 4),
    documents=st.integers(0, 40),
    seed=st.integers(0, 2**40),
)
@settings(max_examples=25, deadline=None)
def test_any_size_works(items: int, models: int, documents: int, seed: int) -> None:
    data = make_evalset(items, models, documents=min(documents, items), seed=seed, raters=2)
    assert data.shape == (items, models)
    assert not np.isnan(data.metrics["good"]).any()
    found = describe(data).documents
    assert (0 if found is None else found.count) == min(documents, items)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"items": 0}, "An evaluation set needs at least one item and one model."),
        ({"models": 0}, "An evaluation set needs at least one item and one model."),
        ({"items": -3}, "The number of items is -3 but must not be negative."),
        ({"models": ["a", "a"]}, "Every model needs a name of its own."),
        ({"models": "abc"}, 'Give the models as a number or as a list of names, not as "abc".'),
        ({"aspects": []}, "An evaluation set needs at least one aspect."),
        ({"documents": 20}, "There are 20 documents for 10 items, and every document needs an item."),
        ({"metrics": {"m": 1.2}}, 'The metric "m" is asked for a correlation of 1.2, beyond -1 and 1.'),
        ({"rated_share": 1.5}, "rated_share is 1.5 but must lie between 0 and 1."),
        ({"missing": -0.1}, "missing is -0.1 but must lie between 0 and 1."),
        (
            {"raters_per_cell": 9},
            "raters_per_cell is 9 but must lie above 0 and not above the number of raters, 4.",
        ),
    ],
)
def test_wrong_arguments_get_one_sentence(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError) as error:
        make_evalset(**{"items": 10, "models": 2, **wrong})
    assert str(error.value) == sentence


def test_missing_of_an_unknown_metric() -> None:
    with pytest.raises(UnknownNameError, match='no metric "god"'):
        make_evalset(10, 2, missing={"god": 0.1})
