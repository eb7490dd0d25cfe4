"""Texts as Markdown and as LaTeX, with every letter that means something there escaped."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sparingly.base.errors import one_line

# --- Markdown ---------------------------------------------------------------------------------------


def code(text: str) -> str:
    """Return a text as a code span: its fence is longer than any run of backticks inside."""
    text = one_line(text)
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}"


def cell(value: str) -> str:
    """Return a text that may stand in a cell of a Markdown table."""
    return value.replace("|", "\\|")


# --- LaTeX ------------------------------------------------------------------------------------------

_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_LATEX = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\textasciigrave{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}
# A long signature has no spaces: in code, a line may end after these.
_BREAKABLE = {"|": r"\textbar{}\allowbreak{}", ",": r",\allowbreak{}"}


def latex(text: str) -> str:
    """Return Markdown as LaTeX: code spans in typewriter type, every letter with a meaning escaped."""
    parts, place = [], 0
    for span in _SPAN.finditer(text):
        parts.append(escaped(text[place : span.start()]))
        inside = span.group(2)
        padded = inside.startswith(" `") or inside.endswith("` ")
        parts.append(f"\\texttt{{{escaped(inside[1:-1] if padded else inside, _BREAKABLE)}}}")
        place = span.end()
    return "".join([*parts, escaped(text[place:])])


def escaped(text: str, further: Mapping[str, str] | None = None) -> str:
    """Return a text in which every letter with a meaning in LaTeX is escaped."""
    escapes = {**_LATEX, **(further or {})}
    # Two hyphens in a row would become a dash.
    return "".join(escapes.get(letter, letter) for letter in text).replace("--", "-{}-")
