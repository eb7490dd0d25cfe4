"""The rows of the benchmark fit together; no peer is installed or run."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from benchmarks import run
from benchmarks.peers import ours
from benchmarks.peers.data import KINDS
from benchmarks.peers.environment import requirements
from benchmarks.peers.rows import COMPARED, PY_IRT, ROWS, SUBSET2EVALUATE, Row

BENCHMARKS = Path(run.__file__).parent
# The least ratios that are promised. A row that misses one is to become faster, not to be asked for less.
PROMISED = {
    "metric_cons": 150,
    "metric_var": 50,
    "agreement": 40,
    "cost_aware": 20,
    "parity": 40,
    "diversity_chrf": 80,
    "diversity_bleu": 40,
    "irt_variational": 40,
    "irt_map": 40,
    "diffuse": 40,
    "search": 80,
    "kmeans": 1,
    "command_cons_jsonl": 20,
    "command_cons_parquet": 20,
    "command_var_jsonl": 20,
    "command_var_parquet": 20,
}


def works_of(peer: str) -> set[str]:
    """What a peer's script can be asked for; it cannot be imported here."""
    tree = ast.parse((BENCHMARKS / "peers" / f"{run.SCRIPTS[peer]}.py").read_text(encoding="utf-8"))
    tables = [node.value for node in tree.body if isinstance(node, ast.AnnAssign)]
    (table,) = [value for value in tables if isinstance(value, ast.Dict)]
    return {key.value for key in table.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)}


def test_every_row_has_a_name_of_its_own() -> None:
    names = [row.name for row in ROWS]
    assert len(set(names)) == len(names)
    assert "growth" not in names


def test_ratios_are_the_promised_ones() -> None:
    assert {row.name: row.wanted for row in ROWS if row.wanted is not None} == PROMISED


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_asks_for_what_is_there(row: Row) -> None:
    assert row.our_work in ours.WORK
    assert row.compared in COMPARED
    assert row.data in KINDS
    assert row.quick_items < row.items
    if row.peer is None:
        assert row.wanted is None
        assert row.label.endswith("(ours only)")
    else:
        assert row.their_work in works_of(row.peer)


@pytest.mark.parametrize(
    ("peer", "version"), [(SUBSET2EVALUATE, "subset2evaluate==1.0.27"), (PY_IRT, "py-irt==0.7.1")]
)
def test_peers_are_pinned(peer: str, version: str) -> None:
    lines = requirements(peer).read_text(encoding="utf-8").splitlines()
    assert version in lines
    assert any(line.startswith("torch==") for line in lines)
    assert all("==" in line for line in lines if not line.startswith("#"))


def test_growth_is_of_rows() -> None:
    assert set(run.GROWTH_WORK) <= {row.name for row in ROWS}
