"""Files that sparingly 0.1.0.dev0 wrote are read by later versions.

The files lie in ``tests/fixtures/made_by_0_1_0_dev0`` with the script that made them. ``expected.json`` holds
what that version said of them, and is not written again by a later one. A saved selection, estimate or
ranking is read with the numbers that are saved in it. A campaign holds answers and no results: scores are
those of that version, while intervals and ranks are made anew, and a later version may make them otherwise.
"""

from __future__ import annotations

import csv
import gzip
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.cli.app import run
from sparingly.run.verify import load_result
from tests.fixtures import facts
from tests.postgres import need_postgres
from tools.postgres_server import Server, running_server

MADE = Path(__file__).resolve().parents[1] / "fixtures" / "made_by_0_1_0_dev0"
EXPECTED: dict[str, Any] = json.loads((MADE / "expected.json").read_text(encoding="utf-8"))
RESULTS = ("selection", "estimate", "ranking")
# What a campaign makes anew from its answers.
ANEW = ("low", "high", "ranks")
DONE = 0
NO = 1


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A PostgreSQL server of today."""
    need_postgres()
    with running_server(in_memory=True) as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of the two campaigns, in a copy: opening an old file may bring its tables up to date."""
    if request.param == "sqlite":
        (tmp_path / "campaign.db").write_bytes(gzip.decompress((MADE / "campaign.db.gz").read_bytes()))
        return str(tmp_path / "campaign.db")
    server: Server = request.getfixturevalue("server")
    where = server.new_address()
    dump = (MADE / "campaign.sql").read_text(encoding="utf-8").replace(f"CREATE SCHEMA {MADE.name};", "")
    server.sql(dump.replace(MADE.name, where.rpartition("%3D")[2]))
    return where


def approximately(values: Any) -> Any:
    """Numbers to 1e-6 and everything else as it is, so that two machines say the same."""
    if isinstance(values, dict):
        return {str(name): approximately(value) for name, value in values.items()}
    if isinstance(values, list | tuple):
        return [approximately(value) for value in values]
    if isinstance(values, float):
        return pytest.approx(values, rel=1e-6, abs=1e-6)
    return values


@pytest.mark.parametrize("name", ["scores", "pairs"])
def test_a_campaign_is_read_with_its_numbers(where: str, name: str) -> None:
    said, before = facts.of_campaign(where, name), EXPECTED[name]
    assert set(said) == set(before)
    same = {part: value for part, value in before.items() if part not in ANEW}
    assert {part: said[part] for part in same} == approximately(same)
    assert set(said["ranks"]) == set(before["ranks"])
    for low, score, high in zip(said["low"], said["scores"], said["high"], strict=True):
        assert low < score < high


@pytest.mark.parametrize("name", ["scores", "pairs"])
def test_a_campaign_is_verified_reported_and_goes_on(where: str, name: str, tmp_path: Path) -> None:
    page, answers, judged = tmp_path / "report.html", tmp_path / "answers.csv", tmp_path / "judged.jsonl"
    assert run(["verify", where, "--name", name]) == DONE
    assert run(["report", where, "--name", name, "--no-figures", "--out", str(page)]) == DONE
    assert all(model in page.read_text(encoding="utf-8") for model in EXPECTED[name]["models"])
    assert run(["campaign", "export", where, str(answers), "--name", name]) == DONE
    assert run(["campaign", "export", where, str(judged), "--name", name]) == DONE
    assert (
        run(["campaign", "release", where, str(tmp_path / "r"), "--name", name, "--licence", "CC0"]) == DONE
    )
    with answers.open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == len(EXPECTED[name]["answers"])
    assert list(sparingly.load(judged).models) == EXPECTED[name]["models"]


def test_a_campaign_takes_answers_again(where: str) -> None:
    with sparingly.Campaign(where, "scores") as campaign:
        about = {name: campaign.ratings()[-1][name] for name in ("item", "model", "rater", "aspect")}
        assert campaign.record([{**about, "score": 1.0}]).correction == 1
        assert campaign.status().seq == EXPECTED["scores"]["entries"] + 1
        assert campaign.verify().ok


def test_a_campaign_of_auto_goes_on_by_the_rule_of_today(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rounds judged models to unequal depths, by labels."""
    path = tmp_path / "auto.db"
    path.write_bytes(gzip.decompress((MADE / "auto.db.gz").read_bytes()))
    with sparingly.Campaign(path) as campaign:
        assert campaign.settings.strategy == "auto:rounds=5,spread=true"
        before = facts.of_rounds(campaign)
        assert before == approximately({part: rounds[:3] for part, rounds in EXPECTED["auto"].items()})
        scores = campaign.estimate().scores
        assert np.isfinite(scores).all()
        assert len(campaign.rank().models) == len(scores)
        fourth = campaign.next()
        verified = campaign.verify()
        assert verified.ok
        assert verified.partial
        assert [note for note in verified.notes if "earlier rule" in note] == [
            f"Round {number} of data was made by an earlier rule and cannot be derived again."
            for number in (1, 2, 3)
        ]
        assert "question=ranking" in sparingly.writeup(campaign.rounds()[2])
        assert "`auto`" in sparingly.writeup(campaign.rounds()[3])
        assert fourth is not None
        assert campaign.estimate().scores.tolist() == scores.tolist()
    monkeypatch.setenv("COLUMNS", "200")
    assert run(["verify", str(path)]) == DONE
    assert "verified in part" in capsys.readouterr().out


def test_results_are_read_with_their_numbers() -> None:
    said = facts.of_results(MADE)
    # The sentence is made anew from the saved decisions; the words of a later version may be others.
    answer = said["answer"]
    assert answer.startswith("Ash is best")
    assert answer.endswith("All 3 pairs of models differ significantly.")
    assert said == approximately({**EXPECTED["results"], "answer": answer})


@pytest.mark.parametrize("name", ["estimate", "ranking"])
def test_saved_intervals_and_p_values_are_read_and_not_made_anew(name: str) -> None:
    saved = json.loads((MADE / f"{name}.json").read_text(encoding="utf-8"))
    read = json.loads(json.dumps(load_result(MADE / f"{name}.json").to_dict()))
    numbers = ("model", "score", "standard_error", "low", "high", "best_rank", "worst_rank", "group")
    rows = [[{part: row[part] for part in numbers if part in row} for row in one["models"]]
            for one in (saved, read)]  # fmt: skip
    assert rows[1] == approximately(rows[0])
    assert rows[0][0]["low"] == pytest.approx(EXPECTED["results"]["low"][0])
    if name == "ranking":
        for part in ("p_values", "corrected"):
            assert read[part] == approximately(saved[part])


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_verified_as_far_as_versions_allow(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert run(["verify", str(MADE / f"{name}.json"), str(MADE / "judged.jsonl")]) == DONE
    said = capsys.readouterr().out
    assert (
        f"Made by 0.1.0.dev0; {sparingly.__version__} computes intervals and p-values otherwise. "
        "Scores and standard errors agree." in said
    ) is (name != "selection")
    assert said.startswith("verified: the 16 rows follow" if name == "selection" else "verified in part: ")


@pytest.mark.parametrize(
    ("name", "part", "named"),
    [("estimate", "score", "scores"), ("ranking", "standard_error", "standard errors")],
)
def test_results_whose_scores_or_errors_differ_are_not_verified(
    name: str, part: str, named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = json.loads((MADE / f"{name}.json").read_text(encoding="utf-8"))
    saved["models"][0][part] += 0.001
    (tmp_path / "edited.json").write_text(json.dumps(saved), encoding="utf-8")
    assert run(["verify", str(tmp_path / "edited.json"), str(MADE / "judged.jsonl")]) == NO
    assert f"The {named} of the {name} do not follow from its signature." in capsys.readouterr().out


def test_results_are_made_again(tmp_path: Path) -> None:
    data, chosen = str(MADE / "judged.jsonl"), str(MADE / "selection.json")
    assert (
        run(["report", data, chosen, "-a", "overall", "--no-figures", "-o", str(tmp_path / "r.html")]) == DONE
    )
    assert run(["writeup", chosen]) == DONE


def test_a_scored_pool_is_read_and_drawn_from_again(tmp_path: Path) -> None:
    assert facts.of_pool(MADE) == approximately(EXPECTED["pool"])
    scored, chosen = str(MADE / "pool"), tmp_path / "again.json"
    assert run(["pool", "verify", scored, str(MADE / "pool_selection.json")]) == DONE
    drawn = ["--method", "pivotal", "--near", "0.8", "--budget", "10", "--seed", "7", "--out", str(chosen)]
    assert run(["pool", "select", scored, *drawn]) == DONE
    assert list(sparingly.Selection.load(chosen).items) == EXPECTED["pool"]["items"]


def test_a_release_is_read(tmp_path: Path) -> None:
    assert facts.of_release(MADE) == approximately(EXPECTED["release"])
    shutil.unpack_archive(MADE / "release.zip", tmp_path)
    (manifest,) = tmp_path.rglob("release.json")
    folder = manifest.parent
    data = sparingly.load(folder / "data" / "data.jsonl")
    assert list(data.models) == EXPECTED["scores"]["models"]
    assert sparingly.Selection.load(folder / "rounds" / "data-1.json").signature is not None
    assert run(["rank", str(folder / "data" / "data.jsonl"), "--aspect", "overall"]) == DONE
