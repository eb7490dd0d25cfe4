"""Reading and writing evaluation sets: one file per format, chosen by content or extension."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.catalogue import CATALOGUE, find_class, names, registered_classes
from sparingly.base.errors import InputError, UnknownNameError, UsageError, listing
from sparingly.data import fields, files
from sparingly.data.evalset import EvalSet
from sparingly.data.io.format import LINES, Format, Head
from sparingly.data.io.verdicts import are_verdicts, verdict_files, with_verdicts
from sparingly.data.roles import LOW_MAY_BE_GOOD, TableRoles, read_roles, roles_file
from sparingly.data.scale import Scale
from sparingly.data.values import shown

KIND = Format.kind


def load(
    path: str | Path | Sequence[str | Path],
    format: str | None = None,
    *,
    labels: str | Path | None = None,
    roles: Mapping[str, str | Iterable[str]] | None = None,
    lower_is_better: Iterable[str] = (),
    **options: Any,
) -> EvalSet:
    """Load an evaluation set from a file or a directory, or from several that are joined by item.

    The verdicts of a judge that ``run_judge`` saved beside a file come with it, as a metric.

    Args:
        path: The file or directory; or several, such as two runs of one harness (see ``data.join``).
        format: The name of its format; default: recognised by content and extension.
        labels: A further file with what people said: items (and models and raters) with their scores.
        roles: What columns of a table are, where their names do not say so: ``{"rating": "human"}``. What was
            said of the file on the command line holds as well, unless something else is said here.
        lower_is_better: Metrics, or people's scores, for which low is good; they are turned round, so that
            inside the package higher is better.
        options: Options of the format, such as the separator of a table.

    Examples:
        >>> import sparingly
        >>> sparingly.load("no-such-file.jsonl")
        Traceback (most recent call last):
        ...
        sparingly.base.errors.InputError: no-such-file.jsonl: there is no such file.
    """
    paths = [Path(path)] if isinstance(path, str | Path) else [Path(each) for each in path]
    if not paths:
        raise UsageError("No file is named: there is nothing to load.")
    judges = [each.absolute() for each in paths if are_verdicts(each)]
    paths = [each for each in paths if each.absolute() not in judges]
    if not paths:
        raise InputError(
            "these are verdicts of a judge", file=judges[0], fix="Give the data they belong to, too"
        )
    said = dict(roles or {})
    sets = [_load(each, format, options, said) for each in paths]
    if unknown := [column for column in said if not any(_has_column(data, column) for data in sets)]:
        columns = [part.column for data in sets if data.roles is not None for part in data.roles.columns]
        raise UnknownNameError("column", unknown[0], columns, f"({listing(map(str, paths), 3)})")
    data = sets[0]
    if len(sets) > 1 or labels is not None:
        from sparingly.data.io.format import names_of_files
        from sparingly.data.join import join, with_labels

        if len(sets) > 1:
            data = join(sets, names_of_files([str(each) for each in paths]))
        if labels is not None:
            data = with_labels(data, _load(Path(labels), None, {}, {}), str(labels))
    if judges := [*judges, *(file for each in paths for file in verdict_files(each) if file not in judges)]:
        data = with_verdicts(data, judges)
    saved = [
        name for each in paths for name in read_roles(each)[1] if name in data.metrics or name in data.aspects
    ]
    return flipped(data, dict.fromkeys((*saved, *lower_is_better)))


def _with_roles(data: EvalSet, roles: TableRoles | None) -> EvalSet:
    return replace(data, store=replace(data.store, roles=roles))


def _has_column(data: EvalSet, column: str) -> bool:
    return data.roles is not None and column.lower() in {part.column.lower() for part in data.roles.columns}


def _load(
    path: Path, format: str | None, options: dict[str, Any], roles: Mapping[str, str | Iterable[str]]
) -> EvalSet:
    """Load one file or directory; roles are for those of its columns that it has."""
    with files.naming(path):
        if not path.exists():
            raise InputError("there is no such file", file=path)
        reader = format_named(format) if format else recognise(path)
        reader.check_options(options)
        if not reader.has_roles:
            if roles:
                raise UsageError(f"{path}: the format {reader.name} has no columns to give roles to.")
            return reader.read(path, options)
        saved, _ = read_roles(path)
        data = reader.read_with_roles(path, options, {**saved, **roles})
        if data.roles is None or not saved:
            return data
        return _with_roles(data, replace(data.roles, saved_in=str(roles_file(path))))


def save(data: EvalSet, path: str | Path, format: str | None = None) -> list[str]:
    """Write an evaluation set; return the fields that the format cannot carry."""
    path = Path(path)
    writer = format_named(format) if format else _by_extension(path)
    if not writer.writes:
        raise UsageError(f"The format {writer.name} can be read but not written. {_writable()}")
    writer.write(data, path)
    return writer.losses(data)


def formats() -> tuple[Format, ...]:
    """Return every format; those of other packages come last."""
    return tuple(made() for made in registered_classes((KIND,)).values())


def format_named(name: str) -> Format:
    """Return a format by its name."""
    made: type[Format] | None = find_class(name, (KIND,))
    if made is None:
        raise UnknownNameError(KIND, name, names((KIND,)))
    return made()


def _candidates() -> Iterator[Format]:
    """Yield the formats in the order in which files are tried; each is loaded when it is its turn.

    Tables come after the formats of other packages, since nearly any file may be a table.
    """
    *special, table = CATALOGUE[KIND]
    yield from (format_named(name) for name in special)
    yield from formats()[len(CATALOGUE[KIND]) :]
    yield format_named(table)


def recognise(path: Path) -> Format:
    """Find out the format of a file or directory by looking at it."""
    head = Head(path)
    if not head.is_directory and not head.content:
        raise InputError("the file is empty", file=path)
    for candidate in _candidates():
        if candidate.recognises(head):
            return candidate
    _explain(head)
    if head.is_directory:
        what, fix = "this directory holds no data in a known layout", "Name a file in it"
    else:
        what, fix = "the format is not recognised", "Give a table (CSV, Excel), JSON Lines or Parquet"
    raise InputError(what, file=path, fix=f"{fix}, or name the format: one of {', '.join(names((KIND,)))}")


def _explain(head: Head) -> None:
    """Raise what is wrong with a file that was meant as JSON, which says more than that it is unknown."""
    if head.extension == ".json" and not head.is_directory:
        value = files.read_json(head.path)
    elif head.extension in LINES and not head.is_directory:
        value = next((record for _, record in files.json_lines(head.path)), None)
    else:
        from sparingly.data.io.parquet import MAGIC, ParquetFile

        # Both say why the file cannot be read, where it cannot.
        if head.start.startswith(MAGIC):
            _ = ParquetFile(head.path).names
        elif not head.is_directory:
            files.open_binary(head.path).close()
        return
    if isinstance(value, list) and not (value and isinstance(value[0], dict)):
        first = f"the first is {shown(value[0])}" if value else "it is empty"
        raise InputError(
            f"this is a JSON list without objects ({first})",
            file=head.path,
            line=1,
            fix='Write one object for each row: [{"prompt": "…", "response": "…"}, …]',
        )
    kind = value.get("format") if isinstance(value, dict) else None
    if isinstance(kind, str) and kind.startswith("sparingly/"):
        raise InputError(f'this is a "{kind}" file, not an evaluation set', file=head.path, field="format")


def _by_extension(path: Path) -> Format:
    suffix = files.extension(path)
    for candidate in _candidates():
        if candidate.writes and suffix in candidate.extensions:
            return candidate
    raise UsageError(
        f'The extension "{suffix}" of {path.name} is not of a format that can be written. {_writable()}'
    )


def _writable() -> str:
    return f"Formats that can be written: {', '.join(format.name for format in formats() if format.writes)}."


def _turned(detail: str) -> str:
    parts = [part for part in detail.split(", ") if part and part != LOW_MAY_BE_GOOD]
    return ", ".join([*parts, "lower is better"])


def flipped(data: EvalSet, scores: Iterable[str]) -> EvalSet:
    """Return the set with some metrics and aspects turned round, so that higher is better.

    Metrics are negated. People's scores stay on their scale where it is known: 0 of 0 to 1 becomes 1.
    """
    names = list(scores)
    for name in names:
        if name not in data.metrics and name not in data.aspects:
            raise UnknownNameError("metric or aspect", name, [*data.metrics, *data.aspects])
    if not names:
        return data
    # The sum of a score and the same score turned round.
    sums = {fields.metric(name): 0.0 for name in names if name in data.metrics}
    scales = dict(data.scales)
    for field in sums.keys() & scales.keys():
        scales[field] = Scale(-scales[field].high, -scales[field].low)
    for field in map(fields.aspect, filter(names.__contains__, data.aspects)):
        sums[field] = sum(scales[field]) if field in scales else 0.0

    def turn(field: str, values: Floats) -> Floats:
        if field not in sums:
            return values
        return sums[field] - values if sums[field] else -values

    ratings = data.ratings
    for code, name in enumerate(ratings.aspects):
        reversed_scores = turn(fields.aspect(name), ratings.score)
        ratings = replace(ratings, score=np.where(ratings.aspect == code, reversed_scores, ratings.score))
    repeated = {field: turn(field, values) for field, values in data.repeats.scores.items()}
    roles = data.roles
    if roles is not None:
        columns = (
            replace(part, doubtful=False, other="", detail=_turned(part.detail))
            if part.role in ("metric", "human", "score") and (part.name or part.column) in names
            else part
            for part in roles.columns
        )
        roles = replace(roles, columns=tuple(columns))
    return data.with_parts(
        metrics={name: turn(fields.metric(name), values) for name, values in data.metrics.items()},
        aspects={name: turn(fields.aspect(name), values) for name, values in data.aspects.items()},
        ratings=ratings,
        scales=scales,
        repeats=replace(data.repeats, scores=repeated),
        roles=roles,
    )


# --- Data as people hand it to a function ---


class NativeFrame(Protocol):
    """A frame of pandas or polars, or an Arrow table: something with columns."""

    @property
    def columns(self) -> Any:
        """The columns."""


DataLike = EvalSet | str | Path | NativeFrame


def as_evalset(data: DataLike) -> EvalSet:
    """Return the evaluation set that is meant: as it is, read from a file, or made from a frame."""
    if isinstance(data, EvalSet):
        return data
    if isinstance(data, str | Path):
        return load(data)
    from sparingly.data.io.table import from_frame

    return from_frame(data)
