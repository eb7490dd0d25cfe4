"""Files that sparingly 0.1.0.dev0 wrote are read, verified and reported as that version did.

The files lie in ``tests/fixtures/made_by_0_1_0_dev0`` with the script that made them. ``expected.json`` holds
what that version said of them, and is not written again by a later one.
"""

from __future__ import annotations

import csv
import gzip
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sparingly
from sparingly.cli.app import run
from tests.fixtures import facts
from tests.postgres import need_postgres
from tools.postgres_server import Server, running_server

MADE = Path(__file__).resolve().parents[1] / "fixtures" / "made_by_0_1_0_dev0"
EXPECTED: dict[str, Any] = json.loads((MADE / "expected.json").read_text(encoding="utf-8"))
RESULTS = ("selection", "estimate", "ranking")
DONE = 0


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
    assert facts.of_campaign(where, name) == approximately(EXPECTED[name])


@pytest.mark.parametrize("name", ["scores", "pairs"])
def test_a_campaign_is_verified_reported_and_goes_on(where: str, name: str, tmp_path: Path) -> None:
    page, answers, judged = tmp_path / "report.html", tmp_path / "answers.csv", tmp_path / "judged.jsonl"
    assert run(["campaign", "verify", where, "--name", name]) == DONE
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


def test_results_are_read_with_their_numbers() -> None:
    assert facts.of_results(MADE) == approximately(EXPECTED["results"])


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_verified(name: str) -> None:
    assert run(["verify", str(MADE / f"{name}.json"), str(MADE / "judged.jsonl")]) == DONE


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
    drawn = ["--design", "pivotal", "--near", "0.8", "--budget", "10", "--seed", "7", "--out", str(chosen)]
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
