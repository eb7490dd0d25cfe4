"""Texts as Markdown and as LaTeX, with every letter that means something there escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from unicodedata import category

from sparingly.base.errors import one_line

_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")


def code(text: str) -> str:
    """Return a text as a code span: its fence is longer than any run of backticks inside."""
    text = one_line(text)
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}"


def cell(value: str) -> str:
    """Return a text that may stand in a cell of a Markdown table."""
    return value.replace("|", "\\|")


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the pieces of a text with whether each is a code span."""
    place = 0
    for span in _SPAN.finditer(text):
        if span.start() > place:
            yield text[place : span.start()], False
        inside = span.group(2)
        padded = inside.startswith(" `") or inside.endswith("` ")
        yield inside[1:-1] if padded else inside, True
        place = span.end()
    if place < len(text):
        yield text[place:], False


_MATHS = {
    **{"α": "alpha", "β": "beta", "δ": "delta", "θ": "theta", "κ": "kappa", "λ": "lambda", "μ": "mu"},
    **{"π": "pi", "ρ": "rho", "σ": "sigma", "τ": "tau", "Σ": "Sigma", "Δ": "Delta", "×": "times"},
    **{"±": "pm", "≤": "leq", "≥": "geq", "≠": "neq", "≈": "approx", "→": "rightarrow", "←": "leftarrow"},
    **{"∞": "infty", "√": "surd", "▲": "bigtriangleup", "▼": "bigtriangledown", "·": "cdot", "★": "star"},
}
_LATEX = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\textasciigrave{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # What the sentences of this package use, and plain LaTeX has no letter for.
    **{letter: f"$\\{name}$" for letter, name in _MATHS.items()},
    "−": "$-$",
}
_LIGATURE = re.compile(r"([-'])(?=\1)")
# A long signature has no spaces: in code, a line may end after these.
BREAKABLE = {"|": r"\textbar{}\allowbreak{}", ",": r",\allowbreak{}"}


def latex(text: str) -> str:
    """Return Markdown as LaTeX: code spans in typewriter type, every letter with a meaning escaped."""
    return "".join(
        f"\\texttt{{{escaped(piece, BREAKABLE)}}}" if is_code else escaped(piece)
        for piece, is_code in pieces(text)
    )


def escaped(text: str, further: Mapping[str, str] | None = None) -> str:
    """Return a text in which every letter with a meaning in LaTeX is escaped."""
    escapes = {**_LATEX, **(further or {})}
    # Hyphens in a row would become a dash, apostrophes a closing quote.
    # Marks of direction and width, which nobody sees, are no letters for LaTeX.
    letters = (letter for letter in text if category(letter) != "Cf")
    return _LIGATURE.sub(r"\1{}", "".join(escapes.get(letter, letter) for letter in letters))
