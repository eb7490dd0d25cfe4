from __future__ import annotations

import json
from typing import Any

import polars
import pytest

import sparingly
from sparingly.infer.analysis.chosen_norms import chosen_norms
from sparingly.infer.analysis.cluster_norms import cluster_norms
from sparingly.infer.analysis.difference_map import difference_map
from sparingly.infer.analysis.irt_check import irt_check
from sparingly.infer.analysis.item_curves import item_curves
from sparingly.infer.analysis.success_by_norm import success_by_norm
from sparingly.infer.analysis.winning_distances import winning_distances

PAIR = ("Juniper", "Rowan")


def every_analysis() -> list[Any]:
    data = sparingly.load_demo()
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
    found = winning_distances(sparingly.load_demo(), truth="overall")
    assert "… and 16 more rows" in found._repr_html_()
