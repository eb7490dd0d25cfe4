"""``sparingly convert``: from one format to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from sparingly.base.errors import UsageError
from sparingly.cli.options import DEFAULT_READ_OPTIONS, Data, Json, ReadOptions, emit
from sparingly.cli.parameters import about


def convert(
    data: Data,
    target: Annotated[Path, about("The file to write.")],
    /,
    *,
    to: Annotated[str | None, about("The format to write; default: by the extension.")] = None,
    reading: ReadOptions = DEFAULT_READ_OPTIONS,
    json: Json = False,
) -> None:
    """Convert data from one format to another.

    ```
    sparingly convert wmt23.jsonl.gz wmt23.parquet
    sparingly convert scores.csv data.jsonl --role segment_no=item --role engine=model
    sparingly convert data.jsonl for-peer.jsonl --to subset2evaluate
    ```
    """
    from sparingly.data import io
    from sparingly.show.terminal.describe import show_conversion

    if data.exists() and target.exists() and data.samefile(target):
        raise UsageError(f"{target} is the file to read from: name another one to write to.")
    evalset = reading.load(data)
    lost = io.save(evalset, target, to)
    if json:
        sizes = {"items": len(evalset), "models": len(evalset.models)}
        emit({**sizes, "written": str(target), "not_carried": lost})
    else:
        show_conversion(evalset, target, lost)
