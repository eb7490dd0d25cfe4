"""Harnesses that run the models themselves: lists of the chosen samples for lm-eval and inspect_ai.

An item of lm-evaluation-harness is ``TASK#DOC_ID``, as its samples are read; where the data has the columns
``task`` and ``doc_id`` under other ids, rename the items. An item of inspect_ai is the sample's id, or
``TASK/ID`` where several tasks were read from one table; there is one list for each task then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from sparingly.base.catalogue import register
from sparingly.base.errors import DataError, UsageError
from sparingly.run.exchange.files import write_json, write_text
from sparingly.run.exchange.tasks import Tasks
from sparingly.run.exchange.tool import AnnotationTool, ToolOptions, file_stem
from sparingly.run.forms.form import KINDS, FormKind


@register("lm-eval")
class LmEval(AnnotationTool):
    """lm-evaluation-harness: the chosen documents of every task, for its option ``--samples``."""

    summary: ClassVar[str] = "lm-evaluation-harness: a file for --samples with the chosen documents"
    kinds: ClassVar[tuple[FormKind, ...]] = KINDS
    reads: ClassVar[bool] = False
    shows_texts: ClassVar[bool] = False

    def write(self, tasks: Tasks, folder: Path, options: ToolOptions) -> list[Path]:
        """Write ``samples.json``: ``{"task": [0, 5, 9]}``."""
        return [write_json(folder / "samples.json", samples_of([question.shown_item for question in tasks]))]


def samples_of(items: Sequence[str]) -> dict[str, list[int]]:
    """Return the documents of every task, in order, from ids ``TASK#DOC_ID``."""
    documents: dict[str, set[int]] = {}
    for item in items:
        task, _, document = item.rpartition("#")
        if not task or not (document.isascii() and document.isdigit()):
            raise DataError(
                f'The item "{item}" is not TASK#DOC_ID with a whole number: read the samples of the harness '
                "with its own format, lm_eval."
            )
        documents.setdefault(task, set()).add(int(document))
    return {task: sorted(documents[task]) for task in sorted(documents)}


@register("inspect")
class InspectAi(AnnotationTool):
    """inspect_ai: the chosen samples, for its option ``--sample-id``."""

    summary: ClassVar[str] = "inspect_ai: lists for --sample-id with the chosen samples"
    kinds: ClassVar[tuple[FormKind, ...]] = KINDS
    reads: ClassVar[bool] = False
    shows_texts: ClassVar[bool] = False
    write_options: ClassVar[Mapping[str, str]] = {
        "tasks": "true: items are TASK/ID, and every task has its own list (default: one list)",
    }

    def write(self, tasks: Tasks, folder: Path, options: ToolOptions) -> list[Path]:
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
            stem = file_stem("sample-id", name, stems)
            paths.append(write_text(folder / f"{stem}.txt", ",".join(sorted(set(samples))) + "\n"))
        return paths
