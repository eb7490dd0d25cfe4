"""``score_pool``: every source of a pool scored in one pass, part by part, so that it can be resumed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Literal, Unpack

from sparingly.base.errors import DataError, InputError, UsageError, listing
from sparingly.choose.pool.contamination import read_corpus
from sparingly.choose.pool.embeddings import PoolEmbedding, embed_pool, embedding_of
from sparingly.choose.pool.parts import PoolPart, ScoringPlan, score_stretch
from sparingly.choose.pool.records import (
    LONGEST_RECORD,
    FileRange,
    OnProblem,
    PoolFiles,
    cut_files,
    make_folder,
    pool_files,
)
from sparingly.choose.pool.scored_pool import ScoredPool
from sparingly.choose.pool.scorers import Scorer, parse_scoring
from sparingly.choose.pool.sources import Languages, Layout
from sparingly.choose.pool.workers import Executor, WorkOptions, WorkSettings, open_executor
from sparingly.signals.embed.texts import Embedder
from sparingly.signals.length import SOURCE_LENGTH


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
    language: str | None = None,
    identify: bool = False,
    languages: Iterable[str] = (),
    bad: Literal["skip", "refuse"] = "skip",
    longest: int = LONGEST_RECORD,
    embed: str | Embedder | None = None,
    **work: Unpack[WorkOptions],
) -> ScoredPool:
    """Score every source of a pool that may be larger than memory, and keep the scores in a folder.

    What was scored before into the same folder is not scored again. Which records make up a part has no
    influence on what is selected later.

    Args:
        paths: Files, folders or globs of Parquet, JSON Lines, CSV or plain text, compressed or not.
        out: The folder to write to; it is made where it is not there.
        by: The utility: ``source_length``, a column, ``distilled:model=FILE,utility=NAME`` for what a model
            tells, ``package.module:function``, or a function that takes a list of texts and gives one number
            each.
        id: The column of ids; ``item`` or ``id`` unless given, made from the text where there is neither.
        text: The column of texts; ``source`` or ``text`` unless given.
        keep: The further columns to keep; all of them unless given.
        against: A corpus to compare with: the share of every source that stands in it is kept.
        near: Also compute what near duplicates are found by, 128 bytes a source.
        language: The column that says the language of a source.
        identify: Identify the language where no column says it.
        languages: The languages to tell apart; all that are known unless given.
        bad: Bad records are skipped and counted, or the first of them is an error.
        longest: The most bytes of a record.
        embed: Also embed the sources: ``hashed`` (character n-grams, no download), a sentence-transformers
            model, or a function from texts to an array with a row for each.
        **work: How the work is done: ``rows``, ``batch``, ``stretch``, ``jobs``, ``cluster``, ``progress``.
    """
    how, embedding = WorkSettings(**work), None if embed is None else embedding_of(embed)
    if longest < 1:
        raise UsageError("longest is 1 or more.")
    scoring, folder = parse_scoring(by), Path(out)
    spoken = Languages(language, identify, tuple(sorted(set(languages))))
    spoken.check()
    wanted = None if keep is None else {*keep, *(() if language is None else (language,))}
    layout = Layout(id, text, None if wanted is None else tuple(sorted(wanted)), scoring.column)
    corpus = None if against is None else read_corpus(against, Layout(text=text), bad)
    plan = ScoringPlan(
        folder.resolve(), layout, scoring, bad, near, corpus, spoken, longest, how.rows, how.batch
    )
    return _made(plan, folder, pool_files(paths, besides=folder), embedding, how)


def _made(
    plan: ScoringPlan, folder: Path, found: PoolFiles, embedding: PoolEmbedding | None, how: WorkSettings
) -> ScoredPool:
    """Score the files and embed the sources; files keep the names that they were given."""
    here = Path.cwd()
    pieces = [replace(one, root=here) for one in cut_files(found.files, how.stretch)]
    make_folder(folder)
    with open_executor(how.jobs, how.cluster, [plan.out, *(here / file for file in found.files[:1])]) as crew:
        pool = replace(ScoredPool.of(plan, _scored(pieces, plan, crew, how), found.others), folder=folder)
        _check(pool, plan.bad)
        pool = pool if embedding is None else embed_pool(pool, embedding, crew, how)
    pool.save()
    return pool


def _scored(pieces: list[FileRange], plan: ScoringPlan, crew: Executor, how: WorkSettings) -> list[PoolPart]:
    parts: list[PoolPart] = []
    read = 0
    for done, (_, made) in enumerate(crew.each(score_stretch, pieces, plan), 1):
        parts += made
        read += sum(part.tally.read for part in made)
        how.tell(done, len(pieces), f"{read:,} records")
    return parts


def _check(pool: ScoredPool, bad: OnProblem) -> None:
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
