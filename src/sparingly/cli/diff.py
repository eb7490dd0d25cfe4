"""``sparingly diff``: what changed between two results, or two points of a campaign, and why."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from sparingly.base.errors import UsageError
from sparingly.cli.options import Json, Verbose, emit, working
from sparingly.cli.parameters import about, repeatable
from sparingly.cli.subject import DataName, Name, is_campaign, opened

if TYPE_CHECKING:
    from sparingly.infer.estimate.result import Estimate
    from sparingly.infer.rank.ranking import Ranking
    from sparingly.run.campaign.campaign import Campaign

_TWO = "Give two points: --at 100 --at 200, or --round 1 --round 2."


def diff(
    first: Annotated[str, about("The file of an estimate or a ranking; or a campaign.")],
    second: Annotated[Path | None, about("The file of another estimate or ranking.")] = None,
    /,
    *,
    at: Annotated[tuple[int, ...], repeatable("Of a campaign: an entry of its journal; give two.")] = (),
    round: Annotated[tuple[int, ...], repeatable("Of a campaign: after which round; give two.")] = (),
    data: DataName = None,
    name: Name = None,
    verbose: Verbose = False,
    json: Json = False,
) -> None:
    """Explain what changed between two results.

    ```
    sparingly diff scores-monday.json scores-friday.json
    ```

    Changes of more than two standard errors are marked.

    ```
    sparingly diff campaign.db --round 1 --round 2
    sparingly diff campaign.db --at 100 --at 200 --json
    ```
    """
    from sparingly.data.selection import Selection
    from sparingly.infer.changes import changes
    from sparingly.run.verify import load_result
    from sparingly.show.terminal.console import show_summary

    if is_campaign(first):
        if second is not None:
            raise UsageError(f"Two points of one campaign are compared. {_TWO}")
        with opened(first, name) as running, working("comparing"):
            set_name = running.settings.data_named(data)
            earlier, later = _entries(running, set_name, at, round)
            if running.compares(set_name):
                before, after = _strengths(running, set_name, earlier), _strengths(running, set_name, later)
                difference = changes(before[0], after[0], nested=earlier < later, unit="comparisons")
                difference = replace(difference, before=before[1], after=after[1])
            else:
                rankings = [_ranked(running, set_name, seq) for seq in (earlier, later)]
                counts = _labels(running, set_name, earlier), _labels(running, set_name, later)
                difference = changes(rankings[0], rankings[1], labels=counts, nested=earlier < later)
    else:
        if second is None or at or round or data is not None or name is not None:
            raise UsageError(
                "Give two files of --out: sparingly diff BEFORE.json AFTER.json; options are for campaigns."
            )
        results = []
        for path in (Path(first), second):
            if isinstance(result := load_result(path), Selection):
                raise UsageError(
                    f"{path} is a selection: give the files that estimate or rank wrote with --out."
                )
            results.append(result)
        difference = changes(results[0], results[1])
    emit(difference.to_dict()) if json else show_summary(difference.summary(), verbose=verbose)


def _ranked(running: Campaign, name: str, seq: int) -> Estimate | Ranking:
    """Return the ranking at an entry of the journal; the scores alone where nothing can be decided."""
    from sparingly.base.errors import DataError

    try:
        return running.rank(name, at=seq)
    except DataError:
        return running.estimate(name, at=seq)


def _strengths(running: Campaign, name: str, seq: int) -> tuple[Estimate, str]:
    """Return strengths in the form of scores, and what they are in one line."""
    from sparingly.infer.estimate.result import CHOSEN_ITEMS
    from sparingly.show.report.evidence import estimate_from_comparison

    found = running.compare(name, at=seq)
    all_random = all(selection.probability is not None for selection in running.rounds(name, at=seq))
    target = "population" if all_random else CHOSEN_ITEMS
    return estimate_from_comparison(found, running.settings.aspect, target), found.ranking.headline


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
