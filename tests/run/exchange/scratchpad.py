"""An annotation tool in one file, as CONTRIBUTING.md describes it: JSON Lines with one output each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from sparingly.base.catalogue import register
from sparingly.run.exchange.files import read_json_rows, write_jsonl
from sparingly.run.exchange.reading import ImportReport, Reading, Submission
from sparingly.run.exchange.tasks import Tasks
from sparingly.run.exchange.tool import AnnotationTool, ToolOptions


@register("scratchpad")
class Scratchpad(AnnotationTool):
    """A line for each output; raters add ``by`` and their ``scores``."""

    summary: ClassVar[str] = "one JSON object a line, to fill in by hand"

    def write(self, tasks: Tasks, folder: Path, options: ToolOptions) -> list[Path]:
        """Write ``outputs.jsonl``."""
        lines: list[dict[str, Any]] = [
            {"task": question.id, "token": output.token, "text": output.text, "scores": {}}
            for question in tasks
            for output in question.outputs
        ]
        return [write_jsonl(folder / "outputs.jsonl", lines)]

    def read(self, files: Sequence[Path], reading: Reading, options: ToolOptions) -> ImportReport:
        """Read lines that were filled in."""
        for origin, line in (row for path in files for row in read_json_rows(path)):
            question = reading.question(line.get("task"), origin)
            if question is not None:
                for aspect in reading.key.aspects:
                    score = line["scores"].get(aspect)
                    reading.score(question, line["token"], aspect, score, Submission(line["by"], origin))
        return reading.report()
