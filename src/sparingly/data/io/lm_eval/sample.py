"""One line of lm-evaluation-harness samples: what was asked, what came back, and what the metrics said."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sparingly.base.errors import InputError
from sparingly.data.values import as_id, as_list, as_text, parse_number, shown

_FILTER = "filter"
_KNOWN = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", _FILTER, "metrics"}
_KNOWN |= {"doc_hash", "prompt_hash", "target_hash"}
_TRUTH_VALUES = {"True": 1.0, "False": 0.0}


@dataclass(frozen=True)
class Sample:
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
        """What tells documents apart."""
        return as_text(self.record.get("doc_hash"), "doc_hash") or _digest(self.document)

    @cached_property
    def prompt_hash(self) -> str:
        """What tells prompts apart."""
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
        found = [
            (_as_text(context), _as_text(text), _likelihood(back)) for (context, text, *_), back in pairs
        ]
        # An answer alone, without its context, is asked to correct for how likely it is anyway.
        asked = [choice for choice in found if choice[0]] or found
        return asked if len(asked) > 1 else []

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
    def filtered(self) -> str | None:
        """What the filter made of a written response."""
        return _text_in(self.record.get("filtered_resps")) if self.is_written else None

    @cached_property
    def log_likelihoods(self) -> list[float | None] | None:
        """The log-likelihoods of the given answers, None when there are none."""
        held = [likelihood if math.isfinite(likelihood) else None for _, _, likelihood in self._choices]
        return held or None

    # --- scores -----------------------------------------------------------------------------------------

    @cached_property
    def metrics(self) -> dict[str, Any]:
        """The metrics by name: numbers, or whatever else the harness wrote."""
        names = self.record.get("metrics")
        listed = self.record.keys() - _KNOWN if names is None else as_list(names, "metrics")
        return {str(name): _score(self.record.get(name), str(name)) for name in sorted(map(str, listed))}

    @cached_property
    def further(self) -> dict[str, Any]:
        """Fields that are neither the harness's own nor metrics."""
        return {name: self.record[name] for name in sorted(self.record.keys() - _KNOWN - self.metrics.keys())}


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
            f"{shown(value)} is no log-likelihood", field="resps", fix="Log the samples again"
        ) from None


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else _as_json(value)


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _digest(text: str | None) -> str:
    return hashlib.sha256((text or "").encode("utf-8", "surrogatepass")).hexdigest()
