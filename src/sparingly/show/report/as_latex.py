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
_BEGIN = (
    "% For \\input with \\usepackage[T1]{fontenc}; texts that are not in Latin letters take xelatex.\n"
    "\\begingroup\\setlength{\\parindent}{0pt}\\setlength{\\parskip}{4pt plus 2pt}\\sloppy"
)
# The sizes of letters, and how many of them fit on a line of an article.
_SIZES = ((64, ""), (80, "\\footnotesize"), (90, "\\scriptsize"))


def latex_text(title: str, lead: Sequence[str], sections: Sequence[Section], version: str) -> str:
    """Return the report as a fragment that needs no package; every letter with a meaning is escaped."""
    blocks = [_BEGIN, f"\\section*{{{escaped(title)}}}", *map(_text, lead)]
    for section in sections:
        inside = [text for part in section.parts if (text := _part(part))]
        blocks += [f"\\subsection*{{{_text(section.title)}}}", *inside]
    return "\n\n".join([*blocks, f"Made by sparingly {escaped(version)}.", "\\endgroup"]) + "\n"


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
            facts = [(escaped(name), f"\\raggedright {_text(value)}") for name, value in part.rows]
            return _tabular(escaped(part.caption), "lp{7.8cm}", [], facts)
        case Table():
            return _table(part.in_letters)
        case Texts():
            lines = [f"\\textbf{{{escaped(part.caption)}}}"]
            lines += [f"{escaped(name)}: {escaped(text)}" for name, text in part.above]
            for text in part.texts:
                body = "".join(
                    f"\\emph{{{escaped(piece)}}}" if is_marked else escaped(piece)
                    for piece, is_marked in text.pieces
                )
                tail = "".join(f" ({escaped(remark)})" for remark in text.remarks)
                score = f", {escaped(text.score)}" if text.score else ""
                lines.append(f"\\textbf{{{escaped(text.name)}}}{score}: {body}{tail}")
            return "\n\n".join(lines)
        case Commands():
            shown_lines = (f"\\texttt{{{escaped_letters(one_line(line), BREAKABLE)}}}" for line in part.lines)
            return "\n\n".join([f"{_text(part.caption)}:", *shown_lines])
        case Picture():
            return ""


def _table(part: Table) -> str:
    """Return a table that fits the page: heads in two lines, smaller letters, a first column that wraps."""
    rows = [tuple(str(text) for text in row) for row in part.rows]
    heads = [
        _head(name, max((len(row[at]) for row in rows), default=0)) for at, name in enumerate(part.columns)
    ]
    widths = [max(map(len, (*head, *(row[at] for row in rows)))) + 2 for at, head in enumerate(heads)]
    numbers = len(part.columns) - part.texts
    first = "l"
    if widths[0] > _LONG or sum(widths) > _SIZES[-1][0]:
        widths[0] = max(_SIZES[-1][0] - sum(widths[1:]), 12)
        first = f"p{{{4 * widths[0]}pt}}"
    size = next((name for most, name in _SIZES if sum(widths) <= most), _SIZES[-1][1])
    sides = [*"l" * part.texts, *"r" * numbers]
    shown = []
    for side, head in zip(sides, heads, strict=True):
        text = r" \\ ".join(map(escaped, head))
        shown.append(f"\\shortstack[{side}]{{{text}}}" if len(head) > 1 else text)
    kinds = first + "".join(sides[1:])
    cells = [tuple(map(escaped, row)) for row in rows]
    return _tabular(escaped(part.caption), kinds, shown, cells, part.breaks, size)


def _head(name: str, width: int) -> list[str]:
    """Return the head of a column in one line or two."""
    words = name.split()
    if len(name) <= width or len(words) < 2:
        return [name]
    half = min(range(1, len(words)), key=lambda at: abs(len(" ".join(words[:at])) - len(name) / 2))
    return [" ".join(words[:half]), " ".join(words[half:])]


def _tabular(
    caption: str,
    kinds: str,
    head: list[str],
    rows: Sequence[Sequence[str]],
    breaks: frozenset[int] = frozenset(),
    size: str = "",
) -> str:
    space = "\\setlength{\\tabcolsep}{3pt}" if size else ""
    lines = [f"{caption}:\\par\\nopagebreak", f"{{{size}{space}\\begin{{tabular}}{{{kinds}}}", "\\hline"]
    lines += [f"{' & '.join(head)} \\\\", "\\hline"] if head else []
    for place, row in enumerate(rows):
        lines += ["\\hline"] if place in breaks else []
        # An opening bracket at the start of a row would be read as an argument of the row before.
        lines.append(f"{{}}{' & '.join(row)} \\tabularnewline")
    return "\n".join([*lines, "\\hline", "\\end{tabular}}"])
