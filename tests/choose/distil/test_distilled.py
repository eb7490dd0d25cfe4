"""The utility: it chooses by what the model says, is verified by the model's digest, and warns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import DataError, UsageError
from sparingly.choose.distil.card import families_of, family_of
from sparingly.choose.distil.model import DistilledModel, apply_distilled, both_sides_notes
from sparingly.data.evalset import EvalSet
from tests.choose.distil.made_past import made_past

NEW = made_past(500, 40, models=("Delta", "alpha-13B", "Beta"))


@pytest.fixture(scope="module")
def model() -> DistilledModel:
    return sparingly.distil(made_past(), ["hard=metric_avg", "metric_var"])


@pytest.fixture
def file(model: DistilledModel, tmp_path: Path) -> Path:
    model.save(tmp_path / "model.skops")
    return tmp_path / "model.skops"


def test_it_chooses_the_highest(model: DistilledModel, file: Path) -> None:
    chosen = sparingly.select(NEW, f"distilled:model={file},utility=hard", 10)
    told = model.predict(NEW, "hard")
    assert set(chosen.items) == set(NEW.items[np.argsort(-told)[:10]])
    assert np.corrcoef(told, -NEW.metrics["score"].mean(axis=1))[0, 1] > 0.7


@pytest.mark.parametrize(
    "method", ["pivotal:utility=({})", "mix:of=({})+(metric_var)", "systematic:utility=({})"]
)
def test_it_is_a_utility_as_any_other(file: Path, method: str) -> None:
    text = method.format(f"distilled:model={file},utility=hard")
    assert len(sparingly.select(NEW, text, 8)) == 8


def test_sources_alone_are_enough(file: Path) -> None:
    bare = EvalSet.from_arrays(list(NEW.items), [], sources=NEW.sources)
    chosen = sparingly.select(bare, f"distilled:model={file},utility=hard", 10)
    assert not any("section 5.3" in note for note in chosen.notes)
    # The outputs arrive, and the selection still follows.
    found = sparingly.verify(chosen, NEW)
    assert found.problems == ()
    # And the warning comes when it is known who is judged.
    assert ["judged now: Beta;" in note or ": alpha-13B;" in note for note in found.notes] == [True, True]


def test_another_model_fails_to_verify(file: Path) -> None:
    chosen = sparingly.select(NEW, f"distilled:model={file},utility=hard", 10)
    sparingly.distil(made_past(300), ["hard=metric_avg", "metric_var"]).save(file)
    with pytest.raises(DataError, match="it was trained again"):
        sparingly.select(NEW, chosen.signature.method, 10)


def test_the_utility_must_be_named_where_there_are_several(file: Path) -> None:
    with pytest.raises(UsageError, match="knows 2 utilities: hard, metric_var"):
        sparingly.select(NEW, f"distilled:model={file}", 10)


def test_models_that_were_learned_on_are_named(file: Path) -> None:
    notes = sparingly.select(NEW, f"distilled:model={file},utility=hard", 10).notes
    same = next(note for note in notes if "models that are judged now" in note)
    assert "judged now: Beta;" in same
    assert "section 5.3" in same
    kin = next(note for note in notes if "families" in note)
    assert ": alpha-13B;" in kin
    aside = sparingly.select(
        NEW, f"distilled:model={file},utility=hard", 10, judge=["Delta", "alpha-13B"]
    ).notes
    assert not any("judged now" in note for note in aside)


def test_sources_unlike_the_training_texts_are_told(file: Path) -> None:
    sources = ["Съешь ещё этих булок." if place % 4 == 0 else text for place, text in enumerate(NEW.sources)]  # type: ignore[arg-type]
    odd = EvalSet.from_arrays(list(NEW.items), [], sources=sources)
    notes = sparingly.select(odd, f"distilled:model={file},utility=hard", 10).notes
    assert (
        "10 of 40 sources are unlike those that were learned from, by script (10), unseen letters (10)."
        in notes
    )
    assert not any(
        "unlike" in note for note in sparingly.select(NEW, f"distilled:model={file},utility=hard", 9).notes
    )


def test_a_utility_that_was_hardly_told_is_named(tmp_path: Path) -> None:
    past = made_past()
    noise = past.with_metric("noise", np.random.default_rng(2).normal(size=past.shape))
    weak = sparingly.distil(noise, "metric_avg:metric=noise")
    assert weak.card.utilities[0].hold_out.spearman < weak.card.thresholds.correlation
    weak.save(tmp_path / "weak.skops")
    notes = sparingly.select(NEW, f"distilled:model={tmp_path / 'weak.skops'}", 5).notes
    assert any("predicted poorly for held-out texts" in note for note in notes)


def test_families_by_name() -> None:
    names = ["Llama3-70B", "llama-3.1-8b", "GPT-4", "ONLINE-A", "M2M100", "7B", "Ünique_x"]
    assert [family_of(name) for name in names] == ["llama", "llama", "gpt", None, None, None, "ünique"]
    assert families_of(["ONLINE-A", "GPT-4"], {"ONLINE-A": "web"}) == {"ONLINE-A": "web", "GPT-4": "gpt"}


def test_a_family_that_was_said_does_not_hide_the_names(model: DistilledModel) -> None:
    card = replace(model.card, models=("Alpha-7B", "Beta"), families={"Alpha-7B": "Greek", "Beta": "beta"})
    (note,) = both_sides_notes(card, ["alpha-13B", "greek-2", "Delta"])
    assert ": alpha-13B, greek-2;" in note


def test_apply_writes_columns_or_metrics(model: DistilledModel) -> None:
    columns = apply_distilled(model, NEW)
    np.testing.assert_array_equal(columns.data.columns["hard_src"], model.predict(NEW, "hard"))
    assert set(columns.data.columns) == {"hard_src", "metric_var_src", "unlike"}
    metrics = apply_distilled(model, NEW, ["hard"], "metric").data
    chosen = sparingly.select(metrics, "uncertainty:metric=hard_src", 10)
    assert set(chosen.items) == set(NEW.items[np.argsort(-model.predict(NEW, "hard"))[:10]])
    bare = EvalSet.from_arrays(list(NEW.items), [], sources=NEW.sources)
    with pytest.raises(UsageError, match="no models"):
        apply_distilled(model, bare, kind="metric")
