"""A pool of generated sources: Zipfian words of five scripts, a tenth of the texts copies of others.

``python -m benchmarks.make_pool FOLDER --sources 1000000 [--files 8] [--gz] [--seed 1]``
200,000 types, 40,000 a script; a type of rank r is drawn in proportion to 1/r. Han is written without spaces.
A text has 112 bytes on average. The same seed gives the same files.
"""

from __future__ import annotations

import argparse
import gzip
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats

TYPES = 200_000
COPIES = 0.1
CHUNK = 50_000
DOMAINS, LICENCES = ("news", "chat", "law", "web"), ("CC0", "CC-BY-4.0")


@dataclass(frozen=True)
class Script:
    """How a script looks: its letters, how many a word has, what stands between words, words of a text."""

    language: str
    letters: str
    longest: int
    between: str
    words: int


def _letters(first: int, last: int) -> str:
    return "".join(map(chr, range(first, last + 1)))


SCRIPTS = (
    Script("en", "etaoinshrdlucmfwypvbgkjqxz", 11, " ", 26),
    Script("ru", _letters(0x0430, 0x044F), 9, " ", 16),
    Script("ar", _letters(0x0627, 0x063A) + _letters(0x0641, 0x064A), 8, " ", 17),
    Script("hi", _letters(0x0905, 0x0914) + _letters(0x0915, 0x0939), 7, " ", 13),
    Script("zh", _letters(0x4E00, 0x5DFF), 3, "", 22),
)


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The types of a script, the most frequent first, and their cumulative frequencies."""

    words: NDArray[np.object_]
    reached: Floats


def vocabulary(script: Script, types: int, generator: np.random.Generator) -> Vocabulary:
    """Make distinct words; frequent words are short, as they are in every language."""
    found: dict[str, None] = {}
    letters = np.array(list(script.letters))
    # Earlier letters are more frequent.
    weights = 1.0 / np.arange(1, len(letters) + 1)
    weights /= weights.sum()
    while len(found) < types:
        most = 2 + (script.longest - 2) * min(1.0, len(found) / (0.05 * types))
        lengths = generator.integers(1, int(most) + 1, 4096)
        drawn = generator.choice(letters, int(lengths.sum()), p=weights)
        ends = np.cumsum(lengths)
        pieces = ("".join(drawn[end - size : end]) for end, size in zip(ends, lengths, strict=True))
        found.update(dict.fromkeys(pieces))
    reached = np.cumsum(1.0 / np.arange(1, types + 1))
    return Vocabulary(np.array(list(found)[:types], object), reached / reached[-1])


def texts(
    count: int, vocabularies: list[Vocabulary], generator: np.random.Generator
) -> tuple[list[str], NDArray[np.int64]]:
    """Return texts and the script of each; their lengths are log-normal."""
    which = generator.integers(0, len(SCRIPTS), count)
    made: list[str] = [""] * count
    for place, (script, held) in enumerate(zip(SCRIPTS, vocabularies, strict=True)):
        rows = np.flatnonzero(which == place)
        sizes = np.maximum(2, np.round(script.words * generator.lognormal(-0.125, 0.5, len(rows)))).astype(
            int
        )
        ranks = np.searchsorted(held.reached, generator.random(int(sizes.sum())))
        words = held.words[ranks].tolist()
        end = np.cumsum(sizes)
        for row, start, stop in zip(rows.tolist(), (end - sizes).tolist(), end.tolist(), strict=True):
            made[row] = script.between.join(words[start:stop])
    return made, which


def lines(sources: int, seed: int, types: int = TYPES) -> Iterator[list[str]]:
    """Yield chunks of JSON lines; copies are of texts of the chunk before, or of their own."""
    generator = np.random.default_rng(seed)
    vocabularies = [vocabulary(script, types // len(SCRIPTS), generator) for script in SCRIPTS]
    before: tuple[list[str], NDArray[np.int64]] | None = None
    for first in range(0, sources, CHUNK):
        made, which = texts(min(CHUNK, sources - first), vocabularies, generator)
        earlier, of = before or (list(made), which.copy())
        copies = np.flatnonzero(generator.random(len(made)) < COPIES)
        for row, other in zip(
            copies.tolist(), generator.integers(0, len(earlier), len(copies)).tolist(), strict=True
        ):
            made[row], which[row] = earlier[other], of[other]
        before = made, which
        domain = generator.integers(0, len(DOMAINS), len(made)).tolist()
        languages = [SCRIPTS[place].language for place in which.tolist()]
        # The letters need no escape, so that a line can be put together as it is.
        yield [
            f'{{"id": "s{place:09d}", "text": "{text}", "language": "{language}", '
            f'"domain": "{DOMAINS[kind]}", "licence": "{LICENCES[kind % 2]}"}}\n'
            for place, text, language, kind in zip(
                range(first, first + len(made)), made, languages, domain, strict=True
            )
        ]


def write_pool(
    folder: Path, sources: int, files: int = 8, packed: bool = False, seed: int = 1, types: int = TYPES
) -> list[Path]:
    """Write a pool into several files, chunk by chunk in turn."""
    folder.mkdir(parents=True, exist_ok=True)
    ending = ".jsonl.gz" if packed else ".jsonl"
    paths = [folder / f"pool-{place:03d}{ending}" for place in range(files)]
    for path in paths:
        path.write_bytes(b"")
    for place, chunk in enumerate(lines(sources, seed, types)):
        with closing(_opened(paths[place % files], packed)) as file:
            file.write("".join(chunk).encode())
    return paths


def _opened(path: Path, packed: bool) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path, "ab", compresslevel=1)) if packed else path.open("ab")


def main() -> None:
    """Write a pool, and say how long that took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sources", type=int, default=1_000_000)
    parser.add_argument("--files", type=int, default=8)
    parser.add_argument("--gz", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    began = time.perf_counter()
    paths = write_pool(args.folder, args.sources, args.files, args.gz, args.seed)
    size = sum(path.stat().st_size for path in paths)
    took = time.perf_counter() - began
    print(f"{args.sources:,} sources, {size / 1e6:,.0f} MB in {len(paths)} files, {took:.0f} s")


if __name__ == "__main__":
    main()
