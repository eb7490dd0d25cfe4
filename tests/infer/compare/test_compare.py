from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import DataError, MissingDataError, UnknownNameError, UsageError
from sparingly.base.format import p_text
from sparingly.base.stats.proportion import proportion_interval
from sparingly.data.evalset import EvalSet
from sparingly.data.synthetic import load_invented
from sparingly.data.tables import Preferences
from sparingly.infer.compare.compare import about, more_comparisons
from sparingly.infer.compare.head_to_head import HeadToHead, MarginAnswer, parse_margin
from sparingly.infer.compare.votes import CellVotes, VoteFrame, VoteTable
from sparingly.infer.compare.wins import WinTally, tally
from sparingly.infer.plan.sample_size import binomial_power
from sparingly.infer.rank.rank import rank


def voted(values: Any, items: Any = None, size: int | None = None, **parts: Any) -> EvalSet:
    """Return two models, A and B, whose outputs were compared: 1 speaks for A."""
    votes = np.asarray(values, np.float64)
    item = np.arange(len(votes)) if items is None else np.asarray(items)
    count = len(votes) if size is None else size
    none = np.full(len(votes), -1, np.int32)
    table = Preferences(
        item=item.astype(np.int32),
        first=np.zeros(len(votes), np.int32),
        second=np.ones(len(votes), np.int32),
        value=votes,
        rater=none,
        aspect=none,
        seconds=np.full(len(votes), np.nan),
    )
    names = [f"i{place:04d}" for place in range(count)]
    return EvalSet.from_arrays(names, ["A", "B"], preferences=table, **parts)


def scored(first: Any, second: Any, **parts: Any) -> EvalSet:
    names = [f"i{place:04d}" for place in range(len(first))]
    return EvalSet.from_arrays(
        names, ["A", "B"], aspects={"good": np.column_stack([first, second]).astype(float)}, **parts
    )


def two(data: EvalSet, *names: str, **options: Any) -> HeadToHead:
    found = sparingly.compare(data, *names, **options)
    assert isinstance(found, HeadToHead)
    return found


VOTES = [1.0] * 10 + [-1.0] * 21 + [0.0] * 9


def test_wins_losses_and_ties_in_one_sentence() -> None:
    found = two(voted(VOTES))
    assert found.sentence == (
        "B won 68 % of decided comparisons [49, 83]: 21 wins, 10 losses, 9 ties; p = .053, not settled."
    )
    assert found.sentences[1].startswith(
        "A difference of this size takes about 70 more comparisons to settle"
    )
    low, high = proportion_interval(10, 31)
    assert (found.low, found.high) == pytest.approx((float(low), float(high)))


@pytest.mark.parametrize("data", [voted(VOTES), scored([1, 1, 0, 1] * 10, [0, 1, 1, 0] * 10)])
def test_the_other_order_is_the_mirror(data: EvalSet) -> None:
    one, other = two(data, "A", "B", margin="5%"), two(data, "B", "A", margin="5%")
    assert one.sentences[:2] == other.sentences[:2]
    centre = 0.5 if one.tally is not None else 0.0
    assert one.estimate - centre == pytest.approx(centre - other.estimate)
    assert one.low - centre == pytest.approx(centre - other.high)
    assert one.p_value == pytest.approx(other.p_value)
    assert one.margin is not None
    assert other.margin is not None
    assert one.margin.low == pytest.approx(-other.margin.high)


def test_scores_are_compared_as_rank_and_estimate_do() -> None:
    data = load_invented()
    chosen = sparingly.select(data, "local_pivotal", "50%")
    found = two(data, "Juniper", "Birch", aspect="overall", selection=chosen)
    ranking = rank(data, chosen, "overall", target="population")
    names = [row.model for row in ranking.models]
    assert found.p_value == ranking.p_values[names.index("Juniper"), names.index("Birch")]
    difference = sparingly.estimate(data, chosen, "overall", target="population").difference(
        "Juniper", "Birch"
    )
    assert (found.estimate, found.low, found.high) == (difference.difference, difference.low, difference.high)
    assert found.judge is not None
    assert found.judge.labels > 0
    assert "on all 240 items count as" in str(found)


def test_passes_and_fails_are_compared_by_the_items_that_speak() -> None:
    data = scored([1] * 20 + [1] * 12 + [0] * 3, [1] * 20 + [0] * 12 + [1] * 3)
    found = two(data)
    assert found.wins_by_item == (12, 3)
    assert found.sentence == (
        "A passes 25.7 points more than B [3.4, 42.4]: 91.4 % against 65.7 %; "
        "only A passes on 12 items, only B on 3; p = .023, settled."
    )
    assert found.p_value == pytest.approx(rank(data, None, "good", target="population").p_values[0, 1])


def test_several_votes_on_an_item_count_as_one_cluster() -> None:
    once = two(voted([1.0, 1.0, -1.0, 1.0, 0.0] * 6))
    thrice = two(voted(np.repeat([1.0, 1.0, -1.0, 1.0, 0.0] * 6, 3), np.repeat(np.arange(30), 3), 30))
    assert thrice.tally is not None
    assert (thrice.tally.wins, thrice.tally.losses, thrice.tally.ties) == (54, 18, 18)
    assert thrice.estimate == once.estimate
    # Three raters who always agree tell no more than one.
    assert (thrice.low, thrice.high) == pytest.approx((once.low, once.high), abs=0.03)


def test_soft_votes_count_in_parts() -> None:
    found = two(voted([0.5, 0.8, -0.4, 0.9, 0.2, -0.1] * 4))
    assert found.tally is not None
    assert found.tally.wins == pytest.approx(9.6)
    assert "9.6 wins, 2 losses, 12.4 ties" in found.sentence


def test_the_same_texts_are_ties_that_nobody_was_asked_about() -> None:
    texts = np.array([["same", "same"]] * 50 + [["one", "other"]] * 50, object)
    found = two(voted(VOTES, items=range(50, 90), size=100, outputs=texts), margin="30%")
    assert found.tally is not None
    assert (found.tally.same_texts, found.size) == (50, 100)
    assert "On 50 of 100 items both wrote the same: nobody is shown these; they count as ties." in str(found)
    # Half of all items are ties, so that a lead is half as large over all of them.
    assert found.tally.lead == pytest.approx((10 - 21) / 80)


def test_a_metric_on_everything_is_a_control_variate() -> None:
    random = np.random.default_rng(3)
    quality = random.normal(size=600)
    metric = np.column_stack([quality, -quality]) + random.normal(size=(600, 2)) / 4
    values = np.where(np.abs(quality) < 0.2, 0.0, np.sign(quality))
    rows = random.choice(600, 100, replace=False)
    plain = two(voted(values[rows], rows, 600))
    helped = two(voted(values[rows], rows, 600, metrics={"judge": metric}))
    truth = (values > 0).sum() / (values != 0).sum()
    assert abs(helped.estimate - truth) < abs(plain.estimate - truth)
    assert helped.high - helped.low < 0.85 * (plain.high - plain.low)
    assert helped.judge is not None
    assert f"The votes of judge on all 600 items count as {helped.judge.labels} more comparisons" in str(
        helped
    )
    noise = two(voted(values[rows], rows, 600, metrics={"judge": random.normal(size=(600, 2))}))
    assert noise.judge is None or noise.judge.labels < 15


def test_a_rater_can_be_the_judge() -> None:
    random = np.random.default_rng(4)
    truth = random.choice([1.0, -1.0], 300, p=[0.6, 0.4])
    rows = random.choice(300, 80, replace=False)
    judge = np.where(random.random(300) < 0.9, truth, -truth)
    data = voted(np.concatenate([truth[rows], judge]), np.concatenate([rows, np.arange(300)]), 300)
    table = data.preferences
    who = np.concatenate([np.zeros(80), np.ones(300)]).astype(np.int32)
    columns = {**vars(table), "rater": who, "raters": ("anna", "gpt"), "extra": {}}
    data = data.with_parts(preferences=Preferences(**columns))
    found = two(data, judge="gpt")
    assert found.n == 80
    assert found.judge is not None
    assert found.judge.items == 300
    assert found.judge.labels > 20
    with pytest.raises(UnknownNameError, match="gpt"):
        two(data, judge="gtp")


def test_the_number_that_is_named_has_the_power() -> None:
    counts = WinTally(21, 10, 9, 40, 40, 0, 200, rate=21 / 31)
    more = more_comparisons(counts, 0.05)
    assert more is not None
    decided = (40 + more) * 31 / 40
    assert 0.85 <= float(binomial_power(round(decided), 21 / 31, 0.05)) <= 0.95
    assert more_comparisons(WinTally(5, 5, 0, 10, 10, 0, 20, rate=0.5), 0.05) is None
    assert [about(number) for number in (1, 61, 104, 999, 1234)] == [5, 65, 110, 1000, 1300]


@pytest.mark.statistics
@pytest.mark.parametrize("ties", [0.0, 0.25, 0.5])
@pytest.mark.parametrize("rate", [0.6, 0.68, 0.8])
def test_so_many_more_settle_nine_times_of_ten(ties: float, rate: float) -> None:
    """A difference of just this size, after as many comparisons as were named: settled in 85 to 95 %."""
    wins, losses = round(40 * (1 - ties) * rate), round(40 * (1 - ties) * (1 - rate))
    more = more_comparisons(
        WinTally(wins, losses, 40 - wins - losses, 40, 40, 0, 10_000, rate=wins / (wins + losses)), 0.05
    )
    assert more is not None
    random, settled = np.random.default_rng(5), 0
    share = np.array([wins, losses, 40 - wins - losses]) / 40
    for won, lost, _ in random.multinomial(40 + more, share, size=600):
        low, high = proportion_interval(won, max(won + lost, 1))
        settled += bool(low > 0.5 or high < 0.5)
    if more:
        assert 0.85 <= settled / 600 <= 0.955
    else:
        assert settled / 600 >= 0.85


@pytest.mark.statistics
@pytest.mark.parametrize("ties", [0.0, 0.25, 0.5])
@pytest.mark.parametrize("n", [10, 20, 40, 100])
def test_the_win_rate_holds_with_ties_and_settles_nothing_that_is_not(n: int, ties: float) -> None:
    random = np.random.default_rng(6)
    for rate in (0.5, 0.68, 0.9):
        drawn = random.multinomial(n, [(1 - ties) * rate, (1 - ties) * (1 - rate), ties], size=3000)
        wins, losses = drawn[:, 0], drawn[:, 1]
        some = wins + losses > 0
        low, high = proportion_interval(wins[some], (wins + losses)[some])
        assert (some.size - some.sum() + ((low <= rate) & (rate <= high)).sum()) / some.size >= 0.935
        if rate == 0.5:
            # Where all of 100 are decided, 60 to 40 is settled, which chance brings in 5.7 %.
            assert ((low > 0.5) | (high < 0.5)).sum() / some.size <= 0.065


@pytest.mark.statistics
@pytest.mark.parametrize("agreement", [0.0, 0.8])
def test_with_a_judge_the_interval_holds(agreement: float) -> None:
    from scipy.stats import norm

    random = np.random.default_rng(7)
    held = settled = 0
    for _ in range(150):
        quality = random.normal(size=400)
        judge = agreement * quality + np.sqrt(1 - agreement**2) * random.normal(size=400)
        level = norm.cdf(quality)
        values = np.where(level < 0.35, -1.0, np.where(level < 0.65, 0.0, 1.0))
        rows = random.choice(400, 60, replace=False)
        frame, none = VoteFrame(400, None), np.zeros(60)
        votes = VoteTable(rows, none.astype(np.int64), none.astype(np.int64) + 1, values[rows], none)
        of_judge = CellVotes(("judge",), frame, np.column_stack([judge, -judge]))
        found = tally(votes, frame, (0, 1), target="population", alpha=0.05, judge=of_judge)
        held += bool(found.low <= 0.5 <= found.high)
        settled += bool(found.p_value <= 0.05)
    assert held / 150 >= 0.91
    assert settled / 150 <= 0.09


# --- margins ---


def test_a_margin_is_answered_yes_no_or_not_yet() -> None:
    def answer(low: float, high: float) -> MarginAnswer:
        return MarginAnswer("new", "old", 0.02, low, high, 0.95, is_share=True)

    assert answer(-0.012, 0.05).answer == "yes"
    assert str(answer(-0.012, 0.05)).endswith("Yes: at most 1.2 points worse, with 95 % confidence.")
    assert str(answer(-0.01, 0.01)).endswith(
        "Yes: the two are within 2 points of each other, with 95 % confidence."
    )
    assert str(answer(0.01, 0.05)).endswith("Yes: at least as good, with 95 % confidence.")
    assert str(answer(-0.09, -0.031)).endswith("No: at least 3.1 points worse, with 95 % confidence.")
    assert str(answer(-0.034, 0.01)).endswith(
        "Not yet: it may be up to 3.4 points worse (with 95 % confidence)."
    )


def test_of_rates_without_an_interval_too_little_is_known() -> None:
    for is_share in (True, False):
        answer = MarginAnswer("new", "old", 0.02, -math.inf, math.inf, 0.95, is_share=is_share)
        assert answer.answer == "not yet"
        assert str(answer).endswith("Not yet: too little is known (with 95 % confidence).")


def test_a_margin_has_the_unit_of_the_scores() -> None:
    assert parse_margin("2%", is_share=True, of="wins") == 0.02
    assert parse_margin(0.02, is_share=True, of="wins") == 0.02
    assert parse_margin("2", is_share=False, of="scores") == 2.0
    for text, is_share, hint in (
        ("2", True, "--margin 2%"),
        ("2%", False, "--margin 2\\."),
        ("1sd", True, "2%"),
    ):
        with pytest.raises(UsageError, match=hint):
            parse_margin(text, is_share=is_share, of="scores of good")


# --- what cannot be compared, each in one sentence ---


def test_bad_input_is_one_sentence() -> None:
    data = load_invented()
    cases: list[tuple[type[Exception], str, EvalSet, tuple[str, ...]]] = [
        (UsageError, "of two models, not of Birch and itself", data, ("Birch", "Birch")),
        (UnknownNameError, 'no model "Brch". Did you mean Birch', data, ("Brch", "Rowan")),
        (UsageError, "There are 8 models, .*or name two", data, ()),
        (UsageError, "only one model, Birch", data.take(models=["Birch"]), ()),
        (
            DataError,
            "No item was judged for both A and B",
            scored([1.0, np.nan] * 20, [np.nan, 1.0] * 20),
            (),
        ),
        (DataError, "Only 1 item is judged, too few", scored([1.0] + [np.nan] * 9, [0.0] + [np.nan] * 9), ()),
        (DataError, "compared on one item only, too few", voted([1.0], size=5), ()),
        (DataError, "B was never judged", scored([1.0, 0.0] * 10, [np.nan] * 20), ()),
    ]
    for kind, sentence, one, names in cases:
        with pytest.raises(kind, match=sentence) as error:
            sparingly.compare(one, *names, aspect="overall" if "overall" in one.aspects else None)
        assert "\n" not in str(error.value)


def test_nobody_was_asked() -> None:
    bare = voted([1.0, 1.0]).with_parts(preferences=Preferences())
    with pytest.raises((MissingDataError, UsageError)):
        sparingly.compare(bare)


def test_only_ties_and_the_same_everywhere_settle_nothing() -> None:
    ties = two(voted([0.0] * 9))
    assert ties.sentences == ("All 9 comparisons of A and B are ties: neither is ahead.",)
    assert (ties.p_value, ties.settled) == (1.0, False)
    alike = two(scored([1, 0] * 20, [1, 0] * 20))
    assert alike.sentence == "A and B have the same score, 50.0 %, on 40 judged items: not settled."
    level = two(voted([1.0, -1.0, 0.0] * 5))
    assert level.sentences == ("A and B are level: 5 wins, 5 losses, 5 ties; not settled.",)


def test_picked_items_say_nothing_of_others() -> None:
    data = load_invented()
    top = sparingly.select(data, "metric_var:metric=learned", "20%")
    with pytest.raises(DataError, match="picked, not sampled"):
        sparingly.compare(data, "Birch", "Rowan", selection=top, aspect="overall")


def test_plain_values_are_json() -> None:
    for found in (two(voted(VOTES), margin="5%"), two(scored([1, 0] * 20, [1, 1] * 20))):
        values = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert values["leader"] == "B"
        assert values["sentence"] == found.sentence


def test_p_values_are_printed_as_papers_do() -> None:
    assert [p_text(p) for p in (0.0004, 0.004, 0.0534, 0.5, 1.0)] == [
        "p < .001", "p = .004", "p = .053", "p = .50", "p = 1",
    ]  # fmt: skip


def test_where_everything_is_judged_nobody_is_asked_for_more() -> None:
    noise = np.random.default_rng(4).normal(size=(40, 2))
    items = [f"i{place}" for place in range(40)]
    data = sparingly.EvalSet.from_arrays(items, ["a", "b"], aspects={"overall": noise})
    part = sparingly.select(data.without_labels(), "uniform", 20)
    for selection, step in ((None, "sparingly report DATA"), (part, "sparingly serve DATA")):
        compared = sparingly.compare(data, "a", "b", selection=selection, aspect="overall")
        assert isinstance(compared, HeadToHead)
        assert not compared.settled
        assert compared.summary().next_steps == (step,)
