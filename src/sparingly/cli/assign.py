"""``sparingly assign``: hand out what was chosen."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from sparingly.cli.options import Json, Seed, emit, parts_of, working
from sparingly.cli.parameters import about
from sparingly.cli.subject import DEFAULT_SOURCE, SourceOptions, Sources


def assign(
    sources: Sources,
    /,
    *,
    raters: Annotated[str, about("The raters' names, with commas between them.", "--raters", "-r")],
    overlap: Annotated[float, about("The share that two raters judge.")] = 0.1,
    load: Annotated[int | None, about("The most items that a rater takes.")] = None,
    unit: Annotated[
        Literal["item", "document"], about("What one rater gets together: items or documents.")
    ] = "item",
    controls_out: Annotated[
        Path | None, about("Also make control items, and write them here (JSON Lines).")
    ] = None,
    control_share: Annotated[float, about("How many of them, as a share of the chosen items.")] = 0.1,
    out: Annotated[Path | None, about("Where to write the assignment (JSON).", "--out", "-o")] = None,
    seed: Seed = 0,
    source: SourceOptions = DEFAULT_SOURCE,
    json: Json = False,
) -> None:
    """Assign the chosen items to raters.

    ```
    sparingly assign chosen.json --raters Ada,Bo,Chidi -o tasks.json
    sparingly assign campaign.db -r Ada,Bo,Chidi --unit document --overlap 0.2 -o tasks.json
    sparingly assign data.jsonl chosen.json -r Ada,Bo --controls-out controls.jsonl
    ```
    """
    from sparingly.data import io
    from sparingly.run.raters.assignment import assign as hand_out
    from sparingly.show.terminal.console import show_summary

    with source.open(sources) as subject:
        chosen, evalset = subject.what_to_judge(), subject.data
    with working("handing out"):
        hidden = None
        if controls_out is not None:
            from sparingly.run.raters.controls import KINDS, control_items

            kinds = [kind for kind in KINDS if kind != "reference" or evalset.reference_texts is not None]
            hidden = control_items(evalset, chosen, kinds=kinds, share=control_share, seed=seed)
        assignment = hand_out(
            chosen,
            parts_of(raters),
            data=evalset,
            overlap=overlap,
            load=load,
            unit=unit,
            controls=hidden,
            seed=seed,
        )
    if hidden is not None and controls_out is not None:
        io.save(hidden, controls_out)
    if out is not None:
        assignment.save(out)
    emit(assignment.to_dict()) if json else show_summary(assignment.summary(), subject.typed, out=out)
