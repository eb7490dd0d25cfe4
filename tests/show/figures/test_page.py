"""The pages about pictures show what their own commands draw."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

DOCS = Path(__file__).resolve().parents[3] / "docs"
README = (DOCS.parent / "README.md").read_text(encoding="utf-8")
PAGE = "".join(
    (DOCS / name).read_text(encoding="utf-8")
    for name in ("reference/report.md", "research/results-analyses.md")
)
SHOWN = re.findall(r"^!\[[^\]]+\]\(\.\./images/([\w-]+\.svg)\)$", PAGE, re.MULTILINE)


def test_every_picture_is_shown_once_and_drawn_by_a_command() -> None:
    drawn = re.findall(r"--out ([\w-]+\.svg)", PAGE)
    assert SHOWN
    assert drawn == SHOWN
    pages = [page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md")]
    for path in (DOCS / "images").iterdir():
        assert sum(f"images/{path.name})" in page for page in [*pages, README]) >= 1, path.name
        assert path.suffix == ".png" or sum(f"images/{path.name})" in page for page in pages) == 1


def test_pictures_are_small_and_valid() -> None:
    for name in SHOWN:
        content = (DOCS / "images" / name).read_bytes()
        assert len(content) < 100_000, name
        assert ElementTree.fromstring(content).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 - our own
