"""An encoder's training on a GPU: examples a second and memory by size, in half and in full precision.

    python -m benchmarks.encoder_gpu                               all sizes, 20,000 made-up sources
    python -m benchmarks.encoder_gpu --sizes mini --texts 300      a look on a processor

Transformers start from nothing and the sources are generated, so no network is needed: torch, numpy,
transformers, tokenizers and safetensors. Without the last three, a plain transformer of torch of the same
size stands in, and checkpoints are not timed. The training, the batches and the predictions are those of
``sparingly distil train --learner encoder``.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from sparingly.choose.distil.encoder.fitted import EncoderFit  # noqa: E402
from sparingly.choose.distil.encoder.network import (  # noqa: E402
    EncoderTokenizer,
    EncoderTraining,
    Network,
    best_device,
    deterministic,
)
from sparingly.choose.distil.encoder.training import Checkpoint, Trainer, half_precision, prepare_texts  # noqa: E402

# Layers, width and heads.
SIZES = {"mini": (4, 256, 4), "small": (4, 512, 8), "medium": (8, 512, 8), "base": (12, 768, 12)}
WORDS, LONGEST = 30_000, 256
HARD_WORDS = 2_000
RATE = 1e-4


def main() -> int:
    """Train every size in both precisions, and print a row for each."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    reader.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    reader.add_argument("--texts", type=int, default=20_000, help="how many sources are learned from")
    reader.add_argument("--epochs", type=int, default=2)
    reader.add_argument("--step", type=int, default=128, help="how many are on the GPU at a time")
    reader.add_argument("--json", type=Path, help="write the rows there, too")
    args = reader.parse_args()
    torch, full = _torch(), find_spec("transformers") is not None
    device = best_device()
    name = torch.cuda.get_device_name() if device == "cuda" else "a processor, so precisions are the same"
    print(f"{name}; torch {torch.__version__}")
    if not full:
        print("transformers is not here: a plain transformer of torch stands in.")
    print("size     precision  parameters  texts/s  update ms  peak GB  told/s  correlation  checkpoint s")
    rows = []
    for size in args.sizes:
        for precision in ("auto", "full"):
            rows.append(_row(size, precision, args, full))
            print(_line(rows[-1]), flush=True)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0


def _torch() -> Any:
    try:
        import torch
    except ModuleNotFoundError:
        sys.exit("torch is not installed: pip install torch transformers")
    return torch


def _row(size: str, precision: str, args: argparse.Namespace, full: bool) -> dict[str, Any]:
    """Train once, and return what it took."""
    torch, device = _torch(), best_device()
    texts, targets = made_sources(args.texts, 1)
    with deterministic(1), tempfile.TemporaryDirectory() as folder:
        tokens: EncoderTokenizer = _tokens() if full else PlainTokens()
        training = EncoderTraining(
            "made", epochs=args.epochs, step=args.step, rate=RATE, precision=_checked(precision)
        )
        lesson = prepare_texts(tokens, texts, targets, training, 1)
        transformer = _transformer(size, full)
        network = Network(transformer, training.hidden, 1, training.dropout)
        network.to(device)
        checkpoint = Checkpoint(None, "")
        Trainer(network, _first(lesson, 4 * training.batch), tokens, training, 1, checkpoint).run()
        _wait(device, reset=True)
        start = time.perf_counter()
        losses = Trainer(network, lesson, tokens, training, 1, checkpoint).run()
        _wait(device)
        seconds = time.perf_counter() - start
        peak = torch.cuda.max_memory_allocated() / 2**30 if device == "cuda" else None
        scale = lesson.centre, lesson.spread
        known = EncoderFit(network, {}, tokens, training.hidden, *scale, "", tuple(losses))
        read = len(lesson.training) * len(losses)
        kind = half_precision(device, precision)
        return {
            "size": size,
            "precision": "full" if kind is None else str(kind).removeprefix("torch."),
            "parameters": sum(held.numel() for _, held in network.named_parameters()),
            "texts_a_second": read / seconds,
            "update_ms": 1000 * seconds / (read / training.batch),
            "peak_gb": peak,
            **_told(known, args.texts // 4),
            "checkpoint_seconds": _checkpoint_seconds(network, Path(folder)) if full else None,
            "losses": losses,
        }


def _told(fit: EncoderFit, count: int) -> dict[str, float]:
    """Return how fast and how well new sources are told."""
    texts, targets = made_sources(count, 2)
    fit.predict(texts[:256])
    start = time.perf_counter()
    told = fit.predict(texts)
    seconds = time.perf_counter() - start
    return {
        "told_a_second": len(texts) / seconds,
        "correlation": float(np.corrcoef(told[:, 0], targets[:, 0])[0, 1]),
    }


def _checkpoint_seconds(network: Network, folder: Path) -> float:
    from sparingly.choose.distil.encoder.training import TrainingProgress

    start = time.perf_counter()
    Checkpoint(folder / "one.safetensors", "").write(TrainingProgress(), network.weights())
    return time.perf_counter() - start


def made_sources(count: int, seed: int) -> tuple[list[str], np.ndarray[Any, np.dtype[np.float64]]]:
    """Return sentences of a Zipfian vocabulary; a target is the share of hard words, with noise."""
    drawn = np.random.default_rng(seed)
    hard = np.random.default_rng(0).permutation(WORDS)[:HARD_WORDS]
    lengths = drawn.integers(5, 60, count)
    words = np.minimum(drawn.zipf(1.3, int(lengths.sum())) - 1, WORDS - 1)
    parts = np.split(words, np.cumsum(lengths)[:-1])
    shares = np.array([np.isin(part, hard).mean() for part in parts])
    noise = drawn.normal(size=count) * shares.std() / 2
    return [" ".join(f"w{word}" for word in part) for part in parts], (shares + noise)[:, None]


def _tokens() -> EncoderTokenizer:
    from tokenizers import Tokenizer, models, pre_tokenizers

    known = {"[PAD]": 0, "[UNK]": 1} | {f"w{word}": word + 2 for word in range(WORDS)}
    tokenizer = Tokenizer(models.WordLevel(known, unk_token="[UNK]"))  # noqa: S106 - a token of text
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return EncoderTokenizer(tokenizer.to_str(), 0, LONGEST)


class PlainTokens(EncoderTokenizer):
    """Words as numbers, without the package tokenizers."""

    def __init__(self) -> None:
        self.json, self.pad, self.longest = "", 0, LONGEST

    def ids(self, texts: Any) -> list[list[int]]:
        return [[int(word[1:]) + 2 for word in text.split()][:LONGEST] for text in texts]


def _transformer(size: str, full: bool) -> Any:
    layers, width, heads = SIZES[size]
    if not full:
        return _plain_transformer(layers, width, heads)
    import transformers

    config = transformers.BertConfig(
        vocab_size=WORDS + 2,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * width,
        max_position_embeddings=LONGEST,
    )
    return transformers.BertModel(config, add_pooling_layer=False)


def _plain_transformer(layers: int, width: int, heads: int) -> Any:
    nn = _torch().nn

    class Plain(nn.Module):  # type: ignore[misc, name-defined]
        """Embeddings and a stack of layers, called as a model of transformers is."""

        def __init__(self) -> None:
            super().__init__()
            self.config = SimpleNamespace(hidden_size=width)
            self.words, self.places = nn.Embedding(WORDS + 2, width), nn.Embedding(LONGEST, width)
            layer = nn.TransformerEncoderLayer(width, heads, 4 * width, batch_first=True, activation="gelu")
            self.stack = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            places = _torch().arange(input_ids.shape[1], device=input_ids.device)
            states = self.words(input_ids) + self.places(places)
            told = self.stack(states, src_key_padding_mask=attention_mask == 0)
            return SimpleNamespace(last_hidden_state=told)

    return Plain()


def _first(lesson: Any, count: int) -> Any:
    """Return a lesson with fewer texts, to warm up with."""
    return replace(lesson, learned=lesson.training[:count], aside=lesson.aside[:16])


def _wait(device: str, *, reset: bool = False) -> None:
    torch = _torch()
    if device == "cuda":
        torch.cuda.synchronize()
        if reset:
            torch.cuda.reset_peak_memory_stats()


def _checked(precision: str) -> Any:
    return precision


def _line(row: dict[str, Any]) -> str:
    peak, kept, millions = row["peak_gb"], row["checkpoint_seconds"], row["parameters"] / 1e6
    return (
        f"{row['size']:8} {row['precision']:10} {millions:8.1f} M {row['texts_a_second']:8.0f} "
        f"{row['update_ms']:10.1f} {'-' if peak is None else format(peak, '.2f'):>8} "
        f"{row['told_a_second']:7.0f} {row['correlation']:12.2f} "
        f"{'-' if kept is None else format(kept, '.2f'):>13}"
    )


if __name__ == "__main__":
    sys.exit(main())
