"""``score_pool``: every source of a pool scored in one pass, part by part, so that it can be resumed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Literal, Unpack

from sparingly.base.errors import DataError, InputError, UsageError, listing
from sparingly.base.syntax import argument, either
from sparingly.choose.pool.embeddings import embed_pool, parse_embedding
from sparingly.choose.pool.parts import PoolPart, ScoringPlan, score_range
from sparingly.choose.pool.records import LONGEST_RECORD, cut_files, make_folder, pool_files
from sparingly.choose.pool.scored_pool import ScoredPool
from sparingly.choose.pool.scorers import Scorer, parse_scoring
from sparingly.choose.pool.sources import Languages, Layout, read_corpus
from sparingly.choose.pool.workers import WorkOptions, WorkSettings, open_executor
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
    """Score every source of a pool that may be larger than memory, and write the scores to a folder.

    What was scored before into the same folder is not scored again. Which records make up a part has no
    influence on what is selected later.

    Args:
        paths: Files, folders or globs of Parquet, JSON Lines, CSV or plain text, compressed or not.
        out: The folder to write to; it is made if needed.
        by: The utility: ``source_length``, a column, ``distilled:model=FILE,utility=NAME`` for a distilled
            model, ``package.module:function``, or a function that takes a list of texts and gives one number
            each.
        id: The column of ids; ``item`` or ``id`` unless given, made from the text where there is neither.
        text: The column of texts; default: ``source`` or ``text``.
        keep: The further columns to keep; default: all of them.
        against: A corpus to compare with: the share of every source that it contains is stored.
        near: Also compute MinHash for near duplicates, 128 bytes a source.
        language: The column that says the language of a source.
        identify: Identify the language where no column says it.
        languages: The languages to identify among; default: all that are known.
        bad: Bad records are skipped and counted, or the first of them is an error.
        longest: The most bytes of a record.
        embed: Also embed the sources: ``hashed`` (character n-grams, no download), a sentence-transformers
            model, or a function from texts to an array with a row for each.
        **work: How the work is done: ``rows``, ``batch``, ``stretch``, ``jobs``, ``cluster``, ``progress``.
    """
    settings, embedding = WorkSettings(**work), None if embed is None else parse_embedding(embed)
    if longest < 1:
        raise UsageError(f"{either('--max-bytes', 'longest')} is 1 or more, not {longest}.")
    scoring, folder = parse_scoring(by), Path(out)
    language_rule = Languages(language, identify, tuple(sorted(set(languages))))
    language_rule.check()
    columns = None if keep is None else {*keep, *(() if language is None else (language,))}
    layout = Layout(id, text, None if columns is None else tuple(sorted(columns)), scoring.column)
    corpus = None if against is None else read_corpus(against, Layout(text=text), bad)
    plan = ScoringPlan(
        out=folder.resolve(),
        layout=layout,
        scoring=scoring,
        bad=bad,
        near=near,
        corpus=corpus,
        languages=language_rule,
        longest=longest,
        rows=settings.rows,
        batch=settings.batch,
    )
    inputs, ignored = pool_files(paths, besides=folder)
    # Files keep the names that the user gave; workers elsewhere find them from this folder.
    current_folder = Path.cwd()
    pieces = [replace(file_range, root=current_folder) for file_range in cut_files(inputs, settings.stretch)]
    make_folder(folder)
    with open_executor(settings.jobs, settings.cluster, [plan.out, current_folder / inputs[0]]) as executor:
        parts, read = list[PoolPart](), 0
        for ranges_done, (_, new_parts) in enumerate(executor.map_unordered(score_range, pieces, plan), 1):
            parts += new_parts
            read += sum(part.tally.read for part in new_parts)
            settings.report(ranges_done, len(pieces), f"{read:,} records")
        pool = replace(ScoredPool.from_parts(plan, parts, ignored), folder=folder)
        if not pool.tally.good:
            kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(pool.tally.bad.items()))
            raise DataError(
                f"The pool has no source: of {pool.tally.read} records, {kinds or 'none is there'}."
            )
        if bad == "refuse" and pool.duplicate_ids:
            raise InputError(
                f"{pool.duplicate_ids} sources have the id of another with a different text, such as "
                f"{listing(pool.duplicate_examples)}",
                fix=f"Give every source an id of its own, or skip the others: {argument('bad', 'skip')}",
            )
        pool = pool if embedding is None else embed_pool(pool, embedding, executor, settings)
    pool.save()
    return pool
