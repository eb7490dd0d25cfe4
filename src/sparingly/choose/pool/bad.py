"""What can be wrong with a record of a pool, and the count of it: nothing is lost without being told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from sparingly.base.errors import InputError, one_line
from sparingly.data.values import as_list, as_mapping, as_text, as_whole, shown

Bad = Literal["skip", "refuse"]

KINDS = {
    "broken": "no JSON object, or another number of fields than the header has",
    "binary": "control characters that no text has",
    "encoding": "not UTF-8",
    "too_long": "longer than a record may be",
    "empty": "no text, or nothing but white space",
    "no_id": "the id is missing",
    "no_score": "the utility is missing or not a finite number",
    "unreadable": "the file, or the rest of it, cannot be read",
}
_EXAMPLES = 3
_LETTERS = 60


@dataclass(frozen=True)
class Trouble:
    """Why a record cannot be used: one of the kinds, and the words for it."""

    kind: str
    words: str


@dataclass(frozen=True)
class Example:
    """One bad record: where it stands, and what is wrong there."""

    file: str
    line: int
    words: str

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Example:
        """Read an example back."""
        file, words = (as_text(values.get(name), name) or "" for name in ("file", "words"))
        return cls(file, as_whole(values.get("line"), "line"), words)

    def __str__(self) -> str:
        return one_line(f"{self.file}, line {self.line}: {self.words}")


@dataclass
class Tally:
    """How many records were read, how many of them are sources, and what the others are.

    ``read`` is always ``good`` plus the sum of ``bad``. The first few examples of every kind are kept.
    """

    read: int = 0
    good: int = 0
    bad: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[Example]] = field(default_factory=dict)

    def add(self, trouble: Trouble, file: Path, line: int) -> None:
        """Count one bad record."""
        self.bad[trouble.kind] += 1
        kept = self.examples.setdefault(trouble.kind, [])
        if len(kept) < _EXAMPLES:
            kept.append(Example(str(file), line, trouble.words))

    def refuse(self) -> None:
        """Complain about the first bad record, if there is one."""
        first = min(
            (example for kept in self.examples.values() for example in kept),
            key=lambda example: (example.file, example.line),
            default=None,
        )
        if first is not None:
            raise InputError(
                first.words, file=first.file, line=first.line, fix="Mend it, or pass it over with bad=skip"
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain values, kinds in the order of their names."""
        return {
            "read": self.read,
            "good": self.good,
            "bad": dict(sorted(self.bad.items())),
            "examples": {
                kind: [vars(example) for example in kept] for kind, kept in sorted(self.examples.items())
            },
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Tally:
        """Read counts back."""
        examples = {
            kind: [Example.from_dict(as_mapping(one, "examples")) for one in as_list(some, "examples")]
            for kind, some in as_mapping(values.get("examples"), "examples").items()
        }
        bad = {kind: as_whole(count, "bad") for kind, count in as_mapping(values.get("bad"), "bad").items()}
        read, good = (as_whole(values.get(name), name) for name in ("read", "good"))
        if good < 0 or read != good + sum(bad.values()):
            raise InputError(f"{read} records were read, and {good} and {sum(bad.values())} are counted")
        for kind in {*bad, *examples} - {*KINDS}:
            raise InputError(f"{shown(kind)} is no kind of bad record", field="bad")
        return cls(read, good, Counter(bad), examples)


def total(tallies: Iterable[Tally]) -> Tally:
    """Add counts up; the examples are the first by file and line, whoever counted them first."""
    whole = Tally()
    for tally in tallies:
        whole.read += tally.read
        whole.good += tally.good
        whole.bad.update(tally.bad)
        for kind, kept in tally.examples.items():
            whole.examples.setdefault(kind, []).extend(kept)
    for kind, kept in whole.examples.items():
        whole.examples[kind] = sorted(kept, key=lambda one: (one.file, one.line))[:_EXAMPLES]
    return whole


def start_of(text: str) -> str:
    """Return the beginning of a text, for an example."""
    return text if len(text) <= _LETTERS else f"{text[:_LETTERS]}…"
