from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import sparingly
from sparingly.infer.estimate.estimate import estimate
from sparingly.infer.estimate.estimators import Ppi
from tests.infer.estimate.sets import judged_set, some_rows, with_judged


def test_by_hand() -> None:
    data = judged_set()
    rows = some_rows(data, 60)
    judged, sample = with_judged(data, rows)
    y, f = data.aspects["truth"][rows], data.metrics["good"]
    centred = (y - y.mean(axis=0)) * (f[rows] - f[rows].mean(axis=0))
    lam = np.clip(centred.mean(axis=0) / f.var(axis=0, ddof=1), 0.0, 2.0)
    expected = lam * f.mean(axis=0) + (y - lam * f[rows]).mean(axis=0)
    assert Ppi(metric="good", guard=False).linear(sample, judged, 0).scores(sample) == pytest.approx(expected)
    fixed = Ppi(metric="good", power=1.0).linear(sample, judged, 0)
    assert fixed.scores(sample) == pytest.approx(f.mean(axis=0) + (y - f[rows]).mean(axis=0))
    assert fixed.parameters == 1.0


def test_a_metric_that_tells_nothing_falls_back() -> None:
    judged, sample = with_judged(judged_set(), np.arange(40))
    linear = Ppi(metric="weak").linear(sample, judged, 0)
    assert linear.fallen_back is not None
    assert linear.fallen_back.all()
    assert linear.scores(sample) == pytest.approx(np.nanmean(judged.aspects["seen"], axis=0))


@pytest.mark.shared_data
def test_it_answers_as_ppi_python_does(shared_data: Path, shared_checks: Path) -> None:
    theirs = json.loads((shared_checks / "ppi_python_0.2.3.json").read_text())
    data = sparingly.load(shared_data / "wmt23_ende.jsonl.gz")
    # It knows nothing of documents.
    data = data.only([name for name in data.fields if name != "column:document"])
    kept = np.isin(data.items, theirs["labelled_items"])
    data = data.with_aspect("seen", np.where(kept[:, None], data.aspects["mqm"], np.nan))
    share = float(kept.mean())
    ways = {
        "lam=None": "ppi:metric=MetricX-23,guard=false",
        # Its λ multiplies the unjudged items only.
        "lam=1.0": f"ppi:metric=MetricX-23,power={1 / (1 - share)!r}",
    }
    for name, text in ways.items():
        found = estimate(data, None, "seen", estimator=text, target="population", level=0.9, interval="t")
        for place, model in enumerate(found.models):
            low, high = theirs["models"][model][name]["ci"]
            assert found.scores[place] == pytest.approx(theirs["models"][model][name]["point"])
            # Ours has Student's quantile and n − 1.
            assert (found.high - found.low)[place] == pytest.approx(high - low, rel=0.04)
    plain = estimate(data, None, "seen", estimator="mean", target="population", level=0.9, interval="t")
    for place, model in enumerate(plain.models):
        ends = (plain.low[place], plain.high[place])
        assert ends == pytest.approx(theirs["models"][model]["classical_ci"], rel=0.01)
