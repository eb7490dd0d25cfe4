"""The demo set that ships with the package: real translations, judged by real people (see ``SOURCE.md``)."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import Any

from sparingly.data import io
from sparingly.data.evalset import EvalSet

FILE, NAME = "demo.jsonl.gz", "demo"


@cache
def load_demo() -> EvalSet:
    """Load the demo set: 196 sentences of medical abstracts, translated by six systems, judged by people.

    Higher is better: ``mqm`` counts the errors that experts marked, as minus 1 for a minor and minus 5 for a
    major one.

    Examples:
        >>> from sparingly import load_demo
        >>> data = load_demo()
        >>> data.shape
        (196, 6)
        >>> list(data.aspects)
        ['mqm']
    """
    with resources.as_file(resources.files(__package__) / FILE) as path:
        data = io.load(path, "jsonl")
    return EvalSet(replace(data.store, name=NAME))


def replays() -> dict[str, Any]:
    """Return how close half of the labels come to all of them (see ``benchmarks/demo_replays.py``)."""
    content: dict[str, Any] = json.loads(
        (resources.files(__package__) / "replays.json").read_text(encoding="utf-8")
    )
    return content
