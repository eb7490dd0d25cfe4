"""What is expected, beside a ranking: from the labels that its selection asked for, and kept in files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sparingly
from sparingly.data.evalset import EvalSet
from sparingly.infer.rank.rank import requested_scores
from sparingly.infer.rank.ranking import Ranking


@pytest.fixture(scope="module")
def data() -> EvalSet:
    return sparingly.make_evalset(items=80, models=5, texts=False, aspects=("overall",))


def test_only_labels_that_were_asked_for_are_used(data: EvalSet) -> None:
    chosen = sparingly.select(data, budget=30)
    found = sparingly.rank(data, chosen, expect=True).expected
    assert found is not None
    labels = np.full(data.shape, np.nan)
    rows = data.positions(chosen.items)
    labels[rows] = data.aspects["overall"][rows]
    right = sparingly.expect(data, labels)
    np.testing.assert_array_equal(found.p_values, right.p_values)
    assert found.labels.tolist() == [30] * 5


def test_without_a_selection_every_label_is(data: EvalSet) -> None:
    found = sparingly.rank(data, expect=True)
    assert found.expected is not None
    assert found.expected.labels.tolist() == [80] * 5
    assert sparingly.rank(data).expected is None


def test_models_with_rows_of_their_own_count_by_these(data: EvalSet) -> None:
    rows = np.empty(30, object)
    rows[:] = [data.models[: 2 + place % 3] for place in range(30)]
    chosen = replace(sparingly.select(data, budget=30), models=rows)
    found = sparingly.expect(data, requested_scores(data, chosen, "overall"), aspect="overall")
    assert found.labels.tolist() == [sum(name in row for row in rows) for name in data.models]


def test_a_file_keeps_it(data: EvalSet, tmp_path: Path) -> None:
    ranking = sparingly.rank(data, sparingly.select(data, budget=30), expect=True)
    ranking.save(tmp_path / "one.json")
    again = Ranking.load(tmp_path / "one.json")
    again.save(tmp_path / "two.json")
    assert (tmp_path / "one.json").read_text() == (tmp_path / "two.json").read_text()
    assert sparingly.verify(again, data).ok
