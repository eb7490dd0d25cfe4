"""Label Studio: tasks and a labelling config out, the exports JSON and JSON_MIN in.

A task is ``{"data": {…}}`` with the texts in ``output_1``, ``output_2`` … and everything that must come back
beside them. An export holds annotations with results ``{"from_name", "type", "value"}``; JSON_MIN is one flat
object for each annotation. Offsets of marked spans are those of JavaScript, in UTF-16 units.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar
from xml.sax.saxutils import quoteattr

from sparingly.base.catalogue import register
from sparingly.base.errors import DataError, UsageError
from sparingly.run.exchange.files import (
    list_in,
    mapping_in,
    moment_in,
    name_in,
    read_json_rows,
    seconds_in,
    span_in,
    write_json,
    write_text,
)
from sparingly.run.exchange.reading import CANCELLED, DRAFT, ImportReport, Reading, Submission, answers_to
from sparingly.run.exchange.tasks import Tasks
from sparingly.run.exchange.tool import (
    HEADINGS,
    REFERENCE,
    AnnotationTool,
    ToolOptions,
    has_whole_steps,
    page_texts,
    question_fields,
    rater_files,
    slot_count,
    used_texts,
)
from sparingly.run.forms.form import FormKind
from sparingly.run.forms.pair import SIDES
from sparingly.run.forms.question import Question, output_label
from sparingly.run.forms.spans import SEVERITIES, Span, from_utf16

GROUND_TRUTH = "marked as ground truth in the tool (take it with ground_truth=take)"
TWO_ANSWERS = "a side and a tie were both chosen"


@register("label-studio")
class LabelStudio(AnnotationTool):
    """Label Studio, the open-source labelling server."""

    summary: ClassVar[str] = "Label Studio: tasks as JSON with a labelling config; exports JSON and JSON_MIN"
    kinds: ClassVar[tuple[FormKind, ...]] = ("score", "pair", "ranking", "spans")
    write_options: ClassVar[Mapping[str, str]] = {
        **REFERENCE,
        "pairwise": "true: pairs by a Pairwise tag with a box for ties (default: a choice of three)",
        "ties": "true: rankings with buckets, which may hold several outputs",
    }
    read_options: ClassVar[Mapping[str, str]] = {
        "ground_truth": "take: annotations marked as ground truth count (default: left out)",
    }

    def write(self, tasks: Tasks, folder: Path, options: ToolOptions) -> list[Path]:
        """Write ``config.xml``, and ``tasks.json`` for anyone or a file for each rater."""
        texts, slots = used_texts(tasks, options), slot_count(tasks)[1]
        for name in ("pairwise", "ties"):
            if options.get(name, "true") not in ("true", "false"):
                raise UsageError(f"The option {name} is true or false, not {options[name]}.")
        config = labelling_config(tasks, texts, options)
        paths = [write_text(folder / "config.xml", config)]
        for path, questions in rater_files(tasks, folder, ".json"):
            pages = ((question, page_texts(question, options, texts)) for question in questions)
            values = [{"data": _data(question, tasks.kind, page, slots)} for question, page in pages]
            paths.append(write_json(path, values))
        return paths

    def read(self, files: Sequence[Path], reading: Reading, options: ToolOptions) -> ImportReport:
        """Read exports; of several annotations by one rater the last one counts."""
        if options.get("ground_truth", "take") != "take":
            raise UsageError("The option ground_truth is take, or not given.")
        for path in files:
            for origin, entry in read_json_rows(path):
                _take_entry(entry, reading, origin, with_ground_truth="ground_truth" in options)
        return reading.report()


def _data(question: Question, kind: FormKind, page: Mapping[str, str], slots: int) -> dict[str, Any]:
    values: dict[str, Any] = {**question_fields(question), **page}
    if kind == "ranking":
        values["outputs"] = [
            {"id": output.token, "title": f"Output {output_label(slot)}", "body": output.text}
            for slot, output in enumerate(question.outputs, 1)
        ]
        return values
    # Every variable of the config must be there, so places that a task does not fill are empty.
    for slot in range(1, slots + 1):
        output = question.outputs[slot - 1] if slot <= len(question.outputs) else None
        values[f"output_{slot}"] = "" if output is None else output.text
        values[f"token_{slot}"] = "" if output is None else output.token
    return values


# --- the labelling config -------------------------------------------------------------------------------

# Names of tags say what they ask: ``score_ASPECT_SLOT``, ``preference_ASPECT``, ``tie_ASPECT``,
# ``ranking_ASPECT``, ``spans_SLOT`` and ``comment``, with numbers from 1.


LEFT, TIE, RIGHT = SIDES


def labelling_config(tasks: Tasks, texts: Sequence[str], options: ToolOptions) -> str:
    """Return the XML of a project for these tasks, with some of the texts around the outputs.

    The option ``pairwise`` shows pairs by a Pairwise tag, which has no tie, with a Choices tag for the tie
    beside it; ``ties`` gives rankings buckets, in which several outputs may share a rank.
    """
    lines = ["<View>"]
    for name in texts:
        lines += [_tag("Header", value=HEADINGS[name]), _tag("Text", name=name, value=f"${name}")]
    if tasks.kind == "pair":
        lines += _pairs(tasks, pairwise=options.get("pairwise") == "true")
    elif tasks.kind == "ranking":
        lines += _rankings(tasks, ties=options.get("ties") == "true")
    else:
        lines += _scores(tasks)
    target = "outputs" if tasks.kind == "ranking" else "output_1"
    lines += [
        _tag("Header", value="Comment"),
        _tag("TextArea", name="comment", toName=target, rows="2", editable="true"),
        "</View>",
    ]
    return "\n".join(lines) + "\n"


def _scores(tasks: Tasks) -> list[str]:
    fewest, slots = slot_count(tasks)
    lines: list[str] = []
    for slot in range(1, slots + 1):
        output = f"output_{slot}"
        lines.append(_tag("Header", value=f"Output {output_label(slot)}"))
        if tasks.kind == "spans":
            lines.append(_tag("Labels", close=False, name=f"spans_{slot}", toName=output))
            lines += [f"  {_tag('Label', value=severity)}" for severity in SEVERITIES]
            lines.append("</Labels>")
        lines.append(_tag("Text", name=output, value=f"${output}", granularity="symbol"))
        for place, (aspect, scale) in enumerate(tasks.scales.items(), 1):
            step = "1" if has_whole_steps(scale) else f"{(scale.high - scale.low) / 100:g}"
            how: dict[str, Any] = {"min": f"{scale.low:g}", "max": f"{scale.high:g}", "step": step}
            how |= {"slider": "true", "required": "true" if slot <= fewest else "false"}
            number = _tag("Number", name=f"score_{place}_{slot}", toName=output, **how)
            lines += [_tag("Header", value=f"{aspect} ({scale})", size="5"), number]
    return lines


def _pairs(tasks: Tasks, *, pairwise: bool) -> list[str]:
    lines: list[str] = []
    for slot, side in ((1, LEFT), (2, RIGHT)):
        lines += [
            _tag("Header", value=f"Output {output_label(slot)} ({side})"),
            _tag("Text", name=f"output_{slot}", value=f"$output_{slot}"),
        ]
    for place, aspect in enumerate(tasks.aspects, 1):
        lines.append(_tag("Header", value=f"Which is better: {aspect}?", size="5"))
        if pairwise:
            lines.append(_tag("Pairwise", name=f"preference_{place}", toName="output_1,output_2"))
            lines += _choices(f"tie_{place}", (TIE,), required=False)
        else:
            lines += _choices(f"preference_{place}", (LEFT, TIE, RIGHT), required=True)
    return lines


def _choices(name: str, values: tuple[str, ...], *, required: bool) -> list[str]:
    how = {"choice": "single", "showInline": "true", "required": "true" if required else "false"}
    head = _tag("Choices", close=False, name=name, toName="output_1", **how)
    return [head, *(f"  {_tag('Choice', value=value)}" for value in values), "</Choices>"]


def _rankings(tasks: Tasks, *, ties: bool) -> list[str]:
    lines = [_tag("List", name="outputs", value="$outputs", title="Outputs")]
    for place, aspect in enumerate(tasks.aspects, 1):
        lines.append(_tag("Header", value=f"Best first: {aspect}", size="5"))
        if not ties:
            lines.append(_tag("Ranker", name=f"ranking_{place}", toName="outputs"))
            continue
        lines.append(_tag("Ranker", close=False, name=f"ranking_{place}", toName="outputs"))
        for rank in range(1, slot_count(tasks)[1] + 1):
            # Names must differ between rankers, too.
            lines.append(f"  {_tag('Bucket', name=f'rank_{place}_{rank}', title=f'Rank {rank}')}")
        lines.append("</Ranker>")
    return lines


def _tag(tag: str, *, close: bool = True, **attributes: str) -> str:
    text = "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())
    return f"<{tag}{text}{'/' if close else ''}>"


# --- answers ------------------------------------------------------------------------------------------


TagValues = Mapping[str, list[dict[str, Any]]]


def _take_entry(entry: Mapping[str, Any], reading: Reading, origin: str, *, with_ground_truth: bool) -> None:
    """Take the annotations of one object of an export; that of JSON_MIN is one annotation by itself."""
    if "annotations" not in entry and "completions" not in entry:
        results = [
            {"from_name": name, "value": _json_min_value(value)}
            for name, values in entry.items()
            if name.startswith(("score_", "preference_", "tie_", "ranking_", "spans_", "comment"))
            for value in list_in(values)
        ]
        fields = {name: entry.get(name) for name in ("lead_time", "updated_at", "created_at")}
        fields |= {"result": results, "completed_by": entry.get("annotator")}
        _take_annotation(fields, entry, reading, origin, None)
        return
    place = f"{origin.rpartition(', ')[0]}, task {name_in(entry['id'])}" if "id" in entry else origin
    annotations = list_in(entry.get("annotations", entry.get("completions")))
    drafts = list_in(entry.get("drafts"))
    for number, annotation in enumerate([*annotations, *drafts]):
        fields = mapping_in(annotation)
        reasons = {
            CANCELLED: fields.get("was_cancelled"),
            DRAFT: number >= len(annotations),
            GROUND_TRUTH: fields.get("ground_truth") and not with_ground_truth,
        }
        reason = next((reason for reason, holds in reasons.items() if holds), None)
        _take_annotation(fields, mapping_in(entry.get("data")), reading, place, reason)


def _json_min_value(value: Any) -> dict[str, Any]:
    """Return the value of a tag from JSON_MIN, in which choices, texts and numbers stand by themselves."""
    if isinstance(value, str):
        return {"choices": [value], "text": [value]}
    return value if isinstance(value, dict) else {"number": value}


def _take_annotation(
    fields: Mapping[str, Any], data: Mapping[str, Any], reading: Reading, origin: str, reason: str | None
) -> None:
    """Take one annotation of a task with some data; leave it out where there is a reason to."""
    question = reading.question(data.get("task"), origin)
    if question is None:
        return
    if reason is not None:
        reading.leave_question(reason, question, origin)
        return
    values: dict[str, list[dict[str, Any]]] = {}
    for result in list_in(fields.get("result")):
        if isinstance(result, dict) and isinstance(result.get("value"), dict):
            values.setdefault(name_in(result.get("from_name")) or "", []).append(result["value"])
    rater = fields.get("completed_by", fields.get("user"))
    if isinstance(rater, dict):
        rater = rater.get("email") or rater.get("username") or rater.get("id")
    seconds = seconds_in(fields.get("lead_time"))
    comments = [text for value in values.get("comment", ()) for text in list_in(value.get("text"))]
    submission = Submission(
        name_in(rater),
        origin,
        seconds=None if seconds is None else seconds / answers_to(reading.key, question),
        comment="\n".join(name_in(text) or "" for text in comments) or None,
        time=moment_in(fields.get("updated_at") or fields.get("created_at")),
    )
    _take_values(question, values, data, reading, submission)


def _take_values(
    question: Question, values: TagValues, data: Mapping[str, Any], reading: Reading, submission: Submission
) -> None:
    aspects = dict(enumerate(reading.key.aspects, 1))
    if reading.key.answers == "ranking":
        for place, aspect in aspects.items():
            results = values.get(f"ranking_{place}", ())
            lists = results[0].get("ranker") if results else None
            reading.ranking(question, aspect, _ranks(lists), submission)
        return
    if reading.key.answers == "pair":
        for place, aspect in aspects.items():
            side, tied = _chosen(values, f"preference_{place}"), _chosen(values, f"tie_{place}") is not None
            if tied and side is not None:
                reading.leave(TWO_ANSWERS, submission.origin)
            else:
                reading.pair(question, aspect, TIE if tied else side, submission)
        return
    for slot, exported_token in enumerate(question.by_token, 1):
        token = name_in(data.get(f"token_{slot}")) or exported_token
        scores = {aspect: _number(values, f"score_{place}_{slot}") for place, aspect in aspects.items()}
        text = name_in(data.get(f"output_{slot}")) or ""
        spans = [_span(value, text) for value in values.get(f"spans_{slot}", ())]
        reading.output(question, token, scores, submission, spans)


def _number(values: TagValues, tag: str) -> Any:
    """Return the number that a Number or a Rating tag holds."""
    names = ("number", "rating")
    numbers = (value[name] for value in values.get(tag, ()) for name in names if name in value)
    return next(numbers, None)


def _chosen(values: TagValues, tag: str) -> str | None:
    """Return what was chosen by a Choices or a Pairwise tag."""
    value = next(iter(values.get(tag, ())), {})
    choices = list_in(value.get("choices") or value.get("selected"))
    return name_in(choices[0]) if choices else None


def _ranks(lists: Any) -> dict[str, Any] | None:
    """Return ranks from the lists of a Ranker: one list is an order; buckets ``rank_ASPECT_K`` hold ties."""
    if not isinstance(lists, dict):
        return None
    buckets = {name: list_in(ids) for name, ids in lists.items()}
    ranked = {name: ids for name, ids in buckets.items() if name.startswith("rank_")}
    if ranked:
        return {
            name_in(token) or "": name.rpartition("_")[2] for name, ids in ranked.items() for token in ids
        }
    order = next(iter(buckets.values()), [])
    return {name_in(token) or "": rank for rank, token in enumerate(order, 1)} or None


def _span(value: Mapping[str, Any], text: str) -> Span | None:
    """Return a marked span in code points; the marked text tells which units a version counts in."""
    labels = list_in(value.get("labels"))
    span = span_in(value.get("start"), value.get("end"), labels[0]) if labels else None
    if span is None or text[span.start : span.end] == value.get("text"):
        return span
    try:
        first, last = from_utf16(text, span.start, span.end)
    except DataError:
        return None
    return replace(span, start=first, end=last)
