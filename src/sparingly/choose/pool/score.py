"""``score_pool``: every source of a pool scored in one pass, part by part, so that it can be resumed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal

from sparingly.base.errors import DataError, InputError, UsageError, listing
from sparingly.choose.pool.bad import Bad
from sparingly.choose.pool.overlap import read_corpus
from sparingly.choose.pool.parts import Part, Plan, score_stretch
from sparingly.choose.pool.places import STRETCH_BYTES, Stretch, pool_files, stretches
from sparingly.choose.pool.records import LONGEST
from sparingly.choose.pool.scored import ScoredPool
from sparingly.choose.pool.scorers import Scorer, scoring_of
from sparingly.choose.pool.sources import Layout
from sparingly.signals.length import SOURCE_LENGTH

Progress = Callable[[int, int, str], None]


def score_pool(
    paths: str | Path | Iterable[str | Path],
    out: str | Path,
    *,
    by: str | Scorer = SOURCE_LENGTH,
    id: str | None = None,
    text: str | None = None,
    keep: Iterable[str] | None = None,
    against: str | Path | Iterable[str | Path] | None = None,
    near: bool = False,
    bad: Literal["skip", "refuse"] = "skip",
    longest: int = LONGEST,
    rows: int = 100_000,
    batch: int = 10_000,
    stretch: int = STRETCH_BYTES,
    jobs: int = 1,
    progress: Progress | None = None,
) -> ScoredPool:
    """Score every source of a pool that may be larger than memory, and keep the scores in a folder.

    What was scored before into the same folder is not scored again. Which records make up a part has no
    influence on what is selected later.

    Args:
        paths: Files, folders or globs of Parquet, JSON Lines, CSV or plain text, compressed or not.
        out: The folder to write to; it is made where it is not there.
        by: The utility: ``source_length``, a column, ``package.module:function``, or a function that takes a
            list of texts and gives one number each.
        id: The column of ids; ``item`` or ``id`` unless given, made from the text where there is neither.
        text: The column of texts; ``source`` or ``text`` unless given.
        keep: The further columns to keep; all of them unless given.
        against: A corpus to compare with: the share of every source that stands in it is kept.
        near: Also compute what near duplicates are found by, 128 bytes a source.
        bad: Bad records are skipped and counted, or the first of them is an error.
        longest: The most bytes of a record.
        rows: The records of a part.
        batch: The texts that are scored at once.
        stretch: The bytes of a large file that one worker takes at a time.
        jobs: The number of processes.
        progress: Told how many stretches are done, of how many, and what was read.
    """
    if min(rows, batch, longest, stretch, jobs) < 1:
        raise UsageError("rows, batch, longest, stretch and jobs are 1 or more.")
    scoring, folder = scoring_of(by), Path(out)
    layout = Layout(id, text, None if keep is None else tuple(sorted(set(keep))), scoring.column)
    corpus = None if against is None else read_corpus(against, Layout(text=text), bad)
    plan = Plan(folder, layout, scoring, bad, near, corpus, longest, rows, batch)
    work = list(stretches(pool_files(paths, besides=folder), stretch))
    folder.mkdir(parents=True, exist_ok=True)
    parts: list[Part] = []
    for done, made in enumerate(_worked(work, plan, jobs), 1):
        parts += made
        if progress is not None:
            progress(done, len(work), f"{sum(part.tally.read for part in parts):,} records")
    pool = ScoredPool.of(folder, scoring.name, near, corpus, parts)
    _check(pool, bad)
    pool.save()
    return pool


def _worked(work: list[Stretch], plan: Plan, jobs: int) -> Iterator[list[Part]]:
    if jobs == 1:
        yield from (score_stretch(one, plan) for one in work)
        return
    from joblib import Parallel, delayed

    tasks = (delayed(score_stretch)(one, plan) for one in work)
    yield from Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks)


def _check(pool: ScoredPool, bad: Bad) -> None:
    """Refuse a pool without any source, and ids that stand for several texts where that is asked."""
    if not pool.tally.good:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(pool.tally.bad.items()))
        raise DataError(f"The pool has no source: of {pool.tally.read} records, {kinds or 'none is there'}.")
    if bad == "refuse" and pool.duplicate_ids:
        raise InputError(
            f"{pool.duplicate_ids} sources have the id of another with a different text, such as "
            f"{listing(pool.duplicate_examples)}",
            fix="Give every source an id of its own, or pass the others over with bad=skip",
        )
