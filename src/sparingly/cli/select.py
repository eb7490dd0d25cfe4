"""``sparingly select``: choose the items that people should judge."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from sparingly.cli.options import DEFAULT_READING, Json, Reading, Seed, emit, read_ids, working


def select(
    data: Path,
    *,
    method: Annotated[str, Parameter(name=["--method", "-m"], help="The method, such as metric_var:metric=COMET.")],
    budget: Annotated[str, Parameter(name=["--budget", "-b"], help="100, 10%, cost:500, 2h, 90min.")],
    seed: Seed = 0,
    balance: Annotated[str | None, Parameter(help="A column: as much from each of its groups.")] = None,
    quota: Annotated[str | None, Parameter(help="Groups get equal parts, or parts by their share: equal, share.")] = None,
    unit: Annotated[str | None, Parameter(help="What is chosen: item or document.")] = None,
    cost: Annotated[str | None, Parameter(help="The cost: a column, length, or fit.")] = None,
    pool: Annotated[Path | None, Parameter(help="An earlier selection to choose from.")] = None,
    never: Annotated[Path | None, Parameter(help="A file of ids that must not be chosen, one a line.")] = None,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"], help="Where to write the selection (JSON).")] = None,
    reading: Reading = DEFAULT_READING,
    json: Json = False,
) -> None:
    """Choose the items that people should judge, and write them down with a signature.

    Methods are listed by `sparingly methods`; they are written `name:key=value,key=value`.

    ```
    sparingly select wmt23.jsonl.gz --method metric_var:metric=MetricX-23 --budget 10% --out chosen.json
    sparingly select data.jsonl --method random --budget 200 --balance domain
    sparingly select data.jsonl --method metric_cons:metric=COMET --budget 4h --cost length
    sparingly select data.jsonl --method "mix:of=(metric_avg:metric=COMET)+(2*metric_var:metric=COMET)" -b 100
    ```

    Args:
        data: The evaluation set.
    """
    from sparingly.choose.select import design_value
    from sparingly.choose.select import select as choose
    from sparingly.data.selection import Selection
    from sparingly.show.terminal.selection import show_selection

    held = reading.load(data)
    first = None if pool is None else Selection.load(pool)
    shut = [] if never is None else read_ids(never)
    design = {name: value for name, value in (("balance", balance), ("cost", cost)) if value is not None}
    design |= {name: design_value(name, value) for name, value in (("quota", quota), ("unit", unit)) if value}
    with working("choosing"):
        chosen = choose(held, method, budget, seed=seed, pool=first, never=shut, **design)
    if out is not None:
        chosen.save(out)
    if json:
        emit(chosen.to_dict())
    else:
        show_selection(chosen, out)
