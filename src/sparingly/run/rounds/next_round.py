"""``next_round``: from the judgements so far to the next signed round."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from sparingly._version import __version__
from sparingly.base.errors import DataError, UsageError
from sparingly.base.registry import Method
from sparingly.choose.design.budget import Budget
from sparingly.data.evalset import EvalSet, the_only
from sparingly.data.selection import Selection
from sparingly.data.signature import LETTERS, Signature
from sparingly.run.rounds.strategy import (
    ROW_COLUMNS,
    Finished,
    State,
    Strategy,
    as_strategy,
    asked_cells,
    compared_rows,
)


def next_round(
    data: EvalSet,
    strategy: str | Method,
    budget: int | float | str | Budget,
    *,
    aspect: str | None = None,
    rounds: Sequence[Selection] = (),
    size: int | None = None,
    seed: int = 0,
    withdrawn: Iterable[str] = (),
) -> Selection | Finished:
    """Pick what people should judge next.

    Args:
        data: The evaluation set with the judgements that came in so far. Judgements that no round asked for
            are not shown to the strategy.
        strategy: A strategy, a selector or a utility, or its text: ``waves``, ``casf``, ``random`` …
        budget: What may be spent over all rounds: a count of items (each judged on all models) or a share.
        aspect: What people judge; default: the only one there is.
        rounds: The earlier rounds, in order.
        size: How many items a round asks for; default: the strategy's own number.
        seed: Settles ties and draws; the same in all rounds.
        withdrawn: Models that left after the first round: no more comparisons with them are asked for.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> first = sparingly.next_round(data, "uniform", 60, aspect="mqm", size=20)
        >>> second = sparingly.next_round(data, "uniform", 60, aspect="mqm", size=20, rounds=[first])
        >>> len(first), len(second), second.signature.round
        (20, 20, 2)
    """
    state, method = state_of(data, strategy, budget, aspect=aspect, rounds=rounds, size=size, seed=seed)
    chosen = method.next_round(replace(state, withdrawn=frozenset(withdrawn)))
    if isinstance(chosen, Finished):
        return chosen
    visible = state.data
    signature = Signature(
        method=method.full_text,
        budget=str(state.budget),
        seed=state.seed,
        n=len(chosen.rows),
        of=len(visible),
        inputs=visible.digest(method.reads(visible.without_labels())),
        labels=visible.digest(method.label_fields(visible, state.aspect)) if state.rounds else None,
        version=__version__,
        round=state.number,
        earlier=digest_of_rounds(state.rounds),
        aspect=state.aspect,
    )
    columns = {name: getattr(chosen, name) for name in (*ROW_COLUMNS, "cost_unit", "reason", "notes")}
    selection = Selection(items=visible.items[chosen.rows], signature=signature, **columns)
    _check(state, selection)
    return selection


def state_of(
    data: EvalSet,
    strategy: str | Method,
    budget: int | float | str | Budget,
    *,
    aspect: str | None = None,
    rounds: Sequence[Selection] = (),
    size: int | None = None,
    seed: int = 0,
    all_fields: bool = False,
) -> tuple[State, Strategy]:
    """Return the state after some rounds, and the strategy with its choices made.

    With ``all_fields``, the fields that the strategy does not read are there too, for estimates.
    """
    name = aspect if aspect is not None else the_only("aspect", None, data.aspects)
    if size is not None and size < 1:
        raise UsageError(f"A round asks for at least one item, not {size}.")
    amount, cells = Budget.parse(budget), asked_cells(data, rounds)
    method = as_strategy(strategy).resolve(data.without_labels(), name, amount)
    readable = method.reads(data.without_labels()) | method.label_fields(data, name)
    visible = data.reveal(cells, compared_rows(data, rounds))
    visible = visible if all_fields else visible.only(readable)
    return State(visible, name, tuple(rounds), amount, size, seed), method


def digest_of_rounds(rounds: Sequence[Selection]) -> str | None:
    """Return a digest of the rows of some rounds, in order; None without rounds."""
    if not rounds:
        return None
    total = hashlib.sha256()
    for selection in rounds:
        rows = [(row.item, row.models, row.pair, row.probability) for row in selection]
        total.update(json.dumps(rows, ensure_ascii=True).encode())
    return total.hexdigest()[:LETTERS]


def _check(state: State, selection: Selection) -> None:
    """Raise DataError if a round asks for nothing, for a cell twice, or for more than is left."""
    if not len(selection):
        raise DataError(f"The strategy {selection.signature.method} picked an empty round.")
    if selection.pairs is not None:
        return
    requested = asked_cells(state.data, [selection])
    repeats = (requested & state.asked).any(axis=1)
    if repeats.any():
        item = state.data.items[int(np.argmax(repeats))]
        raise DataError(f'The strategy {selection.signature.method} asks for the item "{item}" again.')
    if int(requested.sum()) > state.left:
        raise DataError(
            f"The strategy {selection.signature.method} asks for {int(requested.sum())} outputs, "
            f"and the budget leaves {state.left}."
        )
