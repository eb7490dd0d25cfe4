"""Traces of MLflow with their assessments: a local SQLite store (``mlflow.db``), or an export of traces.

A trace is an output: the inputs and outputs of its root span. The source of feedback says who gave it: HUMAN
is a rating, LLM_JUDGE and CODE are metrics; expectations are references. Feedback that a later one replaced
is left out, but what a judge said before a person corrected it stays. The model is the first of these that
every trace has: the tag ``model``, the logged model, the model that its spans called, its run. Traces of
several models with the same inputs are items by input; otherwise every trace is an item.

An export is a list or JSON Lines of ``trace.to_dict()``, or the table of ``mlflow.search_traces()``.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sparingly.base.catalogue import register
from sparingly.base.errors import InputError
from sparingly.base.lazy import LazyModule
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

if TYPE_CHECKING:
    import sqlite3
else:
    sqlite3 = LazyModule("sqlite3")

_SQLITE = b"SQLite format 3\x00"
_MODEL_TAGS = ("model", "model_name", "model_id")


@register("mlflow")
class MlflowTraces(LogFormat):
    """Traces and assessments of MLflow."""

    summary: ClassVar[str] = "MLflow's traces with assessments: a SQLite store, or an export as JSON or CSV"
    terms: ClassVar[dict[str, str]] = {"input": "inputs", "output": "outputs", "epoch": "trace"}
    options: ClassVar[dict[str, str]] = {
        "model": "the tag or the metadata of a trace that names the model",
        "experiment": "the name of the experiment, where the store has several",
        **LOG_OPTIONS,
    }

    def recognises(self, head: Head) -> bool:
        """Look for the table of traces in a store, or for a trace with its info."""
        if head.start.startswith(_SQLITE):
            with closing(_connect(head.path)) as store:
                return bool(store.execute("SELECT 1 FROM sqlite_master WHERE name = 'trace_info'").fetchall())
        if head.content.startswith((b"{", b"[")):
            record = next(iter(_traces(head)), None) if b'"traces"' in head.start else first_record(head)
            info = _trace(record or {}).get("info")
            return isinstance(info, dict) and bool({"trace_id", "request_id"} & info.keys())
        return {"trace_id", "trace", "assessments"} <= set(head.header)

    def read(self, path: Path, options: Options) -> EvalSet:
        """Read the traces of a store or of an export."""
        start = Head(path)
        traces: list[dict[str, Any]] = []
        if start.start.startswith(_SQLITE):
            with closing(_connect(path)) as store:
                traces += _stored(store, path, options.get("experiment"))
        elif listed := _traces(start):
            traces += map(_trace, listed)
        elif start.content.startswith((b"{", b"[")):
            traces += [_trace(record) for _, record in read_records(path)]
        else:
            take_rows(path, lambda _, row: traces.append(_trace(row)))
        outputs, roles = _outputs(traces, path, options)
        return assemble(path, outputs, options, roles)


def _traces(head: Head) -> list[dict[str, Any]]:
    """Return the traces of one object that lists them, as MLflow's API answers."""
    listed = head.document.get("traces") if isinstance(head.document, dict) else None
    return [as_mapping(trace, "traces") for trace in listed] if isinstance(listed, list) else []


def _trace(record: dict[str, Any]) -> dict[str, Any]:
    """Return a trace: a record, or what it has in its column."""
    trace = decoded(record.get("trace", record))
    return trace if isinstance(trace, dict) else {}


# --- The store ------------------------------------------------------------------------------------

_EXPERIMENTS = "SELECT DISTINCT name, experiment_id FROM experiments JOIN trace_info USING (experiment_id)"
_PROPERTIES = (
    "SELECT key, value FROM trace_tags WHERE request_id = ?",
    "SELECT key, value FROM trace_request_metadata WHERE request_id = ?",
)


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)


def _stored(store: sqlite3.Connection, path: Path, experiment: str | None) -> Iterator[dict[str, Any]]:
    """Yield the traces of a store as MLflow exports them."""
    store.row_factory = sqlite3.Row
    try:
        experiments = {row["name"]: row["experiment_id"] for row in store.execute(_EXPERIMENTS)}
        if experiment not in experiments and (experiment is not None or len(experiments) > 1):
            raise InputError(
                f"there are traces of the experiments {', '.join(sorted(experiments))}",
                file=path,
                fix=f"Name one: -S {shlex.quote(f'experiment={min(experiments)}')}",
            )
        runs = {row["run_uuid"]: row["name"] for row in store.execute("SELECT run_uuid, name FROM runs")}
        tables = {row["name"] for row in store.execute("SELECT name FROM sqlite_master")}
        wanted = experiments.get(experiment) if experiment else next(iter(experiments.values()), None)
        for trace in store.execute(
            "SELECT * FROM trace_info WHERE experiment_id = ? ORDER BY timestamp_ms, request_id", (wanted,)
        ).fetchall():
            key = (trace["request_id"],)
            tags, metadata = (
                {row["key"]: row["value"] for row in store.execute(query, key)} for query in _PROPERTIES
            )
            spans = (
                store.execute("SELECT content FROM spans WHERE trace_id = ?", key)
                if "spans" in tables
                else ()
            )
            feedback = (
                store.execute("SELECT * FROM assessments WHERE trace_id = ? ORDER BY created_timestamp", key)
                if "assessments" in tables
                else ()
            )
            if (run := metadata.get("mlflow.sourceRun")) in runs:
                metadata["mlflow.sourceRun"] = runs[run]
            columns = trace.keys()
            yield {
                "info": {
                    "trace_id": trace["request_id"],
                    "client_request_id": trace["client_request_id"]
                    if "client_request_id" in columns
                    else None,
                    "tags": tags,
                    "trace_metadata": metadata,
                    "assessments": [
                        {
                            "assessment_name": row["name"],
                            "source": {"source_type": row["source_type"], "source_id": row["source_id"]},
                            row["assessment_type"]: {"value": decoded(row["value"])},
                            "rationale": row["rationale"],
                            "valid": bool(row["valid"]),
                        }
                        for row in feedback
                    ],
                },
                "data": {"spans": [decoded(row["content"]) for row in spans] or _artifact(tags, path)},
            }
    except (sqlite3.DatabaseError, IndexError) as error:
        raise InputError(f"the store cannot be read ({error})", file=path) from None


def _artifact(tags: dict[str, Any], path: Path) -> list[Any]:
    """Return the spans of a trace that older versions keep in a file of their own."""
    location = str(tags.get("mlflow.artifactLocation") or "").removeprefix("file://")
    file = path.parent / location / "traces.json"
    if not location or not file.is_file():
        raise InputError(
            "the store does not hold the texts of its traces",
            file=file if location else path,
            fix="Copy the folder of artifacts too, or export the traces: mlflow.search_traces().to_json(…)",
        )
    return as_list(as_mapping(files.read_json(file), "").get("spans"), "spans")


# --- Traces ---------------------------------------------------------------------------------------


def _outputs(
    traces: list[dict[str, Any]], path: Path, options: Options
) -> tuple[list[LoggedOutput], TableRoles]:
    outputs, models = [], []
    for place, trace in enumerate(traces):
        spot = f"traces[{place}]"
        info = as_mapping(trace.get("info"), f"{spot}.info")
        spans = [
            as_mapping(span, spot) for span in as_list(as_mapping(trace.get("data"), spot).get("spans"), spot)
        ]
        root = next((span for span in spans if not (span.get("parent_span_id") or span.get("parent_id"))), {})
        attributes = as_mapping(root.get("attributes"), spot)
        metadata = as_mapping(info.get("trace_metadata") or info.get("request_metadata"), spot)
        tags = as_mapping(info.get("tags"), spot)
        models.append(_model_names(tags, metadata, spans, options))
        assessments = [
            as_mapping(value, spot) for value in as_list(info.get("assessments"), f"{spot}.assessments")
        ]
        expected = {
            _assessment_name(value): _expected(as_mapping(value["expectation"], spot))
            for value in assessments
            if value.get("expectation")
        }
        outputs.append(
            LoggedOutput(
                item=info.get("client_request_id") or info.get("trace_id") or info.get("request_id"),
                model="",
                source=readable(decoded(attributes.get("mlflow.spanInputs", info.get("request_preview")))),
                output=readable(decoded(attributes.get("mlflow.spanOutputs", info.get("response_preview")))),
                scores=list(_scores(assessments, spot)),
                references={name: value for name, value in expected.items() if isinstance(value, str)},
                columns={name: value for name, value in expected.items() if not isinstance(value, str)}
                | {name: value for name, value in tags.items() if not name.startswith("mlflow.")},
                place=spot,
            )
        )
    return with_models(outputs, models, path.stem)


def _model_names(
    tags: dict[str, Any], metadata: dict[str, Any], spans: list[dict[str, Any]], options: Options
) -> dict[str, str | None]:
    """Return what may name the model of a trace, the likeliest first."""
    if option := options.get("model"):
        return {"option": tags.get(option) or metadata.get(option)}
    models = {
        str(decoded(name))
        for span in spans
        for key in ("mlflow.llm.model", "gen_ai.request.model", "mlflow.chat.model")
        if (name := as_mapping(span.get("attributes"), "attributes").get(key))
    }
    return {
        **{tag: tags.get(tag) for tag in _MODEL_TAGS},
        "logged model": metadata.get("mlflow.modelId"),
        "called": next(iter(models)) if len(models) == 1 else None,
        "run": metadata.get("mlflow.sourceRun"),
    }


def _expected(expectation: dict[str, Any]) -> Any:
    """Return what was expected; lists and objects are JSON inside a text."""
    packed = expectation.get("serialized_value")
    return decoded(packed.get("value")) if isinstance(packed, dict) else expectation.get("value")


def _assessment_name(assessment: dict[str, Any]) -> str:
    return str(assessment.get("assessment_name") or assessment.get("name"))


def _scores(assessments: list[dict[str, Any]], spot: str) -> Iterator[LogScore]:
    scores = []
    for assessment in assessments:
        if assessment.get("feedback") is None:
            continue
        source = as_mapping(assessment.get("source"), spot)
        score = LogScore(
            _assessment_name(assessment),
            as_mapping(assessment["feedback"], spot).get("value"),
            source.get("source_type") == "HUMAN",
            source.get("source_id"),
            assessment.get("rationale"),
        )
        scores.append((score, assessment.get("valid") is not False))
    valid = {(score.name, score.by_person) for score, is_valid in scores if is_valid}
    for score, is_valid in scores:
        if is_valid or (score.name, score.by_person) not in valid:
            yield score
