"""Excel workbooks (.xlsx): the cells of one sheet as texts, read with the standard library alone.

Numbers and truth values are written out, dates as 2026-11-16, errors (#N/A) are missing. The first row that
is filled at least half as far as the widest names the columns; titles above it are passed over.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO
from xml.etree import ElementTree

from sparingly.base.errors import InputError, SparinglyError, UnknownNameError
from sparingly.base.lazy import pl
from sparingly.data import files
from sparingly.data.io.columns import TableSource

MAGIC = b"PK\x03\x04"
_WORKBOOK = "xl/workbook.xml"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
# Built-in number formats that show a date or a time, and the letters that show them in others.
_DATE_FORMATS = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}
_DATE_LETTERS = re.compile(r'"[^"]*"|\[[^]]*\]|\\.|([dmyhs])', re.IGNORECASE)
_START = datetime(1899, 12, 30)
_START_1904 = datetime(1904, 1, 1)


def is_workbook(path: Path) -> bool:
    """Say whether a file is an Excel workbook."""
    try:
        with path.open("rb") as file:
            return file.read(4) == MAGIC and _WORKBOOK in zipfile.ZipFile(path).namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def open_workbook(path: Path, sheet: str | None = None) -> TableSource:
    """Return one sheet as a table of texts: the named one, or the first shown that holds a table."""
    with files.naming(path):
        try:
            with zipfile.ZipFile(path) as archive:
                workbook = _Workbook(archive, path)
                # A sheet with nothing but notes is passed over.
                sheets = [sheet] if sheet is not None else workbook.sheets
                tables = (workbook.rows(name) for name in sheets)
                rows = next(filter(_is_table, tables), None) or workbook.rows(sheets[0])
        except SparinglyError:
            raise
        except (zipfile.BadZipFile, ElementTree.ParseError, KeyError, ValueError, IndexError) as error:
            raise InputError(
                f"the workbook cannot be read ({error})", file=path, fix="Save it again, or save it as CSV"
            ) from None
    rows = _without_title([(number, cells) for number, cells in rows if any(cells.values())])
    numbers, texts = [number for number, _ in rows], [cells for _, cells in rows]
    if len(texts) < 2:
        raise InputError("there is no row below the header", file=path)
    header = {place: name.strip() for place, name in texts[0].items() if name and name.strip()}
    files.check_columns(path, len(header))
    if len(set(header.values())) < len(header):
        twice = next(name for name in header.values() if list(header.values()).count(name) > 1)
        raise InputError(
            f'the column "{twice}" is there twice', file=path, line=numbers[0], fix="Rename one of them"
        )
    columns = {
        name: pl.Series(name, [cells.get(place) for cells in texts[1:]], pl.String)
        for place, name in header.items()
    }
    return TableSource(path, list(columns), columns.__getitem__, lambda row: numbers[row + 1], is_text=True)


def _without_title(rows: list[tuple[int, dict[int, str | None]]]) -> list[tuple[int, dict[int, str | None]]]:
    """Return the rows from the one on that names the columns: titles above it fill less than half as much."""
    widths = [sum(map(bool, cells.values())) for _, cells in rows]
    widest = max(widths, default=0)
    return rows[next((place for place, width in enumerate(widths) if 2 * width >= widest), 0) :]


def _is_table(rows: list[tuple[int, dict[int, str | None]]]) -> bool:
    """Say whether rows have several columns below a header."""
    widths = [sum(map(bool, cells.values())) for _, cells in rows]
    return sum(width > 1 for width in widths) > 1


class _Workbook:
    """The parts of a workbook that say what its cells hold."""

    def __init__(self, archive: zipfile.ZipFile, path: Path) -> None:
        self.archive, self.path = archive, path
        self.names = set(archive.namelist())
        size = sum(entry.file_size for entry in archive.infolist())
        if size > files.most_bytes(path.stat().st_size):
            raise InputError("the workbook unpacks to far more than its size", file=path, fix=files.TRUST_FIX)

        self.book = self._parse(_WORKBOOK)
        self.entries = {entry.get("name", ""): entry for entry in _tagged(self.book, "sheet")}

    @property
    def sheets(self) -> list[str]:
        """The sheets that are not hidden; all of them if every one is."""
        open_sheets = [
            name for name, entry in self.entries.items() if entry.get("state", "visible") == "visible"
        ]
        return open_sheets or list(self.entries)

    def rows(self, sheet: str) -> list[tuple[int, dict[int, str | None]]]:
        """Return the rows with their numbers, each with its cells by column."""
        properties = next(_tagged(self.book, "workbookPr"), None)
        start = _START_1904 if _is_true(properties, "date1904") else _START
        # The place in the archive of a sheet.
        if sheet not in self.entries:
            raise UnknownNameError("sheet", sheet, self.entries)
        targets = {
            relation.get("Id"): relation.get("Target", "")
            for relation in _tagged(self._parse("xl/_rels/workbook.xml.rels"), "Relationship")
        }
        target = targets[self.entries[sheet].get(_RELATION)]
        target = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
        texts = self._shared_texts()
        dates = self._date_styles()
        rows: list[tuple[int, dict[int, str | None]]] = []
        with self.archive.open(target) as file:
            for row in _rows(file):
                number = int(row.get("r", rows[-1][0] + 1 if rows else 1))
                cells: dict[int, str | None] = {}
                for cell in _tagged(row, "c"):
                    place = _column_number(cell.get("r")) if cell.get("r") else len(cells)
                    cells[place] = _text(cell, texts, dates, start)
                rows.append((number, cells))
        return rows

    def _shared_texts(self) -> list[str]:
        if "xl/sharedStrings.xml" not in self.names:
            return []
        return [_joined(entry) for entry in _tagged(self._parse("xl/sharedStrings.xml"), "si")]

    def _date_styles(self) -> set[int]:
        """Return the cell styles that show a number as a date or a time."""
        if "xl/styles.xml" not in self.names:
            return set()
        styles = self._parse("xl/styles.xml")
        dates = _DATE_FORMATS | {
            int(entry.get("numFmtId", 0))
            for entry in _tagged(styles, "numFmt")
            if any(_DATE_LETTERS.findall(entry.get("formatCode", "")))
        }
        formats = next(_tagged(styles, "cellXfs"), None)
        entries = [] if formats is None else list(_tagged(formats, "xf"))
        return {place for place, entry in enumerate(entries) if int(entry.get("numFmtId", 0)) in dates}

    def _parse(self, name: str) -> ElementTree.Element:
        with self.archive.open(name) as file:
            # The interpreter's parser bounds what entities expand to, and the archive's size is checked.
            return ElementTree.parse(file).getroot()  # noqa: S314


def _rows(file: IO[bytes]) -> Iterator[ElementTree.Element]:
    for _, element in ElementTree.iterparse(file):  # noqa: S314
        if element.tag.endswith("}row"):
            yield element
            element.clear()


def _text(cell: ElementTree.Element, texts: list[str], dates: set[int], start: datetime) -> str | None:
    kind, value = cell.get("t", "n"), next(_tagged(cell, "v"), None)
    if kind == "inlineStr":
        return _joined(cell)
    if value is None or value.text is None or kind == "e":
        return None
    if kind == "s":
        return texts[int(value.text)]
    if kind == "b":
        return "true" if value.text == "1" else "false"
    if kind != "n":
        return value.text
    number = float(value.text)
    if int(cell.get("s", 0)) in dates:
        moment = start + timedelta(days=number)
        return moment.date().isoformat() if number.is_integer() else moment.isoformat(timespec="seconds")
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def _joined(element: ElementTree.Element) -> str:
    """Return the text of a cell; signs how to pronounce it (phonetic runs) are no part of it."""
    runs = [run for run in element.iter() if run.tag.endswith("}r")] or [element]
    if element.tag.endswith("}c"):
        runs = [entry for entry in _tagged(element, "is")]
    spoken = {id(text) for part in _tagged(element, "rPh") for text in _tagged(part, "t")}
    return "".join(text.text or "" for run in runs for text in _tagged(run, "t") if id(text) not in spoken)


def _tagged(element: ElementTree.Element, name: str) -> Iterator[ElementTree.Element]:
    return (part for part in element.iter() if part.tag.rpartition("}")[2] == name)


def _is_true(element: ElementTree.Element | None, name: str) -> bool:
    return element is not None and element.get(name) in ("1", "true")


def _column_number(place: str | None) -> int:
    """Return the number of a column from a cell's place: 0 for A1, 27 for AB3."""
    number = 0
    for letter in (place or "").rstrip("0123456789"):
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1
