"""``sparingly agree``: how close a selection comes to judging everything."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from cyclopts import Parameter

from sparingly.cli.options import DEFAULT_READING, Data, Json, Reading, Seed, SelectionFile, emit, working


def agree(
    data: Data,
    selection: SelectionFile,
    /,
    *,
    truth: Annotated[
        str, Parameter(name=["--truth", "-t"], help="An aspect, a metric, or sum:of=[one,other].")
    ],
    curve: Annotated[bool, Parameter(negative="", help="Also draw the method's curve over budgets.")] = False,
    parity: Annotated[
        bool, Parameter(negative="", help="Also say how many of random's labels it needs.")
    ] = False,
    draws: Annotated[int, Parameter(help="Also run the method so many times on 80 % of the items each.")] = 0,
    measure: Annotated[str, Parameter(help="What curve and parity measure.")] = "soft_pairwise_accuracy",
    runs: Annotated[int, Parameter(help="Random draws behind the curve and the parity.")] = 20,
    seed: Seed = 0,
    flips: Annotated[int, Parameter(help="Sign flips of the permutation test.")] = 1000,
    test: Annotated[
        Literal["auto", "sampled", "exact", "analytic"], Parameter(help="How p-values are found.")
    ] = "auto",
    tie: Annotated[float, Parameter(help="Scores that differ by no more are a tie.")] = 0.0,
    reading: Reading = DEFAULT_READING,
    json: Json = False,
) -> None:
    """Compare what a selection says about the models with what the whole, fully judged set says.

    ```
    sparingly agree wmt23.jsonl.gz chosen.json --truth mqm
    sparingly agree wmt23.jsonl.gz chosen.json --truth mqm --curve --parity
    sparingly agree data.jsonl chosen.json --truth overall --draws 13
    sparingly agree data.jsonl chosen.json --truth "mean:of=[adequacy,fluency]" --json
    ```
    """
    from sparingly.data.selection import Selection
    from sparingly.infer.rank import compare
    from sparingly.infer.rank.draws import draws as draw_again
    from sparingly.show.terminal.agreement import show_comparison, show_curve, show_draws, show_parity

    held, chosen = reading.load(data), Selection.load(selection)
    how: dict[str, Any] = {"seed": seed, "flips": flips, "test": test}
    with working("comparing"):
        compared = compare.agree(held, chosen, truth, tie=tie, **how)
        method = chosen.signature.method
        drawn = compare.curve(held, method, truth, measure=measure, runs=runs, **how) if curve else None
        needed = compare.parity(held, method, truth, measure=measure, runs=runs, **how) if parity else None
        size = chosen.signature.n
        again = draw_again(held, method, size, truth, runs=draws, seed=seed, tie=tie) if draws else None
    if json:
        parts = {"curve": drawn, "parity": needed, "draws": again}
        emit(
            {**compared.to_dict(), **{name: part.to_dict() if part else None for name, part in parts.items()}}
        )
        return
    show_comparison(compared)
    if drawn:
        show_curve(drawn)
    if needed:
        show_parity(needed)
    if again:
        show_draws(again)
