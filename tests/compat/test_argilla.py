"""Settings and records go through Argilla's own SDK, and what it writes comes back."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

import sparingly
from sparingly.data.scale import Scale
from sparingly.run.exchange.argilla import NO_STATUS
from sparingly.run.exchange.tasks import make_tasks
from sparingly.run.forms.form import KINDS, FormKind
from tests.run.exchange.fakes import Answers, argilla_values
from tests.run.exchange.helpers import all_of, awkward, pairs_of, slots

pytestmark = pytest.mark.compat
DATA = awkward()
CHECK = Path(__file__).with_name("argilla_check.py")
ADA, BO = str(UUID(int=1)), str(UUID(int=2))


def five(task: str, token: str, aspect: str) -> float:
    return 5


@pytest.mark.parametrize("kind", KINDS)
def test_the_sdk_reads_what_is_written_and_its_records_are_read(
    kind: FormKind, tool_python: Callable[[str], Path], tmp_path: Path
) -> None:
    pairs = [("1", "7", "a+b"), ("a,b", "模型", "7")]
    chosen = pairs_of(DATA, pairs) if kind == "pair" else all_of(DATA)
    asked: dict[str, Any] = {"kind": kind, "aspects": ["fluency", "<b>odd</b>"], "context_before": 1}
    out = tmp_path / "out"
    options = {"reference": "yes"}
    sparingly.export_tasks(DATA, chosen, to="argilla", folder=out, scale=(0, 10), options=options, **asked)
    tasks = make_tasks(DATA, chosen, scale=Scale(0, 10), **asked)
    answers = Answers(tasks, five)
    records = json.loads((out / "tasks.json").read_text(encoding="utf-8"))
    given = {record["id"]: argilla_values(record, answers) for record in records}
    responses = {
        task: [(ADA, "submitted", values), (BO, "discarded", values)] for task, values in given.items()
    }
    (tmp_path / "responses.json").write_text(json.dumps(responses), encoding="utf-8")
    files = [out / "settings.json", out / "tasks.json", tmp_path / "responses.json", tmp_path]
    command = [str(tool_python("argilla")), str(CHECK), *map(str, files)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    flat = sparingly.import_answers(tmp_path / "flat.jsonl", key=tmp_path / "out.key.json")
    assert flat.left_out == {"skipped or cancelled by the rater": slots(tasks)}
    assert (len(flat), flat.missing) == (slots(tasks), 0)
    assert {row["rater"] for row in flat.rows()} == {ADA}
    nested = sparingly.import_answers(tmp_path / "nested.json", key=tmp_path / "out.key.json")
    assert nested.notes == (NO_STATUS,)
    assert len(nested) == 2 * slots(tasks)
