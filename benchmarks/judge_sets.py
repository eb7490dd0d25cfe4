"""What ``judge`` says of real judges: the labels that they save, how they err, and their biases.

    .venv/bin/python -m benchmarks.judge_sets ../shared/data --docs  # docs/research/judge-results.md

Every set is audited with all of its labels. What a judge saves is measured as well: of 100 draws of 50 items,
the mean squared error of the models' scores by the labels alone over that with the judge, by ``estimate``.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import sparingly
from benchmarks.pages import replaced, table
from sparingly.base.format import number_text
from sparingly.infer.judge.audit import JudgeAudit, alternative_text, answer, biases, only_metrics, worth_text

PAGE = Path(__file__).resolve().parents[1] / "docs" / "research" / "judge-results.md"
DRAWS, ITEMS = 100, 50


@dataclass(frozen=True)
class RealJudges:
    """A set, what people judged in it, and the judges that scored it."""

    name: str
    aspect: str
    judges: tuple[str, ...]


SETS = (
    RealJudges(
        "summeval_llm12",
        "coherence",
        ("gpt4_rts_coherence", "gpt35_rts_coherence", "llama2-70b_rts_coherence", "llama2-7b_rts_coherence"),
    ),
    RealJudges("summeval_llm12", "consistency", ("gpt4_rts_consistency", "gpt35_rts_consistency")),
    RealJudges("opinsummeval", "self_coh", ("geval_Self-Coherence", "chatgpt_CoT_Self-Coherence")),
    RealJudges("topicalchat_usr", "overall", ("UniEval_overall",)),
    RealJudges("wmt23_ende_esa", "esa1", ("GEMBA-spans[QE]", "GEMBA-MQM[QE]")),
    RealJudges(
        "alpacaeval2_llmjudge", "pref_vs_gpt4turbo_JUDGE_gpt4turbo", ("pref_vs_davinci003_judge_gpt4",)
    ),
)


def measured_worth(data: sparingly.EvalSet, aspect: str, judge: str) -> float:
    """Return what 100 labels are worth with a judge, by the errors of draws of 50 items."""
    view = only_metrics(data, [judge])
    truth = np.nanmean(data.truth(aspect), axis=0)
    squares = np.zeros(2)
    for seed in range(DRAWS):
        chosen = sparingly.select(view, "uniform", min(ITEMS, len(data) // 2), seed=seed)
        for place, estimator in enumerate(("weighted_mean", "greg")):
            found = sparingly.estimate(view, chosen, aspect, estimator=estimator, interval="none", seed=seed)
            squares[place] += float(np.nansum((found.scores - truth) ** 2))
    return 100.0 * float(squares[0] / squares[1])


def rows_of(data: sparingly.EvalSet, part: RealJudges) -> tuple[list[tuple[str, ...]], JudgeAudit]:
    """Return a line for each judge, and the audit of the one that saves most."""
    audit = sparingly.judge(data, aspect=part.aspect, judge=part.judges)
    best = sparingly.judge(data, aspect=part.aspect, judge=audit.judges[0].judge)
    rows: list[tuple[str, ...]] = []
    for line in audit.judges:
        of_judge = sparingly.judge(data, aspect=part.aspect, judge=line.judge)
        found = of_judge.agreement
        people = "–" if found.two_people is None else number_text(found.two_people.correlation.value, 2)
        alone = (
            "–"
            if found.judge_and_person is None
            else number_text(found.judge_and_person.correlation.value, 2)
        )
        rows.append(
            (
                part.name,
                part.aspect if len(part.aspect) < 20 else "GPT-4-turbo's preference",
                f"`{line.judge}`",
                f"{of_judge.labels:,}",
                number_text(line.correlation.value, 2),
                alone,
                people,
                "–" if line.worth is None else worth_text(line.worth),
                f"{measured_worth(data, part.aspect, line.judge):.0f}",
            )
        )
    return rows, best


def main() -> None:
    """Print the table and the audits, or write them into the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--docs", action="store_true", help=f"write {PAGE.name}")
    options = parser.parse_args()
    rows, parts = list[tuple[str, ...]](), []
    for part in SETS:
        data = sparingly.load(options.folder / f"{part.name}.jsonl.gz")
        lines, audit = rows_of(data, part)
        rows += lines
        listed = [text.removeprefix("- ") for text in biases(audit, 3)]
        sentences = [*answer(audit), alternative_text(audit), *listed]
        parts.append(f"**{part.name}, {part.aspect}.** {' '.join(text for text in sentences if text)}")
    head = (
        "set",
        "people judged",
        "judge",
        "labels",
        "r with labels",
        "r with one person",
        "r of two people",
        "100 labels are worth",
        "measured",
    )
    blocks = {"judges": table(head, rows, texts=3), "audits": "\n\n".join(parts)}
    if options.docs:
        PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), blocks), encoding="utf-8")
    else:
        print("\n\n".join(blocks.values()))


if __name__ == "__main__":
    main()
