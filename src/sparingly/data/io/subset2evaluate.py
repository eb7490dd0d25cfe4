"""The JSON Lines of subset2evaluate: metrics and human scores together under ``scores``.

``{"i": 0, "src": "…", "ref": "…", "tgt": {model: text}, "scores": {model: {name: number}}, "cost": 1.2,
"domain": "news", "doc": "d1", …, "subset2evaluate_utility": 0.3}``, one item a line (or one JSON array).
The file does not say which scores people gave. Unless ``aspects=`` names them, an aspect is ``human``,
a name that starts with ``human_`` (``human_sum``, ``human_coherence``), or one of the names of
protocols of human evaluation in ``PROTOCOLS``; every other score is a metric.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from sparingly.base.catalogue import register
from sparingly.base.errors import InputError, UnknownNameError, UsageError
from sparingly.data import fields, files
from sparingly.data.evalset import EvalSet
from sparingly.data.io.builder import EvalSetBuilder
from sparingly.data.io.format import Format, Head, Options, first_record, located, names_in, read_records
from sparingly.data.io.jsonl import plain, scores_of, texts_of
from sparingly.data.values import as_mapping, as_text

PROTOCOLS = frozenset({"mqm", "esa", "esa_merged", "da", "sqm", "da_sqm", "likert", "xsts", "appraise"})
PROTOCOLS |= {"wmt", "wmt_z", "wmt_raw", "wmt_appraise", "wmt_appraise_z"}
_HUMAN = re.compile(r"human($|[_\W])", re.IGNORECASE)
_OWN_KEYS = ("i", "src", "ref", "tgt", "scores", "doc")
_WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]*")


@register("subset2evaluate")
class Subset2Evaluate(Format):
    """JSON Lines of the package subset2evaluate."""

    summary: ClassVar[str] = "JSON Lines of subset2evaluate: i, src, tgt, scores"
    options: ClassVar[dict[str, str]] = {
        "aspects": "which scores people gave, as a,b (default: found by their names)",
        "ids": 'order: number the items in the order of the file, for files without a unique "i"',
    }
    writes: ClassVar[bool] = True
    carries: ClassVar[frozenset[str]] = frozenset(
        {"metric:*", "aspect:*", "column:*", "sources", "outputs", "references"}
    )

    def recognises(self, head: Head) -> bool:
        """Look for ``tgt`` by model, or for ``i`` with scores or a source."""
        record = first_record(head)
        if record is None or "item" in record:
            return False
        return isinstance(record.get("tgt"), dict) or (
            "i" in record and bool({"scores", "src"} & set(record))
        )

    def read(self, path: Path, options: Options) -> EvalSet:
        """Read the file line by line."""
        ids = options.get("ids")
        if ids not in (None, "order"):
            raise UsageError(
                f'The option ids of the format subset2evaluate is "order" or absent, not "{ids}".'
            )
        builder, by_order = EvalSetBuilder(path), (ids == "order")
        chosen = names_in(options["aspects"]) if "aspects" in options else None
        is_aspect = looks_human if chosen is None else frozenset(chosen).__contains__

        def kind_of(name: str) -> str:
            return "aspect" if is_aspect(name) else "metric"

        def take(line: int, record: dict[str, Any]) -> None:
            builder.line = line
            item = _new_item(builder, record, by_order)
            _take_texts(builder, item, record)
            builder.scores(item, record.get("scores"), "scores", kind_of)
            _take_columns(builder, item, record, (*_OWN_KEYS[1:],) if by_order else _OWN_KEYS)

        located(read_records(path), path, take)
        for name in chosen or ():
            if name not in builder.score_names:
                raise UnknownNameError("score", name, sorted(builder.score_names))
        return builder.build()

    def write(self, data: EvalSet, path: Path) -> None:
        """Write the set in the order of the file that it came from."""
        lines = (json.dumps(record, ensure_ascii=False, allow_nan=False) for record in _records(data))
        files.write_atomically(path, lambda file: file.writelines(f"{line}\n".encode() for line in lines))

    def losses(self, data: EvalSet) -> list[str]:
        """Add what has no place of its own: further references, names that are taken, who gave a score."""
        lost = super().losses(data)
        lost += [fields.metric(name) for name in data.metrics if name in data.aspects]
        lost += [fields.column(name) for name in data.columns if name in _OWN_KEYS]
        return lost + (["references"] if len(data.references) > 1 else []) + _mistaken(data)


@cache
def looks_human(name: str) -> bool:
    """Say whether the name of a score is one that people's scores have."""
    return bool(_HUMAN.match(name)) or re.sub(r"\W", "_", name.lower()) in PROTOCOLS


def _mistaken(data: EvalSet) -> list[str]:
    """Return the scores whose names tell the wrong kind, and how to read all of them as they are."""
    mistaken = [fields.aspect(name) for name in data.aspects if not looks_human(name)]
    mistaken += [
        fields.metric(name) for name in data.metrics if looks_human(name) and name not in data.aspects
    ]
    hint = f"which scores people gave (read it with aspects={','.join(data.aspects)})"
    return [*mistaken, hint] if mistaken else []


def _new_item(builder: EvalSetBuilder, record: dict[str, Any], by_order: bool) -> int:
    if by_order:
        return builder.new_item(str(len(builder.items)), "i")
    if record.get("i") is None:
        raise InputError(
            "the item has no id",
            field="i",
            fix='Add "i" to every line, or load with ids=order to number the items as they come',
        )
    return builder.new_item(record["i"], "i")


def _take_texts(builder: EvalSetBuilder, item: int, record: dict[str, Any]) -> None:
    builder.source(item, as_text(record.get("src"), "src"))
    if (references := record.get("ref")) is not None:
        for place, text in enumerate(references if isinstance(references, list) else [references]):
            if text is not None:
                builder.reference(item, "ref" if place == 0 else f"ref_{place + 1}", as_text(text, "ref"))
    for model, text in as_mapping(record.get("tgt"), "tgt").items():
        builder.output(item, builder.model(model, "tgt"), as_text(text, f"tgt.{model}"))


def _take_columns(
    builder: EvalSetBuilder, item: int, record: dict[str, Any], own_keys: tuple[str, ...]
) -> None:
    if (document := record.get("doc")) is not None:
        if record.get("document", document) != document:
            raise InputError(
                "the item has a doc and another document", field="document", fix="Keep one of them"
            )
        builder.column(item, fields.DOCUMENT, document)
    for name, value in record.items():
        if name not in own_keys:
            builder.column(item, name, value)


def _records(data: EvalSet) -> Iterator[dict[str, Any]]:
    numbers = all(_WHOLE_NUMBER.fullmatch(name) for name in data.items)
    scores = {name: values for name, values in data.metrics.items() if name not in data.aspects}
    scores |= dict(data.aspects)
    columns = {
        "doc" if name == fields.DOCUMENT else name: values
        for name, values in data.columns.items()
        if name not in _OWN_KEYS
    }
    for row in data.file_order:
        record: dict[str, Any] = {"i": int(data.items[row]) if numbers else data.items[row]}
        if data.sources is not None:
            record["src"] = data.sources[row]
        if data.reference_texts is not None:
            record["ref"] = data.reference_texts[row, 0]
        record["tgt"] = texts_of(data, row)
        # Every model is named, because subset2evaluate takes its list of models from here.
        record["scores"] = {model: {} for model in data.models} | scores_of(data.models, scores, row)
        record |= {name: plain(values[row]) for name, values in columns.items()}
        yield {name: value for name, value in record.items() if value is not None}
