"""``sparingly agree``: how close a selection comes to judging everything."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from cyclopts.validators import Number

from sparingly.base.errors import UsageError
from sparingly.cli.estimate import Aspect
from sparingly.cli.options import DEFAULT_READ_OPTIONS, Json, ReadOptions, Seed, Verbose, emit, working
from sparingly.cli.parameters import about, flag
from sparingly.cli.subject import Sources, subject_of

_ONE_OR_MORE, _NONE_OR_MORE = Number(gte=1), Number(gte=0)


def agree(
    sources: Sources,
    /,
    *,
    aspect: Aspect = None,
    tie: Annotated[float, about("Scores that differ by no more are a tie.", validator=_NONE_OR_MORE)] = 0.0,
    curve: Annotated[bool, flag("Also draw the method's curve over budgets.")] = False,
    parity: Annotated[bool, flag("Also say what share of random selection's labels it needs.")] = False,
    draws: Annotated[
        int, about("Also run the method this many times, each on 80 % of the items.", validator=_NONE_OR_MORE)
    ] = 0,
    measure: Annotated[str, about("What curve and parity measure.")] = "soft_pairwise_accuracy",
    runs: Annotated[int, about("Random draws behind the curve and the parity.", validator=_ONE_OR_MORE)] = 20,
    seed: Seed = 0,
    flips: Annotated[int, about("Sign flips of the permutation test.", validator=_ONE_OR_MORE)] = 1000,
    test: Annotated[
        Literal["auto", "sampled", "exact", "analytic"], about("How p-values are found.")
    ] = "auto",
    reading: ReadOptions = DEFAULT_READ_OPTIONS,
    verbose: Verbose = False,
    json: Json = False,
) -> None:
    """Compare a selection's ranking with that of the fully judged set.

    ```
    sparingly agree data.jsonl chosen.json --aspect mqm
    sparingly agree data.jsonl chosen.json --aspect mqm --curve --parity
    sparingly agree data.jsonl chosen.json --aspect overall --draws 13
    sparingly agree data.jsonl chosen.json --aspect "mean:of=[overall,fluency]" --json
    ```
    """
    from sparingly.infer.rank import compare
    from sparingly.infer.rank.compare import draws as run_draws
    from sparingly.show.terminal.results import show_comparison, show_curve, show_draws, show_parity

    with subject_of(sources, reading) as subject:
        if subject.selection is None and subject.campaign is None:
            raise UsageError(
                f"Name a selection, too: sparingly select {subject.typed} -b 10% -o chosen.json, then "
                f"sparingly agree {subject.typed} chosen.json"
            )
        chosen, evalset, truth = subject.what_to_judge(), subject.data, subject.aspect(aspect)
    signature, models = chosen.signature, chosen.models
    with working("comparing"):
        compared = compare.agree(evalset, chosen, truth, tie=tie, seed=seed, flips=flips, test=test)
        is_partial = chosen.pool is not None or chosen.never or signature.budget.startswith("cost:")
        if (curve or parity or draws) and is_partial:
            raise UsageError(
                "Curves, parity and draws replay the method on the whole set under other counts, which says "
                "nothing of a selection made under a cost, from a pool, or with --never: leave these "
                "options out."
            )
        method = signature.method
        replay: dict[str, Any] = {
            "seed": signature.seed,
            "crowd": signature.crowd or None,
            "judge": chosen.judged or "all",
        }
        how = {"measure": measure, "runs": runs, "flips": flips, "test": test, **replay}
        items = signature.n
        if models is not None and len(set(models)) > 1:
            # The models have rows of their own: a run takes so many items of each.
            rows = sum(len(names) for names in models if names is not None)
            items = max(1, round(rows / len(chosen.judged or ("",))))
        parts: dict[str, Any] = {
            "curve": compare.curve(evalset, method, truth, **how) if curve else None,
            "parity": compare.parity(evalset, method, truth, **how) if parity else None,
            "draws": run_draws(evalset, method, items, truth, runs=draws, tie=tie, **replay)
            if draws
            else None,
        }
    if json:
        emit({**compared.to_dict(), **{name: part and part.to_dict() for name, part in parts.items()}})
        return
    show_comparison(compared, subject.with_aspect(aspect), verbose=verbose)
    for name, show in (("curve", show_curve), ("parity", show_parity), ("draws", show_draws)):
        if parts[name] is not None:
            show(parts[name])
