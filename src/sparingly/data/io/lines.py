"""Plain text files, one segment a line, aligned by line, as sacrebleu takes them: a directory of them.

``source.txt`` (or ``src…txt``), ``ref.txt``, ``refA.txt``, ``ref.NAME.txt`` …, and one more ``.txt`` for each
model, named after it (``model.NAME.txt`` where NAME looks like one of the others). The ids of the items stand
in ``ids.txt``, if there is one; otherwise they are made from the places of the lines (``line-000001`` …),
because the format has nothing else, and all files must have the same number of lines.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from sparingly.base.catalogue import register
from sparingly.base.errors import InputError
from sparingly.data import files
from sparingly.data.evalset import EvalSet
from sparingly.data.io.builder import EvalSetBuilder
from sparingly.data.io.format import (
    Format,
    Head,
    Options,
    check_lengths,
    line_id,
    names_in,
    names_of_files,
    read_lines,
)
from sparingly.data.values import shown

_SOURCE = re.compile(r"(source|src)([._-].*)?")
_REFERENCE = re.compile(r"(ref|references?)([a-z]|[A-Z0-9._-].*)?")
# Signs that a name may hold and a file name may not.
_ESCAPES = {"%": "%25", "/": "%2F", "\\": "%5C"}


@register("lines")
class Lines(Format):
    """Line-aligned text files in a directory."""

    summary: ClassVar[str] = "directory of line-aligned text files: source, references, one per model"
    options: ClassVar[dict[str, str]] = {
        "source": "the file of the sources",
        "references": "the files of the references, as a,b",
        "models": "the files of the models, as a,b",
        "ids": "the file of the items' ids",
    }
    writes: ClassVar[bool] = True
    carries: ClassVar[frozenset[str]] = frozenset({"sources", "outputs", "references"})

    def recognises(self, head: Head) -> bool:
        """Look for a model's text file beside sources or references."""
        if not head.is_directory:
            return False
        text_files = _found_in(head.path)
        return bool(text_files.models) and bool(text_files.source or text_files.references)

    def read(self, path: Path, options: Options) -> EvalSet:
        """Read every file and put the lines together."""
        if not path.is_dir():
            raise InputError("expected a directory of text files", file=path)
        text_files = _chosen(path, options)
        paths = [
            *text_files.source.values(),
            *text_files.references.values(),
            *text_files.ids,
            *text_files.models.values(),
        ]
        if not paths:
            raise InputError("there is no text file in it", file=path)
        texts = {file: read_lines(file) for file in paths}
        count = check_lengths(texts)
        builder = EvalSetBuilder(path)
        names = texts[text_files.ids[0]] if text_files.ids else [line_id(place) for place in range(count)]
        for place, name in enumerate(names):
            builder.line = place + 1
            try:
                builder.new_item(name, "ids")
            except InputError as error:
                raise error.at(file=text_files.ids[0] if text_files.ids else None, line=place + 1) from None
        _take_texts(builder, text_files, texts)
        return builder.build()

    def write(self, data: EvalSet, path: Path) -> None:
        """Write a new directory, whole or not at all."""
        contents = {f"{name}.txt": _file_content(name, data, texts) for name, texts in _columns(data).items()}
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise InputError("there is something already", file=path, fix="Name a new directory")
        with files.naming_target(path):
            temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
            try:
                for name, content in contents.items():
                    files.write_bytes(temporary / name, content)
                mask = os.umask(0)
                os.umask(mask)
                temporary.chmod(0o777 & ~mask)
                temporary.rename(path)
            except BaseException:
                shutil.rmtree(temporary, ignore_errors=True)
                raise


@dataclass
class _Files:
    """The files of a directory by what they hold; ``source`` and ``ids`` have at most one."""

    source: dict[str, Path] = field(default_factory=dict)
    references: dict[str, Path] = field(default_factory=dict)
    models: dict[str, Path] = field(default_factory=dict)
    ids: list[Path] = field(default_factory=list)


def _found_in(folder: Path, besides: Iterable[Path] = ()) -> _Files:
    """Sort the text files of a directory by their names, without some that are spoken for."""
    text_files, left_out = _Files(), set(besides)
    with files.naming(folder):
        paths = sorted(file for file in folder.iterdir() if file.is_file() and file not in left_out)
    for file in paths:
        if files.extension(file) != ".txt" or file.name.startswith("."):
            continue
        name = file.name
        for suffix in files.COMPRESSIONS:
            name = name.removesuffix(suffix)
        bare = name[: -len(".txt")]
        if bare == "ids":
            text_files.ids.append(file)
        elif _SOURCE.fullmatch(bare):
            text_files.source[bare] = file
        elif _REFERENCE.fullmatch(bare):
            text_files.references[_unescaped(bare.removeprefix("ref."))] = file
        else:
            text_files.models[_unescaped(bare.removeprefix("model."))] = file
    return text_files


def _chosen(folder: Path, options: Options) -> _Files:
    """Return the files that the options name, and those found for what they do not name."""
    paths_by_option = {
        name: [_path(folder, file) for file in names_in(options.get(name))] for name in Lines.options
    }
    text_files = _found_in(folder, besides=[file for paths in paths_by_option.values() for file in paths])
    for name in ("source", "references", "models"):
        if name in options:
            texts = [str(file) for file in names_in(options[name])]
            setattr(text_files, name, dict(zip(names_of_files(texts), paths_by_option[name], strict=True)))
    if "ids" in options:
        text_files.ids = paths_by_option["ids"]
    for kind, several in (("source", list(text_files.source.values())), ("ids", text_files.ids)):
        if len(several) > 1:
            raise InputError(
                f"there are several: {', '.join(file.name for file in several)}",
                file=folder,
                field=kind,
                fix=f"Choose one with {kind}={several[0].name}",
            )
    return text_files


def _path(folder: Path, name: str) -> Path:
    """Return a file named by an option: in the directory, or from where the command runs."""
    inside = folder / name
    path = inside if inside.exists() or not Path(name).exists() else Path(name)
    if not path.is_file():
        raise InputError("there is no such file", file=path)
    return path


def _take_texts(builder: EvalSetBuilder, text_files: _Files, texts: dict[Path, list[str]]) -> None:
    for file in text_files.source.values():
        for place, text in enumerate(texts[file]):
            builder.source(place, text)
    for name, file in text_files.references.items():
        for place, text in enumerate(texts[file]):
            builder.reference(place, name, text)
    for name, file in text_files.models.items():
        model = builder.model(name)
        for place, text in enumerate(texts[file]):
            builder.output(place, model, text)


# --- writing --------------------------------------------------------------------------------------


def _columns(data: EvalSet) -> dict[str, Any]:
    """Return the texts of every file by the file's name."""
    if data.outputs is None:
        raise InputError("there are no outputs to write as lines")
    columns: dict[str, Any] = {"ids": data.items}
    if data.sources is not None:
        columns["source"] = data.sources
    if data.reference_texts is not None:
        for name, texts in zip(data.references, data.reference_texts.T, strict=True):
            bare = _escaped(name)
            columns[
                (bare if _REFERENCE.fullmatch(bare) and not bare.startswith("ref.") else f"ref.{bare}")
            ] = texts
    for place, name in enumerate(data.models):
        columns[_model_file(name)] = data.outputs[:, place]
    return columns


def _model_file(name: str) -> str:
    bare = _escaped(name)
    has_meaning = (
        bare == "ids"
        or bare.startswith((".", "model."))
        or _SOURCE.fullmatch(bare)
        or _REFERENCE.fullmatch(bare)
    )
    return f"model.{bare}" if has_meaning else bare


def _file_content(name: str, data: EvalSet, texts: Any) -> bytes:
    """Return the lines of a file; a text that is missing or holds a line break cannot be one."""
    lines = []
    for row in data.file_order:
        text = texts[row]
        if text is None or "\n" in text or "\r" in text:
            trouble = "is missing" if text is None else "holds a line break"
            raise InputError(
                f"the text of the item {shown(data.items[row])} {trouble}, which aligned lines cannot say",
                file=f"{name}.txt",
                fix="Leave the item or the model out, or write jsonl",
            )
        lines.append(text)
    return "".join(f"{line}\n" for line in lines).encode()


def _escaped(name: str) -> str:
    return "".join(_ESCAPES.get(sign, sign) for sign in name)


def _unescaped(name: str) -> str:
    for sign, code in reversed(_ESCAPES.items()):
        name = name.replace(code, sign)
    return name
