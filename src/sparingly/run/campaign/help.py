"""Help for raters: scores or marked errors of an AI, filled in for a share of the questions, by chance.

Whether a rater sees it is drawn for each question from the campaign's seed, and saved with the answer, so
that estimates can take out what it did (see ``infer.estimate.help_effect``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

import numpy as np

from sparingly.base.errors import InputError, MissingDataError, UnknownNameError, UsageError
from sparingly.data import files
from sparingly.data.evalset import EvalSet
from sparingly.data.values import as_id, as_number, parse_number
from sparingly.run.campaign.answers import file_rows
from sparingly.run.campaign.settings import Settings
from sparingly.run.forms.question import Question, QuestionTexts
from sparingly.run.forms.spans import Span, checked_spans

Key = tuple[str, str, str]


@dataclass(frozen=True)
class Suggestion:
    """What is filled in for an output: scores by aspect, marked errors; whether it is shown, drawn."""

    scores: Mapping[str, float] = field(default_factory=dict)
    spans: tuple[Span, ...] = ()
    shown: bool = False
    probability: float = 0.0


class Help:
    """Suggestions for the outputs of a campaign, each shown with the same probability."""

    def __init__(
        self, source: str, share: float, settings: Settings, data_sets: Mapping[str, EvalSet]
    ) -> None:
        """Read suggestions from a metric of the data, or from a file with item, model, score and spans."""
        if not 0.0 < share < 1.0:
            raise UsageError(
                f"Help is shown with a probability between 0 and 1, not {share:g}: what it does is learned "
                "from answers with it and without."
            )
        self.source, self.share, self.settings = source, share, settings
        self._found: dict[Key, Suggestion] = {}
        is_file = Path(source).suffix.lower() in (".csv", ".tsv", ".jsonl") or Path(source).is_file()
        self._read_file(Path(source), data_sets) if is_file else self._read_metric(source, data_sets)
        self.outputs = sum(data_set.shape[0] * data_set.shape[1] for data_set in data_sets.values())
        if not self._found:
            raise MissingDataError(f"{source} has no help for any output of this campaign.")

    def __len__(self) -> int:
        return len(self._found)

    @property
    def has_spans(self) -> bool:
        """Whether errors are marked for some output."""
        return any(suggestion.spans for suggestion in self._found.values())

    @property
    def sentence(self) -> str:
        """Say for how many outputs there is help."""
        rest = "" if len(self) == self.outputs else "; the others are judged without"
        return f"help from {self.source} for {len(self)} of {self.outputs} outputs{rest}"

    def suggestion(self, rater: str, question: Question) -> Suggestion | None:
        """Return the suggestion for an output, and whether this rater sees it; None where there is none."""
        keys = [(question.data, question.item, name) for name in sorted(question.outputs[0].models)]
        key = next((key for key in keys if key in self._found), None)
        if key is None or question.other is not None:
            return None
        place = "\x1f".join((rater, str(question.round), *key))
        drawn = sha256(f"{self.settings.seed}\x1fhelp\x1f{place}".encode("utf-8", "surrogatepass")).digest()
        shown = int.from_bytes(drawn[:8]) < self.share * 2**64
        return replace(self._found[key], shown=shown, probability=self.share)

    def _read_metric(self, name: str, data_sets: Mapping[str, EvalSet]) -> None:
        if len(self.settings.aspects) > 1:
            raise UsageError(
                f"A metric helps with one score, and there are {len(self.settings.aspects)} aspects: give a "
                "file with the columns item, model, aspect and score."
            )
        ((aspect, _),) = self.settings.aspects.items()
        for data, data_set in data_sets.items():
            if name not in data_set.metrics:
                raise UnknownNameError("metric", name, data_set.metrics)
            for row, column in np.argwhere(~np.isnan(data_set.metrics[name])).tolist():
                item, model = str(data_set.items[row]), data_set.models[column]
                score = float(data_set.metrics[name][row, column])
                self._add((data, item, model), aspect, score, f'the metric {name} of "{model}" on "{item}"')

    def _read_file(self, path: Path, data_sets: Mapping[str, EvalSet]) -> None:
        texts = {data: QuestionTexts(data_set) for data, data_set in data_sets.items()}
        items_of = {data: set(data_set.items) for data, data_set in data_sets.items()}
        aspects = list(self.settings.aspects)
        for line, row in file_rows(path):
            try:
                item, model = as_id(row.get("item"), "item"), as_id(row.get("model"), "model")
                sets = [
                    data
                    for data, items in items_of.items()
                    if item in items and row.get("data") in (None, "", data)
                ]
                if not sets or model not in data_sets[sets[0]].models:
                    raise InputError(f'there is no output of "{model}" for the item "{item}"')
                key = (sets[0], item, model)
                aspect = row.get("aspect") or (aspects[0] if len(aspects) == 1 else "")
                if aspect not in aspects:
                    raise UnknownNameError("aspect", str(aspect), aspects)
                score, spans = row.get("score"), row.get("spans")
                if score not in (None, ""):
                    number = (
                        parse_number(score, "score") if isinstance(score, str) else as_number(score, "score")
                    )
                    self._add(key, str(aspect), number, "the score")
                if spans not in (None, ""):
                    marks = files.parse_json(spans, path, line) if isinstance(spans, str) else spans
                    if not isinstance(marks, list) or not all(isinstance(mark, dict) for mark in marks):
                        raise InputError('spans are a list: [{"start": 0, "end": 4, "severity": "minor"}]')
                    found = checked_spans(
                        marks,
                        texts[key[0]].output(item, model),
                        source=texts[key[0]].fill(Question(item)).source,
                    )
                    self._found[key] = replace(self._found.get(key, Suggestion()), spans=found)
            except InputError as error:
                raise error.at(file=path, line=line) from None
            except (UsageError, json.JSONDecodeError) as error:
                raise InputError(str(error).rstrip("."), file=path, line=line) from None

    def _add(self, key: Key, aspect: str, score: float, what: str) -> None:
        ends = self.settings.aspects[aspect]
        if ends is not None and not ends[0] <= score <= ends[1]:
            raise InputError(
                f"{what} is {score:g}, outside the scale of {aspect}, {ends[0]:g} to {ends[1]:g}",
                fix="Give help on the scale that raters use",
            )
        earlier = self._found.get(key, Suggestion())
        self._found[key] = replace(earlier, scores={**earlier.scores, aspect: score})
