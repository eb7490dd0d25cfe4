"""Long tables: one row for each item and model, as CSV, TSV, Parquet, or a frame of pandas, polars or Arrow.

A column's part is told by an option (``item=segment``, ``metrics=chrF,COMET``), by a prefix (``metric:chrF``,
``aspect:fluency``, ``reference:refB``, ``cell:seed``, ``column:year``; a full stop does as well as the
colon), or by a usual name in any spelling (``item_id``, ``System``, ``src``, ``hypothesis``, ``doc_id``,
``annotator`` …). Further columns are kept: one that is the same for all models of an item as a column of the
items, any other as a cell column; but where neither ``metrics=`` nor a prefix tells the metrics, one of
numbers is a metric (an empty ``metrics=`` says that there are none). With a column of raters (or of aspects)
and one of scores, or with raters and ``aspects=``, a row is a rating; a score that is text is kept as a
comment. Metrics, aspects and scores in two-valued words (pass and fail, yes and no …) are read as 1 and 0.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any, ClassVar

from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.data import files
from sparingly.data.evalset import EvalSet
from sparingly.data.io.csv_text import SEPARATORS, CsvText
from sparingly.data.io.format import Format, Head, Options
from sparingly.data.io.frames import to_polars
from sparingly.data.io.inspect_ai.scores import are_samples
from sparingly.data.io.parquet.file import MAGIC, ParquetFile, parquet_names
from sparingly.data.io.parquet.format import is_ours
from sparingly.data.io.table.read import read_long
from sparingly.data.io.table.roles import looks_long
from sparingly.data.io.table.source import Source
from sparingly.data.io.table.write import changed_by_writing, to_frame

__all__ = ["Table", "from_frame", "source_of", "to_frame"]

_COLUMNS = {
    "item": "the column of the items",
    "model": "the column of the models",
    "output": "the column of the outputs",
    "source": "the column of the sources",
    "reference": "the column of the references",
    "document": "the column of the documents",
    "position": "the column of the places in the document",
    "domain": "the column of the domains",
    "cost": "the column of the costs",
    "weight": "the column of the importance weights",
    "rater": "the column of the raters; rows are then ratings",
    "score": "the column of the ratings' scores",
    "aspect": "the column of the ratings' aspects",
    "seconds": "the column of the ratings' seconds",
    "comment": "the column of the ratings' comments",
    "metrics": "the columns of the metrics: a,b,c (further numbers unless said; empty for none)",
    "aspects": "the columns of what people judged: a,b,c",
    "columns": "the further columns to keep: a,b,c (all unless said)",
}
_TEXT = {
    "separator": "what separates the fields of a text file: a character, or comma, tab, semicolon, pipe",
    "quote": 'the quote character of a text file (" unless said); empty when there is no quoting',
}


class Table(Format):
    """One row for each item and model, or for each rating of them."""

    name: ClassVar[str] = "table"
    summary: ClassVar[str] = "CSV, TSV or Parquet with one row for each item and model"
    extensions: ClassVar[tuple[str, ...]] = (".csv", ".tsv")
    options: ClassVar[dict[str, str]] = {**_COLUMNS, **_TEXT}
    writes: ClassVar[bool] = True
    carries: ClassVar[frozenset[str]] = frozenset(
        {"metric:*", "aspect:*", "column:*", "cell:*", "sources", "outputs", "references", "empty"}
    )

    def recognises(self, head: Head) -> bool:
        """Take tables that no other format knows: by their extension, or by columns of items and models."""
        if head.is_directory or head.content.startswith((b"{", b"[")):
            return False
        if head.start.startswith(MAGIC):
            names = parquet_names(head.start, head.path)
            return names is not None and not _is_known(names) and not is_ours(head.path)
        return not _is_known(head.header) and (head.extension in self.extensions or looks_long(head.header))

    def read(self, path: Path, options: Options) -> EvalSet:
        """Read the table column by column."""
        return read_long(source_of(path, options), options)

    def write(self, data: EvalSet, path: Path) -> None:
        """Write a row for each item and model, items in the order of the file that they came from."""
        frame, kind = to_frame(data), files.extension(path)

        def put(file: IO[bytes]) -> None:
            if kind == ".parquet":
                frame.write_parquet(file)
            else:
                frame.write_csv(file, separator="\t" if kind == ".tsv" else ",")

        files.write_atomically(path, put)

    def losses(self, data: EvalSet) -> list[str]:
        """Return what a table has no room for, and columns whose values turn into texts."""
        return [*super().losses(data), *changed_by_writing(data)]


def _is_known(names: list[str]) -> bool:
    """Say whether the columns are those of inspect_ai's samples or of comparisons of two models."""
    return are_samples(names) or {"model_a", "model_b"} <= set(names)


def from_frame(frame: Any, **options: Any) -> EvalSet:
    """Make an evaluation set of a long frame: one row for each item and model.

    Args:
        frame: A frame of pandas or polars, or an Arrow table.
        options: Which column is what, as for a long table in a file: ``item``, ``model``, ``output``,
            ``source``, ``reference``, ``document``, ``position``, ``domain``, ``cost``, ``weight``,
            ``metrics``, ``aspects``, ``rater``, ``score``, ``aspect``, ``seconds``, ``comment``, ``columns``.

    Examples:
        >>> import polars
        >>> import sparingly
        >>> frame = polars.DataFrame({
        ...     "segment_id": ["a", "a", "b", "b"], "system": ["tiny", "large", "tiny", "large"],
        ...     "chrF": [40.0, 60.0, 55.0, 50.0],
        ... })
        >>> sparingly.from_frame(frame)
        EvalSet(2 items x 2 models; metrics: chrF)
    """
    for name in options:
        if name not in _COLUMNS:
            raise UnknownNameError("option of from_frame", name, _COLUMNS)
    converted = to_polars(frame)
    held = converted.frame
    return read_long(Source("the frame", held.columns, held.get_column), options, converted.clashes)


def source_of(path: Path, options: Options) -> Source:
    """Open a table file, whichever kind it is."""
    if Head(path).start.startswith(MAGIC):
        file = ParquetFile(path)
        return Source(path, file.names, file.column)
    separator, quote = options.get("separator"), options.get("quote", '"')
    separator = SEPARATORS.get(str(separator), separator)
    for name, value in (("separator", separator), ("quote", quote or None)):
        if value is not None and len(value) != 1:
            raise UsageError(f'The {name} "{value}" is not one character.')
    return CsvText(path, separator, quote or None).source()
