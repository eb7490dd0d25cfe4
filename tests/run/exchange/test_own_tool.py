"""A tool of one file is exported to and imported from by its name."""

from __future__ import annotations

import json
from pathlib import Path

from sparingly.run.exchange.export_import import export_tasks, import_answers
from tests.run.exchange.asked import asked_set, everything
from tests.run.exchange.scratchpad import Scratchpad


def test_a_tool_of_one_file(tmp_path: Path) -> None:
    data = asked_set()
    done = export_tasks(data, everything(data), to="scratchpad", folder=tmp_path / "out")
    (path,), key = done.files, done.key
    assert key is not None
    assert not any(model in path.read_text("utf-8") for model in ("sys+2 (large)", 'the "best" <b>'))
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    filled = [{**line, "by": "Ada", "scores": {"overall": 11 * place}} for place, line in enumerate(lines)]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in filled), "utf-8")
    report = import_answers(path, key=key)
    assert done.tool == Scratchpad.name
    assert (report.read, report.missing, report.left_out) == (
        len(lines),
        1,
        {"a score outside the scale 0 to 100": 1},
    )
