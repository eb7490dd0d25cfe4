"""lm-evaluation-harness: the chosen documents of every task, for its option ``--samples``.

An item is ``TASK#DOC_ID``, as samples of the harness are read; where the data has the columns ``task`` and
``doc_id`` under other ids, rename the items.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from sparingly.base.catalogue import register
from sparingly.base.errors import DataError
from sparingly.run.exchange.files import write_json
from sparingly.run.exchange.tasks import Tasks
from sparingly.run.exchange.tool import AnnotationTool, Options
from sparingly.run.forms.form import KINDS, Kind


@register("lm-eval")
class LmEval(AnnotationTool):
    """lm-evaluation-harness, which runs the models on the chosen documents."""

    summary: ClassVar[str] = "lm-evaluation-harness: a file for --samples with the chosen documents"
    kinds: ClassVar[tuple[Kind, ...]] = KINDS
    reads: ClassVar[bool] = False
    shows_texts: ClassVar[bool] = False

    def write(self, tasks: Tasks, folder: Path, options: Options) -> list[Path]:
        """Write ``samples.json``: ``{"task": [0, 5, 9]}``."""
        return [write_json(folder / "samples.json", samples_of([question.shown_item for question in tasks]))]


def samples_of(items: Sequence[str]) -> dict[str, list[int]]:
    """Return the documents of every task, in order, from ids ``TASK#DOC_ID``."""
    documents: dict[str, set[int]] = {}
    for item in items:
        task, sign, document = item.rpartition("#")
        if not sign or not task or not (document.isascii() and document.isdigit()):
            raise DataError(
                f'The item "{item}" is not TASK#DOC_ID with a whole number: read the samples of the harness '
                "with its own format, lm_eval."
            )
        documents.setdefault(task, set()).add(int(document))
    return {task: sorted(documents[task]) for task in sorted(documents)}
