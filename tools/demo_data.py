"""Cut the demo set out of Amazon's bio-mqm-dataset; the same input gives the same bytes.

``python tools/demo_data.py ../shared/data/biomqm_deen.jsonl.gz`` makes it; the
``SOURCE.md`` beside the file says what was changed.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from statistics import mean
from typing import Any

import sparingly

MODELS = ("HuaweiTSC_run1", "HuaweiTSC_run2", "Huawei_AGI_run2", "TMT_run1", "mtcarousel", "nrpu-fjwu_run2")
ASPECT = "mqm"
# A reference that no output resembles belongs to another sentence.
SIMILAR = 40
SHORTEST, LONGEST = 4, 200
DEMO = Path(__file__).resolve().parent.parent / "src" / "sparingly" / "data" / "demo" / "demo.jsonl.gz"
Row = dict[str, Any]


def cut(source: Path, out: Path = DEMO) -> None:
    """Write the documents that are easy to read, without misaligned sentences, and the chosen models."""
    documents: dict[str, list[Row]] = defaultdict(list)
    with gzip.open(source, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            documents[row["doc"]].append(row)
    rows = []
    for name in sorted(documents, key=lambda name: int(name.removeprefix("doc"))):
        aligned = _aligned(sorted(documents[name], key=lambda row: row["position"]))
        if len(aligned) >= SHORTEST and mean(len(row["reference"]) for row in aligned) <= LONGEST:
            rows += [_row(row, position) for position, row in enumerate(aligned)]
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "demo.jsonl"
        plain.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        sparingly.save(sparingly.load(plain), out)


def _aligned(document: list[Row]) -> list[Row]:
    """Return the sentences whose source and outputs occur once, and whose reference fits an output."""
    seen = Counter(row["source"] for row in document)
    outputs = {model: Counter(row["outputs"][model] for row in document) for model in MODELS}
    return [
        row
        for row in document
        if seen[row["source"]] == 1
        and all(outputs[model][row["outputs"][model]] == 1 for model in MODELS)
        and max(row["scores"][model]["chrF"] for model in MODELS) >= SIMILAR
    ]


def _row(row: Row, position: int) -> Row:
    """Return an item with the chosen models, one aspect, a short id, and no minus before a zero."""
    return {
        "item": f"{row['doc']}-{row['position'] + 1:02d}",
        **{name: row[name] for name in ("source", "reference", "doc")},
        "position": position,
        "outputs": {model: row["outputs"][model] for model in MODELS},
        "scores": {model: row["scores"][model] for model in MODELS},
        "human": {model: {ASPECT: row["human"][model][ASPECT] + 0.0} for model in MODELS},
        "ratings": [
            {name: rating[name] for name in ("model", "rater", "aspect")} | {"score": rating["score"] + 0.0}
            for rating in row["ratings"]
            if rating["model"] in MODELS
        ],
    }


if __name__ == "__main__":
    cut(Path(sys.argv[1]))
