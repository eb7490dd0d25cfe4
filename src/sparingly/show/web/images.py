"""Images of a folder, shown where a text is the path of one, or has one as ``![words](path)``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from sparingly.base.errors import InputError
from sparingly.data.evalset import EvalSet
from sparingly.show.web.texts import turns

# What browsers show and no script can be in.
KINDS = {".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg", ".gif": "gif", ".webp": "webp"}
_IN_TEXT = re.compile(r"!\[([^\]\n]{0,200})\]\(([^()\s]{1,300})\)")
_LONGEST_PATH = 300


class Images:
    """The images that texts name, each under a name that says nothing of its path."""

    def __init__(self, folder: Path, data_sets: Mapping[str, EvalSet], handle: Callable[..., str]) -> None:
        """Find the images that the texts of a campaign name; one outside the folder is an error."""
        if not folder.is_dir():
            raise InputError("this is no folder", file=folder, fix="Name the one that holds the images")
        self.folder, self._handle = folder.resolve(), handle
        self.files: dict[str, Path] = {}
        for data in data_sets.values():
            texts = [data.sources] if data.sources is not None else []
            texts += [] if data.outputs is None else list(data.outputs.T)
            for column in texts:
                for item, text in zip(data.items, column, strict=True):
                    for _, _, path in self.parts(text):
                        if path is not None and self.name_of(path) is None:
                            raise InputError(
                                f'the image "{path}" of the item "{item}" is not in this folder',
                                file=folder,
                                fix="Name a file within it",
                            )

    def parts(self, text: str | None) -> Iterator[tuple[str, str, str | None]]:
        """Yield the parts of a text, or of the turns of a chat: who says it, the words, an image's path."""
        for speaker, said in turns(text) or [("", text or "")]:
            for words, path in self._parts(said):
                yield speaker, words, path

    def _parts(self, text: str) -> Iterator[tuple[str, str | None]]:
        whole = text.strip()
        if (
            len(whole) <= _LONGEST_PATH
            and not re.search(r"\s", whole)
            and _is_image(whole)
            and "](" not in whole
        ):
            yield "", whole
            return
        start = 0
        for match in _IN_TEXT.finditer(text):
            if _is_image(match[2]):
                if text[start : match.start()].strip():
                    yield text[start : match.start()].strip("\n"), None
                yield match[1], match[2]
                start = match.end()
        if text[start:].strip() or not start:
            yield text[start:].strip("\n") if start else text, None

    def name_of(self, path: str) -> str | None:
        """Return what an image is called in addresses; None where there is no such file in the folder."""
        try:
            file = (self.folder / path).resolve()
            is_file = file.is_file()
        except (OSError, ValueError):
            return None
        if not file.is_relative_to(self.folder) or not is_file or not _is_image(file.name):
            return None
        name = self._handle("image", str(file.relative_to(self.folder)))
        self.files[name] = file
        return name


def _is_image(path: str) -> bool:
    return Path(path).suffix.lower() in KINDS
