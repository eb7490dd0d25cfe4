"""Files as the tools give them back, made from the files that were exported and from what raters answer."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sparingly.run.exchange.tasks import Tasks
from sparingly.run.forms.spans import Span

SIDES = {1.0: "left", 0.0: "tie", -1.0: "right"}


@dataclass(frozen=True)
class Answers:
    """What raters answer, by task: a score per token and aspect, a side, ranks, or spans per token."""

    tasks: Tasks
    score: Callable[[str, str, str], float]

    @property
    def places(self) -> list[tuple[int, str]]:
        """The aspects with their numbers."""
        return list(enumerate(self.tasks.aspects, 1))

    def side(self, task: str, aspect: str) -> float:
        """Return which side is better."""
        return float(round(self.score(task, "", aspect)) % 3 - 1)

    def ranks(self, task: str, aspect: str) -> dict[str, int]:
        """Return an order of the tokens of a task."""
        tokens = list(self.tasks.key.questions[task].by_token)
        order = sorted(tokens, key=lambda token: (self.score(task, token, aspect), token))
        return {token: rank for rank, token in enumerate(order, 1)}

    def spans(self, task: str, token: str) -> list[Span]:
        """Return one or two spans of an output."""
        length = self.tasks.key.questions[task].by_token[token].letters or 0
        marks = [Span(0, 1, "minor")]
        return marks if length < 4 else [*marks, Span(length - 2, length, "major")]


# --- Label Studio -------------------------------------------------------------------------------------


def label_studio(files: list[Path], answers: Answers, rater: int = 7) -> list[Path]:
    """Return exports of Label Studio in the form JSON."""
    written = []
    for path in files:
        if path.suffix != ".json":
            continue
        entries = [
            {
                "id": number,
                "data": task["data"],
                "annotations": [
                    {
                        "id": 100 + number,
                        "completed_by": rater,
                        "result": label_studio_results(task["data"], answers),
                        "was_cancelled": False,
                        "ground_truth": False,
                        "lead_time": 30.0,
                        "created_at": "2026-11-16T10:00:00.000000Z",
                        "updated_at": "2026-11-16T10:01:00.000000Z",
                    }
                ],
                "drafts": [],
                "predictions": [],
                "project": 1,
            }
            for number, task in enumerate(json.loads(path.read_text(encoding="utf-8")), 1)
        ]
        written.append(_put(path.with_name(f"export-{path.name}"), entries))
    return written


def label_studio_min(files: list[Path], answers: Answers, rater: int = 7) -> list[Path]:
    """Return exports in the form JSON_MIN: choices and texts by themselves, other values in lists."""
    written = []
    for path in label_studio(files, answers, rater):
        flat = []
        for entry in json.loads(path.read_text(encoding="utf-8")):
            for annotation in entry["annotations"]:
                values: dict[str, list[Any]] = {}
                for result in annotation["result"]:
                    held = result["value"]
                    choice = held["choices"][0] if result["type"] == "choices" else held
                    values.setdefault(result["from_name"], []).append(choice)
                plain = {name: held[0] if isinstance(held[0], str) else held for name, held in values.items()}
                meta = {"annotator": rater, "annotation_id": annotation["id"], "lead_time": 30.0}
                flat.append({**entry["data"], "id": entry["id"], **plain, **meta})
        written.append(_put(path.with_name(f"min-{path.name}"), flat))
    return written


def label_studio_results(data: Mapping[str, Any], answers: Answers) -> list[dict[str, Any]]:
    """Return the results of one annotation."""
    makers = {"score": _scores, "spans": _scores, "pair": _sides, "ranking": _rankings}
    return makers[answers.tasks.kind](data, answers)


def _result(name: str, to: str, kind: str, value: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": "x", "from_name": name, "to_name": to, "type": kind, "value": dict(value)}


def _scores(data: Mapping[str, Any], answers: Answers) -> list[dict[str, Any]]:
    found = []
    for slot in range(1, 1 + sum(name.startswith("token_") for name in data)):
        token, to = data[f"token_{slot}"], f"output_{slot}"
        if not token:
            continue
        for place, aspect in answers.places:
            value = {"number": answers.score(data["task"], token, aspect)}
            found.append(_result(f"score_{place}_{slot}", to, "number", value))
        for span in answers.spans(data["task"], token) if answers.tasks.kind == "spans" else ():
            text = data[to]
            start, end = (len(text[:at].encode("utf-16-le")) // 2 for at in (span.start, span.end))
            value = {"start": start, "end": end, "text": text[span.start : span.end]}
            found.append(_result(f"spans_{slot}", to, "labels", {**value, "labels": [span.severity]}))
    return found


def _sides(data: Mapping[str, Any], answers: Answers) -> list[dict[str, Any]]:
    return [
        _result(f"preference_{place}", "output_1", "choices",
                {"choices": [SIDES[answers.side(data["task"], aspect)]]})
        for place, aspect in answers.places
    ]  # fmt: skip


def _rankings(data: Mapping[str, Any], answers: Answers) -> list[dict[str, Any]]:
    found = []
    for place, aspect in answers.places:
        ranks = answers.ranks(data["task"], aspect)
        order = sorted(ranks, key=lambda token: ranks[token])
        found.append(_result(f"ranking_{place}", "outputs", "ranker", {"ranker": {"_": order}}))
    return found


# --- Argilla ------------------------------------------------------------------------------------------


def argilla_values(record: Mapping[str, Any], answers: Answers) -> dict[str, Any]:
    """Return what one user answers to every question about a record."""
    task, held = record["id"], record["metadata"]
    tokens = {
        int(name.removeprefix("token_")): token for name, token in held.items() if name.startswith("token_")
    }
    if answers.tasks.kind == "pair":
        return {f"preference_{place}": SIDES[answers.side(task, aspect)] for place, aspect in answers.places}
    if answers.tasks.kind == "ranking":
        return {
            f"ranking_{place}": [
                {"value": f"output_{slot}", "rank": answers.ranks(task, aspect)[token]}
                for slot, token in tokens.items()
            ]
            for place, aspect in answers.places
        }
    values: dict[str, Any] = {
        f"score_{place}_{slot}": answers.score(task, token, aspect)
        for slot, token in tokens.items()
        for place, aspect in answers.places
    }
    if answers.tasks.kind == "spans":
        for slot, token in tokens.items():
            values[f"spans_{slot}"] = [
                {"start": span.start, "end": span.end, "label": span.severity}
                for span in answers.spans(task, token)
            ]
    return values


def argilla(files: list[Path], answers: Answers, rater: str = "user-1") -> list[Path]:
    """Return records with nested responses."""
    written = []
    for path in _records(files):
        records = json.loads(path.read_text(encoding="utf-8"))
        for record in records:
            values = argilla_values(record, answers)
            record["responses"] = {
                name: [{"value": value, "user_id": rater}] for name, value in values.items()
            }
            record["status"] = "completed"
        written.append(_put(path.with_name(f"export-{path.name}"), records))
    return written


def argilla_flat(files: list[Path], answers: Answers, rater: str = "user-1") -> list[Path]:
    """Return records in the flattened form, with the status of every response."""
    written = []
    for path in _records(files):
        rows = []
        for record in json.loads(path.read_text(encoding="utf-8")):
            row = {"id": record["id"], **record["fields"], **record["metadata"], "status": "completed"}
            for name, value in argilla_values(record, answers).items():
                row[f"{name}.responses"] = [value]
                row[f"{name}.responses.users"] = [rater]
                row[f"{name}.responses.status"] = ["submitted"]
            rows.append(row)
        text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
        target = path.with_name(f"flat-{path.stem}.jsonl")
        target.write_text(text, encoding="utf-8")
        written.append(target)
    return written


def _records(files: list[Path]) -> list[Path]:
    return [path for path in files if path.name != "settings.json"]


# --- Prodigy ------------------------------------------------------------------------------------------


def prodigy(files: list[Path], answers: Answers, rater: str = "session-1") -> list[Path]:
    """Return lines as ``db-out`` writes them."""
    written = []
    for path in files:
        lines = []
        for line in path.read_text(encoding="utf-8").rstrip("\n").split("\n"):
            row = json.loads(line)
            meta = row["meta"]
            if answers.tasks.kind == "spans":
                row["spans"] = [
                    {"start": span.start, "end": span.end, "label": span.severity}
                    for span in answers.spans(meta["task"], meta["token"])
                ]
            elif answers.tasks.kind == "pair":
                row["accept"] = [SIDES[answers.side(meta["task"], meta["aspect"])]]
            else:
                row["accept"] = [f"{answers.score(meta['task'], meta['token'], meta['aspect']):g}"]
            row |= {"answer": "accept", "_annotator_id": rater, "_timestamp": 1_790_000_000}
            lines.append(json.dumps(row, ensure_ascii=False))
        target = path.with_name(f"out-{path.name}")
        target.write_text("\n".join(lines) + "\n", encoding="utf-8")
        written.append(target)
    return written


# --- CSV ----------------------------------------------------------------------------------------------


def csv_table(files: list[Path], answers: Answers, rater: str = "Zoë") -> list[Path]:
    """Return tables filled in."""
    written = []
    for path in files:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            row["rater"] = rater
            for _, aspect in answers.places:
                row[aspect] = _cell(row, answers, aspect)
            if answers.tasks.kind == "spans":
                marks = answers.spans(row["task"], row["token"])
                row["spans"] = json.dumps([span.to_dict() for span in marks])
        target = path.with_name(f"filled-{path.name}")
        with target.open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        written.append(target)
    return written


def _cell(row: Mapping[str, str], answers: Answers, aspect: str) -> str:
    if answers.tasks.kind == "pair":
        return SIDES[answers.side(row["task"], aspect)]
    if answers.tasks.kind == "ranking":
        return str(answers.ranks(row["task"], aspect)[row["token"]])
    return f"{answers.score(row['task'], row['token'], aspect):g}"


def _put(path: Path, values: Any) -> Path:
    path.write_text(json.dumps(values, ensure_ascii=False), encoding="utf-8")
    return path
