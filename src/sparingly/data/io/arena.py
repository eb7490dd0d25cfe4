"""Arena-style pairs: one row a comparison, ``{"model_a", "model_b", "winner", …}``, as JSON or CSV.

JSON Lines, a JSON array, or CSV and TSV. ``winner`` is ``model_a``, ``model_b``, ``tie``, ``tie (bothbad)``
or ``both_bad`` (or it is spread over ``winner_model_a``, ``winner_model_b``, ``winner_tie``); any other
outcome is an error and never a tie. An empty one is counted in its item's column ``missing_preferences``.
The item is the ``question_id``; without one, a digest of the prompt (``prompt``, or what the user says in
``conversation_a``); without one, the conversation's or battle's own id. ``judge`` (or ``user``) is the rater.
The outputs are ``response_a`` and ``response_b``, or what the assistant says in the conversations. Whatever
else a row holds (``turn``, ``tstamp`` …) stays with the preference; ``language`` and the like describe the
item.
"""

from __future__ import annotations

import json
import math
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

from sparingly.base.catalogue import register
from sparingly.base.errors import InputError, UsageError
from sparingly.data.evalset import EvalSet
from sparingly.data.io.builder import EvalSetBuilder
from sparingly.data.io.format import (
    MISSING_PREFERENCES,
    Head,
    Options,
    Record,
    digest_id,
    first_record,
    located,
    read_records,
    take_rows,
)
from sparingly.data.io.log import LogFormat
from sparingly.data.values import as_id, as_text, shown

WINNERS = {"model_a": 1.0, "model_b": -1.0, "tie": 0.0}
BOTH_BAD = frozenset({"tie (bothbad)", "tie (both bad)", "both_bad", "bothbad"})
_SPREAD = {"winner_model_a": 1.0, "winner_model_b": -1.0, "winner_tie": 0.0}
_OWN_IDS = ("conversation_id", "conv_id", "battle_id", "evaluation_session_id", "id")
_RATERS = ("judge", "judge_hash", "rater", "user", "user_id")
_OF_ITEM = ("language", "domain", "category", "dataset")
_TEXTS = ("prompt", "response_a", "response_b", "conversation_a", "conversation_b")
_OWN_KEYS = frozenset({"question_id", "model_a", "model_b", "winner", *_SPREAD, *_TEXTS, *_OF_ITEM})


@register("arena")
class Arena(LogFormat):
    """Comparisons of two models, one a row."""

    summary: ClassVar[str] = "arena-style pairs: model_a, model_b, winner (JSON, JSON Lines, CSV)"
    terms: ClassVar[dict[str, str]] = {
        "item": "question_id",
        "input": "prompt",
        "output": "response",
        "model": "model_a, model_b",
        "preference": "winner",
    }
    options: ClassVar[dict[str, str]] = {
        "item": "the field that names the item (otherwise question_id, the prompt, or the conversation's id)",
        "ids": "order: every row is an item of its own, for files that say nothing of the prompt",
    }

    def recognises(self, head: Head) -> bool:
        """Look for two models and a winner."""
        record = first_record(head)
        keys = set(record) if record is not None else set(head.header if _is_table(head) else ())
        return {"model_a", "model_b"} <= keys and ("winner" in keys or set(_SPREAD) <= keys)

    def read(self, path: Path, options: Options) -> EvalSet:
        """Read the rows one by one."""
        reader = _ArenaReader(EvalSetBuilder(path), options)
        if _is_table(Head(path)):
            take_rows(path, reader.take)
        else:
            located(read_records(path), path, reader.take)
        return reader.finish()


def _is_table(head: Head) -> bool:
    return not head.is_directory and not head.start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"[", b"{"))


class _ArenaReader:
    """Puts the rows together: one item for each prompt, one output for each item and model."""

    def __init__(self, builder: EvalSetBuilder, options: Options) -> None:
        self.builder, self.item_field = builder, options.get("item")
        self.by_order = options.get("ids") == "order"
        if options.get("ids") not in (None, "order"):
            raise UsageError(
                f'The option ids of the format arena is "order" or absent, not "{options["ids"]}".'
            )
        self.sources: dict[int, str] = {}
        self.outputs: dict[tuple[int, int], str] = {}
        self.missing: dict[int, int] = {}
        self.described: dict[tuple[int, str], Any] = {}
        self.rows = 0

    def take(self, line: int, record: Record) -> None:
        """Take one comparison."""
        self.builder.line = line
        self.rows += 1
        for key in ("model_a", "model_b"):
            if record.get(key) is None:
                raise InputError(f"the row has no {key}", field=key, fix="Name both models of every row")
        source = _prompt(record)
        item = self.builder.item(self._id(record, source), self.item_field or "question_id")
        extra = {
            name: value for name, value in record.items() if name not in _OWN_KEYS and name != self.item_field
        }
        extra |= self._take_source(item, source, record)
        extra |= self._take_outputs(item, record) | self._take_descriptions(item, record)
        value = outcome(record)
        if value is None:
            self.missing[item] = self.missing.get(item, 0) + 1
            return
        if record.get("winner") in BOTH_BAD:
            extra["winner"] = record["winner"]
        rater = next((name for name in _RATERS if record.get(name) is not None), None)
        ids = record[rater] if rater else None
        self.builder.preference(
            item,
            record["model_a"],
            record["model_b"],
            value,
            rater=", ".join(map(str, ids)) if isinstance(ids, list) else as_id(ids, rater) if rater else None,
            extra={name: content for name, content in extra.items() if name != rater},
        )

    def finish(self) -> EvalSet:
        """Return the evaluation set."""
        for item, count in self.missing.items():
            self.builder.column(item, MISSING_PREFERENCES, count)
        for (item, name), value in self.described.items():
            self.builder.column(item, name, value)
        return self.builder.build()

    def _id(self, record: Record, source: str | None) -> Any:
        if self.by_order:
            return f"row-{self.rows:06d}"
        if self.item_field is not None:
            if record.get(self.item_field) is None:
                raise InputError("the row does not name its item", field=self.item_field)
            return record[self.item_field]
        if record.get("question_id") is not None:
            return record["question_id"]
        if source is not None:
            return digest_id("prompt", source)
        for name in _OWN_IDS:
            if record.get(name) is not None:
                return record[name]
        raise InputError(
            "nothing says which item was compared",
            field="question_id",
            fix="Add question_id or prompt, name the field with item=…, or load with ids=order",
        )

    def _take_source(self, item: int, source: str | None, record: Record) -> Record:
        """Take the prompt; return it when it differs from what the item's first row says."""
        if source is None or self.sources.setdefault(item, source) == source:
            self.builder.source(item, source)
            return {}
        key = "prompt" if record.get("prompt") is not None else "conversation_a"
        return {key: record[key]}

    def _take_outputs(self, item: int, record: Record) -> Record:
        """Take both outputs; return the texts that differ from what the model wrote before for the item."""
        differing = {}
        for side in ("a", "b"):
            model = self.builder.model(record[f"model_{side}"], f"model_{side}")
            key = f"response_{side}" if record.get(f"response_{side}") is not None else f"conversation_{side}"
            turns = _turns(record.get(key), key) if key.startswith("conversation") else []
            text = _text_by_role(turns, "assistant", key) if turns else as_text(record.get(key), key)
            if text is None:
                continue
            if (item, model) not in self.outputs:
                self.outputs[item, model] = text
                self.builder.output(item, model, text, key)
                if len(turns) > 2:
                    self.builder.cell(item, model, "conversation", turns)
            elif self.outputs[item, model] != text:
                differing[key] = record[key]
        return differing

    def _take_descriptions(self, item: int, record: Record) -> Record:
        """Take what describes the item; return what contradicts an earlier row."""
        differing = {}
        for name in _OF_ITEM:
            value = record.get(name)
            if value is not None and name != self.item_field:
                earlier = self.described.setdefault((item, name), value)
                if earlier != value:
                    differing[name] = value
        return differing


def outcome(record: Record) -> float | None:
    """Return 1 when model_a wins, -1 when model_b does, 0 for a tie, None when nobody decided."""
    if "winner" not in record and any(name in record for name in _SPREAD):
        won = [
            value for name, value in _SPREAD.items() if str(record.get(name)).lower() in ("1", "1.0", "true")
        ]
        if len(won) != 1:
            raise InputError(
                f"{len(won)} outcomes are marked",
                field=", ".join(_SPREAD),
                fix="Mark exactly one of them with 1",
            )
        return won[0]
    winner = record.get("winner")
    if winner is None or (isinstance(winner, float) and math.isnan(winner)):
        return None
    if isinstance(winner, str) and winner in BOTH_BAD:
        return 0.0
    if not isinstance(winner, str) or winner not in WINNERS:
        raise InputError(
            f"{shown(winner)} is not an outcome",
            field="winner",
            fix=f"Write one of {', '.join(WINNERS)}, tie (bothbad), or leave it empty",
        )
    return WINNERS[winner]


def _prompt(record: Record) -> str | None:
    if record.get("prompt") is not None:
        return as_text(record["prompt"], "prompt")
    return _text_by_role(_turns(record.get("conversation_a"), "conversation_a"), "user", "conversation_a")


def _turns(value: Any, field: str) -> list[Record]:
    """Return the turns of a conversation, which in CSV is JSON inside a text."""
    if isinstance(value, str):
        with suppress(json.JSONDecodeError):
            value = json.loads(value)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(turn, dict) for turn in value):
        raise InputError(
            f"{shown(value)} is not a conversation", field=field, fix='Write [{"role", "content"}, …]'
        )
    return value


def _text_by_role(turns: list[Record], role: str, field: str) -> str | None:
    """Return what one side says in a conversation, its turns joined by blank lines."""
    texts = [_content(turn, field) for turn in turns if turn.get("role") == role]
    return "\n\n".join(texts) if texts else None


def _content(turn: Record, field: str) -> str:
    content = turn.get("content")
    if isinstance(content, list):
        # Newer exports split a message into parts; those that are not text have no words to show.
        content = "\n".join(
            str(part["text"]) for part in content if isinstance(part, dict) and part.get("text")
        )
    return as_text(content, f"{field}.content") or ""
