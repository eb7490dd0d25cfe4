from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sparingly
from sparingly.base.errors import EXIT_DONE, EXIT_WRONG
from sparingly.cli.app import run
from tests.show.report.made import demo, drawn, play

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a judged set, one without labels, a selection, and a campaign."""
    folder = tmp_path_factory.mktemp("made")
    sparingly.save(demo(), folder / "data.jsonl")
    sparingly.save(demo().without_labels(), folder / "outputs.jsonl")
    drawn().save(folder / "drawn.json")
    play(folder / "campaign.db", "waves", 60)
    play(folder / "pairs.db", "d_optimal", 90)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path in made.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(capsys: Capture) -> Any:
    return json.loads(capsys.readouterr().out)


def complaint(arguments: list[str], capsys: Capture) -> str:
    assert run(arguments) == EXIT_WRONG
    return capsys.readouterr().err


# --- report -----------------------------------------------------------------------------------------


def test_report_writes_every_format(folder: Path, capsys: Capture) -> None:
    asked = [
        "report",
        "data.jsonl",
        "drawn.json",
        "-a",
        "overall",
        *("-o", "r.html", "-o", "r.md", "-o", "r.tex", "-o", "r.json"),
    ]
    assert run([*asked, "--no-figures", "--no-curve", "--title", "Spring"]) == EXIT_DONE
    shown = capsys.readouterr().out
    assert shown.startswith("Spring\nRowan has the highest score")
    assert "written to r.html\nwritten to r.md\nwritten to r.tex\nwritten to r.json\n" in shown
    values = json.loads((folder / "r.json").read_text(encoding="utf-8"))
    assert (values["format"], values["title"]) == ("sparingly/report", "Spring")
    assert (folder / "r.md").read_text(encoding="utf-8").startswith("# Spring\n")


def test_report_with_ratings_from_a_table(folder: Path, capsys: Capture) -> None:
    rows = ["rater,item,model,aspect,score"]
    chosen = demo().take(items=drawn().items)
    for place, item in enumerate(chosen.items):
        for at, model in enumerate(chosen.models):
            rows.append(f'anna,{item},"{model}",overall,{chosen.aspects["overall"][place, at]}')
    (folder / "ratings.csv").write_text("\n".join(rows), encoding="utf-8")
    asked = ["report", "outputs.jsonl", "drawn.json", "--labels", "ratings.csv", "-o", "r.json"]
    assert run([*asked, "--no-figures", "--json"]) == EXIT_DONE
    values = told(capsys)
    direct = sparingly.estimate(demo(), drawn(), "overall")
    assert [one["score"] for one in values["estimate"]["models"]] == pytest.approx(direct.scores.tolist())
    assert values["costs"]["labels"] == 120 * 8
    assert values["written"] == ["r.json"]


def test_report_on_a_campaign(folder: Path, capsys: Capture) -> None:
    assert run(["report", "campaign.db", "-o", "r.md", "--target", "set", "--json"]) == EXIT_DONE
    values = told(capsys)
    assert values["status"]["campaign"] == "campaign"
    assert values["estimate"]["target"] == "set"
    assert (folder / "r.md").is_file()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["data.jsonl", "drawn.json", "-a", "overall", "-o", "r.doc"], "its ending must be one of .html"),
        (["data.jsonl", "drawn.json", "-a", "overall", "-o", "r.md", "-o", "r.pdf"], "r.pdf is not a name"),
        (["data.jsonl", "drawn.json"], "There are 2 aspects"),
        (["data.jsonl", "-a", "overall", "--at", "3"], "--data, --at and --name are for campaigns"),
        (["campaign.db", "drawn.json"], "give nothing but the campaign"),
    ],
)
def test_wrong_use_of_report_is_one_sentence(
    arguments: list[str], sentence: str, folder: Path, capsys: Capture
) -> None:
    before = sorted(folder.iterdir())
    said = complaint(["report", *arguments, "--no-figures", "--no-curve"], capsys)
    assert sentence in said
    assert said.count("\n") == 1
    assert sorted(folder.iterdir()) == before


# --- diff -------------------------------------------------------------------------------------------


def test_diff_of_two_files(folder: Path, capsys: Capture) -> None:
    sparingly.select(demo().without_labels(), "uniform", 40, seed=1).save(folder / "few.json")
    sparingly.select(demo().without_labels(), "uniform", 120, seed=1).save(folder / "more.json")
    for name in ("few", "more"):
        assert (
            run(["rank", "data.jsonl", f"{name}.json", "-a", "overall", "-o", f"{name}-ranking.json"])
            == EXIT_DONE
        )
    capsys.readouterr()
    assert run(["diff", "few-ranking.json", "more-ranking.json", "--json"]) == EXIT_DONE
    values = told(capsys)
    assert values["shared"] == "nested"
    assert values["reasons"][0] == "More judged items: 40 before, 120 after."
    assert run(["diff", "few-ranking.json", "more-ranking.json"]) == EXIT_DONE
    shown = capsys.readouterr().out
    assert "Why: More judged items: 40 before, 120 after." in shown
    assert "→" in shown


def test_diff_of_rounds_and_of_entries(folder: Path, capsys: Capture) -> None:
    assert run(["diff", "campaign.db", "--round", "1", "--round", "3", "--json"]) == EXIT_DONE
    by_round = told(capsys)
    with sparingly.Campaign("campaign.db") as running:
        ends = [max(row["seq"] for row in running.ratings() if row["round"] <= number) for number in (1, 3)]
        sizes = [len(one) for one in running.rounds()]
    assert run(["diff", "campaign.db", "--at", str(ends[0]), "--at", str(ends[1]), "--json"]) == EXIT_DONE
    assert told(capsys) == by_round
    gained = sum(sizes[1:3])
    assert f"Labels by model: +{gained} on every model." in by_round["reasons"]
    assert by_round["models"][0]["labels_before"] == sizes[0]


def test_diff_of_comparisons(folder: Path, capsys: Capture) -> None:
    assert run(["diff", "pairs.db", "--round", "2", "--round", "3", "--json"]) == EXIT_DONE
    values = told(capsys)
    assert values["after"].startswith("8 models compared on overall, 9")
    assert values["reasons"][0].startswith("More judged comparisons:")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["drawn.json", "drawn.json"], "is a selection: give the files that estimate or rank wrote"),
        (["drawn.json"], "Give two files"),
        (["campaign.db"], "Give two points: --at 100 --at 200"),
        (["campaign.db", "--round", "1"], "Give two points"),
        (["campaign.db", "drawn.json"], "Two points of one campaign are compared"),
        (["campaign.db", "--round", "1", "--round", "9"], "There is no answered round 9: there are 4."),
    ],
)
def test_wrong_use_of_diff_is_one_sentence(
    arguments: list[str], sentence: str, folder: Path, capsys: Capture
) -> None:
    said = complaint(["diff", *arguments], capsys)
    assert sentence in said
    assert said.count("\n") == 1


# --- demo -------------------------------------------------------------------------------------------


def test_demo_without_the_extra_says_so_and_leaves_a_page_without_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    from sparingly.show.figures import look

    monkeypatch.setattr(look, "_PACKAGES", ("no_such_package_at_all",))
    assert run(["demo", "--out", str(tmp_path / "d")]) == EXIT_DONE
    assert 'pip install "sparingly[report]"' in capsys.readouterr().out
    assert "<figure" not in (tmp_path / "d" / "report.html").read_text(encoding="utf-8")


def test_demo_serves_a_campaign_on_its_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    from sparingly.cli import serve

    served: dict[str, Any] = {}
    monkeypatch.setattr(serve, "serve", lambda where, **asked: served.update(where=where, **asked))
    assert run(["demo", "--out", str(tmp_path), "--serve", "--port", "0"]) == EXIT_DONE
    with sparingly.Campaign(served["where"][0]) as running:
        assert running.status().sets[0].models == sparingly.load_demo().models
        assert running.settings.aspects == {"quality": (0.0, 100.0)}
        assert running.guidelines() is not None
    assert (served["raters"], served["serving"].port) == ("anna,ben", 0)
    capsys.readouterr()
    assert "leave out --serve or --json" in complaint(["demo", "--serve", "--json"], capsys)
