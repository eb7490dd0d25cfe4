"""``select_pool``: a scored pool, a budget and a design become a signed selection, in one pass to draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np

from sparingly._version import __version__
from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError, UsageError, listing
from sparingly.base.text import Bare, Call, Items, Value, format_call, format_number, text_value
from sparingly.choose.design.budget import Budget
from sparingly.choose.pool.crew import crew_of
from sparingly.choose.pool.draw import Design, DesignName, OrderName, drawn
from sparingly.choose.pool.filters import FilterOptions, filters_of
from sparingly.choose.pool.frame import NO_QUOTA, Frame, Wanted, candidates, whole_frame
from sparingly.choose.pool.parts import BANDS_FILE, TABLE
from sparingly.choose.pool.quotas import (
    EMBEDDING,
    Groups,
    Quota,
    after_anchors,
    groups_of,
    names_of,
    shares_of,
    with_quota,
)
from sparingly.choose.pool.result import PoolSelection
from sparingly.choose.pool.scored import UNLIKE, ScoredPool
from sparingly.choose.pool.spread import CLUSTERS, leaves_of
from sparingly.choose.pool.vectors import label_of, vector_files
from sparingly.data.selection import Selection
from sparingly.data.signature import Signature, digest_ids
from sparingly.signals.cost import LENGTH, SECONDS, SECONDS_PER_ITEM, SECONDS_PER_WORD

if TYPE_CHECKING:
    import polars as pl

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
        tau: The share of the inclusion probabilities that goes by utility.
        order: What the list of ``systematic`` is sorted by.
        spread: ``embedding`` draws along a path through clusters of embeddings: the sources differ more.
        clusters: The number of these clusters, about.
        seed: Settles ties and draws; the same seed gives the same answer.
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
    held = pool if isinstance(pool, ScoredPool) else ScoredPool.load(pool)
    limits = filters_of(**filters)
    asked = _Asked(
        Design(design, tau, order, seed, spread is not None),
        None if budget is None else Budget.parse(budget),
        limits.wanted,
        groups,
        quota,
        bands,
        cost,
        limits.anchors,
        limits.never,
        clusters,
    )
    with crew_of(jobs, cluster, [held.folder.resolve()]) as crew:
        return _drawn_from(replace(held, crew=crew), asked)


@dataclass(frozen=True)
class _Asked:
    """What is asked of a draw."""

    design: Design
    budget: Budget | None
    wanted: Wanted
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
        return self.design.spread or self.wanted.cosine is not None or EMBEDDING in names_of(self.groups)

    def files(self, pool: ScoredPool) -> tuple[str, ...]:
        """Return the endings of the files of every part that the draw reads."""
        return (
            TABLE,
            *(() if self.wanted.near is None else (BANDS_FILE,)),
            *(vector_files(label_of(pool)) if self.embedded else ()),
        )

    def method(self, pool: ScoredPool) -> str:
        """Return everything that the selection follows from, beside the sources, in the form of methods."""
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
            **asdict(self.wanted),
            "anchors": digest_ids(self.anchors) if self.anchors else None,
        }
        return format_call(Call(METHOD, tuple((name, _value(value)) for name, value in values.items())))


def _drawn_from(pool: ScoredPool, asked: _Asked) -> PoolSelection:
    asked.wanted.check(pool)
    pool.check(*asked.files(pool))
    frame, inputs = whole_frame(pool, asked.anchors, asked.never)
    scored = len(frame)
    frame, removed = candidates(pool, frame, asked.wanted)
    if not len(frame):
        raise DataError(f"None of the {scored:,} sources may be chosen: {_words(removed)}.")
    groups = groups_of(pool, frame, asked.groups, asked.bands)
    frame, groups, removed[NO_QUOTA] = with_quota(frame, groups, asked.quota)
    costs = None if asked.cost is None else costs_of(pool, frame, asked.cost)
    if asked.design.spread:
        frame = replace(frame, leaf=leaves_of(pool, frame, asked.clusters))
    chosen = _chosen(frame, asked, groups, costs)
    if not len(chosen.rows):
        raise UsageError(f"The budget {asked.budget} is too small for any source.")
    signature = Signature(
        method=asked.method(pool),
        budget=str(asked.budget or Budget("count", len(chosen.rows))),
        seed=asked.design.seed,
        n=len(chosen.rows),
        of=len(frame),
        inputs=inputs,
        labels=None,
        version=__version__,
        never=digest_ids(asked.never) if asked.never else None,
    )
    table = pool.rows(frame.place[chosen.rows])
    selection = _selection(frame, chosen, groups, costs, asked, signature)
    selection = replace(
        selection,
        items=np.array(table.get_column("item").to_list(), object),
        notes=(
            *pool.notes,
            *_unlike_notes(table),
            *((f"of {scored:,} sources, {_words(removed)}",) if any(removed.values()) else ()),
        ),
    )
    return PoolSelection.of(selection, table, scored, removed, pool.checksum_notes)


def _unlike_notes(chosen: pl.DataFrame) -> tuple[str, ...]:
    """Say how many of the chosen sources the model of the utility knows little about."""
    count = int(chosen.get_column(UNLIKE).sum()) if UNLIKE in chosen.columns else 0
    of = f"{count:,} of the {len(chosen):,} chosen sources"
    return (f"{of} are unlike the texts that the model was trained on.",) if count else ()


def costs_of(pool: ScoredPool, frame: Frame, cost: str) -> Floats:
    """Return what judging a source costs: ``length`` is 0.15·|source| + 33.7 s (Zouhar et al. 2025, 5.2)."""
    if cost == LENGTH:
        return np.asarray(SECONDS_PER_ITEM + SECONDS_PER_WORD * frame.length)
    import polars as pl

    costs = pool.kept(cost).gather(frame.place).cast(pl.Float64, strict=False).to_numpy()
    bad = int((~np.isfinite(costs) | (costs < 0)).sum())
    if bad:
        raise DataError(f'{bad} of {len(frame)} sources have no cost of 0 or more in the column "{cost}".')
    return np.asarray(costs, np.float64)


@dataclass(frozen=True, eq=False)
class _Chosen:
    """The rows of the frame that were chosen, anchors first, and their inclusion probabilities."""

    rows: Ints
    chances: Floats | None


def _chosen(frame: Frame, asked: _Asked, groups: Groups, costs: Floats | None) -> _Chosen:
    """Take the anchors, and draw from every group what is left of its quota."""
    design, weights = asked.design, _weights(asked, costs)
    given = shares_of(asked.budget, frame, groups, asked.quota, weights)
    more = after_anchors(given, frame, groups, weights, by_name=isinstance(asked.quota, Mapping))
    if design.name != "top":
        _check_all_can_be_drawn(frame, groups, more)
    rows, chances = [np.flatnonzero(frame.anchor)], [np.ones(int(frame.anchor.sum()))]
    for place in np.flatnonzero(more):
        inside = np.flatnonzero((groups.of_row == place) & ~frame.anchor)
        some = None if weights is None else weights[inside]
        taken, known = drawn(frame.take(inside), design, float(more[place]), some, groups.names[place])
        rows.append(inside[taken])
        chances.append(np.full(len(taken), np.nan) if known is None else known)
    all_chances = None if design.name == "top" else np.concatenate(chances)
    return _in_one_list(frame, design, np.concatenate(rows), all_chances)


def _check_all_can_be_drawn(frame: Frame, groups: Groups, more: Floats) -> None:
    """Complain where sources of the list could not be drawn: nothing could be said of them."""
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


def _weights(asked: _Asked, costs: Floats | None) -> Floats | None:
    """Return the costs that a budget of cost counts; None where sources are counted."""
    if asked.budget is not None and isinstance(asked.quota, Mapping):
        raise UsageError("Numbers of sources by name go without a budget: leave it out.")
    if asked.budget is None or asked.budget.kind != "cost":
        return None
    if costs is None:
        raise UsageError("A budget of cost needs the cost of every source: name a column, or length.")
    return costs


def _in_one_list(frame: Frame, design: Design, rows: Ints, chances: Floats | None) -> _Chosen:
    """Put the groups' sources into one list: anchors first, then the best first, or by hash."""
    mine = frame.take(rows)
    by_hash = rng.stream(mine.key, design.seed, "pool")
    if design.name == "top":
        ranks = np.empty(len(rows), np.int64)
        ranks[rng.order(mine.utility, mine.key, design.seed)] = np.arange(len(rows))
        order = np.lexsort((ranks, ~mine.anchor))
    else:
        order = np.lexsort((by_hash, ~mine.anchor))
    return _Chosen(rows[order], None if chances is None else chances[order])


def _selection(
    frame: Frame,
    chosen: _Chosen,
    groups: Groups,
    costs: Floats | None,
    asked: _Asked,
    signature: Signature,
) -> Selection:
    anchor = frame.anchor[chosen.rows]
    words = np.where(anchor, ANCHOR, asked.design.words).astype(object)
    strata = np.array(groups.names, object)[groups.of_row[chosen.rows]]
    return Selection(
        items=frame.place[chosen.rows].astype(object),
        signature=signature,
        utility=frame.utility[chosen.rows],
        probability=chosen.chances,
        stratum=None if asked.groups is None else strata,
        cost=None if costs is None else costs[chosen.rows],
        reasons=words if anchor.any() else None,
        reason=asked.design.words,
        cost_unit=SECONDS if asked.cost == LENGTH else "",
        never=asked.never,
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


def _words(removed: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {reason}" for reason, count in removed.items() if count) or "none went"
