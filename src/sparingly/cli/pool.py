"""``sparingly pool``: sources by the million, scored in one pass and drawn in another."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter
from cyclopts.validators import Number

from sparingly.base.errors import EXIT_DONE, EXIT_NO, UsageError
from sparingly.cli.options import Json, Seed, emit, progress, read_ids, working

_HELP = """Choose sources from a pool that may be larger than memory, before any model has seen them.

`pool score` reads the files once and keeps what is needed to draw; `pool select` draws, as often as you like.

```
sparingly pool score crawl/ --by distilled:model=hard.skops --out scored
sparingly pool select scored --design pivotal --budget 2000 --out chosen.json
```
"""
_ONE_OR_MORE = Number(gte=1)
Jobs = Annotated[int, Parameter(validator=_ONE_OR_MORE, help="The number of processes.")]
Cluster = Annotated[
    str | None, Parameter(help="A Dask scheduler, tcp://HOST:8786, or local: --jobs workers on this machine.")
]
pool = App(name="pool", help=_HELP)


def _several(text: str) -> Parameter:
    return Parameter(help=f"{text}; repeat for several.", negative="", show_default=False)


@Parameter(name="*")
@dataclass(frozen=True)
class ColumnOptions:
    """Which columns hold what."""

    id: Annotated[
        str | None, Parameter(help="The column of ids; item or id unless given, else made from the text.")
    ] = None
    text: Annotated[str | None, Parameter(help="The column of texts; source or text unless given.")] = None
    keep: Annotated[tuple[str, ...], _several("A further column to keep, all unless given")] = ()


@Parameter(name="*")
@dataclass(frozen=True)
class LanguageOptions:
    """Which language a source is in."""

    language: Annotated[str | None, Parameter(help="The column that says the language of a source.")] = None
    identify: Annotated[
        bool,
        Parameter(negative="", show_default=False, help="Identify the language where no column says it."),
    ] = False
    languages: Annotated[
        str | None, Parameter(help="The languages to tell apart, de,en; all that are known unless given.")
    ] = None

    @property
    def chosen(self) -> dict[str, Any]:
        """The options by name, the languages one by one."""
        return {**vars(self), "languages": _names(self.languages) or ()}


@Parameter(name="*")
@dataclass(frozen=True)
class WorkOptions:
    """How the work is done; it has no influence on what is selected."""

    rows: Annotated[int, Parameter(validator=_ONE_OR_MORE, help="The records of a part.")] = 100_000
    batch: Annotated[int, Parameter(validator=_ONE_OR_MORE, help="The texts that are scored at once.")] = (
        10_000
    )
    jobs: Jobs = 1
    cluster: Cluster = None


@Parameter(name="*")
@dataclass(frozen=True)
class ProcessOptions:
    """Who does the work of a draw; it has no influence on what is selected."""

    jobs: Jobs = 1
    cluster: Cluster = None


@Parameter(name="*")
@dataclass(frozen=True)
class DrawingOptions:
    """How probability designs draw."""

    tau: Annotated[float, Parameter(help="The share of the probabilities that goes by utility.")] = 0.5
    order: Annotated[
        Literal["random", "utility", "length"], Parameter(help="What the list of systematic is sorted by.")
    ] = "random"
    spread: Annotated[
        Literal["embedding"] | None,
        Parameter(help="Spread the draw out over clusters of embeddings, which pool score --embed made."),
    ] = None
    clusters: Annotated[
        int, Parameter(validator=Number(gte=2), help="How many clusters --spread goes through, about.")
    ] = 1024
    seed: Seed = 0


@Parameter(name="*")
@dataclass(frozen=True)
class FilterOptions:
    """Which sources may be chosen."""

    never: Annotated[
        tuple[Path, ...],
        _several("A selection, or ids one a line, that must not be chosen, nor copies of them"),
    ] = ()
    anchors: Annotated[
        tuple[Path, ...], _several("A selection, or ids one a line, that are taken for certain")
    ] = ()
    shortest: Annotated[float | None, Parameter(help="The fewest words of a source.")] = None
    longest: Annotated[float | None, Parameter(help="The most words of a source.")] = None
    overlap: Annotated[
        float | None, Parameter(help="Leave out what stands in the corpus by this share or more, 0.5.")
    ] = None
    near: Annotated[float | None, Parameter(help="Leave out what is so much like another source, 0.8.")] = (
        None
    )
    cosine: Annotated[
        float | None, Parameter(help="Leave out what has an embedding so near another's, 0.95.")
    ] = None
    duplicates: Annotated[
        bool, Parameter(negative="", show_default=False, help="Let several sources have the same text.")
    ] = False
    languages: Annotated[str | None, Parameter(help="The languages that sources may be in, de,en.")] = None
    familiar: Annotated[
        bool,
        Parameter(
            negative="", show_default=False, help="Leave out sources unlike what the model was trained on."
        ),
    ] = False

    @property
    def chosen(self) -> dict[str, Any]:
        """The filters by name, files read."""
        lists = {name: _ids(getattr(self, name)) for name in ("never", "anchors")}
        return {**vars(self), **lists, "languages": _names(self.languages)}


@Parameter(name="*")
@dataclass(frozen=True)
class QuotaOptions:
    """How much of what."""

    groups: Annotated[
        str | None,
        Parameter(help="A column, or length, utility, embedding for bands: a quota each; a,b crosses them."),
    ] = None
    quota: Annotated[
        str, Parameter(help="equal, share (by size), or numbers of sources, news=100,chat=50.")
    ] = "equal"
    bands: Annotated[int, Parameter(help="The number of bands of length, utility or embedding.")] = 4
    cost: Annotated[str | None, Parameter(help="The cost of a source: a kept column, or length.")] = None

    @property
    def chosen(self) -> dict[str, Any]:
        """The quotas by name."""
        return {**vars(self), "quota": _quota(self.quota)}


DEFAULT_COLUMNS, DEFAULT_LANGUAGES, DEFAULT_WORK, DEFAULT_DRAWING = (
    ColumnOptions(),
    LanguageOptions(),
    WorkOptions(),
    DrawingOptions(),
)
DEFAULT_FILTERS, DEFAULT_QUOTAS, DEFAULT_PROCESSES = FilterOptions(), QuotaOptions(), ProcessOptions()


@pool.command
def score(
    paths: Annotated[
        tuple[str, ...],
        Parameter(help="Files, folders or globs: .parquet, .jsonl, .csv, .tsv, .txt, also .gz."),
    ],
    /,
    *,
    out: Annotated[Path, Parameter(name=["--out", "-o"], help="The folder to write to, or to go on in.")],
    by: Annotated[
        str,
        Parameter(
            help="The utility: source_length, a column, distilled:model=FILE, or package.module:function."
        ),
    ] = "source_length",
    columns: ColumnOptions = DEFAULT_COLUMNS,
    languages: LanguageOptions = DEFAULT_LANGUAGES,
    against: Annotated[tuple[str, ...], _several("A corpus to compare with, files as for the pool")] = (),
    near: Annotated[
        bool, Parameter(negative="", show_default=False, help="Prepare to find near duplicates.")
    ] = False,
    embed: Annotated[
        str | None, Parameter(help="Embed the sources: hashed, or a sentence-transformers model.")
    ] = None,
    bad: Annotated[
        Literal["skip", "refuse"], Parameter(help="Skip and count bad records, or stop at the first.")
    ] = "skip",
    max_bytes: Annotated[
        int, Parameter(validator=_ONE_OR_MORE, help="A longer record is a bad one.")
    ] = 1_000_000,
    work: WorkOptions = DEFAULT_WORK,
    json: Json = False,
) -> None:
    """Score every source of a pool in one pass, and say what was wrong with the records that are none.

    Interrupted, it goes on where it was when it is called again.

    ```
    sparingly pool score crawl/ --out scored --near
    sparingly pool score /shared/crawl --out /shared/scored --embed hashed --cluster tcp://10.0.0.1:8786
    sparingly pool score 'news-*.jsonl.gz' --by difficulty --against tests.jsonl --out scored
    sparingly pool score pool.parquet --by distilled:model=hard.skops --identify --jobs 2 --out scored
    ```
    """
    from sparingly.choose.pool.score import score_pool
    from sparingly.show.terminal.pool import show_scored

    settings: dict[str, Any] = {
        "id": columns.id,
        "text": columns.text,
        "keep": columns.keep or None,
        "against": against or None,
        "embed": embed,
        **languages.chosen,
    }
    with progress("reading") as on_progress:
        scored = score_pool(
            paths,
            out,
            by=by,
            near=near,
            bad=bad,
            longest=max_bytes,
            progress=on_progress,
            **settings,
            **vars(work),
        )
    emit(scored.to_dict()) if json else show_scored(scored)


@pool.command
def select(
    scored: Annotated[Path, Parameter(help="The folder that pool score wrote.")],
    /,
    *,
    budget: Annotated[
        str | None,
        Parameter(
            name=["--budget", "-b"], help="1000, 1%, cost:500, 2h; not needed with numbers as --quota."
        ),
    ] = None,
    design: Annotated[
        Literal["top", "uniform", "pivotal", "systematic"],
        Parameter(name=["--design", "-m"], help="The best by utility, or a probability design."),
    ],
    drawing: DrawingOptions = DEFAULT_DRAWING,
    filters: FilterOptions = DEFAULT_FILTERS,
    quotas: QuotaOptions = DEFAULT_QUOTAS,
    processes: ProcessOptions = DEFAULT_PROCESSES,
    out: Annotated[
        tuple[Path, ...],
        Parameter(
            name=["--out", "-o"],
            help="Where to write: .json the selection; .jsonl, .csv, .parquet the sources; repeatable.",
            negative="",
            show_default=False,
        ),
    ] = (),
    json: Json = False,
) -> None:
    """Choose sources from a scored pool: the best, or a sample with known inclusion probabilities.

    The same sources, seed and options give the same selection, whatever the files, parts and workers were.

    ```
    sparingly pool select scored -m pivotal -b 2000 --near 0.8 -o chosen.json -o chosen.jsonl
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
            **vars(processes),
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
    scored: Annotated[Path, Parameter(help="The folder that pool score wrote.")],
    selection: Annotated[Path, Parameter(help="The selection's file.")],
    /,
    *,
    json: Json = False,
) -> int:
    """Draw again what a selection's signature says, and compare; exit code 1 if the answer differs.

    ```
    sparingly pool verify scored chosen.json
    ```
    """
    from sparingly.choose.pool.scored_pool import ScoredPool
    from sparingly.data.selection import Selection
    from sparingly.run.verify import verify_pool
    from sparingly.show.terminal.selection import show_verification

    chosen = Selection.load(selection)
    with working("verifying"):
        result = verify_pool(chosen, ScoredPool.load(scored))
    emit(result.to_dict()) if json else show_verification(result, chosen)
    return EXIT_DONE if result.ok else EXIT_NO


def _ids(paths: tuple[Path, ...]) -> list[str]:
    """Read ids from selections and from plain lists."""
    from sparingly.data.selection import Selection

    return [
        str(name)
        for path in paths
        for name in (Selection.load(path).items if path.suffix == ".json" else read_ids(path))
    ]


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def _quota(text: str) -> str | dict[str, int]:
    if text in ("equal", "share"):
        return text
    counts: dict[str, int] = {}
    for part in text.split(","):
        name, sign, count = part.rpartition("=")
        if not sign or not count.strip().isdecimal():
            raise UsageError(f'"{text}" is no quota: write equal, share, or news=100,chat=50.')
        counts[name.strip()] = int(count)
    return counts
