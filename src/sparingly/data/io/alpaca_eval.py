"""AlpacaEval: outputs ``[{"instruction", "output", "generator", "dataset"}]`` and annotations of pairs.

Annotations are ``[{"instruction", "output_1", "generator_1", "output_2", "generator_2", "annotator",
"preference"}]`` with a preference of 1 (the first is better), 2 (the second), 1.5 or 0 (a draw) or anything
between 1 and 2; here it becomes ``3 - 2 * preference``, from 1 for the first to -1 for the second. Without a
preference (null) there is no row; the column ``missing_preferences`` counts these for each item.
An item is an instruction (with its ``input``): its id is a digest of the text, its source the text itself.
A file holds one kind or the other; a directory is searched with its folders for files of both.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from sparingly.base.catalogue import register
from sparingly.base.errors import InputError
from sparingly.data.evalset import EvalSet
from sparingly.data.io.builder import EvalSetBuilder
from sparingly.data.io.format import (
    MISSING_PREFERENCES,
    Head,
    Options,
    digest_id,
    first_record,
    located,
    names_in,
    read_records,
)
from sparingly.data.io.log import LogFormat
from sparingly.data.values import as_number, as_text, shown

_FILES = ("model_outputs.json", "reference_outputs.json", "annotations.json")
_OUTPUT = ("instruction", "input", "output", "generator")
_PAIR = ("output_1", "generator_1", "output_2", "generator_2", "annotator", "preference")
_OF_ITEM = ("dataset", "datasplit")


@register("alpaca_eval")
class AlpacaEval(LogFormat):
    """Outputs and annotations of AlpacaEval."""

    summary: ClassVar[str] = "AlpacaEval: model_outputs.json and annotations.json, or a directory of them"
    terms: ClassVar[dict[str, str]] = {
        "item": "instruction",
        "input": "instruction",
        "output": "output",
        "model": "generator",
        "preference": "preference",
    }
    options: ClassVar[dict[str, str]] = {
        "outputs": "further files of outputs, as a,b",
        "annotations": "further files of annotations, as a,b",
    }

    def recognises(self, head: Head) -> bool:
        """Look for outputs by generator or for annotations, also in the folders of a directory."""
        if head.is_directory:
            return any(True for name in _FILES for _ in _found_in(head.path, name))
        return _kind(head) is not None

    def read(self, path: Path, options: Options) -> EvalSet:
        """Read the files of outputs, then those of annotations."""
        found_files = list(_found_in(path)) if path.is_dir() else [(_kind(Head(path)), path)]
        named_files = [
            (kind, _path(path, file)) for kind in self.options for file in names_in(options.get(kind))
        ]
        # A file that is named and found as well is read once.
        kind_and_file = {file.resolve(): (kind, file) for kind, file in (*found_files, *named_files)}
        reader = _AlpacaReader(EvalSetBuilder(path))
        for kind, file in sorted(
            kind_and_file.values(), key=lambda pair: (pair[0] != "outputs", str(pair[1]))
        ):
            if kind is None:
                raise InputError(
                    "these are neither outputs nor annotations of AlpacaEval",
                    file=file,
                    fix="Give model_outputs.json or annotations.json",
                )
            reader.start(file)
            take = reader.take_output if kind == "outputs" else reader.take_annotation
            located(read_records(file), file, take)
        return reader.finish()


class _AlpacaReader:
    """Puts the records of several files together, by instruction and generator."""

    def __init__(self, builder: EvalSetBuilder) -> None:
        self.builder = builder
        self.file = Path()
        self.texts: dict[tuple[int, int], str] = {}
        self.places: dict[tuple[int, int], tuple[Path, int]] = {}
        self.missing: dict[int, int] = {}

    def start(self, file: Path) -> None:
        self.file = file

    def take_output(self, line: int, record: dict[str, Any]) -> None:
        item = self._item(line, record)
        model = self.builder.model(_required_text(record, "generator"), "generator")
        earlier = self.places.get((item, model))
        if earlier is not None and earlier[0] == self.file:
            raise InputError(
                f"the instruction {shown(record['instruction'])} is there twice for one generator "
                f"(first on line {earlier[1]})",
                field="instruction",
                fix="Keep one of them",
            )
        self._text(line, item, model, record.get("output"), "output")
        for name, value in record.items() if earlier is None else ():
            if name not in _OUTPUT and name not in _OF_ITEM:
                self.builder.cell(item, model, name, value)

    def take_annotation(self, line: int, record: dict[str, Any]) -> None:
        item = self._item(line, record)
        models = [_required_text(record, f"generator_{side}") for side in (1, 2)]
        for side, model in zip((1, 2), models, strict=True):
            key = f"output_{side}"
            self._text(line, item, self.builder.model(model, f"generator_{side}"), record.get(key), key)
        value = _value(record.get("preference"))
        if value is None:
            self.missing[item] = self.missing.get(item, 0) + 1
            return
        extra = {
            name: content for name, content in record.items() if name not in (*_OUTPUT, *_PAIR, *_OF_ITEM)
        }
        self.builder.preference(item, models[0], models[1], value, rater=record.get("annotator"), extra=extra)

    def finish(self) -> EvalSet:
        for item, count in self.missing.items():
            self.builder.column(item, MISSING_PREFERENCES, count)
        return self.builder.build()

    def _item(self, line: int, record: dict[str, Any]) -> int:
        text = _required_text(record, "instruction")
        if further := as_text(record.get("input"), "input"):
            text = f"{text}\n\n{further}"
        self.builder.line = line
        item = self.builder.item(digest_id("alpaca", text), "instruction")
        self.builder.source(item, text)
        for name in _OF_ITEM:
            self.builder.column(item, name, record.get(name))
        return item

    def _text(self, line: int, item: int, model: int, output: Any, field: str) -> None:
        """Take an output, which may be met again in other files and annotations but must stay the same."""
        self.places.setdefault((item, model), (self.file, line))
        text, earlier_text = as_text(output, field), self.texts.get((item, model))
        if text is None or text == earlier_text:
            return
        if earlier_text is not None:
            file, place = self.places[item, model]
            raise InputError(
                f"the generator has another output for this instruction in {file.name}, line {place}",
                field=field,
                fix="Load only files of one run of each generator",
            )
        self.texts[item, model] = text
        self.builder.output(item, model, text, field)


def _value(preference: Any) -> float | None:
    """Turn 1 … 2 (0 is a draw too) into 1 … -1; None when there is no preference."""
    number = as_number(preference, "preference")
    if number != number:
        return None
    if number == 0:
        return 0.0
    if not 1 <= number <= 2:
        raise InputError(
            f"{shown(preference)} is not a preference",
            field="preference",
            fix="Write 1, 2, a number between them, 0 for a draw, or null",
        )
    return 3 - 2 * number


def _required_text(record: dict[str, Any], key: str) -> str:
    text = as_text(record.get(key), key)
    if text is None:
        raise InputError(f"the record has no {key}", field=key, fix=f'Add "{key}" to it')
    return text


def _kind(head: Head) -> str | None:
    """Say what a file holds: outputs, annotations or, with None, something else."""
    record = first_record(head)
    if record is None or "instruction" not in record:
        return None
    if {"generator_1", "generator_2", "preference"} <= set(record):
        return "annotations"
    return "outputs" if {"output", "generator"} <= set(record) else None


def _found_in(folder: Path, name: str = "*.json") -> Iterator[tuple[str, Path]]:
    """Yield the files of outputs and of annotations in a directory and three levels of folders."""
    for depth in range(4):
        for file in sorted(folder.glob("*/" * depth + name)):
            if (kind := _kind(Head(file))) is not None:
                yield kind, file


def _path(base: Path, name: str) -> Path:
    """Return a file named by an option: beside the file or in the directory, or from where one stands."""
    inside = (base if base.is_dir() else base.parent) / name
    path = inside if inside.exists() or not Path(name).exists() else Path(name)
    if not path.is_file():
        raise InputError("there is no such file", file=path)
    return path
