"""``select_pool``: a scored pool, a budget and a design become a signed selection, in one pass to draw."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, Unpack

import numpy as np

from sparingly._version import __version__
from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError, UsageError, listing
from sparingly.base.text import Bare, Call, Items, Value, format_call, format_number, text_value
from sparingly.choose.design import knapsack
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.draws import draw_pivotal, draw_systematic, snap_probabilities
from sparingly.choose.design.probability import affordable_probabilities, inclusion_probabilities, sizes_of
from sparingly.choose.pool.candidates import (
    NO_QUOTA,
    FilterOptions,
    Limits,
    SourceFrame,
    filter_candidates,
    parse_filters,
    read_frame,
)
from sparingly.choose.pool.embeddings import label_of, vector_files
from sparingly.choose.pool.groups import (
    CLUSTERS,
    EMBEDDING,
    Quota,
    SourceGroups,
    after_anchors,
    assign_leaves,
    group_names,
    group_shares,
    make_groups,
    with_quota,
)
from sparingly.choose.pool.parts import BANDS_FILE, TABLE
from sparingly.choose.pool.scored_pool import UNLIKE, ScoredPool
from sparingly.choose.pool.sources import LANGUAGE
from sparingly.choose.pool.workers import open_executor
from sparingly.data import files
from sparingly.data.selection import Selection
from sparingly.data.signature import Signature, digest_ids
from sparingly.data.values import plain
from sparingly.signals.cost import LENGTH, SECONDS, SECONDS_PER_ITEM, SECONDS_PER_WORD

if TYPE_CHECKING:
    import polars as pl


DesignName = Literal["top", "uniform", "pivotal", "systematic"]
OrderName = Literal["random", "utility", "length"]
_COLUMNS = ("item", "source", "probability", "utility", "cost", "stratum", "reason", "file", "line")
_RENAMED = "given_"
_WIDE = 2**63
METHOD, ANCHOR = "pool", "anchor"


def select_pool(
    pool: ScoredPool | str | Path,
    budget: int | float | str | Budget | None = None,
    *,
    design: DesignName,
    tau: float = 0.5,
    order: OrderName = "random",
    seed: int = 0,
    groups: str | None = None,
    quota: Literal["equal", "share"] | Mapping[str, int] = "equal",
    bands: int = 4,
    cost: str | None = None,
    spread: Literal["embedding"] | None = None,
    clusters: int = CLUSTERS,
    jobs: int = 1,
    cluster: str | None = None,
    **filters: Unpack[FilterOptions],
) -> PoolSelection:
    """Choose sources from a scored pool.

    The selection depends on the sources, the seed and these parameters alone: not on the number or order of
    files, on parts, batches or workers. The numbers of a pool are held in memory, its texts are not.

    Args:
        pool: The scored pool, or its folder.
        budget: A count (1000), a share (0.01 or "1%"), a cost ("cost:500") or a time ("2h").
        design: ``top`` (no inclusion probabilities), ``uniform``, ``pivotal`` or ``systematic``.
        tau: The share of the inclusion probabilities that follows the utility.
        order: What the list of ``systematic`` is sorted by.
        spread: ``embedding`` draws along a path through clusters of embeddings: the sources differ more.
        clusters: The number of these clusters, about.
        seed: For ties and draws; the same seed gives the same answer.
        groups: A kept column, ``language``, ``length`` or ``utility``: the selection gets its quota of every
            group; several are crossed, ``domain,utility``.
        quota: Equal parts, parts by size (``share``), or numbers by name, which need no budget.
        bands: The number of bands of ``length`` or ``utility``.
        cost: What judging a source costs: a kept column, or ``length`` for seconds by its length.
        jobs: The number of processes.
        cluster: The address of a Dask scheduler, or ``local`` for one on this machine with ``jobs`` workers.
        **filters: Which sources may be chosen: ``anchors``, ``never``, ``shortest``, ``longest``,
            ``overlap``, ``near``, ``cosine``, ``duplicates``, ``languages``, ``familiar``.
    """
    scored_pool = pool if isinstance(pool, ScoredPool) else ScoredPool.load(pool)
    limits = parse_filters(filters)
    request = PoolRequest(
        PoolDesign(design, tau, order, seed, spread is not None),
        None if budget is None else Budget.parse(budget),
        limits.limits,
        groups,
        quota,
        bands,
        cost,
        limits.anchors,
        limits.never,
        clusters,
    )
    with open_executor(jobs, cluster, [scored_pool.folder.resolve()]) as executor:
        return _draw_selection(replace(scored_pool, executor=executor), request)


@dataclass(frozen=True)
class PoolRequest:
    """The parameters of a draw."""

    design: PoolDesign
    budget: Budget | None
    limits: Limits
    groups: str | None
    quota: Quota
    bands: int
    cost: str | None
    anchors: tuple[str, ...]
    never: tuple[str, ...]
    clusters: int = CLUSTERS

    @property
    def embedded(self) -> bool:
        """Whether embeddings have a part in the selection."""
        return self.design.spread or self.limits.cosine is not None or EMBEDDING in group_names(self.groups)

    def files(self, pool: ScoredPool) -> tuple[str, ...]:
        """Return the endings of the files of every part that the draw reads."""
        return (
            TABLE,
            *(() if self.limits.near is None else (BANDS_FILE,)),
            *(vector_files(label_of(pool)) if self.embedded else ()),
        )

    def method(self, pool: ScoredPool) -> str:
        """Return everything that the selection depends on, beside the sources, as a method's text."""
        values: dict[str, Any] = {
            "by": pool.by,
            "against": pool.against,
            "design": self.design.name,
            "tau": self.design.share,
            "order": self.design.order,
            "spread": EMBEDDING if self.design.spread else None,
            "clusters": self.clusters if self.design.spread else None,
            "embedding": pool.embedding if self.embedded else None,
            "groups": self.groups,
            "quota": self.quota,
            "bands": self.bands,
            "cost": self.cost,
            **asdict(self.limits),
            "anchors": digest_ids(self.anchors) if self.anchors else None,
        }
        return format_call(Call(METHOD, tuple((name, _value(value)) for name, value in values.items())))


def _draw_selection(pool: ScoredPool, request: PoolRequest) -> PoolSelection:
    request.limits.check(pool)
    pool.check(*request.files(pool))
    frame, inputs = read_frame(pool, request.anchors, request.never)
    scored = len(frame)
    frame, removed = filter_candidates(pool, frame, request.limits)
    if not len(frame):
        raise DataError(f"None of the {scored:,} sources may be chosen: {_describe_removed(removed)}.")
    groups = make_groups(pool, frame, request.groups, request.bands)
    frame, groups, removed[NO_QUOTA] = with_quota(frame, groups, request.quota)
    costs = None if request.cost is None else costs_of(pool, frame, request.cost)
    if request.design.spread:
        frame = replace(frame, leaf=assign_leaves(pool, frame, request.clusters))
    chosen = _choose_rows(frame, request, groups, costs)
    if not len(chosen.rows):
        raise UsageError(f"The budget {request.budget} is too small for any source.")
    signature = Signature(
        method=request.method(pool),
        budget=str(request.budget or Budget("count", len(chosen.rows))),
        seed=request.design.seed,
        n=len(chosen.rows),
        of=len(frame),
        inputs=inputs,
        labels=None,
        version=__version__,
        never=digest_ids(request.never) if request.never else None,
    )
    table = pool.rows(frame.place[chosen.rows])
    selection = _selection(frame, chosen, groups, costs, request, signature)
    selection = replace(
        selection,
        items=np.array(table.get_column("item").to_list(), object),
        notes=(
            *pool.notes,
            *_unlike_notes(table),
            *((f"of {scored:,} sources, {_describe_removed(removed)}",) if any(removed.values()) else ()),
        ),
    )
    return PoolSelection.build(selection, table, scored, removed, pool.checksum_notes)


def _unlike_notes(chosen: pl.DataFrame) -> tuple[str, ...]:
    """Warn how many of the chosen sources are unlike the training texts of the utility's model."""
    count = int(chosen.get_column(UNLIKE).sum()) if UNLIKE in chosen.columns else 0
    fraction = f"{count:,} of the {len(chosen):,} chosen sources"
    return (f"{fraction} are unlike the texts that the model was trained on.",) if count else ()


def costs_of(pool: ScoredPool, frame: SourceFrame, cost: str) -> Floats:
    """Return what judging a source costs: ``length`` is 0.15·|source| + 33.7 s (Zouhar et al. 2025, 5.2)."""
    if cost == LENGTH:
        return np.asarray(SECONDS_PER_ITEM + SECONDS_PER_WORD * frame.length)
    import polars as pl

    costs = pool.extra_column(cost).gather(frame.place).cast(pl.Float64, strict=False).to_numpy()
    bad = int((~np.isfinite(costs) | (costs < 0)).sum())
    if bad:
        raise DataError(f'{bad} of {len(frame)} sources have no cost of 0 or more in the column "{cost}".')
    return np.asarray(costs, np.float64)


@dataclass(frozen=True, eq=False)
class ChosenRows:
    """The rows of the frame that were chosen, anchors first, and their inclusion probabilities."""

    rows: Ints
    chances: Floats | None


def _choose_rows(
    frame: SourceFrame, request: PoolRequest, groups: SourceGroups, costs: Floats | None
) -> ChosenRows:
    """Take the anchors, and draw from every group what is left of its quota."""
    design, weights = request.design, _weights(request, costs)
    shares = group_shares(request.budget, frame, groups, request.quota, weights)
    free_shares = after_anchors(shares, frame, groups, weights, by_name=isinstance(request.quota, Mapping))
    if design.name != "top":
        _check_all_can_be_drawn(frame, groups, free_shares)
    rows, all_probabilities = [np.flatnonzero(frame.anchor)], [np.ones(int(frame.anchor.sum()))]
    for place in np.flatnonzero(free_shares):
        inside = np.flatnonzero((groups.of_row == place) & ~frame.anchor)
        group_weights = None if weights is None else weights[inside]
        drawn_rows, probabilities = draw_sources(
            frame.take(inside), design, float(free_shares[place]), group_weights, groups.names[place]
        )
        rows.append(inside[drawn_rows])
        all_probabilities.append(np.full(len(drawn_rows), np.nan) if probabilities is None else probabilities)
    all_chances = None if design.name == "top" else np.concatenate(all_probabilities)
    return _in_one_list(frame, design, np.concatenate(rows), all_chances)


def _check_all_can_be_drawn(frame: SourceFrame, groups: SourceGroups, more: Floats) -> None:
    """Raise UsageError if some sources could not be drawn: no estimate could cover them."""
    left_out = (more == 0) & (groups.totals(np.where(frame.anchor, 0.0, 1.0)) > 0)
    if not left_out.any():
        return
    if not more.any():
        raise UsageError("The anchors take the whole budget, and the others could not be drawn: raise it.")
    names = listing(np.array(groups.names)[left_out], 3)
    raise UsageError(
        f"The budget leaves {names} without any draw, and nothing could be said of the sources there: raise "
        "it, or use fewer groups."
    )


def _weights(request: PoolRequest, costs: Floats | None) -> Floats | None:
    """Return the costs for a budget of cost; None if sources are counted."""
    if request.budget is not None and isinstance(request.quota, Mapping):
        raise UsageError("Numbers of sources by name go without a budget: leave it out.")
    if request.budget is None or request.budget.kind != "cost":
        return None
    if costs is None:
        raise UsageError("A budget of cost needs the cost of every source: name a column, or length.")
    return costs


def _in_one_list(frame: SourceFrame, design: PoolDesign, rows: Ints, chances: Floats | None) -> ChosenRows:
    """Put the groups' sources into one list: anchors first, then the best first, or by hash."""
    mine = frame.take(rows)
    by_hash = rng.stream(mine.key, design.seed, "pool")
    if design.name == "top":
        ranks = np.empty(len(rows), np.int64)
        ranks[rng.order(mine.utility, mine.key, design.seed)] = np.arange(len(rows))
        order = np.lexsort((ranks, ~mine.anchor))
    else:
        order = np.lexsort((by_hash, ~mine.anchor))
    return ChosenRows(rows[order], None if chances is None else chances[order])


def _selection(
    frame: SourceFrame,
    chosen: ChosenRows,
    groups: SourceGroups,
    costs: Floats | None,
    request: PoolRequest,
    signature: Signature,
) -> Selection:
    anchor = frame.anchor[chosen.rows]
    words = np.where(anchor, ANCHOR, request.design.words).astype(object)
    strata = np.array(groups.names, object)[groups.of_row[chosen.rows]]
    return Selection(
        items=frame.place[chosen.rows].astype(object),
        signature=signature,
        utility=frame.utility[chosen.rows],
        probability=chosen.chances,
        stratum=None if request.groups is None else strata,
        cost=None if costs is None else costs[chosen.rows],
        reasons=words if anchor.any() else None,
        reason=request.design.words,
        cost_unit=SECONDS if request.cost == LENGTH else "",
        never=request.never,
    )


def _value(value: Any) -> Value:
    if value is None or isinstance(value, bool):
        return Bare("none" if value is None else str(value).lower())
    if isinstance(value, Mapping):
        pairs = (f"{name}={count}" for name, count in sorted(value.items()))
        return Items(tuple(text_value(pair, inside_list=True) for pair in pairs))
    if isinstance(value, tuple):
        return Items(tuple(text_value(part, inside_list=True) for part in value))
    return text_value(value) if isinstance(value, str) else Bare(format_number(value))


def _describe_removed(removed: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {reason}" for reason, count in removed.items() if count) or "none went"


# The draw


@dataclass(frozen=True)
class PoolDesign:
    """How sources are drawn.

    Attributes:
        name: ``top`` takes the best by utility and has no inclusion probabilities. ``uniform`` gives every
            source the same one, ``pivotal`` and ``systematic`` a share τ of it by utility.
        tau: The share of the probabilities that follows the utility.
        order: What the list of ``systematic`` is sorted by.
        seed: Settles ties and draws.
        spread: Whether the list goes from leaf to leaf of a tree of clusters, and is in a leaf by hash.
    """

    name: DesignName
    tau: float = 0.5
    order: OrderName = "random"
    seed: int = 0
    spread: bool = False

    def __post_init__(self) -> None:
        if self.spread and (self.name == "top" or self.order != "random"):
            raise UsageError("A spread draw is uniform, pivotal or systematic, along a list of its own.")
        if self.order != "random" and self.name != "systematic":
            raise UsageError(f"Only systematic draws go along a sorted list: leave out order={self.order}.")

    @property
    def words(self) -> str:
        """The reason of a row."""
        phrases = {"top": "among the best by utility", "uniform": "drawn, all alike"}
        words = phrases.get(self.name, f"drawn by utility, {self.name}")
        return f"{words}, spread out" if self.spread else words

    @property
    def share(self) -> float:
        """The share of the probabilities that follows the utility."""
        return 0.0 if self.name == "uniform" else self.tau


def hash_order(frame: SourceFrame, seed: int) -> Ints:
    """Return the order of sources by a hash of the seed and their ids."""
    return np.argsort(rng.stream(frame.key, seed, "pool"), kind="stable")


def draw_sources(
    frame: SourceFrame, design: PoolDesign, count: float, costs: Floats | None, group: str
) -> tuple[Ints, Floats | None]:
    """Draw from the sources of a group; return them in their order and their inclusion probabilities.

    Args:
        frame: The sources of the group.
        design: How to draw.
        count: How many sources; with ``costs``, what they may cost.
        costs: What every source costs, where the budget is one of costs.
        group: The group's name, of which the draw depends.
    """
    if design.name == "top":
        return _top(frame, design.seed, count, costs), None
    probabilities = snap_probabilities(_probabilities(frame, design, count, costs))
    generator = rng.generator(design.seed, "pool", design.name, group)
    order = _draw_order(frame, design, costs)
    draw = draw_systematic if design.name == "systematic" else draw_pivotal
    is_drawn = draw(probabilities, generator, order)
    rows = hash_order(frame, design.seed)
    rows = rows[is_drawn[rows]]
    return rows, probabilities[rows]


def _top(frame: SourceFrame, seed: int, count: float, costs: Floats | None) -> Ints:
    order = rng.order(frame.utility, frame.key, seed)
    if costs is None:
        return order[: round(count)]
    steps = rng.round_to_range(frame.utility)
    solved = knapsack.solve(knapsack.rescale(steps[order]), costs[order], count)
    return order[solved.chosen]


def _probabilities(frame: SourceFrame, design: PoolDesign, count: float, costs: Floats | None) -> Floats:
    if costs is None:
        if design.share == 0.0:
            return np.full(len(frame), count / len(frame))
        return inclusion_probabilities(sizes_of(frame.utility), count, tau=design.share)
    if design.order != "random" or design.spread:
        raise UsageError("Under a cost the list is sorted by cost: leave out the order, and the spread.")
    return affordable_probabilities(sizes_of(frame.utility), costs, count, tau=design.share)


def _draw_order(frame: SourceFrame, design: PoolDesign, costs: Floats | None) -> Ints:
    """Return the list to draw along: by hash; under a cost the dearest first, so that it cannot overspend."""
    order = hash_order(frame, design.seed)
    if costs is not None:
        return order[np.argsort(-costs[order], kind="stable")]
    if design.spread and frame.leaf is not None:
        return order[np.argsort(frame.leaf[order], kind="stable")]
    if design.order == "random":
        return order
    values = rng.round_to_range(getattr(frame, design.order))
    return order[np.argsort(values[order], kind="stable")]


# The result


@dataclass(frozen=True, eq=False)
class PoolSelection:
    """A selection from a pool.

    Attributes:
        selection: The chosen sources with their inclusion probabilities and the signature.
        scored: How many sources the pool has.
        removed: How many of them could not be chosen, by reason; the others are ``selection.signature.of``.
        rows: The chosen sources with their texts and extra columns.
        pool_notes: Warnings about the files of the pool; not part of the selection.
    """

    selection: Selection
    scored: int
    removed: Mapping[str, int]
    rows: Sequence[Mapping[str, Any]]
    pool_notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.selection)

    @classmethod
    def build(
        cls,
        bare: Selection,
        chosen: pl.DataFrame,
        scored: int,
        removed: Mapping[str, int],
        pool_notes: tuple[str, ...] = (),
    ) -> PoolSelection:
        """Add the texts and the provenance of the chosen sources, which stand in the order of the rows."""
        rows = list(chosen.iter_rows(named=True))
        extra_columns = [json.loads(row["kept"]) for row in rows]
        origin = [
            {"provenance": {"file": row["file"], "line": row["line"], **extra}}
            for row, extra in zip(rows, extra_columns, strict=True)
        ]
        selection = replace(bare, unknown_in_rows=np.array(origin, object))
        table = [_row(selection, place, row, extra_columns[place]) for place, row in enumerate(rows)]
        return cls(selection, scored, dict(removed), table, pool_notes)

    def frame(self) -> pl.DataFrame:
        """Return the chosen sources as a table: item, source, probability, place, extra columns."""
        import polars as pl

        names = dict.fromkeys(name for row in self.rows for name in row)
        return pl.DataFrame([_column(name, [row.get(name) for row in self.rows]) for name in names])

    def save(self, path: str | Path) -> None:
        """Write the selection (``.json``), or its sources as ``.jsonl``, ``.csv`` or ``.parquet``."""
        path = Path(path)
        kind = files.extension(path)
        if kind == ".json":
            self.selection.save(path)
            return
        writers = {".jsonl": self._jsonl, ".csv": self._csv, ".parquet": self._parquet}
        if kind not in writers:
            raise UsageError(f'The extension "{kind}" of {path.name} is none of .json, {", ".join(writers)}.')
        files.write_atomically(path, writers[kind])

    def _jsonl(self, file: IO[bytes]) -> None:
        for row in self.rows:
            file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")

    def _csv(self, file: IO[bytes]) -> None:
        self.frame().write_csv(file)

    def _parquet(self, file: IO[bytes]) -> None:
        packed = BytesIO()
        self.frame().write_parquet(packed)
        file.write(packed.getbuffer())


def _row(
    selection: Selection, place: int, source: Mapping[str, Any], extra_columns: Mapping[str, Any]
) -> dict[str, Any]:
    """Return one source as a row; an extra column with one of our names gets a prefix."""
    row = selection.row(place)
    columns = {
        "item": row.item,
        "source": source["source"],
        "probability": row.probability,
        "utility": plain(row.utility),
        "cost": plain(row.cost),
        "stratum": row.stratum,
        "reason": row.reason,
        LANGUAGE: source.get(LANGUAGE),
        "file": source["file"],
        "line": source["line"],
    }
    present = {name: value for name, value in columns.items() if value is not None}
    # A language that only the record says is a column like others.
    reserved = {*_COLUMNS, *(present.keys() & {LANGUAGE})}
    extra = {
        f"{_RENAMED}{name}" if name in reserved else name: value for name, value in extra_columns.items()
    }
    if extra.get(f"{_RENAMED}{LANGUAGE}") == columns[LANGUAGE]:
        extra.pop(f"{_RENAMED}{LANGUAGE}", None)
    return present | extra


def _column(name: str, values: list[Any]) -> pl.Series:
    """Return values as a column of one type; where they are of several, or no plain values, as texts."""
    import polars as pl

    kinds = {type(value) for value in values if value is not None}
    if kinds == {int} and all(value is None or -_WIDE <= value < _WIDE for value in values):
        return pl.Series(name, values, pl.Int64)
    if kinds and kinds <= {int, float}:
        return pl.Series(name, [None if value is None else float(value) for value in values], pl.Float64)
    if kinds == {bool}:
        return pl.Series(name, values, pl.Boolean)
    return pl.Series(name, [_text(value) for value in values], pl.String)


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
