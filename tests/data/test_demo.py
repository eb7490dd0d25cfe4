"""The demo set: real, small, with its source beside it, and made again byte for byte by the tool."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from sparingly.data.demo import FILE, load_demo
from sparingly.data.describe import describe
from tools.demo_data import cut

FOLDER = resources.files("sparingly.data.demo")


@pytest.mark.shared_data
def test_the_tool_makes_the_same_bytes(shared_data: Path, tmp_path: Path) -> None:
    cut(shared_data / "biomqm_deen.jsonl.gz", tmp_path / FILE)
    assert (tmp_path / FILE).read_bytes() == (FOLDER / FILE).read_bytes()


def test_it_is_small_and_says_where_it_is_from() -> None:
    assert len((FOLDER / FILE).read_bytes()) < 100_000
    said = (FOLDER / "SOURCE.md").read_text(encoding="utf-8")
    assert "amazon-science/bio-mqm-dataset" in said
    assert "Apache License 2.0" in said
    data = load_demo()
    assert f"{len(data)} sentences\n  of {len(set(data.columns['document']))} documents" in said


def test_every_output_is_judged_and_nothing_is_odd() -> None:
    data = load_demo()
    found = describe(data)
    assert data.name == "demo"
    assert load_demo() is data
    assert np.isfinite(data.aspects["mqm"]).all()
    assert data.aspects["mqm"].max() == 0
    assert data.reference_texts is not None
    assert all(all(row) for row in data.reference_texts)
    assert found.documents is not None
    assert found.documents.in_order
    assert found.ratings is not None
    assert len(found.ratings.raters) == 3
    assert [note.kind for note in found.odd] == ["near_duplicate_models"]
