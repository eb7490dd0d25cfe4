"""One rule for what numbers speak of, and one set of decisions: the same in commands, pages and reports."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import DataError, UnknownNameError
from sparingly.cli.app import run
from sparingly.data.evalset import EvalSet
from sparingly.data.synthetic import load_invented
from sparingly.infer.estimate.assemble import targets_of
from sparingly.infer.rank.ranking import Ranking
from sparingly.run.campaign.results import findings
from tests.show.report.made import play

DATA = load_invented()
CHOSEN = sparingly.select(DATA, "local_pivotal", "50%")
Numbers = dict[str, tuple[float, float, float, float]]


def test_the_rule() -> None:
    assert targets_of() == ("set", "population")
    assert targets_of("set") == ("set", "set")
    assert targets_of("population") == ("population", "population")
    with pytest.raises(UnknownNameError, match="Did you mean set"):
        targets_of("sett")  # type: ignore[arg-type]


def _of(rows: list[dict[str, Any]]) -> Numbers:
    names = ("score", "standard_error", "low", "high")
    return {row["model"]: tuple(round(row[name], 9) for name in names) for row in rows}


def test_a_model_has_the_same_numbers_everywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sparingly.save(DATA, tmp_path / "data.jsonl")
    CHOSEN.save(tmp_path / "chosen.json")

    def printed(verb: str) -> dict[str, Any]:
        parts = [verb, str(tmp_path / "data.jsonl"), str(tmp_path / "chosen.json"), "-a", "overall", "--json"]
        more = ["--out", str(tmp_path / "r.json"), "--no-figures", "--no-curve"] if verb == "report" else []
        assert run([*parts, *more]) == 0
        held: dict[str, Any] = json.loads(capsys.readouterr().out)
        return held

    report = printed("report")
    numbers = _of(printed("estimate")["models"])
    ranked = printed("rank")["models"]
    assert numbers == _of(ranked)
    found = sparingly.estimate(DATA, CHOSEN, "overall")
    texts = {model: found.interval_text(place) for place, model in enumerate(found.models)}
    assert texts == {row["model"]: row["interval"] for row in ranked}
    assert numbers == _of(report["estimate"]["models"]) == _of(report["ranking"]["models"])
    assert all(error > 0 for _, error, _, _ in numbers.values())
    ranking = sparingly.rank(DATA, CHOSEN, "overall")
    assert (ranking.scores_of, ranking.target) == ("set", "population")
    wider = sparingly.rank(DATA, CHOSEN, "overall", target="population")
    assert wider.models[0].standard_error > ranking.models[0].standard_error  # type: ignore[operator]
    assert [one.ranks for one in wider.models] == [one.ranks for one in ranking.models]


def test_a_campaign_has_the_same_numbers_everywhere(tmp_path: Path) -> None:
    play(tmp_path / "one.db", "local_pivotal", 60)
    with sparingly.Campaign(tmp_path / "one.db") as running:
        scores, found = running.estimate(), findings(running)
        report = sparingly.report(running, figures=False).to_dict()
        direct = sparingly.rank(running.data(), scores.selection, "overall")
    numbers = _of(scores.to_dict()["models"])
    (standing,) = found.standings
    assert numbers == _of(standing.to_dict()["models"])
    assert numbers == _of(report["estimate"]["models"]) == _of(report["ranking"]["models"])
    assert numbers == _of(direct.to_dict()["models"])
    ranks = [one.ranks for one in direct.models]
    assert ranks == [one.ranks for one in standing.models]
    assert standing.summary.rows == direct.summary().rows
    assert standing.summary.sentences[:2] == direct.summary().sentences
    chances = [one.chance_of_best for one in direct.models]
    assert chances == [one.chance_of_best for one in standing.models]
    assert "Scores describe this set, ranks inputs like these" in standing.summary.method[0]


def _five_documents() -> EvalSet:
    drawn = np.random.default_rng(2)
    scores = drawn.normal(0, 1, (50, 1)) + drawn.normal(0, 1, (50, 3)) + np.array([2.0, 1.0, 0.0])
    data = EvalSet.from_arrays(
        [f"i{place:02d}" for place in range(50)], ["a", "b", "c"], aspects={"y": scores}
    )
    return data.with_column("document", [f"d{place // 10}" for place in range(50)])


def test_few_documents_all_judged_name_the_target_that_works() -> None:
    data = _five_documents()
    said = (
        "Only 5 documents are judged, too few to say who is better on inputs like these; "
        'use target="set" to rank the models on this set.'
    )
    with pytest.raises(DataError, match=said):
        sparingly.rank(data)
    assert [one.ranks for one in sparingly.rank(data, target="set").models] == ["1", "2", "3"]
    report = sparingly.report(data, figures=False, curve=False)
    assert report.evidence.ranking is None
    assert said in report.markdown()
    assert "| a |" in report.markdown()
    some = sparingly.select(data, "uniform", 5)
    with pytest.raises(DataError, match="too few to say who is better: judge at least 10"):
        sparingly.rank(data, some)


def test_ten_items_cannot_decide_among_many_models() -> None:
    drawn = np.random.default_rng(3)
    scores = drawn.normal(0, 0.01, (10, 20)) + np.arange(20.0)
    names = [f"model {place}" for place in range(20)]
    data = EvalSet.from_arrays([f"i{place}" for place in range(10)], names, aspects={"y": scores})
    found = sparingly.rank(data, target="population")
    assert found.decisions.decided == 0
    assert any("190 pairs need at least 11" in note for note in found.notes)


@pytest.mark.parametrize("show", [str, lambda found: found._repr_html_(), lambda found: found.answer()])
def test_no_output_puts_equals_between_models_that_differ(show: Callable[[sparingly.Ranking], str]) -> None:
    found = sparingly.rank(DATA, CHOSEN, "overall")
    decided = found.decisions.decided
    assert 0 < decided < 28
    names = [one.model for one in found.models]
    assert not any(f"{one} = " in show(found) for one in names)
    assert f"{decided} of 28 pairs differ significantly" in show(found)


def test_ranks_groups_and_headline_follow_from_the_corrected_p_values() -> None:
    found = sparingly.rank(DATA, None, "overall")
    decided = (found.corrected <= found.alpha) & (np.arange(8)[:, None] < np.arange(8)[None, :])
    assert [one.best_rank for one in found.models] == (1 + decided.sum(axis=0)).tolist()
    assert [one.worst_rank for one in found.models] == (8 - decided.sum(axis=1)).tolist()
    for place in range(1, 8):
        apart = found.models[place - 1].group != found.models[place].group
        assert apart == decided[:place, place:].all()
    assert found.may_be_best == tuple(one.model for one in found.models if one.best_rank == 1)


def test_rankings_of_earlier_versions_are_read() -> None:
    values = json.loads(json.dumps(sparingly.rank(DATA, CHOSEN, "overall", target="population").to_dict()))
    old = {name: value for name, value in values.items() if name != "scores_of"} | {"groups_by": "rank_sets"}
    old["models"] = [{k: v for k, v in row.items() if k not in ("low", "high")} for row in values["models"]]
    old["signature"] = {name: value for name, value in values["signature"].items() if name != "decisions"}
    old["signature"]["groups_by"] = "rank_sets"
    read = Ranking.from_dict(old)
    assert (read.scores_of, read.target) == ("population", "population")
    assert read.models[0].low is None
    assert "earlier version" in read.group_sentence
    found = sparingly.verify(read, DATA)
    assert not found.ok
    assert "rank again" in found.problems[0]


def _ranked(scores: np.ndarray) -> sparingly.Ranking:
    items, models = [f"i{place:02d}" for place in range(len(scores))], [f"m{place}" for place in range(3)]
    return sparingly.rank(EvalSet.from_arrays(items, models[: scores.shape[1]], aspects={"y": scores}))


def test_odd_scores_give_the_right_answer_or_one_sentence() -> None:
    drawn = np.random.default_rng(0)
    scores = drawn.normal(size=(40, 1)) + drawn.normal(size=(40, 3))
    assert (
        _ranked(np.full((40, 3), 2.0)).answer().startswith("m0, m1 and m2 share the highest score: none is")
    )
    same = _ranked(np.tile([1.0, 2.0, 3.0], (40, 1)))
    assert same.decisions.decided == 0
    far = scores.copy()
    far[0, 0] = 1e9
    usual, beside = _ranked(scores), _ranked(far)
    assert beside.models[0].model == "m0"
    assert beside.decisions.decided == 0
    one, other = ([held.model for held in found.models].index("m1") for found in (usual, beside))
    two, second = ([held.model for held in found.models].index("m2") for found in (usual, beside))
    assert usual.p_values[one, two] < 0.05
    assert beside.p_values[other, second] < 1.0
    with pytest.raises(DataError, match="two models that were judged"):
        _ranked(scores[:, :1])
    with pytest.raises(DataError, match="Only 1 item is judged"):
        _ranked(scores[:1])
