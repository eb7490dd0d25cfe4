"""What an exchange with a tool is: it writes tasks, and reads answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.data.scale import Scale
from sparingly.run.exchange.key import Key
from sparingly.run.exchange.reading import Taking
from sparingly.run.exchange.report import Taken
from sparingly.run.exchange.tasks import Kind, Passage, Task, Tasks

Options = Mapping[str, str]


class Exchange(ABC):
    """A tool that people judge in. A subclass is one file in this folder and one line in its catalogue."""

    name: ClassVar[str]
    summary: ClassVar[str]
    kinds: ClassVar[tuple[Kind, ...]] = ("score",)
    write_options: ClassVar[Mapping[str, str]] = {}
    read_options: ClassVar[Mapping[str, str]] = {}
    reads: ClassVar[bool] = True
    # A harness that runs the models itself is shown no outputs.
    shows_texts: ClassVar[bool] = True
    # The scale that the tool can ask on, where it has one of its own; answers are converted back.
    own_scale: ClassVar[Scale | None] = None

    @abstractmethod
    def write(self, tasks: Tasks, folder: Path, options: Options) -> list[Path]:
        """Write the files of the tool into a folder, and return them; no model's name may be in them."""

    def read(self, files: Sequence[Path], taking: Taking, options: Options) -> Taken:
        """Read the answers of the tool."""
        raise UsageError(f"{self.name} gives no answers back: what it makes is read with sparingly load.")

    def check_write(self, tasks: Tasks, options: Options) -> None:
        """Complain about a kind of question or an option that the tool does not have."""
        if tasks.kind not in self.kinds:
            raise UsageError(
                f"{self.name} cannot ask for {PHRASES[tasks.kind]}: it takes "
                f"{', '.join(PHRASES[kind] for kind in self.kinds)}."
            )
        _check(self.name, options, self.write_options)

    def check_read(self, options: Options) -> None:
        """Complain about an option that reading does not have."""
        _check(self.name, options, self.read_options)

    def key_for(self, tasks: Tasks) -> Key:
        """Return the key with the name of the tool and the scales that it asks on."""
        own = {} if self.own_scale is None else dict.fromkeys(tasks.scales, self.own_scale)
        others = {name: scale for name, scale in own.items() if scale != tasks.scales[name]}
        return replace(tasks.key, tool=self.name, tool_scales=others)


PHRASES: dict[Kind, str] = {
    "score": "scores",
    "pair": "pairs",
    "ranking": "rankings",
    "spans": "marked spans",
}


def carried(task: Task) -> dict[str, Any]:
    """Return what tools with free fields carry to and fro; empty values are left out."""
    values = {
        "task": task.id,
        "item": task.item,
        "data": task.data,
        "round": task.round,
        "inclusion_probability": task.probability,
        "assigned": task.rater,
        "document": task.document,
        "position": task.position,
        "context": [one.item for one in (*task.before, *task.after)],
    }
    return {name: value for name, value in values.items() if value not in (None, "", [])}


def file_stem(rater: str | None, taken: set[str]) -> str:
    """Return a safe name for the files of a rater, and remember it: ``tasks`` for anyone, ``tasks-Ada``."""
    plain = "" if rater is None else "".join(letter if letter.isalnum() else "_" for letter in rater)[:60]
    stem = number = f"tasks-{plain}" if rater is not None else "tasks"
    count = 1
    while number.lower() in taken:
        count += 1
        number = f"{stem}-{count}"
    taken.add(number.lower())
    return number


def _check(name: str, options: Options, known: Mapping[str, str]) -> None:
    for given in options:
        if given not in known:
            raise UnknownNameError(f"option of {name}", given, known)


# A tool is one file: its name, and where its class lives. Modules are loaded when they are asked for.
TOOLS = {
    "appraise": "appraise:Appraise",
    "argilla": "argilla:Argilla",
    "csv": "csv_table:CsvTable",
    "inspect": "inspect_ai:InspectAi",
    "label-studio": "label_studio:LabelStudio",
    "lm-eval": "lm_eval:LmEval",
    "pearmut": "pearmut:Pearmut",
    "potato": "potato:Potato",
    "prodigy": "prodigy:Prodigy",
}


def exchange_named(name: str) -> Exchange:
    """Return the exchange with a tool; ``label_studio`` is ``label-studio``."""
    spelled = name.lower().replace("_", "-")
    if spelled not in TOOLS:
        raise UnknownNameError("annotation tool", name, TOOLS)
    module, _, what = TOOLS[spelled].partition(":")
    found: Exchange = getattr(import_module(f"sparingly.run.exchange.{module}"), what)()
    return found


def exchanges() -> list[Exchange]:
    """Return the exchanges with all tools, in the order of their names."""
    return [exchange_named(name) for name in sorted(TOOLS)]


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
