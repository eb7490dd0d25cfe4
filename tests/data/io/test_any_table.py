"""Tables as people have them: every layout and kind of file, with names of all sorts."""

from __future__ import annotations

import json
import random
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sparingly.base.errors import DataError, InputError, MissingDataError, UsageError
from sparingly.data import io
from sparingly.data.evalset import EvalSet
from sparingly.data.roles import DoubtfulRoleError, read_roles, roles_file, save_roles
from sparingly.data.texts import check_texts

Rows = list[dict[str, Any]]
COUNT = 12
INPUTS = [f"How do I change plan number {number}? I tried it twice." for number in range(COUNT)]
MODELS = ("gpt-4o", "claude-3.5")


def text(*seed: object) -> str:
    """An answer of several words, always the same for the same seed."""
    words = ("open", "settings", "choose", "the", "account", "then", "confirm", "with", "your", "password")
    return " ".join(random.Random(str(seed)).choices(words, k=9)) + f" {seed[0]}"  # noqa: S311


def mark(*seed: object, low: int = 1, high: int = 5) -> int:
    return random.Random(str(seed)).randint(low, high)  # noqa: S311


def long(**names: str) -> Rows:
    """One row an input and model, with columns called as given."""
    return [
        {names["input"]: question, names["model"]: model, names["output"]: text(question, model)}
        for question in INPUTS
        for model in MODELS
    ]


def saved(folder: Path, name: str, rows: Rows, **options: Any) -> Path:
    path = folder / name
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    elif path.suffix == ".json":
        path.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    elif path.suffix == ".parquet":
        pl.DataFrame(rows).write_parquet(path)
    elif path.suffix in (".arrow", ".feather"):
        pl.DataFrame(rows).write_ipc(path)
    else:
        pl.DataFrame(rows, infer_schema_length=None).write_csv(path, **options)
    return path


def roles(data: EvalSet) -> dict[str, str]:
    assert data.roles is not None
    found: dict[str, str] = {}
    for part in data.roles.columns:
        role = part.role + ("?" if part.doubtful else "")
        found[part.column] = f"{found[part.column]}+{role}" if part.column in found else role
    return found


def described(folder: Path, rows: Rows, name: str = "t.jsonl") -> tuple[EvalSet, dict[str, str]]:
    data = io.load(saved(folder, name, rows))
    return data, roles(data)


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "model", "answer"),
    [
        ("query", "model_name", "answer"),
        ("userQuestion", "modelName", "modelResponse"),
        ("user_input", "engine", "response"),
        ("source_en", "system_name", "translation_de"),
        ("instruction", "generator", "completion"),
        ("input text", "LLM", "generated_text"),
        ("article", "model", "summary"),
        ("document", "model", "summary"),
        ("ticket", "bot", "bot_reply"),
        ("question_text", "prompt_version", "gpt_answer_text"),
        ("prompt", "variant", "output"),
    ],
)
def test_inputs_models_and_outputs_by_name(tmp_path: Path, question: str, model: str, answer: str) -> None:
    rows = long(input=question, model=model, output=answer)
    if question == "document":
        rows = [{**row, question: row[question] * 4} for row in rows]
    data, found = described(tmp_path, rows)
    assert (found[question], found[model], found[answer]) == ("input", "model", "output")
    assert data.shape == (COUNT, 2)
    assert data.sources is not None
    assert data.outputs is not None
    check_texts(data)


def test_what_is_no_score_is_ignored(tmp_path: Path) -> None:
    nuisances: dict[str, Any] = {
        "latency_ms": 812,
        "output_tokens": 31,
        "usage.total": 9,
        "cost_usd": 0.01,
        "created_at": "2026-10-01T09:00:00Z",
        "seed": 7,
        "content_hash": "d41d8cd98f00b204e9800998ecf8427e",
        "row_index": 3,
        "trace_url": "https://example.org/1",
        "client_ip": "10.0.0.1",
        "temperature": 0.3,
        "num_retries": 1,
        "app_version": 3,
        "session_id": "s1",
        "answer_length": 200,
    }
    rows = [
        {
            **row,
            **{name: value if isinstance(value, str) else value + place for name, value in nuisances.items()},
        }
        for place, row in enumerate(long(input="prompt", model="model", output="response"))
    ]
    data, found = described(tmp_path, rows)
    assert {name: found[name] for name in nuisances} == dict.fromkeys(nuisances, "ignored")
    assert not data.metrics
    assert not data.aspects


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("judge", "metric"),
        ("llm_judge_score", "metric"),
        ("gpt4_rating", "metric"),
        ("auto_eval", "metric"),
        ("cosine_similarity", "metric"),
        ("reward", "metric"),
        ("human_score", "human"),
        ("expert_rating", "human"),
        ("human_judge", "human"),
        ("label", "human"),
        ("thumbs", "human"),
        ("user_feedback", "human"),
        ("MOS", "human"),
        ("score", "human?"),
        ("rating", "human?"),
        ("correct", "human?"),
        ("fluency", "human?"),
        ("strange", "metric?"),
    ],
)
def test_judges_and_people(tmp_path: Path, name: str, role: str) -> None:
    rows = [
        {**row, name: mark(*row.values())} for row in long(input="prompt", model="model", output="response")
    ]
    assert described(tmp_path, rows)[1][name] == role


def test_continuous_scores_are_likelier_metrics_and_few_labels_people(tmp_path: Path) -> None:
    rows = [
        {**row, "score": place / 7 % 1, "verdict": place % 2 if place < 6 else None}
        for place, row in enumerate(long(input="prompt", model="model", output="response"))
    ]
    data, found = described(tmp_path, rows)
    assert found["verdict"] == "human"
    assert found["score"] == "metric", "with labels of people beside it"
    del data
    assert described(tmp_path, [{**row, "verdict": None} for row in rows])[1]["score"] == "metric?"


def test_errors_may_be_turned_round(tmp_path: Path) -> None:
    rows = [{**row, "ter": mark(*row.values())} for row in long(input="src", model="system", output="mt")]
    path = saved(tmp_path, "t.csv", rows)
    data = io.load(path)
    assert roles(data)["ter"] == "metric?"
    assert data.roles is not None
    assert data.roles.advice() == ['ter: low may be good; if low is good, add lower_is_better=["ter"]']
    assert roles(io.load(path, lower_is_better=["ter"]))["ter"] == "metric"


def test_a_judge_with_a_name_is_no_rater(tmp_path: Path) -> None:
    rows = [
        {**row, "judge": judge, "score": mark(judge, *row.values())}
        for row in long(input="prompt", model="model", output="response")
        for judge in ("gpt-4o", "claude-3-opus")
    ]
    data = io.load(saved(tmp_path, "t.csv", rows))
    assert sorted(data.metrics) == ["claude-3-opus", "gpt-4o"]
    assert not data.aspects
    assert not len(data.ratings)
    people = [
        {**row, "judge": row["judge"].replace("gpt-4o", "Anna").replace("claude-3-opus", "Ben")}
        for row in rows
    ]
    assert io.load(saved(tmp_path, "u.csv", people)).ratings.raters == ("Anna", "Ben")


def test_a_column_for_each_rater(tmp_path: Path) -> None:
    rows = [
        {
            "id": place,
            "prompt": question,
            "response": text(question),
            "rater1_fluency": 4,
            "rater2_fluency": 2,
        }
        for place, question in enumerate(INPUTS)
    ]
    data = io.load(saved(tmp_path, "t.csv", rows))
    assert data.ratings.raters == ("rater 1", "rater 2")
    assert data.aspects["fluency"][0, 0] == 3


# --- scores as people write them ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "numbers", "scale"),
    [
        (("4/5", "1/5"), (4.0, 1.0), (1.0, 5.0)),
        (("0/5", "3/5"), (0.0, 3.0), (0.0, 5.0)),
        (("8 out of 10", "10 of 10"), (8.0, 10.0), (1.0, 10.0)),
        (("40/100", "75/100"), (40.0, 75.0), (0.0, 100.0)),
        (("80 %", "12,5%"), (0.8, 0.125), (0.0, 1.0)),
        (("★★★★☆", "★☆☆☆☆"), (4.0, 1.0), (1.0, 5.0)),
        (("⭐⭐⭐", "⭐"), (3.0, 1.0), (1.0, 5.0)),
        (("4 stars", "1 star"), (4.0, 1.0), (1.0, 5.0)),
        (("Yes", "no"), (1.0, 0.0), (0.0, 1.0)),
        (("PASS", "fail"), (1.0, 0.0), (0.0, 1.0)),
        (("👍", "👎"), (1.0, 0.0), (0.0, 1.0)),
        (("thumbs_up", "thumbs_down"), (1.0, 0.0), (0.0, 1.0)),
    ],
)
def test_scores_with_their_scale(
    tmp_path: Path, values: tuple[str, str], numbers: tuple[float, float], scale: tuple[float, float]
) -> None:
    rows = [{"id": place, "response": text(place), "human": values[place % 2]} for place in range(COUNT)]
    for name in ("t.csv", "t.jsonl"):
        data = io.load(saved(tmp_path, name, rows))
        assert data.aspects["human"][:2, 0].tolist() == [numbers[0], numbers[1]]
        assert data.scales["aspect:human"] == scale


@pytest.mark.parametrize("separator", [";", "\t"])
def test_decimal_commas(tmp_path: Path, separator: str) -> None:
    rows = [
        {**row, "similarity": f"0,{place + 10}"}
        for place, row in enumerate(long(input="question", model="model", output="text"))
    ]
    data = io.load(saved(tmp_path, "t.csv", rows, separator=separator))
    assert 0.1 <= data.metrics["similarity"].min() < data.metrics["similarity"].max() < 0.4


def test_three_decimals_after_a_comma_are_no_thousands_where_semicolons_separate(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id;model;text;judge\n1;a;one two three;3,125\n1;b;four five six;4,250\n")
    assert io.load(path).metrics["judge"].tolist() == [[3.125, 4.25]]


# --- what names mean --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "model", "answer", "score"),
    [
        ("Frage", "Modell", "Antwort", "Bewertung"),
        ("Kundenanfrage", "Modellname", "Antwort KI", "Zufriedenheit"),
        ("pregunta", "modelo", "respuesta", "puntuación"),
        ("Question", "Modèle", "Réponse", "Note"),
        ("質問", "モデル", "回答", "評価"),
        ("customer_message", "agent", "bot_message", "helpful"),
        ("User", "llm_used", "Assistant", "grounded"),
        ("problem_statement", "model_name_or_path", "model_patch", "resolved"),
        ("src", "mtSystem", "mtText", "quality"),
    ],
)
def test_other_languages_speakers_and_compounds(
    tmp_path: Path, question: str, model: str, answer: str, score: str
) -> None:
    rows = [{**row, score: mark(*row.values())} for row in long(input=question, model=model, output=answer)]
    data, found = described(tmp_path, rows)
    assert (found[question], found[model], found[answer]) == ("input", "model", "output")
    assert found[score] == "human?"
    assert data.shape == (COUNT, 2)


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("bewertung_llm", (3, 4, 5), "metric"),
        ("auto_csat", (3, 4, 5), "metric"),
        ("empathy_chatbot", (3, 4, 5), "metric?"),
        ("status_code", (200, 200, 200), "ignored"),
        ("constant", (7, 7, 7), "ignored"),
        ("cluster", (0, 1, 2), "ignored"),
        ("mean", (2.5, 3.5, 4.0), "ignored"),
        ("metrics.duration", (0.3, 0.4, 0.5), "ignored"),
        ("hallucinated", ("yes", "no", "no"), "metric?"),
        ("safe", ("yes", "no", "yes"), "human?"),
        ("Annotator", ("x", "y", "x"), "column"),
        ("evals.relevance.score", (3, 4, 5), "metric"),
        ("csat_pred", (3.5, 4.1, 5.0), "metric"),
        ("chrF++", (33.5, 44.1, 55.0), "metric"),
        ("converted", (0, 1, 1), "metric?"),
        ("warmth", (0.31, 0.42, 0.58), "metric?"),
        ("n_facts", (3, 4, 5), "ignored"),
        ("qa_bot", ("P", "F", "F"), "metric?"),
        ("Antwortzeit", (0.3, 0.4, 0.5), "ignored"),
        ("judge1", (3, 4, 5), "metric"),
        ("expert", (1, None, None), "human"),
        ("judge_label", ("grounded", "hallucinated", "grounded"), "metric"),
        ("finding", ("plausible", "implausible", "plausible"), "human?"),
        ("wall_clock_s", (0.3, 0.4, 0.5), "ignored"),
        ("n_human", (3, 4, 5), "ignored"),
        ("outcome", ("good", "bad", "bad"), "human?"),
        ("Safety (LLM judge)", ("safe", "unsafe", "unsafe"), "metric"),
        ("human_ref", ("one two", "three", "four five"), "reference"),
        ("stand", ("3 von 5", "4 von 5", "1 von 5"), "metric?"),
        ("quality", ("3 sur 5", "4 sur 5", "1 sur 5"), "human?"),
        ("gold", (3.5, None, None), "human"),
        ("erstellt", ("01.11.2026 10:00", "02.11.2026 11:00", "03.11.2026 12:00"), "ignored"),
    ],
)
def test_what_a_further_column_is(tmp_path: Path, name: str, values: tuple[Any, ...], role: str) -> None:
    rows = [
        {"prompt": question, "response": text(question), name: values[place % 3]}
        for place, question in enumerate(INPUTS)
    ]
    assert described(tmp_path, rows)[1][name] == role


def test_a_judge_with_reasons_or_a_name_beside_makes_scores_a_metric(tmp_path: Path) -> None:
    rows = [{"prompt": q, "response": text(q), "style_score": mark(q)} for q in INPUTS]
    assert described(tmp_path, rows)[1]["style_score"] == "human?"
    reasoned = [{**row, "style_reason": text(row["prompt"], "why")} for row in rows]
    assert described(tmp_path, reasoned)[1]["style_score"] == "metric"
    named = [{**row, "evaluator": "gpt-4o"} for row in rows]
    assert described(tmp_path, named)[1]["style_score"] == "metric"


def test_targets_are_outputs_where_they_differ_between_models(tmp_path: Path) -> None:
    data, found = described(tmp_path, long(input="source", model="model", output="target"))
    assert found["target"] == "output"
    rows = [{"source": q, "target": text(q), "reference_id": q, "output": text(q, 1)} for q in INPUTS]
    assert described(tmp_path, rows)[1]["target"] == "reference"
    del data


def test_short_texts_are_outputs_and_codes_are_not(tmp_path: Path) -> None:
    rows = [{"id": place, "text": f"nine {place}", "score": 3} for place in range(COUNT)]
    assert described(tmp_path, rows)[1]["text"] == "output"
    coded = [{"id": place, "result": "ab"[place % 2], "score": 3} for place in range(COUNT)]
    assert described(tmp_path, coded)[1]["result"] == "column"


def test_texts_are_no_names_of_models(tmp_path: Path) -> None:
    rows = [
        {"source": q, **{name: text(q, name) for name in ("DeepL", "our system", "model_2")}} for q in INPUTS
    ]
    data, found = described(tmp_path, rows)
    assert data.models == ("DeepL", "model_2", "our system")
    assert "model" not in found.values()


def test_versions_by_the_names_of_models_or_a_setting(tmp_path: Path) -> None:
    for name, values in (("pipeline", MODELS), ("temperature", (0.0, 1.0)), ("candidate", ("x1", "x2"))):
        rows = [{"prompt": q, name: value, "response": text(q, value)} for q in INPUTS for value in values]
        data, found = described(tmp_path, rows)
        assert found[name] == "model"
        assert data.shape == (COUNT, 2)


def test_an_id_of_anything_that_goes_with_one_input(tmp_path: Path) -> None:
    rows = [
        {"user_id": 5, "clip_id": f"0{place}", **row}
        for place, row in enumerate(long(input="prompt", model="model", output="response"))
    ]
    rows = [{**row, "clip_id": f"0{INPUTS.index(row['prompt'])}"} for row in rows]
    data, found = described(tmp_path, rows)
    assert (found["clip_id"], found["user_id"]) == ("item", "ignored")
    assert "00" in data.items.tolist()


@pytest.mark.parametrize(
    ("name", "high", "role"),
    [("converted", 2, "metric?"), ("syllables", 500, "column?"), ("parole", 500, "ignored")],
)
def test_numbers_whose_name_says_nothing_are_in_doubt(
    tmp_path: Path, name: str, high: int, role: str
) -> None:
    rows = [{"prompt": q, "response": text(q), "human": mark(q), name: mark(q, high=high)} for q in INPUTS]
    assert described(tmp_path, rows)[1][name] == role


def test_scores_that_all_models_share_belong_to_the_item(tmp_path: Path) -> None:
    rows = [
        {**row, "confidence": mark(row["prompt"])}
        for row in long(input="prompt", model="model", output="response")
    ]
    assert described(tmp_path, rows)[1]["confidence"] == "column"


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("case", [str(place) for place in range(COUNT)], "item"),
        ("Ticket", [f"T{place:03d}" for place in range(COUNT)], "item"),
        ("ts", [1.7e9 + place for place in range(COUNT)], "ignored"),
        ("msg", [f"{place:016x}" for place in range(COUNT)], "item"),
        ("place", list(range(1, COUNT + 1)), "item"),
        ("group", ["a", "b"] * (COUNT // 2), "column"),
    ],
)
def test_what_goes_with_one_input_each_is_an_id(
    tmp_path: Path, name: str, values: list[Any], role: str
) -> None:
    questions = [*INPUTS, "And now?"]
    rows = [
        {"question": q, "answer": text(q), name: value}
        for q, value in zip(questions, [*values, values[-1] + values[0]], strict=True)
    ]
    assert described(tmp_path, rows)[1][name] == role


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("deploy", ("blue", "green"), "model?"),
        ("prompt_name", ("friendly", "formal"), "model?"),
        ("prompt_id", ("p-short", "p-long"), "model?"),
        ("System Under Test", ("x1", "x2"), "model?"),
        ("lang", ("en", "de"), "column"),
        ("rater_name", ("ann", "bo"), "column"),
    ],
)
def test_what_divides_repeated_inputs_is_a_version(
    tmp_path: Path, name: str, values: tuple[str, ...], role: str
) -> None:
    said = {} if role == "model?" else {"epoch": "epoch"}
    rows = [
        {"prompt": q, name: value, "response": text(q, value), **({"epoch": place} if said else {})}
        for q in INPUTS
        for place, value in enumerate(values)
    ]
    data, found = described(tmp_path, rows)
    assert found[name] == role
    assert data.shape == (COUNT, len(values) if role == "model?" else 1)


@pytest.mark.parametrize(("name", "role"), [("comment", "input?"), ("context", "input")])
def test_what_stands_before_an_output_in_every_row_was_answered(tmp_path: Path, name: str, role: str) -> None:
    rows = [{name: q, "reply": text(q), "remark": text(q, 1)} for q in INPUTS]
    found = described(tmp_path, rows)[1]
    assert (found[name], found["remark"]) == (role, "column")


@pytest.mark.parametrize(
    ("question", "model", "answer"),
    [
        ("claim", "llm_id", "explanation"),
        ("review", "model", "reply"),
        ("transcript", "system", "transcript_summary"),
    ],
)
def test_what_was_written_about_a_text(tmp_path: Path, question: str, model: str, answer: str) -> None:
    data, found = described(tmp_path, long(input=question, model=model, output=answer))
    assert (found[question][:5], found[model], found[answer][:6]) == ("input", "model", "output")
    assert data.shape == (COUNT, 2)


def test_a_number_of_turns_is_no_input(tmp_path: Path) -> None:
    rows = [{"user_msg": q, "bot_msg": text(q), "turns": mark(q, high=9)} for q in INPUTS]
    found = described(tmp_path, rows)[1]
    assert (found["user_msg"], found["turns"]) == ("input", "ignored")


def test_a_text_beside_an_answer_is_no_output(tmp_path: Path) -> None:
    rows = [{"Text": q, "KI-Antwort": text(q)} for q in INPUTS]
    found = described(tmp_path, rows)[1]
    assert (found["Text"], found["KI-Antwort"]) == ("input", "output")


# --- layouts --------------------------------------------------------------------------------------


def test_any_number_of_numbered_systems(tmp_path: Path) -> None:
    rows = [{"Prompt": q, **{f"System {n}": text(q, n) for n in range(1, 13)}} for q in INPUTS]
    assert described(tmp_path, rows, "t.csv")[0].shape == (COUNT, 12)


def test_two_sides_of_labels(tmp_path: Path) -> None:
    classes = ("positive", "negative")
    rows = [
        {"text": q, "baseline": classes[mark(q) % 2], "candidate": classes[mark(q, 1) % 2]} for q in INPUTS
    ]
    data, found = described(tmp_path, rows, "t.csv")
    assert data.models == ("baseline", "candidate")
    assert found["text"] == "input"


@pytest.mark.parametrize("history", ["user said", [["user", "said"]]])
def test_rows_by_their_ids_with_an_object_for_each_model(tmp_path: Path, history: Any) -> None:
    outputs = {q: {model: {"text": text(q, model), "tokens": 9} for model in MODELS} for q in INPUTS}
    rows = {f"d{place}": {"history": history, "replies": outputs[q]} for place, q in enumerate(INPUTS)}
    path = tmp_path / "t.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    data = io.load(path)
    assert (data.shape, data.models) == ((COUNT, 2), ("claude-3.5", "gpt-4o"))
    assert data.sources is not None
    assert "said" in data.sources[0]
    assert not data.metrics


def test_models_are_called_as_what_stands_beside_their_outputs(tmp_path: Path) -> None:
    rows = [
        {"prompt": q}
        | {f"out_{m}": text(q, m) for m in ("aquila", "baichuan")}
        | {f"rating_{m}": "★" * mark(q, m) for m in ("aquila", "baichuan")}
        for q in INPUTS
    ]
    data, found = described(tmp_path, rows)
    assert data.models == ("aquila", "baichuan")
    assert found["rating_aquila"] == "human?"


def test_names_of_two_assistants(tmp_path: Path) -> None:
    rows = [
        {"question": q, "assistant_a": text(q, 1), "assistant_b": text(q, 2)}
        | {f"assistant_{side}_name": MODELS[(place + at) % 2] for at, side in enumerate("ab")}
        for place, q in enumerate(INPUTS)
    ]
    assert described(tmp_path, rows)[0].models == ("claude-3.5", "gpt-4o")


def test_models_in_brackets(tmp_path: Path) -> None:
    rows = [{"query": q, "answer (rag)": text(q, 1), "answer (no_rag)": text(q, 2)} for q in INPUTS]
    assert described(tmp_path, rows)[0].models == ("no_rag", "rag")


def test_texts_of_models_by_the_scores_beside_them(tmp_path: Path) -> None:
    rows = [
        {
            "dish": q,
            **{f"{m}_text": text(q, m) for m in ("base", "sft")},
            "base_reward": 0.5,
            "sft_reward": 1.5,
        }
        for q in INPUTS
    ]
    data = described(tmp_path, rows)[0]
    assert (data.models, list(data.metrics)) == (("base", "sft"), ["reward"])


def test_an_object_for_each_side(tmp_path: Path) -> None:
    rows = [
        {
            "context": q,
            "option_1": {"model": MODELS[place % 2], "text": text(q, 1)},
            "option_2": {"model": MODELS[1 - place % 2], "text": text(q, 2)},
            "gpt4_choice": "option_1",
            "human_choice": ("option_2", "tie")[place % 2],
        }
        for place, q in enumerate(INPUTS)
    ]
    data, found = described(tmp_path, rows)
    assert (data.models, len(data.preferences)) == (("claude-3.5", "gpt-4o"), COUNT)
    # A judge's choice is no choice of people.
    assert (found["human_choice"], found["gpt4_choice"]) == ("preference", "column")


def test_names_of_models_in_plural(tmp_path: Path) -> None:
    sides = ("left", "right")
    rows = [
        {
            "query": q,
            "systems": dict(zip(sides, MODELS if mark(q) > 2 else MODELS[::-1], strict=True)),
            "outputs": {side: text(q, side) for side in sides},
            "vote": sides[mark(q) % 2],
        }
        for q in INPUTS
    ]
    data = described(tmp_path, rows)[0]
    assert (data.models, len(data.preferences)) == (("claude-3.5", "gpt-4o"), COUNT)


@pytest.mark.parametrize(
    "pattern", ["{}", "{}_answer", "answer_{}", "output.{}", "{} response", "Response ({})"]
)
def test_a_column_for_each_model(tmp_path: Path, pattern: str) -> None:
    rows = [
        {
            "prompt": question,
            **{pattern.format(model): text(question, model) for model in MODELS},
            "topic": "billing",
        }
        for question in INPUTS
    ]
    if pattern == "Response ({})":
        pattern = "Response {}"
        rows = [
            {name.replace("(", "").replace(")", ""): value for name, value in row.items()} for row in rows
        ]
    data = io.load(saved(tmp_path, "t.csv", rows))
    assert data.models == ("claude-3.5", "gpt-4o")
    assert data.shape == (COUNT, 2)
    assert data.outputs is not None
    assert sorted(data.outputs[0]) == sorted(text(data.sources[0], model) for model in MODELS)  # type: ignore[index]
    assert roles(data)["topic"] == "column"


def test_scores_beside_each_model(tmp_path: Path) -> None:
    rows = [
        {
            "question": question,
            **{f"{model}_answer": text(question, model) for model in MODELS},
            **{f"{model}_judge": mark(question, model) for model in MODELS},
            **{f"human_{model}": mark(question, model) if mark(question) > 3 else None for model in MODELS},
        }
        for question in INPUTS
    ]
    data = io.load(saved(tmp_path, "t.csv", rows))
    assert (list(data.metrics), list(data.aspects)) == (["judge"], ["human"])
    said = io.load(tmp_path / "t.csv", roles={"gpt-4o_judge": "human", "human_gpt-4o": "ignored"})
    assert list(said.aspects) == ["judge"]


def test_a_stray_text_is_no_model(tmp_path: Path) -> None:
    rows = [
        {
            "prompt": question,
            **{model: text(question, model) for model in MODELS},
            "notes": text(question, "note"),
            "Begründung": text(question, "reason") if place % 3 == 0 else None,
        }
        for place, question in enumerate(INPUTS)
    ]
    data = io.load(saved(tmp_path, "t.csv", rows))
    assert data.models == ("claude-3.5", "gpt-4o")
    assert roles(data)["notes"] == roles(data)["Begründung"] == "column"


def test_unknown_names_of_models_are_shown_as_a_doubt(tmp_path: Path) -> None:
    rows = [
        {"Question": question, "Baseline": text(question, 1), "Finetuned": text(question, 2), "Topic": "x"}
        for question in INPUTS
    ]
    data = io.load(saved(tmp_path, "t.csv", rows))
    assert data.models == ("Baseline", "Finetuned")
    assert roles(data)["Baseline"] == "output?"


def test_scores_alone_for_each_model(tmp_path: Path) -> None:
    rows = [{"prompt": question, **{model: mark(question, model) for model in MODELS}} for question in INPUTS]
    data = io.load(saved(tmp_path, "t.csv", rows))
    assert data.models == ("claude-3.5", "gpt-4o")
    assert roles(data)["gpt-4o"] == "human?"
    assert list(io.load(tmp_path / "t.csv", roles={"gpt-4o": "metric"}).metrics) == ["score"]


@pytest.mark.parametrize(
    "names", [("response_a", "response_b"), ("answer1", "answer2"), ("left_output", "right_output")]
)
@pytest.mark.parametrize("winner", [None, "winner", "human_preference"])
def test_two_sides(tmp_path: Path, names: tuple[str, str], winner: str | None) -> None:
    sides = {"response_a": "AB", "answer1": "12", "left_output": ("left", "right")}[names[0]]
    rows = [
        {"prompt": question, names[0]: text(question, 1), names[1]: text(question, 2)}
        | ({} if winner is None else {winner: (*sides, "tie")[place % 3]})
        for place, question in enumerate(INPUTS)
    ]
    data = io.load(saved(tmp_path, "t.csv", rows))
    assert data.shape == (COUNT, 2)
    assert len(data.preferences) == (0 if winner is None else COUNT)
    if winner is not None:
        assert sorted(set(data.preferences.value.tolist())) == [-1, 0, 1]


def test_two_sides_that_name_their_models(tmp_path: Path) -> None:
    rows = [
        {"prompt": q, "model_a": "old", "model_b": "new", "answer_a": text(q, 1), "answer_b": text(q, 2)}
        for q in INPUTS
    ]
    assert io.load(saved(tmp_path, "t.csv", rows)).models == ("new", "old")


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (("A", "B", "tie (bothbad)"), (1, -1, 0)),
        (("model_a", "model_b", "both_bad"), (1, -1, 0)),
        (("A>B", "B>>A", "A=B"), (1, -1, 0)),
        (("Response A is better", "Response B is better", "neither"), (1, -1, 0)),
        ((1, 2, 0), (1, -1, 0)),
        (("a", "b", "unentschieden"), (1, -1, 0)),
        (("old", "new", "tie"), (1, -1, 0)),
        ((1, 0, 1), ()),
    ],
)
def test_words_for_the_better_side(tmp_path: Path, words: tuple[Any, ...], values: tuple[int, ...]) -> None:
    rows = [
        {
            "prompt": q,
            "model_a": "old",
            "model_b": "new",
            "answer_a": text(q, 1),
            "answer_b": text(q, 2),
            "better": words[place % 3],
        }
        for place, q in enumerate(INPUTS)
    ]
    preferences = io.load(saved(tmp_path, "t.csv", rows)).preferences
    assert set(preferences.value.tolist()) == set(values)


def test_the_better_model_by_name_on_either_side(tmp_path: Path) -> None:
    rows = [
        {
            "prompt": q,
            "model_a": MODELS[place % 2],
            "model_b": MODELS[1 - place % 2],
            "answer_a": text(q, 1),
            "answer_b": text(q, 2),
            "preferred_model": MODELS[0],
        }
        for place, q in enumerate(INPUTS)
    ]
    data = io.load(saved(tmp_path, "t.csv", rows))
    first = [data.models[code] for code in data.preferences.first]
    assert [value == 1 for value in data.preferences.value] == [model == MODELS[0] for model in first]


def test_a_judges_preference_is_a_metric(tmp_path: Path) -> None:
    rows = [
        {
            "prompt": q,
            "response_a": text(q, 1),
            "response_b": text(q, 2),
            "gpt4_preference": "ab"[mark(q) % 2],
        }
        for q in INPUTS
    ]
    data = io.load(saved(tmp_path, "t.csv", rows))
    assert not len(data.preferences)
    assert set(data.metrics["gpt4_preference"].ravel()) == {0.0, 1.0}


def test_chosen_and_rejected(tmp_path: Path) -> None:
    rows = [
        {
            side: [{"role": "user", "content": q}, {"role": "assistant", "content": text(q, side)}]
            for side in ("chosen", "rejected")
        }
        for q in INPUTS
    ]
    data = io.load(saved(tmp_path, "t.jsonl", rows))
    assert data.models == ("chosen", "rejected")
    assert data.preferences.value.tolist() == [1.0] * COUNT
    assert data.sources is not None
    assert sorted(data.sources) == sorted(INPUTS)


# --- nested values --------------------------------------------------------------------------------


def test_a_list_of_one_object_is_that_object(tmp_path: Path) -> None:
    rows = [
        {
            "messages": [{"role": "user", "content": q}],
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text(q)}}],
        }
        for q in INPUTS
    ]
    data, found = described(tmp_path, rows)
    assert found["choices.message.content"] == "output"
    assert data.outputs is not None
    assert data.shape == (COUNT, 1)


def test_lists_of_outputs_are_rows(tmp_path: Path) -> None:
    by_model = [
        {"prompt": q, "outputs": [{"model": model, "text": text(q, model)} for model in MODELS]}
        for q in INPUTS
    ]
    assert described(tmp_path, by_model)[0].models == tuple(sorted(MODELS))
    repeated = [{"prompt": q, "completions": [text(q, 1), text(q, 2), text(q, 3)]} for q in INPUTS]
    data = described(tmp_path, repeated)[0]
    assert (data.shape, len(data.repeats.item)) == ((COUNT, 1), 3 * COUNT)
    pair = [
        {"prompt": q, "responses": [text(q, 1), text(q, 2)], "preferred": place % 2}
        for place, q in enumerate(INPUTS)
    ]
    data = described(tmp_path, pair)[0]
    assert (data.shape, len(data.preferences)) == ((COUNT, 2), COUNT)


def test_an_error_in_a_list_of_outputs_names_the_line(tmp_path: Path) -> None:
    rows = [
        {"id": 1, "outputs": [{"model": model, "text": text(place, model)} for model in MODELS]}
        for place in range(2)
    ]
    with pytest.raises(InputError, match=r"there twice \(lines 1 and 2\)"):
        io.load(saved(tmp_path, "t.jsonl", rows))


def test_lists_of_named_scores_are_columns(tmp_path: Path) -> None:
    rows = [
        {
            "prompt": q,
            "response": text(q),
            "scores": [{"name": "fluency", "score": mark(q)}, {"name": "gpt-judge", "score": mark(q, 2)}],
        }
        for q in INPUTS
    ]
    found = described(tmp_path, rows)[1]
    assert (found["scores.fluency"], found["scores.gpt-judge"]) == ("human?", "metric")


def test_objects_by_id_are_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps({f"q{n}": {"question": q, "answer": text(q)} for n, q in enumerate(INPUTS)}))
    data = io.load(path)
    assert data.items.tolist()[:2] == ["q0", "q1"]


def test_conversations_with_an_answer_at_the_end(tmp_path: Path) -> None:
    rows: Rows = [
        {
            "id": f"c{place}",
            "model": "gpt-4o",
            "messages": [
                {"role": "system", "content": "You help."},
                {"role": "user", "content": question},
                {"role": "assistant", "content": text(question)},
            ],
            "usage": {"prompt_tokens": 12},
            "judge": {"name": "o3", "score": mark(question), "reason": "reads well"},
        }
        for place, question in enumerate(INPUTS)
    ]
    data, found = described(tmp_path, rows)
    assert data.sources is not None
    assert data.outputs is not None
    assert data.sources[0] == f"system: You help.\n\nuser: {INPUTS[0]}"
    assert data.outputs[0, 0] == text(INPUTS[0])
    assert list(data.metrics) == ["judge.score"]
    assert found["usage.prompt_tokens"] == "ignored"
    in_text = [{**row, "messages": json.dumps(row["messages"])} for row in rows]
    flat = [{name: value for name, value in row.items() if not isinstance(value, dict)} for row in in_text]
    again = io.load(saved(tmp_path, "t.csv", flat))
    assert again.sources is not None
    assert again.sources.tolist() == data.sources.tolist()


def test_lists_stay_values_and_types_may_differ(tmp_path: Path) -> None:
    rows: Rows = [
        {"prompt": q, "response": text(q), "tags": ["a", "b"], "extra": {"k": 1} if place else [1]}
        for place, q in enumerate(INPUTS)
    ]
    data, _ = described(tmp_path, rows)
    assert data.columns["tags"][0] == ["a", "b"]


@pytest.mark.parametrize(
    "document", [{"version": 2, "data": long(input="q", model="model", output="answer")}, None]
)
def test_objects_with_a_list_in_them_and_objects_of_lists(tmp_path: Path, document: Any) -> None:
    rows = long(input="query", model="model", output="answer")
    document = document or {name: [row[name] for row in rows] for name in rows[0]}
    for indent in (None, 1):
        (tmp_path / "t.json").write_text(json.dumps(document, indent=indent))
        assert io.load(tmp_path / "t.json").shape == (COUNT, 2)


# --- kinds of files -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.json", "t.jsonl", "t.parquet", "t.arrow", "t.feather"])
def test_the_same_table_in_every_kind_of_file(tmp_path: Path, name: str) -> None:
    rows = [
        {**row, "judge": mark(*row.values())}
        for row in long(input="prompt", model="model", output="response")
    ]
    first = io.load(saved(tmp_path, "first.csv", rows))
    options = {"separator": "\t"} if name.endswith("tsv") else {}
    again = io.load(saved(tmp_path, name, rows, **options))
    assert again.digest() == first.digest()
    assert roles(again) == roles(first)


def test_excel(tmp_path: Path) -> None:
    data = io.load(workbook(tmp_path / "t.xlsx"))
    assert data.items.tolist() == ["1", "2"]
    assert data.models == ("gpt-4o",)
    assert data.outputs is not None
    assert data.outputs[:, 0].tolist() == ["An inline answer, quite long", "A shared answer & more of it"]
    assert data.aspects["human"][:, 0].tolist() == [4.5, 1.0]
    assert roles(data)["created"] == "ignored"
    other = io.load(tmp_path / "t.xlsx", sheet="second")
    assert other.sources is not None
    with pytest.raises(UsageError, match='There is no sheet "third"'):
        io.load(tmp_path / "t.xlsx", sheet="third")


def test_a_title_above_the_head_of_a_sheet(tmp_path: Path) -> None:
    with_title = io.load(workbook(tmp_path / "t.xlsx", "Our review of October"))
    assert roles(with_title) == roles(io.load(workbook(tmp_path / "u.xlsx")))


def test_sheets_without_a_table_are_passed_over(tmp_path: Path) -> None:
    data = io.load(workbook(tmp_path / "t.xlsx", about="The answers of one model"))
    assert data.shape == (2, 1)
    assert io.load(tmp_path / "t.xlsx", sheet="second").digest() == data.digest()


def workbook(path: Path, title: str = "", about: str = "") -> Path:
    """A workbook as Excel writes it: shared and inline strings, numbers, a date, an empty row."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    shared = ["id", "model", "response", "human", "created", "gpt-4o", "A shared answer &amp; more of it"]
    header = "".join(f'<c r="{letter}1" t="s"><v>{place}</v></c>' for place, letter in enumerate("ABCDE"))
    inline = '<c r="C2" t="inlineStr"><is><t>An inline answer, quite long</t></is></c>'
    first = (
        '<c r="A2"><v>1</v></c><c r="B2" t="s"><v>5</v></c>'
        f'{inline}<c r="D2"><v>4.5</v></c><c r="E2" s="1"><v>46000</v></c>'
    )
    second = (
        '<c r="A4"><v>2</v></c><c r="B4" t="s"><v>5</v></c><c r="C4" t="s"><v>6</v></c><c r="D4"><v>1</v></c>'
    )
    rows = f"<row><c t='str'><v>{title}</v></c></row>" if title else ""
    rows += f'<row r="1">{header}</row><row r="2">{first}</row><row r="3"/><row r="4">{second}</row>'
    other = '<row><c t="str"><v>prompt</v></c></row><row><c t="str"><v>What is it, and why?</v></c></row>'
    if about:
        rows, other = f"<row><c t='str'><v>{about}</v></c></row>", rows
    sheets = "".join(
        f'<sheet name="{name}" sheetId="{place}" r:id="rId{place}"/>'
        for place, name in ((1, "first"), (2, "second"))
    )
    targets = "".join(f'<Relationship Id="rId{n}" Target="worksheets/sheet{n}.xml"/>' for n in (1, 2))
    texts = "".join(f"<si><t>{word}</t></si>" for word in shared)
    styles = '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>'
    book = f'<workbook xmlns="{main}" xmlns:r="{relations}"><sheets>{sheets}</sheets></workbook>'
    parts = {
        "xl/workbook.xml": book,
        "xl/_rels/workbook.xml.rels": f"<Relationships>{targets}</Relationships>",
        "xl/sharedStrings.xml": f'<sst xmlns="{main}">{texts}</sst>',
        "xl/styles.xml": f'<styleSheet xmlns="{main}">{styles}</styleSheet>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>',
        "xl/worksheets/sheet2.xml": f'<worksheet xmlns="{main}"><sheetData>{other}</sheetData></worksheet>',
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def test_datasets_saved_to_disk(tmp_path: Path) -> None:
    rows = long(input="prompt", model="model", output="response")
    for split in ("train", "test"):
        folder = tmp_path / "set" / split
        folder.mkdir(parents=True)
        (folder / "dataset_info.json").write_text("{}")
        (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": "data-0.arrow"}]}))
        pl.DataFrame(rows).write_ipc_stream(folder / "data-0.arrow")
    (tmp_path / "set" / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    assert io.load(tmp_path / "set" / "test").shape == (COUNT, 2)
    with pytest.raises(InputError, match=r"several splits: test, train. Name one: .*set/train"):
        io.load(tmp_path / "set")


def test_datasets_in_memory() -> None:
    from sparingly.data.io.table import from_frame

    frame = pl.DataFrame(long(input="prompt", model="model", output="response"))

    class Dataset:
        def to_polars(self) -> pl.DataFrame:
            return frame

    assert from_frame(Dataset()).shape == (COUNT, 2)
    with pytest.raises(UsageError, match=r'several splits: train, test. Choose one: dataset\["train"\]'):
        from_frame({"train": Dataset(), "test": Dataset()})


# --- ids, repeats, duplicates ---------------------------------------------------------------------


def test_ids_come_from_the_input_and_are_the_same_in_every_file(tmp_path: Path) -> None:
    wide = [{"question": q, **{model: text(q, model) for model in MODELS}} for q in INPUTS]
    first = io.load(saved(tmp_path, "wide.csv", wide))
    second = io.load(saved(tmp_path, "long.jsonl", long(input="prompt", model="model", output="response")))
    assert first.items.tolist() == second.items.tolist()


def test_every_row_of_a_log_is_an_item(tmp_path: Path) -> None:
    rows = [{"query": q, "answer": text(q)} for q in (*INPUTS, INPUTS[0], INPUTS[0])]
    data = io.load(saved(tmp_path, "app.jsonl", rows))
    assert data.shape == (COUNT + 2, 1)
    assert data.models == ("app",)
    assert sum(item.endswith(("-2", "-3")) for item in data.items) == 2


def test_an_id_of_rows_is_none_of_items(tmp_path: Path) -> None:
    rows = [{"id": n, **row} for n, row in enumerate(long(input="prompt", model="model", output="response"))]
    data, found = described(tmp_path, rows)
    assert data.shape == (COUNT, 2)
    assert found["id"] == "ignored"


def test_one_column_is_id_and_text(tmp_path: Path) -> None:
    path = saved(tmp_path, "t.csv", long(input="prompt", model="model", output="response"))
    data = io.load(path, roles={"prompt": ["item", "input"]})
    assert data.items.tolist() == sorted(INPUTS)
    assert data.sources is not None
    assert data.sources.tolist() == sorted(INPUTS)
    assert roles(data)["prompt"] == "item+input"


@pytest.mark.parametrize("name", ["epoch", "run", "seed", "attempt"])
def test_repeats(tmp_path: Path, name: str) -> None:
    rows = [
        {"id": item, "model": model, name: run, "response": text(item, model, run), "judge": mark(item, run)}
        for item in range(3)
        for model in MODELS
        for run in (1, 2)
    ]
    data = io.load(saved(tmp_path, "t.csv", rows))
    assert len(data.repeats) == 12
    assert data.metrics["judge"][0, 0] == (mark(0, 1) + mark(0, 2)) / 2
    rows = [{key: value for key, value in row.items() if key != name} for row in rows]
    with pytest.raises(InputError, match=r"there twice \(lines 2 and 3\).*roles=.\"COLUMN\": \"epoch\"."):
        io.load(saved(tmp_path, "u.csv", rows))


def test_rows_that_repeat_are_read_once_with_a_note(tmp_path: Path) -> None:
    rows = [
        {"id": n // 2, **row} for n, row in enumerate(long(input="prompt", model="model", output="response"))
    ]
    again = [{**row, "latency_ms": n} for n, row in enumerate((*rows, *rows[:3]))]
    data = io.load(saved(tmp_path, "t.csv", again))
    assert data.shape == (COUNT, 2)
    assert data.roles is not None
    assert data.roles.notes == ("3 rows repeat another row; they are read once.",)


# --- what is said and what is doubtful ------------------------------------------------------------


def rated(folder: Path) -> Path:
    rows = [
        {**row, "rating": mark(*row.values())}
        for row in long(input="prompt", model="model", output="response")
    ]
    return saved(folder, "t.csv", rows)


def test_a_number_waits_for_a_doubtful_role(tmp_path: Path) -> None:
    path = rated(tmp_path)
    data = io.load(path)
    with pytest.raises(DoubtfulRoleError, match=r'roles=\{"rating": "human"\}'):
        data.truth("rating")
    with pytest.raises(DoubtfulRoleError):
        data.truth("mean:of=[rating]")
    io.load(path, roles={"rating": "human"}).truth("rating")
    assert list(io.load(path, roles={"rating": "metric"}).metrics) == ["rating"]


def test_what_was_said_is_said_once(tmp_path: Path) -> None:
    path = rated(tmp_path)
    assert save_roles(path, {"rating": ["human"]}, ["x"]) == ""
    data = io.load(path)
    data.truth("rating")
    assert data.roles is not None
    assert data.roles.saved_in == str(roles_file(path))
    assert roles(io.load(path, roles={"rating": "metric"}))["rating"] == "metric"
    save_roles(path, {"model": ["model"]})
    assert read_roles(path) == ({"rating": ("human",), "model": ("model",)}, ("x",))
    roles_file(path).write_text('{"format": "other"}')
    with pytest.raises(InputError, match=r"t.csv.roles.json, field format: this is a \"other\" file"):
        io.load(path)


def test_a_folder_that_cannot_be_written_to_gets_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = rated(tmp_path)

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr("sparingly.data.files.write_bytes", refuse)
    assert "could not be saved beside t.csv" in save_roles(path, {"rating": ["human"]})


def test_outputs_that_are_missing_are_named(tmp_path: Path) -> None:
    rows = [{"id": n, "model": "m", "reason": text(n), "judge": n} for n in range(COUNT)]
    data = io.load(saved(tmp_path, "t.csv", rows))
    with pytest.raises(
        MissingDataError, match=r"there are no outputs to show to raters. They may be in reason: add"
    ):
        check_texts(data)
    wide = [{"prompt": q, "gpt-4o": text(q), "claude-3.5": None} for q in INPUTS]
    half = io.load(saved(tmp_path, "u.jsonl", wide), roles={"gpt-4o": "output", "claude-3.5": "output"})
    with pytest.raises(MissingDataError, match=r"no outputs of claude-3.5 to show"):
        check_texts(half)


# --- bad input: one sentence with file, line, column and what to type -----------------------------


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        (
            "object.json",
            b'{"prompt": "x", "response": "y"}',
            "line 1: this is one JSON object .with prompt, response., not a list of objects",
        ),
        (
            "half.csv",
            b"id,model,response\n1,a,one two\n1,,three four\n2,a,five\n2,,six\n",
            "line 3, field model: the model has no id here and in 1 more of 4 rows. Fill it in, or, if all"
            ' rows are of one model, add roles={"model": "ignored"}',
        ),
        (
            "twice.csv",
            b"id,model,response\n1,a,one two\n1,a,three four\n",
            "the item .1. and the model .a. are there twice .lines 2 and 3.",
        ),
        (
            "mixed.csv",
            "id,model,response\n1,a,schön\n".encode() + "2,a,schön\n".encode("latin-1"),
            "line 3: byte 0xf6 at column 8 is not UTF-8. Save the file as UTF-8: "
            r"iconv -f WINDOWS-1252 -t UTF-8 \S+mixed.csv > utf8.csv",
        ),
        (
            "many.csv",
            b",".join(b"c%d" % n for n in range(10_000)) + b"\n" + b"1," * 9_999 + b"1\n",
            "10,000 columns",
        ),
        ("list.json", b"[1, 2]", r"line 1: this is a JSON list without objects \(the first is 1\)"),
        ("none.json", b"[]", r"line 1: this is a JSON list without objects \(it is empty\)"),
        (
            "no_head.csv",
            b"How do I cancel my account today?,Open the settings page now.\nWhere is it?,Here.\n",
            "line 1: the first line names no columns. Begin with a header line",
        ),
        ("title.csv", b"A review\nprompt,response\na,b\n", "If a title stands above the line that names"),
        ("broken.jsonl", b'{"prompt": "x", "response": "y"}\n{"prompt": \n', "line 2: this is not JSON"),
    ],
)
def test_one_sentence(tmp_path: Path, name: str, content: bytes, sentence: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=sentence) as caught:
        io.load(path)
    assert str(caught.value).startswith(str(path))
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.json", "t.jsonl"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf_16_with_a_mark_is_read(tmp_path: Path, name: str, encoding: str) -> None:
    rows = [{"id": f"ü{place}", "question": q, "answer": text(q)} for place, q in enumerate(INPUTS)]
    path = saved(tmp_path, name, rows, **({"separator": "\t"} if name == "t.tsv" else {}))
    content = path.read_text(encoding="utf-8")
    mark_of_order = "" if encoding == "utf-16" else "\ufeff"
    path.write_bytes((mark_of_order + content).encode(encoding))
    assert sorted(io.load(path).items)[-1] == "ü9"


def test_blanks_around_names_are_taken_off_with_a_note(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,model,response\n1,gpt-4o ,one two\n2,gpt-4o,three\n1,other,four\n")
    data = io.load(path)
    assert data.models == ("gpt-4o", "other")
    assert data.roles is not None
    assert len(data.roles.notes) == 1
    assert "blanks" in data.roles.notes[0]


# --- the files of the journeys --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "shape", "expected"),
    [
        ("ab.jsonl", (200, 2), {"prompt": "input", "response_a": "output", "response_b": "output"}),
        (
            "app_log.jsonl",
            (150, 2),
            {"prompt_version": "model", "judge.score": "metric", "latency_ms": "ignored"},
        ),
        ("chats.json", (60, 4), {"id": "item", "messages": "input", "outputs.gpt-4o": "output"}),
        ("decimal_comma.csv", (120, 4), {"text": "output", "rating": "human?", "similarity": "metric"}),
        ("judge_2000.csv", (2000, 1), {"answer_id": "item", "judge_pass": "metric", "human_pass": "human"}),
        ("judge_2000_truth.csv", (2000, 1), {"answer_id": "item", "human_pass": "human"}),
        ("no_id.csv", (120, 4), {"query": "input", "answer": "output", "judge": "metric"}),
        (
            "responses.csv",
            (120, 4),
            {"category": "column", "output_tokens": "ignored", "bertscore": "metric"},
        ),
        ("wide.csv", (120, 4), {"prompt": "input", "gpt-4o": "output", "in-house-7b": "output"}),
        (
            "wide_scores.csv",
            (120, 4),
            {"question": "input", "gpt-4o_answer": "output", "gpt-4o_judge": "metric"},
        ),
    ],
)
def test_journeys(shared_journeys: Path, name: str, shape: tuple[int, int], expected: dict[str, str]) -> None:
    data = io.load(shared_journeys / name)
    assert data.shape == shape
    assert {column: roles(data)[column] for column in expected} == expected
