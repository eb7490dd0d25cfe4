"""Traces of Langfuse with their scores, exported from its pages, API or SDK as JSON, JSON Lines or CSV.

A trace is an output: its ``input`` and ``output``, each a text, chat messages or an object. Of its scores,
those whose source is ANNOTATION are ratings of people, those of EVAL and API are metrics. In an export from
the pages scores are columns beside the trace and do not say who gave them: ``aspects=`` names those of
people. The model is the first of these that every trace has: ``model`` in the metadata, the model of its
generations, its version, its release, its name. Traces of several models with the same inputs are items by
input; otherwise every trace is an item.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from sparingly.base.catalogue import register
from sparingly.data import files
from sparingly.data.evalset import EvalSet
from sparingly.data.io.format import Head, Options, first_record, read_records, take_rows
from sparingly.data.io.log import (
    LOG_OPTIONS,
    LogFormat,
    LoggedOutput,
    LogScore,
    assemble,
    decoded,
    readable,
    with_models,
)
from sparingly.data.roles import TableRoles
from sparingly.data.values import as_list, as_mapping

# What a trace has beside its scores.
_OWN = {
    *("id", "projectId", "timestamp", "createdAt", "updatedAt", "name", "userId", "sessionId", "release"),
    *(
        "version",
        "environment",
        "tags",
        "bookmarked",
        "public",
        "input",
        "output",
        "metadata",
        "observations",
    ),
    *("observationCount", "scores", "htmlPath", "latency", "usage", "cost", "level", "levels", "errorCount"),
    *(
        "warningCount",
        "defaultCount",
        "debugCount",
        "inputTokens",
        "outputTokens",
        "totalTokens",
        "inputCost",
    ),
    *("outputCost", "totalCost", "promptTokens", "completionTokens", "usageDetails", "costDetails"),
    *("externalId", "isDeleted"),
}
_MARKS = {"timestamp", "sessionId", "userId", "bookmarked", "htmlPath", "observations", "release", "public"}
_SOURCES = (b"ANNOTATION", b'"EVAL"', b'"API"')


@register("langfuse")
class LangfuseTraces(LogFormat):
    """Traces and scores of Langfuse."""

    summary: ClassVar[str] = "Langfuse's traces with scores, as JSON, JSON Lines or CSV"
    terms: ClassVar[dict[str, str]] = {"input": "input", "output": "output", "epoch": "trace"}
    options: ClassVar[dict[str, str]] = {
        "model": "the field of the metadata that names the model",
        **LOG_OPTIONS,
    }

    def recognises(self, head: Head) -> bool:
        """Look for the fields of a trace."""
        if head.content.startswith((b"{", b"[")):
            record = first_record(head)
            if record is not None and isinstance(record.get("data"), list) and record["data"]:
                record = record["data"][0]
            names = set(map(_camel, record)) if isinstance(record, dict) else set()
        else:
            names = set(map(_camel, head.header))
        # Words for who gave a score, which no other tool uses so.
        scored = "scores" in names and any(source in head.start for source in _SOURCES)
        return {"id", "input", "output"} <= names and (scored or len(names & _MARKS) >= 3)

    def read(self, path: Path, options: Options) -> EvalSet:
        """Read the traces."""
        head = Head(path)
        traces: list[dict[str, Any]] = []
        if not head.content.startswith((b"{", b"[")):
            take_rows(
                path, lambda _, row: traces.append({name: decoded(value) for name, value in row.items()})
            )
        elif isinstance(head.document, dict) and isinstance(head.document.get("data"), list):
            traces += [as_mapping(trace, "data") for trace in files.read_json(path)["data"]]
        elif isinstance(head.document, dict):
            traces.append(head.document)
        else:
            traces += [record for _, record in read_records(path)]
        outputs, roles = _outputs(traces, path, options)
        return assemble(path, outputs, options, roles)


def _camel(name: str) -> str:
    first, *words = name.split("_")
    return first + "".join(word.capitalize() for word in words)


def _outputs(
    traces: list[dict[str, Any]], path: Path, options: Options
) -> tuple[list[LoggedOutput], TableRoles]:
    outputs, models = [], []
    for place, record in enumerate(traces):
        spot, trace = f"trace {place + 1}", {_camel(name): value for name, value in record.items()}
        metadata = decoded(trace.get("metadata"))
        metadata = metadata if isinstance(metadata, dict) else {}
        calls = [step for step in as_list(decoded(trace.get("observations")), spot) if isinstance(step, dict)]
        names = {str(call["model"]) for call in calls if call.get("model")}
        key = str(options.get("model") or "model")
        models.append(
            {"metadata": metadata.get(key)}
            if "model" in options
            else {
                "metadata": metadata.get("model"),
                "called": next(iter(names)) if len(names) == 1 else None,
                **{name: trace.get(name) for name in ("version", "release", "name")},
            }
        )
        scores = decoded(trace.get("scores"))
        # A list of traces from the API holds the ids of scores, which say nothing.
        listed = [
            {_camel(name): value for name, value in score.items()}
            for score in (scores if isinstance(scores, list) else [])
            if isinstance(score, dict)
        ]
        extra = {name: value for name, value in record.items() if _camel(name) not in _OWN}
        extra |= scores if isinstance(scores, dict) else {}
        outputs.append(
            LoggedOutput(
                item=trace.get("id"),
                model="",
                source=readable(decoded(trace.get("input"))),
                output=readable(decoded(trace.get("output"))),
                scores=[
                    LogScore(
                        str(score.get("name")),
                        _score_value(score),
                        score.get("source") == "ANNOTATION",
                        score.get("authorUserId") if score.get("source") == "ANNOTATION" else None,
                        score.get("comment") or None,
                    )
                    for score in listed
                ]
                + [
                    LogScore(name, value)
                    for name, values in extra.items()
                    for value in (values if isinstance(values, list) else [values])
                ],
                columns=metadata,
                place=spot,
            )
        )
    return with_models(outputs, models, path.stem)


def _score_value(score: dict[str, Any]) -> Any:
    if score.get("dataType") == "BOOLEAN":
        return bool(score.get("value"))
    return (
        score.get("stringValue")
        if score.get("value") is None or score.get("dataType") == "CATEGORICAL"
        else score["value"]
    )
