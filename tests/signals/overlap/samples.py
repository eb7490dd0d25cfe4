"""Texts of many scripts and shapes, and what sacrebleu says of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from sacrebleu.metrics.base import Metric

from sparingly.base.arrays import Floats, Objects

# Three outputs per item, as three models might write them.
LANGUAGES: dict[str, tuple[str, str, str]] = {
    "english": (
        "The cat sat on the mat, didn't it?",
        "The cat, it sat on a mat!",
        "A dog lay on the mat; 3.5 kg (about 7,700 g).",
    ),
    "german": (
        "Die Straße ist über 1.200,50 m lang.",
        "Die Strasse ist mehr als 1200 Meter lang.",
        "Lange Straßen...",
    ),
    "czech": ("Příliš žluťoučký kůň.", "Příliš žlutý kůň úpěl.", "Kůň úpěl ďábelské ódy."),
    "russian": ("Мама мыла раму.", "Мама мыла раму вчера.", "Папа не мыл раму."),
    "hindi": ("मुझे चाय पसंद है।", "मुझे चाय बहुत पसंद है।", "मैं चाय पीता हूँ।"),
    "thai": ("ฉันชอบดื่มชา", "ผมชอบดื่มชามาก", "ฉันไม่ดื่มกาแฟ"),
    "chinese": ("我喜欢喝茶，不喝咖啡。", "我爱喝茶,不爱喝咖啡.", "他在2023年3.5月去了ABC公司。"),
    "japanese": ("私はお茶が好きです。", "私はコーヒーが好きです。", "お茶が好き！"),
    "korean": ("나는 차를 좋아한다.", "저는 차를 좋아합니다.", "나는 커피를 싫어한다."),
    "arabic": ("أحب شرب الشاي في الصباح.", "أنا أحب الشاي صباحا،", "لا أشرب القهوة؟"),
    "hebrew": ("אני אוהב תה בבוקר.", "אני אוהב לשתות תה", "שלום, עולם!"),
    "emoji": ("Great 👍🏽👍🏽 job 👩‍👩‍👧!", "Great 👍 job 👩‍👧!!", "🎉🎉🎉🎉"),
    "empty": ("", "   \n\t ", "something"),
    "one word": ("Yes", "No", "Yes"),
    "one letter": ("a", "a a", "b"),
    "punctuation": ("...", ".,.,5 5.,6 1..2", "- -- 5--6 &quot;&amp;lt;"),
    "broken lines": ("state-of-the-\nart <skipped> 5-\n", "state-of-the-art\n5-", "a<skipped>b -\n- c"),
    "white space": ("a\u00a0b\u3000c\u2028d\x1fe", "a b c d e", "ab\u200bcde"),
    "repeated": ("the the the the the the", "the the the", "the cat the cat the cat the"),
    "marks": ("e\u0301te\u0301", "été", "ete"),
}


def table(*rows: Sequence[str | None]) -> Objects:
    """Return items x models of texts."""
    outputs = np.empty((len(rows), len(rows[0]) if rows else 0), object)
    for place, row in enumerate(rows):
        outputs[place] = list(row)
    return outputs


def long_texts() -> Objects:
    """Three texts of ten thousand characters and more, two of them near each other, one of one letter."""
    drawn = np.random.default_rng(4)
    words = [f"w{number}" for number in range(60)] + ["。", "ß,", "3.14", "(so)", "和"]
    first = drawn.choice(words, 3200).tolist()
    second = [word if drawn.random() < 0.8 else "changed" for word in first]
    rows = [" ".join(first), " ".join(second), "a" * 10_000]
    assert min(map(len, rows)) >= 10_000
    return table(rows)


def by_sacrebleu(outputs: Objects, metric: Metric) -> Floats:
    """Return the sentence score of every ordered pair, one call each; NaN where an output is missing."""
    rows: list[list[str | None]] = outputs.tolist()
    items, models = outputs.shape
    scores = np.full((items, models, models), np.nan)
    for item, first, second in np.ndindex(scores.shape):
        hypothesis, reference = rows[item][first], rows[item][second]
        if hypothesis is not None and reference is not None:
            result: Any = metric.sentence_score(hypothesis, [reference])
            scores[item, first, second] = result.score
    return scores


# Few kinds of pieces, so that texts overlap, repeat themselves and meet every rule of the tokenisers.
_PIECES = [
    "a",
    "b",
    "the",
    "cat",
    " ",
    " ",
    "\n",
    "-\n",
    ".",
    ",",
    "-",
    "5",
    "0",
    "'",
    '"',
    "&quot;",
    "<skipped>",
]
_PIECES += ["é", "ß", "中", "文", "。", "，", "א", "ب", "😀", "\u3000", "\u00a0", "\x1f", "٣", "²", "１"]
pieced = st.lists(st.sampled_from(_PIECES), max_size=14).map("".join)
texts = st.one_of(pieced, st.text(max_size=20))


@st.composite
def tables(draw: st.DrawFn) -> Objects:
    """Items x models whose outputs are often equal, sometimes missing."""
    items, models = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    rows = []
    for _ in range(items):
        known: list[str | None] = [*draw(st.lists(texts, min_size=1, max_size=4)), None]
        rows.append(draw(st.lists(st.sampled_from(known), min_size=models, max_size=models)))
    return table(*rows)
