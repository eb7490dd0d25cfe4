"""Verdicts of an LLM judge in a file beside the data, from which they become a metric.

The first line says how the judge was asked, each further line is one answer. A verdict belongs to an item and
to the texts that were judged, not to a model's name or a line: what was rewritten loses its verdict, equal
texts share theirs, and a renamed model keeps it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import InputError
from sparingly.data import files
from sparingly.data.evalset import EvalSet
from sparingly.data.fields import metric as metric_field
from sparingly.data.roles import ColumnRole
from sparingly.data.scale import Scale
from sparingly.data.values import as_number, as_text, check_version

FORMAT, VERSION = "sparingly/judge-verdicts", 1
OUTPUTS, PAIRS = "outputs", "pairs"
# What a verdict on a pair is worth to the output that was shown first.
WINS = {"first": 1.0, "tie": 0.5, "second": 0.0}
_LETTERS = 16


@dataclass(frozen=True)
class VerdictHead:
    """How a judge was asked: the first line of its file."""

    name: str  # the metric that its verdicts are
    model: str  # the model that judged
    endpoint: str  # the host that it was reached at; nothing else of the address
    ask: str  # whether ``outputs`` were scored or ``pairs`` compared
    low: float  # the lowest score
    high: float  # the highest score
    temperature: float | None  # as it was sent; None where none was
    prompt: str  # the digest of the instructions, rubric included
    date: str  # the day of the first call
    version: str  # the version of this package that asked

    @property
    def scale(self) -> Scale:
        """The lowest and the highest score."""
        return Scale(self.low, self.high)

    def is_like(self, other: VerdictHead) -> bool:
        """Whether answers to both can stand in one file: all is the same but the day and our version."""
        return replace(self, date="", version="") == replace(other, date="", version="")

    def __str__(self) -> str:
        """Return the signature of the judge in one line."""
        temperature = "default" if self.temperature is None else f"{self.temperature:g}"
        return (
            f"judge:{self.model}|endpoint:{self.endpoint}|ask:{self.ask}|scale:{self.low:g}-{self.high:g}"
            f"|temperature:{temperature}|prompt:{self.prompt}|date:{self.date}|version:{self.version}"
        )

    def to_json(self) -> str:
        """Return the first line of the file."""
        values = asdict(self)
        values["sparingly"] = values.pop("version")
        return json.dumps(
            {"format": FORMAT, "version": VERSION, **values, "signature": str(self)}, ensure_ascii=False
        )

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> VerdictHead:
        """Read the first line."""
        check_version(record, FORMAT, VERSION)
        values: dict[str, Any] = {}
        for part in fields(cls):
            key = "sparingly" if part.name == "version" else part.name
            value = record.get(key)
            if part.name in ("low", "high") or (part.name == "temperature" and value is not None):
                values[part.name] = as_number(value, key)
            elif part.name == "temperature":
                values[part.name] = None
            elif (text := as_text(value, key)) is None:
                raise InputError("there is no such value", field=key)
            else:
                values[part.name] = text
        return cls(**values)


@dataclass(frozen=True)
class Verdict:
    """One answer of a judge."""

    item: str  # the item
    # The digests of the texts that it saw: of the output, or of the first and the second of a pair.
    texts: tuple[str, ...]
    # The score, or what the pair is worth to the first (1, 0.5 or 0); None where there was none to read.
    score: float | None

    @property
    def key(self) -> tuple[str, ...]:
        """What was asked."""
        return (self.item, *self.texts)


def text_digest(text: str) -> str:
    """Return the digest by which a text is known in a file of verdicts."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_LETTERS]


def verdict_file(data: Path, name: str) -> Path:
    """Return the file of a judge's verdicts: ``a.csv.judge-gpt-4o.jsonl`` beside ``a.csv``."""
    place = data.absolute()
    return place.with_name(f"{place.name}.{re.sub(r'[^A-Za-z0-9._-]+', '-', name)}.jsonl")


def verdict_files(data: Path) -> list[Path]:
    """Return the files of verdicts beside a data file, in the order of their names."""
    place = data.absolute()
    start = f"{place.name}.judge-"
    try:
        return sorted(
            path for path in place.parent.iterdir() if path.name.startswith(start) and path.suffix == ".jsonl"
        )
    except OSError:
        return []


def are_verdicts(path: Path) -> bool:
    """Say whether a file holds a judge's verdicts, by what it says of itself."""
    try:
        with path.open("rb") as file:
            return f'"{FORMAT}"'.encode() in file.read(200)
    except (OSError, ValueError):
        # What is wrong with the file is said when it is read as data.
        return False


def read_verdicts(path: Path) -> tuple[VerdictHead, list[Verdict]]:
    """Return how a judge was asked, and its answers; of several to one question the last counts.

    A last line that was cut off by a crash is passed over.
    """
    with files.naming(path):
        lines = path.read_bytes().split(b"\n")
    whole = [(number, line) for number, line in enumerate(lines[:-1], 1) if line.strip()]
    records = [
        (number, files.parse_json(line.decode("utf-8", "replace"), path, number)) for number, line in whole
    ]
    if not records or not isinstance(records[0][1], dict):
        raise InputError(f"this is not a {FORMAT} file", file=path)
    try:
        head = VerdictHead.from_dict(records[0][1])
    except InputError as error:
        raise error.at(file=path, line=1) from None
    answers: dict[tuple[str, ...], Verdict] = {}
    for number, record in records[1:]:
        try:
            score = record["score"]
            texts = tuple(map(str, record["texts"]))
            verdict = Verdict(
                str(record["item"]), texts, None if score is None else as_number(score, "score")
            )
        except (KeyError, TypeError, ValueError, InputError):
            raise InputError("this is not a verdict", file=path, line=number, fix="Remove the line") from None
        answers.pop(verdict.key, None)
        answers[verdict.key] = verdict
    return head, list(answers.values())


# --- from verdicts to a metric ------------------------------------------------------------------------

Scores = dict[tuple[str, ...], float]


def outputs_of(data: EvalSet) -> Iterator[tuple[int, int, str]]:
    """Yield the item, the model and the text of every output, those of further epochs included."""
    if data.outputs is not None:
        for row in data.file_order.tolist():
            yield from (
                (row, place, text) for place, text in enumerate(data.outputs[row].tolist()) if _is_there(text)
            )
    if (table := data.repeats).output is not None:
        rows = zip(table.item.tolist(), table.model.tolist(), table.output.tolist(), strict=True)
        yield from ((row, place, text) for row, place, text in rows if _is_there(text))


def pairs_of(data: EvalSet) -> Iterator[tuple[int, int, int]]:
    """Yield the item and both models of every pair of outputs; equal texts are among them."""
    if data.outputs is None:
        return
    for row in data.file_order.tolist():
        there = [place for place, text in enumerate(data.outputs[row].tolist()) if _is_there(text)]
        yield from ((row, first, second) for first, second in combinations(there, 2))


def _is_there(text: str | None) -> bool:
    return text is not None and bool(text.strip())


def with_verdicts(data: EvalSet, paths: Iterable[Path]) -> EvalSet:
    """Return the set with the verdicts in the judges' files as metrics.

    Verdicts on pairs become the share of its comparisons that an output won, over both orders, a tie counting
    half; equal texts are ties. A metric of that name in the data stays as it is.
    """
    judges: dict[str, tuple[VerdictHead, Path, Scores]] = {}
    for path in paths:
        head, verdicts = read_verdicts(path)
        first, place, scores = judges.setdefault(head.name, (head, path, {}))
        if not first.is_like(head):
            raise InputError(
                f"this judge had other settings in {place.name}", file=path, fix="Move one of the files"
            )
        scores |= {verdict.key: verdict.score for verdict in verdicts if verdict.score is not None}
    for name, (head, path, scores) in judges.items():
        if name not in data.metrics and name not in data.aspects:
            data = _with_judge(data, head, scores, path.name)
    return data


def _with_judge(data: EvalSet, head: VerdictHead, scores: Scores, file: str) -> EvalSet:
    repeats, field = data.repeats, metric_field(head.name)
    if head.ask == PAIRS:
        values = win_shares(data, scores)
    else:
        values = np.full(data.shape, np.nan)
        for row, place, text in outputs_of(data):
            values[row, place] = scores.get((data.items[row], text_digest(text)), np.nan)
        if repeats.output is not None:
            rows = zip(repeats.item.tolist(), repeats.output.tolist(), strict=True)
            each = [scores.get((data.items[row], text_digest(text or "")), np.nan) for row, text in rows]
            # Cells of several epochs have the mean over these.
            values[repeats.item, repeats.model] = np.nan
            repeats = replace(repeats, scores={**repeats.scores, field: np.array(each, np.float64)})
    if (roles := data.roles) is not None:
        role = ColumnRole(head.name, "judge", head.name, detail=f"{head.model}, from {file}", why="said")
        roles = replace(roles, columns=(*roles.columns, role))
    return data.with_parts(
        metrics={**data.metrics, head.name: values},
        scales={**data.scales, field: head.scale},
        repeats=repeats,
        roles=roles,
    )


def win_shares(data: EvalSet, scores: Scores) -> Floats:
    """Return the share of its comparisons that every output won (items x models); NaN without any."""
    won, count = np.zeros(data.shape), np.zeros(data.shape)
    for row, first, second in pairs_of(data):
        texts = text_digest(data.outputs[row, first]), text_digest(data.outputs[row, second])  # type: ignore[index]
        values = [scores.get((data.items[row], *texts)), scores.get((data.items[row], *reversed(texts)))]
        ahead = [
            value if place == 0 else 1.0 - value for place, value in enumerate(values) if value is not None
        ]
        ahead = [0.5] if texts[0] == texts[1] else ahead
        if ahead:
            share = float(np.mean(ahead))
            won[row, first] += share
            won[row, second] += 1.0 - share
            count[row, [first, second]] += 1.0
    return np.asarray(np.divide(won, count, out=np.full(data.shape, np.nan), where=count > 0))
