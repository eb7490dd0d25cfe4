"""Places on a page: tools with a fixed layout have room for so many outputs, called A, B, C …"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sparingly.run.exchange.tasks import Passage, Task, Tasks

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def slot_label(slot: int) -> str:
    """Return the label of a place, from 1: A, B … Z, AA, AB …."""
    label = ""
    while slot > 0:
        slot, letter = divmod(slot - 1, len(_ALPHABET))
        label = _ALPHABET[letter] + label
    return label


def slot_count(tasks: Tasks) -> tuple[int, int]:
    """Return the least and the most outputs that a task has."""
    counts = [len(task.outputs) for task in tasks] or [0]
    return min(counts), max(counts)


def tokens_in_slots(tasks: Iterable[str]) -> dict[int, str]:
    """Return tokens by their place, from 1."""
    return dict(enumerate(tasks, 1))


def context_text(passages: Sequence[Passage]) -> str:
    """Return the sources of passages, one a paragraph."""
    return "\n\n".join(one.source for one in passages if one.source)


def page_texts(task: Task) -> dict[str, str]:
    """Return the texts around the outputs, empty where there is none: source, reference, before, after."""
    return {
        "before": context_text(task.before),
        "source": task.source or "",
        "after": context_text(task.after),
        "reference": task.reference or "",
    }


def used_texts(tasks: Tasks) -> list[str]:
    """Return which of these texts any task has, in the order to show them."""
    held = [page_texts(task) for task in tasks]
    return [name for name in ("before", "source", "after", "reference") if any(one[name] for one in held)]


HEADINGS = {
    "before": "What comes before",
    "source": "Source",
    "after": "What comes after",
    "reference": "Reference",
}
