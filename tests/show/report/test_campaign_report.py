from __future__ import annotations

from pathlib import Path

import pytest

import sparingly
from sparingly.base.errors import UsageError
from sparingly.show.report.evidence import ends_of_rounds
from tests.show.report.made import demo, drawn, play


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("campaign") / "scored.db"
    play(where, "waves", 80)
    return where


def test_report_on_a_campaign_of_several_rounds(scored: Path) -> None:
    with sparingly.Campaign(scored) as running:
        report = sparingly.report(running, figures=False)
        scores = running.estimate()
        rounds = len(running.rounds())
    told = report.to_dict()
    assert [one["score"] for one in told["estimate"]["models"]] == pytest.approx(scores.scores.tolist())
    assert len(told["selections"]) == rounds == 4
    seen = told["growth"]["seen"]
    assert [point["n"] for point in seen] == sorted({point["n"] for point in seen})
    assert seen[-1]["n"] == 80
    assert seen[-1]["half_width"] < seen[0]["half_width"]
    assert told["status"]["campaign"] == "campaign"
    assert "sparingly verify CAMPAIGN" in report.markdown()
    assert "all are answered" in report.markdown()
    assert "more takes a larger budget (`sparingly campaign budget`)" in report.markdown()
    with sparingly.Campaign(scored) as running:
        ended = running.status().sets[0].finished
    assert f"It ended: {ended}" in report.markdown()
    assert "Not needed" not in report.markdown()


def test_a_report_says_what_of_the_budget_a_rule_to_stop_has_left(tmp_path: Path) -> None:
    where = tmp_path / "settled.db"
    play(where, "waves", 80, stop="width_reached:w=1000")
    with sparingly.Campaign(where) as running:
        part = running.status().sets[0]
        text = sparingly.report(running, figures=False).markdown()
    assert part.limit - part.spent > 0
    assert f"Not needed: {part.limit - part.spent:,} of {part.limit:,} outputs of the budget." in text


def test_rounds_together_speak_for_the_set_and_a_later_one_alone_does_not(scored: Path) -> None:
    with sparingly.Campaign(scored) as running:
        told = sparingly.report(running, figures=False).to_dict()["estimand"]
        rounds = running.rounds()
    assert "80 of them were sampled with known probabilities in 4 rounds" in told
    with pytest.raises(UsageError, match="This is round 3 of several"):
        sparingly.report(demo(), rounds[2], "overall", figures=False)
    assert "waves" in sparingly.writeup(rounds[2])


def test_report_at_an_entry_of_the_journal(scored: Path) -> None:
    with sparingly.Campaign(scored) as running:
        first = ends_of_rounds(running, "data", running.status().last_seq)[0]
        report = sparingly.report(running, at=first, figures=False)
        assert report.evidence.estimate.n == len(running.rounds()[0])
    assert len(report.evidence.rounds) == 1
    assert "`sparingly serve CAMPAIGN` (to collect more labels)" in report.markdown()


def test_ends_of_rounds_lie_between_the_rounds_answers(scored: Path) -> None:
    with sparingly.Campaign(scored) as running:
        last = running.status().last_seq
        ends, rows = ends_of_rounds(running, "data", last), running.ratings()
    assert len(ends) == 4
    for number, end in enumerate(ends, 1):
        assert {row["round"] for row in rows if row["seq"] <= end} == set(range(1, number + 1))
    assert ends[-1] == max(row["seq"] for row in rows)


def test_campaign_of_the_top_of_a_list_is_ranking_only(tmp_path: Path) -> None:
    play(tmp_path / "top.db", "metric_var:metric=learned", 30)
    with sparingly.Campaign(tmp_path / "top.db") as running:
        report = sparingly.report(running, figures=False)
    assert report.to_dict()["estimand"].startswith("Ranking only")
    assert report.evidence.ranking is not None
    assert report.evidence.ranking.target == "chosen"


def test_campaign_of_comparisons_tells_strengths(tmp_path: Path) -> None:
    play(tmp_path / "pairs.db", "d_optimal", 90)
    with sparingly.Campaign(tmp_path / "pairs.db") as running:
        report = sparingly.report(running, figures=False)
        strengths = running.strengths()
    told = report.to_dict()
    assert told["costs"]["labels"] == strengths.comparisons == 90
    assert [one["score"] for one in told["estimate"]["models"]] == pytest.approx(strengths.strengths.tolist())
    assert "comparisons of two outputs" in told["estimand"]
    assert "in comparisons of this set's outputs?" in report.markdown()
    assert "Strengths with intervals" in report.markdown()


def test_wrong_questions_about_a_campaign(scored: Path) -> None:
    with sparingly.Campaign(scored) as running:
        with pytest.raises(UsageError, match="knows its own selections"):
            sparingly.report(running, drawn(), figures=False)
        with pytest.raises(UsageError, match="about overall, which cannot be changed to fluency"):
            sparingly.report(running, None, "fluency", figures=False)


def test_a_rule_that_tests_keeps_its_budget(tmp_path: Path) -> None:
    play(tmp_path / "c.db", "auto:rounds=1", 10, stop="all_settled")
    with sparingly.Campaign(tmp_path / "c.db") as running:
        text = sparingly.report(running, figures=False).markdown()
    assert "more takes a campaign of fresh items" in text
    assert "sparingly campaign budget" not in text
