"""Control items: what they are made of, and what raters did with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import sparingly
from sparingly.base.errors import DataError, MissingDataError, UnknownNameError, UsageError
from sparingly.data.synthetic import load_invented
from sparingly.run.raters.agreement import rater_agreement
from sparingly.run.raters.controls import control_report, controls_of, degraded, is_unspaced, replaced_words

DEMO = load_invented()
CHOSEN = sparingly.select(DEMO, "random", 60, seed=1)


def random() -> np.random.Generator:
    return np.random.default_rng(0)


# --- degraded texts ----------------------------------------------------------------------------------


def test_a_span_of_words_comes_from_the_other_text() -> None:
    text = " ".join(f"w{place}" for place in range(12))
    other = " ".join(f"o{place}" for place in range(9))
    found = degraded(text, [other], random())
    assert found is not None
    words = found.split()
    strange = [place for place, word in enumerate(words) if word.startswith("o")]
    assert len(words) == 12
    assert strange == list(range(strange[0], strange[0] + 4))
    assert strange[0] > 0
    assert strange[-1] < 11
    assert words[:1] == ["w0"]
    assert " ".join(words[strange[0] : strange[-1] + 1]) in other


@pytest.mark.parametrize(
    ("words", "replaced"), [(1, 1), (3, 2), (8, 3), (15, 4), (20, 5), (40, 10), (43, 10)]
)
def test_how_many_words(words: int, replaced: int) -> None:
    assert replaced_words(words) == replaced
    found = degraded(" ".join(["a"] * words), [" ".join(["b"] * 50)], random())
    assert found is not None
    assert found.split().count("b") == replaced


def test_scripts_without_spaces_are_cut_into_characters() -> None:
    text, other = "今天天气很好我们去公园散步吧", "机器翻译的质量需要人来评价才行"
    assert is_unspaced(text)
    assert not is_unspaced("Das Wetter ist schön, 今天")
    assert not is_unspaced("한국어는 띄어쓰기를 합니다")
    found = degraded(text, ["some English words that do not fit here", other], random())
    assert found is not None
    assert len(found) == len(text)
    assert " " not in found
    assert sum(one != before for one, before in zip(found, text, strict=True)) == replaced_words(len(text))


def test_no_fitting_words() -> None:
    assert degraded("one two three", [], random()) is None
    assert degraded("one two three", ["short"], random()) is None
    assert degraded("same same", ["same same same"], random()) is None
    assert degraded("  ", ["a b c"], random()) is None


# --- the set of control items ------------------------------------------------------------------------


def test_kinds_are_what_they_say() -> None:
    controls = sparingly.control_items(DEMO, CHOSEN, share=0.5, seed=2)
    assert len(controls) == 30
    outputs, references = DEMO.outputs, DEMO.reference_texts
    assert outputs is not None
    assert references is not None
    assert controls.outputs is not None
    seen = []
    for place, control in enumerate(controls_of(controls, DEMO)):
        row, model = DEMO.positions([control.original])[0], DEMO.models.index(control.model)
        texts = controls.outputs[place]
        assert [text is not None for text in texts].count(True) == 1
        seen.append(control.kind)
        if control.kind == "repeat":
            assert texts[model] == outputs[row, model]
        elif control.kind == "reference":
            assert texts[model] == references[row, 0]
        else:
            assert texts[model] != outputs[row, model]
            assert len(texts[model].split()) == len(outputs[row, model].split())
        assert control.original in CHOSEN.items
    assert [seen.count(kind) for kind in ("degraded", "reference", "repeat")] == [10, 10, 10]
    assert len(set(controls.columns["control_of"])) == 30


def test_same_seed_same_items_and_no_label_is_read() -> None:
    first = sparingly.control_items(DEMO, CHOSEN, seed=5)
    assert sparingly.control_items(DEMO.without_labels(), CHOSEN, seed=5).digest() == first.digest()
    assert sparingly.control_items(DEMO, CHOSEN, seed=6).digest() != first.digest()


def test_control_items_survive_a_file(tmp_path: Path) -> None:
    controls = sparingly.control_items(DEMO, CHOSEN)
    sparingly.save(controls, tmp_path / "controls.jsonl")
    again = sparingly.load(tmp_path / "controls.jsonl")
    assert list(controls_of(again, DEMO)) == list(controls_of(controls, DEMO))


def test_what_cannot_be_made() -> None:
    with pytest.raises(UnknownNameError, match="kind of control item"):
        sparingly.control_items(DEMO, CHOSEN, kinds=["broken"])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="at least one kind"):
        sparingly.control_items(DEMO, CHOSEN, kinds=[])
    with pytest.raises(UsageError, match="share"):
        sparingly.control_items(DEMO, CHOSEN, share=0)
    bare = sparingly.EvalSet.from_arrays(["a", "b"], ["m"])
    everything = sparingly.select(bare, "random", 2)
    with pytest.raises(MissingDataError, match="outputs"):
        sparingly.control_items(bare, everything)
    written = sparingly.EvalSet.from_arrays(["a", "b"], ["m"], outputs=[["x y"], ["x y"]])
    with pytest.raises(MissingDataError, match="no references"):
        sparingly.control_items(written, everything)
    with pytest.raises(DataError, match="too few chosen items"):
        sparingly.control_items(written, everything, kinds=["degraded"])
    with pytest.raises(MissingDataError, match="not control items"):
        list(controls_of(DEMO, DEMO))


# --- the report --------------------------------------------------------------------------------------


def judged_controls(controls: sparingly.EvalSet, careful: str, careless: str) -> sparingly.EvalSet:
    """Both raters judge all controls: one sees what was done to them, the other gives 50 to everything."""
    first = {
        (DEMO.items[item], DEMO.models[model]): float(score)
        for item, model, score in zip(
            DEMO.ratings.item,
            DEMO.ratings.model,
            DEMO.aspects["overall"][DEMO.ratings.item, DEMO.ratings.model],
            strict=True,
        )
    }
    rows = []
    for place, control in enumerate(controls_of(controls, DEMO)):
        before = first[control.original, control.model]
        given = {"degraded": before - 20, "reference": 100.0, "repeat": before}[control.kind]
        model = DEMO.models.index(control.model)
        rows += [(place, model, careful, given), (place, model, careless, 50.0)]
    table = sparingly.Ratings(
        item=np.array([row[0] for row in rows], np.int32),
        model=np.array([row[1] for row in rows], np.int32),
        rater=np.array([(careful, careless).index(row[2]) for row in rows], np.int32),
        aspect=np.zeros(len(rows), np.int32),
        score=np.array([row[3] for row in rows]),
        seconds=np.full(len(rows), np.nan),
        raters=(careful, careless),
        aspects=("overall",),
    )
    return controls.with_parts(ratings=table)


def both_judged_everything() -> sparingly.EvalSet:
    """The demo set in which Ada gives the mean score of every output and Bo 50 or 51 at random."""
    items, models = (part.ravel() for part in np.indices(DEMO.shape))
    scores = DEMO.aspects["overall"].ravel()
    coin = np.random.default_rng(0).integers(50, 52, len(scores)).astype(float)
    table = sparingly.Ratings(
        item=np.tile(items, 2).astype(np.int32),
        model=np.tile(models, 2).astype(np.int32),
        rater=np.repeat([0, 1], len(scores)).astype(np.int32),
        aspect=np.zeros(2 * len(scores), np.int32),
        score=np.concatenate([scores, coin]),
        seconds=np.full(2 * len(scores), np.nan),
        raters=("Ada", "Bo"),
        aspects=("overall",),
    )
    return DEMO.with_parts(ratings=table, aspects={})


def test_the_careful_rater_passes_and_the_careless_one_does_not() -> None:
    data = both_judged_everything()
    controls = judged_controls(sparingly.control_items(DEMO, CHOSEN, share=0.5), "Ada", "Bo")
    report = control_report(data, controls, "overall")
    by = {(one.rater, one.kind): one for one in report.scores}
    ada, bo = by["Ada", "degraded"], by["Bo", "degraded"]
    assert (ada.n, ada.right, ada.wrong) == (10, 10, 0)
    assert ada.difference == pytest.approx(20)
    assert ada.sign_p == pytest.approx(stats.binomtest(10, 10, alternative="greater").pvalue)
    assert ada.wilcoxon_p < 0.01
    assert bo.right + bo.tied + bo.wrong == 10
    assert bo.wrong == 0
    assert by["Ada", "repeat"].right == 10
    assert by["Ada", "repeat"].difference == 0
    assert np.isnan(by["Ada", "repeat"].sign_p)
    assert by["Ada", "reference"].right == 10
    assert report.unmatched == 0
    own = {one.rater: one for one in rater_agreement(data, "overall", controls=controls, draws=10).own}
    assert own["Ada"].alpha == pytest.approx(1)
    assert own["Ada"].n == 10


def test_wilcoxon_is_that_of_scipy() -> None:
    from sparingly.run.raters.controls import _score

    gaps = np.array([3.0, 5.0, -1.0, 2.0, 8.0, 0.5, -4.0, 6.0])
    found = _score("a", "degraded", gaps)
    assert found.wilcoxon_p == pytest.approx(stats.wilcoxon(gaps, alternative="greater").pvalue)
    assert found.sign_p == pytest.approx(stats.binomtest(6, 8, alternative="greater").pvalue)
    assert _score("a", "degraded", np.zeros(3)).sign_p == 1.0


def test_controls_of_others_and_without_ratings() -> None:
    controls = sparingly.control_items(DEMO, CHOSEN)
    with pytest.raises(MissingDataError, match="no ratings"):
        control_report(DEMO, controls, "overall")
    stranger = judged_controls(controls, "Zoe", "Yan")
    report = control_report(DEMO, stranger, "overall")
    assert report.scores == ()
    assert report.unmatched == 12


def test_control_items_are_never_counted() -> None:
    data = both_judged_everything()
    before = sparingly.estimate(data, CHOSEN, "overall", estimator="weighted_mean")
    judged_controls(sparingly.control_items(DEMO, CHOSEN, share=0.5), "Ada", "Bo")
    after = sparingly.estimate(data, CHOSEN, "overall", estimator="weighted_mean")
    assert after.scores.tolist() == before.scores.tolist()
    assert after.size == len(DEMO)
