"""Tell the utilities of benchmarks/distil_holdout.py by an encoder, on a machine with a GPU if there is one.

    python -m benchmarks.distil_holdout --export texts.npz
    python -m benchmarks.distil_encoder texts.npz --base FOLDER --out told.npz --rates 1.5e-5 1e-4 --epochs 30
    python -m benchmarks.distil_holdout --encoder told.npz --docs

It needs torch, transformers, tokenizers, safetensors and numpy, and nothing else that the package uses. Of
several rates the one counts whose squared error was least on the texts that training sets aside; the sets
that are left out play no part in that.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.choose.distil.encoder.fitted import EncoderFit
from sparingly.choose.distil.encoder.network import EncoderTraining
from sparingly.choose.distil.encoder.training import fit_encoder


def options(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("texts", type=Path, help="what distil_holdout.py --export wrote")
    parser.add_argument("--base", required=True, help="a transformer: a folder or a name")
    parser.add_argument("--out", type=Path, required=True, help="where to write what was told")
    parser.add_argument("--rates", type=float, nargs="+", default=[1.5e-5], help="learning rates to try")
    parser.add_argument("--epochs", type=int, default=5, help="the most epochs")
    parser.add_argument("--batch", type=int, default=128, help="texts of an update")
    parser.add_argument("--step", type=int, default=16, help="texts at a time")
    parser.add_argument("--patience", type=int, default=3, help="epochs without gain before it stops")
    parser.add_argument("--longest", type=int, default=128, help="the most tokens of a text")
    return parser.parse_args(arguments)


def learned(held: Mapping[str, NDArray[Any]], family: str, args: argparse.Namespace) -> EncoderFit:
    """Return what was learned of the other families, by the best of the rates."""
    texts = [str(text) for text in held[f"{family}/texts"]]
    targets = held[f"{family}/utilities"].astype(float)
    fits = []
    for rate in args.rates:
        training = EncoderTraining(
            base=args.base,
            epochs=args.epochs,
            batch=args.batch,
            step=args.step,
            rate=rate,
            patience=args.patience,
            longest=args.longest,
        )
        start = time.perf_counter()
        fit = fit_encoder(texts, targets, training, 0, family)
        seconds = time.perf_counter() - start
        losses = ", ".join(f"{loss:.3f}" for loss in fit.losses)
        print(f"{family}: {len(texts)} texts, rate {rate:g}, {seconds:.0f} s, aside {losses}", flush=True)
        fits.append(fit)
    return min(fits, key=lambda fit: min(fit.losses))


def main(arguments: list[str] | None = None) -> int:
    """Learn every fold, and write what is told of the sets that were left out."""
    args = options(arguments)
    told: dict[str, NDArray[Any]] = {}
    with np.load(args.texts, allow_pickle=False) as held:
        families = sorted({name.split("/")[0] for name in held.files})
        for family in families:
            fit = learned(held, family, args)
            for name in held.files:
                if name.startswith(f"{family}/") and name.split("/")[1] not in ("texts", "utilities"):
                    told[name.split("/")[1]] = fit.predict([str(text) for text in held[name]])
    np.savez_compressed(args.out, **told)  # type: ignore[arg-type]
    return 0


if __name__ == "__main__":
    sys.exit(main())
