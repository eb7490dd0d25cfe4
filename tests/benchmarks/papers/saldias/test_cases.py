"""What errors are measured on: the items of one rater, or of a whole set."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import sparingly
from benchmarks.papers.saldias.cases import Case, Cases, cases_of


def test_raters_with_enough_items_are_cases_of_their_own(tmp_path: Path) -> None:
    lines = []
    for item in range(130):
        # One rater judges both systems on 104 items (twice on the first), the other too few.
        rater = "often" if item < 104 else "seldom"
        given = [(system, rater, float(item + place)) for place, system in enumerate(("a", "b"))]
        given += [("a", rater, 2.0)] if item == 0 else []
        ratings = [
            {"model": system, "rater": who, "aspect": "overall", "score": score}
            for system, who, score in given
        ]
        scores = {system: {"metric": float(item % 7 + place)} for place, system in enumerate(("a", "b"))}
        lines.append(json.dumps({"item": f"i{item:03d}", "scores": scores, "ratings": ratings}))
    with gzip.open(tmp_path / "rated.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    found = cases_of("rated", sparingly.load(tmp_path / "rated.jsonl.gz"))
    assert found.by_rater
    assert [one.name for one in found.cases] == ["often"]
    assert found.simulations == 2
    # The two ratings of one output, 0 and 2, count as their mean.
    assert found.cases[0].means == pytest.approx([(np.arange(104).sum() + 1) / 104, np.arange(1, 105).mean()])


def test_metrics_are_those_that_correlate_most(cases: Cases, case: Case) -> None:
    def correlation(name: str) -> float:
        x = case.data.metrics[name]
        return abs(float(np.mean([np.corrcoef(x[:, j], case.truth[:, j])[0, 1] for j in range(3)])))

    inside = [name for name in cases.best if name in case.data.metrics]
    assert inside == sorted(inside, key=correlation, reverse=True)
    assert {"source_length", "output_length"} <= set(cases.shown("all"))
    assert not {"source_length", "output_length"} & set(cases.metrics_of("all"))
