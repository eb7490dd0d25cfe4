"""``select_pool``: a scored pool, a budget and a design become a signed selection, in one pass to draw."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any, Literal, Unpack

import numpy as np

from sparingly._version import __version__
from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError, UsageError, listing
from sparingly.base.lazy import pl
from sparingly.base.syntax import argument
from sparingly.base.text import Bare, Call, Items, Value, format_call, format_number, text_value
from sparingly.choose.design import knapsack
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.draws import draw_pivotal, draw_systematic, snap_probabilities
from sparingly.choose.design.probability import affordable_probabilities, inclusion_probabilities, sizes_of
from sparingly.choose.design.units import Groups
from sparingly.choose.pool.candidates import (
    CLUSTERS,
    EMBEDDING,
    NO_QUOTA,
    FilterOptions,
    Quota,
    SourceFrame,
    after_anchors,
    assign_leaves,
    filter_candidates,
    group_names,
    group_shares,
    make_groups,
    parse_filters,
    read_frame,
    with_quota,
)
from sparingly.choose.pool.embeddings import label_of, vector_files
from sparingly.choose.pool.parts import BANDS_FILE, TABLE
from sparingly.choose.pool.scored_pool import UNLIKE, ScoredPool
from sparingly.choose.pool.sources import LANGUAGE
from sparingly.choose.pool.workers import open_executor
from sparingly.data import files
from sparingly.data.selection import Selection
from sparingly.data.signature import Signature, digest_ids
from sparingly.data.values import plain
from sparingly.signals.cost import LENGTH, SECONDS, SECONDS_PER_ITEM, SECONDS_PER_WORD

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
        groups: A stored column, ``language``, ``length`` or ``utility``: the selection gets a quota of every
            group; several are crossed, ``domain,utility``.
        quota: Equal parts, parts by size (``share``), or numbers by name, which need no budget.
        bands: The number of bands of ``length`` or ``utility``.
        cost: What judging a source costs: a stored column, or ``length`` for seconds by its length.
        jobs: The number of processes.
        cluster: The address of a Dask scheduler, or ``local`` for one on this machine with ``jobs`` workers.
        **filters: Which sources may be chosen: ``anchors``, ``never``, ``shortest``, ``longest``,
            ``overlap``, ``near``, ``cosine``, ``duplicates``, ``languages``, ``familiar``.
    """
    scored_pool = pool if isinstance(pool, ScoredPool) else ScoredPool.load(pool)
    limits, anchors, never = parse_filters(filters)
    how = PoolDesign(design, tau, order, seed, spread is not None)
    amount = None if budget is None else Budget.parse(budget)
    is_embedded = how.spread or limits.cosine is not None or EMBEDDING in group_names(groups)
    with open_executor(jobs, cluster, [scored_pool.folder.resolve()]) as executor:
        scored_pool = replace(scored_pool, executor=executor)
        limits.check(scored_pool)
        band_files = () if limits.near is None else (BANDS_FILE,)
        scored_pool.check(TABLE, *band_files, *(vector_files(label_of(scored_pool)) if is_embedded else ()))
        frame, inputs = read_frame(scored_pool, anchors, never)
        scored = len(frame)
        frame, removed = filter_candidates(scored_pool, frame, limits)
        if not len(frame):
            raise DataError(f"None of the {scored:,} sources may be chosen: {_describe_removed(removed)}.")
        strata = make_groups(scored_pool, frame, groups, bands)
        frame, strata, removed[NO_QUOTA] = with_quota(frame, strata, quota)
        costs = None if cost is None else costs_of(scored_pool, frame, cost)
        if how.spread:
            frame = replace(frame, leaf=assign_leaves(scored_pool, frame, clusters))
        rows, chances = _choose_rows(frame, strata, how, amount, quota, costs)
        if not len(rows):
            raise UsageError(f"The budget {amount} is too small for any source.")
        table = scored_pool.rows(frame.place[rows])

    # Everything that the selection depends on, beside the sources.
    parameters: dict[str, Any] = {
        "by": scored_pool.by,
        "against": scored_pool.against,
        "design": how.name,
        "tau": how.share,
        "order": how.order,
        "spread": EMBEDDING if how.spread else None,
        "clusters": clusters if how.spread else None,
        "embedding": scored_pool.embedding if is_embedded else None,
        "groups": groups,
        "quota": quota,
        "bands": bands,
        "cost": cost,
        **asdict(limits),
        "anchors": digest_ids(anchors) if anchors else None,
    }
    method = Call(METHOD, tuple((name, _value(value)) for name, value in parameters.items()))
    signature = Signature(
        method=format_call(method),
        budget=str(amount or Budget("count", len(rows))),
        seed=seed,
        n=len(rows),
        of=len(frame),
        inputs=inputs,
        labels=None,
        version=__version__,
        never=digest_ids(never) if never else None,
    )
    notes = list(scored_pool.notes)
    if UNLIKE in table.columns and (unlike := int(table.get_column(UNLIKE).sum())):
        fraction = f"{unlike:,} of the {len(table):,} chosen sources"
        notes.append(f"{fraction} are unlike the texts that the model was trained on.")
    if any(removed.values()):
        notes.append(f"of {scored:,} sources, {_describe_removed(removed)}")
    anchor = frame.anchor[rows]
    selection = Selection(
        items=np.array(table.get_column("item").to_list(), object),
        signature=signature,
        utility=frame.utility[rows],
        probability=chances,
        stratum=None if groups is None else np.array(strata.names, object)[strata.of_unit[rows]],
        cost=None if costs is None else costs[rows],
        reasons=np.where(anchor, ANCHOR, how.words).astype(object) if anchor.any() else None,
        reason=how.words,
        cost_unit=SECONDS if cost == LENGTH else "",
        notes=tuple(notes),
        never=never,
    )
    return PoolSelection.build(selection, table, scored, removed, scored_pool.checksum_notes)


def costs_of(pool: ScoredPool, frame: SourceFrame, cost: str) -> Floats:
    """Return what judging a source costs: ``length`` is 0.15·|source| + 33.7 s (Zouhar et al. 2025, 5.2)."""
    if cost == LENGTH:
        return np.asarray(SECONDS_PER_ITEM + SECONDS_PER_WORD * frame.length)
    costs = pool.extra_column(cost).gather(frame.place).cast(pl.Float64, strict=False).to_numpy()
    bad = int((~np.isfinite(costs) | (costs < 0)).sum())
    if bad:
        raise DataError(f'{bad} of {len(frame)} sources have no cost of 0 or more in the column "{cost}".')
    return np.asarray(costs, np.float64)


def _choose_rows(
    frame: SourceFrame,
    groups: Groups,
    design: PoolDesign,
    budget: Budget | None,
    quota: Quota,
    costs: Floats | None,
) -> tuple[Ints, Floats | None]:
    """Take the anchors, draw from every group what is left of its quota; return rows and probabilities."""
    by_name, by_cost = isinstance(quota, Mapping), budget is not None and budget.kind == "cost"
    if budget is not None and by_name:
        raise UsageError("A quota of numbers is a budget of its own: leave out the other budget.")
    if by_cost and costs is None:
        raise UsageError("A budget of cost needs the cost of every source: name a column, or length.")
    weights = costs if by_cost else None
    shares = group_shares(budget, frame, groups, quota, weights)
    free_shares = after_anchors(shares, frame, groups, weights, by_name=by_name)
    if design.name != "top":
        # No estimate could cover sources that cannot be drawn.
        left_out = (free_shares == 0) & (groups.totals(np.where(frame.anchor, 0.0, 1.0)) > 0)
        if left_out.any() and not free_shares.any():
            raise UsageError(
                "The anchors take the whole budget, and the others could not be drawn: raise it."
            )
        if left_out.any():
            raise UsageError(
                f"The budget leaves {listing(np.array(groups.names)[left_out], 3)} without any draw, and "
                "nothing could be estimated for the sources there: raise it, or use fewer groups."
            )
    rows, all_probabilities = [np.flatnonzero(frame.anchor)], [np.ones(int(frame.anchor.sum()))]
    for place in np.flatnonzero(free_shares):
        inside = np.flatnonzero((groups.of_unit == place) & ~frame.anchor)
        group_weights = None if weights is None else weights[inside]
        drawn_rows, probabilities = draw_sources(
            frame.take(inside), design, float(free_shares[place]), group_weights, groups.names[place]
        )
        rows.append(inside[drawn_rows])
        all_probabilities.append(np.full(len(drawn_rows), np.nan) if probabilities is None else probabilities)
    # One list of all groups: anchors first, then the best first, or by hash.
    all_rows, chances = np.concatenate(rows), np.concatenate(all_probabilities)
    mine = frame.take(all_rows)
    if design.name == "top":
        ranks = np.empty(len(all_rows), np.int64)
        ranks[rng.order(mine.utility, mine.key, design.seed)] = np.arange(len(all_rows))
        return all_rows[np.lexsort((ranks, ~mine.anchor))], None
    order = np.lexsort((rng.stream(mine.key, design.seed, "pool"), ~mine.anchor))
    return all_rows[order], chances[order]


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


@dataclass(frozen=True)
class PoolDesign:
    """How sources are drawn.

    ``top`` takes the best by utility and has no inclusion probabilities. ``uniform`` gives every source the
    same one, ``pivotal`` and ``systematic`` a share ``tau`` of it by utility. ``order`` is what the list of
    ``systematic`` is sorted by; with ``spread`` a list goes from leaf to leaf of a tree of clusters, and is
    in a leaf by hash.
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
            raise UsageError(
                f"Only systematic draws go along a sorted list: leave out {argument('order', self.order)}."
            )

    @property
    def words(self) -> str:
        """The reason of a row."""
        phrases = {"top": "among the best by utility", "uniform": "drawn with equal probabilities"}
        words = phrases.get(self.name, f"drawn by utility, {self.name}")
        return f"{words}, spread out" if self.spread else words

    @property
    def share(self) -> float:
        """The share of the probabilities that follows the utility."""
        return 0.0 if self.name == "uniform" else self.tau


def draw_sources(
    frame: SourceFrame, design: PoolDesign, count: float, costs: Floats | None, group: str
) -> tuple[Ints, Floats | None]:
    """Draw from the sources of a group; return them in their order and their inclusion probabilities.

    ``count`` is a number of sources or, with ``costs``, what they may cost; the draw depends on the name of
    the group.
    """
    if design.name == "top":
        best = rng.order(frame.utility, frame.key, design.seed)
        if costs is None:
            return best[: round(count)], None
        values = knapsack.rescale(rng.round_to_range(frame.utility)[best])
        return best[knapsack.solve(values, costs[best], count).chosen], None
    by_hash = np.argsort(rng.stream(frame.key, design.seed, "pool"), kind="stable")
    if costs is None:
        if design.share == 0.0:
            probabilities = np.full(len(frame), count / len(frame))
        else:
            probabilities = inclusion_probabilities(sizes_of(frame.utility), count, tau=design.share)
        order = by_hash
        if design.spread and frame.leaf is not None:
            order = by_hash[np.argsort(frame.leaf[by_hash], kind="stable")]
        elif design.order != "random":
            values = rng.round_to_range(getattr(frame, design.order))
            order = by_hash[np.argsort(values[by_hash], kind="stable")]
    else:
        if design.order != "random" or design.spread:
            raise UsageError("Under a cost the list is sorted by cost: leave out the order, and the spread.")
        probabilities = affordable_probabilities(sizes_of(frame.utility), costs, count, tau=design.share)
        # The dearest first, so that the draw cannot overspend.
        order = by_hash[np.argsort(-costs[by_hash], kind="stable")]
    probabilities = snap_probabilities(probabilities)
    generator = rng.generator(design.seed, "pool", design.name, group)
    draw = draw_systematic if design.name == "systematic" else draw_pivotal
    rows = by_hash[draw(probabilities, generator, order)[by_hash]]
    return rows, probabilities[rows]


@dataclass(frozen=True, eq=False)
class PoolSelection:
    """A selection from a pool: the chosen sources, their inclusion probabilities and the signature."""

    selection: Selection
    scored: int  # how many sources the pool has
    removed: Mapping[str, int]  # how many could not be chosen, by reason; the others are ``signature.of``
    rows: Sequence[Mapping[str, Any]]  # the chosen sources with their texts and extra columns
    pool_notes: tuple[str, ...] = ()  # warnings about the files of the pool; not part of the selection

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
        names = dict.fromkeys(name for row in self.rows for name in row)
        return pl.DataFrame([_column(name, [row.get(name) for row in self.rows]) for name in names])

    def save(self, path: str | Path) -> None:
        """Write the selection (``.json``), or its sources as ``.jsonl``, ``.csv`` or ``.parquet``."""
        path = Path(path)
        kind = files.extension(path)
        if kind == ".json":
            self.selection.save(path)
            return
        if kind not in (".jsonl", ".csv", ".parquet"):
            raise UsageError(
                f'The extension "{kind}" of {path.name} is none of .json, .jsonl, .csv, .parquet.'
            )
        content = BytesIO()
        if kind == ".jsonl":
            content.writelines(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in self.rows)
        elif kind == ".csv":
            self.frame().write_csv(content)
        else:
            self.frame().write_parquet(content)
        files.write_bytes(path, content.getbuffer())


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
