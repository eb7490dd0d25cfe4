"""Tell the utilities of benchmarks/distil_holdout.py by an encoder, on a machine with a GPU if there is one.

    python -m benchmarks.distil_holdout --export texts.npz
    python -m benchmarks.distil_encoder texts.npz --base FOLDER --out told --rates 1.5e-5 1e-4 --epochs 30
    python -m benchmarks.distil_holdout --encoder told --docs

It needs torch, transformers, tokenizers, safetensors and numpy, and nothing else that the package uses. Every
utility has a network of its own. Of several rates the one counts whose squared error was least on the texts
that training sets aside; the sets that are left out play no part in that. A family is a file in the folder
``--out``: those that are there are not computed again, and with ``--jobs`` several are learned side by side.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.choose.distil.encoder.fitted import EncoderFit
from sparingly.choose.distil.encoder.network import EncoderTraining
from sparingly.choose.distil.encoder.training import fit_encoder

Arrays = dict[str, NDArray[Any]]


def options(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("texts", type=Path, help="what distil_holdout.py --export wrote")
    parser.add_argument("--base", required=True, help="a transformer: a folder or a name")
    parser.add_argument("--out", type=Path, required=True, help="a folder for what is predicted")
    parser.add_argument("--jobs", type=int, default=1, help="families that are learned at a time")
    parser.add_argument("--rates", type=float, nargs="+", default=[1.5e-5], help="learning rates to try")
    parser.add_argument("--epochs", type=int, default=5, help="the most epochs")
    parser.add_argument("--batch", type=int, default=128, help="texts of an update")
    parser.add_argument("--step", type=int, default=16, help="texts at a time")
    parser.add_argument("--patience", type=int, default=3, help="epochs without gain before it stops")
    parser.add_argument("--longest", type=int, default=128, help="the most tokens of a text")
    return parser.parse_args(arguments)


def predicted(held: Mapping[str, NDArray[Any]], family: str, args: argparse.Namespace) -> Arrays:
    """Return what networks that learned the other families predict for the sets of one, by set."""
    texts = [str(text) for text in held[f"{family}/texts"]]
    targets = held[f"{family}/utilities"].astype(float)
    fits = [
        _best_fit(texts, target[:, None], f"{family} {place}", args) for place, target in enumerate(targets.T)
    ]
    names = [name for name in held if name.startswith(f"{family}/")]
    return {
        name.split("/")[1]: np.hstack([fit.predict([str(text) for text in held[name]]) for fit in fits])
        for name in names
        if name.split("/")[1] not in ("texts", "utilities")
    }


def _best_fit(texts: list[str], target: NDArray[Any], name: str, args: argparse.Namespace) -> EncoderFit:
    """Return what was learned of one utility, by the best of the rates."""
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
        fit = fit_encoder(texts, target, training, 0, name)
        seconds = time.perf_counter() - start
        losses = ", ".join(f"{loss:.3f}" for loss in fit.losses)
        print(f"{name}: {len(texts)} texts, rate {rate:g}, {seconds:.0f} s, aside {losses}", flush=True)
        fits.append(fit)
    return min(fits, key=lambda fit: min(fit.losses))


def _learn(family: str, args: argparse.Namespace) -> None:
    """Learn one fold, and write what is predicted, whole or not at all."""
    with np.load(args.texts, allow_pickle=False) as held:
        arrays = predicted(held, family, args)
    part = args.out / f"{family}.part.npz"
    np.savez_compressed(part, **arrays)  # type: ignore[arg-type]
    part.replace(args.out / f"{family}.npz")


def main(arguments: list[str] | None = None) -> int:
    """Learn every fold that is not there yet, and write what is predicted of the sets that were left out."""
    args = options(arguments)
    args.out.mkdir(parents=True, exist_ok=True)
    with np.load(args.texts, allow_pickle=False) as held:
        families = sorted({name.split("/")[0] for name in held.files})
    missing = [family for family in families if not (args.out / f"{family}.npz").exists()]
    # A process of its own for each: torch's seeds and settings are those of a process.
    with ProcessPoolExecutor(args.jobs, get_context("spawn")) as pool:
        for _ in pool.map(partial(_learn, args=args), missing):
            pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
