"""The pages speak several languages, and each has every text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sparingly.show.web
from sparingly.base.errors import UnknownNameError
from sparingly.data.scale import Scale
from sparingly.run.campaign.answers import JUDGED, OUTDATED
from sparingly.run.forms.form import REASONS, forms
from sparingly.run.forms.spans import SEVERITIES
from sparingly.show.web.languages import languages, texts_of
from tests.show.web.visitor import Visitor, served

FOLDER = Path(sparingly.show.web.__file__).parent


def english_texts() -> set[str]:
    """Everything that templates, the script, forms and the service say to raters."""
    texts = set(REASONS.values()) | {"Before you begin", OUTDATED, JUDGED, *SEVERITIES}
    for template in FOLDER.glob("templates/**/*.html"):
        texts |= set(re.findall(r'\bt\("([^"]+)"\)', template.read_text("utf-8")))
    texts |= set(re.findall(r'\btr\("([^"]+)"\)', (FOLDER / "static" / "rate.js").read_text("utf-8")))
    for form in forms("pages"):
        if type(form).__module__.startswith("sparingly."):
            field = form.field(Scale(0, 1))
            words = () if field is None or form.name == "stars" else field.choices
            texts |= {form.title, *(word for _, word in words)}
    for module in [*FOLDER.glob("rater/*.py"), FOLDER / "entry.py"]:
        found = re.findall(r'(?:UsageError|return)\(?\s*"([A-Z][^"{]+[.])"', module.read_text("utf-8"))
        texts |= set(found)
    return texts


@pytest.mark.parametrize("language", [name for name in languages() if name != "en"])
def test_every_text_is_there_with_its_fields(language: str) -> None:
    texts = texts_of(language)
    assert english_texts() == set(texts)
    for english, other in texts.items():
        assert other.strip()
        assert set(re.findall(r"\{\w+\}", english)) == set(re.findall(r"\{\w+\}", other))


def test_a_page_in_german(tmp_path: Path) -> None:
    with served(tmp_path, budget=1, size=1, scale=(0, 1), options={"language": "de"}) as app:
        anna = Visitor(app, "anna")
        page = anna.page()
        assert '<html lang="de">' in page
        assert "Ist jeder Text in Ordnung?</h1>" in page
        assert "0 von 1 beurteilt, 0 von Ihnen" in page
        assert "Entwurf gespeichert." in page, "the script's texts come with the page"
        anna.answer(anna.question(), 1)
        assert "Alles ist beurteilt. Vielen Dank." in anna.page()
        organiser = Visitor(app).client
        organiser.get(f"/o/{anna.web.access.invite('organiser')}")
        assert '<html lang="en">' in organiser.get("/organiser").text


def test_an_unknown_language_is_refused(tmp_path: Path) -> None:
    assert {"de", "en", "es", "fr"} == set(languages())
    with (
        pytest.raises(UnknownNameError, match="There are: de, en"),
        served(tmp_path, options={"language": "x"}),
    ):
        pass


def test_each_language_keeps_to_its_typography_and_is_polite() -> None:
    french, spanish, german = (texts_of(name).values() for name in ("fr", "es", "de"))
    for text in french:
        assert "'" not in text
        assert not re.search(r"(?<![\u00a0\u202f])[:?!;]", text), text
        assert not re.search(r"\b(tu|toi|ton|ta|tes)\b", text, re.IGNORECASE), text
    for text in spanish:
        assert ("¿" in text, "¡" in text) == ("?" in text, "!" in text), text
        assert not re.search(r"\b(tú|ti|tus?|vosotros)\b", text, re.IGNORECASE), text
    for text in german:
        assert not re.search(r"\b(du|dich|dir|deine?[nmrs]?)\b", text, re.IGNORECASE), text
