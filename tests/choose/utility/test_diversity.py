from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

import sparingly
from sparingly.base.arrays import Floats
from sparingly.base.errors import MissingDataError, UnknownNameError
from sparingly.base.registry import parse_method
from sparingly.choose.utility.diversity import Diversity
from sparingly.data.evalset import EvalSet
from sparingly.signals.embed import embed_texts

NAN = np.nan
Similarity = Literal["embedding", "unigram", "chrf", "bleu"]
SIMILARITIES: tuple[Similarity, ...] = get_args(Similarity)

OUTPUTS: dict[str, list[str | None]] = {
    "a same": ["the cat sat on the mat"] * 3,
    "b near": ["the cat sat on the mat", "the cat sat on a mat", "a cat sat on the mat"],
    "c far": ["the cat sat on the mat", "economists expect growth", "il pleut depuis hier"],
    "d missing": ["the cat sat", None, "the dog sat"],
    "e one": [None, "the cat sat", None],
    "f none": [None, None, None],
    "g empty": ["the cat sat", "", "the cat sat"],
    "h nothing": ["", " ", ""],
}


def made(outputs: dict[str, list[str | None]] = OUTPUTS) -> EvalSet:
    return EvalSet.from_arrays(list(outputs), ["x", "y", "z"], outputs=list(outputs.values()))


def diversity(data: EvalSet, **parameters: Any) -> Floats:
    return Diversity(**parameters).resolve(data).values(data)


def mean_over_pairs(texts: list[str | None], metric: Any) -> float:
    known = [text for text in texts if text is not None]
    scores = [metric.sentence_score(one, [other]).score for one, other in permutations(known, 2)]
    return float(np.mean(scores)) if scores else NAN


@pytest.mark.parametrize(
    ("similarity", "metric"), [("chrf", CHRF()), ("bleu", BLEU(effective_order=True))], ids=["chrf", "bleu"]
)
def test_text_metrics_are_sacrebleus_over_pairs_of_different_models(similarity: str, metric: Any) -> None:
    expected = [-mean_over_pairs(texts, metric) for texts in OUTPUTS.values()]
    np.testing.assert_allclose(diversity(made(), similarity=similarity), expected, rtol=0, atol=1e-9)


def test_unigrams_by_hand() -> None:
    # b: 5 of 6 words twice (one "the" is missing), then the same words; d: 2 of 3; g: one pair of three.
    expected = [-1, -8 / 9, 0, -2 / 3, NAN, NAN, -1 / 3, -1]
    np.testing.assert_allclose(diversity(made(), similarity="unigram"), expected, rtol=0, atol=1e-12)


def test_embeddings_are_compared_by_their_cosines() -> None:
    data = made()
    texts = [text for row in OUTPUTS.values() for text in row]
    vectors = embed_texts(texts).reshape(len(OUTPUTS), 3, -1)
    found = diversity(data)
    b = vectors[1]
    assert found[1] == pytest.approx(-(b[0] @ b[1] + b[0] @ b[2] + b[1] @ b[2]) / 3, abs=1e-9)
    assert found[3] == pytest.approx(-vectors[3, 0] @ vectors[3, 2], abs=1e-9)
    assert found[0] == pytest.approx(-1, abs=1e-9)
    assert found[6] == pytest.approx(-1 / 3, abs=1e-9)
    assert np.isnan(found).tolist() == [False, False, False, False, True, True, False, False]


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_items_on_which_outputs_differ_come_first(similarity: Similarity) -> None:
    chosen = sparingly.select(made(), Diversity(similarity=similarity), 3, never=["g empty", "h nothing"])
    assert list(chosen.items) == ["c far", "d missing", "b near"]


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_fewer_than_two_outputs_say_nothing(similarity: Similarity) -> None:
    data = made()
    assert np.isnan(diversity(data, similarity=similarity)[4:6]).all()
    assert np.isnan(diversity(data.take(models=["x"]), similarity=similarity)).all()


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_a_second_copy_of_a_model_counts_as_a_model(similarity: Similarity) -> None:
    twice = {item: [row[0], row[1], row[1]] for item, row in OUTPUTS.items()}
    once = diversity(made().take(models=["x", "y"]), similarity=similarity)
    both = diversity(made(twice), similarity=similarity)
    # Two pairs of x with y, and one of y with its copy, which is 1 (or 100) where y is not empty.
    whole = 100 if similarity in ("chrf", "bleu") else 1
    np.testing.assert_allclose(both[1:3], (2 * once[1:3] - whole) / 3, rtol=0, atol=0.02 * whole)
    if similarity != "embedding":
        np.testing.assert_allclose(both[1:3], (2 * once[1:3] - whole) / 3, rtol=0, atol=1e-9)


def test_tokeniser_is_chosen_for_bleu() -> None:
    rows: dict[str, list[str | None]] = {"a": ["我喜欢喝茶", "我喜欢喝咖啡", "他不喝茶"]}
    metric = BLEU(effective_order=True, tokenize="zh")
    found = diversity(made(rows), similarity="bleu", tokeniser="zh")
    assert found == pytest.approx([-mean_over_pairs(rows["a"], metric)], abs=1e-9)
    assert diversity(made(rows), similarity="bleu")[0] == 0


def test_text_of_the_method() -> None:
    assert parse_method("diversity:similarity=bleu,tokeniser=ja-mecab") == Diversity(
        similarity="bleu", tokeniser="ja-mecab"
    )
    assert Diversity().full_text == "diversity:similarity=embedding,embedding=tfidf,tokeniser=13a"
    with pytest.raises(UnknownNameError, match=r'"chrF"\. Did you mean chrf'):
        parse_method("diversity:similarity=chrF")


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_a_set_without_outputs_is_an_error(similarity: Similarity) -> None:
    data = EvalSet.from_arrays(["a"], ["x", "y"], metrics={"m": [[1.0, 2.0]]})
    with pytest.raises(MissingDataError, match="The method diversity needs outputs"):
        sparingly.select(data, Diversity(similarity=similarity), 1)


def test_embeddings_that_are_there_already_need_no_outputs() -> None:
    vectors = np.empty((2, 2), object)
    for place, vector in zip(np.ndindex(2, 2), [[1, 0], [0, 2], [3, 0], [1, 0]], strict=True):
        vectors[place] = np.array(vector, np.float64)
    data = EvalSet.from_arrays(["a", "b"], ["x", "y"], cells={"vector": vectors})
    found = sparingly.select(data, "diversity:embedding=column:vector", 2)
    assert list(found.items) == ["a", "b"]
    assert found.utility == pytest.approx([0.0, -1.0])


# --- against the published package ------------------------------------------------------------------


@pytest.fixture(params=["wmt23_ende", "summeval_llm12"])
def published(
    request: pytest.FixtureRequest, shared_data: Path, shared_checks: Path
) -> tuple[EvalSet, dict[str, Any]]:
    """The outputs of a data set, and the other package's answers on it."""
    text = (shared_checks / "subset2evaluate_1.0.27.json").read_text(encoding="utf-8")
    whole = sparingly.load(shared_data / f"{request.param}.jsonl.gz")
    return whole.only({"outputs"}), json.loads(text)[request.param]


@pytest.mark.shared_data
def test_unigram_diversity_is_the_published_one(published: tuple[EvalSet, dict[str, Any]]) -> None:
    data, answers = published
    found = diversity(data, similarity="unigram")[data.positions(answers["items"])]
    np.testing.assert_allclose(found, answers["utilities"]["diversity_unigram"], rtol=0, atol=1e-6)


@pytest.mark.shared_data
@pytest.mark.parametrize("similarity", ["bleu", "chrf"])
def test_bleu_and_chrf_are_the_published_ones_without_self_pairs(
    similarity: str, published: tuple[EvalSet, dict[str, Any]]
) -> None:
    data, answers = published
    models = len(data.models)
    found = diversity(data.take(items=answers["items_first_60"]), similarity=similarity)
    # The published mean is over all models², each of which scores 100 with itself.
    with_self = (found * models * (models - 1) - 100 * models) / models**2
    order = data.take(items=answers["items_first_60"]).positions(answers["items_first_60"])
    theirs = answers["utilities_first_60"][f"diversity_{similarity}_with_self_pairs"]
    np.testing.assert_allclose(with_self[order], theirs, rtol=0, atol=1e-6)
