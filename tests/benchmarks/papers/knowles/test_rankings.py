"""Rankings and shares by draws of documents and snippets are those that the package gives."""

from __future__ import annotations

import numpy as np
import pytest

import sparingly
from benchmarks.papers.lo_knowles import (
    BANDS,
    BUDGETED,
    FIXED,
    HUMAN,
    SEGMENTS,
    Method,
    band_figures,
    ranking_figures,
    seeds_of,
)
from benchmarks.papers.lo_knowles import DEMO_SET as DEMO
from sparingly.data.synthetic import load_invented


@pytest.fixture(scope="module")
def demo() -> sparingly.EvalSet:
    return load_invented()


@pytest.mark.parametrize("text", [SEGMENTS, f"{SEGMENTS},matching=false", FIXED, BUDGETED])
def test_changes_and_tau_are_those_of_the_package(demo: sparingly.EvalSet, text: str) -> None:
    found = ranking_figures(demo, DEMO, Method("", text, weighted=True), 0.4, 6)
    seeds = seeds_of(6)
    compared = [
        sparingly.agree(demo, sparingly.select(demo, text, "40%", seed=seed), "overall") for seed in seeds
    ]
    changes = [one.agreement.rank_changes for one in compared]
    assert found[HUMAN]["changes"] == changes
    assert found[HUMAN]["changed"] == pytest.approx(np.mean([change > 0 for change in changes]), abs=1e-4)
    tau = np.mean([one.agreement.kendall_b for one in compared])
    assert found[HUMAN]["kendall"] == pytest.approx(tau, abs=1e-4)
    assert found["chrF"] != found[HUMAN]


def test_plain_means_ignore_the_probabilities(demo: sparingly.EvalSet) -> None:
    plain, weighted = (
        ranking_figures(demo, DEMO, Method("", BUDGETED, weighted=one), 0.2, 20) for one in (False, True)
    )
    assert plain != weighted


def test_what_cannot_be_drawn_has_no_figures(demo: sparingly.EvalSet) -> None:
    assert ranking_figures(demo, DEMO, Method("", f"{FIXED},length=2"), 0.4, 2) is None


def test_shares_by_length_are_those_of_representation(demo: sparingly.EvalSet) -> None:
    found = band_figures(demo, 0.4, 3)
    seeds = seeds_of(3)
    for text in (FIXED, BUDGETED):
        told = [
            sparingly.representation(
                demo, sparingly.select(demo, text, "40%", seed=seed), document_bands=BANDS
            ).document_lengths
            for seed in seeds
        ]
        for place, group in enumerate(told[0]):
            mean = np.mean([one[place].selected_share for one in told])
            assert found[text][place] == pytest.approx(mean, abs=1e-3), group
            assert found["full"][place] == pytest.approx(group.full_share, abs=1e-4)
    short = {text: found[text][0] / found["full"][0] for text in (FIXED, BUDGETED)}
    assert short[FIXED] > 1.05 > short[BUDGETED]
