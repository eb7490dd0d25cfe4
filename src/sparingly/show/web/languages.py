"""What raters read on the pages, in other languages: a file for each, by the English text."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files

from sparingly.base.errors import UnknownNameError

_FOLDER = files("sparingly.show.web").joinpath("languages")
_TEXT = re.compile(r'\btr\("([^"]+)"\)')


def languages() -> list[str]:
    """Return the languages that there are."""
    return sorted(
        [
            "en",
            *(path.name.removesuffix(".toml") for path in _FOLDER.iterdir() if path.name.endswith(".toml")),
        ]
    )


@cache
def texts_of(language: str) -> Mapping[str, str]:
    """Return the texts of a language by the English ones; none for English."""
    if language not in languages():
        raise UnknownNameError("language of the pages", language, languages())
    if language == "en":
        return {}
    return dict(tomllib.loads(_FOLDER.joinpath(f"{language}.toml").read_text("utf-8")))


def translator(language: str) -> Callable[[str], str]:
    """Return what turns an English text into a language; what no file has stays English."""
    texts = texts_of(language)
    return lambda text: texts.get(text, text)


@cache
def script_texts(language: str) -> Mapping[str, str]:
    """Return the texts that the script of the page says."""
    script = files("sparingly.show.web").joinpath("static", "rate.js").read_text("utf-8")
    translated, texts = translator(language), [*_TEXT.findall(script), "minor", "major", "critical"]
    return {text: translated(text) for text in texts} if language != "en" else {}
