"""``sparingly agree``: how close a selection comes to judging everything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from sparingly.base.errors import UsageError
from sparingly.cli.estimate import Aspect
from sparingly.cli.options import DEFAULT_READ_OPTIONS, Json, ReadOptions, Seed, emit, working
from sparingly.cli.subject import Sources, subject_of

if TYPE_CHECKING:
    from sparingly.data.evalset import EvalSet
    from sparingly.data.selection import Selection

_ONE_OR_MORE, _NONE_OR_MORE = Number(gte=1), Number(gte=0)


@Parameter(name="*")
@dataclass(frozen=True)
class TestOptions:
    """How differences between models are tested."""

    seed: Seed = 0
    flips: Annotated[int, Parameter(validator=_ONE_OR_MORE, help="Sign flips of the permutation test.")] = (
        1000
    )
    test: Annotated[
        Literal["auto", "sampled", "exact", "analytic"], Parameter(help="How p-values are found.")
    ] = "auto"


@Parameter(name="*")
@dataclass(frozen=True)
class ReplayOptions:
    """What else is asked of the selection's method."""

    curve: Annotated[bool, Parameter(negative="", help="Also draw the method's curve over budgets.")] = False
    parity: Annotated[bool, Parameter(negative="", help="Also say how many of random's labels it needs.")] = (
        False
    )
    draws: Annotated[
        int,
        Parameter(
            validator=_NONE_OR_MORE, help="Also run the method so often, each time on 80 % of the items."
        ),
    ] = 0
    measure: Annotated[str, Parameter(help="What curve and parity measure.")] = "soft_pairwise_accuracy"
    runs: Annotated[
        int, Parameter(validator=_ONE_OR_MORE, help="Random draws behind the curve and the parity.")
    ] = 20


DEFAULT_TESTING, DEFAULT_REPLAY = TestOptions(), ReplayOptions()


def agree(
    sources: Sources,
    /,
    *,
    aspect: Aspect = None,
    tie: Annotated[
        float, Parameter(validator=_NONE_OR_MORE, help="Scores that differ by no more are a tie.")
    ] = 0.0,
    replay: ReplayOptions = DEFAULT_REPLAY,
    testing: TestOptions = DEFAULT_TESTING,
    reading: ReadOptions = DEFAULT_READ_OPTIONS,
    json: Json = False,
) -> None:
    """Compare what a selection says about the models with what the whole, fully judged set says.

    ```
    sparingly agree data.jsonl chosen.json --aspect mqm
    sparingly agree data.jsonl chosen.json --aspect mqm --curve --parity
    sparingly agree data.jsonl chosen.json --aspect overall --draws 13
    sparingly agree data.jsonl chosen.json --aspect "mean:of=[overall,fluency]" --json
    ```
    """
    from sparingly.infer.rank import compare
    from sparingly.show.terminal.agreement import show_comparison

    with subject_of(sources, reading) as subject:
        chosen, evalset, truth = subject.need_selection("agree"), subject.data, subject.aspect(aspect)
    with working("comparing"):
        compared = compare.agree(evalset, chosen, truth, tie=tie, **vars(testing))
        parts = _replayed(evalset, chosen, truth, tie, replay, testing)
    if json:
        emit({**compared.to_dict(), **{name: part and part.to_dict() for name, part in parts.items()}})
        return
    show_comparison(compared)
    _show(parts)


def _replayed(
    evalset: EvalSet, chosen: Selection, truth: str, tie: float, replay: ReplayOptions, testing: TestOptions
) -> dict[str, Any]:
    """Do what else is asked for; what is not asked for is None."""
    from sparingly.infer.rank import compare
    from sparingly.infer.rank.stability import draws

    signature = chosen.signature
    if (replay.curve or replay.parity or replay.draws) and not _can_be_replayed(chosen):
        raise UsageError(
            "Curves, parity and draws replay the method on the whole set under other counts, which says "
            "nothing of a selection made under a cost, from a pool, or with items that are never chosen."
        )
    method = signature.method
    shared: dict[str, Any] = {
        "seed": signature.seed,
        "crowd": signature.crowd or None,
        "judge": chosen.judged or "all",
    }
    how = {"measure": replay.measure, "runs": replay.runs, **vars(testing), **shared}
    often = {"runs": replay.draws, "tie": tie, **shared}
    return {
        "curve": compare.curve(evalset, method, truth, **how) if replay.curve else None,
        "parity": compare.parity(evalset, method, truth, **how) if replay.parity else None,
        "draws": draws(evalset, method, _items_each(chosen), truth, **often) if replay.draws else None,
    }


def _items_each(chosen: Selection) -> int:
    """Return how many items a run takes: of each model, where the models have rows of their own."""
    if chosen.models is None or len(set(chosen.models)) < 2:
        return chosen.signature.n
    rows = sum(len(names) for names in chosen.models if names is not None)
    return max(1, round(rows / len(chosen.judged or ("",))))


def _can_be_replayed(chosen: Selection) -> bool:
    """Whether the method can be run again on the whole set under another count, as it was run."""
    return chosen.pool is None and not chosen.never and not chosen.signature.budget.startswith("cost:")


def _show(parts: dict[str, Any]) -> None:
    from sparingly.show.terminal.agreement import show_curve, show_draws, show_parity

    for name, show in (("curve", show_curve), ("parity", show_parity), ("draws", show_draws)):
        if parts[name] is not None:
            show(parts[name])
