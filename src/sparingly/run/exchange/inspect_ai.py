"""inspect_ai: the chosen samples, for its option ``--sample-id``.

An item is the sample's id, or ``TASK/ID`` where several tasks were read from one table; there is one list for
each task then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from sparingly.base.catalogue import register
from sparingly.base.errors import DataError, UsageError
from sparingly.run.exchange.files import write_text
from sparingly.run.exchange.tasks import Tasks
from sparingly.run.exchange.tool import AnnotationTool, Options, file_stem
from sparingly.run.forms.form import KINDS, Kind


@register("inspect")
class InspectAi(AnnotationTool):
    """inspect_ai, which runs the models on the chosen samples."""

    summary: ClassVar[str] = "inspect_ai: lists for --sample-id with the chosen samples"
    kinds: ClassVar[tuple[Kind, ...]] = KINDS
    reads: ClassVar[bool] = False
    shows_texts: ClassVar[bool] = False
    write_options: ClassVar[Mapping[str, str]] = {
        "tasks": "true: items are TASK/ID, and every task has its own list (one list unless given)",
    }

    def write(self, tasks: Tasks, folder: Path, options: Options) -> list[Path]:
        """Write ``sample-id.txt`` with the ids in one line, or one such file for each task."""
        if options.get("tasks", "true") not in ("true", "false"):
            raise UsageError(f"The option tasks is true or false, not {options['tasks']}.")
        items = [question.shown_item for question in tasks]
        by_task = _by_task(items) if options.get("tasks") == "true" else {None: items}
        stems: set[str] = set()
        return [
            write_text(
                folder / f"{file_stem(task, stems).replace('tasks', 'sample-id', 1)}.txt", _line(samples)
            )
            for task, samples in by_task.items()
        ]


def _by_task(items: Sequence[str]) -> dict[str | None, list[str]]:
    samples: dict[str | None, list[str]] = {}
    for item in items:
        task, sign, sample = item.rpartition("/")
        if not sign or not task or not sample:
            raise DataError(f'The item "{item}" is not TASK/ID: leave out the option tasks.')
        samples.setdefault(task, []).append(sample)
    return samples


def _line(items: Sequence[str]) -> str:
    for item in items:
        if "," in item or "\n" in item:
            raise DataError(f'The id "{item}" has a comma or a new line: --sample-id takes it for two.')
    return ",".join(sorted(set(items))) + "\n"
