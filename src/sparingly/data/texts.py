"""What raters are shown: nothing empty, and outputs with the same text once."""

from __future__ import annotations

import unicodedata

from sparingly.base.errors import MissingDataError, listing
from sparingly.base.syntax import role_argument
from sparingly.data.evalset import EvalSet


def check_texts(data: EvalSet) -> None:
    """Raise MissingDataError where raters would see empty outputs; name columns that may hold them."""
    lacking = (
        list(data.models)
        if data.outputs is None
        else [
            model
            for place, model in enumerate(data.models)
            if not any(text and text.strip() for text in data.outputs[:, place])
        ]
    )
    if not lacking:
        return
    roles = data.roles
    texts = [part.column for part in roles.columns if part.has_texts] if roles is not None else []
    if texts:
        fix = f"They may be in {listing(texts)}: add {role_argument(texts[0], 'output')}."
    else:
        fix = f"Add a column with what the models wrote, and name it: {role_argument('COLUMN', 'output')}."
    whom = "" if len(lacking) == len(data.models) else f" of {listing(lacking, 4)}"
    raise MissingDataError(f"{data.name or 'The data'}: there are no outputs{whom} to show to raters. {fix}")


def same_text(text: str | None, *, exact: bool = False) -> str | None:
    """Return what outputs with the same text have in common: the text without blanks at its ends, as NFC.

    Where letters are marked, marks count them: with ``exact`` texts are the same letter by letter.
    """
    return text if text is None or exact else unicodedata.normalize("NFC", text.strip())
