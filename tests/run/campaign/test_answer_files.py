from __future__ import annotations

from pathlib import Path

import pytest

from sparingly.base.errors import InputError
from sparingly.run.campaign.answers import parse_answers, read_answers
from sparingly.run.forms.answer import Answer


def read(path: Path, text: str) -> list[tuple[int, Answer | str]]:
    path.write_text(text, encoding="utf-8")
    return [(line, one if isinstance(one, Answer) else str(one)) for line, one in read_answers(path)]


def test_csv_and_json_lines_say_the_same(tmp_path: Path) -> None:
    table = 'rater,item,model,aspect,score,seconds,comment\nann,i 1,"A, B",overall,3.5,12,"fine, but"\n'
    lines = (
        '{"rater": "ann", "item": "i 1", "model": "A, B", "aspect": "overall", "score": 3.5, "seconds": 12, '
        '"comment": "fine, but"}\n'
    )
    expected = Answer("ann", "i 1", 3.5, model="A, B", aspect="overall", seconds=12.0, comment="fine, but")
    assert read(tmp_path / "a.csv", table) == [(2, expected)]
    assert read(tmp_path / "a.jsonl", lines) == [(1, expected)]
    tabs = "rater\titem\tfirst\tsecond\tvalue\nann\ti\tA\tB\t-1\n"
    assert read(tmp_path / "a.tsv", tabs) == [(2, Answer("ann", "i", -1.0, pair=("A", "B")))]


def test_rows_without_a_score_and_blank_lines_are_passed_over(tmp_path: Path) -> None:
    text = "\nrater,item,model,score,source\nann,a,M,,text\n\nann,b,M,2,text\n"
    assert read(tmp_path / "a.csv", text) == [(5, Answer("ann", "b", 2.0, model="M"))]
    assert read(tmp_path / "b.csv", "") == []


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ("rater,item,model,score\nann,a,M,high\n", 2, 'field score: "high" is not a number.'),
        ("rater,item,model,score\nann,a,M\n", 2, "there are 3 fields below 4 columns."),
        ("rater,item,score\nann,a,1\n", 2, "field model: the answer names no model."),
        ("item,model,score\na,M,1\n", 2, "field rater: the answer names no rater."),
        ("rater,item,first,second,score\nann,a,M,M,1\n", 2, '"M" cannot be compared with itself.'),
        ('{"rater": "a"\n', 1, "this is not JSON"),
        ('{"rater": "a"}\n[1]\n', 2, "expected an object {…}."),
        (
            '{"rater": "a", "item": "i", "model": "M", "score": "3"}\n',
            1,
            'field score: "3" is text, not a number.',
        ),
        ('{"rater": "a", "item": "i", "model": "M", "score": 3, "value": 1}\n', 1, "a score and a value"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(
    tmp_path: Path, text: str, line: int, sentence: str
) -> None:
    number, complaint = read(tmp_path / "a.txt", text)[-1]
    assert number == line
    assert isinstance(complaint, str)
    assert f"a.txt, line {line}" in complaint
    assert sentence in complaint


def test_a_misspelt_column_stops_the_whole_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r'a\.csv, line 1: there is no column "scor"\. Did you mean score\?'):
        read(tmp_path / "a.csv", "rater,item,model,scor\nann,a,M,1\n")


def test_broken_quotes_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="this is not CSV"):
        read(tmp_path / "a.csv", 'rater,item,model,score\nann,"a"b,M,1\n')


def test_lines_are_read_one_by_one() -> None:
    """A stream is not read further than what was asked for: a sender may wait for an acknowledgement."""
    sent: list[int] = []

    def lines() -> object:
        for number in range(1, 4):
            sent.append(number)
            yield number, f'{{"rater": "a", "item": "{number}", "model": "M", "score": 1}}\n'

    answers = parse_answers(lines(), Path("stream"))  # type: ignore[arg-type]
    next(answers)
    assert sent == [1]


def test_semicolons_separate_where_there_are_no_commas(tmp_path: Path) -> None:
    rows = read(tmp_path / "a.csv", "rater;item;model;score;comment\nann;one;Ash;4.5;good, mostly\n")
    assert rows == [(2, Answer("ann", "one", 4.5, model="Ash", comment="good, mostly"))]
