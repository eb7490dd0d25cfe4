"""Samples of lm-evaluation-harness (``--log_samples``): a file per task, in a folder per model.

``MODEL/samples_TASK_TIME.jsonl`` with ``{"doc_id", "doc", "target", "arguments", "resps", "filtered_resps",
"filter", "metrics": [names], NAME: value, "doc_hash", "prompt_hash", "target_hash"}`` a line, one line for
every document and filter. An item is ``TASK#DOC_ID``; that its document and its prompt are the same for every
model is checked with their hashes.

- A metric is a number, or true and false; one that is a list (a part of a corpus score) or a text is kept as
  a column of the cells. Where a task has several filters, metrics are called ``metric,filter`` as the harness
  calls them, unless the option ``filter`` chooses one. ``bypass``, which means "not scored", is left out.
- The output is what the model wrote (``resps``); what a filter made of it is the column ``filtered``. For
  questions with given answers it is the answer that the model found most likely. A single given text, of
  which only the log-likelihood was asked, has no output. Several responses (``repeats`` of a task) are kept.
- The source is the prompt; where models had different ones (``prompts=any``), the document.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from sparingly.base.catalogue import register
from sparingly.base.errors import InputError, UnknownNameError, UsageError, listing
from sparingly.data.evalset import EvalSet
from sparingly.data.files import extension
from sparingly.data.io.builder import EvalSetBuilder
from sparingly.data.io.format import Head, Options, first_record, located, read_records
from sparingly.data.io.log import LogFormat
from sparingly.data.values import as_id, as_list, as_text, parse_number, shown

TARGET = "target"
_FILE = re.compile(r"samples_(?P<task>.+?)(?:_(?P<time>\d{4}-\d\d-\d\dT[^_]+))?")
_ENDINGS = (".jsonl", ".json", ".ndjson")
_NOT_SCORED = "bypass"
_FOLDERS = ("", "*/", "*/*/", "*/*/*/")
_CHOICES = {"output": ("response", "filtered"), "prompts": ("any",), "runs": ("latest",)}


@register("lm_eval")
class LmEvalSamples(LogFormat):
    """Samples that lm-evaluation-harness logs."""

    summary: ClassVar[str] = "lm-evaluation-harness samples: a file per task, in a folder per model"
    terms: ClassVar[dict[str, str]] = {
        "item": "doc_id",
        "input": "arguments",
        "output": "resps",
        "model": "folder",
        "epoch": "repeat",
    }
    options: ClassVar[dict[str, str]] = {
        "model": "the model's name, for the samples of one model (default: that of its folder)",
        "filter": "of several filters of a task, the one whose scores are taken (default: all)",
        "output": "response: what the model wrote (unless given); filtered: what the first filter made of it",
        "prompts": "any: models may have had different prompts for the same document",
        "runs": "latest: of several runs of a task by a model, the last one counts",
    }

    def recognises(self, head: Head) -> bool:
        """Look for documents with the responses to them, in the file or in the first one of the folder."""
        if head.is_directory:
            first = next(_files(head.path), None)
            return first is not None and self.recognises(Head(first))
        record = first_record(head)
        return record is not None and "doc_id" in record and bool({"resps", "filtered_resps"} & set(record))

    def read(self, path: Path, options: Options) -> EvalSet:
        """Read the samples of every model and task."""
        for name, choices in _CHOICES.items():
            if options.get(name, choices[0]) not in choices:
                raise UnknownNameError(f"value of the option {name}", str(options[name]), choices)
        reader = _LmEvalReader(EvalSetBuilder(path), options)
        for run in _runs(path, options):
            reader.take_run(run)
        reader.take_scores()
        reader.take_different_prompts()
        return reader.builder.build()


# --- files ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _SampleFile:
    """One file: a model's samples of a task, and when they were made."""

    file: Path
    model: str
    task: str
    time: str


def _files(folder: Path) -> Iterator[Path]:
    for depth in _FOLDERS:
        for file in sorted(folder.glob(f"{depth}samples_*")):
            if file.is_file() and extension(file) in _ENDINGS:
                yield file


def _runs(path: Path, options: Options) -> list[_SampleFile]:
    sample_files = [_run(file) for file in (_files(path) if path.is_dir() else [path])]
    if not sample_files:
        raise InputError("there is no file samples_TASK_TIME.jsonl in it", file=path)
    models = sorted({run.model for run in sample_files})
    if (name := options.get("model")) is not None:
        if len(models) > 1:
            raise UsageError(
                f"The option model names one model, but there are {len(models)}: {listing(models)}."
            )
        sample_files = [replace(run, model=str(name)) for run in sample_files]
    latest: dict[tuple[str, str], _SampleFile] = {}
    for run in sorted(sample_files, key=lambda run: (run.time, str(run.file))):
        earlier = latest.get((run.model, run.task))
        if earlier is not None and options.get("runs") != "latest":
            raise InputError(
                f"the model {shown(run.model)} has two runs of the task {run.task}, this and {earlier.file}",
                file=run.file,
                fix="Move one away, or take the last one with runs=latest",
            )
        latest[run.model, run.task] = run
    return sorted(latest.values(), key=lambda run: (run.task, run.model))


def _run(file: Path) -> _SampleFile:
    stem = file.name[: -len("".join(file.suffixes[-2:]))] if extension(file) != file.suffix else file.stem
    match = _FILE.fullmatch(stem)
    task, time = (match["task"], match["time"] or "") if match else (stem, "")
    return _SampleFile(file, file.absolute().parent.name, task, time)


# --- samples --------------------------------------------------------------------------------------


@dataclass
class _ItemPrompts:
    """What is known of an item: the model met first, the hashes of its document and prompt, and the document.

    ``prompts`` are those of the models, where different ones are allowed.
    """

    model: str
    document_hash: str
    prompt_hash: str
    text: str | None
    prompts: dict[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True)
class _ResponseScore:
    """What a metric or a filter said of a response."""

    run: _SampleFile
    line: int
    item: int
    filter: str
    name: str
    value: Any


@dataclass
class _LmEvalReader:
    """Takes runs, and in the end their scores, whose names depend on how many filters a task has."""

    builder: EvalSetBuilder
    options: Options
    prompts: dict[int, _ItemPrompts] = field(default_factory=dict)
    filters: dict[str, dict[str, None]] = field(default_factory=dict)
    scores: list[_ResponseScore] = field(default_factory=list)
    responded: dict[tuple[int, str], set[str]] = field(default_factory=dict)

    def take_run(self, run: _SampleFile) -> None:
        """Take the lines of a file."""

        def take(line: int, record: dict[str, Any]) -> None:
            self.builder.line = line
            self._take(run, line, LoggedSample(record))

        located(read_records(run.file), run.file, take)

    def _take(self, run: _SampleFile, line: int, sample: LoggedSample) -> None:
        item = self.builder.item(f"{run.task}#{sample.doc_id}", "doc_id")
        # Remember what was asked, and check that every model was asked the same.
        if item not in self.prompts:
            self.prompts[item] = _ItemPrompts(
                run.model, sample.document_hash, sample.prompt_hash, sample.document
            )
            self.builder.source(item, sample.document if sample.prompt is None else sample.prompt)
            self.builder.column(item, "task", run.task)
            self.builder.column(item, "doc_id", sample.record["doc_id"])
            self.builder.column(item, "doc", sample.record.get("doc"))
            if sample.is_written:
                self.builder.reference(item, TARGET, sample.target)
            else:
                self.builder.column(item, TARGET, sample.target)
        earlier = self.prompts[item]
        if earlier.document_hash != sample.document_hash:
            raise InputError(
                f"{self._item_text(item)} is another document than that of the model {shown(earlier.model)}",
                field="doc_hash",
                fix="Run all models on the same version of the task",
            )
        if self.options.get("prompts") == "any":
            earlier.prompts[run.model] = sample.prompt
        elif earlier.prompt_hash != sample.prompt_hash:
            raise InputError(
                f"{self._item_text(item)} has another prompt than that of the model {shown(earlier.model)}",
                field="prompt_hash",
                fix="Give all models the same prompt, or allow different ones with prompts=any",
            )
        filters = self.responded.setdefault((item, run.model), set())
        if sample.filter in filters:
            raise InputError(
                f"{self._item_text(item)} is there twice for the filter {shown(sample.filter)}",
                field="doc_id",
                fix="Keep one of them; if no filter is named, log the samples with a newer harness",
            )
        filters.add(sample.filter)
        self.filters.setdefault(run.task, {})[sample.filter] = None
        if len(filters) == 1:
            self._take_response(run, item, sample)
        scores = {name: value for name, value in sample.metrics.items() if name != _NOT_SCORED}
        if sample.filtered is not None and sample.filtered != sample.response:
            scores["filtered"] = sample.filtered
        self.scores += [
            _ResponseScore(run, line, item, sample.filter, name, value) for name, value in scores.items()
        ]

    def _take_response(self, run: _SampleFile, item: int, sample: LoggedSample) -> None:
        model = self.builder.model(run.model)
        filtered = self.options.get("output") == "filtered" and sample.is_written
        self.builder.output(item, model, sample.filtered if filtered else sample.response, "resps")
        for number, text in enumerate(sample.repeats, 1):
            self.builder.repeat(item, model, number, text, field="resps")
        self.builder.cell(item, model, "log_likelihoods", sample.log_likelihoods)
        for name, value in sample.further.items():
            self.builder.cell(item, model, name, value)

    def _item_text(self, item: int) -> str:
        return f"the item {shown(self.builder.items.names()[item])}"

    # --- in the end ---------------------------------------------------------------------------------------

    def take_scores(self) -> None:
        """Take the scores under their final names."""
        chosen_filter = self._wanted_filter()
        for score in self.scores:
            several = len(self.filters[score.run.task]) > 1
            if several and chosen_filter not in (None, score.filter):
                continue
            name = f"{score.name},{score.filter}" if several and chosen_filter is None else score.name
            try:
                model = self.builder.model(score.run.model)
                if isinstance(score.value, list | dict | str):
                    self.builder.cell(score.item, model, name, score.value)
                else:
                    self.builder.metric(score.item, model, name, score.value, score.name)
            except InputError as error:
                raise error.at(file=score.run.file, line=score.line) from None

    def _wanted_filter(self) -> str | None:
        chosen = self.options.get("filter")
        if chosen is None:
            return None
        for task, filters in self.filters.items():
            if len(filters) > 1 and chosen not in filters:
                raise UnknownNameError(f"filter of the task {task}", str(chosen), filters)
        all_filters = {name for filters in self.filters.values() for name in filters}
        if chosen not in all_filters:
            raise UnknownNameError("filter", str(chosen), sorted(all_filters))
        return str(chosen)

    def take_different_prompts(self) -> None:
        """Where models had different prompts, take the document for the source and keep the prompts."""
        for item, item_prompts in self.prompts.items():
            if len(set(item_prompts.prompts.values())) > 1:
                self.builder.source(item, item_prompts.text)
                for model, prompt in item_prompts.prompts.items():
                    self.builder.cell(item, self.builder.model(model), "prompt", prompt)


# --- One line of lm-evaluation-harness samples ----------------------------------------------------

_FILTER = "filter"
_HARNESS_KEYS = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", _FILTER, "metrics"}
_HARNESS_KEYS |= {"doc_hash", "prompt_hash", "target_hash"}
_TRUTH_VALUES = {"True": 1.0, "False": 0.0}


@dataclass(frozen=True)
class LoggedSample:
    """A document with the requests that were made of it and the responses to them.

    A *request* is a list of arguments: a prompt with settings (the model writes), a context with a
    continuation (its log-likelihood is computed), or a text alone (likewise).
    """

    record: dict[str, Any]

    @cached_property
    def doc_id(self) -> str:
        """The id of the document in its task."""
        if "doc_id" not in self.record:
            raise InputError("the sample has no doc_id", field="doc_id", fix="Log the samples again")
        return as_id(self.record["doc_id"], "doc_id")

    @cached_property
    def filter(self) -> str:
        """The filter of the scores; empty in files of harnesses that did not name it."""
        return as_text(self.record.get(_FILTER), _FILTER) or ""

    @cached_property
    def target(self) -> str | None:
        """The right answer as text."""
        target = self.record.get("target")
        return target if target is None or isinstance(target, str) else _as_json(target)

    @cached_property
    def document(self) -> str | None:
        """The document as text: as it is when it is one, else as JSON."""
        document = self.record.get("doc")
        return document if document is None or isinstance(document, str) else _as_json(document)

    @cached_property
    def document_hash(self) -> str:
        """The hash of the document."""
        return as_text(self.record.get("doc_hash"), "doc_hash") or _digest(self.document)

    @cached_property
    def prompt_hash(self) -> str:
        """The hash of the prompt."""
        return as_text(self.record.get("prompt_hash"), "prompt_hash") or _digest(self.prompt)

    # --- requests and responses -------------------------------------------------------------------------

    @cached_property
    def requests(self) -> list[list[Any]]:
        """The arguments of every request, however the harness's version wrote them."""
        arguments = self.record.get("arguments")
        if not isinstance(arguments, dict):
            return [as_list(request, "arguments") for request in as_list(arguments, "arguments")]
        return [
            list(request.values()) if isinstance(request, dict) else as_list(request, f"arguments.{name}")
            for name, request in arguments.items()
        ]

    @property
    def is_written(self) -> bool:
        """Whether the model wrote the response, rather than being asked how likely a given text is."""
        return not self.requests or (len(self.requests[0]) > 1 and isinstance(self.requests[0][1], dict))

    @cached_property
    def _choices(self) -> list[tuple[str, str, float]]:
        """Context, continuation and log-likelihood of each given answer, where there are several."""
        if self.is_written or any(len(request) < 2 for request in self.requests):
            return []
        responses = as_list(self.record.get("filtered_resps"), "filtered_resps")
        if len(responses) != len(self.requests):
            responses = [_first(response) for response in as_list(self.record.get("resps"), "resps")]
        pairs = zip(self.requests, responses, strict=False)
        answers = [
            (_as_text(context), _as_text(text), _likelihood(back)) for (context, text, *_), back in pairs
        ]
        # An answer alone, without its context, is asked to correct for how likely it is anyway.
        in_context = [choice for choice in answers if choice[0]] or answers
        return in_context if len(in_context) > 1 else []

    @cached_property
    def prompt(self) -> str | None:
        """What the model was shown, when that is one text."""
        if not self.requests or not self.requests[0]:
            return None
        contexts = {context for context, _, _ in self._choices}
        return _as_text(self.requests[0][0]) if len(contexts) <= 1 else None

    @cached_property
    def response(self) -> str | None:
        """What the model wrote, or the answer that it found most likely."""
        if self.is_written:
            return _text_in(self.record.get("resps")) if "resps" in self.record else self.filtered
        if not self._choices:
            return None
        context, text, _ = max(self._choices, key=lambda choice: choice[2])
        # Where the answers are put into the context, the text that follows is the same for all of them.
        return (
            text.strip()
            if len({context for context, _, _ in self._choices}) == 1
            else f"{context}{text}".strip()
        )

    @cached_property
    def repeats(self) -> list[str | None]:
        """What the model wrote each time, where a task asks several times (``repeats``)."""
        texts = _first(self.record.get("resps")) if self.is_written else None
        return [_text_in(text) for text in texts] if isinstance(texts, list) and len(texts) > 1 else []

    @cached_property
    def filtered(self) -> str | None:
        """What the filter made of a written response."""
        return _text_in(self.record.get("filtered_resps")) if self.is_written else None

    @cached_property
    def log_likelihoods(self) -> list[float | None] | None:
        """The log-likelihoods of the given answers, None when there are none."""
        values = [likelihood if math.isfinite(likelihood) else None for _, _, likelihood in self._choices]
        return values or None

    # --- scores -----------------------------------------------------------------------------------------

    @cached_property
    def metrics(self) -> dict[str, Any]:
        """The metrics by name: numbers, or whatever else the harness wrote."""
        names = self.record.get("metrics")
        listed = self.record.keys() - _HARNESS_KEYS if names is None else as_list(names, "metrics")
        return {str(name): _score(self.record.get(name), str(name)) for name in sorted(map(str, listed))}

    @cached_property
    def further(self) -> dict[str, Any]:
        """Fields that are neither the harness's own nor metrics."""
        return {
            name: self.record[name]
            for name in sorted(self.record.keys() - _HARNESS_KEYS - self.metrics.keys())
        }


def _score(value: Any, name: str) -> Any:
    """Return a number where the value means one (numpy's own kinds of numbers come as text)."""
    if isinstance(value, bool):
        return float(value)
    if not isinstance(value, str):
        return value
    if value in _TRUTH_VALUES:
        return _TRUTH_VALUES[value]
    try:
        float(value)
    except ValueError:
        return value
    return parse_number(value, name)


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else value


def _text_in(value: Any) -> str | None:
    """Return the first text in lists of lists, None when there is none."""
    while isinstance(value, list):
        if not value:
            return None
        value = value[0]
    return as_text(value, "resps")


def _likelihood(response: Any) -> float:
    """Return the log-likelihood in a response [log-likelihood, whether it was the likeliest]."""
    value = _first(response)
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError(
            f"{shown(value)} is not a log-likelihood", field="resps", fix="Log the samples again"
        ) from None


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else _as_json(value)


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _digest(text: str | None) -> str:
    return hashlib.sha256((text or "").encode("utf-8", "surrogatepass")).hexdigest()
