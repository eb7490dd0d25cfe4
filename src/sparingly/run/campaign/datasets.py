"""The data sets of a campaign: names that can be stored, sets as bytes, and their versions."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, select

from sparingly.base.errors import DataError, InputError, one_line
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.io.jsonl import JsonLines
from sparingly.data.texts import same_text
from sparingly.data.values import shown
from sparingly.run.campaign.tables import DATA_VERSIONS, MODELS, rows_of
from sparingly.run.forms.answer import has_lost_letters

# --- Names that a database can store ---

# The index of answers has a row of 2,704 bytes at most on PostgreSQL: two names of people and these.
MOST_BYTES_TOGETHER = 1_800


def check_letters(campaign: str, name: str, data: EvalSet, aspects: Iterable[str]) -> None:
    """Raise DataError where a letter of a name would be lost in the database."""
    for kind, names in _names_in(campaign, name, data, aspects).items():
        # All at once first: there may be a million.
        if has_lost_letters("".join(names)):
            text = shown(next(text for text in names if has_lost_letters(text)))
            lost = "NUL, or half of a surrogate pair"
            raise DataError(
                one_line(f"The {kind} {text} has a letter that no database keeps ({lost}). Rename it.")
            )


def check_lengths(campaign: str, name: str, data: EvalSet, aspects: Iterable[str]) -> None:
    """Raise DataError where names are together too long for the index of a PostgreSQL server."""
    longest = {
        kind: max(names, key=lambda text: len(text.encode()), default="")
        for kind, names in _names_in(campaign, name, data, aspects).items()
    }
    sizes = {kind: len(text.encode()) for kind, text in longest.items()}
    # An item is looked for by its document where it has one; a comparison has two models.
    together = sum(sizes.values()) + sizes["model"] - min(sizes["item"], sizes["document"])
    if together > MOST_BYTES_TOGETHER:
        kind = max(sizes, key=lambda name: sizes[name])
        raise DataError(
            f"The {kind} {shown(longest[kind])} has {sizes[kind]} bytes: the longest names of a campaign in "
            f"PostgreSQL have {MOST_BYTES_TOGETHER} bytes together. "
            "Give shorter names, or keep the campaign in a file."
        )


def _names_in(campaign: str, name: str, data: EvalSet, aspects: Iterable[str]) -> dict[str, list[str]]:
    documents = data.columns.get(fields.DOCUMENT, ())
    return {
        "campaign": [campaign],
        "data set": [name],
        "item": [str(item) for item in data.items],
        "document": sorted({str(document) for document in documents if document is not None}),
        "model": list(data.models),
        "aspect": list(aspects),
    }


# --- Sets as bytes ---

# Our own JSON Lines, compressed.
_FILE_NAME = "data.jsonl.gz"


def unjudged(data: EvalSet) -> EvalSet:
    """Return a set without what people said: a campaign knows only the answers that it asked for."""
    return data.without_labels().with_parts()


def to_bytes(data: EvalSet) -> bytes:
    """Return a set as the bytes of a file; reading them back gives the same set."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / _FILE_NAME
        JsonLines().write(data, path)
        if JsonLines().read(path, {}).digest() != data.digest():
            raise DataError("The evaluation set cannot be stored: writing and reading it changes it.")
        return path.read_bytes()


def from_bytes(content: bytes, digest: str, name: str) -> EvalSet:
    """Return the set that some bytes hold, or say that they are damaged."""
    damaged = f'The data set "{name}" in the database is damaged'
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / _FILE_NAME
        path.write_bytes(content)
        try:
            data = JsonLines().read(path, {})
        except InputError as error:
            # It would name a file that nobody knows.
            raise DataError(f"{damaged} ({error.problem}). Take another copy of it.") from None
    if data.digest() != digest:
        raise DataError(f"{damaged}. Take another copy of it.")
    return data.with_parts(name=name)


# --- Versions, read once ---


@dataclass(frozen=True)
class Presence:
    """When a model came into a data set and when it left, as numbers of the journal."""

    arrived: int
    withdrawn: int | None

    def is_present(self, seq: int) -> bool:
        """Whether the model was in the data set at a number."""
        return self.arrived <= seq and (self.withdrawn is None or self.withdrawn > seq)


class DataSets:
    """Reads the versions of a campaign's data sets, each once."""

    def __init__(self, campaign: str) -> None:
        self.campaign = campaign
        self._sets: dict[tuple[str, int], EvalSet] = {}
        self._shared: dict[tuple[str, int], dict[tuple[str, str], str]] = {}

    def at(self, connection: Connection, data: str, seq: int) -> EvalSet:
        """Return a data set as it was at a number of the journal, with the models that were in it then."""
        table = DATA_VERSIONS.c
        condition = (table.campaign == self.campaign, table.data == data, table.seq <= seq)
        version = max(connection.execute(select(table.seq).where(*condition)).scalars())
        if (data, version) not in self._sets:
            query = select(table.content, table.digest).where(*condition, table.seq == version)
            row = connection.execute(query).one()
            self._sets[data, version] = from_bytes(row.content, row.digest, data)
        data_set = self._sets[data, version]
        presence = models_of(connection, self.campaign, data)
        present = [name for name in data_set.models if presence[name].is_present(seq)]
        return data_set if len(present) == len(data_set.models) else data_set.take(models=present)

    def shared_texts(self, connection: Connection, data: str, seq: int) -> dict[tuple[str, str], str]:
        """Return by item and model the first model with the same text, where that is another one."""
        data_set = self.at(connection, data, seq)
        key = (data, len(data_set.models))
        if key not in self._shared and data_set.outputs is not None:
            shared: dict[tuple[str, str], str] = {}
            for item, texts in zip(data_set.items, data_set.outputs, strict=True):
                first: dict[str, str] = {}
                for model, text in zip(data_set.models, texts, strict=True):
                    if text is not None and first.setdefault(same_text(text) or "", model) != model:
                        shared[str(item), model] = first[same_text(text) or ""]
            self._shared = {
                **{one: found for one, found in self._shared.items() if one[0] != data},
                key: shared,
            }
        return self._shared.get(key, {})


def models_of(connection: Connection, campaign: str, data: str) -> dict[str, Presence]:
    """Return when each model of a data set came and went."""
    rows = connection.execute(rows_of(MODELS, campaign, data=data))
    return {row.model: Presence(row.arrived, row.withdrawn) for row in rows}
