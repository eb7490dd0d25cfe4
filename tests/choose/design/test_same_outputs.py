"""``same_outputs=skip``: items on which all models wrote the same are not drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import MissingDataError, UsageError
from sparingly.choose.design.units import rows_with_same_outputs
from sparingly.run.verify import Verification
from tests.choose.same_data import SAME, skipping

ALL = ["uniform", "systematic", "pivotal", "local_pivotal", "cube"]


@pytest.mark.parametrize("name", ALL)
def test_skipped_items_have_no_chance_and_the_others_share_the_budget(name: str) -> None:
    data = skipping()
    rest = len(data) - len(SAME)
    for seed in range(5):
        chosen = sparingly.select(data, name, 20, seed=seed, same_outputs="skip")
        assert not set(chosen.items) & set(SAME)
        assert chosen.probability == pytest.approx([20 / rest] * 20)
    assert chosen.same_outputs == tuple(SAME)
    assert "differences between models" in chosen.meaning
    assert any(f"{len(SAME)} items on which all models wrote the same are skipped" in n for n in chosen.notes)
    assert "same_outputs=skip" in chosen.signature.method
    assert sparingly.verify(chosen, data) == Verification(())


def test_by_default_they_are_kept() -> None:
    chosen = sparingly.select(skipping(), "uniform", "100%")
    assert set(SAME) <= set(chosen.items)
    assert chosen.same_outputs == ()
    assert "same_outputs" not in chosen.to_dict()


def test_a_missing_output_is_not_the_same() -> None:
    data = skipping()
    assert data.items[rows_with_same_outputs(data, np.arange(len(data)))].tolist() == SAME
    assert data.outputs is not None
    assert data.outputs[data.positions(["i001"])[0], 0] is None


def test_the_mark_survives_a_file_and_a_second_phase(tmp_path: Path) -> None:
    data = skipping()
    first = sparingly.select(data, "uniform:same_outputs=skip", 60)
    first.save(tmp_path / "first.json")
    again = sparingly.Selection.load(tmp_path / "first.json")
    assert again.same_outputs == tuple(SAME)
    assert again.to_dict() == first.to_dict()
    second = sparingly.select(data, "uniform", 20, pool=again)
    assert second.same_outputs == tuple(SAME)


def test_no_item_need_be_the_same() -> None:
    data = skipping().take(items=[f"i{place:03d}" for place in range(10)])
    chosen = sparingly.select(data, "uniform:same_outputs=skip", 5)
    assert chosen.same_outputs == ()
    assert any("none is skipped" in note for note in chosen.notes)


def test_what_makes_no_sense_is_refused() -> None:
    data = skipping()
    with pytest.raises(MissingDataError, match="There are no outputs to compare"):
        sparingly.select(
            data.only(name for name in data.fields if name != "outputs"), "uniform:same_outputs=skip", 5
        )
    with pytest.raises(UsageError, match="With one model"):
        sparingly.select(data.take(models=["m0"]), "uniform:same_outputs=skip", 5)
    with pytest.raises(UsageError, match="nothing to judge"):
        sparingly.select(data.take(items=SAME), "uniform:same_outputs=skip", 5)
    with pytest.raises(UsageError, match="crowd= and judge="):
        sparingly.select(data, "uniform:same_outputs=skip", 5, crowd=["m0", "m1"])
    pool = sparingly.select(data, "uniform", "100%")
    with pytest.raises(UsageError, match="a pool"):
        sparingly.select(data, "uniform:same_outputs=skip", 5, pool=pool)
