"""Families that are left out, and what encoders predicted of them elsewhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.distil_holdout import UTILITIES, folds, sources_of, told_elsewhere
from sparingly.data.evalset import EvalSet


def _set(*sources: str) -> EvalSet:
    return EvalSet.from_arrays([f"i{place}" for place in range(len(sources))], ["m"], sources=sources)


def test_predictions_are_read_family_by_family(tmp_path: Path) -> None:
    values = np.arange(10, dtype=np.float32).reshape(2, 5)
    np.savez(tmp_path / "wmt23.npz", wmt23_ende=values, wmt23_zhen=values + 1)
    np.savez(tmp_path / "biomqm.npz", biomqm_deen=values - 1)

    found = told_elsewhere(tmp_path, ["wmt23_zhen", "biomqm_deen"])

    assert len(found) == 2 * len(UTILITIES)
    assert found["wmt23_zhen", "encoder", "metric_avg"].tolist() == [1.0, 6.0]
    assert found["biomqm_deen", "encoder", "diffdisc"].tolist() == [3.0, 8.0]


def test_a_family_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"wmt24\.npz is not there: python -m benchmarks\.distil_encoder"):
        told_elsewhere(tmp_path, ["wmt24_encs"])


def test_nothing_is_learned_from_a_text_that_is_left_out() -> None:
    sets = {"wmt23_a": _set("x", "y"), "wmt24_b": _set("y", "z"), "biomqm_c": _set("z", "w")}
    by_family = {fold.family: fold for fold in folds(sets)}
    assert set(by_family) == {"wmt23", "wmt24", "biomqm"}
    assert set(by_family["wmt24"].new) == {"wmt24_b"}
    assert sources_of(by_family["wmt24"].past["wmt23_a"]) == ["x"]
    assert sources_of(by_family["wmt24"].past["biomqm_c"]) == ["w"]
