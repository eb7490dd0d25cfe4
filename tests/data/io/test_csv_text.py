from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from sparingly.base.errors import InputError
from sparingly.data import io
from tests.data.io.sets import check_same

ODD = "GPT-4 (p = 0.3) + tools"
PLAIN = f"""item,model,output,source,chrF
b,tiny,deux,zwei,40.5
b,{ODD},"",zwei,60
a,{ODD},un,eins,
"""


def saved(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def complaint(path: Path, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        io.load(path, **options)
    message = str(caught.value)
    assert message.startswith(str(path))
    return message.removeprefix(str(path))


def test_the_same_table_in_every_dress(tmp_path: Path) -> None:
    plain = io.load(saved(tmp_path / "t.csv", PLAIN))
    dressed = {
        "bom.csv": "\ufeff" + PLAIN,
        "crlf.csv": PLAIN.replace("\n", "\r\n"),
        "blank.csv": PLAIN.replace("\nb,", "\n\nb,") + "\n",
        "index.csv": "".join(f"{n if n else ''},{line}\n" for n, line in enumerate(PLAIN.splitlines())),
        "semicolon.csv": PLAIN.replace(",", ";"),
        "commas.tsv": PLAIN,
        "t.tsv": PLAIN.replace(",", "\t"),
        "t.txt": PLAIN.replace(",", "\t"),
    }
    for name, text in dressed.items():
        check_same(plain, io.load(saved(tmp_path / name, text)))
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(PLAIN.encode()))
    check_same(plain, io.load(tmp_path / "t.csv.gz"))
    piped = saved(tmp_path / "pipe.csv", PLAIN.replace(",", "|"))
    check_same(plain, io.load(piped, separator="pipe"))


def test_quoted_fields_hold_anything(tmp_path: Path) -> None:
    text = 'item,model,output,n\n1,m,"line one\nline ""two"", done",5\n2,m,"a;b",6\n'
    data = io.load(saved(tmp_path / "t.csv", text))
    assert data.outputs is not None
    assert data.outputs[:, 0].tolist() == ['line one\nline "two", done', "a;b"]


def test_stray_quotes_without_quoting(tmp_path: Path) -> None:
    text = 'item\tmodel\toutput\n1\tm\t"never closed\n2\tm\tfine\n'
    path = saved(tmp_path / "t.tsv", text)
    data = io.load(path, quote="")
    assert data.outputs is not None
    assert data.outputs[:, 0].tolist() == ['"never closed', "fine"]
    assert "line 2: the quotes do not fit" in complaint(path)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            'item,model,output,chrF\n1,x,"two\nlines",4\n2,x,y,5\n3,x,z,high\n',
            ', line 5, field chrF: "high" is not a number. '
            'Leave it empty if missing, or add roles={"chrF": "column"}.',
        ),
        (
            "item,model,metric:a\n1,x,4\n\n2,x,inf\n",
            ", line 4, field metric:a: the number is infinite. Write a finite number, or leave it empty.",
        ),
        (
            'item,model,metric:a\n1,x,4\n2,x,"1,500"\n',
            ', line 3, field metric:a: "1,500" is not a number. Leave it empty if missing.',
        ),
        (
            "item,model,metric:a\n1,x,4\n2,x,4\n1,x,5\n",
            ': the item "1" and the model "x" are there twice (lines 2 and 4). '
            'Keep one of them, or say how they differ: roles={"COLUMN": "epoch"} for repeated runs,',
        ),
        (
            "item,model,n\n1,x,4\n2,x\n",
            ", line 3: the line has 2 fields, but the header has 3. Fill the line up",
        ),
        (
            "item,model,n\n1,x,4,5\n",
            ", line 2: the line has 4 fields, but the header has 3. Fill the line up",
        ),
        ("item,model,n\n,x,4\n", ", line 2, field item: the item has no id. Fill it in."),
        (
            "item,model,n\na,  ,4\nb,x,4\n",
            ", line 2, field model: the model has no id. Fill it in, or, if all",
        ),
        ('item,model,n\na,"x,4\nb,x,3\n', ", line 2: the quotes do not fit (unexpected end of data). Double"),
        ("item,model,n,n\na,x,4,4\n", ', line 1: the column "n" is there twice. Rename one of them.'),
        ("item,model,n\n", ": there is no row below the header."),
        ("item,model,n\n\n\n", ": there is no row below the header."),
        ("item,model,cost\nb,x,1\na,x,much\nc,x,2\n", ', line 3, field cost: "much" is not a number. Leave'),
        ("item,model,column:n\nb,x,1\na,x,1e999\n", ", line 3, field column:n: the number is infinite."),
        (
            "item,model,source\n1,x,web\n1,y,news\n",
            ', line 3, field source: the item "1" has two values, "web" and "news". Give an item one value,',
        ),
        ("item,model,cost\n1,x,-2\n", ': the column "cost" holds a negative number. Costs and weights are'),
        (
            "item,model,position\n1,x,first\n2,x,1\n3,x,2\n",
            ', line 2, field position: "first" is not a number. Leave',
        ),
    ],
)
def test_wrong_files_get_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    message = complaint(saved(tmp_path / "t.csv", text))
    assert message.startswith(sentence)


def test_a_file_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"item,model,output\n1,x,caf\xe9\n")
    assert complaint(path) == (
        ", line 2: byte 0xe9 at column 8 is not UTF-8. Save the file as UTF-8: "
        f"iconv -f WINDOWS-1252 -t UTF-8 {path} > utf8.csv."
    )


def test_a_file_that_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(PLAIN.encode() * 50)[:-30])
    assert "the compressed file ends too early" in complaint(path)
