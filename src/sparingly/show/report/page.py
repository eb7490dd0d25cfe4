"""A page to open in a browser: what the terminal showed, kept."""

from __future__ import annotations

from html import escape

from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ margin: 2rem auto; max-width: 75rem; padding: 0 1rem; background: #fff; color: #1a1a1a; }}
h1 {{ font: 600 1.4rem system-ui, sans-serif; }}
pre {{ font: 0.82rem/1.35 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }}
pre {{ white-space: pre-wrap; overflow-wrap: anywhere; min-width: 64rem; }}
{{stylesheet}}
</style>
</head>
<body>
<h1>{title}</h1>
<pre>{{code}}</pre>
</body>
</html>
"""


def page(title: str, console: Console) -> str:
    """Return what a recording console has shown as one self-contained page."""
    frame = _PAGE.format(title=escape(title))
    return console.export_html(
        theme=DEFAULT_TERMINAL_THEME, code_format=_for_rich(frame), inline_styles=False, clear=False
    )


def _for_rich(frame: str) -> str:
    """Double the braces of the style sheet, which Rich fills in by ``str.format``."""
    doubled = frame.replace("{", "{{").replace("}", "}}")
    return doubled.replace("{{stylesheet}}", "{stylesheet}").replace("{{code}}", "{code}")
