"""Flags: a strange rater is found, ordinary ones are left in peace."""

from __future__ import annotations

import numpy as np
import pytest

import sparingly
from sparingly.data.synthetic import load_invented
from sparingly.infer.estimate.rater_effects import severity
from sparingly.run.raters.controls import ControlReport, ControlScore
from sparingly.run.raters.report import RaterFlag, rater_flags
from tests.infer.estimate.test_severity import Row, rated_set

RATERS = "abcdef"


def judged(
    seed: int = 0,
    severity: float = 0.0,
    noise: float = 4.0,
    answer: float | None = None,
    scale: float = 1.0,
) -> sparingly.EvalSet:
    """Six raters on 60 items, two at a time; the last one is as told."""
    random = np.random.default_rng(seed)
    quality = random.normal(60, 12, (60, 2))
    usual = random.normal(0, 2, 6)
    rows: list[Row] = []
    for item in range(60):
        for rater in {item % 6, (item + 1 + item // 6) % 6}:
            strange = RATERS[rater] == "f"
            for model in range(2):
                given = usual[rater] + quality[item, model] * (scale if strange else 1.0)
                given += severity * strange + random.normal(0, noise if strange else 4.0)
                rows.append(
                    (item, model, RATERS[rater], float(given) if answer is None or not strange else answer)
                )
    return rated_set(rows)


def checks(data: sparingly.EvalSet) -> dict[tuple[str, str], RaterFlag]:
    return {(flag.rater, flag.check): flag for flag in rater_flags(data)}


def test_ordinary_raters_are_left_in_peace() -> None:
    flagged = [bool(checks(judged(seed))) for seed in range(20)]
    assert sum(flagged) <= 3


@pytest.mark.parametrize(
    ("strange", "check", "words"),
    [
        ({"severity": -40.0}, "severity", "points lower than the others would"),
        ({"severity": 40.0}, "severity", "points higher than the others would"),
        ({"scale": 6.0}, "spread", "uses more of the scale"),
        ({"noise": 70.0}, "agreement", "agrees less with the others"),
        ({"answer": 61.5}, "constant", "gave the same answer to everything"),
    ],
)
def test_a_strange_rater_is_found(strange: dict[str, float], check: str, words: str) -> None:
    found = checks(judged(**strange))  # type: ignore[arg-type]
    assert ("f", check) in found
    flag = found["f", check]
    assert flag.sentence.startswith("f ")
    assert words in flag.sentence
    assert flag.p <= 0.05
    assert {rater for rater, _ in found} == {"f"}


def test_speed() -> None:
    data = judged()
    random = np.random.default_rng(1)
    names = np.array(data.ratings.raters)[data.ratings.rater]
    seconds = np.where(names == "f", 1.0, 30.0) * np.exp(random.normal(0, 0.3, len(names)))
    table = data.ratings
    timed = data.with_parts(ratings=table.take(np.ones(len(table), bool), seconds=seconds))
    found = checks(timed)
    assert "is faster than the others" in found["f", "speed"].sentence
    assert found["f", "speed"].value == pytest.approx(1.0, rel=0.2)


def test_failed_controls() -> None:
    def score(rater: str, right: int) -> ControlScore:
        return ControlScore(rater, "degraded", 20, right, 0, 20 - right, 1.0, 0.5, 0.5)

    report = ControlReport("overall", tuple(score(rater, 9 if rater == "f" else 19) for rater in RATERS), 0)
    flags = rater_flags(judged(), controls=report)
    assert [(flag.rater, flag.check) for flag in flags] == [("f", "controls")]
    assert flags[0].sentence == "f scored 45% of the degraded outputs below the original; the others 95%."


def test_holm_counts_all_checks() -> None:
    data = judged(severity=-14.0)
    lenient = rater_flags(data, alpha=1.0)
    made = sum(flag.check == "severity" for flag in lenient)
    assert made == 6
    own = next(flag for flag in lenient if (flag.rater, flag.check) == ("f", "severity"))
    severe = severity(data)
    from sparingly.base.stats.moments import outlier_p_values

    raw = outlier_p_values(severe.severity, severe.standard_errors)[5]
    assert own.p >= 3 * raw


def test_three_raters_cannot_be_compared() -> None:
    random = np.random.default_rng(0)
    rows: list[Row] = [
        (item, 0, "abc"[item % 3], float(random.normal() + 50 * (item % 3 == 2))) for item in range(60)
    ]
    report = sparingly.rater_report(rated_set(rows, 1))
    assert report.flags == ()
    assert any("fewer than 4 raters" in note for note in report.notes)


def test_report_holds_everything_and_is_plain() -> None:
    import json

    report = sparingly.rater_report(load_invented(), "fluency", metric="judge", level="ordinal")
    values = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert set(values) == {"severity", "agreement", "predictability", "controls", "flags", "notes"}
    assert values["agreement"]["level"] == "ordinal"
    assert len(values["predictability"]["slopes"]) == 40
    assert values["controls"] is None
    assert repr(report).startswith("RaterReport(fluency: 5 raters, 0 flagged")
