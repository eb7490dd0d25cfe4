"""``python -m benchmarks.analyses`` inside one process."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparingly
from benchmarks.analyses.__main__ import ANALYSES, main
from benchmarks.analyses.clusters import cluster_norms
from benchmarks.analyses.difference_map import difference_map
from benchmarks.analyses.distances import winning_distances
from benchmarks.analyses.irt import irt_check, item_curves
from benchmarks.analyses.norms import chosen_norms
from benchmarks.analyses.success import success_by_norm
from sparingly.data.synthetic import load_invented
from sparingly.show.figures import look

Command = Callable[[str], tuple[int, str, str]]
PAIR = '--pair "Elm + rerank (beam = 4)" Rowan'


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command line in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def in_process(line: str) -> tuple[int, str, str]:
        code = main(shlex.split(line))
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return in_process


EVERY = {
    "norms": "-m diffuse -m random -b 10%",
    "clusters": f"{PAIR} --clusters 10 --clusters 20",
    "success": f"-t overall --tie 2 --bins 5 {PAIR}",
    "distances": "-t overall",
    "map": f"{PAIR} -t overall -m diffuse:weighted=true -b 12",
    "item-curves": "-m irt:metric=learned,fit=map --item item-001 --item item-010",
    "irt-fit": "-m irt:metric=learned,fit=map --bins 4",
}


@pytest.mark.parametrize("kind", EVERY)
def test_every_kind_is_written_and_its_data_printed(command: Command, kind: str) -> None:
    code, out, err = command(f"{kind} {EVERY[kind]} -o picture.json")
    assert (code, err) == (0, "")
    assert out.endswith("written to picture.json\n")
    assert "vconcat" in json.loads(Path("picture.json").read_text(encoding="utf-8"))
    code, out, err = command(f"{kind} {EVERY[kind]} --json")
    assert (code, err) == (0, "")
    assert json.loads(out) == _expected(kind)


def _expected(kind: str) -> Any:
    data = load_invented()
    pair = ("Elm + rerank (beam = 4)", "Rowan")
    view = data.take(models=pair)
    analyses: dict[str, Callable[[], Any]] = {
        "norms": lambda: chosen_norms(
            data, {method: sparingly.select(data, method, "10%") for method in ("diffuse", "random")}
        ),
        "clusters": lambda: cluster_norms(data, [10, 20], pair=pair),
        "success": lambda: success_by_norm(data, truth="overall", tie=2, bins=5, pair=pair),
        "distances": lambda: winning_distances(data, truth="overall"),
        "map": lambda: difference_map(
            data, pair, sparingly.select(view, "diffuse:weighted=true", 12), truth="overall"
        ),
        "item-curves": lambda: item_curves(
            data, "irt:metric=learned,fit=map", items=["item-001", "item-010"]
        ),
        "irt-fit": lambda: irt_check(data, "irt:metric=learned,fit=map", bins=4),
    }
    return analyses[kind]().to_dict()


@pytest.mark.parametrize("kind", [kind for kind in ANALYSES if kind != "clusters"])
def test_a_name_alone_shows_the_demo(command: Command, kind: str) -> None:
    code, out, err = command(kind)
    assert (code, err) == (0, "")
    assert out


def test_a_selection_file_is_marked(command: Command) -> None:
    chosen = sparingly.select(load_invented(), "random", 7)
    chosen.save("chosen.json")
    shown = json.loads(command(f"map {PAIR} --selection chosen.json --json")[1])
    assert {point["item"] for point in shown["points"] if point["chosen"]} == set(chosen.items)
    norms = json.loads(command("norms --selection chosen.json --json")[1])
    assert [group["name"] for group in norms["groups"]] == ["all items", "chosen.json"]


def test_json_needs_no_drawing_library(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise ModuleNotFoundError(name, name=name)

    monkeypatch.setattr(look, "import_module", absent)
    assert command("distances -t overall --json")[0] == 0
    code, out, err = command("distances -t overall -o x.svg")
    assert (code, out) == (2, "")
    assert 'pip install "sparingly[report]"' in err


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("norms -m random -b 5 -o x.gif", "x.gif is not a name for a picture"),
        (f"norms {PAIR} -o x.svg", "give --selection, or --method and --budget"),
        ("norms -m random -o x.svg", "A --method goes with a --budget."),
        ("norms -b 10 -o x.svg", "A --method goes with a --budget."),
        ("norms -m random -b 5 -t overall -o x.svg", "The analysis norms does not take --truth."),
        ("distances -t overall --pair Rowan Juniper -o x.svg", "It takes: --truth, --aspect, --tie."),
        ("distances --tie 0 -o x.svg", "The set has no preferences."),
        ("distances -t overal -o x.svg", 'no aspect or metric "overal". Did you mean overall'),
        ("map -t overall -o x.svg", "Name a pair of models. There are: Alder 70B"),
        ("map --pair Rowan Rown -o x.svg", 'There is no model "Rown". Did you mean Rowan?'),
        ("map --pair Rowan Rowan -o x.svg", "not Rowan twice"),
        (f"map {PAIR} -m random -m diffuse -b 5 -o x.svg", "A map shows one selection"),
        ("item-curves -m diffuse -o x.svg", '"diffuse" is not item response theory'),
        ("irt-fit --bins 3 -o x.svg", "There are 4 metrics: "),
        ("irt-fit -m irt:metric=learned -m irt:metric=judge -o x.svg", "shows one fit"),
        ("clusters --clusters 0 -o x.svg", "The numbers of clusters lie between 1 and 239"),
        ("distances -t overall -o absent/x.svg", "the folder to write to does not exist"),
        ("norms --data silent.csv -m random -b 2 -o x.svg", "Embeddings of outputs need outputs"),
    ],
)
def test_an_error_is_one_line(command: Command, tmp_path: Path, line: str, sentence: str) -> None:
    (tmp_path / "silent.csv").write_text("item,model,m\n1,a,1\n1,b,2\n2,a,1\n2,b,3\n", encoding="utf-8")
    code, out, err = command(line)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert sentence in err
    assert [path.name for path in tmp_path.iterdir()] == ["silent.csv"]


def test_missing_cells_are_noted(command: Command, tmp_path: Path) -> None:
    outputs: list[list[str | None]] = [
        ["one thing", "another"],
        ["the same", None],
        ["x y", "x z"],
        ["a b c", "a b d"],
    ]
    scores = np.array([[1.0, 2.0], [3.0, np.nan], [2.0, 1.0], [2.0, np.nan]])
    data = sparingly.EvalSet.from_arrays(
        list("wxyz"), ["a b", "c (+)"], outputs=outputs, aspects={"q": scores}
    )
    sparingly.save(data, tmp_path / "gaps.jsonl")
    code, out, _ = command("map --data gaps.jsonl -t q -o gaps.svg")
    assert code == 0
    assert "note: Left out: 1 of 4 items, which one of the two models has not." in out
    drawn = Path("gaps.svg").read_text(encoding="utf-8")
    assert "a b against c (+): where their outputs differ" in drawn
    assert "not judged" in drawn
