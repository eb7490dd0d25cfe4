from __future__ import annotations

import doctest
import json
from types import ModuleType
from typing import Any

import polars
import pytest

import sparingly
from benchmarks.analyses import clusters, distances, irt, norms, success
from benchmarks.analyses import difference_map as maps
from benchmarks.analyses.clusters import cluster_norms
from benchmarks.analyses.difference_map import difference_map
from benchmarks.analyses.distances import winning_distances
from benchmarks.analyses.irt import irt_check, item_curves
from benchmarks.analyses.norms import chosen_norms
from benchmarks.analyses.success import success_by_norm
from sparingly.data.synthetic import load_invented
from tools.doc_examples import PYTHON_FLAGS

PAIR = ("Juniper", "Rowan")


def every_analysis() -> list[Any]:
    data = load_invented()
    return [
        chosen_norms(data, sparingly.select(data, "random", 20)),
        cluster_norms(data, [10], pair=PAIR),
        success_by_norm(data, truth="overall"),
        winning_distances(data, truth="overall"),
        difference_map(data, PAIR),
        item_curves(data, "irt:metric=learned"),
        irt_check(data, "irt:metric=learned,fit=map"),
    ]


@pytest.mark.parametrize("found", every_analysis(), ids=lambda found: type(found).__name__)
def test_an_analysis_is_a_line_a_table_a_frame_and_json(found: Any) -> None:
    assert "\n" not in str(found)
    assert repr(found) == f"{type(found).__name__}({found})"
    columns = found.table()
    assert polars.DataFrame(columns).shape == (len(next(iter(columns.values()))), len(columns))
    written = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert set(written) == set(found.__dataclass_fields__)
    assert str(found).split(" ")[0] in found._repr_html_()


def test_long_tables_are_cut_in_notebooks() -> None:
    found = winning_distances(load_invented(), truth="overall")
    assert "… and 16 more rows" in found._repr_html_()


@pytest.mark.parametrize("module", [clusters, maps, distances, irt, norms, success])
def test_docstring_examples_hold(module: ModuleType) -> None:
    results = doctest.testmod(module, optionflags=PYTHON_FLAGS)
    assert results.failed == 0
    assert results.attempted > 0
