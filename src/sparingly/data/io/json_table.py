"""Tables in JSON: a list of objects, one object a line, an object of lists; and nested values of any table.

Objects inside a row become columns with dotted names (``judge.score``). A list of chat messages becomes the
conversation as raters read it, one message a paragraph; an answer of the assistant at its end becomes a
column of its own (``messages.answer``). Other lists stay as they are.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparingly.base.errors import InputError, listing
from sparingly.base.lazy import LazyModule
from sparingly.data import files
from sparingly.data.io.columns import TableSource
from sparingly.data.io.format import LINES, Head
from sparingly.data.io.frames import from_values
from sparingly.data.io.records import array_records

if TYPE_CHECKING:
    import polars as pl
else:
    pl = LazyModule("polars")

Rows = Callable[[], Iterator[tuple[int, dict[str, Any]]]]
_ROLES, _CONTENTS = ("role", "from", "speaker"), ("content", "value", "text")
_ASSISTANT = ("assistant", "gpt", "model", "bot", "ai", "chatgpt")
_MESSAGES_IN_TEXT = r'^\s*\[\s*\{\s*"(role|from|speaker|content|value)"\s*:'


def open_json(path: Path) -> TableSource:
    """Return the table in a JSON file, whichever way it lists its rows."""
    head = Head(path)
    is_array = head.content.startswith(b"[")
    if is_array or (head.first_object is not None and _has_lines(head)):
        rows: Rows = (lambda: array_records(path)) if is_array else (lambda: files.json_lines(path))
        reader = pl.read_json if is_array else pl.read_ndjson
        with files.naming(path), files.open_binary(path) as file:
            is_plain = isinstance(file, io.BufferedReader) and Path(getattr(file, "name", "")) == path
            try:
                content: Any = path if is_plain and not is_array else file.read()
                frame = reader(content, infer_schema_length=None)
            except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError):
                # Values of several types in one field, or a mistake: reading row by row names its line.
                return _from_records(path, [record for _, record in rows()], rows)
        return _checked(path, flatten(TableSource(path, frame.columns, frame.get_column)), rows)
    document = files.read_json(path)
    lists = {name: value for name, value in document.items() if isinstance(value, list)}
    objects = [name for name, values in lists.items() if values and isinstance(values[0], dict)]
    if len(objects) == 1:
        records = lists[objects[0]]
        if all(isinstance(record, dict) for record in records):
            return _from_records(path, records, None)
    elif lists and len(lists) == len(document) and len({len(values) for values in lists.values()}) == 1:
        return _from_records(
            path, [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)], None
        )
    raise InputError(
        f"this is one JSON object (with {listing(document, 6)}), and a list of objects is wanted",
        file=path,
        line=1,
        fix='Write one object for each row: [{"prompt": "…", "response": "…"}, …]',
    )


def _has_lines(head: Head) -> bool:
    """Say whether a file is JSON Lines: by its extension, or by a second object."""
    return head.extension in LINES or len(list(islice(files.json_lines(head.path), 2))) > 1


def _checked(path: Path, source: TableSource, rows: Rows | None) -> TableSource:
    files.check_columns(path, len(source.names))
    if not source.names or not source.count:
        raise InputError("there is no row in it", file=path)
    if rows is None:
        return source
    return TableSource(path, source.names, source.column, lambda row: next(islice(rows(), row, None))[0])


def _from_records(path: Path, records: list[dict[str, Any]], rows: Rows | None) -> TableSource:
    """Return rows that were read one by one: values of several types in one column are kept as texts."""
    columns: dict[str, list[Any]] = {}
    for place, record in enumerate(records):
        for name, value in _leaves(record, ""):
            values = columns.setdefault(name, [])
            values += [None] * (place - len(values))
            values.append(value)
    for values in columns.values():
        values += [None] * (len(records) - len(values))
    held = {}
    for name, values in columns.items():
        try:
            lists = all(isinstance(value, list | None) for value in values)
            held[name] = pl.Series(name, values) if lists else from_values(name, values, {})
        except (pl.exceptions.PolarsError, TypeError):
            held[name] = from_values(name, values, {})
    return _checked(path, flatten(TableSource(path, list(held), held.__getitem__)), rows)


def _leaves(record: dict[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, value in record.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


# --- nested values --------------------------------------------------------------------------------


def flatten(source: TableSource) -> TableSource:
    """Return a table in which objects are columns with dotted names and conversations are texts."""
    columns: dict[str, pl.Series] = {}
    for name in source.names:
        for series in _flat(source.column(name)):
            columns[series.name] = series
    return TableSource(source.file, list(columns), columns.__getitem__, source.line, source.is_text)


def _flat(series: pl.Series) -> Iterator[pl.Series]:
    if isinstance(series.dtype, pl.Struct):
        for field in series.dtype.fields:
            yield from _flat(series.struct.field(field.name).alias(f"{series.name}.{field.name}"))
    elif (messages := _messages(series)) is None:
        yield series
    else:
        yield from _conversation(series.name, messages)


def _messages(series: pl.Series) -> pl.Series | None:
    """Return lists of messages with a role and a content, or None for anything else."""
    kind = pl.List(pl.Struct({"role": pl.String, "content": pl.String}))
    if series.dtype == pl.String:
        first = series.drop_nulls().head(1)
        if not first.str.contains(_MESSAGES_IN_TEXT).any():
            return None
        for role, content in zip(_ROLES, _CONTENTS, strict=True):
            try:
                decoded = series.str.json_decode(pl.List(pl.Struct({role: pl.String, content: pl.String})))
            except pl.exceptions.PolarsError:
                return None
            if decoded.explode().struct.field(content).null_count() < len(decoded.explode()):
                return decoded.cast(kind)
        return None
    if not isinstance(series.dtype, pl.List) or not isinstance(series.dtype.inner, pl.Struct):
        return None
    names = [field.name for field in series.dtype.inner.fields]
    roles, contents = ([name for name in usual if name in names] for usual in (_ROLES, _CONTENTS))
    if not roles or not contents:
        return None
    content = contents[0]
    text = pl.element().struct.field(content)
    types = {field.name: field.dtype for field in series.dtype.inner.fields}
    if isinstance(types[content], pl.List):
        # Newer logs split a message into parts; those that are not text have no words to show.
        parts = getattr(types[content], "inner", None)
        if not isinstance(parts, pl.Struct) or "text" not in [field.name for field in parts.fields]:
            return None
        text = text.list.eval(pl.element().struct.field("text").drop_nulls()).list.join("\n")
    message = pl.struct(
        pl.element().struct.field(roles[0]).alias("role"), text.cast(pl.String).alias("content")
    )
    return series.to_frame().select(pl.col(series.name).list.eval(message)).to_series().cast(kind)


def _conversation(name: str, messages: pl.Series) -> Iterator[pl.Series]:
    """Yield a conversation as text, and its last answer where (nearly) all of them end in one."""
    frame = messages.alias("turns").to_frame()
    last = pl.col("turns").list.last().struct
    ends = frame.select(last.field("role").str.to_lowercase().is_in(_ASSISTANT)).to_series()
    answered = int(ends.sum() or 0) >= 0.9 * max(1, int(messages.is_not_null().sum()))
    turns = pl.col("turns").list.head(pl.col("turns").list.len() - 1) if answered else pl.col("turns")
    field = pl.element().struct.field
    spoken = turns.list.eval(
        pl.concat_str(field("role"), pl.lit(": "), field("content").fill_null(""), ignore_nulls=True)
    ).list.join("\n\n")
    alone = turns.list.first().struct.field("content")
    yield frame.select(pl.when(turns.list.len() == 1).then(alone).otherwise(spoken).alias(name)).to_series()
    if answered:
        yield frame.select(last.field("content").alias(f"{name}.answer")).to_series()
