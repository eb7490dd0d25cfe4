"""The sections on what was asked, of which data, what was chosen, and whom that represents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from sparingly.base.errors import listing
from sparingly.base.format import counted, share_text
from sparingly.data.describe import Representation, describe
from sparingly.data.describe.representation import Share
from sparingly.data.selection import Selection
from sparingly.show.figures.shares import KINDS_IN_WORDS, draw_shares
from sparingly.show.report.document import Facts, Notes, Part, Section, Table, Words
from sparingly.show.report.evidence import Evidence
from sparingly.show.report.markup import code
from sparingly.show.report.pictures import picture
from sparingly.show.report.words import ended, estimand, question
from sparingly.show.report.writeup import paragraph, table_rows
from sparingly.show.terminal.console import fixed

_MOST_ODD, _MOST_REASONS, _MOST_SHARES, _MOST_METRICS = 6, 8, 12, 3


def question_section(held: Evidence) -> Section:
    """Say what was asked, and what the answer speaks about."""
    parts = (Words(question(held)), Words(estimand(held), important=True))
    return Section("question", "The question", parts)


def data_section(held: Evidence) -> Section:
    """Say what is in the set, and what is odd about it."""
    told = describe(held.data)
    rows = [
        ("set", code(Path(told.name).name) if told.name else "without a name"),
        ("items", str(told.items)),
        ("models", f"{len(told.models)}: {', '.join(map(code, told.models))}"),
    ]
    names = [("metrics", [one.name for one in told.metrics]), ("domains", list(told.domains))]
    rows += [(kind, listing(map(code, found), 8)) for kind, found in names if found]
    if told.documents is not None:
        rows.append(("documents", str(told.documents.count)))
    if told.absent:
        rows.append(("not there", ", ".join(told.absent)))
    parts: list[Part] = [Facts("What is in the evaluation set", tuple(rows))]
    if odd := [one.text for one in told.odd[:_MOST_ODD]]:
        more = len(told.odd) - len(odd)
        parts.append(Notes((*odd, *((f"and {more} more: see sparingly info.",) if more else ()))))
    return Section("data", "The data", tuple(parts))


def selection_section(held: Evidence) -> Section:
    """Say what was chosen to be judged, how, and why."""
    if not held.rounds:
        text = "No selection was given: the judged items are taken for a uniform sample of the set."
        return Section("selection", "What was judged", (Words(text),))
    parts: list[Part] = [] if not held.why else [Words(held.why)]
    if len(held.rounds) == 1 and held.status is None:
        chosen = held.rounds[0]
        facts = [row for row in table_rows(chosen) if row[0] != "signature"]
        parts += [Words(paragraph(chosen)), Facts("The selection", tuple(facts)), *_reasons(held.rounds)]
        parts += [Notes(tuple(map(ended, chosen.notes)))] if chosen.notes else []
    else:
        parts += [Words(_campaign_words(held)), _rounds_table(held.rounds), *_reasons(held.rounds)]
    return Section("selection", "What was selected, and why", tuple(parts))


def _campaign_words(held: Evidence) -> str:
    status, part = held.status, held.part
    if status is None or part is None:
        return f"{counted(len(held.rounds), 'round')} drawn."
    stops = f", stopping by {listing(map(code, status.stops))}" if status.stops else ""
    text = (
        f"The campaign {code(status.campaign)} draws with {code(status.strategy)} under a budget of "
        f"{status.budget}{stops}. {counted(part.rounds, 'round')} asked for {part.spent} of {part.limit} "
        f"{'comparisons' if held.strengths else 'outputs'}; "
        + (
            f"{part.outstanding} of {counted(part.asked, 'answer')} still to come."
            if part.outstanding
            else "all are answered."
        )
    )
    models = [
        f" {word}: {', '.join(map(code, names))}."
        for word, names in (("Came late", part.late), ("Withdrawn", part.withdrawn))
        if names
    ]
    ending = f" It ended: {part.finished}" if part.finished else ""
    return f"{text}{''.join(models)}{ending}"


def _rounds_table(rounds: Sequence[Selection]) -> Table:
    rows = tuple(
        (
            str(number_),
            str(len(one)),
            "yes" if one.is_probability_sample else "no",
            one.signature.inputs,
            one.signature.labels or "none",
        )
        for number_, one in enumerate(rounds, 1)
    )
    columns = ("round", "rows", "drawn by known chances", "digest of what it read", "digest of labels used")
    return Table("The rounds", columns, rows, texts=5)


def _reasons(rounds: Sequence[Selection]) -> Iterator[Part]:
    """Yield why the items were chosen, the commonest reasons first."""
    counts = Counter(row.reason for one in rounds for row in one if row.reason)
    if not counts:
        return
    rows = [(reason, str(count)) for reason, count in counts.most_common(_MOST_REASONS)]
    if len(counts) > len(rows):
        rest = sum(counts.values()) - sum(count for _, count in counts.most_common(_MOST_REASONS))
        rows.append((f"{len(counts) - len(rows)} other reasons", str(rest)))
    yield Table("Why rows were chosen", ("reason", "rows"), tuple(rows))


def representation_section(held: Evidence, *, figures: bool) -> Section | None:
    """Say whom the selection over- and under-represents; None where nothing is known of that."""
    found, title = held.representation, "Whom the selection represents"
    if found is None:
        return None
    outside: list[Part] = []
    if held.outside:
        told = f"{held.outside:,} of the items that were drawn from are not in the data"
        if found.n == found.of:
            text = f"{told}, so whom the selection over- or under-represents cannot be told from it."
            return Section("representation", title, (Words(text),))
        outside = [Words(f"{told}: shares below are among the {found.of:,} that are.")]
    kinds = [(kind, share) for kind, shares in found.kinds.items() for share in shares]
    if not kinds:
        return None
    lean = tuple(ended(one.text) for one in found.leanings)
    text = "Nothing is badly over- or under-represented." if not lean else "Mind what is badly represented:"
    parts: list[Part] = [*outside, Words(text)]
    parts += [Notes((*lean, *found.notes))] if lean or found.notes else []
    if figures and any(len(shares) > 1 for shares in found.kinds.values()):
        words = f"Shares of the set and of the selection in {len(kinds)} groups; the table below has them."
        parts.append(picture("representation", draw_shares(found), words))
    parts += [_coverage(found), *_shares(found)]
    return Section("representation", title, tuple(parts))


def _coverage(found: Representation) -> Table:
    rows = tuple(
        (one.what, str(one.selected), str(one.of), share_text(one.share))
        for one in found.coverage[:_MOST_SHARES]
    )
    return Table("What the selection touches", ("what", "selected", "of", "share"), rows)


def _shares(found: Representation) -> Iterator[Part]:
    """Yield the shares of all groups; of the metrics, the first few and those that are badly represented."""
    columns = ("group", "by", "items of the set", "selected", "share of the set", "share selected", "ratio")
    lean = {one.by for one in found.leanings}
    metrics = [kind for kind in found.kinds if kind.startswith("metric ")]
    left_out = {kind for kind in metrics[_MOST_METRICS:] if kind not in lean}
    rows: list[tuple[str, ...]] = []
    breaks: list[int] = []
    for kind, shares in found.kinds.items():
        if shares and kind not in left_out:
            breaks.append(len(rows))
            rows += [_share_row(kind, share) for share in shares[:_MOST_SHARES]]
    yield Table("Shares by group", columns, tuple(rows), texts=2, breaks=frozenset(breaks[1:]))
    cut = [kind for kind, shares in found.kinds.items() if len(shares) > _MOST_SHARES]
    if left_out or cut:
        more = [f"{counted(len(left_out), 'further metric')}"] if left_out else []
        more += [f"the smaller groups by {kind}" for kind in cut]
        yield Words(f"Left out here: {listing(more)}; sparingly info --selection shows all.")


def _share_row(kind: str, share: Share) -> tuple[str, ...]:
    return (
        share.group,
        KINDS_IN_WORDS.get(kind, kind),
        str(share.items),
        str(share.selected),
        share_text(share.full_share),
        share_text(share.selected_share),
        fixed(share.ratio),
    )
