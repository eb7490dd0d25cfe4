"""What outputs look like: those that say most about the models, side by side, with scores and remarks."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.format import decimal_text, decimals_for, share_text
from sparingly.data.evalset import EvalSet
from sparingly.infer.judge.audit import error_row
from sparingly.show.report.document import Section, Text, Texts, Words
from sparingly.show.report.evidence import Evidence

# So many examples of each kind, so many letters of a text, and so many raters of one output.
_EXAMPLES, _LONGEST, _MOST_RATERS = 2, 600, 4
_TITLE = "What the outputs look like"
_WORD = re.compile(r"\s+|[^\s]+")


def output_section(evidence: Evidence) -> Section | None:
    """Show real outputs: where models differ most, the best and the worst, and where people disagree.

    None where the data has no texts of what people judged.
    """
    data = evidence.data
    if data.outputs is None:
        return None
    if evidence.comparison is not None:
        return _compared_outputs(evidence)
    if evidence.aspect not in data.aspects:
        return None
    has_text = np.array([[text is not None for text in row] for row in data.outputs])
    scores = np.where(has_text, data.aspects[evidence.aspect], np.nan)
    if not np.isfinite(scores).any():
        return None
    texts = _Shown(evidence, scores)
    differences = list(texts.differences())
    parts = [*differences, *texts.extremes(), *texts.raters(), *texts.judge()]
    text = "Scores are those that people gave."
    text = f"Differences between two outputs are marked. {text}" if differences else text
    return Section("outputs", _TITLE, (Words(text), *parts))


def _compared_outputs(evidence: Evidence) -> Section | None:
    """Show pairs of outputs: won by the better model, won by the other, and those that divide raters."""
    data, table = evidence.data, evidence.data.preferences
    place = {row.model: at for at, row in enumerate(evidence.ranking.models)} if evidence.ranking else {}
    order = [place.get(name, len(place)) for name in data.models]
    votes: dict[tuple[int, int, int], list[int]] = {}
    for row in np.flatnonzero(~np.isnan(table.value) & (table.first != table.second)).tolist():
        better, other = sorted((int(table.first[row]), int(table.second[row])), key=order.__getitem__)
        votes.setdefault((int(table.item[row]), better, other), []).append(row)
    comments = table.extra.get("comment")

    def vote(row: int, better: int) -> float:
        """Return 1 where a vote is for the better model, −1 where it is for the other."""
        return float(table.value[row] if table.first[row] == better else -table.value[row])

    def rank_of(key: tuple[int, int, int]) -> tuple[object, ...]:
        """Put first what has remarks, then what most voted on, then models far apart in the ranking."""
        remarks = comments is not None and any(comments[row] for row in votes[key])
        return not remarks, -len(votes[key]), order[key[1]] - order[key[2]], key

    kinds: dict[str, list[tuple[int, int, int]]] = {
        name: [] for name in ("Won by the better model", "Won by the other", "Where raters disagree")
    }
    for key, rows in votes.items():
        values = [vote(row, key[1]) for row in rows]
        if min(values) == 1:
            kinds["Won by the better model"].append(key)
        elif max(values) == -1:
            kinds["Won by the other"].append(key)
        elif min(values) < 0 < max(values):
            kinds["Where raters disagree"].append(key)
    shown: list[Texts] = []
    used: set[int] = set()
    for caption, found in kinds.items():
        left = _EXAMPLES
        for item, better, other in sorted(found, key=rank_of):
            outputs = [data.outputs[item, model] for model in (better, other)]  # type: ignore[index]
            if item in used or None in outputs or not left:
                continue
            left -= 1
            used.add(item)
            rows, marked = votes[item, better, other], _marked(*map(_cut, outputs))
            texts = []
            for model, sign, pieces in zip((better, other), (1, -1), marked, strict=True):
                mine = [row for row in rows if sign * vote(row, better) > 0]
                said = [comments[row] for row in mine if comments is not None and comments[row]]
                of = f" by {len(mine)} of {len(rows)}" if len(rows) > 1 else ""
                score = f"preferred{of}" if mine else ""
                texts.append(Text(data.models[model], score, tuple(pieces), tuple(map(_cut, said))))
            shown.append(Texts(f"{caption}: {data.items[item]}", _above(data, item), tuple(texts)))
    if not shown:
        return None
    return Section("outputs", _TITLE, (Words("Differences between two outputs are marked."), *shown))


class _Shown:
    """The examples of a report, each output once."""

    def __init__(self, evidence: Evidence, scores: Floats) -> None:
        self.evidence, self.data, self.scores = evidence, evidence.data, scores
        spread = float(np.nanmax(scores) - np.nanmin(scores))
        self._decimals = None if np.all(scores[np.isfinite(scores)] % 1 == 0) else decimals_for([spread / 10])
        self._used: set[int] = set()

    def differences(self) -> Iterator[Texts]:
        """Yield the items on which the best and the worst output lie farthest apart."""
        several = np.isfinite(self.scores).sum(axis=1) > 1
        spread = np.full(len(self.scores), -np.inf)
        spread[several] = np.nanmax(self.scores[several], axis=1) - np.nanmin(self.scores[several], axis=1)
        for row in self._first(-spread):
            if spread[row] <= 0:
                return
            best, worst = int(np.nanargmax(self.scores[row])), int(np.nanargmin(self.scores[row]))
            yield self._texts("Best and worst where models differ most", row, (best, worst))

    def extremes(self) -> Iterator[Texts]:
        """Yield the best and the worst output of the only model."""
        if len(self.data.models) > 1:
            return
        column = self.scores[:, 0]
        for caption, order in (("The best output", -column), ("The worst output", column)):
            for row in self._first(np.where(np.isnan(order), np.inf, order))[:1]:
                yield self._texts(caption, row, (0,))

    def raters(self) -> Iterator[Texts]:
        """Yield the outputs about which raters disagree most."""
        table, aspect = self.data.ratings, self.evidence.aspect
        if aspect not in table.aspects:
            return
        rows = np.flatnonzero(
            (table.aspect == table.aspects.index(aspect))
            & np.isfinite(table.score)
            & (table.rater >= 0)
            & (table.model < len(self.data.models))
        )
        by_cell: dict[tuple[int, int], dict[int, int]] = {}
        for row in rows.tolist():
            by_cell.setdefault((int(table.item[row]), int(table.model[row])), {})[int(table.rater[row])] = row
        apart = [
            (max(table.score[list(scores.values())]) - min(table.score[list(scores.values())]), cell)
            for cell, scores in by_cell.items()
            if len(scores) > 1
        ]
        for spread, (item, model) in sorted(apart, key=lambda part: (-part[0], part[1]))[:_EXAMPLES]:
            if spread <= 0:
                return
            scores = by_cell[item, model]
            remarks = []
            for rater, row in sorted(scores.items())[:_MOST_RATERS]:
                comment = None if table.comment is None else table.comment[row]
                score = self._number(float(table.score[row]))
                remarks.append(f"{table.raters[rater]} gives {score}{f': {comment}' if comment else ''}")
            yield self._texts("Where raters disagree", item, (model,), tuple(remarks))

    def judge(self) -> Iterator[Texts]:
        """Yield the outputs about which people and the judge disagree most."""
        audit = self.evidence.judge
        if audit is None:
            return
        places = {name: place for place, name in enumerate(self.data.items)}
        for error in audit.errors[: 2 * _EXAMPLES]:
            _, verdict, judge, people = error_row(audit, error)
            remark = f"{audit.judge} gives {judge}, people {people}: {verdict}"
            model = self.data.models.index(error.model)
            caption = "Where the judge and people disagree"
            yield self._texts(caption, places[error.item], (model,), (remark,))

    def _first(self, keys: Floats) -> list[int]:
        """Return the items with the lowest keys that were not shown before."""
        order = [row for row in np.argsort(keys, kind="stable").tolist() if row not in self._used]
        self._used |= set(order[:_EXAMPLES])
        return order[:_EXAMPLES]

    def _number(self, score: float) -> str:
        return share_text(score, 0) if self.evidence.estimate.is_rate else decimal_text(score, self._decimals)

    def _texts(
        self, caption: str, row: int, models: tuple[int, ...], remarks: tuple[str, ...] | None = None
    ) -> Texts:
        data = self.data
        outputs = [_cut(data.outputs[row, model]) for model in models]  # type: ignore[index]
        pairs = _marked(*outputs) if len(outputs) == 2 else [[(outputs[0], False)]]
        texts = [
            Text(
                data.models[model],
                self._number(float(self.scores[row, model])),
                tuple(pieces),
                _remarks(data, row, model) if remarks is None else remarks,
            )
            for model, pieces in zip(models, pairs, strict=True)
        ]
        return Texts(f"{caption}: {data.items[row]}", _above(data, row), tuple(texts))


def _above(data: EvalSet, row: int) -> tuple[tuple[str, str], ...]:
    """Return what the outputs for an item were made from."""
    source = None if data.sources is None else data.sources[row]
    references = () if data.reference_texts is None else data.reference_texts[row]
    reference = next((text for text in references if text), None)
    return tuple((name, _cut(text)) for name, text in (("input", source), ("reference", reference)) if text)


def _remarks(data: EvalSet, row: int, model: int) -> tuple[str, ...]:
    """Return what raters wrote about an output."""
    table = data.ratings
    if table.comment is None:
        return ()
    rows = np.flatnonzero((table.item == row) & (table.model == model))
    comments = [table.comment[at] for at in rows if table.comment[at]]
    return tuple(dict.fromkeys(map(_cut, comments)))[:_MOST_RATERS]


def _cut(text: str | None) -> str:
    plain = " ".join((text or "").split())
    return plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 1]}…"


def _marked(first: str, second: str) -> list[list[tuple[str, bool]]]:
    """Return two texts in pieces, each with whether the other text lacks it, word by word."""
    words: list[list[str]] = [_WORD.findall(text) for text in (first, second)]
    sides: list[list[tuple[str, bool]]] = [[], []]
    for kind, start, end, other_start, other_end in difflib.SequenceMatcher(
        None, words[0], words[1], autojunk=False
    ).get_opcodes():
        for side, (low, high) in enumerate(((start, end), (other_start, other_end))):
            if low < high:
                sides[side].append(("".join(words[side][low:high]), kind != "equal"))
    return [_joined(side) for side in sides]


def _joined(pieces: list[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """Return the pieces with those that only a space keeps apart as one."""
    joined: list[tuple[str, bool]] = []
    for text, differs in pieces:
        if differs and len(joined) > 1 and joined[-2][1] and not joined[-1][0].strip():
            (before, _), (space, _) = joined[-2:]
            joined[-2:] = [(f"{before}{space}{text}", True)]
        else:
            joined.append((text, differs))
    return joined
