"""Places on a page: tools with a fixed layout have room for so many outputs, called by letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from sparingly.base.errors import UsageError
from sparingly.run.exchange.exchange import Options
from sparingly.run.exchange.tasks import Passage, Task, Tasks

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def slot_label(slot: int) -> str:
    """Return the label of a place, from 1: A, B and so on, AA after Z."""
    label = ""
    while slot > 0:
        slot, letter = divmod(slot - 1, len(_ALPHABET))
        label = _ALPHABET[letter] + label
    return label


def slot_count(tasks: Tasks) -> tuple[int, int]:
    """Return the least and the most outputs that a task has."""
    counts = [len(task.outputs) for task in tasks] or [0]
    return min(counts), max(counts)


def context_text(passages: Sequence[Passage]) -> str:
    """Return the sources of passages, one a paragraph."""
    return "\n\n".join(one.source for one in passages if one.source)


def page_texts(task: Task, options: Options) -> dict[str, str]:
    """Return the texts around the outputs, empty where there is none: before, source, after, reference.

    The reference is shown only where it is asked for: raters prefer outputs that look like it.
    """
    return {
        "before": context_text(task.before),
        "source": task.source or "",
        "after": context_text(task.after),
        "reference": (task.reference or "") if shows_reference(options) else "",
    }


def shows_reference(options: Options) -> bool:
    """Say whether the option ``reference`` is ``yes``."""
    if options.get("reference", "no") not in ("yes", "no"):
        raise UsageError(f"The option reference is yes or no, not {options['reference']}.")
    return options.get("reference") == "yes"


def used_texts(tasks: Tasks, options: Options) -> list[str]:
    """Return which of these texts any task has, in the order to show them."""
    held = [page_texts(task, options) for task in tasks]
    return [name for name in HEADINGS if any(one[name] for one in held)]


REFERENCE: Mapping[str, str] = MappingProxyType({"reference": "yes to show the first reference"})
HEADINGS = {
    "before": "What comes before",
    "source": "Source",
    "after": "What comes after",
    "reference": "Reference",
}
