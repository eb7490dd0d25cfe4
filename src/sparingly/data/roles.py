"""Roles: what each column of a table is; shown, saved beside the data, never guessed in silence."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from sparingly.base.errors import InputError, UnknownNameError, UsageError, listing
from sparingly.base.syntax import one_of_several, role_argument
from sparingly.data import files
from sparingly.data.values import as_list, as_mapping, as_text, check_version

# What a user can say of a column, and what it means.
ROLES = {
    "item": "the id of the item",
    "input": "what the models were given; several columns are joined",
    "output": "what a model wrote; several columns are one model each",
    "model": "which model wrote it; several columns are joined",
    "reference": "a reference text",
    "document": "the document that the item belongs to",
    "position": "the place in its document",
    "domain": "the domain",
    "cost": "what judging the item costs",
    "weight": "how much the item matters",
    "human": "labels that people gave",
    "metric": "scores of an automatic metric or of an LLM judge",
    "rater": "who gave the score",
    "score": "the rater's score",
    "aspect": "what the rater judged",
    "seconds": "how long the rater took",
    "comment": "what the rater remarked",
    "preference": "which of two outputs is better",
    "epoch": "the number of the repetition",
    "column": "stored with the item or the output",
    "ignored": "not read",
}
LOW_MAY_BE_GOOD = "low may be good"
FORMAT, VERSION = "sparingly/roles", 1
_OWN_NAMES = ("item", "model", "output", "source", "document", "position", "domain")


@dataclass(frozen=True)
class ColumnRole:
    """What one column of a table is."""

    column: str  # the column's name in the file
    role: str  # one of ``ROLES``
    name: str = ""  # the metric, aspect or reference that it becomes in the evaluation set
    model: str = ""  # the model that it belongs to, in a table with columns for each model
    detail: str = ""  # what is said in brackets: a range, a count, or why it is ignored
    doubtful: bool = False  # whether it may as well be something else
    other: str = ""  # what else it may be, where that is doubtful
    why: str = "name"  # how it is known: ``said`` (by the user, or by a prefix), ``name`` or ``values``
    has_texts: bool = False  # whether it holds texts that raters could read

    def __str__(self) -> str:
        label = {"human": "human labels"}.get(self.role, self.role)
        if self.name and self.name != self.column:
            label += f" {self.name}"
        label += f" of {self.model}" if self.model else ""
        return f"{label}{'?' if self.doubtful else ''}{f' ({self.detail})' if self.detail else ''}"


@dataclass(frozen=True)
class TableRoles:
    """The roles of all columns of a table, and what a reader of the table should know."""

    file: str  # the file, or ``the frame``
    # One entry for each column and role; a column may have two (item and input).
    columns: tuple[ColumnRole, ...]
    notes: tuple[str, ...] = ()  # sentences about what was done to the values
    saved_in: str = ""  # the file beside the data that some roles came from

    def rows(self) -> list[tuple[str, str]]:
        """Return every column, and what it holds."""
        texts: dict[str, list[str]] = {}
        for part in self.columns:
            texts.setdefault(part.column, []).append(str(part))
        rows = []
        for text, names in groupby(texts, key=lambda column: " and ".join(texts[column])):
            # Many neighbours of one kind, such as the numbers of a vector: the first and the last are named.
            first, *following = names
            columns = [f"{first} … {following[-1]}"] if len(following) > 6 else [first, *following]
            rows += [(column, text) for column in columns]
        return rows

    def lines(self) -> list[str]:
        """Return a text for every column: ``prompt → input``."""
        return [f"{column} → {text}" for column, text in self.rows()]

    @property
    def is_guessed(self) -> bool:
        """Whether a role was neither said by the user nor is what the column is called in our own tables."""
        return any(part.why != "said" and part.column not in _OWN_NAMES for part in self.columns)

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the roles as plain values, for JSON."""
        return [
            {
                key: value
                for key, value in vars(part).items()
                if key in ("column", "role", "doubtful") or (value and key != "has_texts")
            }
            for part in self.columns
        ]

    def advice(self) -> list[str]:
        """Return a sentence for all doubtful roles of a kind that says what to type."""
        first = {
            (part.role, part.name or part.column): part for part in reversed(self.columns) if part.doubtful
        }
        kinds: dict[tuple[str, str], list[ColumnRole]] = {}
        for part in reversed(first.values()):
            kinds.setdefault((part.role, part.other), []).append(part)
        sentences = []
        for (role, second), parts in kinds.items():
            names = listing(
                (part.name or part.column if second == "lower" else part.column for part in parts), 4
            )
            if not second:
                sentences.append(f"{names}: {parts[0].detail}")
                continue
            if second == "lower":
                way = one_of_several("lower_is_better", parts[0].name)
                sentences.append(f"{names}: low may be good; if low is good, add {way}")
                continue
            ways = [role_argument(parts[0].column, role_name) for role_name in (role, second)]
            sentences.append(f"{names} may be {role} or {second}: add {' or '.join(ways)}")
        return [
            sentence + (" (and so for the others)" if second and len(parts) > 1 else "")
            for sentence, ((_, second), parts) in zip(sentences, kinds.items(), strict=True)
        ]

    def check_aspect(self, name: str) -> None:
        """Raise DoubtfulRoleError where nobody said that an aspect's column holds people's labels."""
        self._check(("human", "score"), name)

    def check_metric(self, name: str) -> None:
        """Raise DoubtfulRoleError for a metric whose low scores may be the good ones."""
        self._check(("metric",), name)

    def _check(self, roles: tuple[str, ...], name: str) -> None:
        for part in self.columns:
            is_open = part.doubtful and (part.role != "metric" or part.other == "lower")
            if part.role in roles and is_open and part.name == name:
                raise DoubtfulRoleError(part, self.file)


class DoubtfulRoleError(UsageError):
    """A number would depend on a column that may be something else, or whose low values may be good.

    Attributes:
        part: What the column was taken for.
        file: The file of the column.
        problem: What is not known.
        ways: What to say of it: a flag's name with its value, for a yes and for a no.
        question: What to ask about it.
    """

    def __init__(self, part: ColumnRole, file: str) -> None:
        self.part, self.file = part, file
        name = part.name or part.column
        if part.other == "lower":
            self.question = f'Are low values of "{part.column}" good?'
            doubt = f'low values of "{part.column}" may be the good ones'
            self.ways = (("lower_is_better", name), ("role", f"{part.column}={part.role}"))
        else:
            self.question = f'Did people give the labels in "{part.column}"?'
            doubt = f'the column "{part.column}" may hold labels of people or scores of a judge'
            self.ways = (("role", f"{part.column}=human"), ("role", f"{part.column}={part.other}"))
        self.problem = f"{file}: {doubt}, and the result depends on it."
        texts = [
            role_argument(*value.rsplit("=", 1)) if flag == "role" else one_of_several(flag, value)
            for flag, value in self.ways
        ]
        super().__init__(f"{self.problem} Add {' or '.join(texts)}.")


# Judges are prompted to score as people do.
_JUDGE = re.compile("judge|llm|gpt|claude|gemini", re.IGNORECASE)


def likeliest_metrics(metrics: Iterable[str], roles: TableRoles | None) -> list[str]:
    """Return the metrics that may stand in for people's scores: sure ones before others, then judges."""
    doubtful = {part.name for part in roles.columns if part.doubtful} if roles is not None else set()
    names = list(metrics)
    names = [name for name in names if name not in doubtful] or names
    return [name for name in names if _JUDGE.search(name)] or names


# --- what the user said, and the file beside the data that holds it -------------------------------

SaidRoles = dict[str, tuple[str, ...]]


def check_said(roles: Mapping[str, str | Iterable[str]], columns: Iterable[str]) -> SaidRoles:
    """Return the roles that a user gave to columns that are there; an unknown role is an error."""
    names = list(columns)
    alike = {name.lower(): name for name in reversed(names)}
    checked: SaidRoles = {}
    for column, value in roles.items():
        name = column if column in names else alike.get(column.lower())
        parts = (value,) if isinstance(value, str) else tuple(value)
        for role in parts:
            if role not in ROLES:
                raise UnknownNameError("role", role, ROLES)
        if name is not None:
            checked[name] = (*checked.get(name, ()), *parts)
    return checked


def parse_options(texts: Iterable[str]) -> dict[str, list[str]]:
    """Return roles from ``column=role`` texts; a column may be named twice."""
    roles: dict[str, list[str]] = {}
    for text in texts:
        column, sign, role = text.rpartition("=")
        if not sign or not column or not role:
            raise UsageError(
                f'The role "{text}" is not of the form COLUMN=ROLE: {role_argument("rating", "human")}.'
            )
        roles.setdefault(column, []).append(role.strip().lower())
    return roles


def roles_file(path: Path) -> Path:
    """Return the file beside a table that holds what was said of its columns."""
    return path.with_name(f"{path.name}.roles.json")


def read_roles(path: Path) -> tuple[SaidRoles, tuple[str, ...]]:
    """Return the roles, and the metrics for which low is good, that were said earlier of a table."""
    file = roles_file(path)
    if not file.is_file():
        return {}, ()
    record = as_mapping(files.read_json(file), "the file")
    try:
        check_version(record, FORMAT, VERSION)
        roles = {
            column: tuple(
                as_text(role, f"roles.{column}") or "" for role in as_list(parts, f"roles.{column}")
            )
            for column, parts in as_mapping(record.get("roles"), "roles").items()
        }
        lower = as_list(record.get("lower_is_better"), "lower_is_better")
        return roles, tuple(as_text(name, "lower_is_better") or "" for name in lower)
    except InputError as error:
        raise error.at(file=file) from None


def save_roles(path: Path, roles: Mapping[str, Iterable[str]], lower_is_better: Iterable[str] = ()) -> str:
    """Save what was said beside the table, together with what was said before; return a note if it cannot be.

    What is said now takes the place of what was said of the same column.
    """
    earlier, lower = read_roles(path)
    merged = {**earlier, **{column: tuple(parts) for column, parts in roles.items()}}
    names = list(dict.fromkeys((*(name for name in lower if name not in roles), *lower_is_better)))
    if (merged, tuple(names)) == (earlier, lower):
        return ""
    record = {"format": FORMAT, "version": VERSION, "roles": merged, "lower_is_better": names}
    text = json.dumps(record, ensure_ascii=False, indent=1) + "\n"
    try:
        files.write_bytes(roles_file(path), text.encode())
    except (OSError, InputError):
        return f"The roles could not be saved beside {path.name}: give them again with the next command."
    return ""
