"""``sparingly diff``: what changed between two results, or two points of a campaign, and why."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from sparingly.base.errors import UsageError
from sparingly.cli.options import Json, emit, working
from sparingly.cli.subject import DataName, Name, is_campaign, opened

if TYPE_CHECKING:
    from sparingly.infer.changes import Changes
    from sparingly.infer.estimate.result import Estimate
    from sparingly.infer.rank.ranking import Ranking
    from sparingly.run.campaign.campaign import Campaign

_TWO = "Give two points: --at 100 --at 200, or --round 1 --round 2."


def diff(
    first: Annotated[str, Parameter(help="The file of an estimate or a ranking; or a campaign.")],
    second: Annotated[Path | None, Parameter(help="The file of another estimate or ranking.")] = None,
    /,
    *,
    at: Annotated[
        tuple[int, ...],
        Parameter(help="Of a campaign: an entry of its journal; give two.", negative="", show_default=False),
    ] = (),
    round: Annotated[
        tuple[int, ...],
        Parameter(help="Of a campaign: after which round; give two.", negative="", show_default=False),
    ] = (),
    data: DataName = None,
    name: Name = None,
    json: Json = False,
) -> None:
    """Tell which scores moved by how much of their error, which ranks and groups changed, and why.

    A change of more than two errors is marked: chance hardly does that.

    ```
    sparingly diff scores-monday.json scores-friday.json
    sparingly diff campaign.db --round 1 --round 2
    sparingly diff campaign.db --at 100 --at 200 --json
    ```
    """
    from sparingly.show.terminal.agreement import show_changes

    if is_campaign(first):
        if second is not None:
            raise UsageError(f"Two points of one campaign are compared. {_TWO}")
        with opened(first, name) as running, working("comparing"):
            difference = _points(running, data, at, round)
    else:
        if second is None or at or round or data is not None or name is not None:
            raise UsageError("Give two files, sparingly diff A B; the options are for campaigns.")
        difference = _files(Path(first), second)
    if json:
        emit(difference.to_dict())
    else:
        show_changes(difference)


def _files(first: Path, second: Path) -> Changes:
    from sparingly.infer.changes import changes

    return changes(_result(first), _result(second))


def _result(path: Path) -> Estimate | Ranking:
    from sparingly.data.selection import Selection
    from sparingly.run.verify import load_result

    result = load_result(path)
    if isinstance(result, Selection):
        raise UsageError(f"{path} is a selection: give the files that estimate or rank wrote with --out.")
    return result


def _points(running: Campaign, data: str | None, at: tuple[int, ...], round: tuple[int, ...]) -> Changes:
    from sparingly.infer.changes import changes

    name = running.settings.data_named(data)
    earlier, after = _entries(running, name, at, round)
    if running.compares(name):
        results, heads = zip(*(_strengths(running, name, seq) for seq in (earlier, after)), strict=True)
        difference = changes(results[0], results[1], nested=earlier < after, unit="comparisons")
        return replace(difference, before=heads[0], after=heads[1])
    rankings = [_ranked(running, name, seq) for seq in (earlier, after)]
    counts = _labels(running, name, earlier), _labels(running, name, after)
    return changes(rankings[0], rankings[1], labels=counts, nested=earlier < after)


def _ranked(running: Campaign, name: str, seq: int) -> Estimate | Ranking:
    """Return the ranking at an entry of the journal; the scores alone where nothing can be decided."""
    from sparingly.base.errors import DataError

    try:
        return running.rank(name, at=seq)
    except DataError:
        return running.estimate(name, at=seq)


def _strengths(running: Campaign, name: str, seq: int) -> tuple[Estimate, str]:
    """Return strengths in the form of scores, and what they are in one line."""
    from sparingly.show.report.evidence import estimate_from_strengths

    strengths = running.strengths(name, at=seq)
    all_random = all(selection.probability is not None for selection in running.rounds(name, at=seq))
    head = f"strengths of {len(strengths.models)} models from {strengths.comparisons} comparisons"
    return estimate_from_strengths(strengths, running.settings.aspect, random_draw=all_random), head


def _entries(running: Campaign, name: str, at: tuple[int, ...], round: tuple[int, ...]) -> tuple[int, int]:
    """Return the two entries of the journal that are compared."""
    from sparingly.show.report.evidence import ends_of_rounds

    if at and not round and len(at) == 2:
        return at[0], at[1]
    if at or len(round) != 2:
        raise UsageError(_TWO)
    ends = ends_of_rounds(running, name, running.status().last_seq)
    for number in round:
        if not 1 <= number <= len(ends):
            raise UsageError(f"There is no answered round {number}: there are {len(ends)}.")
    return ends[round[0] - 1], ends[round[1] - 1]


def _labels(running: Campaign, name: str, seq: int) -> dict[str, int]:
    """Return how many answers about every model count at an entry of the journal."""
    evalset = running.data(name, at=seq)
    counts = Counter(evalset.ratings.model.tolist())
    return {model: counts.get(place, 0) for place, model in enumerate(evalset.models)}
