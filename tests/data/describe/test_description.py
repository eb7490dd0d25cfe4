"""The whole description: oddities by hand, and what is known of the shared data sets."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from sparingly.data import io
from sparingly.data.describe import Description, describe
from sparingly.data.describe.description import looks_turned
from sparingly.data.describe.metrics import Correlation
from sparingly.data.evalset import EvalSet

NAN = float("nan")


def kinds(description: Description) -> list[str]:
    return [oddity.kind for oddity in description.odd]


def told(description: Description, kind: str) -> list[str]:
    return [oddity.text for oddity in description.odd if oddity.kind == kind]


def judged(items: int = 60, models: int = 5) -> EvalSet:
    """People's scores with a distance, a copy, a constant, an item-only metric, and a leak."""
    random = np.random.default_rng(3)
    human = random.normal(size=(items, models))
    distance = -human + random.normal(size=human.shape)
    names = [f"item-{place:03d}" for place in range(items)]
    return EvalSet.from_arrays(
        names,
        [f"model-{place}" for place in range(models)],
        metrics={
            "distance": distance,
            "distance again": distance,
            "flat": np.full(human.shape, 2.0),
            "by item": np.repeat(random.normal(size=(items, 1)), models, axis=1),
            "leak": 3 * human + 1,
            "nothing": np.full(human.shape, NAN),
        },
        aspects={"overall": human},
        outputs=[
            ["same", "same", *(f"{row} {column}" for column in range(models - 2))] for row in range(items)
        ],
        columns={"document": ["x" if place % 2 else "y" for place in range(items)]},
    )


def test_oddities_by_hand() -> None:
    found = describe(judged())
    assert kinds(found) == [
        "constant_metric",
        "same_for_models",
        "empty_metric",
        "copied_metric",
        "suspicious_sign",
        "suspicious_sign",
        "metric_is_aspect",
        "near_duplicate_models",
        "scattered_documents",
    ]
    assert told(found, "copied_metric") == ["The metric distance again is equal to distance."]
    assert told(found, "suspicious_sign")[0].endswith(
        'lower is better? Then read it with lower_is_better=["distance"].'
    )
    assert told(found, "near_duplicate_models") == [
        "The models model-0 and model-1 wrote the same text for 100 % of the items, so judging both adds "
        "little."
    ]
    assert told(found, "scattered_documents") == [
        "2 documents have items that do not stand side by side in the file."
    ]


def test_a_metric_loaded_the_right_way_is_not_suspicious() -> None:
    data = io.flipped(judged(), ["distance", "distance again"])
    assert "suspicious_sign" not in kinds(describe(data))


def pair(differences: float, freedom: int = 10_000) -> Correlation:
    return Correlation("m", "a", differences, differences, differences, 1, 1, freedom)


@pytest.mark.parametrize(
    ("pairs", "turned"),
    [
        ([pair(-0.3)], True),
        ([pair(-0.3), pair(0.01)], False),
        ([pair(-0.04)], False),
        ([pair(-0.3, freedom=50)], False),
        ([pair(-0.5, freedom=50)], True),
        ([pair(-0.01), pair(-0.2)], True),
    ],
)
def test_when_a_sign_is_suspicious(pairs: list[Correlation], turned: bool) -> None:
    assert looks_turned(pairs) is turned


def test_what_a_set_has_not() -> None:
    found = describe(EvalSet.from_arrays(["a"], ["m"], metrics={"x": [[1.0]]}))
    assert found.absent == (
        "aspects",
        "sources",
        "outputs",
        "references",
        "documents",
        "domains",
        "costs",
        "ratings",
        "preferences",
    )
    assert (found.odd, found.correlations) == ((), ())


def test_views_without_items_or_labels_are_described() -> None:
    data = judged()
    assert describe(data.at([])).items == 0
    assert describe(data.without_labels()).correlations == ()
    assert describe(data.take(models=["model-1"])).correlations[0].within is None


def test_order_of_items_and_models_does_not_matter() -> None:
    random = np.random.default_rng(8)
    scores, human = random.normal(size=(2, 30, 4))
    items, models = [f"i{place:02d}" for place in range(30)], list("abcd")
    rows, columns = random.permutation(30), random.permutation(4)
    one = EvalSet.from_arrays(items, models, metrics={"x": scores}, aspects={"y": human})
    other = EvalSet.from_arrays(
        [items[row] for row in rows],
        [models[column] for column in columns],
        metrics={"x": scores[np.ix_(rows, columns)]},
        aspects={"y": human[np.ix_(rows, columns)]},
    )
    assert describe(one) == describe(other)


# --- the shared data sets ---------------------------------------------------------------------------


@cache
def shared(folder: Path, name: str) -> EvalSet:
    return io.load(folder / f"{name}.jsonl.gz")


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("name", "metric", "aspect", "pooled", "within"),
    [
        ("wmt23_zhen", "MetricX-23-QE-b[QE]", "mqm", 0.66, 0.40),
        ("wmt23_zhen", "XCOMET-Ensemble", "mqm", 0.65, 0.42),
        ("wmt23_zhen", "BLEU", "mqm", 0.12, 0.21),
        ("wmt23_ende", "chrF", "mqm", 0.23, 0.34),
        ("newsroom", "bart_score_src_hypo", "sum", 0.73, 0.78),
        ("summeval_llm12", "gpt4_rts_sum", "sum", 0.70, 0.69),
        ("simpeval_2022", "chrF", "rating", -0.17, -0.31),
        ("frank_cnndm_notext", "BertScore F1 Art", "Factuality", 0.51, 0.60),
        ("llmfao_pairwise", "gpt4_winrate", "crowd_winrate", 0.38, 0.38),
        ("personachat_usr", "METEOR", "Overall", 0.20, None),
    ],
)
def test_correlations_are_the_published_ones(
    shared_data: Path, name: str, metric: str, aspect: str, pooled: float, within: float | None
) -> None:
    found = describe(shared(shared_data, name).only([f"metric:{metric}", f"aspect:{aspect}"])).correlations[0]
    assert found.pooled is not None
    assert round(found.pooled, 2) == pooled
    assert (None if found.within is None else round(found.within, 2)) == within


@pytest.mark.shared_data
def test_wmt23_ende_esa(shared_data: Path) -> None:
    found = describe(shared(shared_data, "wmt23_ende_esa"))
    assert found.ratings is not None
    assert (found.ratings.duplicates, len(found.ratings.raters)) == (39, 49)
    assert found.ratings.seconds is not None
    assert round(found.ratings.seconds.median) == 35
    assert [(copy.metric, copy.of) for copy in found.copies] == [("sescoreX", "instructscore")]
    assert found.documents is not None
    assert (found.documents.count, found.documents.in_order) == (71, True)
    lacking = {part.field: part.items for part in found.coverage if part.share < 1}
    assert lacking == {"aspect:mqm_wmt": 51, "aspect:da_sqm": 8}
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.shared_data
def test_webnlg_lacks_one_cell(shared_data: Path) -> None:
    found = describe(shared(shared_data, "webnlg20_en"))
    outputs = next(part for part in found.coverage if part.field == "outputs")
    assert (outputs.of - outputs.present, outputs.models) == (1, {"Baseline-FORGE2020": 1})
    assert found.ratings is not None
    assert (found.ratings.comments, len(found.ratings.raters)) == (341, 88)


@pytest.mark.shared_data
def test_distances_and_copies_of_opinsummeval(shared_data: Path) -> None:
    found = describe(shared(shared_data, "opinsummeval"))
    turned = {oddity.about[0] for oddity in found.odd if oddity.kind == "suspicious_sign"}
    assert {"baryscore_W", "baryscore_SD_1", "ppl_score_gpt2"} <= turned
    assert {"chrF", "bleurt_score"}.isdisjoint(turned)
    assert len([copy for copy in found.copies if copy.kind == "equal"]) == 2


@pytest.mark.shared_data
def test_near_duplicates_empty_outputs_and_comparisons(shared_data: Path) -> None:
    runs = describe(shared(shared_data, "biomqm_enfr")).texts
    assert runs is not None
    assert (runs.near_duplicates[0].first, runs.near_duplicates[0].share) == ("LISN_run2", 1.0)
    prompts = describe(shared(shared_data, "llmfao_pairwise"))
    assert prompts.texts is not None
    assert sum(prompts.texts.empty_outputs.values()) == 52
    assert prompts.preferences is not None
    assert (prompts.preferences.count, prompts.preferences.raters) == (8931, 124)
    talks = describe(shared(shared_data, "ted21_ende")).documents
    assert talks is not None
    assert (talks.count, talks.longest) == (5, 159)


@pytest.mark.shared_data
def test_one_line_of_a_real_set(shared_data: Path) -> None:
    assert repr(shared(shared_data, "wmt23_ende")) == (
        "EvalSet(460 items x 12 models; metrics: BERTscore, BLEU … (42); aspects: mqm, da_sqm; "
        "outputs, sources, references; documents: 190)"
    )


def test_a_metric_that_goes_against_the_labels_of_one_model_is_named() -> None:
    labels = np.arange(40.0)[:, None]
    data = EvalSet.from_arrays(
        [f"i{place:02}" for place in range(40)],
        ["one"],
        metrics={"loss": -labels, "gain": labels % 7},
        aspects={"human": labels},
    )
    assert [oddity.about for oddity in describe(data).odd if oddity.kind == "suspicious_sign"] == [
        ("loss", "human")
    ]
