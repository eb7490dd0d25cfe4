from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import sparingly
from tests.show.report.made import hostile_report, plain_report

_PAPER = "\\documentclass{article}\n\\usepackage[T1]{fontenc}\n\\begin{document}\n%s\\end{document}\n"


def _two_versions() -> sparingly.Report:
    """A report on 40 comparisons of two versions with texts."""
    texts = np.array([[f"Yes & no {at}.", f"100 % of {at}_a, ~ or ^."] for at in range(40)], object)
    scores = np.array([[at % 3, 1] for at in range(40)], np.float64)
    data = sparingly.EvalSet.from_arrays(
        [f"i{at}" for at in range(40)], ["old_1", "new#2"], aspects={"taste": scores}, outputs=texts
    )
    votes = data.with_preferences_from("taste")
    votes = votes.only(name for name in votes.fields if not name.startswith("aspect:"))
    return sparingly.report(votes, figures=False)


@pytest.mark.parametrize("make", [plain_report, _two_versions, hostile_report])
def test_a_report_in_a_paper(make: Callable[[], sparingly.Report], tmp_path: Path) -> None:
    """Groups and environments are closed; where pdflatex is there, a paper compiles, and tables fit."""
    text = make().latex()
    plain = re.sub(r"\\[\\{}%]", "", text)
    assert plain.count("{") == plain.count("}")
    marks = Counter(re.findall(r"\\(begin|end)\{", text))
    assert marks["begin"] == marks["end"] > 3
    if (program := shutil.which("pdflatex")) is None:
        return
    (tmp_path / "paper.tex").write_text(_PAPER % text, "utf-8")
    command = [program, "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    said = done.stdout.decode("utf-8", "replace")
    assert done.returncode == 0, said[-2000:]
    # The names that mean harm are words that no line can break.
    if make is not hostile_report:
        assert max(map(float, re.findall(r"Overfull \\hbox \(([\d.]+)pt", said)), default=0.0) < 20.0
