"""What an annotation tool is: it writes questions, and reads answers. And what pages of tools share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from sparingly.base.catalogue import find_class, names, registered_classes
from sparingly.base.checks import check_names
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.data.scale import Scale
from sparingly.run.exchange.key import Key
from sparingly.run.exchange.reading import ImportReport, Reading
from sparingly.run.exchange.tasks import Tasks
from sparingly.run.forms.form import FormKind
from sparingly.run.forms.question import Passage, Question

ToolOptions = Mapping[str, str]
PHRASES: dict[FormKind, str] = {
    "score": "scores",
    "pair": "pairs",
    "ranking": "rankings",
    "spans": "marked spans",
}
REFERENCE: ToolOptions = MappingProxyType({"reference": "yes to show the first reference"})
HEADINGS = {
    "before": "What comes before",
    "source": "Source",
    "after": "What comes after",
    "reference": "Reference",
}


class AnnotationTool(ABC):
    """A tool that people judge in. A subclass is one file, registered by ``@register(name)``."""

    kind: ClassVar[str] = "annotation tool"
    name: ClassVar[str]
    summary: ClassVar[str]
    kinds: ClassVar[tuple[FormKind, ...]] = ("score",)
    write_options: ClassVar[ToolOptions] = {}
    read_options: ClassVar[ToolOptions] = {}
    reads: ClassVar[bool] = True
    # A harness that runs the models itself is shown no outputs.
    shows_texts: ClassVar[bool] = True
    # The scale that the tool can ask on, where it has one of its own; answers are converted back.
    own_scale: ClassVar[Scale | None] = None

    @abstractmethod
    def write(self, tasks: Tasks, folder: Path, options: ToolOptions) -> list[Path]:
        """Write the files of the tool into a folder, and return them; no model's name may be in them."""

    def read(self, files: Sequence[Path], reading: Reading, options: ToolOptions) -> ImportReport:
        """Read the answers of the tool."""
        raise UsageError(f"{self.name} gives no answers back: what it makes is read with sparingly load.")

    def check_write(self, tasks: Tasks, options: ToolOptions) -> None:
        """Raise UsageError for a kind of question or an option that the tool does not have."""
        if tasks.kind not in self.kinds:
            raise UsageError(
                f"{self.name} cannot ask for {PHRASES[tasks.kind]}: it takes "
                f"{', '.join(PHRASES[kind] for kind in self.kinds)}."
            )
        self.check_options(options, self.write_options)

    def check_options(self, options: ToolOptions, allowed: ToolOptions) -> None:
        """Raise UsageError for an option that writing or reading does not have."""
        check_names(f"option of {self.name}", options, allowed)

    def asked_scale(self, scale: Scale) -> Scale:
        """Return the scale on which the tool asks for scores of another."""
        return self.own_scale or scale

    def key_for(self, tasks: Tasks) -> Key:
        """Return the key with the name of the tool and the scales that it asks on, where these are others."""
        scales = {name: self.asked_scale(scale) for name, scale in tasks.scales.items()}
        tool_scales = {name: scale for name, scale in scales.items() if scale != tasks.scales[name]}
        return replace(tasks.key, tool=self.name, tool_scales=tool_scales)


def tool_named(name: str) -> AnnotationTool:
    """Return an annotation tool; ``label_studio`` is ``label-studio``."""
    kind = AnnotationTool.kind
    tool: type[AnnotationTool] | None = find_class(name.lower().replace("_", "-"), (kind,))
    if tool is None:
        raise UnknownNameError(kind, name, names((kind,)))
    return tool()


def annotation_tools() -> list[AnnotationTool]:
    """Return all annotation tools, in the order of their names."""
    tools = registered_classes((AnnotationTool.kind,))
    return [tools[name]() for name in sorted(tools)]


# --- what pages and files of tools share ----------------------------------------------------------------


def question_fields(question: Question) -> dict[str, Any]:
    """Return what tools with free fields carry to and fro; empty values are left out."""
    values = {
        "task": question.id,
        "item": question.shown_item,
        "data": question.data,
        "round": question.round,
        "inclusion_probability": question.probability,
        "assigned": question.rater,
        "document": question.document,
        "position": question.position,
        "context": [passage.item for passage in (*question.before, *question.after)],
    }
    return {name: value for name, value in values.items() if value not in (None, "", [])}


def rater_files(tasks: Tasks, folder: Path, ending: str) -> Iterator[tuple[Path, list[Question]]]:
    """Yield a file for the questions of every rater, ``tasks-Ada.json``; ``tasks.json`` is for anyone."""
    stems: set[str] = set()
    for rater, questions in tasks.by_rater().items():
        yield folder / f"{file_stem('tasks', rater, stems)}{ending}", questions


def file_stem(stem: str, name: str | None, stems: set[str]) -> str:
    """Return a safe name for the file of a rater or a task, and remember it: ``tasks-Ada``."""
    if name is not None:
        stem += f"-{''.join(letter if letter.isalnum() else '_' for letter in name)[:60]}"
    numbered, count = stem, 1
    while numbered.lower() in stems:
        count += 1
        numbered = f"{stem}-{count}"
    stems.add(numbered.lower())
    return numbered


def slot_count(tasks: Tasks) -> tuple[int, int]:
    """Return the least and the most outputs that a question has."""
    counts = [len(question.outputs) for question in tasks] or [0]
    return min(counts), max(counts)


def has_whole_steps(scale: Scale) -> bool:
    """Say whether a slider can move by one: both ends are whole numbers, and more than one apart."""
    return float(scale.low).is_integer() and float(scale.high).is_integer() and scale.high - scale.low > 1


def context_text(passages: Sequence[Passage], separator: str = "\n\n") -> str:
    """Return the sources of passages, one a paragraph."""
    return separator.join(passage.source for passage in passages if passage.source)


def page_texts(
    question: Question, options: ToolOptions, names: Collection[str] = tuple(HEADINGS)
) -> dict[str, str]:
    """Return texts around the outputs, empty where there is none: before, source, after, reference.

    The reference is shown only where it is asked for: raters prefer outputs that look like it.
    """
    if options.get("reference", "no") not in ("yes", "no"):
        raise UsageError(f"The option reference is yes or no, not {options['reference']}.")
    texts = {
        "before": context_text(question.before),
        "source": question.source or "",
        "after": context_text(question.after),
        "reference": (question.reference or "") if options.get("reference") == "yes" else "",
    }
    return {name: texts[name] for name in HEADINGS if name in names}


def used_texts(tasks: Tasks, options: ToolOptions) -> list[str]:
    """Return which of these texts any question has, in the order to show them."""
    pages = [page_texts(question, options) for question in tasks]
    return [name for name in HEADINGS if any(page[name] for page in pages)]
