from __future__ import annotations

import builtins
import json
import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import ExtraMissingError, InputError, UsageError
from sparingly.show.figures import look
from sparingly.show.figures.save import picture_kind, save_figure
from tests.show.figures.made import chart_title, picture, spec, titles_of_axes

SVG = "{http://www.w3.org/2000/svg}"


def texts(path: Path) -> list[str]:
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))  # noqa: S314 - our own file
    assert root.tag == f"{SVG}svg"
    return ["".join(node.itertext()) for node in root.iter() if node.tag in (f"{SVG}text", f"{SVG}title")]


def test_a_picture_is_valid_xml_with_its_axes(tmp_path: Path) -> None:
    save_figure(picture(), tmp_path / "curve.svg")
    shown = texts(tmp_path / "curve.svg")
    for part in titles_of_axes(spec()):
        assert part in shown
    assert chart_title(spec()) in shown


@pytest.mark.parametrize(
    ("suffix", "start"), [(".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<svg"), (".PNG", b"\x89PNG")]
)
def test_kinds_of_files(suffix: str, start: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"picture{suffix}"
    save_figure(picture(), str(path))
    assert path.read_bytes().startswith(start)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_json_is_the_vega_lite_behind_the_picture(tmp_path: Path) -> None:
    save_figure(picture(), tmp_path / "curve.json")
    assert json.loads((tmp_path / "curve.json").read_text(encoding="utf-8")) == spec()


def test_a_page_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    save_figure(picture(), tmp_path / "curve.html")
    page = (tmp_path / "curve.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert f"<title>{chart_title(spec())}</title>" in page
    assert "default-src 'none'" in page, "the browser is told to load nothing"
    assert re.findall(r"<(?:script|link|img|iframe)[^>]*\s(?:src|href)=[\"']?https?:", page) == []
    assert re.findall(r"@import|url\(['\"]?https?:|from\s*[\"']https?:|import\([\"']https?:", page) == []
    assert page.count("</script>") == 2, "nothing ends a script too early"


def test_names_cannot_break_out_of_the_page(tmp_path: Path) -> None:
    evil = '</script><script>alert("&")</script>'
    ranking = sparingly.rank_scores(np.array([1.0, 2.0]), np.eye(2), models=("a", evil))
    chart = sparingly.figure(ranking)
    for suffix in (".html", ".svg"):
        save_figure(chart, tmp_path / f"ranks{suffix}")
    assert evil not in (tmp_path / "ranks.html").read_text(encoding="utf-8")
    assert (tmp_path / "ranks.html").read_text(encoding="utf-8").count("<script>") == 2
    assert any("alert" in text for text in texts(tmp_path / "ranks.svg"))


def test_what_cannot_be_written(tmp_path: Path) -> None:
    chart = picture()
    for name in ("picture.gif", "picture", ".svg"):
        with pytest.raises(UsageError, match=r"one of \.html, \.svg, \.png, \.pdf, \.json"):
            save_figure(chart, tmp_path / name)
    with pytest.raises(InputError, match="the folder to write to does not exist"):
        save_figure(chart, tmp_path / "absent" / "picture.json")
    assert list(tmp_path.iterdir()) == []
    assert picture_kind("a.SVG") == ".svg"


@pytest.mark.parametrize("package", ["altair", "vl_convert"])
def test_without_the_extra_it_is_named(package: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    chart = picture()
    monkeypatch.delitem(sys.modules, package)
    monkeypatch.setattr(look, "import_module", _without(package))
    sentence = r'A picture needs an extra\. Install it with: pip install "sparingly\[report\]"'
    with pytest.raises(ExtraMissingError, match=sentence):
        picture()
    with pytest.raises(ExtraMissingError, match=sentence):
        save_figure(chart, tmp_path / "x.svg")
    assert list(tmp_path.iterdir()) == []


def test_a_fault_inside_the_library_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look, "import_module", _without("narwhals"))
    with pytest.raises(ModuleNotFoundError, match="narwhals"):
        look.need_report()


def _without(package: str) -> Any:
    """Import as it would be where a package is not installed."""

    def absent(name: str) -> Any:
        if name == package or package == "narwhals":
            raise ModuleNotFoundError(f"No module named '{package}'", name=package)
        return builtins.__import__(name)

    return absent
