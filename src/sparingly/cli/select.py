"""``sparingly select``: choose the items that people should judge."""

from __future__ import annotations

from dataclasses import replace
from os.path import relpath
from pathlib import Path
from typing import Annotated, Literal

from sparingly.base.errors import UsageError
from sparingly.cli.options import DEFAULT_READ_OPTIONS, Json, ReadOptions, Seed, emit, read_ids, working
from sparingly.cli.parameters import about, flag
from sparingly.cli.subject import Sources, subject_of


def select(
    sources: Sources,
    /,
    *,
    method: Annotated[
        str | None,
        about(
            "The method, such as metric_var:metric=COMET; chosen by what the data has unless given.",
            "--method",
            "-m",
            show_default=False,
        ),
    ] = None,
    budget: Annotated[str, about("100, 10%, cost:500, 2h, 90min.", "--budget", "-b")],
    question: Annotated[
        Literal["ranking", "best", "scores", "judge"] | None,
        about("Without a method: what you want to know; the ranking unless given."),
    ] = None,
    seed: Seed = 0,
    balance: Annotated[str | None, about("A column: as much from each of its groups.")] = None,
    quota: Annotated[
        Literal["equal", "share"] | None, about("Groups get equal parts, or parts by their size.")
    ] = None,
    unit: Annotated[Literal["item", "document"] | None, about("What is chosen.")] = None,
    cost: Annotated[str | None, about("The cost: a column, length, or fit.")] = None,
    pool: Annotated[Path | None, about("An earlier selection to choose from.")] = None,
    never: Annotated[Path | None, about("A file of ids that must not be chosen, one a line.")] = None,
    crowd: Annotated[
        tuple[str, ...],
        about(
            "A model that the method may see; repeat for several. All of them unless given.",
            negative="",
            show_default=False,
        ),
    ] = (),
    crowd_too: Annotated[bool, flag("With a crowd: judge its models, too, not only the others.")] = False,
    out: Annotated[Path | None, about("Where to write the selection (JSON).", "--out", "-o")] = None,
    reading: ReadOptions = DEFAULT_READ_OPTIONS,
    json: Json = False,
) -> None:
    """Choose the items that people should judge, and write them down with a signature.

    Methods are listed by `sparingly methods`; they are written `name:key=value,key=value`. Without one, the
    choice is made by what the data has, and it says why.

    ```
    sparingly select data.jsonl -b 60 -o chosen.json
    sparingly select answers.csv --question judge -b 100 -o chosen.json
    sparingly select data.jsonl -m metric_var:metric=COMET -b 10% -o chosen.json
    sparingly select data.jsonl -m random -b 200 --balance domain
    sparingly select data.jsonl -m metric_cons:metric=COMET -b 4h --cost length
    sparingly select data.jsonl -m "mix:of=(metric_cons)+(2*metric_var)" -b 100
    sparingly select data.jsonl -m diversity -b 10% --crowd A --crowd B
    ```
    """
    from sparingly.choose.select import select as choose
    from sparingly.data.selection import Selection
    from sparingly.show.terminal.selection import show_selection

    with subject_of(sources, reading) as subject:
        if subject.campaign is not None:
            raise UsageError(f"A campaign draws its own rounds: sparingly campaign next {subject.title}.")
        evalset = subject.data
    first = None if pool is None else Selection.load(pool)
    shut = [] if never is None else read_ids(never)
    with working("choosing"):
        chosen = choose(
            evalset,
            method,
            budget,
            question=question,
            seed=seed,
            pool=first,
            never=shut,
            crowd=crowd or None,
            judge="all" if crowd_too else "rest",
            balance=balance,
            quota=quota,
            unit=unit,
            cost=cost,
        )
    folder = Path.cwd() if out is None else out.resolve().parent
    chosen = replace(chosen, data_files=tuple(relpath(Path(source).resolve(), folder) for source in sources))
    if out is not None:
        chosen.save(out)
    emit(chosen.to_dict()) if json else show_selection(chosen, out)
