"""An anonymised release of a campaign: what others need to use, check and cite it, without the raters' names.

Raters become numbers in a random order. The seed of that order is not in the release: with it, whoever knows
the names could find out whose number is whose. Times of day, client ids and (unless asked for) comments stay
behind as well.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sparingly._version import __version__
from sparingly.base import rng
from sparingly.base.errors import UsageError
from sparingly.data.selection import Selection
from sparingly.run.campaign.history import judged
from sparingly.run.campaign.marks import marks_at
from sparingly.run.campaign.overview import last_entry
from sparingly.run.campaign.packing import (
    csv_bytes,
    data_bytes,
    json_bytes,
    line_bytes,
    stems,
    write_folder,
    write_zip,
)
from sparingly.run.campaign.release_card import Card, card_text

if TYPE_CHECKING:
    from sparingly.run.campaign.campaign import Campaign

FORMAT, VERSION = "sparingly/release", 1
COLUMNS = ("data", "round", "rater", "item", "model", "first", "second", "aspect", "score", "seconds")
COMMENT = "comment"
_ABOUT = ("data", "rater", "item", "model", "first", "second", "aspect")


@dataclass(frozen=True)
class Release:
    """What was written: the files by name, how many raters and answers, and the seed of their numbers."""

    path: str
    files: tuple[str, ...]
    raters: int
    answers: int
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**vars(self), "files": list(self.files)}


def release(
    campaign: Campaign,
    path: str | Path,
    *,
    licence: str,
    title: str | None = None,
    comments: bool = False,
    texts: bool = True,
    seed: int | None = None,
) -> Release:
    """Write an anonymised release of a campaign, as a folder, or as one file where the name ends in .zip.

    Args:
        campaign: The campaign.
        path: The folder to make, or the ``.zip`` to write.
        licence: Under which licence it is given away, such as ``CC-BY-4.0``; it goes into the data card.
        title: What the card calls it; the campaign's name unless given.
        comments: Whether what raters wrote is given away, too: read it first, people name themselves.
        texts: Whether the data sets are given away with it; without them the ratings are there, by ids.
        seed: Settles which rater gets which number; a new random one unless given. Keep it to make the same
            numbers again, and publish it nowhere.
    """
    target = Path(path)
    if not licence.strip():
        raise UsageError("Say under which licence it is released: licence=CC-BY-4.0, say.")
    chosen = secrets.randbits(62) if seed is None else seed
    content, raters, answers = contents(
        campaign, licence=licence.strip(), title=title, comments=comments, texts=texts, seed=chosen
    )
    (write_zip if target.suffix.lower() == ".zip" else write_folder)(target, content)
    return Release(str(target), tuple(content), raters, answers, chosen)


def contents(
    campaign: Campaign, *, licence: str, title: str | None, comments: bool, texts: bool, seed: int
) -> tuple[dict[str, bytes], int, int]:
    """Return the files of a release by name, the number of raters and that of answers."""
    # One state of the campaign, although it is read in several steps while people answer.
    seq = last_entry(campaign)
    every = campaign.ratings(at=seq)
    numbers = rater_numbers(sorted({row["rater"] for row in every}), seed)
    rows = _anonymous(every, numbers, comments=comments)
    rounds = {name: campaign.rounds(name, at=seq) for name in campaign.settings.budgets}
    found: dict[str, bytes] = {}
    found["ratings.csv"] = csv_bytes(rows, (*COLUMNS, COMMENT) if comments else COLUMNS)
    if marked := _marks(campaign, rows):
        found["marks.jsonl"] = marked
    stem = stems(list(rounds))
    for name, drawn in rounds.items():
        for number, one in enumerate(drawn, 1):
            found[f"rounds/{stem[name]}-{number}.json"] = json_bytes(without_names(one).to_dict())
        if texts:
            found[f"data/{stem[name]}.jsonl"] = _data(campaign, name, rows, seq)
    card = Card(
        title or campaign.name, licence, campaign.settings, rounds, rows, len(numbers), comments, texts
    )
    found = {"README.md": card_text(card).encode(), **found}
    found["release.json"] = json_bytes(_manifest(campaign, card, found))
    return found, len(numbers), len(rows)


def rater_numbers(names: Sequence[str], seed: int) -> dict[str, str]:
    """Return a number for every rater, as text, in an order that a seed settles."""
    keys = rng.stream(rng.keys_of(list(names)), seed, "release")
    return {names[place]: str(number) for number, place in enumerate(np.argsort(keys, kind="stable"), 1)}


def without_names(selection: Selection) -> Selection:
    """Return a round whose signature says nothing of who answered.

    Digests of comparisons were made with the raters' names: few names can be tried until one fits. Digests of
    scores are of means, and stay.
    """
    if selection.pairs is None:
        return selection
    return replace(selection, signature=replace(selection.signature, labels=None, earlier=None))


def _anonymous(
    every: Sequence[Mapping[str, Any]], numbers: Mapping[str, str], *, comments: bool
) -> list[dict[str, Any]]:
    """Return the answers that count, by what they are about: their order in time tells who worked when."""
    last = {tuple(row[name] for name in _ABOUT): row for row in every}
    rows = [
        {
            **{name: row[name] for name in COLUMNS},
            "rater": numbers[row["rater"]],
            COMMENT: row[COMMENT] if comments else None,
            "seq": row["seq"],
        }
        for row in last.values()
    ]
    order = ("data", "round", "item", "model", "first", "second", "aspect")
    return sorted(rows, key=lambda row: (*(str(row[name] or "") for name in order), int(row["rater"])))


def _marks(campaign: Campaign, rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Return the marked errors of the answers that count, as JSON Lines."""
    with campaign.database.reading() as connection:
        marks = marks_at(connection, campaign.name, max((row["seq"] for row in rows), default=0))
    names = ("data", "round", "rater", "item", "model", "aspect", "score")
    return line_bytes(
        {**{name: row[name] for name in names}, "marks": marks[row["seq"]]}
        for row in rows
        if row["seq"] in marks
    )


def _data(campaign: Campaign, name: str, rows: Sequence[Mapping[str, Any]], seq: int) -> bytes:
    """Return a data set with the answers, the raters as numbers."""
    answers = [
        {**row, "model": row["model"] or row["first"], "other": row["second"] or ""}
        for row in rows
        if row["data"] == name
    ]
    held = campaign.data(name, at=seq, judged=False)
    return data_bytes(judged(held, answers, campaign.settings.aspects))


def _manifest(campaign: Campaign, card: Card, found: Mapping[str, bytes]) -> dict[str, Any]:
    settings = campaign.settings
    return {
        "format": FORMAT,
        "version": VERSION,
        "made_with": f"sparingly {__version__}",
        "title": card.title,
        "licence": card.licence,
        "aspect": settings.aspect,
        "aspects": {name: None if ends is None else list(ends) for name, ends in settings.aspects.items()},
        "strategy": settings.strategy,
        "stops": list(settings.stops),
        "budgets": {name: str(part) for name, part in settings.budgets.items()},
        "seed": settings.seed,
        "raters": card.raters,
        "answers": len(card.rows),
        "signatures": {
            name: [str(without_names(one).signature) for one in drawn] for name, drawn in card.rounds.items()
        },
        "files": {name: hashlib.sha256(held).hexdigest() for name, held in found.items()},
    }
