"""The data card of a release: what it holds, how it came about, and what it may be used for, as Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sparingly.base.errors import one_line
from sparingly.base.format import counted
from sparingly.data.selection import RANKING_ONLY, Selection
from sparingly.run.campaign.settings import Settings

_MEANING = re.compile(r"([\\`*_{}\[\]<>|#])")


@dataclass(frozen=True)
class Card:
    """What a card is made of: the settings, the rounds and the answers of a campaign, without names."""

    title: str
    licence: str
    settings: Settings
    rounds: Mapping[str, Sequence[Selection]]
    rows: Sequence[Mapping[str, Any]]
    raters: int
    comments: bool
    texts: bool


def card_text(card: Card) -> str:
    """Return the card. Its head is what data hubs read (title and licence), then sentences and tables."""
    title, licence = json.dumps(one_line(card.title)), json.dumps(one_line(card.licence))
    parts = [
        f"---\npretty_name: {title}\nlicense: {licence}\n---\n",
        f"# {plain_text(card.title)}\n",
        _summary(card),
        "## Files\n",
        _files(card),
        "## What people judged\n",
        _aspects(card),
        "## How it was chosen\n",
        _chosen(card),
        "## Raters\n",
        _raters(card),
        "## Licence\n",
        f"{plain_text(card.licence)}\n",
    ]
    return "\n".join(parts)


def plain_text(text: str) -> str:
    """Return a text as Markdown that shows it as it is."""
    return _MEANING.sub(r"\\\1", one_line(text))


def _summary(card: Card) -> str:
    sets = len(card.rounds)
    drawn = sum(len(rounds) for rounds in card.rounds.values())
    return (
        f"{counted(len(card.rows), 'judgement')} by {counted(card.raters, 'rater')}, from a human evaluation "
        f"of {counted(sets, 'data set')} in {counted(drawn, 'round')}.\n"
    )


def _files(card: Card) -> str:
    told = [
        ("ratings.csv", "every judgement that counts, one a line; raters are numbers"),
        ("rounds/", "what each round asked for, with inclusion probabilities and a signature"),
        ("release.json", "the same settings for machines, with a digest of every file"),
    ]
    if card.texts:
        told.insert(1, ("data/", "the evaluation sets with texts, metrics and these judgements (JSON Lines)"))
    lines = "\n".join(f"| `{name}` | {what} |" for name, what in told)
    more = (
        "`marks.jsonl`, where there is one, holds errors that raters marked (code points, end exclusive).\n"
    )
    return f"| file | holds |\n|---|---|\n{lines}\n\n{more}"


def _aspects(card: Card) -> str:
    lines = []
    for name, ends in card.settings.aspects.items():
        values = [row["score"] for row in card.rows if row["aspect"] == name]
        mean = f"{sum(values) / len(values):.4g}" if values else "-"
        scale = "any number" if ends is None else f"{ends[0]:g} to {ends[1]:g}"
        lines.append(f"| {plain_text(name)} | {scale} | {len(values)} | {mean} |")
    table = "| aspect | scale | judgements | mean |\n|---|---|---|---|\n" + "\n".join(lines) + "\n"
    if any(row["first"] for row in card.rows):
        table += "\nA comparison is 1 where the first model is better, -1 where the second is, 0 for a tie.\n"
    return table


def _chosen(card: Card) -> str:
    settings = card.settings
    sentences = [f"Strategy `{one_line(settings.strategy)}`, seed {settings.seed}."]
    sentences += [f"Rule to stop: `{one_line(rule)}`." for rule in settings.stops]
    lines, all_drawn, compared = [], True, False
    for name, rounds in card.rounds.items():
        for number, one in enumerate(rounds, 1):
            all_drawn &= one.is_probability_sample
            compared |= one.pairs is not None
            signed = one.signature
            cells = (plain_text(name), str(number), f"{len(one)} of {signed.of}", _chances(one))
            lines.append(f"| {' | '.join(cells)} | `{signed.inputs}` |")
    table = "| data set | round | rows | inclusion probability | data digest |\n|---|---|---|---|---|\n"
    notes = (
        "Weight a judgement by one over the probability of its row to speak about the whole set."
        if all_drawn
        else f"Some rounds have no inclusion probabilities: {RANKING_ONLY}."
    )
    if compared:
        notes += (
            " Signatures of comparisons are without the digests of earlier answers, which were made with the "
            "raters' names."
        )
    return f"{' '.join(sentences)}\n\n{table}" + "\n".join(lines) + f"\n\n{notes}\n"


def _chances(selection: Selection) -> str:
    column = selection.probability
    if column is None:
        return "none"
    low, high = float(column.min()), float(column.max())
    return f"{low:.4g}" if high - low < 1e-12 else f"{low:.4g} to {high:.4g}"


def _raters(card: Card) -> str:
    said = "with" if card.comments else "without"
    return (
        "Raters are numbers in a random order. Names, times of day and client ids are left out; judgements "
        f"are listed by item, {said} the raters' comments. Seconds are those that came with an answer.\n"
    )
