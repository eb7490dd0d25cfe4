"""``verify``: re-derive a selection, an estimate or a ranking from its signature and compare."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from sparingly.base.errors import InputError
from sparingly.data import files
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import FORMAT as SELECTION
from sparingly.data.selection import Selection
from sparingly.data.values import as_mapping, shown
from sparingly.infer.estimate.result import FORMAT as ESTIMATE
from sparingly.infer.estimate.result import Estimate, estimate_from
from sparingly.infer.rank.ranking import FORMAT as RANKING
from sparingly.infer.rank.ranking import Ranking
from sparingly.infer.rank.saved import ranking_from
from sparingly.run.verification import Verification
from sparingly.run.verify_round import verify_round
from sparingly.run.verify_scores import verify_estimate, verify_ranking
from sparingly.run.verify_selection import verify_selection

__all__ = ["Result", "Verification", "load_result", "verify"]

Result = Selection | Estimate | Ranking
_READERS: dict[str, Callable[[dict[str, object]], Result]] = {
    SELECTION: Selection.from_dict,
    ESTIMATE: estimate_from,
    RANKING: ranking_from,
}


def verify(result: Result, data: EvalSet, *, earlier: Sequence[Selection] = ()) -> Verification:
    """Do again what a signature says, on the data, and compare.

    Passing means that nobody has picked items by hand or shopped for a lucky seed after the signature was
    published: the rows follow from the data that the method read, the method, the budget and the seed. Scores
    and rankings follow from the judgements, the selection behind them (which is verified first) and the
    parameters of the signature, to 1e-9. Another version of the package that gives the same answer passes
    with a note.

    Args:
        result: A selection, an estimate or a ranking.
        data: The evaluation set; for scores with the judgements that they were made from.
        earlier: For a round of several, the rounds before it.
    """
    if isinstance(result, Estimate):
        return verify_estimate(result, data)
    if isinstance(result, Ranking):
        return verify_ranking(result, data)
    if result.signature.round is not None:
        return verify_round(result, data, earlier)
    return verify_selection(result, data)


def load_result(path: str | Path) -> Result:
    """Read a selection, an estimate or a ranking from its file."""
    path = Path(path)
    try:
        values = as_mapping(files.read_json(path), "file")
        format = values.get("format")
        if not isinstance(format, str) or format not in _READERS:
            raise InputError(
                f"this is a {shown(format)} file, none of {', '.join(_READERS)}",
                field="format",
                fix="Give the file that select, estimate or rank wrote with --out",
            )
        return _READERS[format](values)
    except InputError as error:
        raise error.at(file=path) from None
