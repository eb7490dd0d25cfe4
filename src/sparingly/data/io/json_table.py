"""Tables in JSON: a list of objects, one object a line, an object of lists; and nested values of any table.

Objects inside a row become columns with dotted names (``judge.score``), and so do lists of named scores, also
where a cell holds them as text. A list of outputs becomes a row for each. A list of chat messages becomes the
conversation as raters read it, one message a paragraph; an answer of the assistant at its end becomes a
column of its own (``messages.answer``). Other lists stay as they are.
"""

from __future__ import annotations

import ast
import io
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from sparingly.base.errors import InputError, listing
from sparingly.base.lazy import pl
from sparingly.data import files
from sparingly.data.io.columns import TableSource, from_values
from sparingly.data.io.format import LINES, Head, array_records
from sparingly.data.io.roles import HEADS, NAMES, PREFERENCES, REPEATED, plain_name, words_of

Rows = Callable[[], Iterator[tuple[int, dict[str, Any]]]]
_ROLES, _CONTENTS = ("role", "from", "speaker"), ("content", "value", "text")
_ASSISTANT = ("assistant", "gpt", "model", "bot", "ai", "chatgpt")
_SPEAKERS = (*_ASSISTANT, "user", "human", "customer", "system")
_OBJECT_IN_TEXT = r"""^\s*\[?\s*\{\s*['"][^'"]+['"]\s*:"""
_MESSAGES_IN_TEXT = r'^\s*\[\s*\{\s*"(role|from|speaker|content|value)"\s*:'


def open_json(path: Path) -> TableSource:
    """Return the table in a JSON file, whichever way it lists its rows."""
    head = Head(path)
    is_array = head.content.startswith(b"[")
    if is_array or (head.first_object is not None and _has_lines(head)):
        rows: Rows = (lambda: array_records(path)) if is_array else (lambda: files.json_lines(path))
        with files.naming(path), files.open_binary(path) as file:
            is_plain = isinstance(file, io.BufferedReader) and Path(getattr(file, "name", "")) == path
            try:
                frame = None
                if is_plain and not is_array and path.stat().st_size > _LARGE:
                    frame = _read_alike(path)
                elif is_array:
                    frame = pl.read_json(file.read(), infer_schema_length=None)
                if frame is None:
                    frame = pl.read_ndjson(path if is_plain else file.read(), infer_schema_length=None)
            except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError):
                # Values of several types in one field, or a mistake: reading row by row names its line.
                return _from_records(path, [record for _, record in rows()], rows)
        return _table(path, frame.columns, frame.get_column, rows)
    document = files.read_json(path)
    if len(document) > 1 and all(isinstance(value, dict) for value in document.values()):
        shared = set.intersection(*(set(value) for value in document.values()))
        if shared and all(2 * len(shared) > len(value) for value in document.values()):
            # Rows by their ids.
            records = [{"id": key, **value} for key, value in document.items()]
            try:
                frame = pl.DataFrame(records, infer_schema_length=None)
            except (pl.exceptions.PolarsError, TypeError):
                return _from_records(path, records, None)
            return _table(path, frame.columns, frame.get_column, None)
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
        f"this is one JSON object (with {listing(document, 6)}), not a list of objects",
        file=path,
        line=1,
        fix='Write one object for each row: [{"prompt": "…", "response": "…"}, …]',
    )


_LARGE, _FIRST = 10_000_000, 10_000


def _read_alike(path: Path) -> pl.DataFrame | None:
    """Return a large file of JSON Lines whose first lines tell all of its fields; None where they do not.

    Looking for fields in every line takes longer than reading the file, and polars passes over fields that it
    does not expect. So the keys that the lines have, but for those of null, are counted as text: they are all
    read if there are as many values.
    """
    try:
        frame = pl.read_ndjson(path, infer_schema_length=_FIRST)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None
    lines = pl.scan_csv(path, separator="\x01", has_header=False, quote_char=None, schema={"": pl.String})
    counts = [
        pl.col("").str.count_matches(pattern).sum().alias(pattern)
        for pattern in ('":|" :', r'[^\\]\\":|[^\\]\\" :', '":null|": null')
    ]
    try:
        keys, in_texts, nulls = lines.select(counts).collect().row(0)
    except pl.exceptions.PolarsError:
        return None
    return frame if keys - in_texts - nulls == sum(map(_values, frame)) else None


def _values(series: pl.Series) -> int:
    """Return how many values of objects there are in a column, itself one of them."""
    if isinstance(series.dtype, pl.Struct):
        inner = [series.struct.field(field.name) for field in series.dtype.fields]
    elif _holds_objects(series):
        part = series.explode().drop_nulls()
        inner = [part.struct.field(field.name) for field in part.dtype.fields]  # type: ignore[attr-defined]
    else:
        inner = []
    return series.count() + sum(map(_values, inner))


def _has_lines(head: Head) -> bool:
    """Say whether a file is JSON Lines: by its extension, or by a second object."""
    return head.extension in LINES or len(list(islice(files.json_lines(head.path), 2))) > 1


def _table(
    path: Path, names: list[str], column: Callable[[str], pl.Series], rows: Rows | None
) -> TableSource:
    def line(row: int) -> int:
        return next(islice(rows(), row, None))[0] if rows is not None else 0

    source = flatten(TableSource(path, names, column, line if rows is not None else None))
    files.check_columns(path, len(source.names))
    if not source.names or not source.count:
        raise InputError("there is no row in it", file=path)
    return source


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
    series = {}
    for name, values in columns.items():
        try:
            lists = all(isinstance(value, list | None) for value in values)
            series[name] = pl.Series(name, values) if lists else from_values(name, values, {})
        except (pl.exceptions.PolarsError, TypeError):
            series[name] = from_values(name, values, {})
    return _table(path, list(series), series.__getitem__, rows)


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
        for series in _flat(_parsed(source.column(name))):
            columns[series.name] = series
    line = source.line
    for name in [name for name in columns if _is_output(name) and _is_pair(columns, columns[name])]:
        for place in (0, 1):
            columns[f"{name}.{place}"] = columns[name].list.get(place).alias(f"{name}.{place}")
        del columns[name]
    for name in columns:
        if columns[name].dtype == pl.List and (rows := _rows_in(columns, name)) is not None:
            # Outputs in a list: a row for each.
            places, parts = rows
            columns = {
                column: series.gather(places) for column, series in columns.items() if column != name
            } | parts
            line = None if source.line is None else partial(_line_of, source.line, places)
            break
    return TableSource(source.file, list(columns), columns.__getitem__, line, source.is_text)


_MOST_PARSED = 50_000


def _parsed(series: pl.Series) -> pl.Series:
    """Return objects that cells hold as texts, of JSON or as Python prints them; other columns as they are.

    What a model wrote may be JSON, too: an output is only opened where it is nothing but one text.
    """
    if series.dtype != pl.String or not len(first := series.drop_nulls().head(1)):
        return series
    if not first.str.contains(_OBJECT_IN_TEXT).all():
        return series
    texts = series.set(series.str.strip_chars() == "", None)
    parsed = _parsed_as(texts)
    if parsed is None or not (isinstance(parsed.dtype, pl.Struct) or _holds_objects(parsed)):
        return series
    if isinstance(parsed.dtype, pl.Struct) and _is_output(series.name):
        inner = parsed.dtype.fields
        return parsed if len(inner) == 1 and inner[0].dtype == pl.String else series
    return parsed


def _parsed_as(texts: pl.Series) -> pl.Series | None:
    try:
        return texts.str.json_decode(infer_schema_length=None)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        pass
    if len(texts) > _MOST_PARSED:
        return None
    try:
        values = [None if text is None else ast.literal_eval(text) for text in texts]
        return pl.Series(texts.name, values, strict=False)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError, pl.exceptions.PolarsError):
        return None


def _line_of(line: Callable[[int], int], places: pl.Series, row: int) -> int:
    return line(int(places[row]))


def _rows_in(columns: dict[str, pl.Series], name: str) -> tuple[pl.Series, dict[str, pl.Series]] | None:
    """Return the rows that a column of lists stands for, as places of the rows around and as columns.

    Objects that name a model beside a text are its outputs; texts, or objects with a text, under a name of
    outputs, where no other column has one, are repeated outputs.
    """
    series = columns[name]
    inner = getattr(series.dtype, "inner", None)
    fields = [plain_name(field.name) for field in inner.fields] if isinstance(inner, pl.Struct) else []
    names_models = bool(set(fields) & {*NAMES["model"], "name"} and set(fields) & set(NAMES["output"]))
    if not names_models:
        may_repeat = _is_output(name) or bool(set(words_of(name)[-1:]) & REPEATED)
        has_texts = inner == pl.String or bool(set(fields) & set(NAMES["output"]))
        if not (has_texts and may_repeat) or any(map(_is_output, columns.keys() - {name})):
            return None
    lengths = series.list.len().fill_null(0)
    if int(lengths.sum()) == 0:
        return None
    frame = pl.DataFrame({"place": pl.int_range(len(series), eager=True), "part": series})
    frame = frame.filter(lengths > 0).with_columns(nth=pl.int_ranges(1, pl.col("part").list.len() + 1))
    frame, repeat = frame.explode("part", "nth"), f"{name}.repeat"
    parts = {part.name: part for part in _flat(frame["part"].alias(name))}
    return frame["place"], parts if names_models else {**parts, repeat: frame["nth"].alias(repeat)}


def _is_pair(columns: Iterable[str], outputs: pl.Series) -> bool:
    """Say whether a list holds two outputs, and another column says which is better."""
    is_compared = any(set(words_of(name)) & PREFERENCES for name in columns)
    return is_compared and outputs.dtype == pl.List(pl.String) and bool((outputs.list.len() == 2).all())


def _is_output(name: str) -> bool:
    return plain_name(name) in NAMES["output"] or bool(set(words_of(name)[-1:]) & HEADS["output"])


def _flat(series: pl.Series) -> Iterator[pl.Series]:
    if isinstance(series.dtype, pl.Struct):
        if (text := _text_by_model(series)) is not None:
            yield from _by_model(series, text)
            return
        for field in series.dtype.fields:
            yield from _flat(series.struct.field(field.name).alias(f"{series.name}.{field.name}"))
    elif (messages := _messages(series)) is not None:
        yield from _conversation(series.name, messages)
    elif not _holds_objects(series):
        yield series
    elif int(series.list.len().max() or 0) <= 1:  # type: ignore[arg-type]
        # A list that never has more than one object is that object.
        yield from _flat(series.list.first().alias(series.name))
    else:
        yield series
        yield from _named_scores(series)


def _text_by_model(series: pl.Series) -> str | None:
    """Return which field is the text where outputs stand in an object for each model; else None."""
    inner = [field.dtype for field in series.dtype.fields]  # type: ignore[attr-defined]
    kinds = [kind for kind in inner if isinstance(kind, pl.Struct)]
    if not _is_output(series.name) or len(kinds) < 2 or len(kinds) < len(inner):
        return None
    shared = set.intersection(*({field.name for field in kind.fields} for kind in kinds))
    texts = [field.name for field in kinds[0].fields if field.name in shared and field.dtype == pl.String]
    return next((name for name in texts if _is_output(name)), None)


def _by_model(series: pl.Series, text: str) -> Iterator[pl.Series]:
    """Yield the text of every model as ``outputs.model``, and what stands beside it as ``score.model``."""
    for model in series.dtype.fields:  # type: ignore[attr-defined]
        for part in _flat(series.struct.field(model.name).alias("")):
            name = part.name.removeprefix(".")
            yield part.alias(f"{series.name if name == text else name}.{model.name}")


def _holds_objects(series: pl.Series) -> bool:
    return isinstance(series.dtype, pl.List) and isinstance(series.dtype.inner, pl.Struct)


_SCORE_NAMES = ("name", "key", "judge", "metric", "evaluator", "criterion", "aspect", "rater", "annotator")
_SCORE_VALUES = ("score", "value", "rating", "grade", "label", "result", "verdict")
_MOST_NAMED = 30


def _named_scores(series: pl.Series) -> Iterator[pl.Series]:
    """Yield a column for each name in lists of objects with a name and a score: ``scores.fluency``."""
    fields = {field.name.lower(): field.name for field in series.dtype.inner.fields}  # type: ignore[attr-defined]
    name = next((fields[key] for key in _SCORE_NAMES if key in fields), None)
    value = next((fields[key] for key in _SCORE_VALUES if key in fields), None)
    if name is None or value is None:
        return
    frame = pl.DataFrame({"place": pl.int_range(len(series), eager=True), "part": series}).explode("part")
    part = pl.col("part").struct
    frame = frame.select("place", name=part.field(name), value=part.field(value)).drop_nulls("name")
    if frame["name"].dtype != pl.String or frame.select("place", "name").is_duplicated().any():
        return
    names = frame["name"].unique(maintain_order=True).to_list()
    for title in names if len(names) <= _MOST_NAMED else ():
        of_name = frame.filter(pl.col("name") == title)
        values = of_name["value"].clear(len(series)).scatter(of_name["place"], of_name["value"])
        yield values.alias(f"{series.name}.{title}")


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
    if series.dtype == pl.List(pl.List(pl.String)):
        # Pairs of who speaks and what is said.
        pairs = series.explode().drop_nulls()
        speakers = pairs.list.first().str.to_lowercase()
        if not len(pairs) or not (pairs.list.len() == 2).all() or not speakers.is_in(_SPEAKERS).all():
            return None
        pair = pl.struct(role=pl.element().list.first(), content=pl.element().list.last())
        return series.to_frame().select(pl.col(series.name).list.eval(pair)).to_series().cast(kind)
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
    has_answer = int(ends.sum() or 0) >= 0.9 * max(1, int(messages.is_not_null().sum()))
    turns = pl.col("turns").list.head(pl.col("turns").list.len() - 1) if has_answer else pl.col("turns")
    field = pl.element().struct.field
    spoken = turns.list.eval(
        pl.concat_str(field("role"), pl.lit(": "), field("content").fill_null(""), ignore_nulls=True)
    ).list.join("\n\n")
    single = turns.list.first().struct.field("content")
    yield frame.select(pl.when(turns.list.len() == 1).then(single).otherwise(spoken).alias(name)).to_series()
    if has_answer:
        yield frame.select(last.field("content").alias(f"{name}.answer")).to_series()
