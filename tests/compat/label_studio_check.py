"""Runs where Label Studio's SDK is installed: checks a config, tasks and annotations, and writes JSON_MIN.

python label_studio_check.py CONFIG TASKS ANNOTATED OUT
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path


def main(config: Path, tasks: Path, annotated: Path, out: Path) -> None:
    """Let the SDK judge every file; any complaint ends the program."""
    text = config.read_text(encoding="utf-8")
    interface = import_module("label_studio_sdk.label_interface").LabelInterface(text)
    interface.validate()
    for task in json.loads(tasks.read_text(encoding="utf-8")):
        assert interface.validate_task(task), task
    for entry in json.loads(annotated.read_text(encoding="utf-8")):
        for annotation in entry["annotations"]:
            found = [interface.validate_region(one, return_errors=True) for one in annotation["result"]]
            assert not any(found), found
            assert interface.validate_annotation(annotation), annotation
    converter = import_module("label_studio_sdk.converter").Converter(text, None)
    converter.convert_to_json_min(str(annotated), str(out), is_dir=False)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
