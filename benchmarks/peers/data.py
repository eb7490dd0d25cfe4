"""The data of the benchmarks: made once from a seed, written for both sides.

Numbers: a metric that follows the human score of 14 models, and costs that follow the length of a source; the
peer gets its own JSON Lines, we get the same numbers as arrays. Texts: outputs of 14 models. Vectors:
embeddings of outputs or of sources. Both sides read the same file of texts and of vectors.

It is imported in the environments of peers too: numpy and the standard library only, but for making texts.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats

Arrays = dict[str, NDArray[Any]]
Kind = Literal["numbers", "texts", "output vectors", "source vectors"]
KINDS: tuple[Kind, ...] = get_args(Kind)

MODELS = 14
SEED = 20261115
# Spread of the metric's own noise. Within an item, metric and human score then correlate by about 0.5 (as
# good metrics do on public sets) and 0.75.
USUAL, STRONG = 1.5, 0.8
# As many as in the vectors of the small multilingual transformer that the peer uses.
DIMENSIONS = 384
_TOPICS = 60
# The generator's lengths hang on its seed; with this one a thousand items have outputs of 26 words.
_TEXTS = 5
_HELD_OUT = 0.1


def arrays(items: int, noise: float = USUAL) -> Arrays:
    """Return human scores, a metric (items × models) and the cost of every item."""
    draw = np.random.default_rng([SEED, items])
    ability = np.linspace(0.0, 0.6, MODELS)
    difficulty = draw.normal(size=(items, 1))
    quality = ability - difficulty + draw.normal(scale=0.9, size=(items, MODELS))
    human = np.round(np.clip(70.0 + 10.0 * quality, 0.0, 100.0), 1)
    metric = quality + draw.normal(scale=noise, size=(items, MODELS))
    words = np.clip(draw.lognormal(3.1, 0.6, items).astype(np.int64), 1, 250)
    return {"human": human, "metric": metric, "cost": 0.15 * words + 33.7}


def responses(metric: Floats, *, held_out: bool = False) -> Floats:
    """Return 1 where a score reaches the median of all, else 0; NaN where it is held out."""
    cut = (metric >= np.median(metric)).astype(np.float64)
    if held_out:
        cut[np.random.default_rng([SEED, *metric.shape]).random(metric.shape) < _HELD_OUT] = np.nan
    return cut


def vectors(items: int, kind: Kind) -> NDArray[np.float32]:
    """Return vectors of length 1, a row for every source, or for every item and model.

    Sources lie about topics. What the models write for an item lies about its source; how far, differs by
    item and output, and every model has a direction of its own.
    """
    draw = np.random.default_rng([SEED, items, KINDS.index(kind)])
    # Few directions matter most, as in vectors of texts.
    scales = (1.0 + np.arange(DIMENSIONS)) ** -0.5
    topics = draw.normal(size=(_TOPICS, DIMENSIONS))
    made = (topics[draw.integers(_TOPICS, size=items)] + draw.normal(size=(items, DIMENSIONS)))[:, None]
    if kind == "output vectors":
        styles = 0.5 * draw.normal(size=(MODELS, DIMENSIONS))
        reach = np.exp(0.5 * draw.normal(size=(items, 1, 1)) + 0.3 * draw.normal(size=(items, MODELS, 1)))
        made = made + 0.5 * reach * (styles + draw.normal(size=(items, MODELS, DIMENSIONS)))
    made = made * scales
    made /= np.linalg.norm(made, axis=2, keepdims=True)
    return made.reshape(-1, DIMENSIONS).astype(np.float32)


def outputs(items: int) -> list[list[str]]:
    """Return what every model wrote for every item: about 26 words, two texts of the generator's."""
    import sparingly

    made = sparingly.make_evalset(2 * items, MODELS, seed=_TEXTS, raters=0, references=False).outputs
    assert made is not None
    return [
        [f"{one} {other}" for one, other in zip(*made[row : row + 2], strict=True)]
        for row in range(0, 2 * items, 2)
    ]


def item_ids(items: int) -> list[str]:
    """Return ids whose order as text is their order in the file."""
    return [f"item-{number:07d}" for number in range(items)]


def model_ids() -> list[str]:
    """Return the ids of the models."""
    return [f"model-{number:02d}" for number in range(MODELS)]


def prepared(folder: Path, kind: Kind, items: int, noise: float, *, for_peer: bool) -> Path:
    """Return the file that a side reads, written where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    if kind == "numbers":
        ending = "jsonl" if for_peer else "npz"
        path = folder / f"data-{SEED}-{items}-{noise}.{ending}"
    else:
        path = folder / f"{kind.replace(' ', '-')}-{SEED}-{items}.{'jsonl' if kind == 'texts' else 'npy'}"
    if not path.exists():
        partial = path.with_name(f"{path.stem}-part{path.suffix}")
        _write(partial, path, kind, items, noise)
        partial.rename(path)
    return path


def _write(partial: Path, path: Path, kind: Kind, items: int, noise: float) -> None:
    if kind == "texts":
        _write_texts(partial, outputs(items))
    elif kind != "numbers":
        np.save(partial, vectors(items, kind))
        names = item_ids(items)
        if kind == "output vectors":
            names = [f"{item}\t{model}" for item in names for model in model_ids()]
        path.with_suffix(".ids.tsv").write_text("\n".join(names) + "\n", encoding="utf-8")
    elif path.suffix == ".npz":
        made = arrays(items, noise)
        np.savez(partial, human=made["human"], metric=made["metric"], cost=made["cost"])
    else:
        _write_peer(partial, arrays(items, noise))


def _write_texts(path: Path, texts: list[list[str]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for name, written in zip(item_ids(len(texts)), texts, strict=True):
            line = {"i": name, "tgt": dict(zip(model_ids(), written, strict=True)), "scores": {}}
            file.write(json.dumps(line) + "\n")


def _write_peer(path: Path, arrays: Arrays) -> None:
    names, models = item_ids(len(arrays["cost"])), model_ids()
    with path.open("w", encoding="utf-8") as file:
        for row, name in enumerate(names):
            pairs = zip(models, arrays["human"][row].tolist(), arrays["metric"][row].tolist(), strict=True)
            line = {
                "i": name,
                "cost": float(arrays["cost"][row]),
                "scores": {model: {"human": human, "metric": metric} for model, human, metric in pairs},
            }
            file.write(json.dumps(line) + "\n")
