"""Logs of runs: one record for each output of a model, with what scorers, judges and people said of it.

A reader of a tool's log yields ``LoggedOutput``; from these ``assemble`` makes an evaluation set, by the same
rules for every tool:

- An item without an id gets one made from its input. One id with two inputs is an error.
- Several outputs of a model for an item are repeats: epochs, numbered by the log or else in its order.
- Scores are numbers, truth values, or words (yes and no, pass and fail …); an object of scores is one score
  for each key (``style.short``). What a person gave is a rating, all else a metric; where both have the same
  name, the aspect is called ``NAME (human)``. Several judges of one score are a metric each, called
  ``NAME (judge)``; several verdicts of one judge count as their mean. Verdicts that are texts become a column
  of the cells.
- What is the same for all outputs of an item is a column of the items, anything else one of the cells.

``LogFormat`` says what every part of a log was taken for. Where the log does not say that people gave a
score, ``--role SCORE=human`` does; ``--role SCORE=ignored`` leaves it out.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from sparingly.base.errors import InputError, UnknownNameError, UsageError
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.io.builder import EvalSetBuilder
from sparingly.data.io.format import Format, Options, digest_id, names_in
from sparingly.data.io.roles import nuisance_in_name
from sparingly.data.io.words import word_number
from sparingly.data.join import score_roles
from sparingly.data.roles import ColumnRole, TableRoles, check_said
from sparingly.data.values import as_text, canonical, parse_number, shown

# Options of every format that is a log.
LOG_OPTIONS = {"metrics": "the scores to take as metrics: a,b,c (all unless said)"}
# Parts of messages that are no text to be judged.
_OTHER_PARTS = (
    "reasoning",
    "thinking",
    "image",
    "image_url",
    "input_image",
    "audio",
    "video",
    "document",
    "file",
)
# What judges say when they have no verdict.
_NO_VERDICT = ("unknown", "not applicable", "skipped")


@dataclass(frozen=True)
class LogScore:
    """What a scorer, a judge or (``by_person``) a person said of an output."""

    name: str
    value: Any
    by_person: bool = False
    rater: str | None = None
    comment: str | None = None


@dataclass(frozen=True)
class LoggedOutput:
    """What a model wrote for an item in one run, with its scores; ``place`` says where that is in the log.

    ``item`` and ``epoch`` are None where the log does not name them.
    """

    item: Any
    model: str
    source: str | None
    output: str | None
    scores: list[LogScore] = field(default_factory=list)
    epoch: Any = None
    references: Mapping[str, str | None] = field(default_factory=dict)
    columns: Mapping[str, Any] = field(default_factory=dict)
    place: str = ""

    @cached_property
    def id(self) -> Any:
        """The item's id: that of the log, or one made from the input."""
        return digest_id("item", self.source or "") if self.item is None else self.item


class LogFormat(Format):
    """A format whose files say themselves what is an input, an output or a score."""

    has_roles: ClassVar[bool] = True
    # What the tool calls the parts of an evaluation set, by role.
    terms: ClassVar[Mapping[str, str]]

    def read_with_roles(
        self, path: Path, options: Options, roles: Mapping[str, str | Iterable[str]]
    ) -> EvalSet:
        """Read a log, some scores of which people gave or nobody wants."""
        data = self.read(path, options)
        file_roles = data.roles or TableRoles(str(path), ())
        data, ignored = _with_score_roles(data, roles)
        terms = {**self.terms, **{part.role: part.column for part in file_roles.columns}}
        present = {
            "item": True,
            "input": data.sources is not None,
            "output": data.outputs is not None,
            "model": True,
            "epoch": len(data.repeats) > 0,
            "preference": len(data.preferences) > 0,
        }
        columns = [
            ColumnRole(terms[role], role, why="said") for role in present if present[role] and role in terms
        ]
        columns += [ColumnRole(name, "reference", why="said") for name in data.references]
        columns += [ColumnRole(name, "ignored", why="said") for name in ignored]
        columns += [part if part.column in roles else _doubted(part) for part in score_roles(data)]
        return data.with_parts(roles=replace(file_roles, columns=tuple(columns)))


def _doubted(part: ColumnRole) -> ColumnRole:
    """Return the role of a score, in doubt where its name is that of a time, a count or a price."""
    if part.role != "metric" or not (looks_like := nuisance_in_name(part.column)):
        return part
    return replace(part, detail=f"{part.detail}, looks like {looks_like}", doubtful=True, other="ignored")


def _with_score_roles(data: EvalSet, roles: Mapping[str, str | Iterable[str]]) -> tuple[EvalSet, list[str]]:
    """Return the set with metrics that are people's labels as aspects, and without those to be ignored."""
    human, ignored = list[str](), list[str]()
    for name, roles_of in check_said(roles, (*data.metrics, *data.aspects)).items():
        if name in data.metrics and roles_of[-1] in ("human", "ignored"):
            (human if roles_of[-1] == "human" else ignored).append(name)
        elif roles_of[-1] != ("human" if name in data.aspects else "metric"):
            raise UsageError(
                f"{name} is a score {'of people' if name in data.aspects else 'in a log'}: it cannot be "
                f"{roles_of[-1]}. Leave out the role of {name}."
            )
    if not human and not ignored:
        return data, []
    renamed = {fields.metric(name): fields.aspect(name) for name in human}
    repeats = {renamed.get(name, name): scores for name, scores in data.repeats.scores.items()}
    return data.with_parts(
        metrics={name: scores for name, scores in data.metrics.items() if name not in (*human, *ignored)},
        aspects={**data.aspects, **{name: data.metrics[name] for name in human}},
        scales={renamed.get(name, name): scale for name, scale in data.scales.items()},
        repeats=replace(
            data.repeats,
            scores={
                name: scores for name, scores in repeats.items() if name not in map(fields.metric, ignored)
            },
        ),
    ), ignored


def assemble(
    path: Path, outputs: Iterable[LoggedOutput], options: Options, roles: TableRoles | None = None
) -> EvalSet:
    """Make an evaluation set of the outputs of a log; roles are what its reader found out on the way."""
    log = [replace(logged, scores=list(_flat(logged.scores))) for logged in outputs]
    builder, verdicts, constant = EvalSetBuilder(path), _Verdicts(log, options), _constant_columns(log)
    first: dict[int, LoggedOutput] = {}
    runs: dict[tuple[int, int], int] = {}
    for logged in log:
        try:
            item, model = builder.item(logged.id, "id"), builder.model(logged.model)
            runs[item, model] = run = runs.get((item, model), 0) + 1
            if first.setdefault(item, logged) is logged:
                builder.source(item, logged.source)
                for name, text in logged.references.items():
                    builder.reference(item, name, text)
            elif logged.source != first[item].source:
                raise InputError(
                    f"the item {shown(logged.id)} has two inputs, {shown(first[item].source)} for the model "
                    f"{first[item].model} and {shown(logged.source)} for {logged.model}",
                    fix="Give every input an id of its own",
                )
            numbers, texts = verdicts.by_judges(logged)
            epoch = run if logged.epoch is None else logged.epoch
            builder.repeat(item, model, epoch, logged.output, numbers, f"{logged.place}, epoch".lstrip(", "))
            for rating in verdicts.by_people(logged):
                builder.rating(item, model=logged.model, **rating)
            for name, value in {**logged.columns, **texts}.items() if run == 1 else ():
                # A log's own "cost" or "weight" is not that of judging the item.
                label = f"log_{name}" if name in fields.NUMBER_COLUMNS else name
                if name in constant:
                    builder.column(item, label, value)
                else:
                    builder.cell(item, model, label, value)
        except InputError as error:
            raise error.at(file=path, field=logged.place or None) from None
    for name in verdicts.two_valued:
        builder.scale(name, [0, 1], name)
    return builder.build().with_parts(roles=roles)


def score_number(value: Any) -> float | None:
    """Return a score as a number (NaN: there is no verdict), or None for what is no score."""
    if value is None or isinstance(value, bool | int | float):
        return math.nan if value is None else float(value)
    try:
        text = as_text(value, "score") or ""
        number = word_number(text)
        return (
            parse_number("" if text.strip().lower() in _NO_VERDICT else text, "score")
            if number is None
            else number
        )
    except InputError:
        return None


class _Verdicts:
    """The scores of a log: which of them are metrics, ratings of people, or texts.

    ``two_valued`` are the fields of those that are truth values or words everywhere.
    """

    def __init__(self, log: list[LoggedOutput], options: Options) -> None:
        self.two_valued = list[str]()
        # The scores of which some output has verdicts of several judges.
        self.by_several = {
            name
            for logged in log
            for name, count in Counter(
                name
                for name, _ in {(score.name, score.rater) for score in logged.scores if not score.by_person}
            ).items()
            if count > 1
        }
        values: dict[tuple[bool, str], list[Any]] = {}
        for score in (score for logged in log for score in logged.scores):
            values.setdefault((score.by_person, self._name(score)), []).append(score.value)
        names = {score.name for logged in log for score in logged.scores}
        self.wanted = set(names_in(options["metrics"])) if "metrics" in options else names
        for name in sorted(self.wanted - names):
            raise UnknownNameError("score", name, sorted(names))
        # By whether people gave them, and by name: the field, or None for texts.
        self.fields: dict[tuple[bool, str], str | None] = {}
        for (by_person, name), column in values.items():
            present = [value for value in column if value is not None]
            numbers = [number for value in present if (number := score_number(value)) is not None]
            clashes = by_person and (False, name) in values
            field_name = f"aspect:{name}{' (human)' if clashes else ''}" if by_person else f"metric:{name}"
            # A text among numbers is a mistake to be named; it does not make texts of them all.
            is_score = by_person or 2 * len(numbers) > len(present)
            self.fields[by_person, name] = field_name if is_score else None
            if present and all(
                isinstance(value, bool) or word_number(value) is not None for value in present
            ):
                self.two_valued.append(field_name)

    def _name(self, score: LogScore) -> str:
        is_one_of_several = score.name in self.by_several and not score.by_person
        return f"{score.name} ({score.rater or 'unnamed'})" if is_one_of_several else score.name

    def by_judges(self, logged: LoggedOutput) -> tuple[dict[str, float], dict[str, str]]:
        """Return an output's metrics by field, and the verdicts that are texts by name."""
        numbers: dict[str, list[float]] = {}
        texts: dict[str, str] = {}
        for score in logged.scores:
            if score.by_person or score.name not in self.wanted or score.value is None:
                continue
            number, field_name = score_number(score.value), self.fields[False, self._name(score)]
            if field_name is None:
                texts[self._name(score)] = _as_text(score.value)
            elif number is None:
                raise InputError(
                    f"{shown(score.value)} is not a score of {score.name}",
                    fix="Write a number or a word such as pass or fail there, or choose scores with metrics=",
                )
            else:
                numbers.setdefault(field_name, []).append(number)
        return {name: sum(verdicts) / len(verdicts) for name, verdicts in numbers.items()}, texts

    def by_people(self, logged: LoggedOutput) -> Iterator[dict[str, Any]]:
        """Yield an output's ratings; what is no score becomes a comment."""
        for score in (score for score in logged.scores if score.by_person):
            number = score_number(score.value)
            texts = [score.comment, None if number is not None else _as_text(score.value)]
            if number is None or not math.isnan(number) or score.comment:
                yield {
                    "rater": score.rater,
                    "aspect": (self.fields[True, score.name] or "").removeprefix("aspect:"),
                    "score": None if number is None or math.isnan(number) else number,
                    "comment": " | ".join(filter(None, texts)) or None,
                }


def _flat(scores: Iterable[LogScore]) -> Iterator[LogScore]:
    for score in scores:
        if isinstance(score.value, dict):
            parts = score.value.items()
            yield from _flat(replace(score, name=f"{score.name}.{key}", value=part) for key, part in parts)
        else:
            rater, comment = (_as_text(text) if text else None for text in (score.rater, score.comment))
            yield replace(score, rater=rater, comment=comment)


def _constant_columns(log: list[LoggedOutput]) -> set[str]:
    """Return the columns that have one value for all outputs of an item."""
    values: dict[str, dict[str, set[str | None]]] = {}
    for logged in log:
        for name, value in logged.columns.items():
            values.setdefault(name, {}).setdefault(str(logged.id), set()).add(canonical(value))
    return {
        name for name, by_item in values.items() if all(len(distinct) == 1 for distinct in by_item.values())
    }


# --- Traces: logs that name neither items nor models ------------------------------------------------


def with_models(
    traces: Sequence[LoggedOutput], candidates: Sequence[Mapping[str, str | None]], otherwise: str
) -> tuple[list[LoggedOutput], TableRoles]:
    """Return traces with the names of their models, and what was taken for the model and the item.

    Each trace has candidates by the place where a name was found, in the same order for all. The first place
    counts at which every trace with an output has a name. A trace that failed before is left out.
    Where models were given the same inputs, items are inputs; else each trace is an item.
    """
    complete = [place for place, trace in enumerate(traces) if trace.output is not None]
    places = dict.fromkeys(place for names in candidates for place in names)
    model = next((place for place in places if all(candidates[trace].get(place) for trace in complete)), None)
    if model is None or not complete:
        result, model, left_out = ([replace(trace, model=otherwise) for trace in traces], "the whole file", 0)
    else:
        result = [
            replace(trace, model=str(names[model]))
            for trace, names in zip(traces, candidates, strict=True)
            if names.get(model)
        ]
        left_out = len(traces) - len(result)
    by_input: dict[str | None, set[str]] = {}
    for trace in result:
        by_input.setdefault(trace.source, set()).add(trace.model)
    item = "id"
    if any(len(names) > 1 for names in by_input.values()):
        item = "input"
        result = [
            replace(trace, item=None, columns={**trace.columns, "trace": trace.item}) for trace in result
        ]
    notes = (f"{left_out:,} of {len(traces):,} traces failed before they named a model, and are left out.",)
    columns = (ColumnRole(item, "item"), ColumnRole(model, "model"))
    return result, TableRoles("", columns, notes if left_out else ())


def decoded(value: Any) -> Any:
    """Return the value of a text that is JSON, and anything else as it is."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (json.JSONDecodeError, RecursionError):
        return value


# --- Texts in logs --------------------------------------------------------------------------------


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def readable(value: Any) -> str | None:
    """Return what a model was given or wrote as a rater reads it; None where there is nothing.

    Chat messages become a conversation, one turn a paragraph, or the content of the only one; the answer of a
    chat interface its content; an object its only value, or a paragraph for each.
    """
    if isinstance(value, dict):
        if isinstance(choices := value.get("choices"), list) and choices and isinstance(choices[0], dict):
            return readable(choices[0].get("message", choices[0].get("text")))
        if (kind := value.get("type")) in _OTHER_PARTS:
            return None if kind in ("reasoning", "thinking") else f"[{kind}]"
        if "content" in value or kind in ("text", "input_text", "output_text"):
            return readable(value.get("content", value.get("text")))
        parts = {name: text for name, part in value.items() if (text := readable(part)) is not None}
        if len(parts) < 2 or "messages" in parts:
            return parts.get("messages", next(iter(parts.values()), None))
        return "\n\n".join(f"{name}: {text}" for name, text in parts.items())
    if isinstance(value, list):
        turns = [(part.get("role") if isinstance(part, dict) else None, readable(part)) for part in value]
        written_turns = [(role, text) for role, text in turns if text is not None]
        if len(written_turns) == 1 or not any(role for role, _ in written_turns):
            return "\n".join(text for _, text in written_turns) or None
        return "\n\n".join(f"{role}: {text}" for role, text in written_turns)
    return None if value is None else _as_text(value)
