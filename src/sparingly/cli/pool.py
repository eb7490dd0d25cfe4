"""``sparingly pool``: sources by the million, scored in one pass and drawn in another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App
from cyclopts.validators import Number

from sparingly.base.errors import EXIT_DONE, EXIT_NO, UsageError
from sparingly.cli.options import Json, Seed, emit, parts_of, read_ids, working
from sparingly.cli.parameters import about, flag, options, repeatable, several

_HELP = """Choose sources from a large pool, before any model has run.

```
sparingly pool score crawl/ --by distilled:model=hard.skops --out scored
```

`pool score` reads the files once and stores what is needed to draw a sample; `pool select` draws, as often as
you like.

```
sparingly pool select scored --method pivotal --budget 2000 --out chosen.json
```
"""
_ONE_OR_MORE = Number(gte=1)
Jobs = Annotated[int, about("The number of processes.", validator=_ONE_OR_MORE)]
Cluster = Annotated[
    str | None, about("A Dask scheduler, tcp://HOST:8786, or local: --jobs workers on this machine.")
]
pool = App(name="pool", help=_HELP)


@options
class DrawingOptions:
    """How probability designs draw."""

    tau: Annotated[float, about("How much the probabilities depend on the utility, 0 to 1.")] = 0.5
    order: Annotated[
        Literal["random", "utility", "length"], about("What the list of systematic is sorted by.")
    ] = "random"
    spread: Annotated[
        Literal["embedding"] | None,
        about("Spread the draw out over clusters of embeddings, which pool score --embed made."),
    ] = None
    clusters: Annotated[
        int, about("How many clusters --spread goes through, about.", validator=Number(gte=2))
    ] = 1024
    seed: Seed = 0


@options
class SourceFilterOptions:
    """Which sources may be chosen."""

    never: Annotated[
        tuple[Path, ...],
        several("A selection, or ids one a line, that must not be chosen, nor copies of them"),
    ] = ()
    anchors: Annotated[
        tuple[Path, ...], several("A selection, or ids one a line, that are taken for certain")
    ] = ()
    shortest: Annotated[float | None, about("The fewest words of a source.")] = None
    longest: Annotated[float | None, about("The most words of a source.")] = None
    overlap: Annotated[
        float | None,
        about("Leave out sources of which this share or more occurs in the corpus, 0.5.", "--in-corpus"),
    ] = None
    near: Annotated[float | None, about("Leave out sources this similar to another, 0.8.")] = None
    cosine: Annotated[
        float | None, about("Leave out sources with an embedding this near another's, 0.95.")
    ] = None
    duplicates: Annotated[bool, flag("Let several sources have the same text.", show_default=False)] = False
    languages: Annotated[str | None, about("The languages that sources may be in, de,en.")] = None
    familiar: Annotated[
        bool, flag("Leave out sources unlike what the model was trained on.", show_default=False)
    ] = False

    @property
    def chosen(self) -> dict[str, Any]:
        """The filters by name, files read."""
        from sparingly.data.selection import Selection

        lists = {
            name: [
                str(item)
                for path in getattr(self, name)
                for item in (Selection.load(path).items if path.suffix == ".json" else read_ids(path))
            ]
            for name in ("never", "anchors")
        }
        return {
            **vars(self),
            **lists,
            "languages": None if self.languages is None else parts_of(self.languages),
        }


@options
class QuotaOptions:
    """How much of what."""

    groups: Annotated[
        str | None,
        about("A column, or length, utility, embedding for bands: a quota each; a,b crosses them."),
    ] = None
    quota: Annotated[str, about("equal, share (by size), or numbers of sources, news=100,chat=50.")] = "equal"
    bands: Annotated[int, about("The number of bands of length, utility or embedding.")] = 4
    cost: Annotated[str | None, about("The cost of a source: a column, or length.")] = None

    @property
    def chosen(self) -> dict[str, Any]:
        """The quotas by name."""
        if self.quota in ("equal", "share"):
            return vars(self)
        counts: dict[str, int] = {}
        for part in self.quota.split(","):
            name, sign, count = part.rpartition("=")
            if not sign or not count.strip().isdecimal():
                raise UsageError(f'"{self.quota}" is not a quota: write equal, share, or news=100,chat=50.')
            counts[name.strip()] = int(count)
        return {**vars(self), "quota": counts}


DEFAULT_DRAWING, DEFAULT_FILTERS, DEFAULT_QUOTAS = DrawingOptions(), SourceFilterOptions(), QuotaOptions()


@pool.command
def score(
    paths: Annotated[
        tuple[str, ...], about("Files, folders or globs: .parquet, .jsonl, .csv, .tsv, .txt, also .gz.")
    ],
    /,
    *,
    out: Annotated[Path, about("The folder to write to, or to continue in.", "--out", "-o")],
    by: Annotated[
        str, about("The utility: source_length, a column, distilled:model=FILE, or package.module:function.")
    ] = "source_length",
    id: Annotated[
        str | None, about("The column of ids. Default: item or id; else made from the text.")
    ] = None,
    text: Annotated[str | None, about("The column of texts; default: source or text.")] = None,
    keep: Annotated[tuple[str, ...], several("A further column to store (default: all)")] = (),
    language: Annotated[str | None, about("The column with the language of a source.")] = None,
    identify: Annotated[bool, flag("Identify the language if no column has it.", show_default=False)] = (
        False
    ),
    languages: Annotated[
        str | None, about("The languages to choose from, de,en; default: all known ones.")
    ] = None,
    corpus: Annotated[tuple[str, ...], several("A corpus to compare with, files as for the pool")] = (),
    near_duplicates: Annotated[bool, flag("Prepare to find near duplicates.", show_default=False)] = False,
    embed: Annotated[
        str | None, about("Embed the sources: hashed, or a sentence-transformers model.")
    ] = None,
    bad: Annotated[
        Literal["skip", "refuse"], about("Skip and count bad records, or stop at the first.")
    ] = "skip",
    max_bytes: Annotated[int, about("A longer record is a bad one.", validator=_ONE_OR_MORE)] = 1_000_000,
    rows: Annotated[int, about("The records of a part.", validator=_ONE_OR_MORE)] = 100_000,
    batch: Annotated[int, about("The texts that are scored at once.", validator=_ONE_OR_MORE)] = 10_000,
    jobs: Jobs = 1,
    cluster: Cluster = None,
    json: Json = False,
) -> None:
    """Score every source of a pool in one pass.

    ```
    sparingly pool score crawl/ --out scored --near-duplicates
    ```

    After an interruption, the same command continues.

    ```
    sparingly pool score /shared/crawl --out /shared/scored --embed hashed --cluster tcp://10.0.0.1:8786
    sparingly pool score 'news-*.jsonl.gz' --by difficulty --corpus tests.jsonl --out scored
    sparingly pool score pool.parquet --by distilled:model=hard.skops --identify --jobs 2 --out scored
    ```
    """
    from sparingly.choose.pool.score import score_pool
    from sparingly.show.terminal.pool import show_scored

    with working("reading") as on_progress:
        scored = score_pool(
            paths,
            out,
            by=by,
            id=id,
            text=text,
            keep=keep or None,
            language=language,
            identify=identify,
            languages=parts_of(languages),
            against=corpus or None,
            near=near_duplicates,
            embed=embed,
            bad=bad,
            longest=max_bytes,
            rows=rows,
            batch=batch,
            jobs=jobs,
            cluster=cluster,
            progress=on_progress,
        )
    emit(scored.to_dict()) if json else show_scored(scored)


@pool.command
def select(
    scored: Annotated[Path, about("The folder that pool score wrote.")],
    /,
    *,
    budget: Annotated[
        str | None, about("1000, 1%, cost:500, 2h; not needed with numbers as --quota.", "--budget", "-b")
    ] = None,
    design: Annotated[
        Literal["top", "uniform", "pivotal", "systematic"],
        about("The best by utility, or a probability design.", "--method", "-m"),
    ],
    drawing: DrawingOptions = DEFAULT_DRAWING,
    filters: SourceFilterOptions = DEFAULT_FILTERS,
    quotas: QuotaOptions = DEFAULT_QUOTAS,
    jobs: Jobs = 1,
    cluster: Cluster = None,
    out: Annotated[
        tuple[Path, ...],
        repeatable(
            "Where to write: .json the selection; .jsonl, .csv, .parquet the sources; repeatable.",
            "--out",
            "-o",
        ),
    ] = (),
    json: Json = False,
) -> None:
    """Choose sources from a scored pool: the best, or a random sample.

    ```
    sparingly pool select scored -m pivotal -b 2000 --near 0.8 -o chosen.json -o chosen.jsonl
    ```

    The same sources, seed and options give the same selection, whatever the files, parts and workers were.

    ```
    sparingly pool select scored -m top -b 500 --groups domain --shortest 5 -o chosen.json
    sparingly pool select scored -m uniform -b 1000 --anchors last.txt --never last-year.json
    sparingly pool select scored -m uniform -b 1000 --spread embedding --cluster tcp://10.0.0.1:8786
    ```
    """
    from sparingly.choose.pool.select import select_pool
    from sparingly.show.terminal.pool import show_pool_selection

    with working("choosing"):
        chosen = select_pool(
            scored,
            budget,
            design=design,
            **vars(drawing),
            **filters.chosen,
            **quotas.chosen,
            jobs=jobs,
            cluster=cluster,
        )
    for path in out:
        chosen.save(path)
    if json:
        facts = {"scored": chosen.scored, "removed": dict(chosen.removed)}
        emit({**chosen.selection.to_dict(), **facts, "pool_notes": list(chosen.pool_notes)})
    else:
        show_pool_selection(chosen, out)


@pool.command
def verify(
    scored: Annotated[Path, about("The folder that pool score wrote.")],
    selection: Annotated[Path, about("The selection's file.")],
    /,
    *,
    json: Json = False,
) -> int:
    """Check that a selection follows from its pool.

    ```
    sparingly pool verify scored chosen.json
    ```
    """
    from sparingly.choose.pool.scored_pool import ScoredPool
    from sparingly.data.selection import Selection
    from sparingly.run.verify import verify_pool
    from sparingly.show.terminal.results import show_verification

    chosen = Selection.load(selection)
    with working("verifying"):
        result = verify_pool(chosen, ScoredPool.load(scored))
    emit(result.to_dict()) if json else show_verification(result, chosen)
    return EXIT_DONE if result.ok else EXIT_NO
