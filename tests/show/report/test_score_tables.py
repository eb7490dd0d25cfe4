from __future__ import annotations

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import UnknownNameError
from sparingly.data.synthetic import load_invented
from sparingly.infer.estimate.estimate import estimate
from sparingly.infer.rank.rank import rank, rank_scores
from sparingly.show.report.score_tables import ranking_table, score_table


def test_a_ranking_as_markdown_has_a_row_a_model_and_says_what_holds() -> None:
    found = rank_scores(np.array([1.0, 9.0]), np.eye(2), models=("a|b", "c_d"))
    text = ranking_table(found)
    assert text.splitlines()[2:4] == [
        "| 1 | `c_d` | 9.0 | - | - | over 99.9 % | 1 |",
        "| 2 | `a\\|b` | 1.0 | - | - | under 0.1 % | 2 |",
    ]
    assert "hold for all models at once with 95 % confidence" in text


def test_latex_escapes_names_and_sets_groups_off() -> None:
    found = rank_scores(np.array([1.0, 9.0, 8.9]), np.eye(3), models=("50% off", "c_d", "e&f"))
    lines = ranking_table(found, "latex").splitlines()
    assert r"1-2 & \texttt{c\_d} & 9.0 & - & - & 53 \% & 1 \\" in lines
    assert lines[lines.index(r"3 & \texttt{50\% off} & 1.0 & - & - & under 0.1 \% & 2 \\") - 1] == r"\hline"


def test_uncorrected_rules_and_chosen_items_claim_nothing() -> None:
    data = load_invented()
    chosen = sparingly.select(data, "metric_var:metric=learned", 40)
    top = ranking_table(rank(data, chosen, "overall"))
    assert "as if the items had been sampled at random, which they were not" in top
    assert "hold for all" not in top
    rules = {"algorithm1": "Algorithm 1", "mt_metrics_eval": "mt-metrics-eval"}
    for rule, name in rules.items():
        table = ranking_table(rank(data, chosen, "overall", groups_by=rule))  # type: ignore[arg-type]
        assert f"{name}" in table
        assert "published rule, no correction" in table


def test_scores_with_their_intervals() -> None:
    data = load_invented()
    chosen = sparingly.select(data, "random", 120, seed=1)
    found = estimate(data, chosen, "overall", estimator="weighted_mean")
    lines = score_table(found).splitlines()
    best = found.order[0]
    score, error, low, high = (
        float(part[best]) for part in (found.scores, found.standard_errors, found.low, found.high)
    )
    numbers = f"{score:.1f} | {error:.1f} | [{low:.1f}, {high:.1f}]"
    assert lines[2] == f"| `{found.models[best]}` | {numbers} |"
    assert "| 95 % interval |" in lines[0]
    assert r"\texttt{Rowan}" in score_table(found, "latex")
    with pytest.raises(UnknownNameError, match="markdown"):
        score_table(found, "markdwn")  # type: ignore[arg-type]
