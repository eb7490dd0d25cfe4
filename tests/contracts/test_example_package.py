"""CONTRIBUTING's examples, from a package of its own: found through its entry point, used like ours."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import sparingly
from sparingly.base import catalogue
from sparingly.base.errors import UnknownNameError
from sparingly.base.registry import parse_method, registered
from sparingly.data.io import formats
from sparingly.data.synthetic import load_invented
from sparingly.run.exchange.tool import annotation_tools

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "tests" / "example_package"


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The example package on the path, as if it were installed; nothing of it is left afterwards."""
    monkeypatch.setattr(catalogue, "_CLASSES", {kind: dict(classes) for kind, classes in classes_of_ours()})
    monkeypatch.syspath_prepend(str(PACKAGE))
    catalogue.load_entry_points.cache_clear()
    yield
    sys.modules.pop("loud_methods", None)
    catalogue.load_entry_points.cache_clear()


def classes_of_ours() -> list[tuple[str, dict[str, type]]]:
    for kind in catalogue.CATALOGUE:
        catalogue.registered_classes((kind,))
    return list(catalogue._CLASSES.items())


def test_without_the_package_its_names_are_unknown() -> None:
    with pytest.raises(UnknownNameError, match='no method "loudness"'):
        parse_method("loudness")


@pytest.mark.usefixtures("installed")
def test_methods_of_the_package_are_used_by_name() -> None:
    data = load_invented()
    chosen = sparingly.select(data, "loudness:metric=learned,power=2", 30)
    assert chosen.signature.method.startswith("top:utility=(loudness:")
    sample = sparingly.select(data, "uniform", 60, seed=1)
    loud, plain = (
        sparingly.estimate(data, sample, "overall", estimator=name) for name in ("loud_mean", "mean")
    )
    assert loud.scores.tolist() == plain.scores.tolist()
    assert {"loudness", "loud_mean"} <= set(registered())


@pytest.mark.usefixtures("installed")
def test_its_format_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    path.write_text(json.dumps({"LOUD": {"i1": {"a": 1.0, "b": 2.0}, "i2": {"a": 3.0}}}))
    assert sparingly.load(path).metrics["loudness"].shape == (2, 2)
    assert [format.name for format in formats()][-1] == "loud_json"


@pytest.mark.usefixtures("installed")
def test_its_annotation_tool_writes_tasks(tmp_path: Path) -> None:
    data = load_invented()
    chosen = sparingly.select(data, "uniform", 5)
    sparingly.export_tasks(data, chosen, to="megaphone", folder=tmp_path / "out", aspects=["overall"])
    assert (tmp_path / "out" / "questions.txt").read_text(encoding="utf-8").count("\n") >= 5
    assert "megaphone" in [tool.name for tool in annotation_tools()]


@pytest.mark.journey
def test_the_command_line_finds_it() -> None:
    path = os.pathsep.join([str(ROOT / "src"), str(PACKAGE)])
    command = [sys.executable, "-c", "from sparingly.cli import main; main()", "methods", "loudness"]
    shown = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
    assert "Prefers items on which some model has a high score" in shown.stdout


def test_contributing_shows_the_examples_that_run() -> None:
    source = (PACKAGE / "loud_methods.py").read_text(encoding="utf-8")
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    parts = re.findall(r"^# --8<-- \w.*\n((?:(?!# --8<--).*\n)+)", source, re.M)
    assert len(parts) == 4
    for part in parts:
        assert part.strip() in page
