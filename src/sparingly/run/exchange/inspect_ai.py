"""inspect_ai: the chosen samples, for its option ``--sample-id``.

An item is the sample's id, or ``TASK/ID`` where several tasks were read from one table; there is one list for
each task then.
"""

from __future__ import annotations

from collections.abc import Mapping
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
        by_task: dict[str | None, list[str]] = {}
        for item in (question.shown_item for question in tasks):
            task, _, sample = item.rpartition("/")
            if options.get("tasks") != "true":
                by_task.setdefault(None, []).append(item)
            elif task and sample:
                by_task.setdefault(task, []).append(sample)
            else:
                raise DataError(f'The item "{item}" is not TASK/ID: leave out the option tasks.')
        paths, stems = [], set[str]()
        for name, samples in by_task.items():
            for sample in samples:
                if "," in sample or "\n" in sample:
                    raise DataError(
                        f'The id "{sample}" has a comma or a new line: --sample-id takes it for two.'
                    )
            stem = file_stem(name, stems).replace("tasks", "sample-id", 1)
            paths.append(write_text(folder / f"{stem}.txt", ",".join(sorted(set(samples))) + "\n"))
        return paths
