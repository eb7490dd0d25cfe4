from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import inspect

from sparingly.base.errors import DataError
from sparingly.run.campaign.campaign import Campaign
from sparingly.run.campaign.database import Database, migrate, newest, statements, steps, version_of
from sparingly.run.campaign.datasets import to_bytes, unjudged
from sparingly.run.campaign.journal import as_json, sealed
from sparingly.run.campaign.tables import TABLES
from tests.run.campaign.made import MODELS, answer_all, begin, made_set

# The first schema as it was released: it must never change, whatever the package's own first step says.
FIRST = Path(__file__).with_name("first_schema.sql")


def test_the_first_step_is_the_first_schema() -> None:
    assert statements(steps()[0][1]) == statements(FIRST.read_text(encoding="utf-8"))
    assert [number for number, _ in steps()] == list(range(1, newest() + 1))
    assert newest() >= 2


def test_the_steps_make_the_tables_of_the_package(where: str) -> None:
    database = Database(where, create=True)
    migrate(database, create=True)
    with database.reading() as connection:
        assert version_of(connection) == newest()
        look = inspect(connection)
        for table in TABLES:
            found = {one["name"]: one["nullable"] for one in look.get_columns(table.name)}
            assert found == {column.name: column.nullable for column in table.columns}
            key = look.get_pk_constraint(table.name)["constrained_columns"]
            assert key == [column.name for column in table.primary_key]
    database.close()


def first_version(path: Path) -> None:
    """Make a database as version 1 of the schema left it: one campaign that was just begun."""
    data = unjudged(made_set())
    connection = sqlite3.connect(path)
    for statement in statements(FIRST.read_text(encoding="utf-8")):
        connection.execute(statement)
    at = "2026-01-01T00:00:00.000000+00:00"
    strategy = "one_shot:selector=(uniform:unit=item,cost=none,spend=at_most,same_outputs=keep),rounds=1"
    event = {"campaign": "old", "seq": 1, "at": at, "kind": "begun",
             "detail": as_json({"data": {"data": data.digest()}})}  # fmt: skip
    head = sealed("", event)
    connection.execute("INSERT INTO sparingly_schema VALUES (1, ?)", (at,))
    connection.execute(
        "INSERT INTO sparingly_campaigns VALUES ('old', ?, 'overall', ?, ?, '[]', '8', 4, 3, 1, ?, NULL)",
        (at, '[["overall",[0,100]]]', strategy, head),
    )
    connection.execute("INSERT INTO sparingly_data_sets VALUES ('old', 'data', '8')")
    connection.execute(
        "INSERT INTO sparingly_data_versions VALUES ('old', 'data', 1, ?, ?)", (data.digest(), to_bytes(data))
    )
    connection.executemany(
        "INSERT INTO sparingly_models VALUES ('old', 'data', ?, 1, NULL)", [(name,) for name in MODELS]
    )
    connection.execute(
        "INSERT INTO sparingly_events VALUES (:campaign, :seq, :at, :kind, :detail, :digest)",
        {**event, "digest": head},
    )
    connection.commit()
    connection.close()


def test_a_campaign_of_the_first_version_goes_on(tmp_path: Path) -> None:
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    first_version(old)
    with Campaign(old) as campaign, begin(str(new)) as fresh:
        with campaign.database.reading() as connection:
            assert version_of(connection) == newest()
        for one in (campaign, fresh):
            one.next()
            answer_all(one)
        # The same data, strategy and seed: what was begun long ago asks what it would ask today.
        again, expected = campaign.next()[0].selection, fresh.next()[0].selection
        assert again is not None
        assert expected is not None
        assert list(again.items) == list(expected.items)
        assert campaign.run(lambda question: 50.0) == 12
        assert campaign.verify().ok


def test_a_newer_schema_is_refused(where: str) -> None:
    with begin(where) as campaign, campaign.database.writing() as connection:
        connection.exec_driver_sql("INSERT INTO sparingly_schema VALUES (99, 'later')")
    with pytest.raises(DataError, match=r"written by a newer sparingly \(schema 99"):
        Campaign(where)


def test_a_step_is_taken_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "old.db"
    first_version(path)
    broken = (
        *steps()[:1],
        (2, "CREATE TABLE sparingly_half (a TEXT); CREATE TABLE sparingly_models (a TEXT);"),
    )
    monkeypatch.setattr("sparingly.run.campaign.database.steps", lambda: broken)
    with pytest.raises(DataError, match="already exists"):
        Campaign(path)
    database = Database(path)
    with database.reading() as connection:
        assert version_of(connection) == 1
        assert not inspect(connection).has_table("sparingly_half")
    database.close()


def test_other_databases_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE mine (a TEXT)")
    connection.close()
    with pytest.raises(DataError, match="There is no campaign in"):
        Campaign(path)
    database = Database(path)
    with database.reading() as held:
        assert inspect(held).get_table_names() == ["mine"]
    database.close()
