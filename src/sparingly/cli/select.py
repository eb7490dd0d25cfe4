"""``sparingly select``: choose the items that people should judge."""

from __future__ import annotations

import shlex
from dataclasses import replace
from os.path import relpath
from pathlib import Path
from typing import Annotated, Any, Literal

from sparingly.base.errors import UsageError
from sparingly.base.syntax import command_with
from sparingly.cli.options import Json, Seed, Verbose, emit, read_ids, working
from sparingly.cli.parameters import about, flag, repeatable
from sparingly.cli.subject import DEFAULT_SOURCE, SourceOptions, Sources, Subject


def select(
    sources: Sources,
    /,
    *,
    method: Annotated[
        str | None,
        about(
            "The method, such as metric_var:metric=COMET; default: picked for your data.",
            "--method",
            "-m",
        ),
    ] = None,
    budget: Annotated[str | None, about("100, 10%, cost:500, 2h, 90min.", "--budget", "-b")] = None,
    question: Annotated[
        Literal["ranking", "best", "scores", "judge"] | None,
        about("Without a method: what you want to know; default: the ranking."),
    ] = None,
    seed: Seed = 0,
    balance: Annotated[str | None, about("A column: equal numbers from each of its groups.")] = None,
    quota: Annotated[
        Literal["equal", "share"] | None, about("Groups get equal parts, or parts by their size.")
    ] = None,
    unit: Annotated[Literal["item", "document"] | None, about("What is chosen.")] = None,
    cost: Annotated[str | None, about("The cost: a column, length, or fit.")] = None,
    never: Annotated[Path | None, about("A file of ids that must not be chosen, one a line.")] = None,
    crowd: Annotated[
        tuple[str, ...], repeatable("A model that the method may see; repeat for several. Default: all.")
    ] = (),
    crowd_too: Annotated[bool, flag("With --crowd: judge its models, too, not only the others.")] = False,
    out: Annotated[Path | None, about("Where to write the selection (JSON).", "--out", "-o")] = None,
    source: SourceOptions = DEFAULT_SOURCE,
    verbose: Verbose = False,
    json: Json = False,
) -> None:
    """Choose the items that people should judge.

    ```
    sparingly select data.jsonl -b 60 -o chosen.json
    ```

    Without a method, sparingly picks one for your data and says why. `sparingly methods` lists them; write
    `name:key=value,key=value`.

    ```
    sparingly select answers.csv --question judge -b 100 -o chosen.json
    sparingly select data.jsonl -m metric_var:metric=COMET -b 10% -o chosen.json
    sparingly select data.jsonl -m random -b 200 --balance domain
    sparingly select data.jsonl -m metric_cons:metric=COMET -b 4h --cost length
    sparingly select data.jsonl -m "mix:of=(metric_cons)+(2*metric_var)" -b 100
    sparingly select data.jsonl -m diversity -b 10% --crowd A --crowd B
    ```
    """
    from sparingly.choose.select import select as choose
    from sparingly.show.terminal.results import show_selection

    settings: dict[str, Any] = {
        "method": method,
        "budget": budget,
        "question": question,
        "balance": balance,
        "quota": quota,
        "unit": unit,
        "cost": cost,
    }
    with source.open(sources) as subject:
        if subject.campaign is not None:
            if given := [name for name, value in settings.items() if value is not None]:
                known = f"A campaign knows its {given[0]}: leave out --{given[0]}"
                raise UsageError(f"{known}: sparingly select {subject.typed}")
            _next_round(subject, out, json=json)
            return
        evalset, first = subject.data, subject.selection
    if budget is None:
        raise UsageError(f"Name a budget: {command_with('--budget', str(min(100, len(evalset))))}")
    shut = [] if never is None else read_ids(never)
    with working("choosing"):
        chosen = choose(
            evalset,
            seed=seed,
            pool=first,
            never=shut,
            crowd=crowd or None,
            judge="all" if crowd_too else "rest",
            **settings,
        )
    folder = Path.cwd() if out is None else out.resolve().parent
    chosen = replace(chosen, data_files=tuple(relpath(source.resolve(), folder) for source in subject.files))
    if out is not None:
        chosen.save(out)
    if json:
        emit(chosen.to_dict())
        return
    typed = subject.typed if out is None else shlex.join([*subject.names, str(out)])
    show_selection(chosen, out, typed, verbose=verbose)


def _next_round(subject: Subject, out: Path | None, *, json: bool) -> None:
    """Choose what a campaign asks next: the last round while answers are missing, then another."""
    from sparingly.show.terminal.campaign import show_steps
    from sparingly.show.terminal.console import show_path

    running = subject.campaign
    if running is None:
        return
    with working("choosing"):
        steps = running.next(subject.part.data)
    rounds = [step.selection for step in steps if step.selection is not None]
    if out is not None:
        if len(rounds) != 1:
            raise UsageError(
                f"{out} takes the round of one data set: name it with --data, or leave out --out."
            )
        rounds[0].save(out)
    emit([step.to_dict() for step in steps]) if json else show_steps(steps, None)
    if out is not None and not json:
        show_path(out)
