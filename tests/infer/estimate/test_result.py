from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import norm

from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.infer.estimate.estimate import estimate_scores

SCORES = np.random.default_rng(3).normal(size=(120, 3)) + np.array([0.0, 1.0, 0.2])
FOUND = estimate_scores(SCORES, size=600, models=["tiny", "large", "base"])


def test_table_best_first() -> None:
    lines = str(FOUND).splitlines()
    assert lines[0] == "score of 3 models over this set of 600 items, from 120 judged items by weighted mean"
    assert [line.split()[0] for line in lines[1:4]] == ["large", "base", "tiny"]
    assert len(lines) == 4
    assert repr(FOUND).startswith("Estimate(score of 3 models")
    assert "<td>large</td>" in FOUND._repr_html_()


def test_plain_values_are_json() -> None:
    told = json.loads(json.dumps(FOUND.to_dict(), allow_nan=False))
    assert told["models"][1]["model"] == "large"
    assert told["models"][1]["score"] == pytest.approx(FOUND.scores[1])
    assert told["outcome"]["shares"]["printed"] == 1.0
    assert np.array(told["covariance"]) == pytest.approx(FOUND.covariance)


def test_differences_use_the_joint_covariance() -> None:
    found = FOUND.difference("large", "tiny")
    paired = SCORES[:, 1] - SCORES[:, 0]
    assert found.difference == pytest.approx(paired.mean())
    assert found.standard_error == pytest.approx(np.sqrt(0.8 * paired.var(ddof=1) / 120))
    assert found.interval == "t"
    assert found.low < found.difference < found.high
    back = FOUND.difference("tiny", "large")
    assert (back.low, back.high) == pytest.approx((-found.high, -found.low))
    assert [(one.first, one.second) for one in FOUND.differences()] == [
        ("tiny", "large"),
        ("tiny", "base"),
        ("large", "base"),
    ]


def test_unknown_models_are_named() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean large"):
        FOUND.difference("larg", "tiny")
    with pytest.raises(UsageError, match="and itself"):
        FOUND.difference("tiny", "tiny")


def test_predicted_full_set_significance() -> None:
    paired = SCORES[:, 0] - SCORES[:, 1]
    plain = FOUND.full_set_p(shrink=False)
    assert plain[0] == pytest.approx(norm.cdf(-paired.mean() * np.sqrt(600) / paired.std(ddof=1)), abs=1e-12)
    shrunk = FOUND.full_set_p()
    assert (np.abs(shrunk - 0.5) <= np.abs(plain - 0.5) + 1e-12).all()


def test_one_judged_item_tells_a_score_and_no_error() -> None:
    found = estimate_scores(SCORES[:1], size=10)
    assert found.scores == pytest.approx(SCORES[0])
    assert np.isnan(found.standard_errors).all()
    assert found.outcome.withheld == 3
    assert "no interval" in str(found)


def test_a_model_without_judgements_comes_last() -> None:
    seen = SCORES.copy()
    seen[:, 1] = np.nan
    found = estimate_scores(seen, size=600, models=["tiny", "large", "base"])
    assert [found.models[place] for place in found.order] == ["base", "tiny", "large"]
    assert np.isnan(found.covariance[1]).all()
    assert found.to_dict()["models"][1]["score"] is None
