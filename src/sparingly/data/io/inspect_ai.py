"""Logs of inspect_ai: ``.eval`` and ``.json`` files, a folder of them, or the table of ``samples_df``.

A sample has an id, an epoch, an input (with its choices), a target and a score of every scorer: numbers, the
letters C, P, I and N (1, 0.5, 0 and 0 as inspect counts them), truth values and words, or an object of these
(``style.short``). Epochs are repeats. The score that a scorer gave is a metric; where somebody edited it in
the log, the new value is a rating by the author of the edit. Metadata are columns.

In logs of several tasks an item is called ``task/id`` where tasks use the same ids. The table (Parquet or
CSV) has a row for each sample; it holds outputs only if a column was added for them.
"""

from __future__ import annotations

import io
import math
import re
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from struct import unpack_from
from types import TracebackType
from typing import Any, ClassVar

from sparingly.base.catalogue import register
from sparingly.base.errors import InputError, UnknownNameError
from sparingly.base.lazy import pl
from sparingly.data import files
from sparingly.data.evalset import EvalSet
from sparingly.data.io.columns import TableSource
from sparingly.data.io.format import Head, Options
from sparingly.data.io.log import LOG_OPTIONS, LogFormat, LoggedOutput, LogScore, assemble, decoded, readable
from sparingly.data.io.opening import source_of
from sparingly.data.io.parquet import parquet_names
from sparingly.data.io.roles import SAMPLE_COLUMNS, SCORE_PREFIX, are_samples
from sparingly.data.join import join
from sparingly.data.roles import TableRoles
from sparingly.data.values import as_list, as_mapping

# --- The archive of a log ---

MAGIC = b"PK\x03\x04"


class Archive:
    """A ZIP archive whose files together may unpack to no more than any packed file may."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._limit = files.most_bytes(path.stat().st_size)
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, NotImplementedError) as error:
            raise InputError(
                f"the ZIP archive is damaged ({error})", file=path, fix="Is it complete? Copy it again"
            ) from None
        self.names = self._zip.namelist()

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()

    def read(self, name: str) -> str:
        """Return a file of the archive as text."""
        info = self._zip.getinfo(name)
        try:
            try:
                with self._zip.open(info) as member:
                    content = member.read(-1 if math.isinf(self._limit) else int(self._limit) + 1)
            except NotImplementedError:
                # Python reads zstd in archives from 3.14 on.
                content = self._unpack_zstd(info)
            self._count(len(content))
            return content.decode("utf-8-sig")
        except (zipfile.BadZipFile, RuntimeError, ValueError, EOFError) as error:
            raise InputError(f"{name} in the archive cannot be read ({error})", file=self._path) from None

    def _count(self, size: int) -> None:
        self._limit -= size
        if self._limit < 0:
            raise InputError(
                "the archive unpacks to far more than its own size", file=self._path, fix=files.TRUST_FIX
            )

    def _unpack_zstd(self, info: zipfile.ZipInfo) -> bytes:
        with self._path.open("rb") as file:
            file.seek(info.header_offset)
            file.seek(sum(unpack_from("<HH", file.read(30), 26)), io.SEEK_CUR)
            packed = file.read(info.compress_size)
        if info.compress_type != 93:
            raise ValueError(f"packed by method {info.compress_type}")
        if zstd_bound(packed) > self._limit:
            self._count(zstd_bound(packed))
        try:
            # What polars reads as a table may be packed with zstd. JSON has no control characters, so that
            # with this separator a line is one field.
            lines = pl.read_csv(
                packed,
                has_header=False,
                separator="\x01",
                quote_char=None,
                infer_schema=False,
                new_columns=["line"],
            )
        except pl.exceptions.PolarsError as error:
            raise ValueError(str(error).partition("\n")[0]) from None
        return "\n".join(lines["line"].fill_null("")).encode()


def zstd_bound(packed: bytes) -> int:
    """Return how many bytes zstd frames unpack to at most, by the headers of their blocks."""
    place = total = 0
    while place < len(packed):
        magic = int.from_bytes(packed[place : place + 4], "little")
        if magic >> 4 == 0x184D2A5:
            place += 8 + int.from_bytes(packed[place + 4 : place + 8], "little")
            continue
        if magic != 0xFD2FB528 or place + 5 > len(packed):
            raise ValueError("the zstd data are damaged")
        flags = packed[place + 4]
        one_segment, has_sum = flags >> 5 & 1, flags >> 2 & 1
        place += 6 - one_segment + (0, 1, 2, 4)[flags & 3] + (one_segment, 2, 4, 8)[flags >> 6]
        is_last = 0
        while not is_last:
            if place + 3 > len(packed):
                raise ValueError("the zstd data are cut off")
            header = int.from_bytes(packed[place : place + 3], "little")
            is_last, kind, size = header & 1, header >> 1 & 3, header >> 3
            # A block holds its bytes as they are, one byte to repeat, or at most 128 kB packed.
            place += 3 + (1 if kind == 1 else size)
            total += size if kind < 2 else 2**17
        place += 4 * has_sum
    return total


# --- Logs of inspect_ai: ``.eval`` and ``.json`` files, a folder of them, or the table of ``samples_df`` ---

_JOURNAL = "_journal/start.json"
_LETTERS = {"C": True, "P": 0.5, "I": False, "N": False}
_UNCHANGED = "UNCHANGED"
_ATTACHMENT = re.compile(r"attachment://([0-9a-f]+)")
_OUTPUTS = ("output", "completion", "output_completion", "output_text", "response")
# Columns of the table beside a score: what the scorer said, and the summaries of a whole log.
_SUFFIXES = ("answer", "explanation", "metadata", "accuracy", "mean", "std", "stderr", "var")
_HEADLINE = "score_headline_"
_METADATA = "metadata_"


@register("inspect_ai")
class InspectLogs(LogFormat):
    """Logs of inspect_ai, and the table of their samples."""

    summary: ClassVar[str] = "inspect_ai's logs (.eval, .json, a folder of them) and its samples_df"
    terms: ClassVar[dict[str, str]] = {
        "item": "id",
        "input": "input",
        "output": "output",
        "model": "model",
        "epoch": "epoch",
    }
    options: ClassVar[dict[str, str]] = {
        "model": 'what names the model ("model" unless said; eval_id keeps runs of a model apart)',
        "output": "the column of the outputs in a table (output or completion unless said)",
        **LOG_OPTIONS,
    }

    def recognises(self, head: Head) -> bool:
        """Look for the parts of a log, or for the columns of the table of samples."""
        if head.is_directory:
            return next(_logs(head.path), None) is not None
        if head.start.startswith(MAGIC):
            return bool({"header.json", _JOURNAL} & set(Archive(head.path).names))
        if head.content.startswith(b"{"):
            return b'"eval"' in head.start and isinstance(head.document, dict) and "samples" in head.document
        return are_samples(parquet_names(head.start, head.path) or head.header)

    def read(self, path: Path, options: Options) -> EvalSet:
        """Read the samples of a log, of every log in a folder, or of a table."""
        if path.is_dir():
            logs = list(_logs(path))
            return join([_read_log(log, options) for log in logs], [log.stem for log in logs]).with_parts(
                name=str(path)
            )
        if Head(path).content.startswith((MAGIC, b"{")):
            return _read_log(path, options)
        return assemble(path, _of_table(source_of(path, {}), options), options)


def _logs(folder: Path) -> Iterator[Path]:
    """Yield the logs of a folder: archives by their extension, JSON files by their content."""
    for path in sorted(folder.iterdir()):
        if path.suffix == ".eval" or (path.suffix == ".json" and InspectLogs().recognises(Head(path))):
            yield path


# --- Logs -----------------------------------------------------------------------------------------


def _parts(path: Path) -> Iterator[Any]:
    """Yield what a log says of the whole run, then its samples."""
    if not Head(path).start.startswith(MAGIC):
        document = as_mapping(files.read_json(path), "")
        yield document
        yield from as_list(document.get("samples"), "samples")
        return
    with Archive(path) as archive:
        # A run that was interrupted has no header, but what it began with.
        header = "header.json" if "header.json" in archive.names else _JOURNAL
        samples = [name for name in archive.names if name.startswith("samples/") and name.endswith(".json")]
        for name in (header, *samples):
            yield files.parse_json(archive.read(name), path / name)


def _read_log(path: Path, options: Options) -> EvalSet:
    """Read a log; a note says when its run did not come to its end."""
    parts = _parts(path)
    header = as_mapping(next(parts), "header")
    outputs = list(_of_log(path, as_mapping(header.get("eval"), "eval"), parts, options))
    status = str(header.get("status") or "started")
    present = f"{len(outputs):,} of its outputs are there"
    notes = (f"{path.name}: the run did not end (status: {status}); {present}.",)
    return assemble(path, outputs, options, TableRoles(str(path), (), notes * (status != "success")))


def _of_log(
    path: Path, run: dict[str, Any], parts: Iterator[Any], options: Options
) -> Iterator[LoggedOutput]:
    key = str(options.get("model") or "model")
    if key not in run:
        raise InputError(f"the log does not say its {key}", file=path, field="eval")
    for part in parts:
        sample = as_mapping(part, "samples")
        place = f"sample {sample.get('id')}, epoch {sample.get('epoch')}"
        attachments = as_mapping(sample.get("attachments"), "attachments")
        output = as_mapping(sample.get("output"), place)
        # Long texts are kept beside the sample, with their digests in their places.
        source, text = (
            None if shown is None else _ATTACHMENT.sub(partial(_attached, attachments), shown)
            for shown in (_with_choices(sample), readable(output.get("completion")) or readable(output))
        )
        # A run without a model of its own scores what other models wrote.
        model = output.get("model") if run[key] == "none/none" else run[key]
        scores = sample.get("scores") or ({"score": sample["score"]} if sample.get("score") else {})
        yield LoggedOutput(
            item=sample.get("id"),
            model=str(model),
            source=source,
            output=None if sample.get("error") else text,
            scores=[
                score for name, value in as_mapping(scores, place).items() for score in _scores(name, value)
            ],
            epoch=sample.get("epoch"),
            references=_references(sample.get("target")),
            columns={"task": run.get("task"), **as_mapping(sample.get("metadata"), place)}
            | ({"error": readable(sample["error"])} if sample.get("error") else {}),
            place=place,
        )


def _attached(attachments: dict[str, Any], match: re.Match[str]) -> str:
    return str(attachments.get(match[1], match[0]))


def _with_choices(sample: dict[str, Any]) -> str | None:
    choices = [f"{chr(65 + place)}) {choice}" for place, choice in enumerate(sample.get("choices") or [])]
    return "\n".join(filter(None, [readable(sample.get("input")), *choices])) or None


def _references(target: Any) -> dict[str, str | None]:
    texts = target if isinstance(target, list) else [target]
    return {
        "target" if place == 0 else f"target_{place + 1}": readable(text)
        for place, text in enumerate(texts)
        if text not in (None, "")
    }


def _scores(name: str, score: Any) -> Iterator[LogScore]:
    """Yield what the scorer said, and what somebody put in its place."""
    values = as_mapping(score, name)
    history = [as_mapping(edit, name) for edit in as_list(values.get("history"), name)]
    yield LogScore(name, _graded(history[0].get("value") if history else values.get("value")))
    for edit in history[1:]:
        provenance = as_mapping(edit.get("provenance"), name)
        if provenance and edit.get("value") != _UNCHANGED:
            why = filter(None, [provenance.get("reason"), edit.get("explanation")])
            author = str(provenance.get("author") or "") or None
            comment = " | ".join(text for text in why if text != _UNCHANGED) or None
            yield LogScore(name, _graded(edit.get("value")), True, author, comment)


def _graded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _graded(part) for name, part in value.items()}
    return _LETTERS.get(value.strip(), value) if isinstance(value, str) else value


# --- The table of samples -------------------------------------------------------------------------


def _of_table(source: TableSource, options: Options) -> Iterator[LoggedOutput]:
    names, model = source.names, str(options.get("model") or "model")
    item = "id" if "id" in names else "sample_id"
    output = str(options.get("output") or next((name for name in _OUTPUTS if name in names), ""))
    for name in (item, *SAMPLE_COLUMNS):
        if name not in names:
            raise source.error("the column is not there", field=name, fix="Save the table of samples_df")
    if model not in names:
        raise source.error(
            "no column names the model",
            field=model,
            fix="Save samples_df(logs, columns=EvalModel + SampleSummary), or say model=eval_id",
        )
    if output and output not in names:
        raise UnknownNameError("column", output, names)
    scores = [name for name in names if name.startswith(SCORE_PREFIX) and not name.startswith(_HEADLINE)]
    scores = [
        name for name in scores if name.rpartition("_")[0] not in scores or not name.endswith(_SUFFIXES)
    ]
    columns = {name: source.column(name).to_list() for name in names}
    has_tasks = len(set(columns.get("task_name", ()))) > 1
    for row, values in enumerate(zip(*columns.values(), strict=True)):
        sample = dict(zip(names, values, strict=True))
        read = {item, model, output, *SAMPLE_COLUMNS, *scores}
        yield LoggedOutput(
            item=f"{sample['task_name']}/{sample[item]}" if has_tasks else sample[item],
            model=sample[model],
            source=sample["input"],
            output=sample[output] if output else None,
            scores=[
                LogScore(name.removeprefix(SCORE_PREFIX), _graded(decoded(sample[name]))) for name in scores
            ],
            epoch=sample["epoch"],
            references=_references(sample["target"]),
            columns={
                name.removeprefix(_METADATA): value for name, value in sample.items() if name not in read
            },
            place=f"row {row + 1}",
        )
