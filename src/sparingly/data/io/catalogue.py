"""Every format, in the order in which files are tried."""

from __future__ import annotations

from sparingly.data.io.alpaca_eval import AlpacaEval
from sparingly.data.io.arena import Arena
from sparingly.data.io.collection import Collection
from sparingly.data.io.comet import Comet
from sparingly.data.io.format import Format
from sparingly.data.io.helm.format import Helm
from sparingly.data.io.inspect_ai.format import InspectAi
from sparingly.data.io.jsonl import JsonLines
from sparingly.data.io.lines import Lines
from sparingly.data.io.lm_eval.format import LmEval
from sparingly.data.io.mt_metrics_eval import MtMetricsEval
from sparingly.data.io.parquet.format import Parquet
from sparingly.data.io.subset2evaluate import Subset2Evaluate
from sparingly.data.io.table.format import Table

FORMATS: tuple[Format, ...] = (
    JsonLines(),
    Parquet(),
    Collection(),
    Subset2Evaluate(),
    AlpacaEval(),
    Arena(),
    Comet(),
    LmEval(),
    Helm(),
    MtMetricsEval(),
    InspectAi(),
    Lines(),
    Table(),
)
