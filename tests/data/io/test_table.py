from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings

from sparingly.base.errors import DataError, InputError, UnknownNameError, UsageError
from sparingly.data import io
from sparingly.data.evalset import EvalSet
from sparingly.data.io.format import Head
from sparingly.data.io.table import AnyTable, from_frame, to_frame
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


def test_columns_with_given_roles(tmp_path: Path) -> None:
    path = saved(tmp_path / "t.csv", "q,who,COMET,adequacy,secs,note\n1,x,0.5,4,9,u\n1,y,0.7,3,9,v\n")
    roles = {"q": "item", "who": "model", "comet": "metric", "adequacy": ["human"], "secs": "ignored"}
    data = io.load(path, roles=roles)
    assert list(data.metrics) == ["COMET"]
    assert data.aspects["adequacy"].tolist() == [[4, 3]]
    assert data.cells["note"].tolist() == [["u", "v"]]
    assert not data.columns


def test_an_ignored_column_is_left_out(tmp_path: Path) -> None:
    path = saved(tmp_path / "t.csv", "item,model,domain,cost\n1,x,a,free\n1,y,b,free\n")
    data = io.load(path, roles={"domain": "ignored", "cost": "ignored"})
    assert data.fields == ()


def test_prefixes_tell_parts(tmp_path: Path) -> None:
    header = (
        "item,model,metric:COMET,metric.b l,aspect:fluency,reference:A,reference:B,cell:seed,column:year,n"
    )
    rows = "1,x,0.5,1,4,ra,rb,7,2020,11\n1,y,0.7,2,3,ra,rb,7,2020,12\n"
    data = io.load(saved(tmp_path / "t.csv", f"{header}\n{rows}"))
    assert list(data.metrics) == ["COMET", "b l", "n"]
    assert list(data.aspects) == ["fluency"]
    assert data.references == ("A", "B")
    assert data.cells["seed"].tolist() == [[7, 7]]
    assert data.columns["year"].tolist() == [2020]
    assert data.metrics["n"].tolist() == [[11, 12]]


def test_further_numbers_are_metrics_only_where_models_differ(tmp_path: Path) -> None:
    rows = "1,x,5,10,u,s\n1,y,6,10,v,s\n2,x,5,20,u,t\n"
    data = io.load(saved(tmp_path / "t.csv", f"item,model,bleu,words,tag,topic\n{rows}"))
    assert list(data.metrics) == ["bleu"]
    assert data.columns["words"].tolist() == [10, 20]
    assert data.columns["topic"].tolist() == ["s", "t"]
    assert data.cells["tag"].tolist() == [["u", "v"], ["u", None]]


HUMAN = "item,model,COMET,human,words\n1,x,0.5,4,9\n1,y,0.7,3,9\n"


@pytest.mark.parametrize("kind", ["file", "frame", "prefix"])
def test_naming_the_aspect_alone_leaves_the_metrics(tmp_path: Path, kind: str) -> None:
    if kind == "file":
        data = io.load(saved(tmp_path / "t.csv", HUMAN))
    elif kind == "frame":
        data = from_frame(pd.read_csv(saved(tmp_path / "t.csv", HUMAN)))
    else:
        data = io.load(saved(tmp_path / "t.csv", HUMAN.replace("human", "aspect:human")))
    assert data.metrics["COMET"].tolist() == [[0.5, 0.7]]
    assert data.aspects["human"].tolist() == [[4, 3]]
    assert data.columns["words"].tolist() == [9]
    assert not data.cells


def test_a_column_can_be_kept_without_a_meaning(tmp_path: Path) -> None:
    data = io.load(saved(tmp_path / "t.csv", HUMAN), roles={"COMET": "column"})
    assert not data.metrics
    assert data.cells["COMET"].tolist() == [[0.5, 0.7]]


def test_numbers_with_a_word_among_them(tmp_path: Path) -> None:
    """Of an item they are a column; where models differ the word is in the way of a metric."""
    text = "item,model,age,aspect:human\n1,x,2020,1\n1,y,2020,2\n2,x,2021,3\n3,x,n.d.,4\n"
    data = io.load(saved(tmp_path / "t.csv", text))
    assert data.columns["age"].tolist() == ["2020", "2021", "n.d."]
    path = saved(tmp_path / "u.csv", text.replace("1,y,2020", "1,y,2019"))
    assert complaint(path) == (
        ', line 5, field age: "n.d." is not a number. '
        'Leave it empty if missing, or add roles={"age": "column"}.'
    )
    assert io.load(path, roles={"age": "column"}).cells["age"][2, 0] == "n.d."


def test_numbers_that_belong_to_a_rating_stay_whole(tmp_path: Path) -> None:
    rows = "1,x,a,1,70,0.5\n1,x,b,3,71,0.5\n1,y,b,2,72,0.6\n"
    path = saved(tmp_path / "t.csv", f"item,model,annotator,flu,batch,COMET\n{rows}")
    data = io.load(path, roles={"flu": "human", "batch": "column"})
    assert repr(data.ratings.extra["batch"].tolist()) == "[70, 71, 72]"
    assert data.metrics["COMET"].tolist() == [[0.5, 0.6]]


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
    data = io.load(path)
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


def test_unknown_columns_and_options(tmp_path: Path) -> None:
    path = saved(tmp_path / "t.csv", "segment,sys tem,chrF\n1,x,3\n")
    assert io.load(path, roles={"sys tem": "model"}).models == ("x",)
    nameless = saved(tmp_path / "n.csv", "first,second,chrF\n1,x,3\n")
    assert complaint(nameless, roles={"second": "model"}) == (
        ": no column is known to hold the items or their inputs; there are first, second, chrF."
        ' Name one: roles={"COLUMN": "item"}, or roles={"COLUMN": "input"}.'
    )
    with pytest.raises(UnknownNameError, match=r'There is no column "chr". Did you mean chrF\? \(.*t.csv\)'):
        io.load(path, roles={"chr": "metric"})
    with pytest.raises(UsageError, match=r't\.csv: There is no role "metrics"'):
        io.load(path, roles={"chrF": "metrics"})
    with pytest.raises(UnknownNameError, match="option of the format table"):
        io.load(path, metric="chrF")
    with pytest.raises(UsageError, match='Two columns are to be "item": segment and chrF'):
        io.load(path, roles={"segment": "item", "chrF": "item"})
    with pytest.raises(UsageError, match="A rater was named, but no scores"):
        io.load(path, roles={"sys tem": "model", "segment": "item", "chrF": "rater"})
    with pytest.raises(UsageError, match="is not one character"):
        io.load(path, separator="--")


# --- Parquet --------------------------------------------------------------------------------------------


def test_long_parquet_of_another_tool(tmp_path: Path) -> None:
    held = {
        "item": [2, 2, 1],
        "model": ["tiny", ODD, ODD],
        "output": ["", None, "un"],
        "chrF": [1.5, None, 2.5],
    }
    pd.DataFrame(held, index=[5, 6, 7]).to_parquet(tmp_path / "t.parquet")
    data = io.load(tmp_path / "t.parquet")
    check_same(data, from_frame(pl.DataFrame(held)))


def test_long_parquet_names_the_row(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pl.DataFrame({"item": ["a", None], "model": ["m", "m"]}).write_parquet(path)
    assert complaint(path) == ", field item: the item has no id (row 2). Fill it in."


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("table", {"segment": ["1"], "system": ["m"], "chrF": [1.0]}),
        ("table", {"first": ["1"], "second": ["m"]}),
        ("inspect_ai", {"id": ["1"], "epoch": [1], "input": ["x"], "target": ["y"], "score_match": ["C"]}),
    ],
)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_one_format_knows_a_table(tmp_path: Path, name: str, columns: dict[str, Any], kind: str) -> None:
    path, frame = tmp_path / f"t.{kind}", pl.DataFrame(columns)
    path.write_text(",".join(columns) + "\n") if kind == "csv" else frame.write_parquet(path)
    assert [known.name for known in io.formats() if known.recognises(Head(path))] == [name]


# --- writing --------------------------------------------------------------------------------------------


def test_a_frame_has_a_row_for_every_item_and_model(tmp_path: Path) -> None:
    frame = to_frame(io.load(saved(tmp_path / "t.csv", PLAIN)))
    assert frame.columns == [
        *("item", "model", "output", "metric:chrF", "source", "reference:reference"),
        *("document", "position", "domain", "column:year"),
    ]
    assert frame["item"].to_list() == ["b", "b", "a", "a"]
    assert frame["metric:chrF"].to_list() == [60, 40.5, None, None]
    assert frame["output"].to_list() == ["", "deux", "un", None]


def test_what_is_written(tmp_path: Path) -> None:
    data = io.load(saved(tmp_path / "t.csv", PLAIN))
    assert io.save(data, tmp_path / "out.tsv") == []
    assert (tmp_path / "out.tsv").read_text().splitlines()[:3] == [
        "item\tmodel\toutput\tmetric:chrF\tsource\treference:reference\tdocument\tposition\tdomain\tcolumn:year",
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
    names = [*data.items, *data.models, *data.references, *data.metrics, *data.aspects]
    names += [*data.columns, *data.cells]
    # A text file has no word for a blank id, and a line feed in a name is the most that it can hold.
    # Blanks around ids are mistakes, and are taken off.
    assume(all(name.strip() == name != "" and "\r" not in name for name in names))
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


@pytest.mark.shared_data
@pytest.mark.parametrize("name", ["newsroom", "frank_cnndm_notext", "simpeval_2022"])
def test_real_sets_come_back(shared_data: Path, tmp_path: Path, name: str) -> None:
    data = io.load(shared_data / f"{name}.jsonl.gz")
    io.save(data, tmp_path / "set.tsv.gz")
    again = io.load(tmp_path / "set.tsv.gz")
    lost = AnyTable().losses(data)
    assert again.digest(again.fields) == data.digest(field for field in data.fields if field not in lost)


def numbers(matrices: Any) -> dict[str, str]:
    return {name: repr(matrix.tolist()) for name, matrix in matrices.items()}
