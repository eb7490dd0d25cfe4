"""The sections of a report: question, data, choice, scores, ranks, precision, raters, costs, checks."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from sparingly.base.errors import listing
from sparingly.base.format import counted, share_text
from sparingly.base.format import p_text as p_sentence
from sparingly.base.summary import Summary
from sparingly.data.describe import Representation, describe
from sparingly.data.describe.judgements import ratings as summarised
from sparingly.infer.compare.head_to_head import HeadToHead
from sparingly.infer.estimate.assemble import target_text
from sparingly.infer.estimate.result import CHOSEN_ITEMS
from sparingly.infer.judge.audit import (
    agreement_text,
    alternative_text,
    answer,
    band_rows,
    biases,
)
from sparingly.infer.rank.compare import CurveComparison
from sparingly.run.raters.agreement import PairAgreement
from sparingly.show.figures.charts import (
    KINDS_IN_WORDS,
    draw_curves,
    draw_growth,
    draw_ranks,
    draw_shares,
)
from sparingly.show.report.document import (
    BETTER,
    OPEN,
    WORSE,
    Commands,
    Facts,
    Notes,
    ReportPart,
    Section,
    Table,
    Words,
    picture,
)
from sparingly.show.report.evidence import Evidence
from sparingly.show.report.markup import code
from sparingly.show.report.words import aligned, estimand, p_text, question, time_text, with_full_stop
from sparingly.show.report.writeup import is_from_pool, paragraph, table_rows
from sparingly.show.terminal.console import fixed

_MOST_ODD, _MOST_REASONS, _MOST_SHARES, _MOST_METRICS = 6, 8, 12, 3
_MOST_PAIRS, _MOST_RATERS, _MOST_ROUNDS = 15, 40, 3
# So many columns of a matrix, and models of a picture, fit on a page.
_MOST_COLUMNS, _MOST_DRAWN = 12, 20


def question_section(evidence: Evidence) -> Section:
    """Say what was asked, and what the answer describes."""
    parts = (Words(question(evidence)), Words(estimand(evidence), important=True))
    return Section("question", "The question", parts)


def data_section(evidence: Evidence) -> Section:
    """Say what is in the set, and what is odd about it."""
    description = describe(evidence.data)
    rows = [
        ("set", code(Path(description.name).name) if description.name else "without a name"),
        ("items", str(description.items)),
        ("models", f"{len(description.models)}: {', '.join(map(code, description.models))}"),
    ]
    if description.metrics:
        rows.append(("metrics", listing((code(metric.name) for metric in description.metrics), 8)))
    if description.domains:
        rows.append(("domains", listing(map(code, description.domains), 8)))
    if description.documents is not None:
        rows.append(("documents", str(description.documents.count)))
    if description.absent:
        rows.append(("not there", ", ".join(description.absent)))
    parts: list[ReportPart] = [Facts("What is in the evaluation set", tuple(rows))]
    if odd := [oddity.text for oddity in description.odd[:_MOST_ODD]]:
        more = len(description.odd) - len(odd)
        parts.append(Notes((*odd, *((f"and {more} more: see sparingly info.",) if more else ()))))
    return Section("data", "The data", tuple(parts))


def selection_section(evidence: Evidence) -> Section:
    """Say what was chosen to be judged, how, and why."""
    if not evidence.rounds:
        text = "No selection was given: the judged items are taken for a uniform sample of the set."
        return Section("selection", "What was judged", (Words(text),))
    parts: list[ReportPart] = [] if not evidence.why else [Words(evidence.why)]
    counts = Counter(row.reason for selection in evidence.rounds for row in selection if row.reason)
    reasons = [(reason, str(count)) for reason, count in counts.most_common(_MOST_REASONS)]
    if len(counts) > len(reasons):
        hidden = sum(counts.values()) - sum(count for _, count in counts.most_common(_MOST_REASONS))
        reasons.append((f"{len(counts) - len(reasons)} other reasons", str(hidden)))
    if len(evidence.rounds) == 1 and evidence.status is None:
        chosen = evidence.rounds[0]
        facts = [row for row in table_rows(chosen) if row[0] != "signature"]
        parts += [Words(paragraph(chosen)), Facts("The selection", tuple(facts))]
        notes = tuple(map(with_full_stop, chosen.notes))
    else:
        rows = tuple(
            (
                str(number),
                str(len(selection)),
                "yes" if selection.is_probability_sample else "no",
                selection.signature.inputs,
                selection.signature.labels or "none",
            )
            for number, selection in enumerate(evidence.rounds, 1)
        )
        columns = ("round", "rows", "sampled with known probabilities", "digest of what it read")
        rounds = Table("The rounds", (*columns, "digest of labels used"), rows, texts=5)
        parts += [Words(_campaign_words(evidence)), rounds]
        notes = ()
    if reasons:
        parts.append(Table("Why rows were chosen", ("reason", "rows"), tuple(reasons)))
    if notes:
        parts.append(Notes(notes))
    return Section("selection", "What was selected, and why", tuple(parts))


def _campaign_words(evidence: Evidence) -> str:
    status, part = evidence.status, evidence.part
    if status is None or part is None:
        return f"{counted(len(evidence.rounds), 'round')} drawn."
    stops = f", stopping by {listing(map(code, status.stops))}" if status.stops else ""
    unit = "comparisons" if evidence.comparison else "outputs"
    answers = "all are answered."
    if part.outstanding:
        answers = f"{part.outstanding} of {counted(part.asked, 'answer')} still to come."
    text = (
        f"The campaign {code(status.campaign)} draws with {code(status.strategy)} under a budget of "
        f"{status.budget}{stops}. {counted(part.rounds, 'round')} used {part.spent:,} of {part.limit:,} "
        f"{unit}; {answers}"
    )
    for word, names in (("Came late", part.late), ("Withdrawn", part.withdrawn)):
        if names:
            text += f" {word}: {', '.join(map(code, names))}."
    return (
        " ".join(filter(None, (text, f"It ended: {part.finished}", part.saving))) if part.finished else text
    )


def representation_section(evidence: Evidence, *, figures: bool) -> Section | None:
    """Say whom the selection over- and under-represents; None where nothing is known of that."""
    representation, title = evidence.representation, "Whom the selection represents"
    if representation is None:
        return None
    parts: list[ReportPart] = []
    if evidence.outside:
        sentence = f"{evidence.outside:,} of the items that were drawn from are not in the data"
        if representation.n == representation.of:
            text = f"{sentence}, so whom the selection over- or under-represents is unknown."
            return Section("representation", title, (Words(text),))
        parts.append(Words(f"{sentence}: shares below are among the {representation.of:,} that are."))
    groups = sum(len(shares) for shares in representation.kinds.values())
    if not groups:
        return None
    lean = tuple(with_full_stop(leaning.text) for leaning in representation.leanings)
    text = "Nothing is badly over- or under-represented." if not lean else "Mind what is badly represented:"
    parts.append(Words(text))
    parts += [Notes((*lean, *representation.notes))] if lean or representation.notes else []
    if figures and any(len(shares) > 1 for shares in representation.kinds.values()):
        words = f"Shares of the set and of the selection in {groups} groups; the table below has them."
        parts.append(picture("representation", draw_shares(representation), words))
    rows = tuple(
        (row.what, str(row.selected), str(row.of), share_text(row.share))
        for row in representation.coverage[:_MOST_SHARES]
    )
    parts.append(Table("What the selection touches", ("what", "selected", "of", "share"), rows))
    parts += _shares(representation)
    return Section("representation", title, tuple(parts))


def _shares(representation: Representation) -> Iterator[ReportPart]:
    """Yield the shares of all groups; of the metrics, the first few and those that are badly represented."""
    lean = {leaning.by for leaning in representation.leanings}
    metrics = [kind for kind in representation.kinds if kind.startswith("metric ")]
    left_out = {kind for kind in metrics[_MOST_METRICS:] if kind not in lean}
    rows: list[tuple[str, ...]] = []
    breaks: list[int] = []
    for kind, shares in representation.kinds.items():
        if not shares or kind in left_out:
            continue
        breaks.append(len(rows))
        for share in shares[:_MOST_SHARES]:
            counts = (str(share.items), str(share.selected))
            parts = (share_text(share.full_share), share_text(share.selected_share), fixed(share.ratio))
            rows.append((share.group, KINDS_IN_WORDS.get(kind, kind), *counts, *parts))
    columns = ("group", "by", "items of the set", "selected", "share of the set", "share selected", "ratio")
    yield Table("Shares by group", columns, tuple(rows), texts=2, breaks=frozenset(breaks[1:]))
    shortened = [kind for kind, shares in representation.kinds.items() if len(shares) > _MOST_SHARES]
    if left_out or shortened:
        more = [f"{counted(len(left_out), 'further metric')}"] if left_out else []
        more += [f"the smaller groups by {kind}" for kind in shortened]
        yield Words(f"Left out here: {listing(more)}; sparingly info DATA SELECTION shows all.")


def score_section(evidence: Evidence) -> Section:
    """Show the scores with their intervals, possible ranks, parts of the set, and what to mind."""
    estimate, ranking = evidence.estimate, evidence.ranking
    table = estimate.summary() if ranking is None else ranking.summary()
    subject = f"Scores of {target_text(estimate.target)}"
    if evidence.comparison is not None:
        subject = "Win rates" if estimate.is_rate else "Strengths"
    caption = f"{subject} ({evidence.aspect})"
    if ranking is not None:
        caption += f"; ranks hold on {target_text(ranking.target)}"
    parts: list[ReportPart] = [_summary_table(caption, table)]
    for name, part in estimate.groups.items():
        parts.append(_summary_table(f"{name}: {counted(part.n, 'judged item')}", part.summary()))
    notes_of = () if ranking is None else ranking.notes
    if notes := dict.fromkeys((*estimate.notes, *notes_of)):
        parts.append(Notes(tuple(map(with_full_stop, notes))))
    if ranking is None and len(estimate.models) > 1:
        parts.append(Words(with_full_stop(evidence.unranked)))
    title = subject.removesuffix(f" of {target_text(estimate.target)}")
    return Section("scores", f"{title} with intervals", tuple(parts))


def _summary_table(caption: str, summary: Summary) -> Table:
    """Return the table of a result: what a phone has room for comes first."""
    first = [
        at for at, name in enumerate(summary.columns) if name in ("model", "win rate", "") or "±" in name
    ]
    order = [*first, *(at for at in range(len(summary.columns)) if at not in first)]
    columns = tuple(summary.columns[at] for at in order)
    rows = tuple(tuple(row[at] for at in order) for row in summary.rows)
    return Table(caption, columns, rows, texts=1)


def judge_section(evidence: Evidence) -> Section | None:
    """Say whether the judge can be trusted; None where there is none."""
    audit = evidence.judge
    if audit is None:
        return None
    sentences = (*answer(audit), agreement_text(audit), alternative_text(audit))
    parts: list[ReportPart] = [Words(" ".join(sentence for sentence in sentences if sentence))]
    if audit.rates is not None:
        columns = ("", f"{audit.judge} passes", f"{audit.judge} fails")
        counts = zip(("people pass", "people fail"), audit.rates.table, strict=True)
        rows = tuple((name, *map(str, row)) for name, row in counts)
        parts.append(Table("Labelled outputs", columns, rows))
    elif bands := band_rows(audit):
        columns = (f"where {audit.judge} gives", "labels", "people give")
        parts.append(Table("Labelled outputs", columns, tuple(bands)))
    shared = evidence.estimate.notes
    notes = [text.removeprefix("- ").removesuffix(" (-v)") for text in biases(audit)]
    notes += [with_full_stop(note) for note in audit.notes if note not in shared]
    if notes:
        parts.append(Notes(tuple(notes)))
    return Section("judge", "Can the judge be trusted?", tuple(parts))


def beats_section(evidence: Evidence) -> Section | None:
    """Show who beats whom, as a matrix that reads at a glance."""
    ranking, found = evidence.ranking, evidence.comparison
    if ranking is None or len(ranking.models) < 2:
        return None
    if isinstance(found, HeadToHead):
        votes = tuple((str(row[0]), str(row[1])) for row in found.summary().rows)
        table = Table("Votes", ("", "comparisons"), votes)
        return Section("pairs", "Who won how often", (table, *map(Words, found.sentences[1:])))
    better, names = ranking.decisions.better, [model.model for model in ranking.models]
    rows = tuple(
        (
            f"{place + 1}. {name}",
            *(
                ""
                if place == column
                else BETTER
                if better[place, column]
                else WORSE
                if better[column, place]
                else OPEN
                for column in range(len(names))
            ),
        )
        for place, name in enumerate(names)
    )
    holds = (
        f"on {target_text(ranking.target)}; probability of any false claim: {100 * ranking.alpha:g} % at most"
    )
    if ranking.target == CHOSEN_ITEMS:
        holds = "on the chosen items only: they were picked, not sampled"
    text = (
        f"{BETTER} the model of the row is significantly better, {WORSE} worse, {OPEN} not decided; {holds}."
    )
    table = Table(
        ranking.group_sentence.removesuffix("."),
        ("model", *map(str, range(1, len(names) + 1))),
        rows,
        signs=True,
    )
    return Section("pairs", "Who beats whom", (table, Words(text)))


def rank_section(evidence: Evidence, *, figures: bool) -> Section | None:
    """Show how pairs were decided: possible ranks, and the tests of all pairs."""
    ranking, title = evidence.ranking, "How pairs and ranks were decided"
    if ranking is None:
        return None
    if len(ranking.models) == 2:
        found = f"{ranking.test} test, two-sided, {p_sentence(ranking.corrected[0, 1])}"
        text = f"The two were compared once ({found}), at an error rate of {100 * ranking.alpha:g} %."
        return Section("ranks", title, (Words(text),))
    rule = (
        f"Every pair of models was tested once ({ranking.test} test, two-sided), corrected for all pairs "
        f"(Shaffer's step-down): where p is at most {ranking.alpha:g} it stands out, and the model with the "
        "higher score is significantly better. A model's ranks go from 1 + the number of models that are "
        "significantly better to the number of models less those that are significantly worse"
    )
    holds = f"; they hold for all models at once with {100 * (1 - ranking.alpha):g} % confidence."
    if ranking.target == CHOSEN_ITEMS:
        holds = ". The items were picked, not sampled: this holds for these items only."
    parts: list[ReportPart] = [Words(rule + holds)]
    # The table of scores has the ranks of many.
    if figures and len(ranking.models) <= _MOST_DRAWN:
        words = "; ".join(f"{model.model}: rank {model.ranks}" for model in ranking.models)
        parts.append(picture("ranks", draw_ranks(ranking), f"Possible ranks. {words}."))
    count = len(ranking.models)
    # As many tables as fit the page.
    for start in range(0, count, _MOST_COLUMNS):
        places = range(start, min(start + _MOST_COLUMNS, count))
        rows, significant = [], set()
        for row, model in enumerate(ranking.models):
            p_values = ranking.corrected[row]
            texts = ("–" if row == at else p_text(p_values[at]) for at in places)
            rows.append((f"{row + 1}. {model.model}", *texts))
            shaded = (at for at in places if row != at and p_values[at] <= ranking.alpha)
            significant |= {(row, at - start + 1) for at in shaded}
        span = f", against ranks {start + 1} to {places[-1] + 1}" if count > _MOST_COLUMNS else ""
        columns = ("model", *(f"{at + 1}." for at in places))
        caption = f"Corrected p-values of pairs{span}"
        parts.append(Table(caption, columns, tuple(rows), marked=frozenset(significant)))
    return Section("ranks", title, tuple(parts))


def curve_section(evidence: Evidence, *, figures: bool) -> Section | None:
    """Show how precise the scores became with the labels, and agreement with judging everything."""
    parts: list[ReportPart] = []
    if evidence.growth is not None:
        widths = ", ".join(f"{point.half_width:.3g} with {point.n} items" for point in evidence.growth.seen)
        ahead = (
            "More judgements drawn alike would shrink the intervals as the dashed line does; see sparingly "
            "plan."
        )
        parts.append(Words(f"The mean half-width of the intervals is {widths}. {ahead}"))
        if figures:
            words = f"Half-widths of intervals: {widths}."
            parts.append(picture("growth", draw_growth(evidence.growth), words))
    if evidence.curve is not None:
        parts += _agreement(evidence.curve, figures=figures)
    elif evidence.no_curve:
        parts.append(Words(with_full_stop(evidence.no_curve)))
    return Section("curves", "Precision and agreement against labels", tuple(parts)) if parts else None


def _agreement(comparison: CurveComparison, *, figures: bool) -> list[ReportPart]:
    curve, random = comparison.curve, comparison.random
    text = (
        f"Everything is judged, so the method can be held against judging everything: on average over "
        f"{len(curve.sizes)} budgets it reaches {curve.average:.3f}, random selection {random.average:.3f}. "
        "This says how the method would have done, not what was found above."
    )
    rows = tuple(
        (str(size), share_text(share), fixed(value, 3), fixed(random_value, 3))
        for size, share, value, random_value in zip(
            curve.sizes, curve.shares, curve.values, random.values, strict=True
        )
    )
    measure = curve.measure.replace("_", " ")
    table = Table(measure.capitalize(), ("items", "share", "the method", "random, mean"), rows)
    words = f"{measure} over budgets; the table below has all numbers."
    pictures = [picture("agreement", draw_curves([comparison]), words)] if figures else []
    return [Words(text), *pictures, table]


def rater_section(evidence: Evidence) -> Section | None:
    """Show how well raters agree, how severe they are, and who is far from the rest."""
    report = evidence.raters
    if report is None and not evidence.unrated:
        return None
    if report is None:
        return Section("raters", "Raters", (Words(with_full_stop(evidence.unrated)),))
    parts: list[ReportPart] = []
    alpha = report.agreement.alpha
    if alpha.units:
        text = (
            f"Krippendorff's α is {alpha.alpha:.3f} (95 % interval {alpha.low:.3f} to {alpha.high:.3f}), "
            f"over {alpha.units} outputs that two or more raters judged."
        )
        parts.append(Words(text))
    if report.flags:
        flags = (f"Flagged ({flag.check}): {with_full_stop(flag.sentence)}" for flag in report.flags)
        parts.append(Notes(tuple(flags)))
    else:
        parts.append(Words("No rater is far from the rest."))
    severity = report.severity
    columns = (
        severity.raters,
        (str(int(count)) for count in severity.judgements),
        aligned(severity.severity.tolist(), 3),
        aligned(severity.standard_errors.tolist(), 3),
    )
    caption = "Raters; a negative severity scores lower than the others would"
    rows = tuple(zip(*columns, strict=True))[:_MOST_RATERS]
    heads = ("rater", "outputs judged", "severity", "standard error")
    parts.append(Table(f"{caption}{_first_raters(len(severity.raters))}", heads, rows))
    if report.agreement.pairs:
        parts.append(_rater_pairs(report.agreement.pairs))
    if notes := dict.fromkeys(map(with_full_stop, (*report.notes, *report.agreement.notes))):
        parts.append(Notes(tuple(notes)))
    return Section("raters", "Raters", tuple(parts))


def _first_raters(count: int) -> str:
    return f" (the first {_MOST_RATERS} of {count})" if count > _MOST_RATERS else ""


def _rater_pairs(pairs: Sequence[PairAgreement]) -> Table:
    most_common = sorted(pairs, key=lambda pair: (-pair.n, pair.first, pair.second))[:_MOST_PAIRS]
    differences = aligned((pair.difference for pair in most_common), 3)
    rows = tuple(
        (
            f"{pair.first} and {pair.second}",
            str(pair.n),
            fixed(pair.pearson),
            fixed(pair.kendall),
            share_text(pair.exact),
            difference,
        )
        for pair, difference in zip(most_common, differences, strict=True)
    )
    more = f" (the {_MOST_PAIRS} with most in common, of {len(pairs)})" if len(pairs) > _MOST_PAIRS else ""
    columns = ("raters", "in common", "Pearson", "Kendall", "same answer", "difference")
    return Table(f"Agreement of pairs of raters{more}", columns, rows)


def cost_section(evidence: Evidence) -> Section:
    """Show what the judging cost in labels and time."""
    spent = evidence.effort
    rows = [("labels", f"{spent.labels:,}")]
    if spent.further:
        rows.append(("labels of other aspects", str(spent.further)))
    share = share_text(spent.items / max(spent.size, 1))
    rows.append(("items judged", f"{spent.items:,} of {spent.size:,} ({share})"))
    if spent.seconds is not None and spent.timed:
        per_judgement = f"{spent.seconds / spent.timed:.3g} seconds each over {spent.timed} judgements"
        rows.append(("time", f"{time_text(spent.seconds)}, {per_judgement}"))
    else:
        rows.append(("time", "not recorded"))
    planned = [selection.total_cost for selection in evidence.rounds if selection.total_cost is not None]
    if planned and evidence.rounds[0].cost_unit:
        rows.append(("cost as planned", f"{sum(planned):.6g} {evidence.rounds[0].cost_unit}"))
    parts: list[ReportPart] = [Facts("What it cost", tuple(rows))]
    if (summary := summarised(evidence.data)) is not None and summary.raters:
        ordered = sorted(summary.raters.items(), key=lambda pair: (-pair[1], pair[0]))[:_MOST_RATERS]
        counts = tuple((name or "not named", str(count)) for name, count in ordered)
        caption = f"Labels by rater, of all aspects{_first_raters(len(summary.raters))}"
        parts.append(Table(caption, ("rater", "labels"), counts))
    return Section("costs", "Costs", tuple(parts))


def check_section(evidence: Evidence) -> Section:
    """Give the signatures, and say how anybody can derive it all again."""
    text = (
        "Every answer follows from its signature: the method with all parameters, the seed, the version, "
        "and digests of the data and the labels. Whoever has the data can derive it again and compare."
    )
    parts: list[ReportPart] = [Words(text)]
    if evidence.rounds:
        last = evidence.rounds[-_MOST_ROUNDS:]
        of = "s of the rounds" if len(last) > 1 else " of the selection"
        if len(evidence.rounds) > len(last):
            of = f"s of the last {len(last)} of {len(evidence.rounds)} rounds"
        parts.append(Commands(f"Signature{of}", tuple(str(selection.signature) for selection in last)))
    if evidence.estimate.signature is not None:
        parts.append(Commands("Signature of the scores", (str(evidence.estimate.signature),)))
    if evidence.ranking is not None and evidence.ranking.signature is not None:
        parts.append(Commands("Signature of the ranking", (str(evidence.ranking.signature),)))
    parts.append(Commands("How to check", tuple(_commands(evidence))))
    return Section("check", "Signature, and how to verify", tuple(parts))


def _commands(evidence: Evidence) -> Iterator[str]:
    """Yield how everything is derived again; a selection from a pool of sources needs that pool."""
    if evidence.status is not None:
        yield "sparingly verify CAMPAIGN"
        return
    if evidence.rounds:
        last = evidence.rounds[0].signature
        from_pool = is_from_pool(last if last.pool is None else last.pool)
        if from_pool:
            first_file = "SELECTION.json" if last.pool is None else "FIRST.json"
            yield f"sparingly pool verify SCORED_POOL {first_file}"
        if not from_pool or last.pool is not None:
            yield "sparingly verify SELECTION.json DATA"
    if evidence.comparison is not None:
        return
    argument = " SELECTION.json" if evidence.rounds else ""
    ranking, target = evidence.ranking, ""
    one_target = ranking is not None and ranking.target == ranking.scores_of
    if one_target and evidence.estimate.target != CHOSEN_ITEMS:
        target = f"--target {evidence.estimate.target} "
    yield f"sparingly rank DATA{argument} --aspect {shlex.quote(evidence.aspect)} {target}--out ranking.json"
    yield "sparingly verify ranking.json DATA"
