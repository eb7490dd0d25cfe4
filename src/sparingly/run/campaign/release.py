"""Releases: what others need to use, check and cite a campaign, without the raters' names.

Raters become numbers in a random order. The seed of that order is not in the release: with it, whoever knows
the names could find out whose number is whose. Times of day, client ids and (unless asked for) comments stay
behind as well.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import secrets
import tempfile
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from sparingly._version import __version__
from sparingly.base import rng
from sparingly.base.errors import InputError, UsageError, one_line
from sparingly.base.format import counted
from sparingly.base.syntax import argument
from sparingly.data import files
from sparingly.data.evalset import EvalSet
from sparingly.data.io.jsonl import JsonLines
from sparingly.data.selection import RANKING_ONLY, Selection
from sparingly.data.values import PlainFields
from sparingly.run.campaign.access import Audit
from sparingly.run.campaign.answers import marks_at, placement_rows
from sparingly.run.campaign.guidelines import Acceptances
from sparingly.run.campaign.history import RATING_COLUMNS, adjudicators, rating_rows, with_answers
from sparingly.run.campaign.known import KnownAnswers
from sparingly.run.campaign.progress import hours_table, overview, rater_hours
from sparingly.run.campaign.reader import CampaignReader
from sparingly.run.campaign.settings import Settings
from sparingly.run.campaign.tables import EVENTS

# --- Files as bytes by name, in a folder or a ZIP archive ---

# What people write themselves; ids stay as they are.
_FREE_TEXT = ("comment", "rater")
# The same content gives the same bytes.
_EPOCH = (1980, 1, 1, 0, 0, 0)


def csv_bytes(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> bytes:
    """Return rows as CSV for spreadsheets, in which no comment or name is a formula.

    What is in no column is left out.
    """
    text = files.csv_text((files.without_formulas(row, _FREE_TEXT) for row in rows), columns)
    return text.encode("utf-8", "backslashreplace")


def json_bytes(values: Any) -> bytes:
    """Return values as JSON."""
    text = json.dumps(values, ensure_ascii=False, indent=1, allow_nan=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def line_bytes(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Return rows as JSON Lines."""
    lines = (json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows)
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")


def data_bytes(data: EvalSet) -> bytes:
    """Return an evaluation set as JSON Lines."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.jsonl"
        JsonLines().write(data, path)
        return path.read_bytes()


def stems(names: Sequence[str]) -> dict[str, str]:
    """Return a name for the files of every data set that any system can keep."""
    stem_of: dict[str, str] = {}
    for name in names:
        stem = file_stem(name, "data")
        while stem in stem_of.values():
            stem += "-"
        stem_of[name] = stem
    return stem_of


def file_stem(name: str, default: str) -> str:
    """Return a name with letters, digits, dots and dashes only; the default where nothing is left of it."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or default


def zip_bytes(content: Mapping[str, bytes], folder: str) -> bytes:
    """Return files as the bytes of a ZIP archive, below one folder; the same files give the same bytes."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in content.items():
            archive.writestr(zipfile.ZipInfo(f"{folder}/{name}", _EPOCH), body, zipfile.ZIP_DEFLATED)
    return target.getvalue()


def write_folder(path: Path, content: Mapping[str, bytes]) -> None:
    """Write a folder beside its place, then rename it: it is there whole, or not at all."""
    if path.exists():
        raise InputError("there is something at this place already", file=path, fix="Name a new folder")
    temporary = tempfile.TemporaryDirectory
    with files.naming_target(path), temporary(prefix=f".{path.name}.", dir=path.parent) as folder:
        release = Path(folder) / "release"
        for name, body in content.items():
            target = release / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(body)
        release.rename(path)


# --- The data card, as Markdown ---

_MARKUP = re.compile(r"([\\`*_{}\[\]<>|#])")


def card_text(
    settings: Settings,
    rounds: Mapping[str, Sequence[Selection]],
    rows: Sequence[Mapping[str, Any]],
    *,
    title: str,
    licence: str,
    raters: int,
    comments: bool,
    texts: bool,
) -> str:
    """Return the card. Its head is what data hubs read (title and licence), then sentences and tables."""
    contents = {
        "ratings.csv": "every judgement that counts, one a line; raters are numbers",
        "data/": "the evaluation sets with texts, metrics and these judgements (JSON Lines)",
        "rounds/": "the items of each round, with inclusion probabilities and a signature",
        "release.json": "the same settings for machines, with a digest of every file",
    }
    files_table = "\n".join(
        f"| `{name}` | {text} |" for name, text in contents.items() if texts or name != "data/"
    )
    round_count = sum(len(selections) for selections in rounds.values())
    parts = [
        f"---\npretty_name: {json.dumps(one_line(title))}\nlicense: {json.dumps(one_line(licence))}\n---\n",
        f"# {plain_text(title)}\n",
        f"{counted(len(rows), 'judgement')} by {counted(raters, 'rater')}, from a human evaluation of "
        f"{counted(len(rounds), 'data set')} in {counted(round_count, 'round')}.\n",
        "## Files\n",
        f"| file | holds |\n|---|---|\n{files_table}\n\n`marks.jsonl`, where there is one, holds errors that "
        "raters marked (code points, end exclusive).\n",
        "## What people judged\n",
        _aspects(settings, rows),
        "## How it was chosen\n",
        _chosen(settings, rounds),
        "## Raters\n",
        "Raters are numbers in a random order. Names, times of day and client ids are left out; judgements "
        f"are listed by item, {'with' if comments else 'without'} the raters' comments. "
        "Seconds are those that came with an answer.\n",
        "## Licence\n",
        f"{plain_text(licence)}\n",
    ]
    return "\n".join(parts)


def plain_text(text: str) -> str:
    """Return a text as Markdown that shows it as it is."""
    return _MARKUP.sub(r"\\\1", one_line(text))


def _aspects(settings: Settings, rows: Sequence[Mapping[str, Any]]) -> str:
    table = "| aspect | scale | judgements | mean |\n|---|---|---|---|\n"
    for name, ends in settings.aspects.items():
        values = [row["score"] for row in rows if row["aspect"] == name]
        mean = f"{sum(values) / len(values):.4g}" if values else "-"
        scale = "any number" if ends is None else f"{ends[0]:g} to {ends[1]:g}"
        table += f"| {plain_text(name)} | {scale} | {len(values)} | {mean} |\n"
    if any(row["first"] for row in rows):
        table += "\nA comparison is 1 where the first model is better, -1 where the second is, 0 for a tie.\n"
    return table


def _chosen(settings: Settings, rounds: Mapping[str, Sequence[Selection]]) -> str:
    sentences = [f"Strategy `{one_line(settings.strategy)}`, seed {settings.seed}."]
    sentences += [f"Rule to stop: `{one_line(rule)}`." for rule in settings.stops]
    table = "| data set | round | rows | inclusion probability | data digest |\n|---|---|---|---|---|\n"
    lines = []
    for name, selections in rounds.items():
        for number, selection in enumerate(selections, 1):
            column, probability = selection.probability, "none"
            if column is not None:
                low, high = float(column.min()), float(column.max())
                probability = f"{low:.4g}" if high - low < 1e-12 else f"{low:.4g} to {high:.4g}"
            count = f"{len(selection)} of {selection.signature.of}"
            digest = selection.signature.inputs
            lines.append(f"| {plain_text(name)} | {number} | {count} | {probability} | `{digest}` |")
    all_rounds = [selection for selections in rounds.values() for selection in selections]
    notes = (
        "Weight a judgement by one over the probability of its row to describe the whole set."
        if all(selection.is_probability_sample for selection in all_rounds)
        else f"Some rounds have no inclusion probabilities: {RANKING_ONLY}."
    )
    if any(selection.pairs is not None for selection in all_rounds):
        notes += (
            " Signatures of comparisons are without the digests of earlier answers, which were made with the "
            "raters' names."
        )
    return f"{' '.join(sentences)}\n\n{table}" + "\n".join(lines) + f"\n\n{notes}\n"


# --- The anonymised release ---

FORMAT, VERSION = "sparingly/release", 1
COLUMNS = ("data", "round", "rater", "item", "model", "first", "second", "aspect", "score", "seconds")
COMMENT = "comment"
_MARKED = ("data", "round", "rater", "item", "model", "aspect", "score")
_ANSWER_KEY = ("data", "rater", "item", "model", "first", "second", "aspect")


@dataclass(frozen=True)
class Release(PlainFields):
    """What was written: the files by name, how many raters and answers, and the seed of their numbers."""

    path: str
    files: tuple[str, ...]
    raters: int
    answers: int
    seed: int


def release(
    campaign: CampaignReader,
    path: str | Path,
    *,
    licence: str,
    title: str | None = None,
    comments: bool = False,
    texts: bool = True,
    seed: int | None = None,
) -> Release:
    """Write an anonymised release as a folder, or as a ZIP archive; see ``Campaign.release``."""
    target = Path(path)
    if not licence.strip():
        raise UsageError(f"Name the licence of the release: {argument('licence', 'CC-BY-4.0')}.")
    chosen = secrets.randbits(62) if seed is None else seed
    content, raters, answers = release_files(
        campaign, licence=licence.strip(), title=title, comments=comments, texts=texts, seed=chosen
    )
    if target.suffix.lower() == ".zip":
        files.write_bytes(target, zip_bytes(content, target.stem))
    else:
        write_folder(target, content)
    return Release(str(target), tuple(content), raters, answers, chosen)


def release_files(
    campaign: CampaignReader, *, licence: str, title: str | None, comments: bool, texts: bool, seed: int
) -> tuple[dict[str, bytes], int, int]:
    """Return the files of a release by name, the number of raters and that of answers."""
    settings, title = campaign.settings, title or campaign.name
    # One state of the campaign, although it is read in several steps while people answer.
    seq = campaign.last_seq()
    with campaign.database.reading() as connection:
        judges = {
            (name, *cell): rater
            for name in settings.budgets
            for cell, rater in adjudicators(connection, campaign.name, name, seq).items()
        }
    ratings = [
        row
        for row in campaign.ratings(at=seq)
        if not row["withdrawn"]
        and judges.get((row["data"], row["item"], row["model"] or row["first"], row["second"] or ""))
        in (None, row["rater"])
    ]
    numbers = rater_numbers(sorted({row["rater"] for row in ratings}), seed)
    rows = _anonymous(ratings, numbers, comments=comments)
    rounds = {name: campaign.rounds(name, at=seq) for name in settings.budgets}
    public_rounds = {name: list(map(without_names, selections)) for name, selections in rounds.items()}

    content = {"ratings.csv": csv_bytes(rows, (*COLUMNS, COMMENT) if comments else COLUMNS)}
    with campaign.database.reading() as connection:
        marks = marks_at(connection, campaign.name, max((row["seq"] for row in rows), default=0))
    if mark_rows := [
        {**{name: row[name] for name in _MARKED}, "marks": marks[row["seq"]]}
        for row in rows
        if row["seq"] in marks
    ]:
        content["marks.jsonl"] = line_bytes(mark_rows)
    for name, stem in stems(list(rounds)).items():
        for number, selection in enumerate(public_rounds[name], 1):
            content[f"rounds/{stem}-{number}.json"] = json_bytes(selection.to_dict())
        if texts:
            answers = [
                {**row, "model": row["model"] or row["first"], "other": row["second"] or ""}
                for row in rows
                if row["data"] == name
            ]
            data = with_answers(campaign.data(name, at=seq, judged=False), answers, settings.aspects)
            content[f"data/{stem}.jsonl"] = data_bytes(data)
    card = card_text(
        settings,
        rounds,
        rows,
        title=title,
        licence=licence,
        raters=len(numbers),
        comments=comments,
        texts=texts,
    )
    content = {"README.md": card.encode(), **content}
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "made_with": f"sparingly {__version__}",
        "title": title,
        "licence": licence,
        "aspect": settings.aspect,
        "aspects": {name: None if ends is None else list(ends) for name, ends in settings.aspects.items()},
        "strategy": settings.strategy,
        "stops": list(settings.stops),
        "budgets": campaign.budgets(seq),
        "seed": settings.seed,
        "raters": len(numbers),
        "answers": len(rows),
        "signatures": {
            name: [str(selection.signature) for selection in selections]
            for name, selections in public_rounds.items()
        },
        "files": {name: hashlib.sha256(body).hexdigest() for name, body in content.items()},
    }
    content["release.json"] = json_bytes(manifest)
    return content, len(numbers), len(rows)


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
    ratings: Sequence[Mapping[str, Any]], numbers: Mapping[str, str], *, comments: bool
) -> list[dict[str, Any]]:
    """Return the answers that count, sorted by question: their order in time would tell who worked when."""
    last = {tuple(row[name] for name in _ANSWER_KEY): row for row in ratings}
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


# --- Everything, for the organiser alone: with names and times ---


def bundle_files(campaign: CampaignReader) -> dict[str, bytes]:
    """Return every answer, round, event and judged data set of a campaign, as files by name.

    It holds the raters' names and the times of their work: use ``release`` for what others may see. All of it
    is of the entry that the overview names, although people may answer meanwhile.
    """
    progress = overview(campaign)
    seq = progress.seq
    ratings = campaign.ratings(at=seq)
    columns, rows = hours_table(rater_hours(campaign, seq))
    content = {"answers.csv": csv_bytes(ratings, RATING_COLUMNS), "hours.csv": csv_bytes(rows, columns)}
    table = EVENTS.c
    events = (
        select(table.seq, table.at, table.kind, table.detail, table.digest)
        .where(table.campaign == campaign.name, table.seq <= seq)
        .order_by(table.seq)
    )
    with campaign.database.reading() as connection:
        content["events.jsonl"] = line_bytes(
            {**row, "detail": json.loads(row["detail"])} for row in connection.execute(events).mappings()
        )
        if marks := marked_rows(connection, campaign.name, seq):
            content["marks.jsonl"] = line_bytes(marks)
        if placements := placement_rows(connection, campaign.name, seq):
            content["placements.jsonl"] = line_bytes(placements)
        if accepted := Acceptances(campaign.database, campaign.name).rows(connection):
            content["accepted.jsonl"] = line_bytes(accepted)
    if known_rows := KnownAnswers(campaign.database, campaign.name).rows():
        content["known_answers.jsonl"] = line_bytes(known_rows)
    log = Audit(campaign.database, campaign.name).entries(limit=1_000_000)
    content["log.jsonl"] = line_bytes(entry.to_dict() for entry in reversed(log))
    content["overview.json"] = json_bytes(progress.to_dict())
    for name, stem in stems(list(campaign.settings.budgets)).items():
        content[f"data/{stem}.jsonl"] = data_bytes(campaign.data(name, at=seq))
        for number, selection in enumerate(campaign.rounds(name, at=seq), 1):
            content[f"rounds/{stem}-{number}.json"] = json_bytes(selection.to_dict())
    return content


def marked_rows(connection: Connection, campaign: str, seq: int) -> list[dict[str, Any]]:
    """Return the ratings that have marks (an empty list: looked at and nothing found), with them."""
    marks = marks_at(connection, campaign, seq)
    return [
        {**{name: row[name] for name in ("seq", *_MARKED, "corrects")}, "marks": marks[row["seq"]]}
        for row in rating_rows(connection, campaign, seq)
        if row["seq"] in marks
    ]
