from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import ExtraMissingError, UnknownNameError, UsageError
from sparingly.infer.estimate.result import Estimate
from sparingly.show.figures import look
from sparingly.show.report.document import BETTER, WORSE, Picture, Table, Texts, svg
from tests.show.report.made import HOSTILE, demo, drawn, hostile_report, plain_report

SECTIONS = (
    "scores", "pairs", "outputs", "judge", "raters", "costs",
    "question", "data", "selection", "representation", "ranks", "curves", "check",
)  # fmt: skip


class Reader(HTMLParser):
    """Collects the tags, their attributes and the text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.words += data


def tables(report: sparingly.Report, section: str) -> list[Table]:
    found = next(one for one in report.sections if one.name == section)
    return [part for part in found.parts if isinstance(part, Table)]


def test_report_has_every_section_in_every_language() -> None:
    report = plain_report()
    assert tuple(section.name for section in report.sections) == SECTIONS
    page, markdown, latex = report.html(), report.markdown(), report.latex()
    for section in report.sections:
        assert f'<section id="{section.name}"' in page
        assert f"## {section.title}\n" in markdown
        assert f"\\subsection*{{{section.title}}}" in latex


def test_page_needs_nothing_from_elsewhere_and_says_who_is_best() -> None:
    page = plain_report().html()
    read = Reader(page)
    assert page.startswith("<!DOCTYPE html>")
    assert {"script", "link", "img", "iframe"}.isdisjoint(read.tags)
    assert "http:" not in page
    assert "https:" not in page
    assert "default-src 'none'" in page
    assert "Rowan has the highest score" in read.words.replace("\n", " ")
    assert read.tags.count("h1") == 1
    assert read.tags.count("table") == read.tags.count("caption")


def test_numbers_are_those_of_estimate_and_rank() -> None:
    report = plain_report()
    scores = sparingly.estimate(demo(), drawn(), "overall")
    ranking = sparingly.rank(demo(), drawn(), "overall")
    told = {row[0]: row for row in tables(report, "scores")[0].rows}
    for place, model in enumerate(scores.models):
        assert told[model][1] == f"{scores.score_text(place)} ± {scores.error_text(place)}"
        assert told[model][2] == (scores.low[place], scores.scores[place], scores.high[place])
        assert told[model][4] == scores.interval_text(place)
    assert {name: row[3] for name, row in told.items()} == {one.model: one.ranks for one in ranking.models}
    signs = tables(report, "pairs")[0].rows
    assert [sum(cell == BETTER for cell in row) for row in signs] == ranking.decisions.better.sum(1).tolist()
    assert [sum(cell == WORSE for cell in row) for row in signs] == ranking.decisions.better.sum(0).tolist()
    pairs = tables(report, "ranks")[0]
    assert len(pairs.rows) == len(ranking.models)
    assert (0, 8) in pairs.marked
    assert ranking.corrected[0, 7] <= 0.05
    unmarked = [(row, at) for row in range(8) for at in range(8) if (row, at + 1) not in pairs.marked]
    assert all(row == at or ranking.corrected[row, at] > 0.05 for row, at in unmarked)


@pytest.mark.parametrize(
    ("method", "target", "sentence"),
    [
        ("uniform", "population", "describe inputs like these: the 240 items"),
        ("uniform", "set", "what judging all 240 items of this set would say: 60 of them were sampled"),
        ("metric_var:metric=learned", "set", "Ranking only: these are scores of the 60 chosen items, not of"),
    ],
)
def test_report_says_what_the_numbers_speak_about(method: str, target: str, sentence: str) -> None:
    chosen = sparingly.select(demo().without_labels(), method, 60)
    report = sparingly.report(demo(), chosen, "overall", target=target, figures=False, curve=False)  # type: ignore[arg-type]
    assert sentence in report.to_dict()["estimand"]
    assert sentence in Reader(report.html()).words


def told_of(data: sparingly.EvalSet, chosen: sparingly.Selection | None, **asked: Any) -> str:
    report = sparingly.report(data, chosen, "overall", figures=False, curve=False, **asked)
    estimand: str = report.to_dict()["estimand"]
    return estimand


def test_what_could_not_be_chosen_is_not_spoken_for() -> None:
    chosen = sparingly.select(demo().without_labels(), "uniform", 60, never=list(demo().items[:10]))
    told = told_of(demo(), chosen, target="set")
    assert "judging all 230 items of this set that could be chosen (10 could not) would say" in told


def test_what_was_drawn_and_not_judged_is_told() -> None:
    chosen = sparingly.select(demo().without_labels(), "uniform", 60)
    scores = np.array(demo().aspects["overall"])
    scores[demo().positions(chosen.items[:7])] = np.nan
    told = told_of(demo().with_parts(aspects={"overall": scores}, ratings=sparingly.Ratings()), chosen)
    assert (
        "60 of them were sampled with known probabilities, of which 53 are judged and the others assumed"
        in told
    )


def test_everything_judged_is_no_sample_of_the_set() -> None:
    assert "all of them are judged" in told_of(demo(), None)


def test_one_model_is_not_ranked_and_has_its_score() -> None:
    alone = demo().take(models=["Rowan"])
    chosen = sparingly.select(alone.without_labels(), "uniform", 60)
    report = sparingly.report(alone, chosen, "overall", figures=False, curve=False)
    assert report.lead[0].startswith("`Rowan` has ")
    assert "(95 % interval: " in report.lead[0]
    assert "How good is `Rowan` on `overall`, on this set of 240 items?" in report.markdown()


@pytest.fixture(scope="module")
def from_pool(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., sparingly.Selection]:
    """Draw 80 from a pool of the demo's sources, of which 5 are never chosen."""
    folder = tmp_path_factory.mktemp("pool")
    sources = demo().sources
    assert sources is not None
    with (folder / "pool.jsonl").open("w", encoding="utf-8") as file:
        for name, text in zip(demo().items, sources, strict=True):
            file.write(json.dumps({"id": str(name), "text": f"{text} {name}"}) + "\n")
    pool = sparingly.score_pool(folder / "pool.jsonl", folder / "scored")
    never = list(demo().items[-5:])
    return lambda **asked: sparingly.select_pool(pool, 80, **asked, never=never).selection


@pytest.mark.parametrize(
    ("design", "sentences"),
    [
        ("pivotal", ("judging all 235 items that the draw chose from, of which 80 are in the data, would",)),
        ("top", ("scores of the 80 chosen items, not of the 235 items that they were chosen from",)),
    ],
)
def test_pool_whose_other_sources_are_not_in_the_data(
    from_pool: Callable[..., sparingly.Selection], design: str, sentences: tuple[str, ...]
) -> None:
    chosen = from_pool(design=design)
    answered = demo().take(items=chosen.items)
    report = sparingly.report(answered, chosen, "overall", target="set", figures=False)
    words = Reader(report.html()).words
    both = (
        "80 of 235 items",
        "sparingly pool verify SCORED_POOL SELECTION.json",
        "over- or under-represents is unknown",
    )
    for sentence in (*sentences, *both, "155 of the items that were drawn from are not in the data"):
        assert sentence in words
    assert report.latex()
    assert "of a pool of sources" in sparingly.writeup(chosen)


def test_two_stages_from_a_pool(from_pool: Callable[..., sparingly.Selection]) -> None:
    first = from_pool(design="uniform", anchors=list(demo().items[:3]))
    answered = demo().take(items=first.items)
    second = sparingly.select(answered.without_labels(), "uniform", 40, pool=first)
    report = sparingly.report(answered, second, "overall", target="set", figures=False, curve=False)
    told = report.to_dict()["estimand"]
    assert "all 235 items that the first draw chose from, of which 80 are in the data" in told
    assert "40 of them were sampled with known probabilities in two stages" in told
    assert "sparingly pool verify SCORED_POOL FIRST.json" in report.markdown()
    assert "shares below are among the 80 that are" in report.markdown()
    assert "3 of the chosen are anchors" in sparingly.writeup(first)


def test_only_what_was_asked_for_counts() -> None:
    chosen = sparingly.select(demo().without_labels(), "uniform", 30, seed=4)
    told = sparingly.report(demo(), chosen, "overall", figures=False, curve=False).to_dict()
    assert told["costs"]["items"] == 30
    rows = set(demo().positions(chosen.items))
    table = demo().ratings
    own = table.aspects.index("overall")
    asked = [
        row for row in range(len(table)) if table.item[row] in rows and table.aspect[row] == own
        and table.model[row] < len(demo().models)
    ]  # fmt: skip
    assert told["costs"]["labels"] == len(asked)


def test_without_a_selection_judged_items_are_a_uniform_sample() -> None:
    report = sparingly.report(demo(), None, "overall", figures=False)
    assert "taken for a uniform sample" in Reader(report.html()).words
    assert "representation" not in [section.name for section in report.sections]


def test_too_few_judgements_leave_no_ranking() -> None:
    chosen = sparingly.select(demo().without_labels(), "uniform", 1, seed=1)
    report = sparingly.report(demo(), chosen, "overall", figures=False, curve=False)
    assert report.evidence.ranking is None
    assert "too few to say who is better" in Reader(report.html()).words
    assert report.to_dict()["ranking"] is None
    assert "are too few to estimate how severe they are." in Reader(report.html()).words


# --- names that mean harm ---------------------------------------------------------------------------


def test_no_name_becomes_a_tag_or_an_attribute() -> None:
    page = hostile_report().html()
    read = Reader(page)
    assert "script" not in read.tags
    assert "onload" not in dict(read.attributes)
    assert HOSTILE[0] in read.words
    assert "\x1b" not in page


def test_no_name_becomes_markup_of_markdown() -> None:
    text = hostile_report().markdown()
    outside = re.sub(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", "", text, flags=re.DOTALL)
    assert not re.search(r"(?<!\\)<script", outside)
    assert not re.search(r"(?<!\\)\*\*bold", outside)
    assert not re.search(r"!(?<!\\)\[", outside)
    widths = {}
    for block in re.findall(r"(?:^\|.*\|\n?)+", text, re.MULTILINE):
        lines = block.strip().split("\n")
        cells = [len(re.findall(r"(?<!\\)\|", line)) for line in lines]
        widths[lines[0]] = set(cells)
    assert widths
    assert all(len(found) == 1 for found in widths.values()), widths


def test_latex_is_balanced_and_escaped() -> None:
    for report in (plain_report(), hostile_report()):
        text = report.latex()
        assert text.count("\\begin{tabular}") == text.count("\\end{tabular}") > 5
        assert "\\input{" not in text
        bare = text.replace("\\{", "").replace("\\}", "")
        assert bare.count("{") == bare.count("}")
        # The first line is a comment.
        assert not re.search(r"(?<!\\)[%#]", text.split("\n", 1)[1])
        for block in re.findall(r"\\begin\{tabular\}\{([^\n]*)\}\n(.*?)\\end\{tabular\}", text, re.DOTALL):
            columns = len(re.sub(r"p\{[\w.]+\}", "p", block[0]))
            rows = [line for line in block[1].split("\n") if line.endswith(("\\\\", "\\tabularnewline"))]
            assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {columns - 1}


# --- JSON and files ---------------------------------------------------------------------------------


def test_json_is_versioned_and_holds_what_verify_needs(tmp_path: Path) -> None:
    plain_report().save(tmp_path / "r.json")
    told = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)
    assert (told["format"], told["version"]) == ("sparingly/report", 1)
    for name in ("estimate", "ranking"):
        (tmp_path / f"{name}.json").write_text(json.dumps(told[name]), encoding="utf-8")
    scores = Estimate.load(tmp_path / "estimate.json")
    assert sparingly.verify(scores, demo()).ok
    assert sparingly.verify(sparingly.Ranking.load(tmp_path / "ranking.json"), demo()).ok


def test_formats_and_endings(tmp_path: Path) -> None:
    report = plain_report()
    written = report.save(tmp_path / "told.html", ["html", "md", "tex", "json"])
    assert [path.name for path in written] == ["told.html", "told.md", "told.tex", "told.json"]
    assert written[1].read_text(encoding="utf-8") == report.markdown()
    with pytest.raises(UsageError, match=r"ending must be one of \.html, \.md, \.tex, \.json"):
        report.save(tmp_path / "told.pdf")
    with pytest.raises(UnknownNameError, match="format of a report"):
        report.save(tmp_path / "told.html", ["html", "docx"])
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "told.html",
        "told.json",
        "told.md",
        "told.tex",
    ]


# --- pictures ---------------------------------------------------------------------------------------


def test_pictures_are_inside_the_page_with_words_for_those_who_cannot_see_them() -> None:
    report = sparingly.report(demo(), drawn(), "overall")
    names = [part.name for one in report.sections for part in one.parts if isinstance(part, Picture)]
    assert names == ["representation", "ranks", "growth", "agreement"]
    page = report.html()
    labels = re.findall(r'<svg role="img" aria-label="([^"]+)"', page)
    assert len(labels) == len(names)
    assert page.count("<svg ") == len(names) + 8
    assert "Rowan: rank 1-" in labels[1]
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    (ranks,) = (
        part
        for one in report.sections
        for part in one.parts
        if isinstance(part, Picture) and part.name == "ranks"
    )
    assert svg(ranks) == svg(ranks)


def test_outputs_stand_side_by_side_with_their_differences() -> None:
    found = [part for one in plain_report().sections for part in one.parts if isinstance(part, Texts)]
    first = found[0]
    best, worst = first.texts
    item = first.caption.rpartition(": ")[2]
    scores = plain_report().evidence.data.aspects["overall"][
        list(plain_report().evidence.data.items).index(item)
    ]
    assert best.name == demo().models[int(np.nanargmax(scores))]
    assert worst.name == demo().models[int(np.nanargmin(scores))]
    kept = ["".join(piece for piece, differs in side.pieces if not differs) for side in (best, worst)]
    assert kept[0] == kept[1]
    assert "<mark>" in plain_report().html()


def test_pictures_of_hostile_names_stay_pictures() -> None:
    read = Reader(hostile_report(figures=True).html())
    assert "script" not in read.tags
    assert "onload" not in dict(read.attributes)


def test_missing_extra_is_named_and_pages_without_pictures_need_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look, "_PACKAGES", ("no_such_package_at_all",))
    with pytest.raises(ExtraMissingError, match=r"sparingly\[report\]"):
        sparingly.report(demo(), drawn(), "overall")
    assert sparingly.report(demo(), drawn(), "overall", figures=False, curve=False).html()


def test_report_of_other_things_is_refused() -> None:
    with pytest.raises(UsageError, match="are for campaigns"):
        sparingly.report(demo(), drawn(), "overall", data="en-de", figures=False)


def test_curve_says_why_there_is_none() -> None:
    held = replace(
        plain_report().evidence, curve=None, no_curve="the method cannot be played again here: no."
    )
    from sparingly.show.report.report import report_on

    assert "The method cannot be played again here: no." in report_on(held, figures=False).markdown()


def test_raters_are_numbers_unless_names_are_wanted() -> None:
    data = sparingly.load_demo()
    chosen = sparingly.select(data, "local_pivotal", "50%")
    written = {
        named: sparingly.report(data, chosen, "mqm", figures=False, curve=False, rater_names=named).markdown()
        for named in (False, True)
    }
    names = data.ratings.raters
    assert not [name for name in names if name in written[False]]
    assert [name for name in names if name in written[True]] == list(names)
    assert f"rater {len(names)}" in written[False]
    # Nothing else depends on it.
    lines = [set(text.split("## Raters")[0].splitlines()) for text in written.values()]
    assert not [line for line in lines[0] ^ lines[1] if "rater" not in line.lower() and "gives" not in line]
