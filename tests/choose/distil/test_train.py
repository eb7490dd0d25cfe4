"""Training: it learns what is there to learn, says how well, and asks nothing of the order of anything."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import DataError, MissingDataError, UnknownNameError, UsageError
from sparingly.choose.distil.model import DistilledModel
from sparingly.data.evalset import EvalSet
from tests.choose.distil.made_past import made_past

ONE, TWO = made_past(), made_past(200, 60, models=("Gamma", "Beta"))
UTILITIES = ["metric_var:metric=score", "aspect:overall"]


@pytest.fixture(scope="module")
def model() -> DistilledModel:
    return sparingly.distil(
        {"one": ONE, "two": TWO}, UTILITIES, families={"Gamma": "greek"}, languages=["en"]
    )


def test_the_card_says_where_it_is_from(model: DistilledModel) -> None:
    card = model.card
    assert card.names == ("metric_var", "aspect:overall")
    assert [one.method for one in card.utilities] == [
        "metric_var:metric=score",
        "metric_avg:metric=aspect:overall",
    ]
    assert [(one.name, one.items) for one in card.data] == [("one", 80), ("two", 60)]
    read = {"sources", "metric:score"}
    assert [one.inputs for one in card.data] == [ONE.digest(read), TWO.digest(read)]
    assert card.data[0].labels == ONE.digest({"aspect:overall"})
    assert card.models == ("Alpha-7B", "Beta", "Gamma")
    assert card.families == {"Alpha-7B": "alpha", "Beta": "beta", "Gamma": "greek"}
    assert (card.texts, card.held_out_by, card.languages) == (140, "data set", ("en",))
    assert card.scripts == {"LATIN": 1.0}
    assert "utilities:(metric_var=metric_var:metric=score)+(aspect:overall=" in card.signature


def test_held_out_sets_are_told_by_the_others(model: DistilledModel) -> None:
    for one in model.card.utilities:
        assert set(one.hold_out.by_set) == {"one", "two"}
        assert min(one.hold_out.by_set.values()) > 0.5
        weighted = (80 * one.hold_out.by_set["one"] + 60 * one.hold_out.by_set["two"]) / 140
        assert one.hold_out.spearman == pytest.approx(weighted)


def test_what_cannot_be_learned_is_not_told() -> None:
    drawn = np.random.default_rng(4).normal(size=(80, 2))
    noise = ONE.with_metric("noise", drawn)
    found = sparingly.distil(noise, "metric_avg:metric=noise").card.utilities[0].hold_out
    assert abs(found.spearman) < 0.3


def test_the_held_out_correlation_is_that_of_a_model_without_the_set() -> None:
    both = sparingly.distil({"one": ONE, "two": TWO}, "metric_avg:metric=score")
    alone = sparingly.distil({"two": TWO}, "metric_avg:metric=score")
    told = alone.predict(ONE)
    expected = sparingly.base.stats.correlation.spearman(told, -ONE.metrics["score"].mean(axis=1))
    assert both.card.utilities[0].hold_out.by_set["one"] == pytest.approx(expected)


def test_shared_sources_are_never_on_both_sides() -> None:
    with pytest.raises(DataError, match='hold_out="items"'):
        sparingly.distil({"one": ONE, "same": ONE}, "metric_var:metric=score")
    held = sparingly.distil({"one": ONE, "same": ONE}, "metric_var:metric=score", hold_out="items")
    alone = sparingly.distil(ONE, "metric_var:metric=score")
    assert held.card.held_out_by == "items"
    # The same texts in the same folds: the second copy adds nothing.
    assert held.card.utilities[0].hold_out.spearman == pytest.approx(
        alone.card.utilities[0].hold_out.spearman, abs=1e-6
    )


def test_documents_are_held_out_whole() -> None:
    data = ONE.with_column("document", [f"d{place // 8}" for place in range(80)])
    assert sparingly.distil(data, "metric_avg").card.held_out_by == "documents"
    with pytest.raises(UsageError, match="one document"):
        sparingly.distil(ONE.with_column("document", ["d"] * 80), "metric_avg")


@pytest.mark.parametrize("learner", ["ridge", "boosting"])
def test_order_of_items_models_and_sets_is_nothing(learner: Any) -> None:
    turned = made_past(reverse=True)
    first = sparingly.distil({"one": ONE, "two": TWO}, UTILITIES, learner=learner)
    second = sparingly.distil({"two": TWO, "one": turned}, UTILITIES, learner=learner)
    assert first.digest == second.digest
    third = sparingly.distil([ONE, TWO], UTILITIES, learner=learner)
    assert third.digest == sparingly.distil([TWO, turned], UTILITIES, learner=learner).digest


def test_missing_texts_and_utilities() -> None:
    sources = [None if place == 3 else text for place, text in enumerate(ONE.sources.tolist())]  # type: ignore[union-attr]
    scores = ONE.metrics["score"].copy()
    scores[:10] = np.nan
    data = EvalSet.from_arrays(list(ONE.items), ONE.models, metrics={"score": scores}, sources=sources)
    model = sparingly.distil(data, "metric_avg")
    assert (model.card.texts, model.card.utilities[0].texts) == (79, 70)
    assert np.isnan(model.predict(data)).tolist() == [text is None for text in sources]


def test_wrong_calls_are_said() -> None:
    bare = EvalSet.from_arrays(list(ONE.items), ONE.models, metrics=dict(ONE.metrics))
    cases: list[tuple[type[Exception], str, Any, dict[str, Any]]] = [
        (MissingDataError, '"data" has no sources', bare, {}),
        (DataError, "At least 20 different sources", ONE.at(range(10)), {}),
        (
            DataError,
            "is the same for all items",
            ONE.with_metric("flat", np.ones((80, 2))),
            {"u": "metric:flat"},
        ),
        (UnknownNameError, "learner", ONE, {"learner": "forest"}),
        (UnknownNameError, "scale", ONE, {"scale": "log"}),
        (UnknownNameError, "way to hold out", ONE, {"hold_out": "years"}),
        (UsageError, "At least 2 folds", ONE, {"folds": 1}),
        (UsageError, "none to predict it from", ONE, {"hold_out": "sets"}),
        (UsageError, "no data set", {}, {}),
        (UsageError, "no training set has that model", ONE, {"families": {"Omega": "greek"}}),
        (UsageError, "built-in embedding is fitted", ONE, {"features": "tfidf"}),
    ]
    for kind, words, data, how in cases:
        with pytest.raises(kind, match=words):
            sparingly.distil(data, how.pop("u", "metric_avg:metric=score"), **how)


def test_a_utility_of_sources_alone_names_no_models() -> None:
    assert sparingly.distil(ONE, "metric_avg:metric=source_length").card.models == ()


def test_predict_takes_texts_or_a_set(model: DistilledModel) -> None:
    told = model.predict(ONE, "metric_var")
    np.testing.assert_array_equal(told, model.predict(list(ONE.sources), "metric_var"))  # type: ignore[arg-type]
    np.testing.assert_array_equal(told, model.score(ONE).values[:, 0])
    with pytest.raises(UsageError, match="knows 2 utilities"):
        model.predict(ONE)
    with pytest.raises(UnknownNameError, match="metric_var"):
        model.predict(ONE, "metric_va")
    with pytest.raises(UsageError, match="list of sources"):
        model.predict("one text", "metric_var")
    assert repr(model).startswith("DistilledModel(metric_var (0.")
    assert model.score([]).values.shape == (0, 2)


def test_given_vectors(tmp_path: Any) -> None:
    drawn = np.random.default_rng(3).normal(size=(80, 4))
    corpus = [list(row) for row in drawn]
    data = ONE.with_column("vector", corpus).with_metric("own", np.repeat(drawn[:, :1], 2, axis=1))
    model = sparingly.distil(data, "metric_avg:metric=own", features="column:vector")
    assert model.card.utilities[0].hold_out.spearman > 0.8
    model.save(tmp_path / "m.skops")
    again = sparingly.load_distilled(tmp_path / "m.skops")
    np.testing.assert_array_equal(again.predict(data), model.predict(data))
    chosen = sparingly.select(data, f"distilled:model={tmp_path / 'm.skops'}", 5)
    assert sparingly.verify(chosen, data).problems == ()
    other = ONE.with_column("elsewhere", corpus)
    np.testing.assert_array_equal(model.predict(other, embedding="column:elsewhere"), model.predict(data))
    with pytest.raises(UsageError, match="texts alone have none"):
        model.predict(["one"])
    with pytest.raises(DataError, match="3 dimensions"):
        model.predict(ONE.with_column("vector", [row[:3] for row in corpus]))
    with pytest.raises(DataError, match="has a source but no vector"):
        sparingly.distil(
            ONE.with_column("vector", [None, *corpus[1:]]), "metric_avg", features="column:vector"
        )
    with pytest.raises(UsageError, match="learned from n-grams"):
        sparingly.distil(ONE, "metric_avg").predict(ONE, embedding="column:vector")


def test_another_embedding_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from sparingly.choose.distil import corpus

    held = {"digest": "one"}
    monkeypatch.setattr(corpus, "embedding_digest", lambda name: held["digest"])
    monkeypatch.setattr(corpus, "embed_texts", lambda texts, name: np.ones((len(texts), 2)))
    assert corpus.vectors_for(["a"], "some/model", "one", 2).shape == (1, 2)
    held["digest"] = "two"
    with pytest.raises(DataError, match="it has changed since"):
        corpus.vectors_for(["a"], "some/model", "one", 2)
