from __future__ import annotations

import re
from typing import Any

import pytest

import sparingly
from sparingly.base.errors import UnknownNameError
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.data.synthetic import load_invented
from sparingly.show.report.markup import escaped
from sparingly.show.report.writeup import paragraph, table_rows, writeup
from tests.choose.same_data import SAME, skipping

METRIC = "100% R&D_score #1 ~^{x}\\ <a|b> $"


@pytest.fixture(scope="module")
def data() -> EvalSet:
    ids = [
        "a&b",
        "a_b",
        "50%",
        "#7",
        "x|y",
        "`tick`",
        "two\nlines",
        "--dash",
        *(f"i{place}" for place in range(12)),
    ]
    return EvalSet.from_arrays(
        ids,
        ["x", "y"],
        metrics={METRIC: [[float(place), 2.0 * place] for place in range(20)]},
        columns={"cost": [1.0] * 20},
        sources=["w " * 10] * 20,
    )


def chosen(data: EvalSet, method: str = "metric_var", budget: Any = "100%", **design: Any) -> Selection:
    return sparingly.select(data, method, budget, **design)


# --- what it says -----------------------------------------------------------------------------------


def test_paragraph_of_a_list(data: EvalSet) -> None:
    text = paragraph(chosen(data, "metric_var", "25%", seed=4))
    assert text.startswith("We chose 5 of 20 items (25.0 %) for human evaluation with `metric_var:metric=")
    assert "(Zouhar et al. 2025, eq. 4)" in text
    assert f"using sparingly {sparingly.__version__} with seed 4 under a budget of 25%." in text
    assert "do not estimate scores on the whole set" in text
    assert "can be re-derived with `sparingly verify`" in text
    assert "excluded" not in text


def test_paragraph_of_a_draw_without_equal_outputs() -> None:
    text = paragraph(chosen(skipping(), "uniform:same_outputs=skip", 20))
    assert f"Items on which all models gave the same output were skipped ({len(SAME)})." in text
    assert "Every other item had a known probability of being chosen, so differences between models" in text
    assert "so scores" not in text


def test_paragraph_of_a_draw(data: EvalSet) -> None:
    text = paragraph(chosen(data, "random", 5))
    assert "Every item had a known probability of being chosen, so scores estimate the whole set." in text
    assert "with `random` (the baseline of Zouhar et al. 2025" in text


def test_what_was_excluded_is_told_and_not_estimated(data: EvalSet) -> None:
    one = paragraph(chosen(data, "random", 5, never=["i0"]))
    assert "1 item was excluded beforehand." in one
    assert "so scores estimate the whole set without the excluded ones." in one
    assert "2 items were excluded beforehand." in paragraph(chosen(data, "random", 5, never=["i0", "i1"]))


def test_both_phases_are_told(data: EvalSet) -> None:
    pool = chosen(data, "random", 10)
    text = writeup(chosen(data, "metric_var", 3, pool=pool))
    assert "We chose 3 of 10 items (30.0 %)" in text
    assert (
        "They were chosen from a first selection of 10 of 20 items, made with `random` (the baseline" in text
    )
    assert "| pool | `random:" in text


def test_table_of_costs_and_probabilities(data: EvalSet) -> None:
    rows = dict(table_rows(chosen(data, "random", "100s", cost="length", seed=3)))
    assert rows["cost"] == "70.4 seconds (0.02 hours)"
    assert rows["inclusion probabilities"] == "0.05 each"
    assert rows["items"] == "1 of 20"
    assert rows["budget"] == "cost:100"
    assert rows["seed"] == "3"
    assert rows["labels used"] == "none"
    plain = dict(table_rows(chosen(data, "metric_var", "cost:4")))
    assert plain["cost"] == "4"
    assert plain["inclusion probabilities"] == "none (ranking only)"


def test_probabilities_that_differ(data: EvalSet) -> None:
    grouped = data.with_column("kind", ["a"] * 16 + ["b"] * 4)
    rows = dict(table_rows(chosen(grouped, "random", 8, balance="kind")))
    assert rows["inclusion probabilities"] == "from 0.25 to 1"


def test_the_signature_of_the_writeup_is_that_of_the_selection(data: EvalSet) -> None:
    selection = chosen(data, "random", 5)
    assert dict(table_rows(selection))["signature"] == f"`{selection.signature}`"


def test_unknown_format(data: EvalSet) -> None:
    with pytest.raises(UnknownNameError, match='no format of a writeup "word"'):
        writeup(chosen(data), "word")  # type: ignore[arg-type]


# --- Markdown ---------------------------------------------------------------------------------------


def test_markdown_names_every_item_in_order(data: EvalSet) -> None:
    selection = chosen(data)
    text = writeup(selection)
    listed = text.partition("Items in order: ")[2].strip().split(", ")
    shown = [re.sub(r"^(`+) ?(.*?) ?\1$", r"\2", name) for name in listed]
    assert shown == [name.replace("\n", "\\n") for name in selection.items]


def test_markdown_tables_keep_their_columns(data: EvalSet) -> None:
    rows = [line for line in writeup(chosen(data)).splitlines() if line.startswith("|")]
    assert len(rows) == 2 + len(table_rows(chosen(data)))
    assert {len(re.split(r"(?<!\\)\|", line)) for line in rows} == {4}, "a bar inside a cell is escaped"


def test_markdown_code_holds_backticks(data: EvalSet) -> None:
    assert "`` `tick` ``" in writeup(chosen(data))


# --- LaTeX ------------------------------------------------------------------------------------------

ESCAPES = {
    r"\textbackslash{}": "\\",
    r"\textasciitilde{}": "~",
    r"\textasciicircum{}": "^",
    r"\textasciigrave{}": "`",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\textbar{}": "|",
    r"\allowbreak{}": "",
    "-{}": "-",
    "'{}": "'",
    **{f"\\{sign}": sign for sign in "&%$#_{}"},
}


def unescaped(text: str) -> str:
    """Read what LaTeX would print; what is special and not escaped is an error."""
    result = ""
    while text:
        escape = next((sign for sign in ESCAPES if text.startswith(sign)), None)
        assert escape is not None or text[0] not in "&%$#_{}~^\\|<>", text[:30]
        result += text[0] if escape is None else ESCAPES[escape]
        text = text[1 if escape is None else len(escape) :]
    return result


def code_spans(text: str) -> list[str]:
    """The arguments of \\texttt in a text without nested braces but for escapes."""
    return re.findall(r"\\texttt\{((?:\\[{}]|\{\}|[^{}])*)\}", text)


@pytest.mark.parametrize("text", ["--", "---", "a----b", "''", "'" * 3, "-'-"])
def test_latex_joins_no_letters(text: str) -> None:
    found = escaped(text)
    assert "--" not in found
    assert "'" * 2 not in found
    assert unescaped(found) == text


def test_latex_escapes_every_special_letter(data: EvalSet) -> None:
    selection = chosen(data)
    text = writeup(selection, "latex")
    listed = text.partition("Items in order: ")[2]
    assert [unescaped(span) for span in code_spans(listed)] == [
        name.replace("\n", "\\n") for name in selection.items
    ]
    assert r"\texttt{a\&b}" in listed
    assert r"\texttt{50\%}" in listed
    assert r"\texttt{a\_b}" in listed
    assert r"\texttt{\#7}" in listed


def test_latex_table_holds_the_same_values(data: EvalSet) -> None:
    selection = chosen(data)
    text = writeup(selection, "latex")
    table = text.partition("\\hline\n")[2].partition("\n\\hline")[0].splitlines()
    assert len(table) == len(table_rows(selection))
    for line, (name, value) in zip(table, table_rows(selection), strict=True):
        left, right = re.split(r"(?<!\\)&", line.removesuffix(" \\\\"))
        assert unescaped(left.strip()) == name
        spans = code_spans(right)
        assert unescaped(spans[0] if spans else right.strip()) == value.strip("`")


def test_latex_prose_is_escaped(data: EvalSet) -> None:
    first = writeup(chosen(data, "random", 5), "latex").splitlines()[0]
    assert first.startswith(
        r"We chose 5 of 20 items (25.0 \%) for human evaluation with \texttt{random} (the baseline"
    )
    assert unescaped(re.sub(r"\\texttt\{(.*?)\}", r"\1", first)) == paragraph(
        chosen(data, "random", 5)
    ).replace("`", "")


# --- crowds -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def demo() -> EvalSet:
    return load_invented()


def test_who_was_seen_and_who_is_judged(demo: EvalSet) -> None:
    of_two = chosen(
        demo, "metric_var:metric=learned", 5, crowd=["Birch", "Rowan"], judge=["Juniper", "Rowan"]
    )
    assert (
        "The method saw an artificial crowd of 2 models, `Birch`, `Rowan` (Zouhar et al. 2025, eq. 11), and "
        "nothing of other models. The models to judge were `Juniper`, `Rowan`." in paragraph(of_two)
    )
    rows = dict(table_rows(of_two))
    assert rows["crowd"] == "`Birch`, `Rowan`"
    assert rows["models to judge"] == "`Juniper`, `Rowan`"
    everyone = paragraph(chosen(demo, "random", 5, crowd=["Birch"], judge="all"))
    assert "an artificial crowd of 1 model, `Birch` (" in everyone
    assert "The models to judge were all of them." in everyone


def test_judged_models_without_a_crowd(demo: EvalSet) -> None:
    named = chosen(demo, "random", 5, judge=["Juniper", "Rowan"])
    assert "under a budget of 5. The models to judge were `Juniper`, `Rowan`. Every item" in paragraph(named)
    assert "crowd" not in dict(table_rows(named))
    plain = chosen(demo, "random", 5)
    assert not {"crowd", "models to judge"} & set(dict(table_rows(plain)))
    assert "judge were" not in paragraph(plain)


def test_the_crowd_of_a_first_phase_is_told(demo: EvalSet) -> None:
    pool = chosen(demo, "diversity:similarity=unigram", 20, crowd=["Birch", "Rowan"])
    text = paragraph(chosen(demo, "random", 5, pool=pool))
    assert "(Zouhar et al. 2025, eq. 6) on the artificial crowd `Birch`, `Rowan`." in text
