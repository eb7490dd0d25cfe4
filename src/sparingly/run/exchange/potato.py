"""Potato: a configuration with items, and what its users answered."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any, ClassVar

from sparingly.base.catalogue import register
from sparingly.base.errors import InputError, UsageError
from sparingly.data import files
from sparingly.data.scale import Scale
from sparingly.run.exchange.files import (
    json_in,
    mapping_in,
    moment_in,
    name_in,
    number_in,
    plain_names,
    read_csv_rows,
    seconds_in,
    span_in,
    units,
    whole_letters,
    write_jsonl,
    write_text,
)
from sparingly.run.exchange.key import Key
from sparingly.run.exchange.reading import DRAFT, NO_NUMBER, UNKNOWN_OUTPUT, ImportReport, Reading, Submission
from sparingly.run.exchange.tasks import Tasks
from sparingly.run.exchange.tool import (
    AnnotationTool,
    ToolOptions,
    context_text,
    has_whole_steps,
    question_fields,
)
from sparingly.run.forms.form import FormKind
from sparingly.run.forms.spans import PENALTIES, SEVERITIES, Span

# JSON is YAML, but for a few letters that YAML wants written as their codes.
_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
HUNDRED = Scale(0, 100)
# A slider is as wide as what stands above it, which goes into the page as HTML.
_SLIDE = "from {} for the worst to {} for the best. Move the slider, then go on."


@register("potato")
class Potato(AnnotationTool):
    """Potato (Pei et al. 2022): sliders, pairs with ties and error spans."""

    summary: ClassVar[str] = "a configuration with items for potato start, and its user states or exports"
    kinds: ClassVar[tuple[FormKind, ...]] = ("score", "pair", "spans")
    write_options: ClassVar[dict[str, str]] = {
        "annotators": "how many judge every item where there is no assignment; default: 1",
        "mode": "binary (left, right or tie) or scale (from -3 to 3) for pairs; default: binary",
        "name": "the name of the annotation task; default: sparingly-1 in the first round",
        "reference": "yes to show the first reference",
    }

    def check_write(self, tasks: Tasks, options: ToolOptions) -> None:
        """Raise UsageError for options that do not fit the tasks, before anything is written."""
        super().check_write(tasks, options)
        _config(tasks, _items(tasks, options), options)

    def write(self, tasks: Tasks, folder: Path, options: ToolOptions) -> list[Path]:
        """Write ``config.yaml`` and ``items.jsonl``."""
        items = _items(tasks, options)
        config = json.dumps(_config(tasks, items, options), ensure_ascii=False, indent=2, allow_nan=False)
        text = _NOT_IN_YAML.sub(lambda match: f"\\u{ord(match.group()):04x}", f"{config}\n")
        return [write_text(folder / "config.yaml", text), write_jsonl(folder / "items.jsonl", items)]

    def read(self, files: Sequence[Path], reading: Reading, options: ToolOptions) -> ImportReport:
        """Read the folder of annotations, ``user_state.json`` files, or exports as JSON Lines, CSV or TSV.

        Spans need ``items.jsonl`` among the files, too: Potato counts letters in its texts.
        """
        texts: dict[str, str] = {}
        records: list[PotatoRecord] = []
        for path in files:
            paths = sorted(path.rglob(_STATE)) if path.is_dir() else [path]
            if not paths:
                raise InputError(f"there is no {_STATE} in this folder", file=path)
            records += [record for single_path in paths for record in _records(single_path, texts)]
        answers = PotatoAnswers(reading, scheme_names(reading.key), texts)
        for record in records:
            answers.take(record)
        return reading.report()

    def asked_scale(self, scale: Scale) -> Scale:
        """Return the scale of a slider, which knows whole numbers only: 0 to 100 where those are too few."""
        return scale if has_whole_steps(scale) else HUNDRED


def scheme_names(key: Key) -> dict[str, str]:
    """Return the annotation scheme of every aspect, and of what is asked besides."""
    return plain_names([*key.aspects, MARKS, CHECKED])


def _config(tasks: Tasks, items: Sequence[Mapping[str, Any]], options: ToolOptions) -> dict[str, Any]:
    rounds = max((question.round for question in tasks), default=1)
    used = (key for key in ("before", "source", "after", "reference") if any(item[key] for item in items))
    fields = [{"key": key, "type": "text", "label": key.title()} for key in used]
    # Pairs and spans show the outputs in the question itself.
    if tasks.kind == "score":
        fields.append({"key": OUTPUT, "type": "text", "label": "Output"})
    return {
        "annotation_task_name": options.get("name", f"sparingly-{rounds}"),
        "task_dir": ".",
        "output_annotation_dir": "annotation_output",
        "data_files": ["items.jsonl"],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "annotation_schemes": _schemes(tasks, options),
        **({"instance_display": {"fields": fields}} if fields else {}),
        "authentication": {"method": "in_memory"},
        "require_password": False,
        **_assignment(tasks, items, options),
    }


def _assignment(tasks: Tasks, items: Sequence[Mapping[str, Any]], options: ToolOptions) -> dict[str, Any]:
    """Return who gets which items: a list per rater, or everything in order until enough have judged it."""
    if not tasks.raters:
        count = options.get("annotators", "1")
        if not count.isdecimal() or int(count) < 1:
            raise UsageError(f'The number of annotators "{count}" is not a whole number above 0.')
        return {"assignment_strategy": "fixed_order", "num_annotators_per_item": int(count)}
    if "annotators" in options:
        raise UsageError("The assignment says who judges what: leave out annotators.")
    lists: dict[str, list[str]] = {}
    for item in items:
        lists.setdefault(str(item.get("assigned", "")), []).append(str(item["id"]))
    groups = [
        {"name": f"list-{number}", "annotators": [rater], "instances": instances}
        for number, (rater, instances) in enumerate(lists.items(), 1)
        if rater
    ]
    batches = {"batch_assignment": {"groups": groups}, "num_annotators_per_item": 1}
    return {"assignment_strategy": "batch", **batches}


def _schemes(tasks: Tasks, options: ToolOptions) -> list[dict[str, Any]]:
    names, required = scheme_names(tasks.key), {"label_requirement": {"required": True}}

    def scheme(kind: str, name: str, description: str, **more: Any) -> dict[str, Any]:
        return {"annotation_type": kind, "name": names[name], "description": description, **more}

    if tasks.kind == "pair":
        mode = options.get("mode", "binary")
        if mode not in ("binary", "scale"):
            raise UsageError(f'The mode "{mode}" of pairs is neither binary nor scale.')
        how: dict[str, Any] = {"items_key": "responses", "mode": mode, **required}
        how |= {"allow_tie": True} if mode == "binary" else {"scale": {"min": -3, "max": 3, "step": 1}}
        return [scheme("pairwise", aspect, f"Which is better: {aspect}?", **how) for aspect in tasks.aspects]
    sliders: list[dict[str, Any]] = []
    for aspect, scale in tasks.scales.items():
        low, high = map(int, Potato().asked_scale(scale))
        ends = {"min_value": low, "max_value": high, "starting_value": (low + high) // 2, "step": 1}
        description = f"{escape(aspect)}: {_SLIDE.format(low, high)}"
        sliders.append(scheme("slider", aspect, description, **ends, **required))
    if tasks.kind == "score":
        return sliders
    marks = scheme(
        *("error_span", MARKS, "Mark every error"),
        source_field=OUTPUT,
        error_types=[{"name": "error"}],
        severities=[{"name": name, "weight": -int(PENALTIES[name])} for name in SEVERITIES],
        show_score=False,
    )
    # An output without errors leaves no mark, so without a score the rater says when all is marked.
    checked = scheme("radio", CHECKED, "When you are done", labels=["all errors are marked"], **required)
    return [marks, *(sliders or [checked])]


def _items(tasks: Tasks, options: ToolOptions) -> list[dict[str, Any]]:
    """Return the items: pairs by the id of their task, outputs by the task and the token."""
    items = []
    for question in tasks:
        common = {
            **question_fields(question),
            "text": question.source or (" / " if tasks.kind == "pair" else question.outputs[0].text),
            "source": question.source or "",
            "reference": (question.reference or "") if options.get("reference") == "yes" else "",
            "before": context_text(question.before, "\n"),
            "after": context_text(question.after, "\n"),
        }
        if tasks.kind == "pair":
            responses = [output.text for output in question.outputs]
            items.append({"id": question.id, **common, "responses": responses})
        else:
            for output in question.outputs:
                items.append({"id": f"{question.id}-{output.token}", **common, OUTPUT: output.text})
    return items


# --- what users answered, from their states or from an export -------------------------------------------


MACHINE = "answered by a machine"
MARKS, CHECKED, OUTPUT = "error_spans", "checked", "output"
_STATE, _LABELS = "user_state.json", "instance_id_to_label_to_value"
_CHOICES = {"A": 1.0, "B": -1.0, "tie": 0.0}

Labels = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class PotatoRecord:
    """What one user said about one instance: values by scheme and label."""

    origin: str
    user: str
    instance: str
    labels: Labels
    seconds: float | None = None
    time: float | None = None
    is_machine: bool = False


@dataclass
class PotatoAnswers:
    """Takes what users said, by the annotation schemes of the aspects and the texts of the items."""

    reading: Reading
    schemes: Mapping[str, str]
    texts: Mapping[str, str]

    def take(self, record: PotatoRecord) -> None:
        """Take one record, or leave it out."""
        task, _, token = record.instance.partition("-")
        question = self.reading.question(task, record.origin)
        if question is None:
            return
        key = self.reading.key
        count = len(key.asked_aspects)
        if key.answers != "pair" and token not in question.by_token:
            self.reading.leave(UNKNOWN_OUTPUT, f"{record.origin}: {record.instance}", count)
            return
        if record.is_machine:
            self.reading.leave(MACHINE, record.origin, count)
            return
        seconds = None if record.seconds is None else record.seconds / count
        submission = Submission(record.user, record.origin, seconds=seconds, time=record.time)
        labels = {aspect: record.labels.get(self.schemes[aspect], {}) for aspect in key.aspects}
        if key.answers == "pair":
            for aspect, choice in labels.items():
                side, place = choice.get("selection"), number_in(choice.get("scale_value"))
                if "scale_value" not in choice:
                    self.reading.pair(question, aspect, _CHOICES.get(name_in(side) or "", side), submission)
                elif place is None:
                    self.reading.leave(NO_NUMBER, submission.origin)
                else:
                    # The side of 0 that a scale is on: below, the left is better.
                    self.reading.pair(question, aspect, float((place < 0) - (place > 0)), submission)
            return
        scores = {aspect: _only_value(slider) for aspect, slider in labels.items()}
        if not scores and not record.labels.get(self.schemes[CHECKED]):
            self.reading.leave(DRAFT, record.origin, count)
            return
        marks = _only_value(record.labels.get(self.schemes[MARKS], {})) or []
        if isinstance(marks, str):
            marks = json_in(marks, record.origin)
        if isinstance(marks, dict):
            marks = marks.get("errors")
        spans = [self._span(mark, record) for mark in (marks if isinstance(marks, list) else ())]
        self.reading.output(question, token, scores, submission, spans)

    def _span(self, mark: Any, record: PotatoRecord) -> Span | None:
        text = self.texts.get(record.instance)
        if text is None:
            raise InputError(
                "the marks are counted in the texts of the items, which are not here",
                file=record.origin,
                fix="Give items.jsonl, too",
            )
        if not isinstance(mark, dict):
            return None
        kind = "/".join(name_in(mark[part]) or "" for part in ("type", "subtype") if mark.get(part))
        severity = mark.get("severity")
        span = span_in(mark.get("start"), mark.get("end"), severity, "" if kind == "error" else kind)
        if span is None or not isinstance(severity, str) or not span.start < span.end <= units(text):
            return None
        # Potato trims what was selected after it has counted where it began.
        first, last = whole_letters(text, span.start, span.end)
        marked_text = mark.get("text")
        if (
            isinstance(marked_text, str)
            and text[first:last] != marked_text
            and (at := text.find(marked_text, first)) >= 0
        ):
            first, last = at, at + len(marked_text)
        return replace(span, start=first, end=last)


def _records(path: Path, texts: dict[str, str]) -> Iterator[PotatoRecord]:
    """Yield what users said in a file; a file of items has the texts that marks are counted in."""
    if path.suffix.lower() == ".json":
        yield from _state(path)
        return
    if path.suffix.lower() != ".jsonl":
        yield from _table(path)
        return
    for line, row in files.json_lines(path):
        if "instance_id" in row:
            yield PotatoRecord(
                f"{path.name}, line {line}",
                name_in(row.get("user_id")) or "",
                name_in(row["instance_id"]) or "",
                _labels(row.get("labels")),
                is_machine=_is_machine(row.get("annotator_origin")),
            )
        elif "id" in row:
            texts[name_in(row["id"]) or ""] = name_in(row.get(OUTPUT)) or ""
        else:
            raise InputError("neither an item nor an answer of Potato", file=path, line=line)


def _state(path: Path) -> Iterator[PotatoRecord]:
    """Yield what a user's state holds."""
    state = files.read_json(path)
    labels_by_instance = state.get(_LABELS) if isinstance(state, dict) else None
    if not isinstance(labels_by_instance, dict):
        raise InputError(f"this is not a {_STATE} of Potato", file=path)
    user, origin = name_in(state.get("user_id")) or path.parent.name, state.get("origin")
    spent = state.get("instance_id_to_behavioral_data")
    for instance, labels in labels_by_instance.items():
        times = mapping_in(mapping_in(spent).get(instance))
        milliseconds = number_in(times.get("total_time_ms"))
        yield PotatoRecord(
            f"{path.parent.name}/{path.name}, {instance}",
            user,
            instance,
            _labels(labels),
            seconds=seconds_in(milliseconds / 1000) if milliseconds else None,
            time=moment_in(times.get("session_end")),
            is_machine=_is_machine(origin),
        )


def _labels(stored: Any) -> Labels:
    """Return labels by scheme, from pairs of label and value or from objects."""
    if isinstance(stored, dict):
        return {name: labels if isinstance(labels, dict) else {"": labels} for name, labels in stored.items()}
    by_scheme: Labels = {}
    for entry in stored if isinstance(stored, list) else ():
        if isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], dict):
            scheme, label = (name_in(entry[0].get(part)) or "" for part in ("schema", "name"))
            by_scheme.setdefault(scheme, {})[label] = entry[1]
    return by_scheme


def _table(path: Path) -> Iterator[PotatoRecord]:
    """Yield the rows of an export as a table, whose columns are called ``scheme.label``."""
    for origin, row in read_csv_rows(path):
        if "instance_id" not in row:
            raise InputError("there is no column instance_id", file=path, fix="Export with potato.export")
        labels: Labels = {}
        for column, value in row.items():
            scheme, dot, label = column.partition(".")
            if dot and value != "":
                labels.setdefault(scheme, {})[label] = value
        yield PotatoRecord(origin, row.get("user_id", ""), row["instance_id"], labels)


def _is_machine(origin: Any) -> bool:
    return isinstance(origin, dict) and origin.get("kind") not in (None, "human")


def _only_value(labels: Mapping[str, Any]) -> Any:
    """Return the value of a scheme with one label: a slider, or the marks."""
    return next(iter(labels.values()), None)
