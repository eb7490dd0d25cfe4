"""Runs where Argilla's SDK is installed: reads settings and records, adds responses, writes both forms.

    python argilla_check.py SETTINGS RECORDS RESPONSES OUT

The SDK wants a server as soon as a question is made; nothing here talks to one.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from unittest.mock import MagicMock


def main(settings: Path, records: Path, responses: Path, out: Path) -> None:
    """Let the SDK read what was written, and write it with responses."""
    rg, forms = import_module("argilla"), import_module("argilla.records._io")
    rg.Argilla._default_client = MagicMock()
    held = rg.Settings.from_json(settings)
    held.validate()
    fields, questions = {one.name for one in held.fields}, {one.name for one in held.questions}
    read = forms.JsonIO._records_from_json(records)
    given = json.loads(responses.read_text(encoding="utf-8"))
    for record in read:
        assert set(record.fields) <= fields, set(record.fields) - fields
        for user, status, values in given[record.id]:
            assert set(values) <= questions, set(values) - questions
            for name, value in values.items():
                record.responses.add(rg.Response(name, value, user, status=status))
    forms.JsonIO.to_json(read, out / "nested.json")
    flat = forms.GenericIO.to_list(read, flatten=True)
    (out / "flat.jsonl").write_text("".join(json.dumps(row) + "\n" for row in flat), encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
