"""Every format, in the order in which files are tried."""

from __future__ import annotations

from sparingly.data.io.collection import Collection
from sparingly.data.io.format import Format
from sparingly.data.io.jsonl import JsonLines

FORMATS: tuple[Format, ...] = (
    JsonLines(),
    Collection(),
)
