from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from sqlalchemy import Connection, func, insert, select, text

from sparingly.base.errors import DataError
from sparingly.run.campaign.group_commit import GroupCommit, Work
from sparingly.run.campaign.tables import DRAFTS
from tests.run.campaign.made import begin

KEPT = {"campaign": "campaign", "data": "data", "item": "item", "at": "now", "content": "text"}


def keeping(rater: str) -> Callable[[Connection], str]:
    def work(connection: Connection) -> str:
        connection.execute(insert(DRAFTS), {**KEPT, "rater": rater})
        return rater

    return work


def raters(connection: Connection) -> list[str]:
    return sorted(connection.execute(select(DRAFTS.c.rater)).scalars())


def test_what_fails_is_undone_and_the_others_are_kept(where: str) -> None:
    with begin(where) as campaign:
        group_commit = GroupCommit(campaign.database)

        def failing(connection: Connection) -> None:
            keeping("nobody")(connection)
            raise ZeroDivisionError

        became = group_commit._write([keeping("ann"), failing, keeping("ben")])
        assert [value for value, _ in became] == ["ann", None, "ben"]
        assert isinstance(became[1][1], ZeroDivisionError)
        with campaign.database.reading() as connection:
            assert raters(connection) == ["ann", "ben"]
        with pytest.raises(ZeroDivisionError):
            group_commit.do(failing)


def test_everybody_is_answered_with_their_own(where: str) -> None:
    with begin(where) as campaign:
        group_commit, found = GroupCommit(campaign.database), dict[int, str]()
        names = [f"rater {number:02d}" for number in range(24)]

        def work(number: int) -> None:
            found[number] = group_commit.do(keeping(names[number]))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(24)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [found[number] for number in range(24)] == names
        with campaign.database.reading() as connection:
            assert raters(connection) == names


def test_an_error_of_the_database_is_a_sentence(where: str) -> None:
    with begin(where) as campaign:
        group_commit = GroupCommit(campaign.database)
        with pytest.raises(DataError, match="Acknowledged answers are saved: try again"):
            group_commit.do(lambda connection: connection.execute(text("SELECT * FROM nothing")))


def test_threads_that_wait_write_together(where: str) -> None:
    """While one transaction is under way, the others gather for the next."""
    with begin(where) as campaign:
        group_commit, begun, go = GroupCommit(campaign.database), threading.Event(), threading.Event()
        transactions: list[int] = []
        write = group_commit._group._write

        def counted(parts: Sequence[Work]) -> list[Any]:
            transactions.append(len(parts))
            return write(parts)

        group_commit._group._write = counted

        def slow(connection: Connection) -> int:
            begun.set()
            assert go.wait(30)
            return int(connection.execute(select(func.count()).select_from(DRAFTS)).scalar_one())

        first = threading.Thread(target=group_commit.do, args=(slow,))
        first.start()
        assert begun.wait(30)
        others = [threading.Thread(target=group_commit.do, args=(keeping(f"{at}"),)) for at in range(5)]
        for thread in others:
            thread.start()
        while len(group_commit._group._waiting) < 5:
            threading.Event().wait(0.01)
        go.set()
        for thread in (first, *others):
            thread.join()
        assert transactions == [1, 5]
