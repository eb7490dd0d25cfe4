"""Names that a database can keep and find again: of campaigns, data sets, items, models and people."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sparingly.base.errors import DataError, InputError, one_line
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.values import shown

# The index of answers has a row of 2,704 bytes at most on PostgreSQL: two of these and all names below.
LONGEST_BYTES = 400
MOST_BYTES_TOGETHER = 1_800
_LOST = re.compile("[\0\ud800-\udfff]")


def has_lost_letters(text: str) -> bool:
    """Say whether a text has letters that no database keeps: NUL, or half of a surrogate pair."""
    return _LOST.search(text) is not None


def checked_text(text: str, field: str) -> str:
    """Return a text that a database keeps, or say why it is none."""
    if has_lost_letters(text):
        raise InputError(f"{shown(text)} has a letter that cannot be stored", field=field, fix="Leave it out")
    return text


def checked_name(text: str, field: str) -> str:
    """Return the name of a rater or a sender, or say why it cannot be one."""
    if len(checked_text(text, field).encode()) > LONGEST_BYTES:
        raise InputError(
            f"{shown(text)} has more than {LONGEST_BYTES} bytes", field=field, fix="Give a shorter name"
        )
    return text


def check_letters(campaign: str, data: str, held: EvalSet, aspects: Iterable[str]) -> None:
    """Refuse names in which a letter would be lost: it would be noticed when they are asked for."""
    for kind, names in _names(campaign, data, held, aspects).items():
        # All at once first: there may be a million.
        if has_lost_letters("".join(names)):
            name = next(one for one in names if has_lost_letters(one))
            lost = "NUL, or half of a surrogate pair"
            raise DataError(
                one_line(f"The {kind} {shown(name)} has a letter that no database keeps ({lost}). Rename it.")
            )


def check_lengths(campaign: str, data: str, held: EvalSet, aspects: Iterable[str]) -> None:
    """Refuse names that are together too long for the index of a PostgreSQL server."""
    longest = {
        kind: max(names, key=lambda name: len(name.encode()), default="")
        for kind, names in _names(campaign, data, held, aspects).items()
    }
    sizes = {kind: len(name.encode()) for kind, name in longest.items()}
    # An item is looked for by its document where it has one; a comparison has two models.
    together = sum(sizes.values()) + sizes["model"] - min(sizes["item"], sizes["document"])
    if together > MOST_BYTES_TOGETHER:
        kind = max(sizes, key=lambda one: sizes[one])
        raise DataError(
            f"The {kind} {shown(longest[kind])} has {sizes[kind]} bytes: the longest names of a campaign in "
            f"PostgreSQL have {MOST_BYTES_TOGETHER} bytes together. "
            "Give shorter names, or keep the campaign in a file."
        )


def _names(campaign: str, data: str, held: EvalSet, aspects: Iterable[str]) -> dict[str, list[str]]:
    documents = held.columns.get(fields.DOCUMENT)
    return {
        "campaign": [campaign],
        "data set": [data],
        "item": [str(item) for item in held.items],
        "document": [] if documents is None else sorted({str(one) for one in documents if one is not None}),
        "model": list(held.models),
        "aspect": list(aspects),
    }
