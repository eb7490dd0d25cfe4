"""A report as Markdown: the same words and tables, without pictures."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sparingly.base.errors import one_line
from sparingly.show.report.document import (
    Commands,
    Facts,
    Notes,
    Picture,
    ReportPart,
    Section,
    Table,
    Texts,
    Words,
)
from sparingly.show.report.markup import cell, code, pieces

_MEANING = re.compile(r"([\\`*_{}\[\]<>#|~&$])")


def markdown_text(title: str, lead: Sequence[str], sections: Sequence[Section], version: str) -> str:
    """Return the report; what would be markup in a name or a sentence is escaped."""
    blocks = [f"# {escaped(title)}", *map(_text, lead)]
    for section in sections:
        inside = [text for part in section.parts if (text := _part(part))]
        blocks += [f"## {_text(section.title)}", *inside]
    return "\n\n".join([*blocks, f"Made by sparingly {version}."]) + "\n"


def escaped(text: str) -> str:
    """Return a text of which nothing is markup."""
    return _MEANING.sub(r"\\\1", one_line(text))


def _text(text: str) -> str:
    return "".join(code(piece) if is_code else escaped(piece) for piece, is_code in pieces(text))


def _cell(text: str) -> str:
    # A bar ends the cell of a table even in code.
    return "".join(cell(code(piece)) if is_code else escaped(piece) for piece, is_code in pieces(text))


def _part(part: ReportPart) -> str:
    match part:
        case Words():
            return f"**{_text(part.text)}**" if part.important else _text(part.text)
        case Notes():
            return "\n".join(f"- {_text(text)}" for text in part.texts)
        case Facts():
            facts = [(escaped(name), _cell(value)) for name, value in part.rows]
            return _table(("", escaped(part.caption)), facts, numbers=0)
        case Table():
            part = part.in_letters
            rows = [tuple(escaped(str(text)) for text in row) for row in part.rows]
            columns = tuple(map(escaped, part.columns))
            return f"{escaped(part.caption)}:\n\n{_table(columns, rows, numbers=len(columns) - part.texts)}"
        case Texts():
            lines = [f"**{escaped(part.caption)}**"]
            lines += [f"> {escaped(name)}: {escaped(text)}" for name, text in part.above]
            for text in part.texts:
                body = "".join(
                    f"**{escaped(piece).strip()}** " if is_marked and piece.strip() else escaped(piece)
                    for piece, is_marked in text.pieces
                )
                remarks = [f"> - {escaped(remark)}" for remark in text.remarks]
                lines += [
                    "\n".join([f"> **{escaped(text.name)}** ({escaped(text.score)}): {body}", *remarks])
                ]
            return "\n>\n".join(lines[1:]).join([f"{lines[0]}\n\n", ""])
        case Commands():
            lines = [one_line(line) for line in part.lines]
            longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
            fence = "`" * max(3, 1 + longest)
            return "\n".join([f"{_text(part.caption)}:", "", fence, *lines, fence])
        case Picture():
            return ""


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: int) -> str:
    rule = ["---"] * (len(columns) - numbers) + ["---:"] * numbers
    lines = [columns, rule, *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
