from __future__ import annotations

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import DataError, MissingDataError, UnknownNameError, UsageError
from sparingly.choose.select import select
from sparingly.data.evalset import EvalSet


def made(count: int = 120, seed: int = 0) -> EvalSet:
    drawn = np.random.default_rng(seed)
    human = drawn.normal(size=(count, 6)) + np.linspace(0, 0.5, 6)
    metric = human + drawn.normal(size=human.shape)
    metric[3, 2] = np.nan
    return EvalSet.from_arrays(
        [f"item {place:03d}" for place in range(count)],
        list("abcdef"),
        metrics={"COMET": metric},
        aspects={"mqm": human},
        outputs=[["word " * (place % 5 + model) for model in range(6)] for place in range(count)],
    )


def accuracy(data: EvalSet, method: str, truth: str, budget: int = 30, seed: int = 0) -> float:
    chosen = select(data, method, budget, seed=seed)
    found = sparingly.agree(data, chosen, truth, test="analytic").agreement.soft_pairwise_accuracy
    said = float(chosen.notes[0].split()[3])
    if truth in chosen.notes[0]:
        assert found == pytest.approx(said, abs=6e-5), "what the note says is what agreement finds"
    return found


def test_searching_more_finds_more() -> None:
    data = made()
    by_kind = {
        kind: accuracy(data, f"search:{kind}", "metric:COMET")
        for kind in ("n=1", "kind=bruteforce", "kind=greedy", "kind=beam,beam=8")
    }
    assert by_kind["n=1"] < by_kind["kind=bruteforce"] < by_kind["kind=greedy"]
    assert by_kind["kind=beam,beam=8"] >= by_kind["kind=greedy"] - 0.002


def test_oracle_is_marked_and_counts_its_labels() -> None:
    data = made()
    chosen = select(data, "search:oracle=true", 30)
    assert "truth=mqm" in chosen.signature.method
    assert chosen.signature.labels is not None
    assert any(note.startswith("oracle: chosen with the judgements of mqm") for note in chosen.notes)
    assert accuracy(data, "search:oracle=true", "mqm") > accuracy(data, "search", "mqm")
    proxy = select(data, "search", 30)
    assert proxy.signature.labels is None
    assert not any("oracle" in note for note in proxy.notes)


def test_metric_is_settled_and_lengths_are_always_there() -> None:
    data = made()
    assert "under=COMET" in select(data, "search:n=5", 10).signature.method
    assert len(select(data, "search:n=5,under=output_length", 10)) == 10
    combined = data.with_aspect("fluency", data.aspects["mqm"] * 2)
    assert len(select(combined, 'search:n=5,oracle=true,truth="sum:of=[mqm,fluency]"', 10)) == 10
    with pytest.raises(UsageError, match=r"There are 2 aspects: mqm, fluency\. Name it: search:truth="):
        select(combined, "search:oracle=true", 10)


def test_the_last_step_is_as_short_as_it_must_be() -> None:
    data = made()
    for budget in (3, 10, 27, 120):
        assert len(set(select(data, "search:n=7", budget).items)) == budget
        assert len(set(select(data, "search:n=7,kind=beam,step=50", budget).items)) == budget


def test_candidates_are_kept_to() -> None:
    data = made()
    never = list(data.items[:100])
    assert set(select(data, "search:n=20", 15, never=never).items) <= set(data.items[100:])


@pytest.mark.parametrize(
    ("method", "error", "sentence"),
    [
        ("search:oracle=true,under=COMET", UsageError, "leave out under= or oracle=true"),
        ("search:truth=mqm", UsageError, "goes with oracle=true"),
        ("search:n=0", UsageError, "n of search must be at least 1"),
        ("search:step=0", UsageError, "step of search must be at least 1"),
        ("search:kind=all", UnknownNameError, 'value of search:kind "all"'),
        ("search:under=BLEU", UnknownNameError, 'no metric "BLEU"'),
        ("search:oracle=true,truth=esa", UnknownNameError, 'no aspect or metric "esa"'),
    ],
)
def test_wrong_use_is_named(method: str, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        select(made(), method, 10)


def test_what_the_data_lack_is_named() -> None:
    data = made()
    with pytest.raises(MissingDataError, match=r"has no metric\. The method search needs one"):
        select(data.only(["outputs"]), "search", 10)
    with pytest.raises(DataError, match="compares models, and there are fewer than two"):
        select(data.take(models=["a"]), "search", 10)
    empty = EvalSet.from_arrays(["a", "b"], ["x", "y"], metrics={"m": np.full((2, 2), np.nan)})
    with pytest.raises(DataError, match="No item has a score of m"):
        select(empty, "search", 1)
