"""``sparingly campaign expect``: what judging everything would say, from the answers so far."""

from __future__ import annotations

import sys

from sparingly.cli.campaign import At, DataName, Name, Where, campaign, opened
from sparingly.cli.options import Json, emit, working

__all__ = ["campaign", "expect"]


@campaign.command
def expect(
    where: Where,
    /,
    *,
    data: DataName = None,
    at: At = None,
    name: Name = None,
    json: Json = False,
) -> None:
    """Say what judging everything would show, from every answer so far and the metrics.

    A prediction of the whole set's ranking, which the strategy auto goes by. Publish the estimate.

    ```
    sparingly campaign expect wmt.db
    ```
    """
    from sparingly.run.campaign.overview import last_entry
    from sparingly.show.terminal.scores import show_expected

    with opened(where, name) as running, working("expecting"):
        sets = list(running.settings.budgets) if data is None else [running.settings.data_named(data)]
        at = last_entry(running) if at is None else at
        found = {one: running.expected(one, at=at) for one in sets}
    if json:
        emit({one: part.to_dict() for one, part in found.items()})
        return
    for one, part in found.items():
        if len(found) > 1:
            sys.stdout.write(f"{one}\n")
        show_expected(part)
