"""A torn copy of the file is refused, or it is the campaign as it was at some moment; never another one."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from sparingly.base.errors import SparinglyError
from sparingly.run.campaign.campaign import Campaign
from tests.run.campaign.made import answer_all, begin, row

PAGE = 4096


def state_of(path: Path) -> tuple[Any, ...] | None:
    """The answers in a copy; None where it is refused, on opening or by its own verification."""
    try:
        with Campaign(path) as campaign:
            return (
                None if not campaign.verify().ok else tuple(tuple(one.values()) for one in campaign.ratings())
            )
    except SparinglyError:
        return None


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes, set[tuple[Any, ...] | None]]:
    """The file before and after some answers, and what is in the whole ones."""
    path = tmp_path_factory.mktemp("whole") / "campaign.db"
    with begin(str(path)) as campaign:
        campaign.next()
        questions = campaign.questions()
        campaign.record([row(one, 10, comment="words " * 50) for one in questions])
        before = path.read_bytes()
        answer_all(campaign)
        campaign.record([row(one, 90, comment="words " * 50) for one in questions], batch=1)
        campaign.next()
        after = path.read_bytes()
    good = set()
    for content in (before, after):
        path.write_bytes(content)
        good.add(state_of(path))
    assert None not in good
    return before, after, good


@pytest.mark.parametrize("seed", range(12))
def test_pages_of_two_moments(
    copies: tuple[bytes, bytes, set[tuple[Any, ...] | None]], seed: int, tmp_path: Path
) -> None:
    before, after, good = copies
    chance, torn = random.Random(seed), bytearray(after)  # noqa: S311
    cut = chance.randrange(1, len(before) // PAGE) * PAGE
    old_first = seed % 2 == 0
    torn[:cut] = (before if old_first else after)[:cut]
    torn[cut : len(before)] = (after if old_first else before)[cut : len(before)]
    path = tmp_path / "copy.db"
    path.write_bytes(bytes(torn))
    assert state_of(path) in {None, *good}


@pytest.mark.parametrize("seed", range(12))
def test_a_copy_that_ends_too_early(
    copies: tuple[bytes, bytes, set[tuple[Any, ...] | None]], seed: int, tmp_path: Path
) -> None:
    _, after, good = copies
    path = tmp_path / "copy.db"
    path.write_bytes(after[: random.Random(seed).randrange(len(after))])  # noqa: S311
    assert state_of(path) in {None, *good}


def test_one_changed_byte_of_an_answer_is_found(
    copies: tuple[bytes, bytes, set[tuple[Any, ...] | None]], tmp_path: Path
) -> None:
    _, after, _ = copies
    path = tmp_path / "copy.db"
    path.write_bytes(after.replace(b"words words", b"words wards", 1))
    assert path.read_bytes() != after
    with Campaign(path) as campaign:
        problems = campaign.verify().problems
    assert len(problems) == 1
    assert problems[0].startswith("The entry ")


def test_a_copy_of_the_one_file_holds_every_acknowledged_answer(tmp_path: Path) -> None:
    path, copy = tmp_path / "campaign.db", tmp_path / "copy.db"
    with begin(str(path)) as campaign:
        campaign.next()
        for count, question in enumerate(campaign.questions()[:5], 1):
            campaign.record([row(question, 50)])
            # While the campaign is open, and without anything that lies beside the file.
            copy.write_bytes(path.read_bytes())
            with Campaign(copy) as copied:
                assert len(copied.ratings()) == count
