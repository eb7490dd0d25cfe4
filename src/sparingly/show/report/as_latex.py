"""A report as LaTeX: sections with sentences and tables, to be put into a paper."""

from __future__ import annotations

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
from sparingly.show.report.markup import BREAKABLE, latex
from sparingly.show.report.markup import escaped as escaped_letters

_LONG = 48


def latex_text(title: str, lead: Sequence[str], sections: Sequence[Section], version: str) -> str:
    """Return the report as a fragment that needs no package; every letter with a meaning is escaped."""
    blocks = [f"\\section*{{{escaped(title)}}}", *map(_text, lead)]
    for section in sections:
        inside = [text for part in section.parts if (text := _part(part))]
        blocks += [f"\\subsection*{{{_text(section.title)}}}", *inside]
    return "\n\n".join([*blocks, f"Made by sparingly {escaped(version)}."]) + "\n"


def escaped(text: str) -> str:
    """Return a text of which nothing is LaTeX."""
    return escaped_letters(one_line(text))


def _text(text: str) -> str:
    return latex(one_line(text))


def _part(part: ReportPart) -> str:
    match part:
        case Words():
            return f"\\textbf{{{_text(part.text)}}}" if part.important else _text(part.text)
        case Notes():
            items = "\n".join(f"\\item {{}}{_text(text)}" for text in part.texts)
            return f"\\begin{{itemize}}\n{items}\n\\end{{itemize}}"
        case Facts():
            facts = [(escaped(name), _text(value)) for name, value in part.rows]
            return _tabular(escaped(part.caption), "lp{9cm}", [], facts, frozenset())
        case Table():
            part = part.in_letters
            long = any(len(str(row[0])) > _LONG for row in part.rows)
            numbers = len(part.columns) - part.texts
            kinds = ("p{8cm}" if long else "l") + "l" * (part.texts - 1) + "r" * numbers
            rows = [tuple(escaped(str(text)) for text in row) for row in part.rows]
            return _tabular(escaped(part.caption), kinds, list(map(escaped, part.columns)), rows, part.breaks)
        case Texts():
            lines = [f"\\noindent\\textbf{{{escaped(part.caption)}}}"]
            lines += [f"{escaped(name)}: {escaped(text)}" for name, text in part.above]
            for text in part.texts:
                body = "".join(
                    f"\\emph{{{escaped(piece)}}}" if is_marked else escaped(piece)
                    for piece, is_marked in text.pieces
                )
                tail = "".join(f" ({escaped(remark)})" for remark in text.remarks)
                lines.append(f"\\textbf{{{escaped(text.name)}}}, {escaped(text.score)}: {body}{tail}")
            return "\n\n".join(lines)
        case Commands():
            shown_lines = (f"\\texttt{{{escaped_letters(one_line(line), BREAKABLE)}}}" for line in part.lines)
            return "\n\n".join([f"{_text(part.caption)}:", *(f"\\noindent {line}" for line in shown_lines)])
        case Picture():
            return ""


def _tabular(
    caption: str, kinds: str, head: list[str], rows: Sequence[Sequence[str]], breaks: frozenset[int]
) -> str:
    lines = [f"\\noindent {caption}:", "", f"\\noindent\\begin{{tabular}}{{{kinds}}}", "\\hline"]
    lines += [" & ".join(head) + r" \\", "\\hline"] if head else []
    for place, row in enumerate(rows):
        lines += ["\\hline"] if place in breaks else []
        # An opening bracket at the start of a row would be read as an argument of the row before.
        lines.append(f"{{}}{' & '.join(row)} \\\\")
    return "\n".join([*lines, "\\hline", "\\end{tabular}"])
