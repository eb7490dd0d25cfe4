"""A file of one tool is recognised as that before it is taken for any table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sparingly.data.io import formats
from sparingly.data.io.format import Head

TREES: dict[str, dict[str, str]] = {
    "subset2evaluate": {
        "data.jsonl": '{"i": 0, "src": "a", "tgt": {"m": "b"}, "scores": {"m": {"human": 1}}}\n'
    },
    "alpaca_eval": {"o.json": json.dumps([{"instruction": "a", "output": "b", "generator": "m"}])},
    "arena": {"b.csv": "question_id,model_a,model_b,winner\nq,a,b,tie\n"},
    "comet": {"c.json": json.dumps({"m.txt": [{"src": "a", "mt": "b", "ref": "c", "COMET": 0.5}]}, indent=4)},
    "mt_metrics_eval": {"sources/en-de.txt": "a\n", "system-outputs/en-de/m.txt": "b\n"},
    "lines": {"source.txt": "a\n", "m.txt": "b\n"},
}


@pytest.mark.parametrize("name", TREES)
def test_one_format_recognises_it(tmp_path: Path, name: str) -> None:
    for file, text in TREES[name].items():
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    target = tmp_path if name in ("mt_metrics_eval", "lines") else path
    assert recognising(target) == [name]


@pytest.mark.parametrize("file", ["wmt23_ende.jsonl.gz", "llmfao_pairwise.jsonl.gz"])
@pytest.mark.shared_data
def test_collections_are_left_to_their_format(shared_data: Path, file: str) -> None:
    assert recognising(shared_data / file) == ["collection"]


def recognising(path: Path) -> list[str]:
    """The formats that know a file, but for the last: a table may be anything."""
    *others, table = formats()
    assert table.name == "table"
    return [known.name for known in others if known.recognises(Head(path))]
