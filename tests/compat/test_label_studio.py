"""Configs, tasks and annotations go through Label Studio's own SDK, and its JSON_MIN comes back."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sparingly
from sparingly.data.scale import Scale
from sparingly.run.exchange.tasks import make_tasks
from sparingly.run.forms.form import FormKind
from tests.run.exchange.fakes import Answers, label_studio
from tests.run.exchange.helpers import all_of, awkward, pairs_of, slots

pytestmark = pytest.mark.compat
DATA = awkward()
CHECK = Path(__file__).with_name("label_studio_check.py")
CASES: list[tuple[FormKind, dict[str, str]]] = [
    ("score", {}),
    ("score", {"reference": "yes"}),
    ("pair", {}),
    ("pair", {"pairwise": "true"}),
    ("ranking", {}),
    ("ranking", {"ties": "true"}),
    ("spans", {}),
]


def five(task: str, token: str, aspect: str) -> float:
    return 5.0


def pairwise(entries: list[dict[str, Any]]) -> None:
    """Turn choices into the results of a Pairwise tag, with a Choices tag for ties."""
    for entry in entries:
        for result in entry["annotations"][0]["result"]:
            side = result["value"]["choices"][0]
            if side == "tie":
                result["from_name"] = result["from_name"].replace("preference", "tie")
            else:
                # The server writes both targets here, which the SDK's own check of results does not know.
                result |= {"type": "pairwise", "value": {"selected": side}, "to_name": "output_1"}


@pytest.mark.parametrize(("kind", "options"), CASES)
def test_the_sdk_accepts_what_is_written_and_its_export_is_read(
    kind: FormKind, options: dict[str, str], tool_python: Callable[[str], Path], tmp_path: Path
) -> None:
    chosen = (
        pairs_of(DATA, [("1", "7", "a+b"), ("a,b", "模型", "7"), ("plain", "7", 'say "hi"')])
        if kind == "pair"
        else all_of(DATA)
    )
    asked: dict[str, Any] = {"kind": kind, "aspects": ["fluency", "<b>odd</b>"], "context_before": 1}
    out = tmp_path / "ls"
    sparingly.export_tasks(
        DATA, chosen, to="label-studio", folder=out, scale=(0, 10), options=options, **asked
    )
    tasks = make_tasks(DATA, chosen, scale=Scale(0, 10), **asked)
    (export,) = label_studio([out / "tasks.json"], Answers(tasks, five))
    entries = json.loads(export.read_text(encoding="utf-8"))
    if options.get("pairwise"):
        pairwise(entries)
    if options.get("ties"):
        for entry in entries:
            for result in entry["annotations"][0]["result"]:
                place = result["from_name"].rpartition("_")[2]
                order = enumerate(result["value"]["ranker"]["_"], 1)
                result["value"]["ranker"] = {f"rank_{place}_{rank}": [one] for rank, one in order}
    export.write_text(json.dumps(entries), encoding="utf-8")
    files = [out / "config.xml", out / "tasks.json", export, tmp_path / "min"]
    command = [str(tool_python("label-studio")), str(CHECK), *map(str, files)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    (small,) = (tmp_path / "min").glob("*.json")
    rows = []
    for file in (export, small):
        taken = sparingly.import_answers(file, key=tmp_path / "ls.key.json")
        assert (taken.left_out, taken.missing) == ({}, 0)
        assert len(taken) == slots(tasks)
        rows.append([{**row, "seconds": None} for row in taken.rows()])
    assert rows[0] == rows[1]
