"""The section of a report that says whether the judge can be trusted."""

from __future__ import annotations

import sparingly
from sparingly.data.synthetic import load_invented
from sparingly.infer.judge.audit import answer
from tests.infer.judge.populations import judged_outputs


def test_a_report_on_passes_says_whether_the_judge_can_be_trusted() -> None:
    data = judged_outputs(1, labels=150)
    found = sparingly.report(data, figures=False, curve=False)
    names = [section.name for section in found.sections]
    assert names.index("scores") < names.index("judge") < names.index("costs")
    text = found.markdown().replace("\\", "")
    assert answer(sparingly.judge(data))[1] in text
    assert "verdict passes | verdict fails" in text
    assert found.to_dict()["judge"]["rates"]["table"][0][0] > 100


def test_grades_have_such_a_section_where_a_metric_is_called_a_judge() -> None:
    found = sparingly.report(load_invented(), aspect="overall", figures=False, curve=False)
    text = found.markdown().replace("\\", "")
    assert "where judge gives | labels | people give" in text
    assert "Where the judge and people disagree" in text
    audit = sparingly.judge(load_invented(), aspect="overall", judge="judge")
    assert audit.errors[0].output is not None
    assert audit.errors[0].output[:40] in text
    data = load_invented()
    without = data.only(name for name in data.fields if name != "metric:judge")
    found = sparingly.report(without, aspect="overall", figures=False, curve=False)
    assert "judge" not in [section.name for section in found.sections]


def test_picked_outputs_have_no_such_section() -> None:
    picked = sparingly.report(
        judged_outputs(2, labels=None),
        sparingly.select(judged_outputs(2, labels=None), "metric_avg:metric=verdict", 60),
        figures=False,
        curve=False,
    )
    assert "judge" not in [section.name for section in picked.sections]
