"""Pictures as files: a page that needs no network, SVG, PNG, PDF, or the Vega-Lite behind them."""

from __future__ import annotations

import json
import re
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparingly.base.errors import UsageError, one_line
from sparingly.data.files import write_bytes
from sparingly.show.figures.look import need_report

if TYPE_CHECKING:
    from altair.typing import ChartType

_KINDS = (".html", ".svg", ".png", ".pdf", ".json")
_SCALE = 2.0
# XML has no such letters, and one_line leaves them as they are.
_NO_LETTERS = re.compile("[\ufffe\uffff]")
_SNIPPET = "window.vegaEmbed = vegaEmbed;"
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline';
 script-src 'unsafe-inline' 'unsafe-eval'; img-src data: blob:">
<title>{title}</title>
<style>body {{ margin: 1rem; background: #fff; }}</style>
</head>
<body>
<div id="figure"></div>
<script>{library}</script>
<script>
vegaEmbed("#figure", {spec}, {{renderer: "svg", actions: {{export: true, source: false, compiled: false,
 editor: false}}}});
</script>
</body>
</html>
"""


def save_figure(chart: ChartType, path: str | Path) -> None:
    """Write a picture, whole or not at all; the extension says what is written.

    ``.html`` is a page that works without a network, with values shown under the pointer; ``.svg``, ``.png``
    and ``.pdf`` are for papers and slides; ``.json`` is the Vega-Lite that draws it, to be changed by hand.

    Args:
        chart: What ``figure`` returned, or any other Altair chart.
        path: The file to write.
    """
    kind = picture_kind(path)
    need_report()
    write_bytes(Path(path), _rendered(drawable(chart.to_dict()), kind))


def drawable(part: Any) -> Any:
    """Return Vega-Lite without letters that no picture can hold: the library that draws ends the process."""
    if isinstance(part, str):
        return _NO_LETTERS.sub("\ufffd", one_line(part))
    if isinstance(part, dict):
        return {drawable(name): drawable(inside) for name, inside in part.items()}
    return [drawable(inside) for inside in part] if isinstance(part, list) else part


def picture_kind(path: str | Path) -> str:
    """Return the extension of a picture's file; one that no picture has is an error."""
    kind = Path(path).suffix.lower()
    if kind not in _KINDS:
        endings = ", ".join(_KINDS)
        raise UsageError(f"{path} is not a name for a picture: its ending must be one of {endings}.")
    return kind


def _rendered(spec: dict[str, Any], kind: str) -> bytes:
    import vl_convert

    version = vega_lite_version()
    if kind == ".png":
        return vl_convert.vegalite_to_png(spec, vl_version=version, scale=_SCALE)
    if kind == ".pdf":
        return vl_convert.vegalite_to_pdf(spec, vl_version=version)
    if kind == ".svg":
        start, end, body = vl_convert.vegalite_to_svg(spec, vl_version=version).partition(">")
        # What the picture is of, for those who cannot see it.
        return f"{start}{end}<title>{escape(_title(spec))}</title>{body}\n".encode()
    if kind == ".json":
        text = json.dumps(spec, ensure_ascii=False, indent=1) + "\n"
    else:
        # Nothing in a name may end the script.
        script = json.dumps(spec, ensure_ascii=False).replace("<", "\\u003c")
        script = script.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
        text = _PAGE.format(title=escape(_title(spec)), library=_bundle(version), spec=script)
    return text.encode("utf-8", "backslashreplace")


@cache
def _bundle(version: str) -> str:
    """Return the scripts that draw, all in one: putting them together takes seconds."""
    import vl_convert

    return vl_convert.javascript_bundle(_SNIPPET, vl_version=version)


def _title(spec: dict[str, Any]) -> str:
    """Return the title of the picture, which stands above the chart inside its frame."""
    inside = [spec, *spec.get("vconcat", [])]
    texts = [part["title"].get("text", "") for part in inside if isinstance(part.get("title"), dict)]
    text = texts[-1] if texts else "sparingly"
    return " ".join(text) if isinstance(text, list) else str(text)


def vega_lite_version() -> str:
    """Return the version of Vega-Lite that the chart was written for."""
    import altair as alt

    return ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
