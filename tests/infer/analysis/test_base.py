from __future__ import annotations

import json
from typing import Any

import polars
import pytest

import sparingly

PAIR = ("Juniper", "Rowan")


def every_analysis() -> list[Any]:
    data = sparingly.load_demo()
    return [
        sparingly.chosen_norms(data, sparingly.select(data, "random", 20)),
        sparingly.cluster_norms(data, [10], pair=PAIR),
        sparingly.success_by_norm(data, truth="overall"),
        sparingly.winning_distances(data, truth="overall"),
        sparingly.difference_map(data, PAIR),
        sparingly.item_curves(data, "irt:metric=learned"),
        sparingly.irt_check(data, "irt:metric=learned,fit=map"),
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
    found = sparingly.winning_distances(sparingly.load_demo(), truth="overall")
    assert "… and 16 more rows" in found._repr_html_()
