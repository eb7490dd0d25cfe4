from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings

from sparingly.base.errors import DataError, InputError, UnknownNameError, UsageError
from sparingly.data import io
from sparingly.data.evalset import EvalSet
from sparingly.data.io.table import from_frame, to_frame
from tests.data.io.sets import check_same, evaluation_sets, shown

ODD = "GPT-4 (p = 0.3) + tools"
PLAIN = f"""item,model,output,source,reference,doc_id,position,domain,chrF,year
b,tiny,deux,zwei,two,d1,1,news,40.5,2023
b,{ODD},"",zwei,two,d1,1,news,60,2023
a,{ODD},un,eins,one,d1,0,news,,2022
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


# --- what a table holds ---------------------------------------------------------------------------------


def test_a_csv_file_is_read_with_everything_it_holds(tmp_path: Path) -> None:
    data = io.load(saved(tmp_path / "t.csv", PLAIN))
    assert data.items.tolist() == ["a", "b"]
    assert data.models == (ODD, "tiny")
    assert data.file_order.tolist() == [1, 0]
    assert data.outputs is not None
    assert data.outputs.tolist() == [["un", None], ["", "deux"]]
    assert data.sources is not None
    assert data.sources.tolist() == ["eins", "zwei"]
    assert data.references == ("reference",)
    assert data.reference_texts is not None
    assert data.reference_texts.tolist() == [["one"], ["two"]]
    np.testing.assert_array_equal(data.metrics["chrF"], [[np.nan, np.nan], [60, 40.5]])
    assert data.columns["document"].tolist() == ["d1", "d1"]
    assert data.columns["position"].tolist() == [0, 1]
    assert data.columns["domain"].tolist() == ["news", "news"]
    assert data.columns["year"].tolist() == [2022, 2023]
    assert list(data.metrics) == ["chrF"]


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
    ("header", "expected"),
    [
        ("Item ID,System,hypothesis,src", ("output", "source")),
        ("segment_id,Model Name,translation,Source", ("output", "source")),
        ("doc_id,generator,completion,prompt", ("output", "source")),
        ("seg_id,system_id,mt,input", ("output", "source")),
    ],
)
def test_usual_names_in_any_spelling(tmp_path: Path, header: str, expected: tuple[str, str]) -> None:
    data = io.load(saved(tmp_path / "t.csv", f"{header}\n1,m,x,y\n"))
    assert (data.items.tolist(), data.models) == (["1"], ("m",))
    assert data.outputs is not None
    assert data.sources is not None
    assert (data.outputs[0, 0], data.sources[0]) == ("x", "y")
    assert data.fields == ("sources", "outputs")


def test_columns_told_by_options(tmp_path: Path) -> None:
    path = saved(tmp_path / "t.csv", "q,who,COMET,adequacy,secs,note\n1,x,0.5,4,9,u\n1,y,0.7,3,9,v\n")
    data = io.load(path, item="q", model="who", metrics="comet", aspects=["adequacy"], columns="note")
    assert list(data.metrics) == ["COMET"]
    assert data.aspects["adequacy"].tolist() == [[4, 3]]
    assert data.cells["note"].tolist() == [["u", "v"]]
    assert not data.columns


def test_an_empty_option_leaves_the_column_out(tmp_path: Path) -> None:
    path = saved(tmp_path / "t.csv", "item,model,domain,cost\n1,x,a,free\n1,y,b,free\n")
    data = io.load(path, domain="", cost="")
    assert data.fields == ()


def test_prefixes_tell_parts(tmp_path: Path) -> None:
    header = (
        "item,model,metric:COMET,metric.b l,aspect:fluency,reference:A,reference:B,cell:seed,column:year,n"
    )
    rows = "1,x,0.5,1,4,ra,rb,7,2020,11\n1,y,0.7,2,3,ra,rb,7,2020,12\n"
    data = io.load(saved(tmp_path / "t.csv", f"{header}\n{rows}"))
    assert list(data.metrics) == ["COMET", "b l"]
    assert list(data.aspects) == ["fluency"]
    assert data.references == ("A", "B")
    assert data.cells["seed"].tolist() == [["7", "7"]]
    assert data.columns["year"].tolist() == [2020]
    assert data.cells["n"].tolist() == [["11", "12"]]


def test_further_numbers_are_metrics_only_where_models_differ(tmp_path: Path) -> None:
    rows = "1,x,5,10,u,s\n1,y,6,10,v,s\n2,x,5,20,u,t\n"
    data = io.load(saved(tmp_path / "t.csv", f"item,model,bleu,words,tag,topic\n{rows}"))
    assert list(data.metrics) == ["bleu"]
    assert data.columns["words"].tolist() == [10, 20]
    assert data.columns["topic"].tolist() == ["s", "t"]
    assert data.cells["tag"].tolist() == [["u", "v"], ["u", None]]


def test_with_a_single_model_further_numbers_are_metrics(tmp_path: Path) -> None:
    data = io.load(saved(tmp_path / "t.csv", "item,model,bleu\n1,x,5\n2,x,6\n"))
    assert data.metrics["bleu"].tolist() == [[5], [6]]


# --- ratings --------------------------------------------------------------------------------------------


def test_rows_with_raters_are_ratings(tmp_path: Path) -> None:
    rows = [
        "item,system,rater,score,seconds,aspect,output,comment,hit,BLEU",
        "1,x,anna,4,12.5,fluency,eins,,h1,30",
        "1,x,ben,too hard,,fluency,eins,see note,h2,30",
        "1,y,anna,,3,fluency,zwei,,h1,40",
        "1,x,anna,2,1,adequacy,eins,,h3,30",
    ]
    data = io.load(saved(tmp_path / "t.csv", "\n".join(rows)))
    ratings = data.ratings
    assert len(ratings) == 3
    assert [ratings.raters[code] for code in ratings.rater] == ["anna", "ben", "anna"]
    assert [ratings.aspects[code] for code in ratings.aspect] == ["fluency", "fluency", "adequacy"]
    np.testing.assert_array_equal(ratings.score, [4, np.nan, 2])
    np.testing.assert_array_equal(ratings.seconds, [12.5, np.nan, 1])
    assert ratings.comment is not None
    assert ratings.comment.tolist() == [None, "too hard | see note", None]
    assert ratings.comments == 1
    assert ratings.extra["hit"].tolist() == ["h1", "h2", "h3"]
    assert data.aspects["fluency"][0, 0] == 4
    assert data.metrics["BLEU"].tolist() == [[30, 40]]
    assert data.outputs is not None
    assert data.outputs.tolist() == [["eins", "zwei"]]


def test_several_aspects_in_a_row_of_one_rater(tmp_path: Path) -> None:
    path = saved(tmp_path / "t.csv", "item,model,annotator,flu,ade\n1,x,a,1,2\n1,x,b,3,\n")
    data = io.load(path, aspects="flu,ade")
    ratings = data.ratings
    named = [
        (ratings.raters[r], ratings.aspects[a]) for r, a in zip(ratings.rater, ratings.aspect, strict=True)
    ]
    assert sorted(zip(named, ratings.score.tolist(), strict=True)) == [
        (("a", "ade"), 2.0),
        (("a", "flu"), 1.0),
        (("b", "flu"), 3.0),
    ]
    assert data.aspects["flu"].tolist() == [[2]]


def test_a_score_without_an_aspect_has_the_name_of_its_column(tmp_path: Path) -> None:
    data = io.load(saved(tmp_path / "t.csv", "item,model,worker,rating\n1,x,7,3\n1,x,8,4\n"))
    assert data.ratings.raters == ("7", "8")
    assert data.aspects["rating"].tolist() == [[3.5]]


def test_ratings_of_unknown_raters(tmp_path: Path) -> None:
    data = io.load(saved(tmp_path / "t.csv", "item,model,criterion,score\n1,x,flu,3\n1,x,ade,4\n"))
    assert data.ratings.rater.tolist() == [-1, -1]
    assert sorted(data.aspects) == ["ade", "flu"]


def test_two_outputs_in_one_cell_are_an_error(tmp_path: Path) -> None:
    path = saved(tmp_path / "t.csv", "item,model,rater,score,output\n1,x,a,3,one\n1,x,b,4,two\n")
    assert complaint(path) == (
        ', line 3, field output: the item "1" has two values for the model "x", "one" and "two". '
        "Give every item and model one value."
    )


# --- what is wrong --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            'item,model,output,chrF\n1,x,"two\nlines",4\n2,x,y,5\n3,x,z,high\n',
            ', line 5, field chrF: "high" is not a number. '
            "Leave it empty if missing, or tell the columns of the metrics with metrics=a,b.",
        ),
        (
            "item,model,metric:a\n1,x,4\n\n2,x,inf\n",
            ", line 4, field metric:a: the number is infinite. Write a finite number, or leave it empty.",
        ),
        (
            'item,model,metric:a\n1,x,4\n2,x,"0,5"\n',
            ', line 3, field metric:a: "0,5" is not a number. Leave it empty if missing.',
        ),
        (
            "item,model,metric:a\n1,x,4\n2,x,4\n1,x,5\n",
            ': the item "1" and the model "x" are there twice (lines 2 and 4). '
            "Keep one of them, or name the column of the raters with rater=.",
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
        ("item,model,n\na,  ,4\n", ", line 2, field model: the model has no id. Fill it in."),
        ('item,model,n\na,"x,4\nb,x,3\n', ", line 2: the quotes do not fit (unexpected end of data). Double"),
        ("item,model,n,n\na,x,4,4\n", ', line 1: the column "n" is there twice. Rename one of them.'),
        ("item,model,n\n", ": there is no row below the header."),
        (
            "item,model,domain\n1,x,web\n1,y,news\n",
            ', line 3, field domain: the item "1" has two values, "web" and "news". Give an item one value.',
        ),
        ("item,model,cost\n1,x,-2\n", ': the column "cost" holds a negative number. Costs and weights are'),
        ("item,model,position\n1,x,first\n", ', line 2, field position: "first" is not a number. Leave'),
    ],
)
def test_wrong_files_get_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    message = complaint(saved(tmp_path / "t.csv", text))
    assert message.startswith(sentence)


def test_a_file_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"item,model,output\n1,x,caf\xe9\n")
    assert complaint(path) == ", line 2: byte 0xe9 at column 8 is not UTF-8. Save the file as UTF-8."


def test_a_file_that_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(PLAIN.encode() * 50)[:-30])
    assert "the compressed file ends too early" in complaint(path)


def test_unknown_columns_and_options(tmp_path: Path) -> None:
    path = saved(tmp_path / "t.csv", "segment,sys tem,chrF\n1,x,3\n")
    assert io.load(path, model="sys tem").models == ("x",)
    nameless = saved(tmp_path / "n.csv", "first,second,chrF\n1,x,3\n")
    with pytest.raises(UsageError) as caught:
        io.load(nameless, model="second")
    assert str(caught.value) == (
        "No column is known to hold the items; there are first, second, chrF. Name it with item=."
    )
    with pytest.raises(UnknownNameError, match=r'There is no column "chr". Did you mean chrF\?'):
        io.load(path, model="sys tem", metrics="chr")
    with pytest.raises(UnknownNameError, match="Did you mean metrics"):
        io.load(path, metric="chrF")
    with pytest.raises(UsageError, match="is named by two options"):
        io.load(path, model="chrF", metrics="chrF")
    with pytest.raises(UsageError, match="With rater= say where the scores are"):
        io.load(path, model="sys tem", rater="chrF")
    with pytest.raises(UsageError, match="is not one character"):
        io.load(path, separator="--")


# --- frames ---------------------------------------------------------------------------------------------


def columns() -> dict[str, list[Any]]:
    return {
        "item": [2, 2, 1],
        "model": ["tiny", ODD, ODD],
        "output": ["", None, "un"],
        "chrF": [1.5, None, 2.5],
        "ok": [True, False, True],
        "day": ["2024-01-02", "2024-01-03", "2024-01-03"],
    }


def frames() -> list[Any]:
    held = columns()
    categories = pl.DataFrame(held).with_columns(
        pl.col("model").cast(pl.Categorical), pl.col("day").str.to_date()
    )
    return [
        pl.DataFrame(held),
        pl.LazyFrame(held),
        categories,
        pa.table(held),
        pd.DataFrame(held),
        pd.DataFrame(held).convert_dtypes(),
        pd.DataFrame(held).astype({"model": "category", "day": "datetime64[s]"}).assign(day=held["day"]),
        pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in held.items()}),
    ]


@pytest.mark.parametrize("frame", frames(), ids=lambda frame: type(frame).__module__)
def test_frames_of_every_kind(frame: Any) -> None:
    data = from_frame(frame, metrics="chrF")
    assert data.items.tolist() == ["1", "2"]
    assert data.models == (ODD, "tiny")
    assert data.outputs is not None
    assert data.outputs.tolist() == [["un", None], [None, ""]]
    np.testing.assert_array_equal(data.metrics["chrF"], [[2.5, np.nan], [np.nan, 1.5]])
    assert data.cells["ok"].tolist() == [[True, None], [False, True]]
    assert data.cells["day"].tolist() == [["2024-01-03", None], ["2024-01-03", "2024-01-02"]]


def test_texts_of_digits_in_a_frame_stay_texts() -> None:
    data = from_frame(pl.DataFrame({"item": ["01", "1"], "model": ["m", "m"], "code": ["007", "008"]}))
    assert data.items.tolist() == ["01", "1"]
    assert data.columns["code"].tolist() == ["007", "008"]


def test_truth_values_can_be_metrics() -> None:
    data = from_frame(pl.DataFrame(columns()), metrics=["ok"])
    np.testing.assert_array_equal(data.metrics["ok"], [[1, np.nan], [0, 1]])


def test_a_number_and_the_same_text_are_not_one_id() -> None:
    frame = pd.DataFrame({"item": pd.Series([1, "1"], dtype=object), "model": ["m", "m"], "x": [1.0, 2.0]})
    with pytest.raises(InputError) as caught:
        from_frame(frame)
    assert str(caught.value) == (
        'the frame, field item: the item 1 is written as a number and as the text "1". Write ids in one way.'
    )


@pytest.mark.parametrize(
    ("frame", "sentence"),
    [
        (
            {"item": ["a", "b", "a"], "model": ["m"] * 3, "x": [1, 2, 3]},
            'the frame: the item "a" and the model "m" are there twice (rows 1 and 3). Keep one of them',
        ),
        (
            {"item": ["a", "b"], "model": ["m"] * 2, "metric:x": ["1", "b"]},
            'the frame, field metric:x: "b" is not a number (row 2). Leave it empty if missing.',
        ),
        (
            {"item": [1.5], "model": ["m"]},
            "the frame, field item: ids are texts or whole numbers, not Float64. Write the ids of the",
        ),
        (
            {"item": ["a"], "model": ["m"], "output": [3]},
            "the frame, field output: texts are wanted, not Int64.",
        ),
        (
            {"item": ["a"], "model": ["m"], "metric:x": [[3]]},
            "the frame, field metric:x: numbers are wanted, not List(Int64).",
        ),
    ],
)
def test_wrong_frames_get_one_sentence(frame: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        from_frame(pl.DataFrame(frame))
    assert str(caught.value).startswith(sentence)


def test_no_frame_at_all() -> None:
    with pytest.raises(UsageError, match="A pandas, polars or Arrow table is wanted, not builtins"):
        from_frame([1])
    with pytest.raises(UnknownNameError, match="option of from_frame"):
        from_frame(pl.DataFrame(columns()), separator=",")


def test_a_polars_frame_needs_no_pandas() -> None:
    code = (
        "import sys, polars; from sparingly.data.io.table import from_frame, to_frame; "
        "to_frame(from_frame(polars.DataFrame({'item': ['a'], 'model': ['m'], 'x': [1.0]}))); "
        "print([name for name in ('pandas', 'pyarrow') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# --- Parquet --------------------------------------------------------------------------------------------


def test_long_parquet_of_another_tool(tmp_path: Path) -> None:
    held = columns()
    pd.DataFrame(held, index=[5, 6, 7]).to_parquet(tmp_path / "t.parquet")
    data = io.load(tmp_path / "t.parquet", metrics="chrF")
    check_same(data, from_frame(pl.DataFrame(held), metrics="chrF"))


def test_long_parquet_names_the_row(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pl.DataFrame({"item": ["a", None], "model": ["m", "m"]}).write_parquet(path)
    assert complaint(path) == ", field item: the item has no id (row 2). Fill it in."


# --- writing --------------------------------------------------------------------------------------------


def test_a_frame_has_a_row_for_every_item_and_model(tmp_path: Path) -> None:
    frame = to_frame(io.load(saved(tmp_path / "t.csv", PLAIN)))
    assert frame.columns == [
        *("item", "model", "output", "metric:chrF", "source", "reference:reference"),
        *("document", "position", "domain", "year"),
    ]
    assert frame["item"].to_list() == ["b", "b", "a", "a"]
    assert frame["metric:chrF"].to_list() == [60, 40.5, None, None]
    assert frame["output"].to_list() == ["", "deux", "un", None]


def test_what_is_written(tmp_path: Path) -> None:
    data = io.load(saved(tmp_path / "t.csv", PLAIN))
    assert io.save(data, tmp_path / "out.tsv") == []
    assert (tmp_path / "out.tsv").read_text().splitlines()[:3] == [
        "item\tmodel\toutput\tmetric:chrF\tsource\treference:reference\tdocument\tposition\tdomain\tyear",
        f'b\t{ODD}\t""\t60.0\tzwei\ttwo\td1\t1\tnews\t2023',
        "b\ttiny\tdeux\t40.5\tzwei\ttwo\td1\t1\tnews\t2023",
    ]
    for name in ("out.tsv", "out.csv", "out.csv.gz"):
        io.save(data, tmp_path / name)
        check_same(data, io.load(tmp_path / name))
    io.save(data, tmp_path / "long.parquet", "table")
    check_same(data, io.load(tmp_path / "long.parquet"))


def test_what_a_table_cannot_carry(tmp_path: Path) -> None:
    text = "item,model,rater,score\n1,x,a,3\n"
    data = io.load(saved(tmp_path / "t.csv", text)).with_column("tags", [["a", "b"]])
    assert io.save(data, tmp_path / "out.csv") == ["ratings", "column:tags"]


def test_a_set_without_models_is_no_table(tmp_path: Path) -> None:
    data = EvalSet.from_arrays(["a"], [], sources=["text"])
    with pytest.raises(DataError, match="The set has no models"):
        io.save(data, tmp_path / "out.csv")


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(data=evaluation_sets(least_models=1))
def test_numbers_and_texts_come_back(tmp_path_factory: pytest.TempPathFactory, data: EvalSet) -> None:
    named = (data.items, data.models, data.references, *map(tuple, (data.metrics, data.aspects)))
    names = [name for group in (*named, tuple(data.columns), tuple(data.cells)) for name in group]
    # A text file has no word for a blank id, and a line feed in a name is the most that it can hold.
    assume(all(name.strip() and "\r" not in name for name in names))
    folder = tmp_path_factory.mktemp("tables")
    for name in ("set.csv", "set.tsv", "long.parquet"):
        io.save(data, folder / name, "table")
        again = io.load(folder / name, "table")
        assert again.items.tolist() == data.items.tolist()
        assert again.models == data.models
        assert again.file_order.tolist() == data.file_order.tolist()
        assert numbers(again.metrics) == numbers(data.metrics)
        assert numbers(again.aspects) == numbers(data.aspects)
        for kind in ("sources", "outputs", "reference_texts"):
            assert shown(getattr(again, kind)) == shown(getattr(data, kind))
        assert set(again.columns) == set(data.columns)
        assert set(again.cells) == set(data.cells)


def numbers(matrices: Any) -> dict[str, str]:
    return {name: repr(matrix.tolist()) for name, matrix in matrices.items()}
